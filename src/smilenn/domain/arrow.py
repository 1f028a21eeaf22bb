"""Columns on Arrow's types as pandas's own, so that a table means the same whichever way pandas keeps it.

    double, float              float64, float32; NaN and null are both missing
    whole numbers, truth       int64, bool; Int64, boolean where a cell is missing, so that none is rounded
    string                     texts
    dictionary                 a categorical, ordered where the dictionary is and polars did not make it of an Enum
    date, timestamp, duration  dates, datetime64, timedelta64
    decimal and all others     their cells

pandas asks Arrow's columns in Arrow's way: there a text is not turned into NaN but stays, and NaN is no missing cell.
This file imports no pyarrow: a column of its types brings it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd


def without_arrow(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with no column on a type of Arrow."""
    places = [place for place, dtype in enumerate(frame.dtypes) if _is_arrow(dtype)]
    if not places:
        return frame
    out = frame.copy(deep=False)
    for place in places:  # by place: two columns may have one name, which is refused later
        out.isetitem(place, plain_column(frame.iloc[:, place]))
    return out


def plain_column(column: Any) -> Any:
    """A series without a type of Arrow; anything else as it is."""
    if not isinstance(column, pd.Series) or not _is_arrow(column.dtype):
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = plain_column(pd.Series(column.dtype.categories))
        return column.cat.rename_categories(categories.astype(object).tolist())
    if column.dtype.kind in "iub" and column.isna().any():
        return pd.Series(_nullable(column), index=column.index, name=column.name)
    cells: Any = column.array
    try:
        found = cells.__arrow_array__().to_pandas().array
    except ValueError:  # a dictionary that holds null, or a value twice
        found = _categories(cells.__arrow_array__())
    return pd.Series(found, index=column.index, name=column.name)


def _categories(cells: Any) -> pd.Categorical:
    """A dictionary of Arrow whose values do not all differ, or hold null, which is a missing cell."""
    whole = cells.unify_dictionaries()
    values = dict.fromkeys(v for chunk in whole.chunks for v in chunk.dictionary.to_pylist() if v is not None)
    return pd.Categorical(cells.to_pylist(), categories=list(values), ordered=cells.type.ordered)


ENUMS = "enums"  # where a frame notes which columns were Enums


def without_order(frame: pd.DataFrame, table: Any) -> pd.DataFrame:
    """The frame of a table of polars or pyarrow with its Enums as categories without order, and a note of which.

    An Enum has its values in the order of their declaration, which orders north, south and west too.
    """
    names = [name for name in _enums(table) if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    for name in names:
        frame[name] = frame[name].cat.as_unordered()
    if names:
        frame.attrs[ENUMS] = names
    return frame


def _enums(table: Any) -> list[str]:
    """The columns that polars has as an Enum, or had before it made a table of Arrow."""
    if type(table).__module__.startswith("polars"):
        return [name for name, dtype in table.schema.items() if type(dtype).__name__ == "Enum"]
    fields = table.schema if type(table).__module__.startswith("pyarrow") else ()
    return [field.name for field in fields if any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())]


def _is_arrow(dtype: Any) -> bool:
    kept = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
    return isinstance(kept, pd.ArrowDtype)


def _nullable(column: pd.Series) -> Any:
    """Whole numbers or truth values some of which are missing, on pandas's own type: as floats they would be rounded,
    and so they are by pandas's own `astype`.
    """
    dtype: Any = column.dtype
    missing = column.isna().to_numpy(dtype=bool)
    cells = column.fillna(False if dtype.kind == "b" else 0).to_numpy(dtype=dtype.numpy_dtype)
    return (pd.arrays.BooleanArray if dtype.kind == "b" else pd.arrays.IntegerArray)(cells, missing)
