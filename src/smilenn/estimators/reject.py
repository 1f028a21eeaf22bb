"""Rejection: no answer for rows near a decision, so that no two similar rows get two different answers.

A certificate of `Robust` or `Fair` bounds the change of every margin: |m_ij(a) − m_ij(b)| ≤ B_ij for all pairs (a, b)
of its premise. A row is *accepted* with class i if m_ij > B_ij/2 for every other class j. Then

    no pair of the premise is accepted with two different classes:

of a with i and b with j both m_ij(a) > B_ij/2 and m_ij(b) < −B_ij/2 would hold, a change by more than B_ij. Of two
classes m is the logit. Half the bound suffices since both rows must be accepted; a label that no allowed change turns
at all (`predict_certified`) needs the whole bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from smilenn.errors import SmileError
from smilenn.estimators.stability import stable

WORD, NUMBER = "rejected", -1  # the class of rejected rows, of classes that are text and of those that are numbers


def accepted(logits: np.ndarray, change: np.ndarray, *, margins: bool) -> np.ndarray:
    """Which rows of logits [n], or [n, o] with `margins`, are accepted, given B of the logit, or of each margin."""
    half = np.asarray(change) / 2
    half = np.where(2 * half < change, np.nextafter(half, math.inf), half)  # the least number of all has no half
    return stable(logits, half if margins else float(half.max()), margins=margins)


def with_rejections(labels: np.ndarray, kept: np.ndarray, classes: np.ndarray, rejected: Any = None) -> np.ndarray:
    """The labels [n] where `kept` [n], else `rejected`: -1 for classes that are numbers and "rejected" for others."""
    numbers = np.issubdtype(classes.dtype, np.number)
    value = (NUMBER if numbers else WORD) if rejected is None else rejected
    if any(value == known for known in classes.tolist()):
        raise SmileError(f"Rejected rows cannot be called {value!r}, which is a class; give another word for them.")
    values = np.asarray([value])
    alike = (numbers and np.issubdtype(values.dtype, np.number)) or values.dtype.kind == classes.dtype.kind == "U"
    kind = np.result_type(classes, values) if alike else object
    return np.where(kept, labels.astype(kind), np.asarray([value], dtype=kind))
