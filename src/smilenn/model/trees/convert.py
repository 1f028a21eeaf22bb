"""Any fitted tree ensemble as a layer, and the comparison of the two, row by row.

No library is imported here: a model brings its own. Equal is meant to the last leaf: every row must reach the leaf that
the library names, or a tree's own value to the bit, and the sums must agree up to the library's own rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.trees import catboost, histgb, lightgbm, xgboost
from smilenn.model.trees.forest import NAMELESS, Column, Forest, Gaps


def convert(model: Any, columns: Sequence[Column] | None = None, inputs: int | None = None) -> Forest:
    """The trees of a fitted model of scikit-learn's HistGradientBoosting, LightGBM, XGBoost or CatBoost.

    Parameters
    ----------
    columns : where each column of the model's table lies among the `inputs` coordinates of the layer: a place, or of a
        column of categories the places of its codes, as a list or as {code: place}; without it the same places in the
        same order.
    inputs : how many coordinates the layer reads; without it the model's columns or those that are named.
    """
    library = library_of(model)
    count = width_of(model)
    columns = list(range(count)) if columns is None else list(columns)
    if len(columns) != count:
        raise SmileError(f"The model has {count} columns and {len(columns)} are described; describe every one.")
    flat = [place for column in columns for place in _places(column)]
    width = max(flat) + 1 if inputs is None else inputs
    if min(flat) < 0 or max(flat) >= width:
        raise SmileError(f"The layer reads {width} coordinates; a column lies outside of them.")
    return library.convert(model, columns, width)


def _places(column: Column) -> Sequence[int]:
    if isinstance(column, int | Gaps):
        return [column] if isinstance(column, int) else [column.low, column.high]
    return list(column.values()) if isinstance(column, Mapping) else column


def assert_same(forest: Forest, model: Any, x: Any, y: np.ndarray) -> None:
    """Raise unless every row reaches the model's leaves in the layer and gets its sums.

    `x` are rows as the model takes them, `y` [B, inputs] the same rows as the layer does.
    """
    library, given = library_of(model), torch.as_tensor(np.asarray(y, dtype=np.float64))
    leaves, layers = forest.layer.leaves_and_sums(given)
    found, own, each = leaves.numpy(), layers.numpy(), _values(forest)
    if library is histgb:
        wanted, sums = histgb.predicted(model, x)
        values = np.stack([of_tree[found[:, t]] for t, of_tree in enumerate(each)], axis=1)
        _refuse(values != wanted, "gets another value than in the model")
    else:
        wanted, sums = library.leaves(model, x), library.sums(model, x)
        if wanted is not None:
            named = np.stack([_named(ids, found[:, t], wanted[:, t]) for t, ids in enumerate(forest.leaves)], axis=1)
            _refuse(named != wanted, "reaches another leaf than in the model")
    sizes = [abs(values).max() for values in each]
    ends = np.cumsum([0, *forest.layer.trees])
    scale = np.array([sum(sizes[a:b]) for a, b in pairwise(ends)])
    scale = scale + np.abs(forest.layer.bias.numpy())
    if (np.abs(sums - own) > forest.tolerance * scale).any():
        row = int(np.flatnonzero((np.abs(sums - own) > forest.tolerance * scale).any(axis=1))[0])
        raise SmileError(f"Row {row} gets {own[row].tolist()} from the layer and {sums[row].tolist()} from the model.")


def _named(ids: np.ndarray, found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The library's numbers of the leaves that rows reach [B]; where they are not known, those that the first row of
    each leaf suggests, each for one leaf only.
    """
    if (ids != NAMELESS).all():
        return ids[found]
    own, first = np.unique(found, return_index=True)
    guess = np.full(len(ids), NAMELESS)
    guess[own] = wanted[first]
    twice = np.isin(guess, [v for v in guess[own] if (guess[own] == v).sum() > 1])
    return np.where(twice, NAMELESS, guess)[found]


def _values(forest: Forest) -> list[np.ndarray]:
    """The leaves' values of every tree, from left to right."""
    ends = np.cumsum([0, *(len(ids) for ids in forest.leaves)])
    layer = forest.layer
    return np.split(layer.number[layer.split == -1].numpy(), ends[1:-1])


def _refuse(wrong: np.ndarray, what: str) -> None:
    if wrong.any():
        row, tree = (int(i) for i in np.argwhere(wrong)[0])
        raise SmileError(f"Row {row} {what} in tree {tree}; the trees were not converted exactly.")


def library_of(model: Any) -> ModuleType:
    """The converter for a model, by the package of its class."""
    package, name = type(model).__module__.split(".")[0], type(model).__name__
    if package == "sklearn" and name.startswith("HistGradientBoosting"):
        return histgb
    if package == "sklearn" and name == "Pipeline":
        raise SmileError(
            "The trees of a Pipeline read columns that its earlier steps make, and a certificate is about those of the "
            "table; turn texts into pandas categories and fit HistGradientBoosting with "
            "categorical_features='from_dtype' to the table itself."
        )
    known = {"lightgbm": lightgbm, "xgboost": xgboost, "catboost": catboost}
    if package not in known:
        raise SmileError(
            f"There is no converter for {package}.{name}; use scikit-learn's HistGradientBoosting, LightGBM, XGBoost "
            "or CatBoost."
        )
    return known[package]


def width_of(model: Any) -> int:
    """The number of the model's columns."""
    for name in ("n_features_in_", "n_features_", "num_feature", "num_features"):
        count: Any = getattr(model, name, None)
        count = count() if callable(count) else count
        if isinstance(count, (int, np.integer)):
            return int(count)
    raise SmileError(f"{type(model).__name__} does not say how many columns it has; is it fitted?")
