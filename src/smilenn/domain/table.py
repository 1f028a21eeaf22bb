"""Tables of any library as pandas frames with text column names, and single columns as numbers or labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.errors import SmileError, listed

EXACT = 2.0**53  # up to here float64 holds every whole number


def as_frame(data: Any, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Any table (pandas, polars, array [n, m]) as a pandas frame with text column names.

    Arrays take their names by position from `columns`, else ``x0, x1, …``.
    """
    if isinstance(data, pd.DataFrame):
        frame = data
    elif hasattr(data, "to_pandas"):
        try:
            frame = data.to_pandas()
        except ModuleNotFoundError:  # polars converts through pyarrow, which need not be there
            frame = pd.DataFrame({name: data[name].to_numpy() for name in data.columns})
    else:
        array = np.asarray(data)
        if array.ndim != 2:
            raise SmileError(f"The data has {array.ndim} dimensions; give a table with rows and columns.")
        if columns is not None and array.shape[1] != len(columns):
            raise SmileError(f"The array has {array.shape[1]} columns; the domain has {len(columns)}.")
        names = [f"x{i}" for i in range(array.shape[1])] if columns is None else list(columns)
        frame = pd.DataFrame(array, columns=names)
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if columns is None and frame.columns.has_duplicates:
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise SmileError(f"The data has the column {listed(twice)} twice; keep one of them.")
    return frame


def labels(series: pd.Series) -> pd.Series:
    """Category texts, each from its own cell alone: 1.0 and 1 are the same category whatever stands beside them.

    >>> labels(pd.Series([1.0, 1.5])).tolist(), labels(pd.Series([1.0, 2.0])).tolist()
    (['1', '1.5'], ['1', '2'])
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.dtype.categories.dtype)
    if series.dtype == object:  # 1, 1.0 and True are one key to pandas, so that cells are not gathered by value
        return pd.Series([label(cell) for cell in series], index=series.index, dtype=object)
    codes, values = pd.factorize(series, use_na_sentinel=False)
    texts = np.array([label(value) for value in values], dtype=object)
    return pd.Series(texts[codes], index=series.index, dtype=object)


def label(cell: Any) -> str:
    """The category that a cell names: whole numbers without a point, everything else as it prints."""
    if isinstance(cell, (float, np.floating)) and np.isfinite(cell) and cell == np.rint(cell):
        return str(int(cell))
    return str(cell)


def whole(text: str) -> str:
    """``1.0`` as ``1``: a whole number that was written with its point; another text as it is."""
    return re.sub(r"^(-?[0-9]+)\.0+$", r"\1", text)


def is_text(series: pd.Series) -> bool:
    """Whether a column holds neither numbers nor truth values."""
    return not pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series)


def numbers(series: pd.Series, name: str, first_row: int = 0) -> np.ndarray:
    """A numeric column as float64; missing, infinite or text cells raise with their row, and so do numbers of a wider
    type that float64 does not hold: a difference of 1 between two cells must not become one of 2.
    """
    if pd.api.types.is_bool_dtype(series):
        series = series.astype(float)
    if pd.api.types.is_complex_dtype(series):
        raise SmileError(f"Column {name!r} holds complex numbers; give real ones.")
    if pd.api.types.is_datetime64_any_dtype(series) or pd.api.types.is_timedelta64_dtype(series):
        raise SmileError(f"Column {name!r} holds dates or durations; turn it into numbers, such as days, first.")
    values = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row, cell = int(bad[0]), series.iloc[int(bad[0])]
        if pd.isna(cell):
            raise SmileError(f"Row {first_row + row}, column {name!r} is missing (NaN); drop the row or fill it in.")
        if isinstance(cell, str):
            raise SmileError(
                f"Row {first_row + row}, column {name!r} holds the text {cell!r} among numbers; correct the cell."
            )
        raise SmileError(f"Row {first_row + row}, column {name!r} is {cell}; give a finite number.")
    rounded = _rounded(series, values)
    if rounded is not None:
        raise SmileError(
            f"Row {first_row + rounded}, column {name!r} holds {series.iloc[rounded]}, which float64 rounds to "
            f"{values[rounded]:.0f}; subtract an offset, or use larger units."
        )
    return values


def _rounded(series: pd.Series, values: np.ndarray) -> int | None:
    """The first row whose cell float64 does not hold: a long float, or a whole number beyond 2⁵³, also as a text.

    Decimals are none: whatever is written with a point or an exponent means the nearest float.
    """
    if pd.api.types.is_float_dtype(series):
        found = np.flatnonzero(series.to_numpy() != values) if series.dtype == np.longdouble else np.empty(0)
    else:
        large = np.flatnonzero(np.abs(values) >= EXACT)
        found = [row for row in large if whole_number(series.iloc[int(row)]) not in (None, int(values[row]))]
    return int(found[0]) if len(found) else None


def whole_number(cell: Any) -> int | None:
    """The whole number that a cell holds, None for another one."""
    try:
        return int(cell) if isinstance(cell, (int, np.integer, str)) else None
    except ValueError:
        return None
