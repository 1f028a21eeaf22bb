"""Columns that repeat another one, whatever type their cells have, and categories under other names.

    repeats       the same cells: age as int64, Int64 and float64, as decimals and as texts; sex as   left out
                  texts and as a category
    other words   a category and a column that tells the same rows apart: education and its number    a warning

A whole number that float64 would round stays as it is, and so do ordered categories: these are read as numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from smilenn.domain.table import EXACT, labels

NUMBERS = ("string", "integer", "floating", "mixed-integer-float", "decimal", "boolean")  # of pandas's `infer_dtype`
LEAST = 30  # rows from which two columns that tell the same rows apart are worth a word


def canonical(series: pd.Series) -> pd.Series:
    """The cells of a column in the one form that all types with such cells share."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        names = pd.Series(dtype.categories, dtype=object)
        named = not dtype.ordered and bool(pd.to_numeric(names, errors="coerce").isna().all())
        return _texts(series) if named and all(isinstance(name, str) for name in names) else series
    if dtype.kind in "iufb":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        exact = dtype.kind in "fb" or not (np.abs(values) >= EXACT).any()
        return pd.Series(values, index=series.index) if exact else series
    if isinstance(dtype, pd.StringDtype) or dtype.kind == "O":
        kind = pd.api.types.infer_dtype(series)
        written = _written_numbers(series) if kind in NUMBERS else None
        return written if written is not None else _texts(series) if kind == "string" else series
    return series


def _written_numbers(series: pd.Series) -> pd.Series | None:
    """The numbers that all cells of a column of objects are; None where one is none, or float64 would round it."""
    known = series.notna()
    values = pd.to_numeric(series[known], errors="coerce")
    if not len(values) or values.dtype.kind not in "iufb" or values.isna().any():
        return None
    found = values.to_numpy(dtype=np.float64)
    return None if (np.abs(found) >= EXACT).any() else pd.Series(found, index=values.index).reindex(series.index)


def _texts(series: pd.Series) -> pd.Series:
    return labels(series).where(series.notna(), None).astype(object)


def twins(frame: pd.DataFrame) -> dict[str, int]:
    """A number for every column that equal columns share; others rarely do."""
    return {name: _digest(canonical(frame[name]), name) for name in frame.columns}


def _digest(series: pd.Series, name: str) -> int:
    try:
        return int(np.bitwise_xor.reduce(pd.util.hash_pandas_object(series, index=True).to_numpy()))
    except TypeError:  # cells that have no hash
        return hash(name)


def twin(name: str, frame: pd.DataFrame, others: Collection[str]) -> str:
    """Which of these columns a column repeats; '' where none."""
    own = canonical(frame[name]) if others else None
    return next((other for other in others if own is not None and own.equals(canonical(frame[other]))), "")


def in_other_words(frame: pd.DataFrame, categories: Collection[str]) -> Iterator[tuple[str, str]]:
    """Pairs of columns that tell the same rows apart, one of the `categories` among them; the later one second."""
    if len(frame) < LEAST or not categories:
        return
    known: dict[tuple[int, int], list[tuple[str, np.ndarray]]] = {}
    sizes = {name: frame[name].nunique() for name in frame.columns if _may_be_told(frame[name])}
    told = {sizes[name] for name in categories if name in sizes}
    for name in (name for name, size in sizes.items() if size in told):
        codes = pd.factorize(canonical(frame[name]))[0]
        key = sizes[name], hash(codes.tobytes())
        for other, found in known.get(key, []):
            if (name in categories or other in categories) and np.array_equal(codes, found):
                yield other, name
                break
        known.setdefault(key, []).append((name, codes))


def _may_be_told(series: pd.Series) -> bool:
    """Whether a column has cells that are told apart by value; measurements with decimals are no names."""
    return series.dtype.kind in "iubfO" or isinstance(series.dtype, pd.CategoricalDtype | pd.StringDtype)
