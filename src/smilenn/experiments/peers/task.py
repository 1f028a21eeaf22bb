"""What every peer is given: rows as they come, a target, and the rule as signs of columns.

Under a rule a peer is held to the signs and does not see the protected columns: what it never reads cannot matter. A
clamped one sees them, and its outputs are cut (clamped.py). Without a rule a peer sees everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from smilenn.datasets.base import Dataset

Setting = dict[str, Any]
Output = Callable[[pd.DataFrame], np.ndarray]  # rows → values, or log-odds of class 1, [n]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows [n] with their target [n], and −1, 0 or 1 for every column.

    `protected` columns that are seen under a rule may change an output by `eps`.
    """

    frame: pd.DataFrame
    y: np.ndarray
    binary: bool
    signs: dict[str, int]
    seed: int
    protected: tuple[str, ...] = ()
    eps: float = 0.0

    @classmethod
    def of(cls, data: Dataset[pd.DataFrame], *, rule: bool, seed: int, clamp: float | None = None) -> Rows:
        """The rows of a table under its rule, or without one; with protected columns for outputs cut to `clamp`."""
        hidden = rule and clamp is None
        frame = data.frame.drop(columns=list(data.protected)) if hidden else data.frame
        signs = dict.fromkeys(map(str, frame.columns), 0)
        if rule:
            signs |= dict.fromkeys(data.increasing, 1) | dict.fromkeys(data.decreasing, -1)
        y = data.target.to_numpy(dtype=np.float64)
        seen = () if clamp is None else tuple(data.protected)
        return cls(frame, y, data.task == "binary", signs, seed, seen, clamp or 0.0)

    def at(self, index: np.ndarray) -> Rows:
        """The rows at these places."""
        return replace(self, frame=self.frame.iloc[index], y=self.y[index])

    def loss(self, output: np.ndarray) -> float:
        """Mean log-loss of log-odds, or mean square, of outputs [n]."""
        if self.binary:
            return float(np.mean(np.logaddexp(0.0, output) - self.y * output))
        return float(np.mean((self.y - output) ** 2))


@dataclass(frozen=True)
class Fitted:
    """A fitted peer, and after how many rounds kept rows were predicted best, where it learns in rounds."""

    output: Output
    rounds: int | None = None


class Peer(Protocol):
    """A learner with the settings that are tried."""

    settings: tuple[Setting, ...]

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Learn from rows; `held` ones say when to stop, or `rounds` does."""
        ...


def categories(frame: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Texts as categories numbered as in `known`, ordered ones by their rank: what boosted trees take.

    A value that `known` does not have is a gap.
    """
    out = frame.copy()
    for name in frame.columns:
        dtype = known[name].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            named = _among(frame[name], dtype.categories.tolist())
            out[name] = np.where(named.codes < 0, np.nan, named.codes) if dtype.ordered else named
        elif not pd.api.types.is_numeric_dtype(dtype):
            out[name] = _among(frame[name], sorted(known[name].dropna().unique()))
    return out


def _among(values: pd.Series, known: list[Any]) -> Any:
    return pd.Categorical(values.astype(object).where(values.isin(known), None), categories=known)


def texts(frame: pd.DataFrame) -> list[str]:
    """The columns that `categories` made categories."""
    return [str(name) for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)]
