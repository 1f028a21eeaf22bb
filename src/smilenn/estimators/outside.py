"""Inputs outside the domain: when does clamping them to the box carry a claim to the whole input space?

Let π clamp to the box, coordinate by coordinate; the network computes f∘π. π is monotone and moves two numbers no
further apart, and it leaves binary and one-hot coordinates alone, which hold nothing but 0 and 1. A claim on the box
therefore holds for f∘π everywhere if each row of its premise is kept by π,

    x_c,i − x_d,i ≤ r  with r ≥ 0  (== only with r = 0),      x_c,i ≤ r or ≥ r,      rows over binary or one-hot only,

and each row of its conclusion contains inputs, if at all, in differences that π can only make harder to satisfy:
``… − K·(x_c,i − x_d,i) ≤ ε`` with K ≥ 0 where the premise orders the pair, x_c,i ≥ x_d,i. Convexity, lower slope
bounds, rows over inputs and premises that couple features are not carried: those raise outside the box by default.

Where columns of 0 and 1 take other whole numbers too (usual.py), π moves these coordinates as well, `of_two` says so,
and the same conditions are asked of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from smilenn.domain import Domain, OutOfBounds
from smilenn.properties.claim import Claim, Inequality

Outside = OutOfBounds | Literal["auto"]


def clamping_carries(claim: Claim, domain: Domain, *, of_two: bool = False) -> bool:
    """Whether the claim, true on the box, is true everywhere for a network that clamps its inputs to the box; `of_two`
    where other numbers than 0 and 1 are clamped to these.
    """
    premises = [_moving(row, domain, of_two) for row in claim.when]
    if not all(_kept(terms, row) for terms, row in zip(premises, claim.when, strict=True)):
        return False
    ordered = {pair for terms, row in zip(premises, claim.when, strict=True) for pair in _orders(terms, row)}
    conclusion = [*claim.rows, *(row for clause in claim.either for row in clause)]
    return all(_harder(_moving(row, domain, of_two), ordered) for row in conclusion)


def all_carried(claims: Iterable[Claim], domain: Domain, *, of_two: bool = False) -> bool:
    """Whether clamping carries every one of the claims."""
    return all(clamping_carries(claim, domain, of_two=of_two) for claim in claims)


def clamps_of_two(outside: OutOfBounds, claims: Iterable[Claim], domain: Domain) -> bool:
    """Whether columns of 0 and 1 take other whole numbers: only where every claim then holds of these, too."""
    return outside != "raise" and all_carried(claims, domain, of_two=True)


def _moving(row: Inequality, domain: Domain, of_two: bool) -> dict[tuple[int, int], Fraction]:
    """The row's input terms that clamping may move: {(copy, coordinate): coefficient}."""
    out: dict[tuple[int, int], Fraction] = {}
    for term in row.terms:
        if term.kind == "in" and len(domain.indices(term.name)) == 1:
            (i,) = domain.indices(term.name)
            if _clamped(domain, i, of_two):
                out[(term.copy, i)] = out.get((term.copy, i), Fraction(0)) + term.coef
    return {key: coef for key, coef in out.items() if coef}


def _clamped(domain: Domain, i: int, of_two: bool) -> bool:
    feature = next(f for f in domain.features if domain.slices[f.name].start <= i < domain.slices[f.name].stop)
    return feature.kind in ("continuous", "integer") or (of_two and feature.kind == "binary" and not feature.categories)


def _kept(terms: dict[tuple[int, int], Fraction], row: Inequality) -> bool:
    """Whether clamping keeps a premise row satisfied."""
    inputs = sum(term.kind == "in" for term in row.terms)
    if not terms:
        return True
    if len(terms) != inputs:  # numbers coupled with binary or one-hot coordinates
        return False
    if len(terms) == 1:
        return True  # a bound on one coordinate; grounding has refused bounds that miss the box
    return _is_difference(terms) and (row.rhs == 0 if row.op == "==" else row.rhs >= 0)


def _is_difference(terms: dict[tuple[int, int], Fraction]) -> bool:
    return len(terms) == 2 and len({i for _, i in terms}) == 1 and sum(terms.values()) == 0


def _orders(terms: dict[tuple[int, int], Fraction], row: Inequality) -> list[tuple[int, int, int]]:
    """(larger copy, smaller copy, coordinate) for a row that orders a pair."""
    if not _is_difference(terms) or row.rhs != 0:
        return []
    (small, i), (large, _) = sorted(terms, key=lambda key: -terms[key])  # coef > 0 stands at the smaller one
    return [(large, small, i), (small, large, i)] if row.op == "==" else [(large, small, i)]


def _harder(terms: dict[tuple[int, int], Fraction], ordered: set[tuple[int, int, int]]) -> bool:
    """Whether clamping can only raise the left side of a conclusion row."""
    for i in {i for _, i in terms}:
        own = {key: coef for key, coef in terms.items() if key[1] == i}
        if not _is_difference(own):
            return False
        (positive, _), (negative, _) = sorted(own, key=lambda key: -own[key])
        if (negative, positive, i) not in ordered:
            return False
    return True


def outside_mode(asked: Outside, claims: Sequence[Claim], domain: Domain) -> OutOfBounds:
    """What to do with rows outside the domain: as asked, or clamp them if that carries every claim, else raise."""
    if asked != "auto":
        return asked
    return "clamp" if all_carried(claims, domain) else "raise"
