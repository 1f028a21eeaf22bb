"""The cells of one feature from its coordinates: the inverse of encode.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from smilenn.domain.cells import order_of
from smilenn.domain.feature import Feature


def decode(feature: Feature, block: np.ndarray) -> dict[str, Any]:
    """{column: cells} of coordinates [n, 1] or [n, categories]; dates stay numbers of days, which are exact."""
    if feature.columns:
        return {column: block[:, i] for i, column in enumerate(feature.columns)}
    if feature.kind == "category":
        return {feature.name: _named(feature.categories, block.argmax(axis=1))}
    return {feature.name: block[:, 0] if feature.kind == "continuous" else _whole(feature, block[:, 0])}


def _whole(feature: Feature, values: np.ndarray) -> np.ndarray:
    """Whole numbers, or the names they stand for."""
    places, names = np.rint(values).astype(np.int64), order_of(feature) or feature.categories
    return _named(names, places) if names else places


def _named(names: tuple[str, ...], places: np.ndarray) -> np.ndarray:
    return np.array(names, dtype=object)[places]
