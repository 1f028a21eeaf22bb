"""Probabilities that mean what they say, and what becomes of ε.

A classifier's rules are about its logit z. Temperature scaling divides it, p = σ(z / T), with the T that makes the log
loss on held-out rows least:

    min over c = 1/T of  mean log(1 + e^{c z_i}) − y_i c z_i         convex in c, solved by bisection of its slope

Labels do not change, as the sign of z / T is that of z; so certified labels stay certified. A bound on changes does:

    |z(a) − z(b)| ≤ ε   ⇒   |z(a)/T − z(b)/T| ≤ ε / T,   probabilities change by at most tanh(ε / 4T)

Of several classes the logits are divided alike, p = softmax(z / T), the slope is that of log Σ_i e^{c z_i} − c z_true,
and ε is that of the margins: they bound the odds of each class against all others as ε bounds those of two.

In floating point each quotient is rounded by at most 2^-53 of itself: with |z| ≤ L that adds 2^-52·L/T to the bound.
A probability of two classes is computed up to 10^-15 of itself (sigmoid.py), and as x·σ'(x) < 1/4 the quotient adds
less than 2^-55. So two computed ones lie 2^-48 further apart at most than the exact ones, however small ε is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from smilenn.errors import SmileError
from smilenn.rounding import round_up
from smilenn.sigmoid import probability

LEAST, MOST = 2.0**-10, 2.0**10  # of 1/T: beyond it the rows say nothing, or are separated perfectly


class Decides(Protocol):
    """A fitted classifier with logits."""

    classes_: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of ``classes_[1]``, [n], or of each of several classes, [n, classes]."""
        ...


@dataclass(frozen=True)
class Calibration:
    """A temperature, and what it does to logits, probabilities and ε.

    >>> warm = Calibration(2.0)
    >>> warm.eps(1.0), round(warm.change(1.0), 4)
    (0.5, 0.1244)
    """

    temperature: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise SmileError(f"A temperature is a positive number, not {self.temperature}.")

    def logit(self, logit: np.ndarray) -> np.ndarray:
        """Calibrated logits z / T, shape kept."""
        return np.asarray(logit, dtype=np.float64) / self.temperature

    def probability(self, logit: np.ndarray) -> np.ndarray:
        """Calibrated probabilities, shape kept: σ(z / T) of the positive class, softmax(z / T) of several.

        Of two classes they rise with the logit bit for bit (sigmoid.py): a rounded quotient by T > 0 never falls.
        """
        z = self.logit(logit)
        if z.ndim == 2:
            return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
        return probability(z)

    def eps(self, eps: float, largest_logit: float = 0.0) -> float:
        """ε / T, never rounded down; with `largest_logit` = L also what rounding of the quotients adds."""
        if not (math.isfinite(eps) and eps >= 0 and math.isfinite(largest_logit) and largest_logit >= 0):
            raise SmileError(f"ε and the largest logit are numbers of 0 or more, not {eps} and {largest_logit}.")
        exact = (Fraction(eps) + Fraction(largest_logit) / 2**52) / Fraction(self.temperature)
        return round_up(exact)

    def change(self, eps: float) -> float:
        """The largest change of a calibrated probability where the logit, or every margin, changes by at most ε:
        tanh(ε / 4T), never rounded down.

        Of two classes it holds for probabilities as they are computed, so that it is never below 2^-48 unless ε is 0:
        equal logits give equal bits. Of several classes it is about exact ones; logits of size L are rounded besides.
        """
        if not (exact := self.eps(eps)):
            return 0.0
        return min(1.0, math.tanh(exact / 4) * (1 + 2.0**-48) + 2.0**-48)


def calibrate(classifier: Decides, X: Any, y: Any) -> Calibration:
    """The temperature of a fitted classifier on rows X [n, columns] with classes y [n] it was not trained on."""
    if np.ndim(y) > 1:
        raise SmileError("Calibration is for one class a row; calibrate each label by itself with its own logits.")
    labels, classes = np.asarray(y), np.asarray(classifier.classes_)
    unknown = sorted({str(label) for label in labels[~np.isin(labels, classes)]})
    if unknown:
        raise SmileError(
            f"The labels hold {unknown[0]!r}, which is none of the classes {', '.join(map(str, classes))}."
        )
    logit = np.asarray(classifier.decision_function(X), dtype=np.float64)
    if len(labels) != len(logit):
        raise SmileError(f"Got {len(logit)} rows and {len(labels)} labels; give one label per row.")
    return Calibration(temperature(logit, labels[:, None] == classes if logit.ndim == 2 else labels == classes[1]))


def temperature(logit: np.ndarray, y: np.ndarray) -> float:
    """T of logits [n] against targets [n] of 0 and 1, or of logits [n, classes] against one-hot targets; rows of more
    than one class are needed.

    Between 1/1024 and 1024: at the low end the rows are separated perfectly, at the high end logits say nothing.
    """
    z, y = np.asarray(logit, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not len(z) or (y == y[0]).all():
        raise SmileError("Calibration needs rows of both classes; give more rows.")
    if z.ndim == 1:  # two classes as one logit and none
        z, y = np.stack([0.0 * z, z], axis=1), np.stack([1.0 - y, y], axis=1)

    def slope(c: float) -> float:
        return float(np.mean(np.sum(z * (Calibration(1 / c).probability(z) - y), axis=1)))

    low, high = LEAST, MOST
    if slope(low) >= 0:
        return 1 / low
    if slope(high) <= 0:
        return 1 / high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return 2 / (low + high)
