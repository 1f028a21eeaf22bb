"""Missing cells as inputs of their own.

    number with missing cells    its value, a fixed fill where the cell is missing, and the *indicator*,
                                 a binary feature: 0 the value is known, 1 it is missing
    category with missing cells  one more category, ``missing``

Both are ordinary features to a network and to every checker: nothing about them is stored but what the domain says. An
indicator is told by its name and its two texts, the second of which holds the fill. Inputs with the indicator at 1 and
another value than the fill are no rows of any table (`Domain.contains`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.feature import Feature
from smilenn.errors import SmileError

MISSING = "missing"  # the category
CODES = frozenset(("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None"))  # texts among numbers
VALUES = frozenset(("NA", "None"))  # of these codes, which are names now and then: Namibia, no garage
SUFFIX, KNOWN, READ_AS = " is missing", "no", "yes, read as "


def indicator(name: str, fill: float) -> Feature:
    """The feature that says whether a number is missing.

    >>> indicator("income", 38.5).categories
    ('no', 'yes, read as 38.5')
    """
    return Feature(name + SUFFIX, "binary", categories=(KNOWN, READ_AS + repr(float(fill))))


def fill_of(feature: Feature) -> float | None:
    """The number that missing cells are read as, of an indicator; None for any other feature."""
    if feature.kind != "binary" or not feature.name.endswith(SUFFIX) or feature.categories[:1] != (KNOWN,):
        return None
    return _number_in(feature.categories[1])


def _number_in(text: str) -> float | None:
    """The number of ``yes, read as 38.5``."""
    try:
        fill = float(text.removeprefix(READ_AS)) if text.startswith(READ_AS) else math.nan
    except ValueError:
        return None
    return fill if math.isfinite(fill) else None


def indicators(features: Iterable[Feature]) -> dict[str, tuple[str, float]]:
    """{number: (its indicator, its fill)}; an indicator without its number, or with a fill that the number cannot take,
    is an error.
    """
    known = {feature.name: feature for feature in features}
    out: dict[str, tuple[str, float]] = {}
    for feature in known.values():
        fill = fill_of(feature)
        if fill is not None:
            of = known.get(feature.name.removesuffix(SUFFIX))
            _check(feature, of, fill)
            assert of is not None
            out[of.name] = feature.name, fill
    return out


def _check(feature: Feature, of: Feature | None, fill: float) -> None:
    if of is None or of.kind == "category" or of.categories:
        raise SmileError(f"The feature {feature.name!r} says when a number is missing, but there is no such number.")
    if not _takes(of, fill):
        raise SmileError(f"The missing cells of {of.name!r} are read as {fill:g}, which it cannot take.")


def _takes(feature: Feature, value: float) -> bool:
    whole = feature.kind == "continuous" or value == round(value)
    return whole and feature.lo <= value <= feature.hi


def is_missing(series: pd.Series) -> np.ndarray:
    """Which cells of a column of numbers are missing: empty ones, and the texts that stand for them, [n] bool.

    >>> is_missing(pd.Series([1.5, None, "?", "12"])).tolist()
    [False, True, True, False]
    """
    missing = series.isna().to_numpy(dtype=bool)
    if isinstance(series.dtype, pd.StringDtype):  # every text once: many rows have few
        number, texts = pd.factorize(series)
        return missing | np.array([*map(is_code, texts), True], dtype=bool)[number]  # −1, the last, is an empty one
    if series.dtype == object:
        missing = missing | np.array([is_code(cell) for cell in series], dtype=bool)
    return missing


def known_before(series: pd.Series, missing: np.ndarray) -> tuple[int, pd.Series]:
    """The row of the first known cell, and the column from there on with the known cell before each missing one in its
    place: rows keep their numbers in errors. One cell at least must be known.
    """
    start = int(np.argmin(missing))
    last = np.maximum.accumulate(np.where(missing, 0, np.arange(len(series))))[start:]
    return start, series.iloc[last]


def is_code(cell: Any) -> bool:
    """Whether a cell is a text that stands for a missing one."""
    return isinstance(cell, str) and cell.strip() in CODES


def first_gap(present: pd.Series) -> tuple[str, int] | None:
    """The first text among names that hardly is one, such as ``?`` or blanks, and how many cells hold it; None without.

    Among names it stays a value: what a saved model reads as missing must not depend on how its cells are called.

    >>> first_gap(pd.Series(["a", " ?", "b", " ?"])), first_gap(pd.Series(["a", "NA", "None"]))
    ((' ?', 2), None)
    """
    texts = [cell for cell in present.unique() if is_code(cell) and cell.strip() not in VALUES]
    return (texts[0], int((present == texts[0]).sum())) if texts else None
