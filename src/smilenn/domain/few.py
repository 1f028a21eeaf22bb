"""A column of few values, some of them numbers and some of them names, is a category: 0, 1, 2, 3+.

    few  = at most 20 values, each in ten rows on average

With more values a text among numbers is a slip, and an error that names its row (table.py): a category would lose the
order of all others. So are, however few the values, mere signs such as ``-`` and numbers written in another way, $12
beside 12.
"""

from __future__ import annotations

import pandas as pd

from smilenn.domain.table import labels
from smilenn.domain.written import number_style

MOST, ROWS = 20, 10  # values; rows for each of them


def few_and_mixed(series: pd.Series) -> bool:
    """Whether the cells that are not missing have few values, numbers and names among them.

    >>> few_and_mixed(pd.Series(["0", "1", "3+"] * 10)), few_and_mixed(pd.Series(["0", "1", "3+"]))
    (True, False)
    """
    texts = labels(series.dropna())
    values = pd.Series(texts.unique(), dtype=object)
    if not 2 <= len(values) <= MOST or len(texts) < ROWS * len(values):
        return False
    named = pd.to_numeric(values, errors="coerce").isna()
    return bool(named.any() and not named.all()) and all(map(_is_name, values[named]))


def few_whole(series: pd.Series) -> bool:
    """Whether a column holds few values, all of them whole numbers: it may be numbers or the names of classes.

    >>> few_whole(pd.Series([0, 1, 2] * 10)), few_whole(pd.Series([0.5, 1, 2] * 10)), few_whole(pd.Series([0, 1, 2]))
    (True, False, False)
    """
    values = pd.Series(series.dropna().unique())
    if not pd.api.types.is_numeric_dtype(values) or not 2 <= len(values) <= MOST or len(series) < ROWS * len(values):
        return False
    return bool((values % 1 == 0).all())


def _is_name(text: str) -> bool:
    return any(c.isalnum() for c in text) and not number_style([text])


def first_name(series: pd.Series) -> str:
    """The first cell of such a column that is no number; empty of any other column."""
    if not few_and_mixed(series):
        return ""
    texts = labels(series.dropna())
    return str(texts[pd.to_numeric(texts, errors="coerce").isna()].iloc[0])
