"""The one cell that does not fit, in a column where nearly all others are numbers or dates written one way.

    style  = the way of writing that most cells fit: 1,000   0,5   $12   12%   31/01/2020   2020-01-31
    stray  = the first cell that does not fit it, where at least nine in ten do, but not all

Such a column is neither read, since that cell is no number, nor taken for names: it would become a category for every
number, or an identifier. Texts that stand for missing cells have no vote, nor have signs alone, such as ``-``; but
these are strays. Beside *plain* numbers any text is an error
already (table.py), however many there are.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pandas as pd

from smilenn.domain.absent import is_code
from smilenn.domain.table import shown
from smilenn.domain.written import DECIMAL, ISO, THOUSANDS, date_styles_of, number_styles_of
from smilenn.errors import SmileError

FITTING = 0.9  # share of the cells that must be written one way
AS_ISO = "iso"
STRAY = "correct the cell"


def stray_cell(series: pd.Series) -> tuple[int, str] | None:
    """The row of the stray cell, and what to say of it, to follow "Row 3, column 'c'"; None without one.

    >>> stray_cell(pd.Series(["$1"] * 9 + ["n/k"]))
    (9, "holds 'n/k' among cells such as '$1'")
    >>> stray_cell(pd.Series(["$1"] * 9 + ["NA"])), stray_cell(pd.Series(["$1", "n/k"]))
    (None, None)
    """
    if series.dtype != object and not isinstance(series.dtype, pd.StringDtype):
        return None
    cells = [None if _is_missing(cell) else cell for cell in series]
    if not all(cell is None or isinstance(cell, (str, date)) for cell in cells):
        return None
    counts = Counter(cell for cell in cells if cell is not None)
    fits = {cell: _styles(cell) for cell in counts}
    style = _nearly_all(counts, fits)
    if not style:
        return None
    row = next(row for row, cell in enumerate(cells) if cell is not None and style not in fits[cell])
    like = next(cell for cell in counts if style in fits[cell] and _shows(style, cell))
    return row, f"holds {shown(str(cells[row]))!r} among cells such as {str(like)!r}"


def refuse_stray(name: str, series: pd.Series) -> None:
    """Raise at the stray cell of a column, with what to do about it."""
    found = stray_cell(series)
    if found is not None:
        row, what = found
        raise SmileError(
            f"Row {row}, column {name!r} {what}; {STRAY}, leave it empty, or declare the column a category, as in "
            f"domain=Columns(kinds={{{name!r}: 'category'}})."
        )


def _is_missing(cell: Any) -> bool:
    """Whether a cell is empty, or a text that stands for an empty one."""
    return is_code(cell) if isinstance(cell, str) else pd.api.types.is_scalar(cell) and bool(pd.isna(cell))


def _styles(cell: Any) -> frozenset[str]:
    """The ways of writing that one cell fits."""
    if isinstance(cell, date):
        return frozenset((AS_ISO,))
    text = cell.strip() if isinstance(cell, str) else ""
    if not any(c.isdigit() for c in text):  # most names end here
        return frozenset()
    dates = date_styles_of(text) | ({AS_ISO} if ISO.fullmatch(text) else set())
    return dates or number_styles_of(text)


def _nearly_all(counts: Counter[Any], fits: dict[Any, frozenset[str]]) -> str:
    """The style that nearly all cells fit; empty where there is none, or where one fits all of them."""
    votes: Counter[str] = Counter()
    for cell, count in counts.items():
        for style in fits[cell]:
            votes[style] += count
    told = {style for cell in counts for style in fits[cell] if _shows(style, cell)}
    style, most = max(((style, votes[style]) for style in sorted(told)), key=lambda pair: pair[1], default=("", 0))
    voters = sum(count for cell, count in counts.items() if not isinstance(cell, str) or any(map(str.isalnum, cell)))
    return style if FITTING * voters <= most < counts.total() else ""


def _shows(style: str, cell: Any) -> bool:
    """Whether a cell that fits a style is no plain number."""
    return style not in (THOUSANDS, DECIMAL) or "," in str(cell)
