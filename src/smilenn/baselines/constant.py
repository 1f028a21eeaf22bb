"""The constant: the training mean, or the logit of the training share of positives. Every property holds for it.

f(x) = ȳ                        regression
f(x) = ln(ȳ / (1 − ȳ))          two classes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smilenn.datasets.base import TaskName


@dataclass(frozen=True)
class Constant:
    """One value for all rows."""

    value: float

    def predict(self, x: np.ndarray) -> np.ndarray:
        """x [n, m] → [n]."""
        return np.full(len(x), self.value)


def fit_constant(y: np.ndarray, task: TaskName) -> Constant:
    """From training targets [n].

    >>> fit_constant(np.array([0.0, 0.0, 1.0, 1.0]), "binary").value
    0.0
    """
    share = float(np.mean(y))
    if task == "regression":
        return Constant(share)
    share = min(max(share, 1e-9), 1 - 1e-9)  # one class only: a logit far out instead of infinity
    return Constant(float(np.log(share / (1 - share))))
