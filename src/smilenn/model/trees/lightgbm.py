"""LightGBM: float64 thresholds, left if x ≤ θ; listed categories go left; the first tree holds the start.

Numbers up to 1e-35 in size, as a float32, are read as 0: a threshold among them moves to the end that this leaves it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from smilenn.errors import SmileError
from smilenn.model.trees.forest import Builder, Column, Forest, Leaf, Split

TOLERANCE = 1e-12
ZERO = float(np.float32(1e-35))


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A Booster, or an estimator with one."""
    described = _booster(model).dump_model()
    if described.get("average_output"):
        raise SmileError("LightGBM averages the trees of boosting='rf'; fit with boosting='gbdt'.")
    builder, kinds = Builder(inputs, columns), described["num_tree_per_iteration"]
    trees = [_tree(builder, tree["tree_structure"]) for tree in described["tree_info"]]
    return builder.forest([trees[k::kinds] for k in range(kinds)], [0.0] * kinds, TOLERANCE)


def _booster(model: Any) -> Any:
    return getattr(model, "booster_", model)


def _tree(builder: Builder, root: dict[str, Any]) -> tuple[list[int], list[float], list[int]]:
    def expand(node: Any) -> Leaf | Split:
        if "split_feature" not in node:
            if "leaf_coeff" in node:
                raise SmileError(
                    "LightGBM's linear_tree=True puts linear models into leaves; fit with linear_tree=False."
                )
            return Leaf(float(node["leaf_value"]), int(node.get("leaf_index", 0)))
        column, left, right = int(node["split_feature"]), node["left_child"], node["right_child"]
        if node["decision_type"] == "==":
            codes = [int(code) for code in str(node["threshold"]).split("||")]
            return Split(builder.places(column, codes), 0.5, right, left)
        if node["missing_type"] == "Zero":
            raise SmileError(
                f"Column {column} of the LightGBM model takes zero for missing; fit with zero_as_missing=False."
            )
        return Split((builder.place(column),), _threshold(float(node["threshold"])), left, right)

    return builder.tree(root, expand)


def _threshold(theta: float) -> float:
    """The largest x that goes left, if what counts as zero is compared as 0."""
    if abs(theta) > ZERO:
        return theta
    return ZERO if theta >= 0 else math.nextafter(-ZERO, -math.inf)


def leaves(model: Any, x: Any) -> np.ndarray | None:
    """The library's leaf of every row in every tree, [B, trees], trees of one output after the other."""
    booster = _booster(model)
    kinds = booster.num_model_per_iteration()
    found = np.asarray(booster.predict(x, pred_leaf=True))
    found = found.reshape(len(found), -1)
    return np.concatenate([found[:, k::kinds] for k in range(kinds)], axis=1)


def sums(model: Any, x: Any) -> np.ndarray:
    """Raw scores, [B, outputs]."""
    raw = np.asarray(_booster(model).predict(x, raw_score=True))
    return raw.reshape(len(raw), -1)
