"""`SmileClassifier`: one of two classes, decided by the sign of one logit with proved properties."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from smilenn.errors import SmileError, listed
from smilenn.estimators.base import SmileEstimator, Target
from smilenn.estimators.steady import largest_change, steady
from smilenn.properties.library import Fair, Robust

DEFAULT_EPS = 1.0  # ε is a gauge on a logit: scaling the logit scales it


class SmileClassifier(ClassifierMixin, SmileEstimator):
    """Binary classification with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. The output that properties speak of is the logit of ``classes_[1]``: ε on
    it is an odds ratio of e^ε and a change of the probability by at most tanh(ε/4). A `Robust` without eps gets ε = 1.
    """

    loss = "bce"
    task: ClassVar[str] = "binary"

    def _default_eps(self) -> float:
        return DEFAULT_EPS

    def _target(self, y: np.ndarray) -> Target:
        if y.dtype.kind == "f" and (y != np.rint(y)).any():
            raise SmileError("The target holds fractions; classify whole numbers or texts, or use SmileRegressor.")
        try:
            classes, codes = np.unique(y, return_inverse=True)
        except TypeError:
            raise SmileError("The target mixes numbers and texts; give every class one kind of name.") from None
        if len(classes) == 1:
            raise SmileError(f"The target has one class only, {classes[0]!r}; a classifier needs two.")
        if len(classes) > 2:
            raise SmileError(
                f"The target has {len(classes)} classes ({listed(classes, 4)}); SmileClassifier takes two: predict one "
                "against the rest."
            )
        share = float(codes.mean())
        return Target(codes.astype(np.float64), 1.0, math.log(share / (1.0 - share)), classes)

    def _loss(self, output: np.ndarray, y: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0.0, output) - y * output))

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of ``classes_[1]``, float64 [n]."""
        return self.outputs(X)

    def predict(self, X: Any) -> np.ndarray:
        """Class labels [n]: ``classes_[1]`` where the logit is positive."""
        return self.classes_[(self.outputs(X) > 0).astype(int)]

    def predict_certified(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Class labels [n], and [n] bool: which of them no change that the properties speak of can turn.

        Of all `Robust` and `Fair` properties together: True means that every input within δ of the row, and every one
        that differs in the protected features alone, gets the same label. It rests on the checked bound of
        ``certificate_``; without one every entry is False.
        """
        logit = self.outputs(X)
        return self.classes_[(logit > 0).astype(int)], steady(logit, self.largest_change())

    def largest_change(self) -> float:
        """Checked bound on how far the logit moves by any change that a `Robust` or `Fair` property speaks of; or ∞."""
        self._check_fitted()
        named = [item for item in self.all_properties() if isinstance(item, (Robust, Fair))]
        if not named:
            raise SmileError("Certified labels need a property that bounds changes; fit with a Robust or Fair one.")
        return largest_change(self.certificate_, self.lower(named), self.domain_, self.outside_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, [n, 2]."""
        positive = probability(self.outputs(X))
        return np.stack([1.0 - positive, positive], axis=1)


def probability(logit: np.ndarray) -> np.ndarray:
    """1 / (1 + e^−logit) without overflow, shape kept."""
    return np.exp(-np.logaddexp(0.0, -logit))
