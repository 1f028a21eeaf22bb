"""XGBoost: float32 inputs and thresholds, left if f32(x) < θ; listed categories go right; sums in float32."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from smilenn.errors import SmileError
from smilenn.model.trees.forest import Builder, Column, Forest, Leaf, Split, below

TOLERANCE = 1e-5
LOGISTIC = ("binary:logistic", "reg:logistic", "binary:logitraw")


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A Booster, or an estimator with one; an estimator that stopped early counts its best rounds only."""
    learner = json.loads(bytes(_booster(model).save_raw("json")))["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise SmileError("Only XGBoost's booster='gbtree' is a plain sum of trees; fit with it.")
    stored = learner["gradient_booster"]["model"]
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        raise SmileError("The XGBoost model has several targets; fit one model for each.")
    kinds = max(1, int(learner["learner_model_param"]["num_class"]))
    builder, trees = Builder(inputs, columns), [[] for _ in range(kinds)]
    rounds = _rounds(model)
    ends = stored["iteration_indptr"]
    used = len(stored["trees"]) if rounds is None else ends[rounds]
    for tree, kind in list(zip(stored["trees"], stored["tree_info"], strict=True))[:used]:
        trees[kind].append(_tree(builder, tree))
    return builder.forest(trees, _start(learner, kinds), TOLERANCE)


def _booster(model: Any) -> Any:
    return model.get_booster() if callable(getattr(model, "get_booster", None)) else model


def _rounds(model: Any) -> int | None:
    """How many rounds an estimator predicts with, if it stopped early."""
    best = _booster(model).attr("best_iteration") if model is not _booster(model) else None
    return None if best is None else int(best) + 1


def _start(learner: dict[str, Any], kinds: int) -> list[float]:
    """What the sums start with: `base_score`, for the logistic losses as log-odds."""
    text = learner["learner_model_param"]["base_score"]
    given = json.loads(text) if text.startswith("[") else [float(text)]
    scores = [float(np.float32(v)) for v in (given if isinstance(given, list) else [given])]
    if learner["objective"]["name"] in LOGISTIC:
        scores = [math.log(score / (1 - score)) for score in scores]
    return scores * kinds if len(scores) == 1 else scores


def _tree(builder: Builder, tree: dict[str, Any]) -> tuple[list[int], list[float], list[int]]:
    segments = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    chosen = {node: tree["categories"][start : start + size] for node, start, size in segments}

    def expand(at: Any) -> Leaf | Split:
        left, right = tree["left_children"][at], tree["right_children"][at]
        number = float(np.float32(tree["split_conditions"][at]))
        if left < 0:
            return Leaf(number, at)
        column = tree["split_indices"][at]
        if tree["split_type"][at]:
            return Split(builder.places(column, chosen[at]), 0.5, left, right)
        return Split((builder.place(column),), below(number), left, right)

    return builder.tree(0, expand)


def leaves(model: Any, x: Any) -> np.ndarray | None:
    """The library's leaf of every row in every tree, [B, trees], trees of one output after the other."""
    if model is _booster(model):
        return None  # a Booster asks for a matrix of its own; its sums are compared
    learner = json.loads(bytes(_booster(model).save_raw("json")))["learner"]
    kind = np.array(learner["gradient_booster"]["model"]["tree_info"])
    found = np.asarray(model.apply(x)).reshape(len(x), -1)
    return found[:, np.argsort(kind[: found.shape[1]], kind="stable")].astype(np.int64)


def sums(model: Any, x: Any) -> np.ndarray:
    """Margins, [B, outputs]."""
    booster = _booster(model)
    raw = (
        booster.inplace_predict(x, predict_type="margin") if model is booster else model.predict(x, output_margin=True)
    )
    raw = np.asarray(raw, dtype=np.float64)
    return raw.reshape(len(raw), -1)
