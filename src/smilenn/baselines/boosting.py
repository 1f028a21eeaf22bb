"""Gradient-boosted trees with monotone constraints: scikit-learn's histogram boosting.

f = Σ_t ν·tree_t;   a split on a rising feature is taken only if the left mean ≤ the right mean, and the children's
values stay on their sides of the middle: each tree is monotone, hence the sum
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from smilenn.datasets.base import TaskName


@dataclass(frozen=True, eq=False)
class Boosted:
    """Fitted trees; outputs are values of a regression or logits."""

    model: HistGradientBoostingRegressor | HistGradientBoostingClassifier

    def predict(self, x: np.ndarray) -> np.ndarray:
        """x [n, m] → [n]."""
        model = self.model
        out = model.decision_function(x) if isinstance(model, HistGradientBoostingClassifier) else model.predict(x)
        return np.asarray(out, dtype=np.float64)


def fit_boosting(x: np.ndarray, y: np.ndarray, signs: Sequence[int], *, task: TaskName, seed: int = 0) -> Boosted:
    """x [n, m], y [n], `signs` of −1, 0, 1 per coordinate; scikit-learn's default settings otherwise."""
    if task == "binary":
        return Boosted(HistGradientBoostingClassifier(monotonic_cst=list(signs), random_state=seed).fit(x, y))
    return Boosted(HistGradientBoostingRegressor(monotonic_cst=list(signs), random_state=seed).fit(x, y))
