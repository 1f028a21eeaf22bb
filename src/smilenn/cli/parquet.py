"""Parquet files, a few rows at a time: the one place that imports pyarrow or polars.

Without pyarrow, polars reads a file as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from smilenn.cli.source import Source
from smilenn.domain.table import cells_of, to_frame
from smilenn.errors import SmileError


def parquet_names(source: Source) -> list[str]:
    """The columns of a file, as they are written; pandas's index is none of them."""
    if not has_arrow():
        return list(_polars(source).columns)
    with opened(source) as file:
        schema = file.schema_arrow
        described = schema.pandas_metadata or {}
        index = {entry for entry in described.get("index_columns", ()) if isinstance(entry, str)}
        return [name for name in schema.names if name not in index]


def parquet_frames(source: Source, rows: int, wanted: Collection[str]) -> Iterator[pd.DataFrame]:
    """The wanted columns in frames of up to `rows` rows."""
    if has_arrow():
        for batch in parquet_batches(source, rows, wanted):
            yield frame_of(batch)
        return
    frame = _polars(source).set_axis(list(source.header), axis=1)
    for start in range(0, len(frame), rows):
        yield frame.iloc[start : start + rows].reset_index(drop=True)


def row_groups(source: Source) -> list[int]:
    """How many rows each row group of a file has."""
    require_arrow(source)
    with opened(source) as file:
        return [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]


def parquet_batches(
    source: Source, rows: int, wanted: Collection[str], groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Tables of pyarrow with up to `rows` rows of the wanted columns, from these row groups or from all."""
    import pyarrow

    pairs = {full: short for short, full in zip(source.header, source.written, strict=True) if short in wanted}
    with opened(source) as file:
        if groups is None and file.metadata.num_rows <= rows:
            found: Iterable[Any] = [file.read(columns=list(pairs))]
        else:
            batches = file.iter_batches(rows, row_groups=groups, columns=list(pairs))
            found = (pyarrow.Table.from_batches([batch]) for batch in batches)
        for table in found:  # columns that begin alike came too
            yield table.select(list(pairs)).rename_columns(list(pairs.values()))


def frame_of(table: Any) -> pd.DataFrame:
    """A table of pyarrow as a frame, numbered from 0."""
    return to_frame(table).reset_index(drop=True).set_axis(table.column_names, axis=1)


@contextmanager
def opened(source: Source) -> Iterator[Any]:
    """The file; damaged ones are one sentence."""
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(source.path, pre_buffer=False) as file:  # or it keeps what it has read
            yield file
    except (pyarrow.ArrowException, pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise SmileError(f"{source.name} is not a readable Parquet file: {why}.") from None


class Written:
    """Frames written to one file, each a row group; `close` notes `facts`, which `noted` reads."""

    def __init__(self, path: Path) -> None:
        self.path, self.writer = path, None

    def add(self, frame: pd.DataFrame, copied: Any) -> None:
        """Append the rows of a frame, behind the columns of a table of pyarrow."""
        import pyarrow
        from pyarrow import parquet

        table = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        for place, name in enumerate(copied.column_names):
            table = table.add_column(place, copied.schema.field(name), copied.column(name))
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.path, table.schema)
        self.writer.write_table(table.cast(self.writer.schema))

    def close(self, facts: dict[str, str]) -> None:
        """End the file."""
        assert self.writer is not None
        self.writer.add_key_value_metadata(facts)
        self.writer.close()


def noted(path: Path) -> dict[str, str]:
    """The facts that a file of `Written` notes."""
    from pyarrow import parquet

    found = parquet.read_metadata(path).metadata or {}
    return {key.decode(): value.decode() for key, value in found.items()}


def require_arrow(source: Source) -> None:
    """A sentence where pyarrow is missing."""
    if not has_arrow():
        raise SmileError(f"{source.name} is read by row groups, which needs pyarrow; pip install 'smilenn[cluster]'.")


def has_arrow() -> bool:
    """Whether pyarrow is installed, so that files are read in pieces."""
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def _polars(source: Source) -> pd.DataFrame:
    try:
        import polars
    except ModuleNotFoundError:
        raise SmileError(
            f"{source.name} is a Parquet file, which pyarrow reads; pip install pyarrow, or save it as CSV."
        ) from None
    table = polars.read_parquet(source.path)
    return pd.DataFrame({name: cells_of(table[name]) for name in table.columns})
