"""From train and test parts to arrays: everything that is learned from data is learned from the training rows alone.

domain      bounds and scalers of the training rows (no margin); categories as declared by the column's dtype
x           raw units, [n, m];  test rows outside the training range are clamped, so model units stay in [0, 1]
kept, held  a shuffled tenth of the training rows is held out for choices; the test rows choose nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from smilenn.datasets.base import Dataset
from smilenn.domain import Domain, Kind
from smilenn.domain.learn import Scaling


@dataclass(frozen=True, eq=False)
class Prepared:
    """Arrays of one split.

    Attributes
    ----------
    domain : the input space, learned from the training rows.
    x, y : training rows, [n, m] in raw units and [n].
    x_held, y_held : rows held out of training for choices.
    x_test, y_test : test rows.
    """

    domain: Domain
    x: np.ndarray
    y: np.ndarray
    x_held: np.ndarray
    y_held: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def prepare(
    train: Dataset,
    test: Dataset,
    *,
    seed: int = 0,
    held: float = 0.1,
    scaling: Scaling = "unit",
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Prepared:
    """Encode two parts of a data set; `held` is the share of training rows kept for choices.

    >>> from smilenn.datasets import make_credit, split
    >>> parts = prepare(*split(make_credit(200, seed=0), seed=0))
    >>> parts.x.shape, parts.x_held.shape, parts.x_test.shape
    ((144, 9), (16, 9), (40, 9))
    """
    domain = learned(train.frame, scaling, bounds)
    x, y = domain.encode(train.frame), train.target.to_numpy(dtype=np.float64)
    out, kept = np.split(np.random.default_rng(seed).permutation(len(x)), [round(held * len(x))])
    x_test = domain.encode(test.frame, out_of_bounds="clamp")
    return Prepared(domain, x[kept], y[kept], x[out], y[out], x_test, test.target.to_numpy(dtype=np.float64))


def learned(
    frame: pd.DataFrame | np.ndarray, scaling: Scaling = "unit", bounds: Mapping[str, tuple[float, float]] | None = None
) -> Domain:
    """The domain of training rows; a declared category that happens to be absent from them is kept all the same.

    Ordered categories stay categories, one coordinate each, as the paper has them.
    """
    if not isinstance(frame, pd.DataFrame):
        return Domain.from_data(frame, margin=0.0, scaling=scaling, bounds=bounds)
    ranked = [str(name) for name, dtype in frame.dtypes.items() if getattr(dtype, "ordered", False)]
    kinds: dict[str, Kind] = dict.fromkeys(ranked, "category")
    domain = Domain.from_data(frame, margin=0.0, scaling=scaling, bounds=bounds, kinds=kinds)
    features = []
    for feature in domain.features:
        dtype = frame[feature.name].dtype if feature.name in frame.columns else None
        if feature.kind == "category" and isinstance(dtype, pd.CategoricalDtype):
            declared = tuple(str(value) for value in dtype.categories)
            if dtype.ordered or set(declared) > set(feature.categories):
                feature = replace(feature, categories=declared)
        features.append(feature)
    return Domain(tuple(features))
