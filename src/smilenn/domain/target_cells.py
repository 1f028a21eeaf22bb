"""A target that people wrote as numbers, ``$1,000``, ``12%`` or ``0,5``: read as columns are.

    texts [n]  ─▶  unit (domain/written.py)  ─▶  numbers, and a warning that shows one

The unit of the rows of `fit` is kept, in model.json or by `smile fit` in training.json: later rows, on which quality is
measured, are read with it, whatever they would suggest by themselves. Dates are refused, since a target needs a unit.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.arrow import plain_column
from smilenn.domain.cells import PERCENT, holds_dates, holds_shares, read_cells, written_dates, written_numbers
from smilenn.domain.feature import Feature
from smilenn.domain.stray import STRAY, stray_cell
from smilenn.domain.table import is_text, shown, with_columns
from smilenn.domain.written import doubt, style_in
from smilenn.errors import SmileError

TARGET = "the target"


class TargetWarning(UserWarning):
    """A target is read otherwise than its cells suggest."""


def target_unit(cells: pd.Series, called: str = TARGET) -> str:
    """The unit in which texts are numbers; '' for names and for plain numbers. Dates, and one bad cell, raise."""
    if not is_text(cells) or isinstance(cells.dtype, pd.CategoricalDtype):
        return ""
    stray = stray_cell(cells)
    if stray is not None:
        row, what = stray
        raise SmileError(f"Row {row} of {called} {what}; {STRAY} or drop the row.")
    if holds_dates(cells) or written_dates(cells):
        raise SmileError(
            f"{_capital(called)} holds dates such as {shown(str(cells.iloc[0]))!r}; predict a number instead, such as "
            "the days since one of them."
        )
    return PERCENT if holds_shares(cells) else written_numbers(cells)


def with_unit(cells: pd.Series, unit: str, called: str = TARGET, first_row: int = 0) -> np.ndarray:
    """The numbers of a target whose unit is known, [n]."""
    return read_cells(Feature(called, unit=unit), plain_column(cells), first_row)


def in_numbers(
    values: np.ndarray, names: Sequence[str] = (), units: Sequence[str] | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """A target [n] or [n, o] with its written numbers read, and the unit of every column; () where none has one.

    `units` are those of the fit; None finds them, and says what is read.
    """
    if values.dtype.kind not in "OUT" or values.ndim not in (1, 2) or not len(values):
        return values, ()
    columns = [pd.Series(column) for column in values.reshape(len(values), -1).T]
    called = [repr(name) if name else TARGET for name in names] if len(names) == len(columns) else [TARGET]
    called = called if len(called) == len(columns) else [TARGET] * len(columns)
    if units is None:
        units = [target_unit(column, name) for column, name in zip(columns, called, strict=True)]
        for column, name, unit in zip(columns, called, units, strict=True):
            warn_of_unit(column, name, unit)
    if not any(units) or len(units) != len(columns):
        return values, ()
    read = [
        with_unit(column, unit, name) if unit else column.to_numpy()
        for column, name, unit in zip(columns, called, units, strict=True)
    ]
    return np.stack(read, axis=-1).reshape(values.shape), tuple(units)


def as_fitted(y: Any, names: Sequence[str], units: Sequence[str]) -> Any:
    """A later target [n] or [n, o], its texts as numbers in the units of the fit; `names` are those of the outputs."""
    if not any(units):
        return y
    if not isinstance(y, pd.DataFrame) or len(names) == 1:
        return in_numbers(np.asarray(y), units=units)[0]
    read = {name: unit for name, unit in zip(names, units, strict=True) if unit and name in y.columns}
    return with_columns(y, {name: with_unit(y[name], unit, repr(name)) for name, unit in read.items()})


def warn_of_unit(cells: pd.Series, called: str, unit: str, *, stacklevel: int = 2) -> None:
    """Say how the longest cell is read, where the unit is one."""
    if not unit:
        return
    cell = max((cell for cell in cells if isinstance(cell, str)), key=len)
    number = repr(float(with_unit(pd.Series([cell]), unit)[0])).removesuffix(".0")
    sign = unit.removesuffix(style_in(unit)).removesuffix(", ")
    warnings.warn(
        f"{_capital(called)} holds {cell!r}, which is read as the number {number}{' in ' + sign if sign else ''}.",
        TargetWarning,
        stacklevel=stacklevel + 1,
    )


def warn_of_classes(values: np.ndarray, called: str = TARGET, *, stacklevel: int = 2) -> None:
    """Say so where the classes of a target [n] look like numbers or dates."""
    why = class_doubt(pd.Series(values), called) if values.ndim == 1 and values.dtype.kind in "OUT" else ""
    if why:
        warnings.warn(why, TargetWarning, stacklevel=stacklevel + 1)


def class_doubt(cells: pd.Series, called: str = TARGET) -> str:
    """What to know of more than two classes whose names look like numbers or dates; empty for other names."""
    if not is_text(cells) or cells.nunique() <= 2:
        return ""
    texts = cells.dropna()
    if holds_shares(texts) or written_numbers(texts):
        return f"{_capital(called)} holds numbers such as {str(texts.iloc[0])!r}, which are names of classes here."
    why = doubt(texts.unique())
    return f"{_capital(called)} is taken for names of classes; {why}." if why else ""


def _capital(called: str) -> str:
    return "The target" if called == TARGET else f"The target {called}"
