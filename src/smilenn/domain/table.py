"""Tables of any library as pandas frames with text column names, and single columns as numbers or labels."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence, Sized
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.arrow import without_arrow, without_order
from smilenn.errors import SmileError, listed

EXACT = 2.0**53  # up to here float64 holds every whole number
LARGEST = sys.float_info.max


def as_frame(data: Any, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Any table (pandas, polars, array [n, m]) as a pandas frame with text column names.

    Arrays take their names by position from `columns`, else ``x0, x1, …``.
    """
    if isinstance(data, pd.DataFrame):
        frame = without_arrow(data)
    elif hasattr(data, "to_pandas"):
        frame = _polars_frame(data)
    else:
        frame = _array_frame(as_array(data), columns)
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if columns is None:
        refuse_twice(frame, frame.columns)
    return frame


def refuse_twice(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse a frame that has one of these columns twice."""
    twice = sorted(set(frame.columns[frame.columns.duplicated()]).intersection(columns))
    if twice:
        raise SmileError(f"The data has the column {listed(twice)} twice; keep one of them.")


def to_frame(table: Any) -> pd.DataFrame:
    """A table of polars or pyarrow as a frame.

    A missing cell makes floats of whole numbers. A column that this would round keeps its cells.
    """
    frame = without_arrow(table.to_pandas())  # a file of pandas may ask for Arrow's types
    if not frame.columns.is_unique:
        return frame  # refused later, by a sentence
    frame = without_order(frame, table)
    kept = {}
    for name, column in frame.items():
        if column.dtype.kind == "f" and (column.abs() >= EXACT).any():
            own = table[name]
            listing = getattr(own, "to_pylist", None) or getattr(own, "to_list", None)
            cells = listing() if listing is not None else []
            if any(isinstance(cell, int) for cell in cells):
                kept[name] = pd.Series(cells, index=frame.index, dtype=object)
    return with_columns(frame, kept)


def with_columns(frame: pd.DataFrame, cells: Mapping[str, Any]) -> pd.DataFrame:
    """A copy of the frame with other cells in these columns, whatever they are called."""
    out = frame.copy(deep=False)
    for name, column in cells.items():
        out[name] = column
    return out


def _polars_frame(data: Any) -> pd.DataFrame:
    try:
        return to_frame(data)
    except (ModuleNotFoundError, ValueError):  # polars converts through pyarrow, which may lack it or its type
        if type(data).__module__.startswith("pyarrow"):  # a dictionary that pandas has no categories for
            return without_arrow(data.to_pandas(types_mapper=pd.ArrowDtype))
        return pd.DataFrame({name: cells_of(data[name]) for name in data.columns})


def _array_frame(array: np.ndarray, columns: Sequence[str] | None) -> pd.DataFrame:
    if array.ndim != 2:
        raise SmileError(f"The data has {array.ndim} dimensions; give a table with rows and columns.")
    if columns is not None and array.shape[1] != len(columns):
        raise SmileError(f"The array has {array.shape[1]} columns; the domain has {len(columns)}.")
    names = [f"x{i}" for i in range(array.shape[1])] if columns is None else list(columns)
    return pd.DataFrame(array, columns=names)


def as_array(data: Any) -> np.ndarray:
    """Anything that NumPy reads as an array; a masked cell is a missing one, whatever lies behind its mask.

    Of lists that hold large numbers the cells are kept: beside a decimal, NumPy would round a whole number beyond 2⁵³.
    """
    if not np.ma.is_masked(data):
        array = _as_given(data)
        by_hand = isinstance(data, list | tuple) and array.dtype.kind == "f"
        return np.array(data, dtype=object) if by_hand and (np.abs(array) >= EXACT).any() else array
    cells = np.array(np.ma.getdata(data), dtype=object)
    cells[np.ma.getmaskarray(data)] = np.nan
    return cells


def _as_given(data: Any) -> np.ndarray:
    try:
        return np.asarray(data)
    except ValueError:  # rows of different lengths
        lengths = [len(row) if isinstance(row, Sized) else 1 for row in data]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
        raise SmileError(
            f"Row {odd} has {lengths[odd]} cells and row 0 has {lengths[0]}; give every row one cell for each column."
            if odd
            else "The data has cells that are lists of different lengths; give every part a column of its own."
        ) from None


def cells_of(column: Any) -> Any:
    """A column of polars: the cells themselves where NumPy would have them as floats that they are not."""
    try:
        values = column.to_numpy()
    except Exception:  # errors of its own, for types that NumPy does not have, such as Int128
        return pd.Series(column.to_list(), dtype=object).infer_objects()
    return values if values.dtype.kind != "f" or column.dtype.is_float() else pd.Series(column.to_list(), dtype=object)


def inferred(series: pd.Series) -> pd.Series:
    """A column of objects in the type of its cells; as it is where that would round whole numbers beyond 2⁵³."""
    found = series.infer_objects()
    return series if found.dtype.kind == "f" and _rounded(series, found.to_numpy()) is not None else found


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


def shown(text: str) -> str:
    """A text of a cell, cut where it is long.

    >>> shown("abc"), shown("1" * 99)
    ('abc', '1111111111111111111111111111111111111111…')
    """
    return text if len(text) <= 60 else f"{text[:40]}…"


def _no_number(cell: Any, where: str) -> str:
    """What is wrong with a cell that is not a finite number."""
    if pd.isna(cell):
        return f"{where} is missing (NaN); drop the row or fill it in."
    if isinstance(cell, str):
        return f"{where} holds the text {shown(cell)!r} among numbers; correct the cell."
    return f"{where} is {shown(str(cell))}; give a finite number."


def numbers(series: pd.Series, name: str, first_row: int = 0) -> np.ndarray:
    """A numeric column as float64; missing, infinite or text cells raise with their row, and so do numbers of a wider
    type that float64 does not hold: a difference of 1 between two cells must not become one of 2.
    """
    if pd.api.types.is_bool_dtype(series):
        series = series.astype(float)
    if pd.api.types.is_complex_dtype(series):
        raise SmileError(f"Column {name!r} holds complex numbers; give real ones.")
    dates = pd.api.types.is_datetime64_any_dtype(series) or series.dtype.kind in ("m", "M")  # Arrow's durations too
    if dates or isinstance(series.dtype, pd.PeriodDtype):
        raise SmileError(f"Column {name!r} holds dates or durations; turn it into numbers, such as days, first.")
    try:
        found = pd.to_numeric(series, errors="coerce")
    except TypeError as error:  # types that pandas has no numbers for, such as Arrow's float16
        raise SmileError(f"Column {name!r} cannot be read as numbers ({error}); convert it to float64.") from None
    except OverflowError:  # a whole number of Python beyond the largest float
        row = next(row for row, cell in enumerate(series) if isinstance(cell, int) and abs(cell) > LARGEST)
        raise SmileError(f"Row {first_row + row}, column {name!r} is too large; give a finite number.") from None
    if pd.api.types.is_complex_dtype(found):
        raise SmileError(f"Column {name!r} holds complex numbers; give real ones.")
    values = found.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise SmileError(_no_number(series.iloc[int(bad[0])], f"Row {first_row + int(bad[0])}, column {name!r}"))
    rounded = _rounded(series, values)
    if rounded is not None:
        raise SmileError(
            f"Row {first_row + rounded}, column {name!r} holds {series.iloc[rounded]}, which float64 rounds to "
            f"{values[rounded]:.0f}; subtract an offset, or use larger units."
        )
    return values


def _rounded(series: pd.Series, values: np.ndarray) -> int | None:
    """The first row whose cell float64 does not hold: a long float, or a whole number beyond 2⁵³ of whatever type.

    Decimals are none: whatever is written with a point or an exponent means the nearest float.
    """
    if pd.api.types.is_float_dtype(series):
        found = np.flatnonzero(series.to_numpy() != values) if series.dtype == np.longdouble else np.empty(0)
        return int(found[0]) if len(found) else None
    large = set(np.flatnonzero(np.abs(values) >= EXACT).tolist())
    if is_text(series):
        large |= {row for row, cell in enumerate(series) if type(cell) is np.longdouble}
    return next((row for row in sorted(large) if not _held(series.iloc[row], values[row])), None)


def _held(cell: Any, value: float) -> bool:
    """Whether `value` is the number that a cell holds; a decimal is the float nearest to it."""
    if type(cell) is np.longdouble:
        return bool(cell == value)
    return whole_number(cell) in (None, int(value))


def whole_number(cell: Any) -> int | None:
    """The whole number that a cell holds, None for another one."""
    try:
        if isinstance(cell, Decimal):
            return int(cell) if cell == cell.to_integral_value() else None
        return int(cell) if isinstance(cell, (int, np.integer, str, bytes)) else None
    except ValueError:
        return None
