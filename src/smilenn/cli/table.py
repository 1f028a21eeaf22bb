"""Cells of tables: read strictly, whole or in chunks, with errors that name the file, the row and the column.

Rows are counted as a spreadsheet shows them: the header is row 1, the first row of data row 2, and blank lines, which
are not read, count too.
"""

from __future__ import annotations

import itertools
import re
import shlex
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from smilenn.cli import sample
from smilenn.cli.parquet import parquet_frames
from smilenn.cli.source import FIRST_ROW, MISSING, Source, readable
from smilenn.domain.cells import written_numbers
from smilenn.domain.few import few_and_mixed
from smilenn.domain.odd import odd_cell
from smilenn.domain.stray import stray_cell
from smilenn.domain.table import EXACT, shown, whole_number
from smilenn.errors import SmileError, listed

BLANKS = tuple(" " * n for n in range(1, 9))
OF_FIT = ("--category", "--na", "--keep-na", "--missing", "--drop")  # options that help with cells, by command
OF_REPORT = ("--na", "--keep-na")
COMMA_NUMBER = re.compile(r"[-+]?(\d+,?\d*|,\d+)([eE][-+]?\d+)?")
ROW = re.compile(r"^Row (\d+)")
NO_DATE = re.compile(r"(?<= holds )'([^']*)', which is no date .*; correct the cell\.$")
STRAY = "among numbers; correct the cell"


def read_chunks(
    source: Source,
    rows: int,
    text: Mapping[str, Collection[str]] | None = None,
    *,
    only: Collection[str] | None = None,
    numbers: Collection[str] = (),
) -> Iterator[tuple[int, pd.DataFrame]]:
    """The table in frames of up to `rows` rows, each with the number of its first row; at least one row or an error.

    `text` names columns whose values are names even where they look like numbers, each with names that are known: these
    are not missing cells whatever they are. `only` keeps these columns; the others may hold anything. `numbers` are
    known to be plain numbers.
    """
    wanted = _wanted(source, only)
    known = dict(text or {})
    parts = _parquet(source, rows, wanted) if source.form == "parquet" else _csv(source, rows, known, wanted)
    first = FIRST_ROW
    for frame in filter(len, parts):
        if source.form != "parquet":
            _refuse_rounded(source, frame[wanted], first - FIRST_ROW)
            _refuse_beside_commas(source, frame[wanted], numbers)
        yield first, frame[wanted]
        first += len(frame)
    if first == FIRST_ROW:
        raise SmileError(f"{source.name} has a header but no rows; add at least one.")


def _wanted(source: Source, only: Collection[str] | None) -> list[str]:
    """The columns to read, each of which the file has once."""
    wanted = [name for name in source.header if only is None or name in only]
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    if twice:
        raise SmileError(f"{source.name} has the column {listed(twice)} twice; rename or remove one of them.")
    return wanted


def read_table(
    source: Source,
    text: Mapping[str, Collection[str]] | None = None,
    *,
    only: Collection[str] | None = None,
    may_lack: Collection[str] = (),
    options: Collection[str] = (),
    numbers: Collection[str] = (),
) -> pd.DataFrame:
    """The whole table; missing, infinite and stray text cells are errors that name row and column, and of the command's
    `options` those that help.

    `text`, `only`, `numbers` as in `read_chunks`; columns of `may_lack` may have missing cells. Of a Parquet file with
    more rows than `sample.MOST_ROWS` a part is read, and a warning says which.
    """
    rows = sample.rows_of(source)
    if rows > sample.MOST_ROWS:
        with parsed(source):
            frame = without_marked(source, sample.sampled(source, rows, _wanted(source, only)))[_wanted(source, only)]
        warnings.warn(sample.sentence(source, rows, len(frame)), stacklevel=2)
    else:
        (frame,) = (frame for _, frame in read_chunks(source, 1_000_000_000, text, only=only, numbers=numbers))
    for name in frame.columns:
        _refuse_odd(source, str(name), frame[name])
        # where others may lack cells, one that may not is the target: no option helps it
        target = bool(may_lack) and name not in may_lack
        helping = [option for option in options if option not in ("--missing", "--drop")] if target else options
        _refuse_cells(source, str(name), frame[name], name in may_lack, helping)
        if name not in (text or {}):  # in a column of names a number is a name
            _refuse_stray(source, str(name), frame[name], helping)
    return frame.reset_index(drop=True)


@contextmanager
def parsed(source: Source) -> Iterator[None]:
    """What may go wrong with a file, and what pandas says of its rows."""
    name = source.name
    try:
        with readable(source), warnings.catch_warnings():
            # a row longer than the header would otherwise lose its last cells
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except pd.errors.EmptyDataError:
        raise SmileError(f"{name} is empty; give a CSV file with a header and rows.") from None
    except pd.errors.ParserWarning:
        raise SmileError(f"{name} has a row with more cells than the header; check its separators.") from None
    except pd.errors.ParserError as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        if found := re.match(r"Expected (\d+) fields in (line \d+), saw (\d+)", reason):
            raise SmileError(
                f"{name}, {found[2]} has {found[3]} cells, and the header {found[1]}; put a cell that holds a "
                "separator in quotes, or remove what is too much."
            ) from None
        raise SmileError(f"{name} is not a readable CSV file: {reason}.") from None


def _csv(source: Source, rows: int, text: dict[str, Collection[str]], wanted: list[str]) -> Iterator[pd.DataFrame]:
    # columns that are not read keep their place, so that a row with too many cells is still noticed
    names = [name if name in wanted else f"\0{i}" for i, name in enumerate(source.header)]
    with parsed(source):
        reader = pd.read_csv(
            source.path,
            sep=source.separator,
            decimal=source.decimal,
            compression="gzip" if source.form == "gzip" else None,
            header=0,
            names=names,
            chunksize=rows,
            index_col=False,
            dtype={name: str for name in names if name in text or name not in wanted},  # type: ignore[arg-type]
            keep_default_na=False,
            na_values={name: _missing(source, text.get(name, ())) for name in names},
            encoding="utf-8-sig",
            low_memory=False,
            **exact_decimals(pd.__version__),
        )
        with reader:
            yield from reader


def exact_decimals(version: str) -> dict[str, Any]:
    """What makes pandas read every decimal as the nearest float: before 3.1 its quick parser missed by a last digit, so
    that two cells could change their order; since then there is no other.

    >>> exact_decimals("2.2.3"), exact_decimals("3.1.1")
    ({'float_precision': 'round_trip'}, {})
    """
    numbered = tuple(int(part) for part in version.split(".")[:2])
    return {"float_precision": "round_trip"} if numbered < (3, 1) else {}


def _missing(source: Source, known: Collection[str]) -> list[str]:
    """Texts that mean a missing cell in a column with these known names, with blanks around them too."""
    texts = [text for text in source.missing if text not in known]
    spaced = [f"{a}{text}{b}" for text in texts if text for a in ("", " ") for b in ("", " ")]
    return [*spaced, *(("", *BLANKS) if "" in texts else ())]


def _parquet(source: Source, rows: int, wanted: list[str]) -> Iterator[pd.DataFrame]:
    with parsed(source):
        for frame in parquet_frames(source, rows, wanted):
            yield without_marked(source, frame)


def without_marked(source: Source, frame: pd.DataFrame) -> pd.DataFrame:
    """Parquet knows missing cells: texts are taken as they are, but for those of ``--na``."""
    further = list(dict.fromkeys((*source.marked, *(name for name in source.missing if name not in MISSING))))
    return frame.replace(further, np.nan).infer_objects() if further else frame


def _refuse_cells(source: Source, name: str, column: pd.Series, may_lack: bool, options: Collection[str]) -> None:
    missing = column.isna().to_numpy()
    if not may_lack:
        _refuse_missing(source, name, column, missing, options)
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        infinite = np.flatnonzero(np.isinf(column.to_numpy(dtype=np.float64)))
        if infinite.size:
            value = column.iloc[infinite[0]]
            raise _cell(source, _place(column, infinite), name, f"is {value}; give a finite number.")


def _refuse_stray(source: Source, name: str, column: pd.Series, options: Collection[str]) -> None:
    """Raise where some cells are numbers and others are texts, but not numbers all written one way: 1,200 and 7; and
    where nearly all are numbers or dates that are written one way.
    """
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column) or written_numbers(column):
        return
    found = stray_cell(column)
    if found is not None:
        what = f"{found[1]}; correct the cell{_or_use(('--category', '--na', '--drop'), options)}."
        raise _cell(source, int(column.index[found[0]]), name, what)
    missing = column.isna().to_numpy()
    stray = pd.to_numeric(column, errors="coerce").isna().to_numpy() & ~missing
    if stray.any() and not (stray | missing).all() and not few_and_mixed(column[~missing]):
        raise _cell(
            source,
            _place(column, stray),
            name,
            f"holds the text {column[stray].iloc[0]!r} {STRAY}{_or_use(('--category', '--na'), options)}.",
        )


def _refuse_beside_commas(source: Source, frame: pd.DataFrame, numbers: Collection[str]) -> None:
    """Raise at the first text of a column of numbers in a file with decimal commas: one makes texts of all, and to the
    domain, which knows points, every one of them is as odd.
    """
    for name in (name for name in frame.columns if source.decimal == "," and name in numbers):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            continue
        texts = np.array([isinstance(cell, str) and not COMMA_NUMBER.fullmatch(cell.strip()) for cell in column])
        if texts.any():
            what = f"holds the text {shown(column[texts].iloc[0])!r} {STRAY}, or use --na."
            raise _cell(source, _place(column, texts), str(name), what)


def _refuse_missing(
    source: Source, name: str, column: pd.Series, missing: np.ndarray, options: Collection[str]
) -> None:
    if missing.all():
        drop = f"leave it out: --drop {name}" if "--drop" in options else "fill it in"
        raise SmileError(f"{source.name}: every cell of column {name!r} is missing; {drop}.")
    if missing.any():
        row = _place(column, missing)
        written = "" if pd.api.types.is_numeric_dtype(column) else _written(source, row, name)
        raise _cell(source, row, name, _missing_words(written, options))


def _or_use(helping: Collection[str], options: Collection[str]) -> str:
    """The options that help, of those that a command has.

    >>> _or_use(("--category", "--na"), OF_FIT), _or_use(("--category", "--na"), OF_REPORT), _or_use(("--na",), ())
    (', or use --category or --na', ', or use --na', '')
    """
    found = [option for option in helping if option in options]
    words = " or ".join(part for part in (", ".join(found[:-1]), *found[-1:]) if part)
    return f", or use {words}" if found else ""


def refused(source: Source, error: SmileError) -> SmileError:
    """What a domain says of a row, said of the file by a command that has ``--na``."""
    return SmileError(f"{source.name}: {with_na(source.as_shown(str(error)))}")


@contextmanager
def rows_of_file(source: Source) -> Iterator[None]:
    """Errors that begin with a row of the whole table, counted from 0, are said of the file and of its own row."""
    try:
        yield
    except SmileError as error:
        if not ROW.match(str(error)):
            raise
        sampled = sample.rows_of(source) > sample.MOST_ROWS  # places among the rows that were drawn tell nobody where
        said = ROW.sub(lambda found: "A row" if sampled else f"Row {source.row_number(int(found[1]))}", str(error))
        raise SmileError(f"{source.name}: {with_na(said)}") from None


def with_na(message: str) -> str:
    """The same with the option for a text that means "missing"."""
    message = message.replace(f"{STRAY}.", f"{STRAY}{_or_use(('--na',), OF_REPORT)}.")
    return NO_DATE.sub(lambda found: f"{found[0][:-1]}, or use --na {shlex.quote(found[1])}.", message)


def _place(column: pd.Series, places: np.ndarray) -> int:
    """Where the first of these cells stands in the file: the index of a column says so."""
    return int(column.index.to_numpy()[places][0])


def _refuse_rounded(source: Source, frame: pd.DataFrame, start: int) -> None:
    """Raise where a whole number of the file was rounded: one missing cell or one decimal makes a column float64."""
    floats = frame.select_dtypes("float64")
    large = floats.abs() >= EXACT
    for name in floats.columns[large.any()]:
        place, wide = source.header.index(str(name)), large[name].to_numpy()
        rows = itertools.islice(source.rows(), start + 1, start + 1 + len(frame))
        for index, cells in enumerate(rows):
            if not wide[index] or place >= len(cells):
                continue
            written = whole_number(cells[place])
            if written is not None and written != float(floats[name].iloc[index]):  # Python compares these exactly
                what = f"holds {shown(cells[place])}, which float64 rounds; subtract an offset, or use larger units."
                raise _cell(source, start + index, str(name), what)


def _missing_words(written: str, options: Collection[str]) -> str:
    """The remedies; a cell of texts that is `written` somehow may be a value."""
    remedy = (
        "drop the row, fill it in, or use --missing fill" if "--missing" in options else "drop the row or fill it in"
    )
    if not written:
        return f"is missing; {remedy}."
    keep = f", or --keep-na {shlex.quote(written)} if that is a value" if "--keep-na" in options else ""
    return f"is missing ({written!r}); {remedy}{keep}."


def _written(source: Source, index: int, name: str) -> str:
    """A cell as it stands in a CSV file; empty where it cannot be told."""
    if source.form == "parquet":
        return ""
    row = next(itertools.islice(source.rows(), index + 1, None), [])
    place = source.header.index(name)
    return row[place].strip() if place < len(row) else ""


def _refuse_odd(source: Source, name: str, column: pd.Series) -> None:
    """Raise at a list, a structure or another cell of a Parquet file that is neither a number nor a name."""
    found = odd_cell(column) if column.dtype == object else None
    if found is not None:
        row, wrong = found
        raise _cell(source, int(column.index[row]), name, wrong.lstrip())


def _cell(source: Source, index: int, name: str, what: str) -> SmileError:
    colon = "" if what.startswith(":") else " "
    return SmileError(f"{source.name}, row {source.row_number(int(index))}, column {name!r}{colon}{what}")
