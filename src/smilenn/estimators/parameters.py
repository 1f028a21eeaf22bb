"""Parameters of an estimator, checked when `fit` begins: `__init__` only stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smilenn.errors import SmileError
from smilenn.estimators.checks import check_device

if TYPE_CHECKING:
    from smilenn.estimators.base import SmileEstimator


def check_parameters(estimator: SmileEstimator) -> None:
    """Raise if a parameter has a value that no training can begin with."""
    if estimator.out_of_bounds not in ("auto", "clamp", "raise", "warn"):
        raise SmileError(f"out_of_bounds is 'auto', 'clamp', 'raise' or 'warn', not {estimator.out_of_bounds!r}.")
    if not 0.0 <= estimator.validation_fraction < 1.0:
        raise SmileError(f"validation_fraction must lie in [0, 1), not {estimator.validation_fraction}.")
    check_device(estimator.device)
    if estimator.missing not in ("raise", "fill"):
        raise SmileError(f"missing is 'raise' or 'fill', not {estimator.missing!r}.")
    for name in ("restarts", "embedding", "members"):
        if getattr(estimator, name) < 1:
            raise SmileError(f"{name} must be at least 1, not {getattr(estimator, name)}.")
    if estimator.time_limit is not None and not estimator.time_limit > 0:
        raise SmileError(f"time_limit must be more than 0 seconds, not {estimator.time_limit}.")
    if not estimator.certify_time_limit >= 0:
        raise SmileError(f"certify_time_limit must be 0 seconds or more, not {estimator.certify_time_limit}.")
    if isinstance(estimator.random_state, (int, np.integer)) and not 0 <= estimator.random_state < 2**32:
        raise SmileError(f"random_state must be a whole number from 0 to 2³² − 1, not {estimator.random_state}.")
