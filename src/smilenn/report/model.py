"""What a report needs: a model that was judged, and rows it is measured on.

`Reported` is the part of an estimator that a report reads. The estimators import the report and not the other way
round, so that ``model.report()`` keeps the layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.model.net import SmileNet
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.prove.verdict import Verdict


class Reported(Protocol):
    """A fitted estimator, as far as a report reads it."""

    @property
    def task(self) -> str:
        """``regression``, ``quantiles``, ``binary``, ``multiclass`` or ``multilabel``."""
        ...

    @property
    def net_(self) -> SmileNet:
        """The network."""
        ...

    @property
    def domain_(self) -> Domain:
        """The input space."""
        ...

    @property
    def claims_(self) -> tuple[Claim, ...]:
        """The rules as exact claims."""
        ...

    @property
    def history_(self) -> Sequence[Mapping[str, Any]]:
        """One record per epoch or round."""
        ...

    @property
    def target_name_(self) -> str:
        """The target's name, empty where it has none."""
        ...

    @property
    def seconds_(self) -> float:
        """What training took."""
        ...

    @property
    def outside_(self) -> str:
        """What happens to rows outside the domain: ``clamp``, ``raise`` or ``warn``."""
        ...

    @property
    def fill_(self) -> Mapping[str, float | str]:
        """What missing cells are filled with; empty where they are refused."""
        ...

    @property
    def verdict_(self) -> Verdict:
        """What is known of the rules."""
        ...

    @property
    def certificate_(self) -> Certificate | None:
        """What the checker said, or None."""
        ...

    @property
    def certificate_note_(self) -> str:
        """Why there is no accepted certificate."""
        ...

    def all_properties(self) -> tuple[Property, ...]:
        """The rules as they were stated."""
        ...

    def explain(self) -> str:
        """What was chosen and why, one sentence a line."""
        ...

    def encoded(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """Rows as the network sees them, [n, m]."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """Measured rows: inputs x [n, m] in raw units and, where the target is known, y [n] (classes as 0 and 1)."""

    x: np.ndarray
    y: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.x)


def rows_of(model: Reported, X: Any, y: Any = None) -> Rows:
    """The rows of a table X [n, columns] and their target y [n], checked against what the model was fitted on."""
    x = model.encoded(X)
    if y is None:
        return Rows(x)
    values = np.asarray(pd.Series(np.asarray(y).ravel()))
    if len(values) != len(x):
        raise SmileError(f"Got {len(x)} rows and {len(values)} targets; give one target per row.")
    if pd.isna(values).any():
        row = int(np.flatnonzero(pd.isna(values))[0])
        raise SmileError(f"Row {row} of the target is missing; drop the row or fill it in.")
    return Rows(x, _numbers(model, values))


def _numbers(model: Reported, values: np.ndarray) -> np.ndarray:
    if model.task == "binary":
        classes: np.ndarray = model.classes_  # type: ignore[attr-defined] # every classifier has them
        first, second = (str(value) for value in classes)
        texts = np.array([str(value) for value in values], dtype=object)
        if values.dtype.kind in "fiub" and classes.dtype.kind in "fiub":
            codes = np.where(values == classes[1], 1.0, np.where(values == classes[0], 0.0, np.nan))
        else:
            codes = np.where(texts == second, 1.0, np.where(texts == first, 0.0, np.nan))
        unknown = sorted(set(texts[np.isnan(codes)]))
        if unknown:
            raise SmileError(
                f"The target holds {listed(unknown, 4)}; the model knows the classes {first!r} and {second!r}."
            )
        return codes
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise SmileError("The target holds texts; this model predicts numbers.") from None
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise SmileError(f"Row {row} of the target is {numbers[row]}; give a finite number.")
    return numbers
