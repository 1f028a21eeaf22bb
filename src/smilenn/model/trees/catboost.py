"""CatBoost: float32 inputs and borders, right if f32(x) > border; symmetric trees ask the same on a whole level."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smilenn.errors import SmileError
from smilenn.model.trees.forest import NAMELESS, Builder, Column, Forest, Leaf, Split, at_most

TOLERANCE = 1e-5
LINKS = {
    **dict.fromkeys(("RMSE", "MAE", "Quantile", "Huber", "MAPE", "LogCosh", "Expectile", "Lq"), "number"),
    **dict.fromkeys(("Poisson", "Tweedie"), "log"),
    **dict.fromkeys(("Logloss", "CrossEntropy"), "odds"),
    "MultiClass": "scores",
}


Places = tuple[dict[int, int], set[int]]
"""The table's column of each number, and the columns whose missing cells go right."""


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A fitted model without categorical columns of its own: CatBoost turns these into hashes and statistics."""
    stored = _stored(model)
    features = stored["features_info"]
    if features.get("categorical_features") or features.get("text_features") or features.get("embedding_features"):
        raise SmileError("CatBoost turns categories, text and embeddings into numbers of its own; pass them one-hot.")
    place = {f["feature_index"]: f["flat_feature_index"] for f in features["float_features"]}
    right = {f["flat_feature_index"] for f in features["float_features"] if f.get("nan_value_treatment") == "AsTrue"}
    builder = Builder(inputs, columns)
    scale, bias = stored["scale_and_bias"]
    trees = [[] for _ in bias]
    for tree in stored["oblivious_trees"] if "oblivious_trees" in stored else stored["trees"]:
        for k, own in enumerate(trees):
            own.append(
                _symmetric(builder, tree, (place, right), k, len(bias), scale)
                if "splits" in tree
                else _grown(builder, tree, (place, right), k, scale)
            )
    return builder.forest(trees, [float(b) for b in bias], TOLERANCE)


def _stored(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return json.loads(path.read_text(encoding="utf-8"))


def category_codes(model: Any, frame: pd.DataFrame) -> dict[int, dict[str, int]]:
    """None: CatBoost's own categories are refused."""
    return {}


def link(model: Any) -> str:
    """What the raw sum is: a number, its logarithm, the log-odds of the second class, a score for each class."""
    name = str(model.get_all_params()["loss_function"]).split(":")[0]
    if name not in LINKS:
        raise SmileError(
            f"What CatBoost makes of raw values under the loss {name!r} is not known here; fit with one such as "
            "'RMSE', 'Poisson', 'Logloss' or 'MultiClass'."
        )
    return LINKS[name]


def _symmetric(
    builder: Builder, tree: dict[str, Any], places: Places, k: int, kinds: int, scale: float
) -> tuple[list[int], list[float], list[int]]:
    """Level i decides bit i of a leaf's number; a node is (levels that are left, bits so far)."""
    splits, values = tree["splits"] or [], tree["leaf_values"]

    def expand(node: Any) -> Leaf | Split:
        level, number = node
        if level == 0:
            return Leaf(float(values[number * kinds + k]) * scale, number)
        split = splits[level - 1]
        threshold = at_most(float(np.float32(split["border"])))
        column = places[0][split["float_feature_index"]]
        left, right = (level - 1, number), (level - 1, number + (1 << level - 1))
        return builder.split(column, threshold, left, right, missing_left=column not in places[1])

    return builder.tree((len(splits), 0), expand)


def _grown(
    builder: Builder, root: dict[str, Any], places: Places, k: int, scale: float
) -> tuple[list[int], list[float], list[int]]:
    """How CatBoost numbers the leaves of such a tree is not stored."""

    def expand(node: Any) -> Leaf | Split:
        if "split" not in node:
            value = node["value"]
            return Leaf(float(value[k] if isinstance(value, list) else value) * scale, NAMELESS)
        split = node["split"]
        threshold = at_most(float(np.float32(split["border"])))
        column = places[0][split["float_feature_index"]]
        return builder.split(column, threshold, node["left"], node["right"], missing_left=column not in places[1])

    return builder.tree(root, expand)


def leaves(model: Any, x: Any) -> np.ndarray | None:
    """The library's leaf of every row in every tree, [B, trees], once for every output."""
    found = np.asarray(model.calc_leaf_indexes(x))
    return np.concatenate([found] * len(_stored(model)["scale_and_bias"][1]), axis=1)


def sums(model: Any, x: Any) -> np.ndarray:
    """Raw values, [B, outputs]."""
    raw = np.asarray(model.predict(x, prediction_type="RawFormulaVal"))
    return raw.reshape(len(raw), -1)
