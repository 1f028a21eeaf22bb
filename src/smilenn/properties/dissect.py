"""A claim taken apart: what its premise leaves to two copies, and its conclusion as rows over linear forms.

The premise of two copies a and b becomes

    strips     lo ≤ a.x − b.x ≤ hi             from rows over one feature of both copies
    fixed      b.x == v                        from rows over one feature of one copy
    tied       everything else

and the conclusion of k copies becomes rows ``g·(w_1, …, w_k) + inputs ≤ r`` where g is one linear form of the outputs
and w the weight of each copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Ends, Inequality, narrow
from smilenn.properties.meaning import Linear


@dataclass(frozen=True)
class Premise:
    """A premise of two copies, taken apart; names are features of the domain, or as the rows have them without one."""

    strips: dict[str, Ends]  # least and largest a − b
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
    """The row with its outputs as one form; None where the copies' outputs are not multiples of each other."""
    outs = _by_copy(row, "out", copies)
    first = next(filter(None, outs), None)
    if first is None:
        return None
    form = _unit(first)
    weights = tuple(weight for out in outs if (weight := _multiple(out, form)) is not None)
    if len(weights) < copies:
        return None
    inputs = {(c, name): coef for c, own in enumerate(_by_copy(row, "in", copies)) for name, coef in own.items()}
    return Conclusion(tuple((coef, name) for name, coef in form.items()), weights, inputs, row.rhs)


def _by_copy(row: Inequality, kind: str, copies: int) -> list[dict[str, Fraction]]:
    """[k] coefficients of the inputs or of the outputs by name, one dictionary a copy."""
    out: list[dict[str, Fraction]] = [{} for _ in range(copies)]
    for term in row.terms:
        if term.kind == kind:
            own, name = out[term.copy], term.name
            own[name] = own[name] + term.coef if name in own else term.coef
    return [{name: coef for name, coef in own.items() if coef} for own in out]


def _unit(out: dict[str, Fraction]) -> dict[str, Fraction]:
    """The form over the size of its first coefficient."""
    scale = abs(next(iter(out.values())))
    if scale == 1:
        return out
    return {name: coef / scale for name, coef in out.items()}


def _multiple(out: dict[str, Fraction], form: dict[str, Fraction]) -> Fraction | None:
    """w with out = w·form; None where there is none."""
    if out is form:
        return Fraction(1)
    name, coef = next(iter(form.items()))
    weight = out.get(name, Fraction(0)) / coef
    return weight if out == {name: weight * coef for name, coef in form.items() if weight} else None


def premise_of(claim: Claim, domain: Domain | None) -> Premise | None:
    """The premise of two copies; None where it cannot be read."""
    by_features = claim.equal or claim.others == "free"  # only a domain says which these are
    if (domain is None and by_features) or not all(row.terms for row in claim.when):
        return None
    read = _by_rows(claim)
    return read if domain is None else _on_domain(read, claim, domain)


def _by_rows(claim: Claim) -> Premise:
    """The premise as its rows alone have it; every row has a term."""
    strips: dict[str, Ends] = {}
    fixed: list[tuple[str, Fraction]] = []
    tied: list[Inequality] = []
    for row in claim.when:
        found = _difference(row)
        if found is not None:
            narrow(strips.setdefault(row.terms[0].name, [None, None]), found, row)
        elif _fixes(row):
            fixed.append((row.terms[0].name, row.rhs / row.terms[0].coef))
        else:
            tied.append(row)
    free = tuple(name for name in claim.free if name not in strips)
    return Premise(strips, tuple(fixed), tuple(tied), free, frozenset(claim.equal))


def _fixes(row: Inequality) -> bool:
    """Whether a row is ``b.x == v``."""
    return len(row.terms) == 1 and row.op == "==" and row.terms[0].copy == 1


def _on_domain(read: Premise, claim: Claim, domain: Domain) -> Premise | None:
    """With the features that are free on a domain; None where rows name single members of a category."""
    features = {feature.name for feature in domain.features}
    if not {*read.strips, *read.held, *read.free} <= features:
        return None
    if not read.fixed and claim.others != "free":
        return read
    named = {feature_of(name, domain) for name in claim.named}
    loose = features if claim.others == "free" else {*named, *read.free}
    more = loose - read.held - {*read.strips, *read.free}
    return replace(read, free=(*read.free, *(f.name for f in domain.features if f.name in more)))


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


def minus(form: Linear) -> Linear:
    """The form with every sign turned."""
    return tuple((-coef, name) for coef, name in form)
