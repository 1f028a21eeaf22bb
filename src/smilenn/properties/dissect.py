"""A claim taken apart: what its premise leaves to two copies, and its conclusion as rows over linear forms.

The premise of two copies a and b becomes

    strips     lo ≤ a.x − b.x ≤ hi             from rows over one feature of both copies
    fixed      b.x == v                        from rows over one feature of one copy
    tied       everything else

and the conclusion of k copies becomes rows ``g·(w_1, …, w_k) + inputs ≤ r`` where g is one linear form of the outputs
and w the weight of each copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.meaning import Linear

Bounds = list[Fraction | None]  # least and largest a − b


@dataclass(frozen=True)
class Premise:
    """A premise of two copies, taken apart; names are features of the domain, or as the rows have them without one."""

    strips: dict[str, Bounds]
    fixed: tuple[tuple[str, Fraction], ...]
    tied: tuple[Inequality, ...]
    free: tuple[str, ...]
    held: frozenset[str]  # features that `equal` pins


@dataclass(frozen=True)
class Conclusion:
    """One row ``form·weights + inputs ≤ rhs``: weights [k] of the copies, inputs by (copy, name)."""

    form: Linear
    weights: tuple[Fraction, ...]
    inputs: dict[tuple[int, str], Fraction]
    rhs: Fraction


def conclusion_of(row: Inequality, copies: int) -> Conclusion | None:
    """The row with its outputs as one form; None where the copies' outputs are no multiples of each other."""
    outs: list[dict[str, Fraction]] = [{} for _ in range(copies)]
    inputs: dict[tuple[int, str], Fraction] = {}
    for term in row.terms:
        if term.kind == "out":
            outs[term.copy][term.name] = outs[term.copy].get(term.name, Fraction(0)) + term.coef
        else:
            inputs[term.copy, term.name] = inputs.get((term.copy, term.name), Fraction(0)) + term.coef
    outs = [{name: coef for name, coef in out.items() if coef} for out in outs]
    inputs = {key: coef for key, coef in inputs.items() if coef}
    first = next((out for out in outs if out), None)
    if first is None:
        return None
    scale = abs(next(iter(first.values())))
    form = {name: coef / scale for name, coef in first.items()}
    weights = []
    for out in outs:
        weight = Fraction(0) if not out else out.get(next(iter(form)), Fraction(0)) / next(iter(form.values()))
        if out != {name: weight * coef for name, coef in form.items() if weight}:
            return None
        weights.append(weight)
    return Conclusion(tuple((coef, name) for name, coef in form.items()), tuple(weights), inputs, row.rhs)


def premise_of(claim: Claim, domain: Domain | None) -> Premise | None:
    """The premise of two copies; None where it cannot be read."""
    if domain is None and (claim.equal or claim.others == "free"):
        return None
    strips: dict[str, Bounds] = {}
    fixed: list[tuple[str, Fraction]] = []
    tied: list[Inequality] = []
    for row in claim.when:
        found = _difference(row)
        if found is not None:
            _narrow(strips.setdefault(row.terms[0].name, [None, None]), found, row)
        elif len(row.terms) == 1 and row.op == "==" and row.terms[0].copy == 1:
            fixed.append((row.terms[0].name, row.rhs / row.terms[0].coef))
        elif row.terms:
            tied.append(row)
        else:
            return None
    free = [name for name in claim.free if name not in strips]
    held: frozenset[str] = frozenset()
    if domain is not None:
        features = {feature.name for feature in domain.features}
        if not {*strips, *claim.equal, *free} <= features:
            return None  # single members of a category
        held = frozenset(claim.equal)
        named = {feature_of(name, domain) for name in claim.named}
        loose = features if claim.others == "free" else {*named, *free}
        more = [f.name for f in domain.features if f.name in loose - held - {*strips, *free}]
        free += more if fixed or claim.others == "free" else []
    return Premise(strips, tuple(fixed), tuple(tied), tuple(free), held)


def feature_of(name: str, domain: Domain) -> str:
    """The feature a name of a row belongs to."""
    if name in domain.slices:
        return name
    return next((f.name for f in domain.features if name in f.coordinates), name)


def _difference(row: Inequality) -> Fraction | None:
    """c of a row ``c·(a.x − b.x) ≤ r``, and None for another one."""
    if len(row.terms) != 2:
        return None
    first, second = row.terms
    if first.name != second.name or first.coef != -second.coef or {first.copy, second.copy} != {0, 1}:
        return None
    return first.coef if first.copy == 0 else second.coef


def _narrow(strip: Bounds, coef: Fraction, row: Inequality) -> None:
    """Cut a strip by ``coef·(a.x − b.x) ≤ rhs`` or ``==``."""
    bound = row.rhs / coef
    if coef < 0 or row.op == "==":
        strip[0] = bound if strip[0] is None else max(strip[0], bound)
    if coef > 0 or row.op == "==":
        strip[1] = bound if strip[1] is None else min(strip[1], bound)


def minus(form: Linear) -> Linear:
    """The form with every sign turned."""
    return tuple((-coef, name) for coef, name in form)


def negation_among(form: Linear, known: Iterable[Linear]) -> Linear | None:
    """The known form that is −form, whatever the order of its terms."""
    wanted = frozenset(minus(form))
    return next((other for other in known if frozenset(other) == wanted), None)
