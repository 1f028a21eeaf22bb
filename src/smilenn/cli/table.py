"""CSV files: read strictly, whole or in chunks, with errors that name the file, the row and the column.

Rows are counted as a spreadsheet shows them: the header is row 1, the first row of data row 2.
"""

from __future__ import annotations

import csv
import hashlib
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from smilenn.errors import SmileError, listed

FIRST_ROW = 2
MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null"]


def read_header(path: Path) -> list[str]:
    """The column names, read before anything else: duplicates, which pandas would rename, are errors."""
    with _readable(path), open(path, encoding="utf-8-sig", newline="") as file:
        names = next((row for row in csv.reader(file) if row), [])
    if not names:
        raise SmileError(f"{str(path)!r} is empty; give a CSV file with a header and rows.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SmileError(f"{str(path)!r} has the column {listed(twice)} twice; rename or remove one of them.")
    if "" in names:
        raise SmileError(f"Column {names.index('') + 1} of {str(path)!r} has no name; name it in the header.")
    return names


def read_chunks(path: Path, rows: int, text: Collection[str] = ()) -> Iterator[tuple[int, pd.DataFrame]]:
    """The file in frames of up to `rows` rows, each with the number of its first row; at least one row or an error.

    `text` names columns whose values are names even where they look like numbers.
    """
    names = read_header(path)
    first = FIRST_ROW
    with _readable(path):
        reader = pd.read_csv(
            path,
            chunksize=rows,
            index_col=False,
            dtype={name: str for name in text if name in names},  # type: ignore[arg-type]
            keep_default_na=False,
            na_values=MISSING,
            encoding="utf-8-sig",
            low_memory=False,
        )
        with reader:
            for frame in reader:
                yield first, frame
                first += len(frame)
    if first == FIRST_ROW:
        raise SmileError(f"{str(path)!r} has a header but no rows; add at least one.")


def read_table(
    path: Path, text: Collection[str] = (), *, only: Collection[str] | None = None, may_lack: Collection[str] = ()
) -> pd.DataFrame:
    """The whole file; missing, infinite and stray text cells are errors that name row and column.

    `only` keeps these columns; columns of `may_lack` may have missing cells.
    """
    frames = [frame for _, frame in read_chunks(path, 1_000_000_000, text)]
    frame = frames[0] if only is None else frames[0][[name for name in frames[0].columns if name in only]]
    for name in frame.columns:
        _check_column(path, str(name), frame[name], name in may_lack)
    return frame


def file_digest(path: Path) -> str:
    """SHA-256 of the file, hexadecimal."""
    with _readable(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_column(path: Path, name: str, column: pd.Series, may_lack: bool) -> None:
    missing = column.isna().to_numpy()
    if missing.any() and not may_lack:
        raise _cell(
            path, int(np.flatnonzero(missing)[0]), name, "is missing; drop the row, fill it in, or use --missing fill."
        )
    if pd.api.types.is_bool_dtype(column):
        return
    if pd.api.types.is_numeric_dtype(column):
        infinite = np.flatnonzero(np.isinf(column.to_numpy(dtype=np.float64)))
        if infinite.size:
            raise _cell(path, infinite[0], name, f"is {column.iloc[infinite[0]]}; give a finite number.")
        return
    stray = pd.to_numeric(column, errors="coerce").isna().to_numpy() & ~missing
    if stray.any() and not (stray | missing).all():
        row = int(np.flatnonzero(stray)[0])
        raise _cell(
            path, row, name, f"holds the text {column.iloc[row]!r} among numbers; correct the cell, or use --category."
        )


def _cell(path: Path, index: int, name: str, what: str) -> SmileError:
    return SmileError(f"{str(path)!r}, row {FIRST_ROW + int(index)}, column {name!r} {what}")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What may go wrong with a file, in one sentence each."""
    try:
        if path.is_dir():
            raise SmileError(f"{str(path)!r} is a folder; give a CSV file.")
        with warnings.catch_warnings():
            # a row longer than the header would otherwise lose its last cells
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except FileNotFoundError:
        raise SmileError(f"There is no file {str(path)!r}; check the path.") from None
    except UnicodeDecodeError:
        raise SmileError(f"{str(path)!r} is not a text file in UTF-8; save it as CSV in UTF-8.") from None
    except pd.errors.EmptyDataError:
        raise SmileError(f"{str(path)!r} is empty; give a CSV file with a header and rows.") from None
    except pd.errors.ParserWarning:
        raise SmileError(f"{str(path)!r} has a row with more cells than the header; check its commas.") from None
    except (pd.errors.ParserError, csv.Error) as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        raise SmileError(f"{str(path)!r} is not a readable CSV file: {reason}.") from None
    except OSError as error:
        raise SmileError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None
