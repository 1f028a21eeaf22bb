"""Accuracy against guarantee: the model beside references that promise less, more, or nothing.

    constant        the best constant: obeys every rule that compares outputs
    without rules   the same model without the rules: its recipe and settings
    unaware         the same, without the protected columns (where a rule names some)
    ε·½, ε·2        the model's own recipe and rules, tighter and looser (where a rule has an ε)

References are trained only when asked, each within its share of the time. Every model is measured on the same rows;
`variation` is the largest left side found by the probe of the model's first ε-rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

from smilenn.certify.statement import claim_sentence
from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.report.model import Reported, Rows, rows_of
from smilenn.report.probe import Function, probe
from smilenn.report.quality import Estimate, Metric, measure
from smilenn.report.references import Reference, Rule, epsilon_rules, references

PROBED = 200  # rows around which variation is looked for


@dataclass(frozen=True)
class Point:
    """One model: what it guarantees (ε; None if nothing), its quality, the variation found, and what it is."""

    name: str
    kind: str
    eps: float | None
    quality: Estimate
    variation: float | None
    status: str


@dataclass(frozen=True)
class Tradeoff:
    """All models on one chart; `metric` names the quality, `rule` the rule whose ε is the guarantee.

    `notes` are sentences on the references; empty where none were asked for.
    """

    metric: str
    rule: str
    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()


def epsilon_rule(model: Reported) -> Rule | None:
    """The first of them."""
    return next(iter(epsilon_rules(model)), None)


def own_points(model: Reported, rows: Rows) -> Tradeoff:
    """The model and the best constant on measured rows; nothing is trained."""
    assert rows.y is not None
    rule = epsilon_rule(model)
    quality = measured(model, rows)
    status = (
        "certified" if model.verdict_.status == "proved" and model.certificate_ is not None else (model.verdict_.status)
    )
    eps = None if rule is None else float(rule.change.eps)
    name = "this model" if eps is None else f"this model, ε = {eps:g}"
    ours = Point(name, "model", eps, quality.model, variation(model.net_, model, rows), status)
    idle = Point("constant", "constant", None, Estimate(quality.constant), 0.0, "no rule needed")
    return Tradeoff(quality.name, "" if rule is None else _guarantee(model, rule.change.eps), (ours, idle))


def _guarantee(model: Reported, eps: Fraction) -> str:
    """The claims that bound a change by ε, in words."""
    same = [rule.claim for rule in epsilon_rules(model) if rule.change.eps == eps]
    return " ".join(claim_sentence(claim, model.outputs_, model.domain_) for claim in same)


def measured(model: Reported, rows: Rows, net: Function | None = None) -> Metric:
    """The headline metric on the rows: of the model's network, or of another function of the same inputs."""
    assert rows.y is not None
    output = (model.net_ if net is None else net).predict(rows.x)
    found = measure(rows.y, output, model.domain_, rows.x, task=model.task, names=model.outputs_.names)
    return found.metrics[0]


def variation(net: Function, model: Reported, rows: Rows) -> float | None:
    """The largest left side of the model's first ε-rule that `net` shows around the rows; None without such a rule."""
    rule = epsilon_rule(model)
    if rule is None:
        return None
    found = probe(net, rule.claim, rows.x[:PROBED])
    row = rule.claim.rows[0]
    size = next(abs(term.coef) for term in row.terms if term.kind == "out" and term.copy == 0)
    return float(found.value.max() + float(row.rhs)) / float(size) if len(found.value) else None


def with_references(
    model: Reported,
    rows: Rows,
    train: tuple[Any, Any],
    *,
    seconds: float,
    callback: Callable[[Progress], None] | None = None,
) -> Tradeoff:
    """`own_points` and the references, trained on `train` (X, y) within `seconds` in all."""
    if not seconds > 0:
        raise SmileError(f"References need more than 0 seconds, not {seconds}.")
    known, until = rows_of(model, *train), perf_counter() + seconds  # a target that does not fit is said first
    own, wanted = own_points(model, rows), references(model)
    points, late = list(own.points), list[str]()
    for i, one in enumerate(wanted):
        if callback is not None:
            callback(Progress("references", i, len(wanted), message=one.name))
        left = until - perf_counter()
        if i and left <= 0:
            late.append(one.name)
            continue
        fitted = one.fit(model, train, left / (len(wanted) - i))
        quality, found = measured(model, rows, fitted.net).model, variation(fitted.net, model, rows)
        points.append(Point(one.name, one.kind, one.eps, quality, found, fitted.status))
    return replace(own, points=tuple(points), notes=_notes(wanted, late, _seen_again(rows, known), len(rows)))


def _notes(wanted: Sequence[Reference], late: Sequence[str], again: int, rows: int) -> tuple[str, ...]:
    """What the references are, which were left out, and which rows they had seen."""
    if not wanted:
        return ("No rules were stated, so there is no model without them to compare with.",)
    said = {
        "References were trained for this report and share its time limit.": True,
        f"The model called 'without rules' is {wanted[0].what}.": True,
        "The one called 'unaware' has no rules either, and does not see the protected columns.": any(
            one.kind == "unaware" for one in wanted
        ),
        "Those with another ε have the model's settings and rules.": any(one.kind == "other" for one in wanted),
        f"There was no time left for: {', '.join(late)}.": late,
        f"{again} of the {rows} rows measured here equal rows that the references were trained on; expect all figures "
        "to be lower on new rows.": again,
    }
    return tuple(sentence for sentence, applies in said.items() if applies)


def _seen_again(rows: Rows, known: Rows) -> int:
    """How many rows, targets included, are among the known ones too."""
    assert rows.y is not None and known.y is not None
    trained = {hash(row.tobytes()) for row in np.hstack([known.x, known.y])}
    return sum(hash(row.tobytes()) in trained for row in np.hstack([rows.x, rows.y]))
