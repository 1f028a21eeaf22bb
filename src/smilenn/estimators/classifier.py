"""`SmileClassifier`: classes or labels, decided by logits with proved properties.

two classes       one logit f:                  the second where f > 0
more classes      one logit f_i a class:        the largest wins; properties are about margins f_i − f_j
labels [n, o]     one logit f_i a label:        yes where f_i > 0, each for itself
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from sklearn.base import ClassifierMixin

from smilenn.domain import Domain, OutOfBounds
from smilenn.domain.target_cells import warn_of_classes
from smilenn.errors import SmileError, listed
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.missing import Missing, Unknown
from smilenn.estimators.options import Columns, Network
from smilenn.estimators.outside import Outside
from smilenn.estimators.parameters import stored
from smilenn.estimators.radius import (
    COLUMNS,
    Norm,
    Steps,
    Unit,
    blocking,
    check_norm,
    least_radius,
    radii,
    reaching,
    refuse_blocked,
    refuse_without_steps,
    sizes_of,
    steps_of,
)
from smilenn.estimators.reject import accepted, with_rejections
from smilenn.estimators.rules import LOGIT_EPS, Directions, Names, Stated
from smilenn.estimators.stability import largest_changes, refuse_unbounded, stable
from smilenn.estimators.targets import (
    Target,
    TaskName,
    class_names,
    decisions,
    refuse_margins,
    started_decisions,
    with_positive,
)
from smilenn.properties.base import read_number
from smilenn.properties.claim import Claim
from smilenn.properties.recognise import limits_change
from smilenn.recourse.goal import Goal, class_goal, label_goal
from smilenn.recourse.reasons import reasons
from smilenn.recourse.recourse import Change, Recourse, recourse
from smilenn.sigmoid import probability
from smilenn.train.config import Config

if TYPE_CHECKING:
    import pandas as pd


class SmileClassifier(ClassifierMixin, SmileEstimator):
    """Classification with properties that hold everywhere on the domain.

    Parameters are those of `SmileEstimator`. With two classes properties are about the logit of ``classes_[1]``: ε on
    it is an odds ratio of e^ε and a change of the probability by at most tanh(ε/4). With more they are about the
    margins between two classes, and those with a direction (`Monotone`) name a class: ``output="good"``. A target of
    several columns of 0 and 1 is labels, one logit each. A `Robust` without eps gets ε = 1. Scaling the logits, as
    calibration does, scales ε along: after multiplying them by c the same rules hold with c·ε.

    class_weight : class → weight of its rows, ``balanced`` for equal totals; multiplied with ``sample_weight``.
    positive : the class of two whose log-odds rules with a direction (`increasing`, `Monotone`, `Bounded`, …) are about
        if they name none. None is ``classes_[1]``; a claim in formulas stays as it is. `decision_function`
        and `predict_proba` do not depend on it.
    """

    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    positive: Any

    @stored
    def __init__(
        self,
        *,
        properties: Stated = (),
        increasing: Names = (),
        decreasing: Names = (),
        monotonic_cst: Directions = None,
        domain: Domain | Columns | Mapping[str, Any] | None = None,
        network: Network | None = None,
        config: Config | None = None,
        missing: Missing = "indicator",
        unknown: Unknown = "other",
        out_of_bounds: Outside = "auto",
        time_limit: float | None = None,
        certify_limit: float = 60.0,
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        positive: Any = None,
    ) -> None:
        """Store the parameters."""

    def _default_eps(self) -> float:
        return LOGIT_EPS

    def __sklearn_tags__(self) -> Any:
        """Classes and labels."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @property
    def task(self) -> TaskName:
        """``binary``, ``multiclass`` or ``multilabel``; ``binary`` before `fit`."""
        if "outputs_" not in vars(self) or len(self.outputs_.names) == 1:
            return "binary" if "outputs_" not in vars(self) or self.outputs_.classes else "multilabel"
        return "multiclass" if self.outputs_.classes else "multilabel"

    def read_target(self, y: np.ndarray, names: Sequence[str]) -> Target:
        """The target y [n] of classes, or [n, o] of labels (called `names`), as numbers."""
        target = decisions(y, names)
        refuse_margins(target, self.all_properties())
        return target if self.positive is None else with_positive(self.positive, target)

    def _usual_output(self) -> str | None:
        return None if self.positive is None else class_names(np.array([self.positive]))[0]

    @property
    def positive_class(self) -> str:
        """The class of two that rules with a direction are about unless they name one, as it is called in sentences.

        Empty for several classes and for labels.
        """
        return self._usual_output() or (self.outputs_.classes[1] if len(self.outputs_.classes) == 2 else "")

    def _start(self, target: Target, weight: np.ndarray) -> tuple[Target, np.ndarray]:
        if target.classes is not None:
            warn_of_classes(target.classes, stacklevel=4)
        return started_decisions(target, self.class_weight, weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits, float64: of ``classes_[1]`` [n], of each class or label [n, o]."""
        return self.outputs(X)

    def predict(self, X: Any) -> np.ndarray:
        """Classes [n]: ``classes_[1]`` where the logit is positive, or that of the largest; labels [n, o], 0 or 1."""
        return self.decided(self.outputs(X))

    def decided(self, logits: np.ndarray) -> np.ndarray:
        """The decisions that logits [n] or [n, o] mean."""
        if self.task == "multilabel":
            return (logits > 0).astype(int)
        return self.classes_[(logits > 0).astype(int) if logits.ndim == 1 else logits.argmax(axis=1)]

    def predict_certified(
        self, X: Any, delta: float | str | None = None, norm: Norm = "inf"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Class labels [n], and [n] bool: which of them no change that the properties cover can flip.

        Of all `Robust` and `Fair` properties together: True means that every input within δ of the row, and every one
        that differs in the protected features alone, gets the same label. It rests on the checked bounds of
        ``certificate_``; without one every entry is False. Of several labels both are [n, o], each label by itself.

        With `delta`, in the units of the columns, True means that every input whose continuous columns lie within delta
        of the row's, in this `norm`, gets the same label: those rows whose `certified_radius` is delta or more.
        """
        check_norm(norm)
        if delta is not None:
            asked = read_number(delta, "predict_certified", "delta", sign="positive")
            steps = reaching(self._stated_steps(norm, "raw"), asked)
            return self.predict(X), self._radius(self.outputs(X), steps, self.outside_) >= least_radius(asked)
        logits = self.outputs(X)
        return self.decided(logits), stable(logits, self.largest_changes(), margins=self.task == "multiclass")

    def predict_or_reject(self, X: Any, rejected: Any = None) -> np.ndarray:
        """Class labels [n], and `rejected` where the model gives no answer: by default -1, or "rejected" for text.

        No two rows that a certified `Robust` or `Fair` property relates, such as two within δ, get two different labels
        (reject.py). Without a certificate every row is rejected.
        """
        self._refuse_labels("Rejecting a row needs one label per row")
        logits = self.outputs(X)
        kept = accepted(logits, self.largest_changes(), margins=self.task == "multiclass")
        return with_rejections(self.decided(logits), kept, self.classes_, rejected)

    def accepted(self, outputs: np.ndarray) -> np.ndarray | None:
        """Which rows behind logits [n, o] `predict_or_reject` answers, [n]; None of labels, or without such a rule."""
        if self.task == "multilabel" or not self.changing_claims():
            return None
        logits = outputs[:, 0] if outputs.shape[1] == 1 else outputs
        return accepted(logits, self.largest_changes(), margins=self.task == "multiclass")

    def _refuse_labels(self, what: str) -> None:
        self._check_fitted()
        if self.task == "multilabel":
            raise SmileError(f"{what}; this model predicts several labels.")

    def certified_radius(self, X: Any, norm: Norm = "inf", *, unit: Unit = "raw") -> np.ndarray:
        """How far each row may move before its label can change, [n]; 0 if not at all.

        The continuous columns move, all others stay as they are. `norm` is "inf", each column by itself, or 2, all
        together. Every `Robust` of that norm with a delta for all continuous columns counts, by whole multiples of its
        delta (radius.py): state a small delta for fine steps, or ``Robust(…, steps=64)``. Images have such steps.

        `unit` is "raw", the units of the columns, for properties with one delta for all of them; or "delta", multiples
        of the first such property's deltas, which may differ by column as those of ``Robust("5%")`` do.

        A delta means the decimal it is written as: where one step is certified and delta is 0.1, the radius is the
        float 0.1 and the promise is about one tenth exactly, as that of `predict_certified` is. Several steps are
        rounded down, so three steps of 0.1 are a little less than 0.3.
        """
        check_norm(norm)
        if unit not in get_args(Unit):
            raise SmileError(f"unit is {unit!r}; choose 'raw' or 'delta'.")
        return self._radius(self.outputs(X), self._stated_steps(norm, unit), self.outside_)

    def radius(
        self, outputs: np.ndarray, norm: Norm, outside: OutOfBounds | None = None, *, unit: Unit = "raw"
    ) -> np.ndarray | None:
        """The same behind logits [n, o], with `outside` as in `largest_changes`; None of labels, or where no property
        is of this norm and unit.
        """
        steps = [] if self.task == "multilabel" else self._steps(norm, unit)
        logits = outputs[:, 0] if outputs.shape[1] == 1 else outputs
        return self._radius(logits, steps, self.outside_ if outside is None else outside) if steps else None

    def _stated_steps(self, norm: Norm, unit: Unit) -> list[Steps]:
        """The steps; an error where no property has any, or rows have several labels."""
        self._refuse_labels("A certified radius needs one label per row")
        steps = self._steps(norm, unit)
        if not steps and (moved := blocking(self.changing_claims(), self.outputs_, self.domain_, norm)):
            refuse_blocked(moved, self.domain_, norm)
        other: Norm = "inf" if norm == 2 else 2
        if not steps and self._steps(other, unit):
            raise SmileError(f"The certified property is of another norm; give norm={other!r}.")
        refuse_without_steps(steps, norm, several=unit == "raw" and bool(self._steps(norm, "delta")))
        return steps

    def _steps(self, norm: Norm, unit: Unit) -> list[Steps]:
        claims, scale = self.changing_claims(), None
        if unit == "delta":
            sizes = (sizes_of(claim, self.outputs_, self.domain_, norm) for claim in claims)
            scale = next((found for found in sizes if found), None)
        found = [steps_of(claim, self.outputs_, self.domain_, norm, scale) for claim in claims]
        return [one for one in found if one is not None]

    def _radius(self, logits: np.ndarray, steps: Sequence[Steps], outside: OutOfBounds) -> np.ndarray:
        return self._radius_rule(steps, outside)(logits)

    def _radius_rule(self, steps: Sequence[Steps], outside: OutOfBounds) -> Callable[[np.ndarray], np.ndarray]:
        """From logits [n] or [n, o] to radii [n], by the bounds as they are checked now."""
        certificate, margins = self._judged().certificate, self.task == "multiclass"
        bounds = [largest_changes(certificate, [s.claim], self.outputs_, self.domain_, outside) for s in steps]

        def rule(logits: np.ndarray) -> np.ndarray:
            found = [radii(logits, bound, one, margins=margins) for bound, one in zip(bounds, steps, strict=True)]
            return np.max([np.zeros(len(logits)), *found], axis=0)

        return rule

    def radius_rules(self, outside: OutOfBounds | None = None) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """How radii follow from logits [n] or [n, o], by what they are called beside predictions; for many calls.

        ``radius`` and ``radius_2`` by the norm, in units of the columns; ``…_in_deltas`` where these have several
        deltas; nothing of labels, or where no property has any.
        """
        found, way = {}, self.outside_ if outside is None else outside
        for norm, name in COLUMNS.items() if self.task != "multilabel" else ():
            raw = self._steps(norm, "raw")
            steps = raw or self._steps(norm, "delta")
            if steps:
                found[name if raw else f"{name}_in_deltas"] = self._radius_rule(steps, way)
        return found

    def stable_rows(self, outputs: np.ndarray) -> np.ndarray | None:
        """Which decisions behind logits [n, o] no change that `Robust` and `Fair` cover can flip, [n] (of labels:
        none of them); None where no such rule was stated.
        """
        if not self.changing_claims():
            return None
        logits = outputs[:, 0] if outputs.shape[1] == 1 else outputs
        found = stable(logits, self.largest_changes(), margins=self.task == "multiclass")
        return found if found.ndim == 1 else np.asarray(found.all(axis=1))

    def largest_change(self) -> float:
        """Checked bound on how far a logit, or a margin between classes, moves by any change that a `Robust` or `Fair`
        property covers; or ∞.
        """
        return float(self.largest_changes().max())

    def largest_changes(self, outside: OutOfBounds | None = None) -> np.ndarray:
        """The same for each logit [o], or of several classes for each margin [o, o].

        `outside` is what will happen to rows outside the domain, if it is not what `predict` does: where they raise, a
        bound need not hold for them.
        """
        claims = self.changing_claims()
        if not claims:
            refuse_unbounded(self.claims_, self.outputs_, self.domain_)
        judgement = self._judged()
        way = self.outside_ if outside is None else outside
        known = vars(self).get("_known_changes")
        if known is None or known[0] is not judgement or known[1] != (claims, way):
            # bounding the margins of many classes takes longer than predicting a row
            found = largest_changes(judgement.certificate, claims, self.outputs_, self.domain_, way)
            known = self._known_changes = judgement, (claims, way), found
        return known[2].copy()

    def changing_claims(self) -> tuple[Claim, ...]:
        """The claims that bound how far outputs change, as `Robust` and `Fair` do, by name or by hand."""
        self._check_fitted()
        return tuple(c for c in self.claims_ if limits_change(c, self.outputs_, self.domain_))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities: of the classes [n, classes], of the labels [n, o].

        Of two classes, and of labels, they rise with the log-odds bit for bit (sigmoid.py): what is certified of the
        direction of the log-odds holds for the probability. Of several classes they are a softmax, up to rounding.
        """
        return self.probabilities(self.outputs(X))

    def recourse(self, row: Any, *, change: Change, to: Any = None, at_least: float | None = None) -> Recourse:
        """The smallest change of one row that flips its label, along directions that are certified to help.

        `change` says what may move: feature → ``up``, ``down`` or the furthest value. `to` is the class (label) that is
        wanted, of two classes the positive one if None; `at_least` asks for a probability of it. Any larger change of
        the same kind helps too: that is certified.
        """
        self._check_fitted()
        return recourse(self, row, self._goal(to, at_least), change)

    def reasons(self, row: Any, *, to: Any = None, at_least: float | None = None) -> pd.DataFrame:
        """What each feature alone could gain for one row, the most first, in log-odds, and whether that is proved."""
        self._check_fitted()
        return reasons(self, row, self._goal(to, at_least))

    def _goal(self, to: Any, at_least: float | None) -> Goal:
        if to is None and self.task != "binary":
            known = listed(self.outputs_.classes or self.outputs_.names)
            raise SmileError(f"Say what is wanted, to=…: one of {known}.")
        wanted = self.positive_class if to is None else class_names(np.array([to]))[0]
        if self.task == "multilabel":
            return label_goal(self.outputs_, wanted, at_least, self.probabilities)
        return class_goal(self.outputs_, wanted, at_least, self.probabilities)

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """The probabilities that logits [n] or [n, o] mean."""
        if self.task == "multiclass":
            return softmax(logits)
        positive = probability(logits)
        return positive if self.task == "multilabel" else np.stack([1.0 - positive, positive], axis=1)


def softmax(logits: np.ndarray) -> np.ndarray:
    """e^f_i / Σ e^f_j without overflow, [n, o]."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)
