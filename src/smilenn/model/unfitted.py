"""A copy of an estimator that is still to be fitted, so that the user's own stays as it is."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.base import clone

from smilenn.errors import SmileError


def unfitted_copy(estimator: Any, instead: str) -> Any:
    """scikit-learn's clone, or a deep copy of what it cannot clone: CatBoost's constructor changes its own
    `cat_features`, other estimators have no parameters. `instead` says how to give one that has no copy either.
    """
    try:
        return clone(estimator)
    except (RuntimeError, TypeError):  # what clone says of these
        pass
    try:
        return copy.deepcopy(estimator)
    except Exception as error:  # somebody else's code
        raise SmileError(
            f"The {type(estimator).__name__} can be copied neither by scikit-learn's clone nor by copy.deepcopy; "
            f"{instead}."
        ) from error
