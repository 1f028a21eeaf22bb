"""What a report needs: a model that was judged, and rows it is measured on.

`Reported` is the part of an estimator that a report reads. The estimators import the report and not the other way
round, so that ``model.report()`` keeps the layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain
from smilenn.domain.target_cells import as_fitted
from smilenn.errors import SmileError, listed
from smilenn.model.net import SmileNet
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.report.standing import Standing
from smilenn.verdict import Verdict


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
    def outputs_(self) -> Outputs:
        """What the network's outputs are called, and the classes they decide between."""
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
    def n_iter_(self) -> int:
        """Epochs and rounds of training; 0 for a network that was not trained here."""
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
    def quality_(self) -> Standing | None:
        """How well it predicts, as measured at the end of training; None where that was not kept."""
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

    def stated_properties(self) -> tuple[Property, ...]:
        """Those of them that somebody stated: not what the task brings, such as that quantiles do not cross."""
        ...

    def explain(self) -> str:
        """What was chosen and why, one sentence a line."""
        ...

    def stable_rows(self, outputs: np.ndarray) -> np.ndarray | None:
        """Of outputs [n, o] the rows [n] whose decision no change that `Robust` and `Fair` cover can flip, as far as
        a certificate says; None where there is no such rule, or nothing is decided.
        """
        ...

    def accepted(self, outputs: np.ndarray) -> np.ndarray | None:
        """Of outputs [n, o] the rows [n] that are answered when those near a decision are rejected; None as above."""
        ...

    def radius(
        self, outputs: np.ndarray, norm: Literal["inf", 2], *, unit: Literal["raw", "delta"] = "raw"
    ) -> np.ndarray | None:
        """How far each row [n] may move before its decision can change, in units of the columns or multiples of δ; None
        where no rule is of this norm.
        """
        ...

    def encoded(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """Rows as the network sees them, [n, m]."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """Measured rows: inputs x [n, m] in raw units and, where the target is known, y [n, o] (classes as 0 and 1)."""

    x: np.ndarray
    y: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.x)


def rows_of(model: Reported, X: Any, y: Any = None) -> Rows:
    """The rows of a table X [n, columns] and their target y [n] or [n, o], checked against what the model knows."""
    x = model.encoded(X)
    if y is None:
        return Rows(x)
    values = _target(model, y, len(x))
    if pd.isna(values).any():
        row = int(np.argwhere(pd.isna(values))[0][0])
        raise SmileError(f"Row {row} of the target is missing; drop the row or fill it in.")
    return Rows(x, _codes(model, values) if model.task in ("binary", "multiclass") else _numbers(model, values))


def _target(model: Reported, y: Any, rows: int) -> np.ndarray:
    """A target [n], or [n, o] with the columns in the order of the outputs."""
    columns = list(model.outputs_.names) if model.task in ("regression", "multilabel") else []
    y = as_fitted(y, columns or [""], vars(model).get("target_units_", ()))  # models of other makers have none
    if isinstance(y, pd.DataFrame) and len(columns) > 1 and set(columns) <= set(map(str, y.columns)):
        y = y.set_axis([str(name) for name in y.columns], axis=1)[columns]
    values = np.asarray(y)
    if len(values) != rows:
        raise SmileError(f"Got {rows} rows and {len(values)} targets; give one target per row.")
    if values.ndim == 2 and values.shape[1] not in (1, len(columns)):
        raise SmileError(f"The target has {values.shape[1]} columns; the model predicts {len(columns) or 1}.")
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _codes(model: Reported, values: np.ndarray) -> np.ndarray:
    """Classes as 0 and 1 [n, 1], or one-hot [n, o]."""
    classes: np.ndarray = model.classes_  # type: ignore[attr-defined] # every classifier has them
    numeric = values.dtype.kind in "fiub" and classes.dtype.kind in "fiub"
    known, given = (classes, values) if numeric else (_texts(classes), _texts(values))
    hot = (given[:, None] == known[None, :]).astype(np.float64)
    unknown = sorted({str(value) for value in given[hot.sum(axis=1) == 0]})
    if unknown:
        names = " and ".join(repr(str(c)) for c in classes) if len(classes) == 2 else listed(map(str, classes), 12)
        raise SmileError(f"The target holds {listed(unknown, 4)}; the model knows the classes {names}.")
    return hot if model.task == "multiclass" else hot[:, 1:]


def _texts(values: np.ndarray) -> np.ndarray:
    return np.array([str(value) for value in values], dtype=object)


def _numbers(model: Reported, values: np.ndarray) -> np.ndarray:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise SmileError("The target holds text; this model predicts numbers.") from None
    bad = np.argwhere(~np.isfinite(numbers))
    if bad.size:
        raise SmileError(f"Row {int(bad[0][0])} of the target is {numbers[tuple(bad[0])]}; give a finite number.")
    if model.task == "quantiles":  # all are quantiles of the one target
        return np.repeat(numbers[:, None], len(model.outputs_.names), axis=1)
    return numbers.reshape(len(numbers), -1)
