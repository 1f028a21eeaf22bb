"""One row as people give it, read as inputs; one that rules say nothing about is refused. None of it needs torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from smilenn.domain import Domain
from smilenn.errors import SmileError


class Reader(Protocol):
    """What reads rows: a fitted estimator, or what its folder says of tables."""

    @property
    def domain_(self) -> Domain:
        """The inputs of the model."""
        ...

    def read_rows(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The rows of a table as inputs [n, m]."""
        ...


def inputs_of(model: Reader, row: Any) -> np.ndarray:
    """One row, a data frame, a series or a dictionary, as inputs [m]; it lies in the domain and lacks nothing."""
    frame = _frame(row)
    if len(frame) != 1:
        raise SmileError(f"Give one row, not {len(frame)}.")
    domain = model.domain_
    lacking = set(frame.columns[frame.isna().to_numpy()[0]])
    _refuse_lacking([name for name in domain.columns if name in lacking])
    x = model.read_rows(frame)[0]
    _refuse_lacking([domain.coordinates[i] for i, place, _ in domain.absent if x[place]])  # texts such as "?"
    outside = np.flatnonzero((x < domain.lo) | (x > domain.hi))
    if outside.size:
        i = int(outside[0])
        span = f"[{domain.lo[i]:g}, {domain.hi[i]:g}]"
        raise SmileError(
            f"Column {domain.coordinates[i]!r} is {x[i]:g}, outside the domain {span}; what is proved is proved inside."
        )
    return x


def _refuse_lacking(columns: Sequence[str]) -> None:
    """A rule may say nothing of rows that lack a number."""
    if columns:
        raise SmileError(
            f"Column {columns[0]!r} is missing in this row; fill it in or leave the row out: "
            "only complete rows can be explained."
        )


def _frame(row: Any) -> pd.DataFrame:
    if isinstance(row, Mapping):
        return pd.DataFrame([dict(row)])
    if isinstance(row, pd.Series):
        return row.to_frame().T.infer_objects()
    return row if isinstance(row, pd.DataFrame) else pd.DataFrame(row)
