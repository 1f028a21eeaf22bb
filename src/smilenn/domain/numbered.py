"""Whether whole numbers name the rows that they stand in: identifiers and row numbers, as integers or as floats.

    n rows, all numbers differ, and

    called id, index, key, …           left out
    called …_no, _nr, _num, number     left out if packed, or all of one length, five digits or more
    a counter                          left out: from 20 or less on, at least half of the numbers up to the largest,
                                       as 1, 2, …, n, in any order, or those rows of a larger table that a split kept;
                                       one that is called after time, such as day or step, gets a warning: it may be
                                       the trend
    packed, or all of one length,      a warning
    seven digits or more

    packed = more closely than numbers by chance would differ, n² ≥ 20·(largest − least)

Real quantities repeat, or vary in length. Years, dates and times differ in every row without naming it: none of them is
left out by its cells, nor warned of. Without such a name nothing is judged below 100 rows.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pandas as pd

ROWS, FIRST, CHANCE = 100, 20, 20
SHORT, LONG = 5, 7  # digits
CALLED = re.compile(r"(^|[\s_.-])(id|idx|index|key|uuid|guid|rowid|row[\s_.-]?(number|num|no|id)|unnamed: \d+)$", re.I)
CAMEL = re.compile(r"[a-z](Id|ID)$")  # CustomerId
PERHAPS = re.compile(r"(^|[\s_.-])(?i:no|nr|num|number)$|[a-z](No|Nr|Num|Number)$")
TIME = re.compile(
    r"(^|[\s_.-])(t|times?|days?|dates?|weeks?|months?|quarters?|years?|hours?|minutes?|seconds?|periods?|steps?|epochs?|"
    r"trend|age|elapsed)($|[\s_.-])",
    re.I,
)
YEARS = (1500, 2200)
SECONDS = (5e8, 4.2e9)  # since 1970: the years 1985 to 2100

Numbered = Literal["", "perhaps", "identifier", "counter"]


def numbered(name: str, present: pd.Series) -> Numbered:
    """What a column of cells that are not missing numbers, by its name and its cells; '' where it does not.

    >>> numbered("instant", pd.Series(range(1, 200))), numbered("cust", pd.Series(range(5_000, 5_200)))
    ('counter', 'perhaps')
    >>> numbered("customer_id", pd.Series([40.0, 7.0, 9.0])), numbered("pay", pd.Series([4.0, 7.5]))
    ('identifier', '')
    """
    values = _whole(present)
    if values is None:
        return ""
    if CALLED.search(name) or CAMEL.search(name):
        return "identifier"
    if _are_times(values):
        return ""
    if PERHAPS.search(name):
        return "identifier" if _packed(values) or _of_one_length(values, SHORT) else ""
    if len(values) < ROWS:
        return ""
    if 0 <= values.min() <= FIRST and values.max() < 2 * len(values):
        return "perhaps" if TIME.search(name) else "counter"
    return "perhaps" if _packed(values) or _of_one_length(values, LONG) else ""


def _whole(present: pd.Series) -> np.ndarray | None:
    """Whole numbers that all differ and none of which is negative, [n]; None for anything else."""
    if present.dtype.kind not in "iuf" or not present.is_unique:
        return None
    values = present.to_numpy(dtype=np.float64)
    return values if bool(((values == np.rint(values)) & (values >= 0) & (values < np.inf)).all()) else None


def _packed(values: np.ndarray) -> bool:
    return len(values) ** 2 >= CHANCE * float(np.ptp(values))


def _of_one_length(values: np.ndarray, least: int) -> bool:
    """Whether all numbers have as many digits, at least so many."""
    low, high = values.min(), values.max()
    return bool(low >= 10.0 ** (least - 1) and np.floor(np.log10(low)) == np.floor(np.log10(high)))


def _are_times(values: np.ndarray) -> bool:
    """Whether numbers are years, dates such as 20240531, also with a time behind, or times since 1970."""
    low, high = values.min(), values.max()
    if YEARS[0] <= low and high <= YEARS[1]:
        return True
    if any(SECONDS[0] * unit <= low and high <= SECONDS[1] * unit for unit in (1, 1e3, 1e6, 1e9)):
        return True
    return any(_are_dates(values // unit) for unit in (1, 1e2, 1e4, 1e6))


def _are_dates(values: np.ndarray) -> bool:
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    dated = (year >= YEARS[0]) & (year <= YEARS[1]) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return bool(dated.all())
