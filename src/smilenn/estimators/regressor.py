"""`SmileRegressor`: a number, predicted by a network that provably obeys its properties."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from smilenn.errors import SmileError
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.training import Target


class SmileRegressor(RegressorMixin, SmileEstimator):
    """Regression with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. After `fit`: ``verdict_``, ``certificate_``, ``violation_bound_``,
    ``history_``, ``net_``, ``domain_``, ``claims_``. ε of a property is in units of the target.

    >>> from smilenn.estimators.regressor import SmileRegressor
    >>> SmileRegressor(increasing=["income"]).all_properties()[0].sentence()
    "Raising 'income', everything else equal, never lowers the output."
    """

    loss = "mse"
    task: ClassVar[str] = "regression"

    def _default_eps(self) -> float:
        raise SmileError(
            "Robust needs eps in a regression: the largest change of the output, as in Robust(0.1, eps=2)."
        )

    def _target(self, y: np.ndarray) -> tuple[np.ndarray, None]:
        try:
            values = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            row = next(i for i, value in enumerate(y) if not _is_number(value))
            raise SmileError(f"Row {row} of the target is {y[row]!r}; a regression needs numbers.") from None
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise SmileError(f"Row {int(bad[0])} of the target is {values[bad[0]]}; give a finite number.")
        return values, None

    def _start(self, y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        mean = float(np.average(y, weights=weight))
        spread = math.sqrt(np.average((y - mean) ** 2, weights=weight))
        return Target(y, spread if spread > 0 else 1.0, mean), weight

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for the rows of X in the target's units, float64 [n]."""
        return self.outputs(X)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
