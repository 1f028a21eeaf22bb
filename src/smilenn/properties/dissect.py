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
from smilenn.properties.claim import Claim, Ends, Inequality, Term, narrow
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
    """The row with its outputs as one form; None where the copies' outputs are no multiples of each other."""
    outs = [_sums(term for term in row.terms if term.kind == "out" and term.copy == c) for c in range(copies)]
    inputs = {
        (c, name): coef
        for c in range(copies)
        for name, coef in _sums(term for term in row.terms if term.kind == "in" and term.copy == c).items()
    }
    first = next((out for out in outs if out), None)
    if first is None:
        return None
    scale = abs(next(iter(first.values())))
    form = {name: coef / scale for name, coef in first.items()}
    weights = [_multiple(out, form) for out in outs]
    known = tuple(weight for weight in weights if weight is not None)
    if len(known) < copies:
        return None
    return Conclusion(tuple((coef, name) for name, coef in form.items()), known, inputs, row.rhs)


def _sums(terms: Iterable[Term]) -> dict[str, Fraction]:
    """Coefficients by name, zeros dropped."""
    out: dict[str, Fraction] = {}
    for term in terms:
        out[term.name] = out.get(term.name, Fraction(0)) + term.coef
    return {name: coef for name, coef in out.items() if coef}


def _multiple(out: dict[str, Fraction], form: dict[str, Fraction]) -> Fraction | None:
    """w with out = w·form; None where there is none."""
    name, coef = next(iter(form.items()))
    weight = out.get(name, Fraction(0)) / coef
    return weight if out == {name: weight * coef for name, coef in form.items() if weight} else None


def premise_of(claim: Claim, domain: Domain | None) -> Premise | None:
    """The premise of two copies; None where it cannot be read."""
    if domain is None and (claim.equal or claim.others == "free"):
        return None
    strips: dict[str, Ends] = {}
    fixed: list[tuple[str, Fraction]] = []
    tied: list[Inequality] = []
    for row in claim.when:
        found = _difference(row)
        if found is not None:
            narrow(strips.setdefault(row.terms[0].name, [None, None]), found, row)
        elif len(row.terms) == 1 and row.op == "==" and row.terms[0].copy == 1:
            fixed.append((row.terms[0].name, row.rhs / row.terms[0].coef))
        elif row.terms:
            tied.append(row)
        else:
            return None
    free = tuple(name for name in claim.free if name not in strips)
    if domain is None:
        return Premise(strips, tuple(fixed), tuple(tied), free, frozenset())
    features = {feature.name for feature in domain.features}
    if not {*strips, *claim.equal, *free} <= features:
        return None  # single members of a category
    held = frozenset(claim.equal)
    if fixed or claim.others == "free":
        named = {feature_of(name, domain) for name in claim.named}
        loose = features if claim.others == "free" else {*named, *free}
        free += tuple(f.name for f in domain.features if f.name in loose - held - {*strips, *free})
    return Premise(strips, tuple(fixed), tuple(tied), free, held)


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


def negation_among(form: Linear, known: Iterable[Linear]) -> Linear | None:
    """The known form that is −form, whatever the order of its terms."""
    wanted = frozenset(minus(form))
    return next((other for other in known if frozenset(other) == wanted), None)
