"""scikit-learn's HistGradientBoosting: float64 thresholds, left if x ≤ θ; categories of a bit set go left.

A column of categories comes first in the trees' own numbering, whatever its place in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from smilenn.model.trees.forest import Builder, Column, Forest, Leaf, Split

TOLERANCE = 1e-12


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A fitted regressor or classifier; outputs are raw predictions: log-odds, or one score a class."""
    builder = Builder(inputs, [columns[i] for i in order(model)])
    iterations = model._predictors
    trees = [[_tree(builder, own[k]) for own in iterations] for k in range(len(iterations[0]))]
    return builder.forest(trees, np.ravel(model._baseline_prediction).tolist(), TOLERANCE)


def order(model: Any) -> list[int]:
    """The table's column of each feature of the trees."""
    if model._preprocessor is None:
        return list(range(model.n_features_in_))
    category = model.is_categorical_
    return [*np.flatnonzero(category).tolist(), *np.flatnonzero(~category).tolist()]


def _tree(builder: Builder, predictor: Any) -> tuple[list[int], list[float], list[int]]:
    nodes, bits = predictor.nodes, predictor.raw_left_cat_bitsets

    def expand(at: Any) -> Leaf | Split:
        node = nodes[at]
        column, left, right = int(node["feature_idx"]), int(node["left"]), int(node["right"])
        if node["is_leaf"]:
            return Leaf(float(node["value"]), at)
        if not node["is_categorical"]:
            return Split((builder.place(column),), float(node["num_threshold"]), left, right)
        row = bits[node["bitset_idx"]]
        codes = [code for code in range(32 * len(row)) if int(row[code // 32]) >> code % 32 & 1]
        return Split(builder.places(column, codes), 0.5, right, left)

    return builder.tree(0, expand)


def leaves(model: Any, x: Any) -> np.ndarray | None:
    """scikit-learn does not say which leaf a row reaches; `values` is compared instead."""
    return None


def values(model: Any, x: Any) -> np.ndarray:
    """What every tree says of rows, [B, trees], trees of one output after the other."""
    x = model._preprocess_X(x, reset=False) if model._preprocessor is not None else np.asarray(x, dtype=np.float64)
    x = np.ascontiguousarray(x, dtype=np.float64)
    known, places = model._bin_mapper.make_known_categories_bitsets()
    iterations = model._predictors
    one = [
        iterations[i][k].predict(x, known, places, 1) for k in range(len(iterations[0])) for i in range(len(iterations))
    ]
    return np.stack(one, axis=1)


def sums(model: Any, x: Any) -> np.ndarray:
    """Raw predictions, [B, outputs]."""
    raw = model._raw_predict(x)
    return np.asarray(raw).reshape(len(raw), -1)
