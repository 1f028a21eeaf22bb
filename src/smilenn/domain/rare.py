"""Rare categories, and those that training has not seen, share one place: the category ``any other value``.

A value is rare if fewer than t rows have it, t = max(2, min(10, n/50), n/1000) of n rows: ten rows on most tables, a
thousandth of a large one. Beyond the most frequent values of a column all are rare. How many those are depends on how
many columns of texts there are, since each value is an input of its own: 200 for one or two, 50 for eight and more.
The shared category is learned from the rows of rare values, so a column without any has none; a value that is new then
is refused, or read as the most frequent one (estimators/usual.py).
"""

from __future__ import annotations

import pandas as pd

OTHER = "any other value"
LEAST, MOST, SHARED = 50, 200, 400  # values of a column that keep a place of their own, and of all columns together


def least_rows(rows: int) -> float:
    """t: how many rows a value needs.

    >>> least_rows(60), least_rows(1000), least_rows(50_000)
    (2, 10, 50.0)
    """
    return max(2, min(10, rows // 50), rows / 1000)


def places(columns: int) -> int:
    """How many values of each of so many columns of texts keep a place of their own.

    >>> places(1), places(4), places(20)
    (200, 100, 50)
    """
    return min(MOST, max(LEAST, SHARED // max(1, columns)))


def pooled(cells: pd.Series, most: int = LEAST) -> list[str]:
    """The categories of a column of texts, sorted: at most `most`, and `OTHER` last where there are rare ones."""
    counts = cells.value_counts()
    frequent = counts[counts >= least_rows(len(cells))]
    kept = sorted(frequent.sort_index().sort_values(ascending=False, kind="stable").index[:most])
    kept = [text for text in kept if text != OTHER]
    return kept if len(kept) == len(counts) else [*kept, OTHER]
