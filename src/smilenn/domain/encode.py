"""The coordinates of one feature from the rows of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smilenn.domain.absent import MISSING, is_missing, known_before
from smilenn.domain.cells import read_cells
from smilenn.domain.feature import Feature
from smilenn.domain.rare import OTHER
from smilenn.domain.table import labels, numbers, whole
from smilenn.errors import SmileError, listed


def encode(feature: Feature, frame: pd.DataFrame, first_row: int, fill: float | None = None) -> np.ndarray:
    """The coordinates of one feature, [n, 1] or [n, categories].

    With a `fill` missing cells are allowed: the number is followed by its indicator, [n, 2].
    """
    if feature.kind == "category" and feature.columns:
        return _one_hot(feature, frame, first_row)
    series = frame[feature.name]
    if feature.categories:
        return _labelled(feature, series, first_row)
    if fill is None:
        return _numbers(feature, series, first_row)[:, None]
    missing = is_missing(series)
    out = np.full((len(series), 2), fill)
    out[:, 1] = missing
    if not missing.all():
        start, known = known_before(series, missing)
        out[start:, 0] = np.where(missing[start:], fill, _numbers(feature, known, first_row + start))
    return out


def _numbers(feature: Feature, series: pd.Series, first_row: int) -> np.ndarray:
    """The numbers of a column that lacks none, [n]."""
    values = read_cells(feature, series, first_row)
    allowed, wanted = {
        "binary": ((values == 0) | (values == 1), "0 or 1"),
        "integer": (values == np.rint(values), "a whole number"),
    }.get(feature.kind, (np.ones(len(values), dtype=bool), ""))
    if not allowed.all():
        bad = int(np.flatnonzero(~allowed)[0])
        raise SmileError(f"Row {first_row + bad}, column {feature.name!r} holds {values[bad]:g}; it must be {wanted}.")
    return values


def _one_hot(feature: Feature, frame: pd.DataFrame, first_row: int) -> np.ndarray:
    """A category that comes as columns of 0 and 1."""
    block = np.stack([numbers(frame[c], c, first_row) for c in feature.columns], axis=1)
    bad = np.flatnonzero(~(((block == 0) | (block == 1)).all(axis=1) & (block.sum(axis=1) == 1)))
    if bad.size:
        columns = listed(feature.columns)
        raise SmileError(f"Row {first_row + int(bad[0])}: exactly one of the columns {columns} must be 1; correct it.")
    return block


def _labelled(feature: Feature, series: pd.Series, first_row: int) -> np.ndarray:
    """A category or binary feature that comes as texts; those that are missing or unknown where they have a place."""
    missing, names = series.isna().to_numpy(dtype=bool), feature.categories
    if missing.any() and MISSING not in names:
        row = first_row + int(np.flatnonzero(missing)[0])
        raise SmileError(f"Row {row}, column {feature.name!r} is missing (NaN); drop the row or fill it in.")
    codes = np.full(len(series), names.index(MISSING) if missing.any() else 0)
    codes[~missing] = place_of(names, labels(series[~missing]))
    if OTHER in names:
        codes[codes < 0] = names.index(OTHER)
    bad = np.flatnonzero(codes < 0)
    if bad.size:
        raise SmileError(
            f"Row {first_row + int(bad[0])}, column {feature.name!r} holds the unknown category "
            f"{str(series.iloc[int(bad[0])])!r}; correct it or drop the row (known: {listed(names)})."
        )
    return codes.astype(np.float64)[:, None] if feature.kind == "binary" else np.eye(len(names))[codes]


def place_of(categories: tuple[str, ...], cells: pd.Series) -> np.ndarray:
    """The place of every cell's text among the categories, [n]; −1 for one that is none.

    A whole number that only differs in ``.0`` is found too, where one category alone is meant.
    """
    codes = pd.Index(categories, dtype=object).get_indexer(pd.Index(cells, dtype=object))
    if (codes >= 0).all():
        return codes
    short = [whole(text) for text in categories]
    places = {text: i for i, text in enumerate(short) if short.count(text) == 1}
    return np.array(
        [code if code >= 0 else places.get(whole(text), -1) for code, text in zip(codes, cells, strict=True)]
    )
