"""What somebody else's model answers, as numbers: predictions, and probabilities in the order of the classes.

logit(p)    = log p − log(1 − p)          p is moved to [CUT, 1 − CUT] first: a logit is a number
log-shares  = log p_k                     of several classes, p_k ≥ CUT
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from smilenn.errors import SmileError, listed
from smilenn.properties.forms import class_name

FAR = 1e-4  # from 1, for the sum of a row's probabilities in float32
CUT = 1e-12  # probabilities nearer to 0 or 1 are moved there


def is_estimator(value: Any) -> bool:
    """Whether this is an estimator in scikit-learn's sense, and not the class of one."""
    return not isinstance(value, type) and callable(getattr(value, "predict", None))


def numbers_of(found: Any, what: str) -> np.ndarray:
    """What a model has said, as float64."""
    try:
        if np.asarray(found).dtype.kind in "cmM":  # NumPy would drop the imaginary part, or count ticks
            raise TypeError
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise SmileError(
            f"The model's {what} are not numbers; give a model that says one number or two a row, or one a class."
        ) from None


def in_order(found: Any, classes: np.ndarray) -> Any:
    """Probabilities of a model that names their columns by its classes, in the order of these; others as they are."""
    if not isinstance(found, pd.DataFrame):
        return found
    named, wanted = list(map(class_name, found.columns)), list(map(class_name, classes))
    if sorted(named) != sorted(wanted):
        if list(found.columns) == list(range(len(classes))):  # columns without names
            return found
        raise SmileError(
            f"The model's probabilities have the columns {listed(named)} and its classes are {listed(wanted)}; "
            "name the columns after the classes, or return an array."
        )
    return found.iloc[:, [named.index(name) for name in wanted]]


def are_probabilities(p: np.ndarray, rows: int, classes: int) -> bool:
    """Whether p is [rows, classes], nowhere negative, and adds up to one in each row."""
    return p.shape == (rows, classes) and bool((np.abs(p.sum(axis=1) - 1) <= FAR).all() and (p >= -FAR).all())


def logit(p: np.ndarray) -> np.ndarray:
    """Log-odds of probabilities, shape kept."""
    p = np.clip(p, CUT, 1 - CUT)
    return np.log(p) - np.log1p(-p)


def log_shares(p: np.ndarray, own: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """log p [n, k] of the classes `wanted`, from p [n, c] of the model's `own`; one it does not know has the least.

    >>> log_shares(np.array([[0.25, 0.75]]), ["b", "a"], ["a", "b"]).round(2).tolist()
    [[-0.29, -1.39]]
    """
    out = np.zeros((len(p), len(wanted)))
    for k, name in enumerate(wanted):
        if name in own:
            out[:, k] = p[:, list(own).index(name)]
    return np.log(np.maximum(out, CUT))
