"""Where a table is and how it is written: CSV, compressed CSV or Parquet, in a file or on the standard input.

The form is read from the first bytes, not from the name. Of the separators ``,`` ``;`` and tab the one is taken that
cuts the first rows into as many cells as the header, the widest of several, the comma of equals. Beside another
separator than the comma, ``1,5`` is a number with a decimal comma, if that is certain: no cell of the first rows is
written with a decimal point, and in one of them the digits after the comma cannot be thousands.

The header of a CSV file is read without pandas, so that an option that names no column is answered at once.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import itertools
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

from smilenn.errors import SmileError, listed

STANDARD_INPUT = Path("-")
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
FIRST_ROW = 2  # of the data, as a spreadsheet numbers it: the header is row 1
SAMPLE = 1000  # rows from which the separator and the decimal sign are read
UNNAMED = re.compile(r"Unnamed: \d+(\.\d+)*$")  # what pandas calls a column without a name
COMMA, POINT = re.compile(r"[+-]?\d+,\d+$"), re.compile(r"[+-]?\d+\.\d+$")
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}$")

Form = Literal["csv", "gzip", "parquet"]


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be read more than once: its columns, how its cells are separated, which texts mean "missing".

    A column without a name is called ``Unnamed: 0`` by its place, as pandas does. Names lose the blanks around them;
    `written` has them as they stand in the file. `marked` are the texts of ``--na`` among the `missing` ones. `keep`
    holds the temporary file of the standard input, which is removed with this object.
    """

    path: Path
    name: str
    form: Form = "csv"
    header: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    separator: str = ","
    decimal: str = "."
    missing: tuple[str, ...] = MISSING
    marked: tuple[str, ...] = ()
    keep: Any = field(default=None, repr=False)

    @classmethod
    def find(cls, path: Path, *, na: Collection[str] = (), keep_na: Collection[str] = ()) -> Source:
        """The table at `path`, ``-`` for the standard input; `na` are further texts for missing cells, `keep_na` texts
        that are values all the same.
        """
        texts = missing_texts(na, keep_na)
        if path != STANDARD_INPUT:
            found = cls(path, repr(str(path)), missing=texts, marked=tuple(na))
        else:
            received = _Received()
            found = cls(received.path, "'standard input'", missing=texts, marked=tuple(na), keep=received)
        with readable(found):
            return _described(found)

    def text(self) -> IO[str]:
        """The characters of a CSV file, decompressed."""
        if self.form == "gzip":
            return gzip.open(self.path, "rt", encoding="utf-8-sig", newline="")
        return open(self.path, encoding="utf-8-sig", newline="")

    def rows(self) -> Iterator[list[str]]:
        """The cells of a CSV file as they are written, header first, without blank lines."""
        return (row for _, row in self._numbered())

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        """The same, with the numbers that a spreadsheet shows: blank lines count."""
        with self.text() as file:
            for number, row in enumerate(csv.reader(file, delimiter=self.separator), 1):
                if row and not (len(row) == 1 and row[0].isspace()):
                    yield number, row

    def row_number(self, index: int) -> int:
        """The number that a spreadsheet shows for row `index` of the data, counted from 0 without blank lines."""
        if self.form == "parquet":
            return FIRST_ROW + index
        return next(itertools.islice(self._numbered(), index + 1, None), (FIRST_ROW + index, []))[0]

    def as_shown(self, message: str) -> str:
        """A message whose first words name a row, counted without blank lines, with the row's number as above."""
        return re.sub(r"^Row (\d+)", lambda found: f"Row {self.row_number(int(found[1]) - FIRST_ROW)}", message)

    def keeping(self, names: Collection[str]) -> Source:
        """The source with the blanks that belong to these names, as a model has them."""
        pairs = zip(self.header, self.written, strict=True)
        return replace(self, header=tuple(full if full in names else short for short, full in pairs))

    def trimmed(self) -> list[str]:
        """The names that lost blanks, as they are written."""
        return [full for short, full in zip(self.header, self.written, strict=True) if full.strip() and short != full]

    def digest(self) -> str:
        """SHA-256 of the bytes, hexadecimal."""
        with readable(self), open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def index_columns(self, wanted: Collection[str]) -> list[str]:
        """Columns that only number the rows: those without a name, but for the ones that are `wanted`."""
        return [name for name in self.header if UNNAMED.match(name) and name not in wanted]


def missing_texts(na: Collection[str], keep_na: Collection[str]) -> tuple[str, ...]:
    """The texts that mean a missing cell: the usual ones and `na`, without `keep_na`."""
    unusual = [text for text in keep_na if text not in MISSING]
    if unusual:
        raise SmileError(
            f"--keep-na {unusual[0]}: that text is a value anyway; missing cells are written {listed(MISSING, 20)}."
        )
    both = [text for text in na if text in keep_na]
    if both:
        raise SmileError(f"--na and --keep-na both name {both[0]!r}; give one of them.")
    return tuple(text for text in dict.fromkeys((*MISSING, *na)) if text not in keep_na)


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """What may go wrong with a file, in one sentence each."""
    name = source.name
    try:
        if source.path.is_dir():
            raise SmileError(f"{name} is a folder; give a CSV file.")
        yield
    except FileNotFoundError:
        raise SmileError(f"There is no file {name}; check the path.") from None
    except UnicodeDecodeError:
        raise SmileError(f"{name} is not a text file in UTF-8; save it as CSV in UTF-8.") from None
    except csv.Error as error:
        raise SmileError(f"{name} is not a readable CSV file: {' '.join(str(error).split())}.") from None
    except (EOFError, gzip.BadGzipFile):
        raise SmileError(f"{name} is cut off or not a gzip file; compress it again.") from None
    except OSError as error:
        raise SmileError(f"{name} cannot be read: {error.strerror or error}.") from None


class _Received:
    """The standard input as a temporary file: the header, the cells and the digest are read one after the other.

    The file goes with this object, or at the end of the process.
    """

    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(prefix="smile-", suffix=".input", delete=False) as file:
            self.path = Path(file.name)
            weakref.finalize(self, self.path.unlink, missing_ok=True)
            shutil.copyfileobj(sys.stdin.buffer, file)


def _described(source: Source) -> Source:
    """The source with its form, header, separator and decimal sign."""
    with open(source.path, "rb") as file:
        first = file.read(4)
    if first == b"PAR1":
        from smilenn.cli.parquet import parquet_names  # which imports pandas

        found = replace(source, form="parquet")
        return _named(found, parquet_names(found))
    if first == b"PK\x03\x04":
        raise SmileError(f"{source.name} is a spreadsheet or an archive; save its table as CSV in UTF-8.")
    return _csv_described(replace(source, form="gzip" if first[:2] == b"\x1f\x8b" else "csv"))


def _csv_described(source: Source) -> Source:
    """A CSV source with its header, separator and decimal sign, from a sample of its lines."""
    with source.text() as file:
        sample = [line for line in itertools.islice(file, SAMPLE) if line.strip()]
    if not sample:
        raise SmileError(f"{source.name} is empty; give a CSV file with a header and rows.")
    source = replace(source, separator=separator_of(sample))
    rows = list(csv.reader(sample, delimiter=source.separator))
    cells = [cell.strip() for row in rows[1:] for cell in row] if source.separator != "," else []
    return replace(_named(source, rows[0]), decimal=_decimal(source, cells))


def separator_of(lines: list[str]) -> str:
    """The separator of a sample of lines, header first.

    >>> separator_of(["a;b", "1,5;2"]), separator_of(["a", "1"])
    (';', ',')
    """
    fits: dict[str, tuple[bool, int]] = {}
    for separator in (",", ";", "\t"):
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        whole = widths[:-1] if len(widths) > 2 else widths  # a quoted cell may end beyond the sample
        fits[separator] = (widths[0] > 1 and set(whole) == {widths[0]}, widths[0])
    return max(fits, key=lambda separator: fits[separator])  # of equals the first


def header_hint(header: Collection[str]) -> str:
    """What may be wrong with a table that seems to have one column or no header, to follow its names; empty for others.

    >>> header_hint(["x|c|y"])
    "; its cells seem to be separated by '|': use commas, semicolons or tabs"
    >>> header_hint(["# made by me"]), header_hint(["x", "y"])
    ('; remove the line above the header', '')
    >>> header_hint(["39", "State-gov", "77516"]), header_hint(["0", "1", "2"])
    ('; the file seems to have no header line: write the names of the columns above its first row', '')
    """
    numbers = [float(name.replace(",", ".")) for name in header if NUMBER.fullmatch(name)]
    if len(numbers) > 1 and numbers != [numbers[0] + i for i in range(len(numbers))]:  # those count the columns
        return "; the file seems to have no header line: write the names of the columns above its first row"
    name = next(iter(header)) if len(header) == 1 else ""
    if name.startswith("#"):
        return "; remove the line above the header"
    for mark, called in (("|", "'|'"), (" ", "blanks"), (":", "':'")):
        if name.count(mark):
            return f"; its cells seem to be separated by {called}: use commas, semicolons or tabs"
    return ""


def _decimal(source: Source, cells: list[str]) -> str:
    commas = [cell for cell in cells if COMMA.match(cell)]
    if not commas:
        return "."
    points = [cell for cell in cells if POINT.match(cell)]
    if points or all(THOUSANDS.match(cell) for cell in commas):
        other = f" beside {points[0]!r}" if points else ""
        raise SmileError(
            f"{source.name} holds {commas[0]!r}{other}, which may be a decimal comma or thousands; write all numbers "
            "with a decimal point and without thousands separators."
        )
    return ","


def _named(source: Source, written: list[str]) -> Source:
    """The source with these names, without the blanks around them, and one for a first column that has none; elsewhere
    that is an error.
    """
    names = [name.strip() for name in written]
    if "" in names[1:]:
        raise SmileError(f"Column {names.index('', 1) + 1} of {source.name} has no name; name it in the header.")
    return replace(source, header=tuple(name or "Unnamed: 0" for name in names), written=tuple(written))
