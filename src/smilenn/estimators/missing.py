"""Missing cells: inputs of their own by default (domain/absent.py), refused, or filled.

    indicator   a number gets an input that says whether it is missing, a category the value "missing"
    raise       an error that names row and column
    fill        what the training rows suggest:

    numbers   the lower median of the column's cells (one of them, so whole numbers stay whole); dates likewise
    texts     the most frequent one, the first in order of those

A filled row is the complete row it was filled to: that is what it is predicted as, and what a certificate covers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from smilenn.domain.cells import holds_dates, instants, is_duration
from smilenn.domain.table import inferred, is_text, labels, with_columns
from smilenn.errors import SmileError

Missing = Literal["indicator", "fill", "raise"]
Unknown = Literal["other", "refuse"]
Fill = dict[str, float | str]


def learn_fill(frame: pd.DataFrame) -> Fill:
    """What to put into the missing cells of each column; a column without any cell is an error."""
    out: Fill = {}
    for name in frame.columns:
        present = frame[name].dropna()
        if present.empty:
            raise SmileError(f"Column {name!r} has no cell that is not missing; drop the column.")
        out[str(name)] = _usual(present, str(name))
    return out


def _usual(present: pd.Series, name: str) -> float | str:
    """What stands for the cells of a column: the lower median of numbers and dates, the most frequent text."""
    if isinstance(present.dtype, pd.CategoricalDtype):
        return str(labels(present).mode().iloc[0])
    if holds_dates(present):
        return instants(present, name).quantile(0.5, interpolation="lower").isoformat()
    if is_duration(present):
        return _median(present.astype("timedelta64[us]").to_numpy() / np.timedelta64(1, "D"))
    if is_text(present) and pd.to_numeric(present, errors="coerce").isna().any():
        return str(present.astype(str).mode().iloc[0])
    return _median(pd.to_numeric(present).to_numpy(dtype=np.float64))


def _median(values: np.ndarray) -> float:
    return float(np.quantile(values, 0.5, method="lower"))


def filled(frame: pd.DataFrame, fill: Fill) -> pd.DataFrame:
    """The frame with its missing cells filled; a column that lacks none is left as it is."""
    lacking = [name for name in frame.columns if name in fill and frame[name].isna().any()]
    return with_columns(frame, {name: _complete(frame[name], fill[name]) for name in lacking})


def _complete(series: pd.Series, value: float | str) -> pd.Series:
    """The column with `value` for its missing cells; names stay of their type, so that an order stays an order."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        names = series.cat.rename_categories(labels(pd.Series(series.cat.categories)).tolist())
        known = names.cat.categories
        return (names if value in known else names.cat.add_categories([value])).fillna(value)
    if is_duration(series):
        try:
            return series.fillna(pd.Timedelta(days=float(value)))
        except ValueError:  # a date, or more days than pandas counts
            raise SmileError(
                f"Column {series.name!r} holds durations, and the fit saw cells such as {value!r}; give the same here."
            ) from None
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    return inferred(series.astype(object).fillna(value))
