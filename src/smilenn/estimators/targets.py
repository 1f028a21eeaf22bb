"""From a column (or several) to numbers that a network learns: what its outputs are called, and where they start.

task           y                       outputs                     loss             start
regression     numbers [n] or [n, o]   '' or the columns' names    squares          the means
quantiles      numbers [n]             q0.1, q0.5, …               pinball          the quantiles
binary         two classes [n]         '', the logit of the 2nd    cross-entropy    the log odds
multiclass     classes [n]             one a class, of its name    cross-entropy    the log shares
multilabel     0 and 1 [n, o]          the columns' names          cross-entropy    the log odds
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from smilenn.domain.table import shown
from smilenn.domain.target_cells import in_numbers
from smilenn.errors import SmileError, listed
from smilenn.estimators.checks import class_weights
from smilenn.estimators.levels import read_levels
from smilenn.properties.base import Property
from smilenn.properties.forms import ROLES, Outputs, class_name

if TYPE_CHECKING:
    from smilenn.train.losses import LossKind

MANY = 50  # classes up to which a target may have nearly as many as rows
FEW, MOST = 50, 150  # classes up to which rules on every margin are quick, and possible at all
TaskName = Literal["regression", "quantiles", "binary", "multiclass", "multilabel"]


@dataclass(frozen=True, eq=False)
class Target:
    """The target as numbers: y [n, o], what they are, and the outputs' size [o] and value [o] before anything is
    learned; `classes` where there are any, `levels` of quantiles; `units` of texts that were read as numbers.
    """

    y: np.ndarray
    task: TaskName
    outputs: Outputs
    classes: np.ndarray | None = None
    levels: tuple[float, ...] = ()
    scale: np.ndarray | None = None
    start: np.ndarray | None = None
    units: tuple[str, ...] = ()

    def called(self, name: str) -> Target:
        """The same target, known by the name of its column ('' without one) in sentences."""
        return replace(self, outputs=replace(self.outputs, target=name))

    @property
    def loss(self) -> LossKind:
        """What training minimises."""
        from smilenn.train.losses import Quantiles

        losses: dict[str, LossKind] = {"regression": "mse", "multiclass": "ce", "quantiles": Quantiles(self.levels)}
        return losses.get(self.task, "bce")

    @property
    def strata(self) -> np.ndarray:
        """The class of every row, [n] whole numbers; all the same where there are none."""
        if self.task == "multiclass":
            return self.y.argmax(axis=1)
        return self.y[:, 0].astype(int) if self.task == "binary" else np.zeros(len(self.y), dtype=int)


def class_names(classes: np.ndarray) -> tuple[str, ...]:
    """Classes as names of outputs: whole numbers without a point. Two classes never share a name."""
    names = tuple(map(class_name, classes))
    if len(set(names)) < len(names):
        raise SmileError(f"Two of the classes {listed(names, 20)} have the same name; rename one of them.")
    return names


# ---- numbers --------------------------------------------------------------------------------------------------------


def numbers(y: np.ndarray, names: Sequence[str], levels: Sequence[float] | None) -> Target:
    """A regression: y [n] or [n, o] of numbers, or of texts that are; with `levels` the quantiles of y [n]."""
    y, units = in_numbers(y, names)
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row = next(
            i for i, value in enumerate(np.asarray(y, dtype=object).reshape(len(y), -1)) if not _are_numbers(value)
        )
        raise SmileError(f"Row {row} of the target is {shown(str(y[row]))!r}; a regression needs numbers.") from None
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        raise SmileError(f"Row {int(bad[0][0])} of the target is {values[tuple(bad[0])]}; give a finite number.")
    if levels is None:
        called = tuple(names) if values.ndim == 2 else ("",)
        outputs = Outputs(called, role=ROLES["regression"])
        return Target(values.reshape(len(values), -1), "regression", outputs, units=units)
    wanted = read_levels(levels)
    if values.ndim == 2:
        raise SmileError(f"Quantiles are those of one target; y has {values.shape[1]} columns.")
    repeated = np.repeat(values[:, None], len(wanted), axis=1)
    outputs = Outputs(tuple(f"q{level:g}" for level in wanted), role=ROLES["quantiles"])
    return Target(repeated, "quantiles", outputs, levels=wanted, units=units)


def started_numbers(target: Target, weight: np.ndarray) -> Target:
    """Means (or quantiles) and spreads of the columns."""
    y, mean = target.y, np.average(target.y, weights=weight, axis=0)
    spread = np.sqrt(np.average((y - mean) ** 2, weights=weight, axis=0))
    if target.levels:
        order = np.argsort(y[:, 0], kind="stable")
        share = np.cumsum(weight[order]) / weight.sum()
        places = np.minimum(np.searchsorted(share, target.levels), len(y) - 1)
        mean = y[order[places], 0]
    return replace(target, scale=np.where(spread > 0, spread, 1.0), start=mean)


def _are_numbers(cells: np.ndarray) -> bool:
    try:
        cells.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


# ---- classes and labels ---------------------------------------------------------------------------------------------


def plain_labels(labels: np.ndarray) -> list[str | int | float]:
    """Classes [n] as values that a file keeps: neither dates nor bytes nor longer floats, for which this raises.

    A certificate covers what a file keeps.
    """
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
    dated = labels.dtype.kind in "mM"  # numpy lists those in nanoseconds as whole numbers
    odd = labels[:1] if dated else [label for label in plain if not isinstance(label, (str, int, float))]
    if len(odd):
        raise SmileError(
            f"Unknown label type: the target holds the class {shown(str(odd[0]))!r} ({type(odd[0]).__name__}); give "
            "numbers, strings or truth values."
        )
    return plain


def decisions(y: np.ndarray, names: Sequence[str]) -> Target:
    """A classification: y [n] of classes, or y [n, o] of labels that are 0 or 1."""
    if y.ndim == 2:
        return _labels(y, names)
    if y.dtype.kind == "f" and (y != np.rint(y)).any():
        raise SmileError(
            "Unknown label type: continuous. The target holds fractions; classify whole numbers or strings, or use "
            "SmileRegressor."
        )
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError):
        raise SmileError(
            "Unknown label type: the target mixes numbers and strings; give every class one kind of name."
        ) from None
    plain = plain_labels(classes)
    classes = np.array(plain, dtype=object) if classes.dtype == object else classes
    if len(classes) > max(MANY, len(y) / 2):
        raise SmileError(
            f"The target has {len(classes)} different values in {len(y)} rows, such as {listed(classes[:3])}: too many "
            f"to be classes; {_too_many(classes)}."
        )
    if len(classes) == 1:
        raise SmileError(f"The target has one class only, {str(classes[0])!r}; a classifier needs two.")
    called = class_names(classes)
    if len(classes) == 2:
        return Target(codes.astype(np.float64)[:, None], "binary", Outputs(("",), called), classes)
    return Target(np.eye(len(classes))[codes], "multiclass", Outputs(called, called), classes)


def refuse_margins(target: Target, properties: Iterable[Property]) -> None:
    """Refuse rules about every margin of very many classes: each is proved by itself, and their number is a square."""
    count = 0 if target.task != "multiclass" else len(target.outputs.classes)
    every = [item for item in properties if getattr(item, "output", "") is None] if count > FEW else []
    if not every:
        return
    who, margins = type(every[0]).__name__, count * (count - 1) // 2
    if count > MOST:
        raise SmileError(
            f"{who} is about every margin between two of {count} classes, and these are {margins:,}; merge classes, or "
            f"state the rule about one of them, such as {target.outputs.classes[0]!r}."
        )
    warnings.warn(
        f"{who} is about {margins:,} margins between {count} classes, each of which is proved and checked: that may "
        "take minutes, and a shorter limit leaves it uncertified; state the rule about one class if that is enough.",
        UserWarning,
        stacklevel=4,
    )


def _too_many(classes: np.ndarray) -> str:
    """What to do about a target that has nearly as many values as rows."""
    if classes.dtype.kind in "biuf":
        return "if it is a number, use SmileRegressor, and if not, merge rare values"
    return "merge rare values, or predict another column"


def _labels(y: np.ndarray, names: Sequence[str]) -> Target:
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        raise SmileError("Unknown label type: several columns of labels hold 0 and 1; these hold text.") from None
    bad = np.argwhere((values != 0) & (values != 1))
    if bad.size:
        row, column = bad[0]
        raise SmileError(
            f"Unknown label type: row {int(row)} of label {names[column]!r} is {values[row, column]:g}; several "
            "columns of a classifier's target are labels, each 0 or 1. Numbers are for SmileRegressor."
        )
    return Target(values, "multilabel", Outputs(tuple(names), role=ROLES["multilabel"]), np.arange(len(names)))


def with_positive(positive: Any, target: Target) -> Target:
    """The target with one of two classes as the one that rules with a direction are about, and sentences name."""
    if target.task != "binary":
        raise SmileError(
            "positive chooses one of two classes; with more, name the one a rule is about: Monotone(…, output=…)."
        )
    name = class_names(np.array([positive]))[0]
    if name not in target.outputs.classes:
        known = listed(target.outputs.classes)
        raise SmileError(f"positive is {positive!r}, which is not a class; the classes are {known}.")
    return replace(target, outputs=replace(target.outputs, positive=name))


def started_decisions(target: Target, wanted: Any, weight: np.ndarray) -> tuple[Target, np.ndarray]:
    """Log odds, or log shares, under the weights [n] times those of the classes; and these weights."""
    classes = target.classes
    assert classes is not None
    if target.task == "multilabel":
        if wanted is not None:
            raise SmileError("class_weight is for rows of one class each; weigh rows of labels by sample_weight.")
    else:
        weight = class_weights(target.strata, classes, wanted, weight)
        totals = np.bincount(target.strata, weights=weight, minlength=len(classes))
        empty = [classes[i] for i in np.flatnonzero(totals <= 0)]
        if empty:
            raise SmileError(
                "The weights leave rows of one class only; a classifier needs two."
                if len(classes) - len(empty) < 2
                else f"The weights leave no row of the class {listed(empty)}; drop its rows instead."
            )
    share = np.clip(np.average(target.y, weights=weight, axis=0), 1e-4, 1 - 1e-4)
    start = np.log(share) - np.log(1 - share) * (target.task != "multiclass")
    if target.task == "multiclass":
        start = start - start.mean()
    return replace(target, scale=np.ones(len(share)), start=start), weight
