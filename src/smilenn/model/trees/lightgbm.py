"""LightGBM: float64 thresholds, left if x ≤ θ; listed categories go left; the first tree holds the start.

Numbers up to 1e-35 in size, as a float32, are read as 0: a threshold among them moves to the end that this leaves it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.table import label
from smilenn.errors import SmileError
from smilenn.model.trees.forest import Builder, Column, Forest, Leaf, Split

TOLERANCE = 1e-12
ZERO = float(np.float32(1e-35))
NUMBERS = ("regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg")
LINKS = {
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "log"),
    "binary": "odds",
    "multiclass": "scores",
}


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


def category_codes(model: Any, frame: pd.DataFrame) -> dict[int, dict[str, int]]:
    """{column: {text: code}} of the columns of categories: places among the categories that pandas had when the model
    was fitted, or the whole numbers themselves.
    """
    booster, described = _booster(model), _booster(model).dump_model()
    names, infos = described["feature_names"], described["feature_infos"]
    typed = [i for i, dtype in enumerate(frame.dtypes) if isinstance(dtype, pd.CategoricalDtype)]
    kept = booster.pandas_categorical or []
    if len(kept) != len(typed):
        raise SmileError(
            f"The LightGBM model was fitted to {len(kept)} columns of pandas' type category and the table has "
            f"{len(typed)}; give the frame that it was fitted to."
        )
    found = {i: {label(v): k for k, v in enumerate(values)} for i, values in zip(typed, kept, strict=True)}
    for i, name in enumerate(names):
        values = infos.get(name, {}).get("values")
        if values and i not in found:
            found[i] = {str(int(v)): int(v) for v in values if v >= 0}
    return found


def link(model: Any) -> str:
    """What the raw sum is: a number, its logarithm, the log-odds of the second class, a score for each class."""
    said = str(_booster(model).dump_model().get("objective", "none")).strip()
    name, *options = said.split()
    # reg_sqrt squares the sum, and another sigmoid stretches the log-odds
    other = "sqrt" in options or (name == "binary" and "sigmoid:1" not in options)
    if name not in LINKS or other:
        raise SmileError(
            f"What LightGBM makes of raw scores under the objective {said!r} is not known here; fit with one such as "
            "'regression', 'poisson', 'binary' or 'multiclass'."
        )
    return LINKS[name]


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
        theta = _threshold(float(node["threshold"]))
        # a model that saw no missing cell reads one as 0
        go = bool(node["default_left"]) if node["missing_type"] == "NaN" else theta >= 0
        return builder.split(column, theta, left, right, missing_left=go)

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
