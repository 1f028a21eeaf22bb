"""Cells that training has no place for: missing where none was missing, a category that is new where none was rare.

`predict` reads them as the column's usual value (the lower median, the most frequent text) and says so in an
`UnseenWarning`: a row is then the complete row it was read as, which is also what a certificate covers. With
``missing="raise"`` and ``unknown="refuse"`` they are errors.

A column may hold 0 and 1 alone only because rows are few: of eighty families none has two children. Another whole
number is then clamped to the nearer of the two, with such a warning, where numbers beyond their bounds are clamped and
every claim is carried by that (outside.py): beside others, such as convexity in that column, it stays an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Number

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature
from smilenn.domain.absent import MISSING, fill_of, is_missing
from smilenn.domain.cells import order_of, origin_of
from smilenn.domain.encode import place_of
from smilenn.domain.rare import OTHER
from smilenn.domain.table import inferred, labels, with_columns

Usual = dict[str, float | str]


class UnseenWarning(UserWarning):
    """Cells of a kind that training has not seen were read as the usual value of their column."""


def learn_usual(domain: Domain, x: np.ndarray) -> Usual:
    """The usual value of every column that has one, from training rows x [n, m]."""
    found = (f for f in domain.features if _has_usual(f) and f.name not in domain.indicators)
    return {feature.name: _usual(feature, x[:, domain.slices[feature.name]]) for feature in found}


def _has_usual(feature: Feature) -> bool:
    """Whether one cell can stand for a column: not for dates, nor for names whose order a rule may use."""
    special = feature.columns or order_of(feature) or origin_of(feature) is not None
    return not special and fill_of(feature) is None


def _usual(feature: Feature, values: np.ndarray) -> float | str:
    if feature.categories:
        return _most_frequent(feature, values)
    return float(np.quantile(values[:, 0], 0.5, method="lower"))


def _most_frequent(feature: Feature, values: np.ndarray) -> str:
    """The text that most rows have, the first of equals."""
    counts = values.sum(axis=0) if feature.kind == "category" else [(values == 0).sum(), (values == 1).sum()]
    return feature.categories[int(np.argmax(counts))]


def as_usual(
    frame: pd.DataFrame,
    domain: Domain,
    usual: Mapping[str, float | str],
    *,
    missing: bool,
    unknown: bool,
    near: Callable[[], bool] = lambda: False,
    first_row: int = 0,
) -> pd.DataFrame:
    """The frame with every cell that has no place replaced by the usual one, and a warning for each column and kind:
    cells that are `missing`, names that are `unknown`, or both. Columns of 0 and 1 take other whole numbers where
    `near` says so, which is asked only then.
    """
    changed: dict[str, pd.Series] = {}
    for feature in domain.features:
        if feature.kind == "binary" and not feature.categories and feature.name in frame.columns:
            frame = _of_two(frame, feature, near, first_row)
        if feature.name in usual and feature.name in frame.columns:
            series = frame[feature.name]
            odd = _without_place(feature, series, missing=missing, unknown=unknown)
            if odd.any():
                value, empty = usual[feature.name], series.isna().to_numpy(dtype=bool)
                for cells in sorted(filter(np.any, (odd & empty, odd & ~empty)), key=np.argmax):  # each kind is named
                    warnings.warn(_sentence(feature, series, cells, value, first_row), UnseenWarning, stacklevel=5)
                changed[feature.name] = inferred(series.astype(object).where(~odd, value))
    return with_columns(frame, changed)


def _of_two(frame: pd.DataFrame, feature: Feature, near: Callable[[], bool], first_row: int) -> pd.DataFrame:
    """The frame with other whole numbers in a column of 0 and 1 clamped to these, and a warning where there are any."""
    series = frame[feature.name]
    values = _numbers(series)
    odd = np.isfinite(values) & (values == np.rint(values)) & (values != 0) & (values != 1)
    if not odd.any() or np.isinf(values).any() or not near():
        return frame  # and its reader refuses the first cell that is neither
    row, clamped = int(np.flatnonzero(odd)[0]), np.clip(values, 0.0, 1.0)
    several = f" ({int(odd.sum())} such cells)" if odd.sum() > 1 else ""
    warnings.warn(
        f"Row {first_row + row}, column {feature.name!r} holds {values[row]:g}, but training saw 0 and 1 alone; it is "
        f"read as {clamped[row]:g}{several}.",
        UnseenWarning,
        stacklevel=6,
    )
    return with_columns(frame, {feature.name: inferred(series.astype(object).where(~odd, clamped))})


def _numbers(series: pd.Series) -> np.ndarray:
    """The numbers in a column, [n]; NaN for missing cells, dates, durations and what else pandas counts in ticks."""
    if not pd.api.types.is_numeric_dtype(series.dtype):
        cells = series.astype(object)
        good = [isinstance(cell, (str, Number)) and not isinstance(cell, np.timedelta64) for cell in cells]
        series = cells.where(np.array(good, dtype=bool), None)
    values = np.asarray(pd.to_numeric(series, errors="coerce"), dtype=np.float64)
    return np.where(is_missing(series), np.nan, values)


def _without_place(feature: Feature, series: pd.Series, *, missing: bool, unknown: bool) -> np.ndarray:
    """Which cells of the wanted kinds a feature has no place for, [n] bool."""
    if not feature.categories:
        return is_missing(series) & missing
    empty = series.isna().to_numpy(dtype=bool)
    odd = empty & (missing and MISSING not in feature.categories)
    if unknown and OTHER not in feature.categories:
        odd[~empty] = place_of(feature.categories, labels(series[~empty])) < 0
    return odd


def _sentence(feature: Feature, series: pd.Series, odd: np.ndarray, value: float | str, first_row: int) -> str:
    row, count = int(np.flatnonzero(odd)[0]), int(odd.sum())
    cell = series.iloc[row]
    what = "is missing, and training saw no such cell" if pd.isna(cell) else f"holds {str(cell)!r}, which is new"
    shown = repr(value) if isinstance(value, str) else f"{value:g}"
    several = f" ({count} such cells)" if count > 1 else ""
    return f"Row {first_row + row}, column {feature.name!r} {what}; it is read as the usual {shown}{several}."
