"""Isotonic regression: the best non-decreasing step function of one input; the limit for monotone models on its rows.

min_f Σ (f(x_i) − y_i)²   over all non-decreasing f;   between rows f is interpolated, outside it is constant
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from smilenn.errors import SmileError


@dataclass(frozen=True, eq=False)
class Isotonic:
    """A fitted isotonic regression of one coordinate."""

    model: IsotonicRegression

    def predict(self, x: np.ndarray) -> np.ndarray:
        """x [n, 1] → [n]."""
        return np.asarray(self.model.predict(x[:, 0]), dtype=np.float64)


def fit_isotonic(x: np.ndarray, y: np.ndarray, *, increasing: bool = True) -> Isotonic:
    """x [n, 1], y [n]."""
    if x.ndim != 2 or x.shape[1] != 1:
        raise SmileError(f"Isotonic regression takes one input, not an array of shape {x.shape}.")
    return Isotonic(IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(x[:, 0], y))
