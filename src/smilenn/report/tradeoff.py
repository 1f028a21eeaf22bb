"""Accuracy against guarantee: the model beside references that promise less, more, or nothing.

    constant        the best constant: obeys every rule that compares outputs
    no rules        an ordinary network of the same size
    unaware         the same, without the protected columns (where a rule names some)
    ε·½, ε·2        the model's own recipe and rules, tighter and looser (where a rule has an ε); further values of ε
                    between and below these as long as time is left

References are trained only when asked, each within its share of the time. Every model is measured on the same rows;
`variation` is the largest left side found by the probe of the model's first ε-rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import Any

from sklearn.base import clone

from smilenn.certify.statement import claim_sentence
from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes
from smilenn.properties.recognise import bounded_change
from smilenn.report.model import Reported, Rows, rows_of
from smilenn.report.ordinary import ordinary
from smilenn.report.probe import Function, probe
from smilenn.report.quality import Estimate, Metric, measure

FACTORS = (0.5, 2.0)  # times ε
MORE = (0.25, 1.5, 0.75)  # the same, where the time of the slowest model so far is left
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
    """All models on one chart; `metric` names the quality, `rule` the rule whose ε is the guarantee."""

    metric: str
    rule: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Rule:
    """A claim with an ε."""

    claim: Claim
    change: Changes


def epsilon_rules(model: Reported) -> list[Rule]:
    """The claims that bound a change by an ε, as `Fair` and `Robust` do."""
    found = [(claim, bounded_change(claim, model.outputs_, model.domain_)) for claim in model.claims_]
    return [Rule(claim, change) for claim, change in found if change is not None]


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
    begun, own, known = perf_counter(), own_points(model, rows), rows_of(model, *train)
    assert known.y is not None
    protected, scaled = _protected(model), _other_eps(model)
    plain = [("no rules", "free", ()), ("unaware", "unaware", protected)][: 2 if protected else 1]
    share, points = seconds / (len(plain) + (len(FACTORS) if scaled else 0)), list(own.points)

    def tell(name: str) -> None:
        if callback is not None:
            callback(Progress("references", len(points) - 2, len(plain) + len(scaled), message=name))

    for name, kind, dropped in plain:
        tell(name)
        net = ordinary(model, known, dropped, seconds=share)
        points.append(Point(name, kind, None, measured(model, rows, net).model, variation(net, model, rows), "none"))
    slowest, first = 0.0, len(points)
    for eps, factor in zip(scaled, (*FACTORS, *MORE), strict=False):
        now = perf_counter()
        left = begun + seconds - now
        if factor in MORE and left <= slowest:
            break
        tell(f"ε = {eps:g}")
        other = _fresh(model, _scaled(model, factor), share if factor in FACTORS else min(share, left)).fit(*train)
        points.append(_other(model, rows, other, eps))
        slowest = max(slowest, perf_counter() - now)
    points[first:] = sorted(points[first:], key=lambda point: point.eps or 0.0)
    return replace(own, points=tuple(points))


def _other(model: Reported, rows: Rows, other: Any, eps: float) -> Point:
    """The model's recipe fitted with another ε, measured."""
    accepted = other.certificate_ is not None and other.certificate_.accepted
    quality, found = measured(model, rows, other.net_).model, variation(other.net_, model, rows)
    return Point(f"ε = {eps:g}", "other", eps, quality, found, "certified" if accepted else other.verdict_.status)


def _protected(model: Reported) -> tuple[str, ...]:
    """The columns that some ε-rule frees."""
    return tuple(dict.fromkeys(name for rule in epsilon_rules(model) for name in rule.change.free))


def _other_eps(model: Reported) -> list[float]:
    """The ε of the first ε-rule times each of the factors; none without such a rule, or where its ε is 0."""
    rules = epsilon_rules(model)
    eps = rules[0].change.eps if rules else 0
    return [float(eps) * factor for factor in (*FACTORS, *MORE)] if eps else []


def _scaled(model: Reported, factor: float) -> list[Claim]:
    """The claims of the model, every ε times a factor."""
    changed = [rule.claim for rule in epsilon_rules(model)]
    return [
        replace(claim, then=tuple(replace(row, rhs=row.rhs * Fraction(factor)) for row in claim.then), sentence="")
        if claim in changed
        else claim
        for claim in model.claims_
    ]


def _fresh(model: Reported, rules: Sequence[Claim], share: float) -> Any:
    """An unfitted estimator with the model's own recipe and domain, other rules and bounded time."""
    other: Any = clone(model)  # type: ignore[type-var] # every reported model is an estimator
    return other.set_params(
        properties=tuple(rules),
        increasing=(),
        decreasing=(),
        monotonic_cst=None,
        domain=model.domain_,
        random_state=0,
        time_limit=max(1.0, 0.7 * share),
        certify_limit=max(1.0, 0.3 * share),
        verbose=0,
    )
