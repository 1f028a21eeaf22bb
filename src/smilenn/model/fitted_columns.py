"""The types of the columns that a clamped model was fitted to, as JSON and given back to decoded cells."""

from __future__ import annotations

from typing import Any

import pandas as pd

from smilenn.domain.table import label, labels


def dtype_words(dtype: Any) -> Any:
    """A column's type as JSON: its name, or the categories in their order."""
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": dtype.categories.tolist(), "ordered": bool(dtype.ordered)}
    return str(dtype)


def typed(cells: pd.Series, dtype: Any) -> pd.Series:
    """Decoded cells as a column of this type; the names of categories that are no texts become what they name."""
    if not isinstance(dtype, pd.CategoricalDtype):
        return _held(cells, dtype) if pd.api.types.is_integer_dtype(dtype) else cells.astype(dtype)
    named = dict(zip(labels(pd.Series(dtype.categories)), dtype.categories, strict=True))
    return cells.map(lambda cell: named.get(label(cell), cell)).astype(dtype)


def _held(cells: pd.Series, dtype: Any) -> pd.Series:
    """Whole numbers as this type, or as they are where it does not hold them: 268 would become 12 in a uint8."""
    try:
        typed = cells.astype(dtype)
    except (TypeError, ValueError, OverflowError):  # of pandas's own types
        return cells
    return typed if (typed == cells).all() else cells


def dtype_of(words: Any) -> Any:
    """The type that was written so."""
    return pd.CategoricalDtype(words["categories"], words["ordered"]) if isinstance(words, dict) else words
