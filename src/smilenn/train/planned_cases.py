"""Which alternative to train for, and where: the cases of claims with clauses, from data (properties/cases.py).

With the targets in place of the outputs, w_jr = l_r(x_j, y_j) − c_r says what row r would ask of training row j. A
case with weights λ costs ``Σ_j max(0, Σ_r λ_r·w_jr)``; equal weights and single alternatives are tried. Cases are split
as a decision tree is, while the cost falls by `GAIN` of what it was at the root. The network then learns claims
without alternatives, one for each case; where the data say nothing (no cost at all), equal weights are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.problem import digest
from smilenn.properties.cases import Case, Cases, Split, Weights, case_claims, equal_weights
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground

DEPTH, GAIN, LEAST, THRESHOLDS = 4, 0.05, 0.02, 15  # LEAST: of the rows, on each side of a split


def planned(
    claims: Sequence[Claim], domain: Domain, outputs: Sequence[str], x: np.ndarray, y: np.ndarray
) -> dict[str, Cases]:
    """Cases for every claim with clauses, by its digest; x [N, m] raw rows, y [N, o] targets in output units.

    Of classes y is what their logits should be like, +1 and −1.
    """
    if not len(x) or len(x) != len(y):  # training says so in its own words
        return {}
    y = y.reshape(len(x), -1)
    return {digest(claim, domain): _tree(claim, domain, outputs, x, y) for claim in claims if claim.either}


def without_clauses(claims: Sequence[Claim], cases: Mapping[str, Cases], domain: Domain) -> list[Claim]:
    """The claims, those with clauses replaced by their cases."""
    return [
        part
        for claim in claims
        for part in (case_claims(claim, cases[digest(claim, domain)], domain) if claim.either else [claim])
    ]


def _tree(claim: Claim, domain: Domain, outputs: Sequence[str], x: np.ndarray, y: np.ndarray) -> Cases:
    if claim.copies > 1:  # the data are single rows, not pairs: they say nothing of what is asked of pairs
        return equal_weights(claim)
    concerned = ground(claim, domain).holds(x[:, None])
    asked = [_asked(clause, domain, outputs, x, y)[concerned] for clause in claim.either]
    return _grown(x[concerned], asked, domain, DEPTH, None)


def _asked(clause: Sequence, domain: Domain, outputs: Sequence[str], x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """w [N, R]."""
    out = np.zeros((len(x), len(clause)))
    for r, row in enumerate(clause):
        out[:, r] = -float(row.rhs)
        for term in row.terms:
            if term.kind == "in":
                out[:, r] += float(term.coef) * x[:, domain.indices(term.name)[0]]
            else:
                place = outputs.index(term.name) if term.name in outputs else 0
                out[:, r] += float(term.coef) * y[:, place]
    return out


def _best(asked: Sequence[np.ndarray]) -> tuple[Weights, float]:
    """The cheapest weights for every clause, equal ones between equals; and what they cost."""
    chosen, total = [], 0.0
    for w in asked:
        r = w.shape[1]
        options = [np.full(r, 1.0 / r), *np.eye(r)]
        costs = [float(np.maximum(w @ option, 0.0).sum()) for option in options]
        at = int(np.argmin(costs))
        chosen.append((Fraction(1, r),) * r if at == 0 else tuple(Fraction(int(v)) for v in options[at]))
        total += costs[at]
    return tuple(chosen), total


def _grown(x: np.ndarray, asked: Sequence[np.ndarray], domain: Domain, depth: int, whole: float | None) -> Cases:
    weights, cost = _best(asked)
    whole = cost if whole is None else whole
    found = _best_split(x, asked, domain) if depth and cost > GAIN * whole else None
    if found is None or cost - found[0] <= GAIN * whole:
        return Case(weights)
    _, i, at = found
    low = x[:, i] <= at
    sides = [_grown(x[side], [w[side] for w in asked], domain, depth - 1, whole) for side in (low, ~low)]
    return Split(0, i, at, *sides)


def _best_split(x: np.ndarray, asked: Sequence[np.ndarray], domain: Domain) -> tuple[float, int, float] | None:
    """Cost, coordinate and threshold of the split whose sides cost least together, the first of equals."""
    least = max(1, int(LEAST * len(x)))
    best: tuple[float, int, float] | None = None
    for i in range(domain.size):
        for at in _thresholds(x[:, i], integral=bool(domain.integral[i])):
            low = x[:, i] <= at
            if min(low.sum(), (~low).sum()) >= least and domain.lo[i] < at < domain.hi[i]:
                cost = sum(_best([w[side] for w in asked])[1] for side in (low, ~low))
                best = (cost, i, float(at)) if best is None or cost < best[0] else best
    return best


def _thresholds(values: np.ndarray, *, integral: bool) -> np.ndarray:
    """Quantiles of a column, between whole numbers where it holds such."""
    levels = np.unique(np.quantile(values, np.linspace(0, 1, THRESHOLDS + 2)[1:-1]))
    return np.unique(np.floor(levels) + 0.5) if integral else levels
