"""What a clamp knows of the model inside it: which estimators it is made of, and what it may be judged by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator

from smilenn.errors import SmileError


def refuse_target(X: pd.DataFrame, y: Any) -> None:
    """Refuse a target that is not one value a row: quality would be measured on others."""
    values = np.asarray(y)
    if y is not None and values.shape not in {(len(X),), (len(X), 1)}:
        raise SmileError(f"The target has shape {values.shape} and X {len(X)} rows; give one value for each row.")
    if y is not None and values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values.reshape(-1)))[0])
        raise SmileError(f"The target of row {row} is {values.reshape(-1)[row]}; drop the row or fill the value in.")


def refuse_odd_columns(X: pd.DataFrame) -> None:
    """Refuse columns whose cells a folder cannot name, such as the intervals of `pandas.cut`."""
    for name, dtype in X.dtypes.items():
        cells = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else X[name]
        kinds = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        odd = [cell for cell in cells if not _is_plain(cell)] if kinds.kind == "O" else []
        if odd:
            raise SmileError(
                f"Column {name!r} holds {str(odd[0])!r} ({type(odd[0]).__name__}), which a clamp cannot save; turn the "
                "column into strings or numbers."
            )


def _is_plain(cell: Any) -> bool:
    """Whether a cell is missing, a text, a number or a date: what the domain reads, or refuses by itself."""
    return not isinstance(cell, pd.Interval | pd.Period | bytes)


def was_given(model: Any) -> bool:
    """Whether the model, or a part of it, came trained: which rows it has learned from is not known."""
    return any(isinstance(part, FrozenEstimator) for part in estimators_within(model))


def estimators_within(model: Any) -> list[Any]:
    """The model and every estimator inside it: steps of a pipeline, what is frozen, members."""
    given = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    named = [given[name] for name in sorted(given)]
    fitted = [part for name in ("steps", "transformers_", "estimators_") for part in _parts(getattr(model, name, ()))]
    return [model, *(part for part in (*named, *fitted) if hasattr(part, "fit"))]


def _parts(members: Any) -> list[Any]:
    """Estimators of a list, or of a list of named ones."""
    found = members if isinstance(members, list | tuple) else []
    return [one for member in found for one in (member if isinstance(member, tuple) else (member,))]


def same_estimators(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether these are the same objects: an estimator may learn on, and is not exchanged."""
    return len(first) == len(second) and all(one is other for one, other in zip(first, second, strict=True))
