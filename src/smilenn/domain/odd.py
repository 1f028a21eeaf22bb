"""Cells that nothing here can read as a number or a name, each with what to do about it.

pandas and NumPy stop at some of them with errors of their own (a signalling NaN, a whole number beyond the largest
float, half of a character), and take others for names (a fraction would become a category for every value it has).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Rational
from typing import Any

import numpy as np

from smilenn.domain.table import LARGEST, shown

PARTS = (Mapping, list, tuple, set, frozenset, complex, np.ndarray)


def odd_cell(cells: Iterable[Any]) -> tuple[int, str] | None:
    """The row of the first odd cell, and what is wrong with it, to follow "Row 3, column 'c'"; None if all are good."""
    for row, cell in enumerate(cells):
        wrong = _wrong(cell)
        if wrong:
            return row, wrong
    return None


def _wrong(cell: Any) -> str:
    """What is wrong with a cell; empty for a good one."""
    if isinstance(cell, str):
        half = not cell.isascii() and any("\ud800" <= c <= "\udfff" for c in cell)
        return f" holds the text {shown(cell)!r}, half of a character; correct the cell." if half else ""
    if isinstance(cell, PARTS):
        kind = type(cell).__name__
        return f": the argument must be a string or a number, not {kind!r}; give every part a column of its own."
    if isinstance(cell, Decimal):
        return " is sNaN, a signalling NaN; fill it in or leave the cell empty." if cell.is_snan() else ""
    ticks = isinstance(cell, np.timedelta64)  # a whole number to NumPy; to everybody else a duration
    return _wrong_number(cell) if isinstance(cell, Rational) and not ticks else ""


def _wrong_number(cell: Rational) -> str:
    """What is wrong with a whole number or a fraction."""
    if isinstance(cell, (int, np.integer)):
        return " is too large; give a finite number." if abs(int(cell)) > LARGEST else ""
    return f" is a {type(cell).__name__}; turn the column into floats first."
