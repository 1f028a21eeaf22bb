"""Rows that are not of the domain: numbers outside their ranges, categories that nobody knows, missing cells.

One cell of each row is odd. What the graph should say of it is what the model says: the outputs after the row was moved
or filled, NaN where the model refuses it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from smilenn.domain import Feature
from smilenn.domain.absent import MISSING, fill_of
from smilenn.domain.cells import order_of
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor

UNKNOWN = "no such value"
Estimator = SmileRegressor | SmileClassifier


def odd_rows(model: Estimator, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """A table [rows, columns] of cells as objects, one of each row odd."""
    domain = model.domain_
    frame = domain.decode(domain.settled(domain.sample(rows, rng))).astype(object)
    kinds = [(f, kind) for f in domain.features for kind in _kinds(model, f)]
    for row in range(rows if kinds else 0):
        feature, kind = kinds[row % len(kinds)]
        frame.loc[row, feature.name] = _cell(feature, kind, rng)
    return frame


def _kinds(model: Estimator, feature: Feature) -> list[str]:
    """In which ways a cell of a feature can be odd, of those that a typed input of a graph can hold."""
    if feature.columns or fill_of(feature) is not None:
        return []
    lacks = feature.name in model.fill_ or feature.name in model.domain_.indicators or MISSING in feature.categories
    if feature.categories or order_of(feature):
        return ["unknown", *(["missing"] if lacks else [])]
    return ["below", "above", *(["missing"] if lacks or feature.kind == "continuous" else [])]


def _cell(feature: Feature, kind: str, rng: np.random.Generator) -> float | int | str | None:
    if kind in ("unknown", "missing"):
        return UNKNOWN if kind == "unknown" else None
    far = (feature.hi - feature.lo + 1) * (1 + rng.random())
    value = feature.hi + far if kind == "above" else feature.lo - far
    return value if feature.kind == "continuous" else int(value)


def wanted(model: Estimator, frame: pd.DataFrame) -> np.ndarray:
    """The model's outputs [n, o], each row by itself, NaN where it is refused."""
    out = np.full((len(frame), len(model.outputs_.names)), np.nan)
    for row in range(len(frame)):
        try:
            x = model.read_rows(frame.iloc[[row]].infer_objects())
            x = model.domain_.clamp(x, out_of_bounds=model.outside_)
        except SmileError:
            continue
        out[row] = model.outputs_at(x).reshape(-1)
    return out
