"""What a fitted ensemble is about: its columns by name, its categories by code, and what its raw sums mean.

number    the prediction itself
log       its logarithm: counts, amounts, hazards
odds      the log-odds of the second of two classes
scores    one for each class; the largest wins
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from smilenn.errors import SmileError, listed
from smilenn.model.trees.convert import library_of, width_of

NAMELESS = ("Column_", "f", "")  # what libraries call the columns of an array, before a number


@dataclass(frozen=True, eq=False)
class Meaning:
    """What the sums are (`link`, as above), and the classes that they decide between, if any."""

    link: str
    classes: np.ndarray | None


def meaning_of(model: Any, outputs: int) -> Meaning:
    """Read from the fitted model of so many sums; an objective that is not known is an error."""
    link, classes = library_of(model).link(model), _classes(model)
    if link in ("number", "log"):
        if classes is not None:
            raise SmileError(f"The {type(model).__name__} decides between classes by a loss for numbers; fit another.")
        return Meaning(link, None)
    # a bare booster knows classes by number
    return Meaning(link, np.arange(max(2, outputs)) if classes is None else classes)


def _classes(model: Any) -> np.ndarray | None:
    found = getattr(model, "classes_", None)
    return None if found is None or len(found) == 0 else np.asarray(found)


def refuse_other_columns(model: Any, columns: list[str]) -> None:
    """Raise unless these are the model's columns in its order, as far as it knows their names."""
    library_of(model)
    if len(columns) != width_of(model):
        raise SmileError(f"The model has {width_of(model)} columns and the table {len(columns)}; give the same ones.")
    own = _names(model)
    if own is None or (set(own) != set(columns) and any(own == [f"{p}{i}" for i in range(len(own))] for p in NAMELESS)):
        return
    # LightGBM has no spaces in names
    wrong = [(a, b) for a, b in zip(own, columns, strict=True) if a not in (b, b.replace(" ", "_"))]
    if wrong:
        raise SmileError(
            f"The model's columns are {listed(own)}, in this order, but the table has {wrong[0][1]!r} where the model "
            f"has {wrong[0][0]!r}; give the columns that it was fitted to."
        )


def _names(model: Any) -> list[str] | None:
    """The names of the columns that the model was fitted to; None where it does not know any."""
    for name in ("feature_names_in_", "feature_name_", "feature_names_", "feature_names", "feature_name"):
        try:
            found = getattr(model, name, None)
        except AttributeError:
            continue
        found = found() if callable(found) else found
        if found is not None and len(found):
            return [str(one) for one in found]
    return None


def places_of(model: Any, frame: pd.DataFrame) -> dict[int, dict[str, int]]:
    """{column: {text: code}} of the columns that the model reads as categories."""
    return library_of(model).category_codes(model, frame)
