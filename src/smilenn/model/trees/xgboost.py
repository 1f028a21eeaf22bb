"""XGBoost: float32 inputs and thresholds, left if f32(x) < θ; listed categories go right; sums in float32."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.table import label
from smilenn.errors import SmileError
from smilenn.model.trees.forest import MISSING, Builder, Column, Forest, Leaf, Split, below

TOLERANCE = 1e-5
# what the raw sum starts with, by objective: base_score b itself, ln b, ln(b / (1 − b))
PLAIN = (
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:pseudohubererror",
    "reg:absoluteerror",
    "reg:quantileerror",
    "binary:hinge",
    "multi:softmax",
    "multi:softprob",
    "rank:ndcg",
    "rank:map",
    "rank:pairwise",
)
LOG = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
LOGISTIC = ("binary:logistic", "reg:logistic")


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A Booster, or an estimator with one; an estimator that stopped early counts its best rounds only."""
    learner = json.loads(bytes(_booster(model).save_raw("json")))["learner"]
    if learner["gradient_booster"]["name"] != "gbtree":
        raise SmileError("Only XGBoost's booster='gbtree' is a plain sum of trees; fit with it.")
    stored = learner["gradient_booster"]["model"]
    _refuse_own_missing(model)
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        raise SmileError("The XGBoost model has several targets; fit one model for each.")
    if any(int(tree["tree_param"].get("size_leaf_vector", 1)) > 1 for tree in stored["trees"]):
        raise SmileError("The leaves of the XGBoost model hold vectors; fit with multi_strategy='one_output_per_tree'.")
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


def category_codes(model: Any, frame: pd.DataFrame) -> dict[int, dict[str, int]]:
    """{column: {text: code}} of the columns of categories: their places in the type of the column, or whole numbers."""
    kinds = _booster(model).feature_types or []
    return {i: _codes(frame.iloc[:, i]) for i, kind in enumerate(kinds) if kind == "c"}


def _codes(column: pd.Series) -> dict[str, int]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return {label(value): code for code, value in enumerate(column.dtype.categories)}
    return {label(value): int(value) for value in column.dropna().unique()}


def link(model: Any) -> str:
    """What the raw sum is: a number, its logarithm, the log-odds of the second class, a score for each class."""
    name = json.loads(_booster(model).save_config())["learner"]["objective"]["name"]
    links = {
        **dict.fromkeys(PLAIN, "number"),
        **dict.fromkeys(LOG, "log"),
        **dict.fromkeys(("multi:softmax", "multi:softprob"), "scores"),
        "binary:logistic": "odds",
    }
    if name not in links or name == "binary:hinge":
        raise SmileError(
            f"What XGBoost makes of raw scores under the objective {name!r} is not known here; fit with one such as "
            "'reg:squarederror', 'count:poisson', 'binary:logistic' or 'multi:softprob'."
        )
    return links[name]


def _start(learner: dict[str, Any], kinds: int) -> list[float]:
    """What the sums start with: `base_score` in the units of the raw score."""
    text = learner["learner_model_param"]["base_score"]
    given = json.loads(text) if text.startswith("[") else [float(text)]
    scores = [float(np.float32(v)) for v in (given if isinstance(given, list) else [given])]
    name = learner["objective"]["name"]
    scores = [_raw(score, name) for score in scores]
    return scores * kinds if len(scores) == 1 else scores


def _raw(score: float, name: str) -> float:
    """A base score as a raw score."""
    if name in PLAIN:
        return score
    try:
        if name in LOG:
            return math.log(score)
        if name in LOGISTIC:
            return math.log(score / (1 - score))
    except (ValueError, ZeroDivisionError):
        raise SmileError(f"The base_score {score:g} of the XGBoost model has no raw score under {name!r}.") from None
    raise SmileError(
        f"What the raw score of XGBoost's objective {name!r} starts with is not known here, or depends on the version; "
        "fit with one such as 'reg:squarederror', 'binary:logistic' or 'count:poisson'."
    )


def _refuse_own_missing(model: Any) -> None:
    """An estimator may call a number missing, which then goes its own way whatever the thresholds say."""
    missing = getattr(model, "missing", None)
    if missing is not None and not math.isnan(float(missing)):
        raise SmileError(
            f"The XGBoost model reads {float(missing):g} as missing; fit it with missing=nan and cells that are empty."
        )


def _tree(builder: Builder, tree: dict[str, Any]) -> tuple[list[int], list[float], list[int]]:
    segments = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    chosen = {node: tree["categories"][start : start + size] for node, start, size in segments}

    def expand(at: Any) -> Leaf | Split:
        left, right = tree["left_children"][at], tree["right_children"][at]
        number = float(np.float32(tree["split_conditions"][at]))
        if left < 0:
            return Leaf(number, at)
        column = tree["split_indices"][at]
        go = bool(tree["default_left"][at])
        if tree["split_type"][at]:
            return Split(builder.places(column, chosen[at] + ([] if go else [MISSING])), 0.5, left, right)
        return builder.split(column, below(number), left, right, missing_left=go)

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
