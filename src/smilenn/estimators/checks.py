"""Checks of what `fit` is given beside X, and the choice of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smilenn.errors import SmileError


def check_target(frame: pd.DataFrame, y: Any) -> None:
    """One target per row, and none of the features is the target itself."""
    if len(frame) == 0:
        raise SmileError("The data has no rows; give at least one.")
    length = len(y) if isinstance(y, (Sequence, np.ndarray, pd.Series)) else np.asarray(y).size
    if length != len(frame):
        raise SmileError(f"X has {len(frame)} rows but y has {length} values; give one value per row.")
    if np.ndim(y) != 1:
        raise SmileError(f"y has {np.ndim(y)} dimensions; give one column of values.")
    if isinstance(y, pd.Series) and y.name is not None and str(y.name) in frame.columns:
        raise SmileError(f"The target {str(y.name)!r} is among the features; drop that column from X.")
    missing = np.flatnonzero(pd.Series(y).isna().to_numpy())
    if missing.size:
        raise SmileError(f"Row {int(missing[0])} of the target is missing; drop the row or fill it in.")


def check_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Weights as float64 [n], or None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (rows,):
        raise SmileError(f"sample_weight has shape {weight.shape}; give one weight per row, {rows} in all.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise SmileError(
            f"sample_weight of row {int(bad[0])} is {weight[bad[0]]}; weights are finite and not negative."
        )
    if not weight.any():
        raise SmileError("sample_weight is zero everywhere; give at least one row some weight.")
    return weight


def held_out(y: np.ndarray, share: float, loss: str, rng: np.random.RandomState) -> np.ndarray:
    """[n] bool: a random share of the rows, of each class for a classifier."""
    held = np.zeros(len(y), dtype=bool)
    for value in np.unique(y) if loss == "bce" else (None,):
        members = np.flatnonzero(y == value) if value is not None else np.arange(len(y))
        held[rng.permutation(members)[: round(share * len(members))]] = True
    return held


def numbered(checkpoint: Path | str, i: int, restarts: int) -> Path:
    """A checkpoint file for each restart."""
    path = Path(checkpoint)
    return path if restarts == 1 else path.with_name(f"{path.name}.{i}")
