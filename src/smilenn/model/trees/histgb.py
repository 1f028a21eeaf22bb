"""scikit-learn's HistGradientBoosting: float64 thresholds, left if x ≤ θ; categories of a bit set go left.

A column of categories comes first in the trees' own numbering, whatever its place in the table; its values are numbered
as they were seen, and one that was not seen goes where missing cells go.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.table import label
from smilenn.model.trees.forest import Builder, Column, Forest, Gaps, Leaf, Split

TOLERANCE = 1e-12
FIELDS = (
    "value",
    "feature_idx",
    "num_threshold",
    "missing_go_to_left",
    "left",
    "right",
    "is_leaf",
    "is_categorical",
    "bitset_idx",
)


def convert(model: Any, columns: Sequence[Column], inputs: int) -> Forest:
    """A fitted regressor or classifier; outputs are raw predictions: log-odds, one score a class, or the logarithm that
    a Poisson regression learns.
    """
    builder = Builder(inputs, [columns[i] for i in order(model)])
    iterations = model._predictors
    known = codes(model, builder.columns)
    trees = [[_tree(builder, own[k], known) for own in iterations] for k in range(len(iterations[0]))]
    return builder.forest(trees, np.ravel(model._baseline_prediction).tolist(), TOLERANCE)


def order(model: Any) -> list[int]:
    """The table's column of each feature of the trees."""
    if model._preprocessor is None:
        return list(range(model.n_features_in_))
    category = model.is_categorical_
    return [*np.flatnonzero(category).tolist(), *np.flatnonzero(~category).tolist()]


@dataclass(frozen=True)
class Codes:
    """A column of categories: the code of the table for each of the trees' own, and those that the trees never saw."""

    seen: tuple[int, ...] = ()
    new: tuple[int, ...] = ()

    @classmethod
    def of(cls, values: Any, own: Column) -> Codes:
        """From the values that were fitted and the codes of the table: {code: place}, where codes count the fitted
        values and then new ones, or a list of places.

        The trees number the values that they saw. Codes of a table are these values; other values go by their order.
        """
        assert not isinstance(own, int | Gaps)
        seen, count = tuple(range(len(values))), len(own)
        if isinstance(own, Mapping):
            return cls(seen, tuple(code for code in own if code not in seen))
        if set(values) <= set(range(count)):
            seen = tuple(int(value) for value in values)
        return cls(seen, tuple(code for code in range(count) if code not in seen))

    def left(self, bits: Any, *, missing: bool) -> list[int]:
        """The codes that a bit set sends left, and the new ones, which go where `missing` cells go."""
        own = [code for place, code in enumerate(self.seen) if int(bits[place // 32]) >> place % 32 & 1]
        return own + list(self.new) if missing else own


def codes(model: Any, columns: Sequence[Column]) -> list[Codes]:
    """The codes of each of the trees' columns; none of numbers."""
    if model._preprocessor is None:
        return [Codes() for _ in columns]
    fitted = iter(model._preprocessor.named_transformers_["encoder"].categories_)
    return [Codes() if isinstance(own, int | Gaps) else Codes.of(next(fitted), own) for own in columns]


def category_codes(model: Any, frame: pd.DataFrame) -> dict[int, dict[str, int]]:
    """{column: {text: code}} of the columns of categories; the model numbers the values that it was fitted to."""
    if model._preprocessor is None:
        return {}
    fitted = model._preprocessor.named_transformers_["encoder"].categories_
    places = np.flatnonzero(model.is_categorical_).tolist()
    return {
        i: {label(v): k for k, v in enumerate(values) if not pd.isna(v)}
        for i, values in zip(places, fitted, strict=True)
    }


def link(model: Any) -> str:
    """What the raw sum is: a number, its logarithm, the log-odds of the second class, a score for each class."""
    if hasattr(model, "classes_"):
        return "odds" if len(model.classes_) == 2 else "scores"
    return "log" if model.loss in ("poisson", "gamma") else "number"


def _tree(builder: Builder, predictor: Any, known: Sequence[Codes]) -> tuple[list[int], list[float], list[int]]:
    bits = predictor.raw_left_cat_bitsets
    # lists of Python's own numbers: a field of a record takes NumPy ten times as long
    value, column, theta, missing_left, left, right, leaf, category, chosen = (
        predictor.nodes[name].tolist() for name in FIELDS
    )

    def expand(at: Any) -> Leaf | Split:
        if leaf[at]:
            return Leaf(value[at], at)
        if not category[at]:
            go = bool(missing_left[at])
            return builder.split(column[at], theta[at], left[at], right[at], missing_left=go)
        left_codes = known[column[at]].left(bits[chosen[at]], missing=bool(missing_left[at]))
        return Split(builder.places(column[at], left_codes), 0.5, right[at], left[at])

    return builder.tree(0, expand)


def predicted(model: Any, x: Any) -> tuple[np.ndarray, np.ndarray]:
    """What every tree says of rows, [B, trees], trees of one output after the other; and raw predictions [B, outputs].

    scikit-learn does not say which leaf a row reaches. Its own sum asks every tree, and each is heard.
    """
    asked, heard = copy.copy(model), [[_Heard(tree) for tree in own] for own in model._predictors]
    asked._predictors = heard
    raw = np.asarray(asked._raw_predict(x))
    values = np.stack([own[k].said for k in range(len(heard[0])) for own in heard], axis=1)
    return values, raw.reshape(len(raw), -1)


class _Heard:
    """A tree that remembers what it said last."""

    def __init__(self, tree: Any) -> None:
        self.tree, self.said = tree, np.zeros(0)

    def predict(self, *rows: Any, **options: Any) -> np.ndarray:
        """What the tree says."""
        self.said = self.tree.predict(*rows, **options)
        return self.said
