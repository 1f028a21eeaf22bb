"""A Parquet file with more rows than are held in memory: the same rows of it, whoever reads it.

    rows = `MOST_ROWS` drawn evenly  ∪  the rows of every column's smallest and largest number  ∪  one of every text

The draw depends on the number of rows alone, so `smile fit` and a report on the same file read the same rows and hold
out the same ones. With the extreme rows among them, the domain that is learned has the exact ends of the whole file,
and every category. Two passes, a batch at a time: one finds which rows, the other reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd

from smilenn.cli.parquet import has_arrow, parquet_frames, row_groups
from smilenn.cli.source import Source

MOST_ROWS = 1_000_000
BATCH_ROWS = 65_536
MOST_TEXTS = 1_000  # of a column with more of them, those that are drawn have to do
SEED = 0


def rows_of(source: Source) -> int:
    """How many rows a Parquet file has; 0 for another file, or where pyarrow is missing and polars reads all of it."""
    return sum(row_groups(source)) if source.form == "parquet" and has_arrow() else 0


def sentence(source: Source, rows: int, kept: int) -> str:
    """What was read of a file."""
    return (
        f"{source.name} has {rows} rows; {kept} of them are read: {MOST_ROWS} drawn evenly, and those with the "
        "smallest and largest number of every column and with every text (of a column with more than "
        f"{MOST_TEXTS}, the first ones)."
    )


def noted(source: Source) -> dict[str, Any]:
    """What training.json keeps of the draw; nothing where the whole file is read."""
    rows = rows_of(source)
    return {"of_rows": rows, "draw": {"rows": MOST_ROWS, "seed": SEED}} if rows > MOST_ROWS else {}


def sampled(source: Source, rows: int, wanted: Collection[str]) -> pd.DataFrame:
    """The wanted columns of the chosen rows, in the file's order; the index is where they stand in the file."""
    chosen = np.union1d(_drawn(rows), _telling(source))
    parts = []
    for start, frame in _frames(source, wanted):
        low, high = np.searchsorted(chosen, [start, start + len(frame)])
        parts.append(frame.iloc[chosen[low:high] - start])
    return pd.concat(parts, ignore_index=True).set_axis(chosen)


def _drawn(rows: int) -> np.ndarray:
    """`MOST_ROWS` of so many."""
    return np.random.default_rng(SEED).choice(rows, MOST_ROWS, replace=False, shuffle=False)


def _frames(source: Source, wanted: Collection[str]) -> Iterator[tuple[int, pd.DataFrame]]:
    start = 0
    for frame in parquet_frames(source, BATCH_ROWS, wanted):
        yield start, frame
        start += len(frame)


def _telling(source: Source) -> np.ndarray:
    """Rows that hold the first smallest and largest number of a column, or the first cell with a text."""
    ends: dict[tuple[int, int], tuple[float, int]] = {}  # column, ±1 → ±the value, row
    texts: dict[int, dict[str, int]] = {}
    for start, frame in _frames(source, source.header):
        for place in range(frame.shape[1]):
            column = _plain(frame.iloc[:, place])
            if isinstance(column.dtype, (pd.CategoricalDtype, pd.StringDtype)) or column.dtype == object:
                _note_texts(texts.setdefault(place, {}), column, start)
            else:
                _note_ends(ends, place, column, start)
    found = [row for _, row in ends.values()] + [row for known in texts.values() for row in known.values()]
    return np.array(found, dtype=np.int64)


def _plain(column: pd.Series) -> pd.Series:
    """Decimals and dates, which pandas keeps as objects, as numbers; any other column as it is."""
    kind = pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""
    if kind == "decimal":
        return pd.to_numeric(column)
    return pd.to_datetime(column) if kind == "date" else column


def _note_ends(ends: dict[tuple[int, int], tuple[float, int]], place: int, column: pd.Series, start: int) -> None:
    if pd.api.types.is_datetime64_any_dtype(column):
        column = column.astype("int64").where(column.notna())
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isnan(values).all():
        return
    for sign in (-1, 1):
        row = int(np.nanargmax(sign * values))
        value = sign * values[row]
        if (place, sign) not in ends or value > ends[place, sign][0]:
            ends[place, sign] = value, start + row


def _note_texts(known: dict[str, int], column: pd.Series, start: int) -> None:
    if len(known) > MOST_TEXTS:
        return
    values = column.dropna()
    for row, text in values[~values.astype(str).duplicated()].astype(str).items():
        if text not in known and len(known) <= MOST_TEXTS:
            known[text] = start + int(row)  # type: ignore[arg-type]
