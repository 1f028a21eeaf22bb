"""Where the data's own trend contradicts a rule: a feature that rises with the target and must fall, or vice versa.

    ρ = rank correlation (Spearman) of the feature with what the rule is about;  |ρ| > 0.1 and p < 0.01

A rule is about one change at a time and ρ about all the rows together, so both may be right. More often the column, the
direction or the class was mixed up, and a certificate would then vouch for the opposite of what was meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from smilenn.domain import Domain
from smilenn.estimators.leak import LeakWarning, copies
from smilenn.estimators.targets import Target
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Linear, Rises
from smilenn.properties.recognise import meaning
from smilenn.report.standing import spaced

CLEAR, CHANCE = 0.1, 0.01  # the least |ρ| and the largest p that are worth a warning
MOST_ROWS = 10_000


class TrendWarning(UserWarning):
    """The data rise where a rule says fall, or vice versa."""


@dataclass(frozen=True)
class Contradiction:
    """`feature` must raise (or lower) `what`, but their rank correlation `rho` has the other sign.

    `other` is the other class of two, '' where there are none.
    """

    feature: str
    raises: bool
    what: str
    rho: float
    other: str = ""

    def sentence(self, *, options: bool = False) -> str:
        """What to think about, with Python's parameters or the command line's `options`."""
        seen, asked = ("fall", "rise") if self.raises else ("rise", "fall")
        way = "decreasing" if self.raises else "increasing"
        instead = f"--{way} {self.feature}" if options else f"{way}=[{self.feature!r}]"
        positive = f"--positive {self.other}" if options else f"positive={self.other!r}"
        hint = f"{instead}, or {positive}" if self.other else instead
        return (
            f"The data {seen} with {self.feature!r} where the rule says {asked} (rank correlation {self.rho:.2f} with "
            f"{self.what}): did you mean {hint}?"
        )


def contradictions(claims: Sequence[Claim], domain: Domain, x: np.ndarray, target: Target) -> list[Contradiction]:
    """Features of inputs x [n, m] (raw units) whose trend in the target contradicts a rule with a direction."""
    rows = spaced(len(x), MOST_ROWS)
    found: dict[tuple[str, str], Contradiction] = {}
    for claim in claims:
        rule = meaning(claim, target.outputs, domain)
        if not isinstance(rule, Rises):
            continue
        for form, what in _subject(rule.forms, target):
            values = sum(float(c) * target.y[rows, target.outputs.names.index(name)] for c, name in form)
            for feature, sign in [*((name, 1) for name in rule.up), *((name, -1) for name in rule.down)]:
                rho = _correlation(x[rows, domain.slices[feature]][:, 0], np.asarray(values))
                if sign * rho < 0:
                    found.setdefault((feature, what), Contradiction(feature, sign > 0, what, rho, _other(form, target)))
    return list(found.values())


def warn_of_rows(claims: Sequence[Claim], domain: Domain, x: np.ndarray, target: Target) -> None:
    """Say where training rows x [n, m] contradict a rule, or hold the target as a column (leak.py)."""
    for found in contradictions(claims, domain, x, target):
        warnings.warn(found.sentence(), TrendWarning, stacklevel=3)
    for sentence in copies(domain, x, target):
        warnings.warn(sentence, LeakWarning, stacklevel=3)


def _subject(forms: Sequence[Linear], target: Target) -> list[tuple[Linear, str]]:
    """The forms with their words; the margins of one class over the others are its own indicator."""
    leads = {tuple(term for term in form if term[0] > 0) for form in forms}
    if target.task == "multiclass" and len(leads) == 1:
        lead = leads.pop()
        return [(lead, f"the class {lead[0][1]!r}")]
    return [(form, _observed(form, target)) for form in forms]


def _observed(form: Linear, target: Target) -> str:
    """What the rows have of a form: a class, a label, or the target itself."""
    outputs = target.outputs
    if target.task == "binary":
        called = repr(outputs.classes[1 if form[0][0] > 0 else 0])
        return f"{outputs.target!r} = {called}" if outputs.target else called
    name = outputs.target if target.task == "quantiles" else form[0][1] or outputs.target
    return repr(name) if len(form) == 1 and name else "the target"


def _other(form: Linear, target: Target) -> str:
    """The class of two that the form does not raise."""
    return target.outputs.classes[0 if form[0][0] > 0 else 1] if target.task == "binary" else ""


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Their rank correlation where it is clear, else 0."""
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    rho, p = spearmanr(one, other)
    return float(rho) if abs(rho) > CLEAR and p < CHANCE else 0.0
