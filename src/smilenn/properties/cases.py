"""Clauses by cases: a claim with alternatives, cut into claims without.

A clause asks for one of its rows, ``∨_r  l_r(x, f) ≤ c_r``, and which one may depend on the inputs. The inputs are
split at thresholds, x_ci ≤ θ and x_ci ≥ θ, and each case has weights λ ≥ 0, Σ λ_r = 1, for every clause:

    Σ_r λ_r·l_r ≤ Σ_r λ_r·c_r      ⇒      l_r ≤ c_r for one r

since a mean of numbers that is ≤ 0 has one among them that is. λ = (1, 0, …) chooses an alternative; equal weights
choose none, as ``f_i + f_j ≤ 0`` does for "not both positive". A case is a claim like any other: it is trained,
searched, repaired and proved as such, and a certificate carries the tree (docs/certificate.md, 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, Clause, Inequality, row
from smilenn.properties.premise import pins

Weights = tuple[tuple[Fraction, ...], ...]  # λ for every clause


@dataclass(frozen=True)
class Case:
    """No more splits: the weights by which the rows of each clause are added."""

    weights: Weights


@dataclass(frozen=True)
class Split:
    """x[copy, coordinate] ≤ at in `below`, ≥ at in `above`; raw units."""

    copy: int
    coordinate: int
    at: float
    below: Cases
    above: Cases


Cases = Case | Split
Path = tuple[tuple[int, int, float, int], ...]  # copy, coordinate, threshold, 1 below or −1 above


def equal_weights(claim: Claim) -> Case:
    """One case, every alternative counting the same."""
    return Case(tuple((Fraction(1, len(clause)),) * len(clause) for clause in claim.either))


def leaves(cases: Cases, path: Path = ()) -> list[tuple[Path, Case]]:
    """The cases with the splits that lead to them, those below first."""
    if isinstance(cases, Case):
        return [(path, cases)]
    here = (cases.copy, cases.coordinate, cases.at)
    return leaves(cases.below, (*path, (*here, 1))) + leaves(cases.above, (*path, (*here, -1)))


def combined(clause: Clause, weights: Sequence[Fraction]) -> Inequality:
    """Σ_r λ_r·l_r ≤ Σ_r λ_r·c_r."""
    terms = [(w * t.coef, t.copy, t.kind, t.name) for w, r in zip(weights, clause, strict=True) for t in r.terms]
    return row(terms, sum((w * r.rhs for w, r in zip(weights, clause, strict=True)), Fraction(0)))


def case_claim(claim: Claim, path: Path, case: Case, domain: Domain) -> Claim:
    """The claim that a case is: the splits join the premise, weighted rows take the place of the clauses.

    What the copies have in common in the claim they have in common in its cases, although a split names it.
    """
    when = list(claim.when)
    for copy, i, at, side in path:
        name = domain.coordinates[i]
        if domain.indices(name) != (i,):
            raise SmileError(f"{name!r} is the name of a feature and of a category of another one; rename one of them.")
        when.append(row([(side, copy, "in", name)], side * Fraction(at)))
    equal = [domain.coordinates[i] for i in np.flatnonzero(pins(claim, domain))] if path else list(claim.equal)
    then = [combined(clause, weights) for clause, weights in zip(claim.either, case.weights, strict=True)]
    free = tuple(name for name in claim.free if name not in equal)
    return replace(
        claim,
        when=tuple(when),
        then=(*claim.then, *then),
        either=(),
        equal=tuple(equal),
        free=free,
    )


def case_claims(claim: Claim, cases: Cases, domain: Domain) -> list[Claim]:
    """The claims of all cases; of a claim without clauses the claim itself."""
    if not claim.either:
        return [claim]
    return [case_claim(claim, path, case, domain) for path, case in leaves(cases)]
