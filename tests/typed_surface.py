"""The public surface as a user's program sees it; `make lint` checks this file in pyright's strict mode.

Strict mode refuses every name whose type is not fully known, so a public function that loses an annotation fails here.
The file is not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

import smilenn
from smilenn import (
    AlteredError,
    Bounded,
    Calibration,
    Certificate,
    Claim,
    ClampedClassifier,
    ClampedRegressor,
    Concave,
    Config,
    Convex,
    Counterexample,
    Custom,
    Domain,
    Dominates,
    Exclusive,
    Fair,
    Feature,
    Lipschitz,
    LocalRobust,
    Monotone,
    OneOf,
    Ordered,
    Progress,
    Property,
    Proved,
    Prover,
    Rejected,
    Robust,
    Safe,
    SavedNet,
    SmileClassifier,
    SmileError,
    SmileNet,
    SmileRegressor,
    SumAtMost,
    Symmetric,
    Unknown,
    Verdict,
    Violated,
    calibrate,
    certify_net,
    check,
    load,
    open_net,
    prove,
    register_property,
    show_versions,
)
from smilenn.properties.base import Name, Rename
from smilenn.properties.forms import Outputs


def rules() -> list[smilenn.Claim]:
    """Every property lowers to claims."""
    domain = Domain((Feature("x", "continuous", 0.0, 1.0), Feature("g", "category", categories=("a", "b"))))
    stated = [
        Monotone(increasing=["x"]),
        Robust(0.1, eps=1),
        Fair(["g"], eps=0.2),
        Lipschitz(["x"], bound=Fraction(1, 3)),
        Convex(["x"]),
        Concave(["x"]),
        Symmetric({"x": "y", "y": "x"}),
        Dominates("x", "y", output="good"),
        Bounded(0, Fraction(1, 2), output="good"),
        Ordered(["low", "high"]),
        Exclusive("cat", "dog"),
        SumAtMost(["rent", "food"], "0.9 * income"),
        LocalRobust([{"x": 0.5, "g": "a"}], {"x": 0.1}, eps=0.2),
        OneOf(["good", "fair"], when=["x >= 0.5"]),
        Safe(when=["a.x >= 1"], then=["a.out <= 2"]),
        Custom(when=["a.x >= b.x"], then=["a.out >= b.out"]),
    ]
    words: list[str] = [item.sentence() + item.formula() for item in stated]
    claims: list[Claim] = [claim for item in stated for claim in item.lower(domain)]
    return claims if words else []


def judged(verdict: Verdict) -> float:
    """Verdicts are told apart by their class."""
    match verdict:
        case Proved(certificate=name):
            return float(len(name))
        case Violated(counterexample=found):
            assert found is None or isinstance(found, Counterexample)
            return 0.0 if found is None else found.violation
        case Unknown(reason=reason) | Rejected(reason=reason):
            return float(len(reason))
        case _:
            return verdict.bound


def fitted(frame: pd.DataFrame, y: pd.Series, folder: Path) -> np.ndarray:
    """Estimators from constructor to report."""
    reg = SmileRegressor(properties=[Monotone(increasing=["x"])], config=Config(epochs=10), random_state=0)
    reg = reg.fit(frame, y, callback=lambda progress: told(progress))
    verdict: Verdict = reg.certify(time_limit=10.0)
    bound: float = reg.violation_bound_ + judged(verdict)
    statement: str = "" if reg.certificate_ is None else reg.certificate_.statement
    reg.save(folder)
    reg.report(folder / "r.html", frame, y, card=folder / "c.md", train=(frame, y), seconds=10.0)
    net: SmileNet = reg.net_
    inputs: np.ndarray = reg.encoded(frame)
    outputs: np.ndarray = net.predict(inputs)
    clf = SmileClassifier(properties=Fair(["g"], 0.2), class_weight="balanced").fit(frame, y)
    labels, certified = clf.predict_certified(frame)
    probability: np.ndarray = clf.predict_proba(frame)
    spread = SmileRegressor(quantiles=[0.1, 0.9]).fit(frame, y)
    names: tuple[str, ...] = spread.outputs_.names
    changes: np.ndarray = clf.largest_changes()
    assert len(names) + len(changes)
    warm: Calibration = calibrate(clf, frame, y)
    scaled: float = warm.eps(0.2) + warm.change(0.2) + clf.largest_change() + bound + len(statement)
    return outputs + labels + certified + probability + scaled + warm.probability(clf.decision_function(frame))


def clamped(model: object, domain: Domain, frame: pd.DataFrame, y: pd.Series) -> np.ndarray:
    """Wrappers of models that somebody else trained."""
    first = ClampedClassifier(model, protected=["g"], eps=0.5, domain=domain).fit(frame, y)
    second = ClampedRegressor(model, protected=["g"], eps=0.5, domain=domain).fit(frame, y)
    guess: np.ndarray = second.predict(frame)
    return guess + first.predict(frame)


@register_property
@dataclass(frozen=True)
class Own(Property):
    """Your own property."""

    feature: Name
    kind = "typed.own"

    def claims(self, domain: Domain, outputs: Outputs) -> Sequence[Claim]:
        """The claims of another one."""
        return Monotone(increasing=[self.feature]).claims(domain, outputs)

    def renamed(self, rename: Rename) -> Self:
        """With the domain's names."""
        return replace(self, feature=rename(self.feature))

    def sentence_about(self, output: str) -> str:
        """In words."""
        return f"{output} rises with {self.feature}."


def own_parts(net: SmileNet, prover: Prover, folder: Path) -> Certificate | None:
    """Your own network, property and prover."""
    saved: SavedNet = certify_net(net, [Own("x")], folder, time_limit=5.0, overwrite=True)
    again: SavedNet = open_net(folder)
    verdict: Verdict = prove(net, [Own("x")], prover=prover)
    words: str = saved.verdict.sentence() + again.verdict.sentence() + verdict.sentence()
    return again.certificate if words else None


def told(progress: Progress) -> None:
    """What a callback is told."""
    text: str = f"{progress.phase} {progress.numbers}"
    assert text


def from_files(folder: Path) -> str:
    """Checking, loading and proving."""
    try:
        model = load(folder)
    except AlteredError:
        return "altered"
    except SmileError:
        return "unreadable"
    verdict: Verdict = check(folder, reference=True)
    again: Verdict = prove(model, [Monotone(decreasing=["x"])], time_limit=5.0)
    show_versions()
    return verdict.sentence() + again.sentence() + smilenn.__version__
