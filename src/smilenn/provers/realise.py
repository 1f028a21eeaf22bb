"""From a point where the *box* allows a violation to inputs at which the *model* breaks the claim, if there are any.

A counterexample must satisfy Q in exact arithmetic and break R in the outputs the model really returns. The point of a
solver does neither: it is off by its tolerances, and the backbone need not use the freedom of the box there. So:
candidates around the points (random steps, then smaller ones around the best), each mapped to raw units; the best few
are moved onto Q exactly, row by row in rationals, and evaluated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.problem import InputClaim, Problem, Row
from smilenn.properties.claim import Claim, Clause, Inequality
from smilenn.properties.premise import holds_exactly
from smilenn.search.oracle import Oracle
from smilenn.verdict import Counterexample

Forward = Callable[[np.ndarray], np.ndarray]
NOISE = 1e-9  # relative to Row.scale: a difference below it is rounding of the forward pass, not a violation


def realise(
    problem: Problem,
    row: Row,
    points: Sequence[np.ndarray],
    forward: Forward,
    *,
    batch: int = 256,
    rounds: int = 4,
    seed: int = 0,
) -> Counterexample | None:
    """A counterexample of the model `forward` (raw x [B, m] → outputs [B, o]) near `points` [k, m], or None."""
    if not points:
        return None
    inequality = next(r for r in problem.given.claim.rows if r.text() == row.text)
    # points of an encoder's space have no known inputs: begin anywhere
    known = np.stack(list(points)) if problem.snapshot.encoding is None else None
    return breaking(problem.given, (inequality,), row.scale, known, forward, batch=batch, rounds=rounds, seed=seed)


def breaking(
    given: InputClaim,
    clause: Clause,
    scale: float,
    points: np.ndarray | None,
    forward: Forward,
    *,
    batch: int = 256,
    rounds: int = 4,
    seed: int = 0,
) -> Counterexample | None:
    """Inputs near `points` [n, k, m] (model units; None: anywhere) at which the model breaks every row of a clause."""
    for value, x in _worst(given, clause, points, forward, batch=batch, rounds=rounds, seed=seed):
        if value <= NOISE * scale:
            break
        exact = onto_premise(given, x)
        if exact is None:
            continue
        outputs = np.asarray(forward(exact), dtype=np.float64).reshape(given.claim.copies, -1)
        least = _least(clause, given.domain, given.outputs, exact, outputs)
        if least is not None and least > NOISE * scale:
            return Counterexample(exact, outputs, float(least), _clause_text(clause))
    return None


def _worst(
    given: InputClaim,
    clause: Clause,
    points: np.ndarray | None,
    forward: Forward,
    *,
    batch: int,
    rounds: int,
    seed: int,
) -> list[tuple[float, np.ndarray]]:
    """Up to eight raw tuples [k, m] with the model's violation there, the worst first, by search ever closer."""
    rng, region = np.random.default_rng(seed), given.region
    width = np.maximum(region.hi - region.lo, 0.0)
    centres = Oracle(region).sample(batch, rng) if points is None else points
    radius = 0.5
    best: list[tuple[float, np.ndarray]] = []
    for _ in range(rounds):
        near = centres[rng.integers(0, len(centres), size=batch)]
        near = near + radius * rng.uniform(-1, 1, size=near.shape) ** 3 * width
        u = region.snap(np.concatenate([centres, near]))
        u = u[region.contains(u)]
        if len(u) == 0:
            break
        x = raw(given, u)
        value = violations(given, clause, x, forward).min(axis=1)
        best += [(float(value[i]), x[i]) for i in np.argsort(-value)[:4]]
        best = sorted(best, key=lambda pair: -pair[0])[:8]
        centres, radius = given.domain.scale(np.stack([x for _, x in best])), radius / 4
    return best


def _least(
    clause: Clause, domain: Domain, names: tuple[str, ...], x: np.ndarray, outputs: np.ndarray
) -> Fraction | None:
    """By how much every row of the clause is broken at least, exactly; None where an output is not finite."""
    broken = [_exact(row, domain, names, x, outputs) for row in clause]
    return None if None in broken else min((b for b in broken if b is not None), default=None)


def _clause_text(clause: Clause) -> str:
    return " or ".join(row.text() for row in clause)


def replay(
    example: Counterexample, claims: Sequence[Claim], domain: Domain, outputs: tuple[str, ...], forward: Forward
) -> Counterexample | None:
    """A counterexample from elsewhere with what the model says there now; None if it breaks none of the claims."""
    for claim in claims:
        clauses = [*((row,) for row in claim.rows), *claim.either]
        clause = next((c for c in clauses if _clause_text(c) == example.row), None)
        fits = example.x.shape == (claim.copies, domain.size)
        if clause is None or not fits or not holds_exactly(claim, domain, example.x):
            continue
        found = np.asarray(forward(example.x), dtype=np.float64).reshape(claim.copies, -1)
        least = _least(clause, domain, outputs, example.x, found)
        if least is not None and least > 0:
            return Counterexample(example.x, found, float(least), example.row)
    return None


def raw(given: InputClaim, u: np.ndarray) -> np.ndarray:
    """Model units [B, k, m] → raw units, pinned coordinates copied bit for bit from the first copy."""
    x = given.domain.unscale(u)
    return np.where(given.premise.pinned, x[:, :1], x)


def violations(given: InputClaim, rows: Sequence[Inequality], x: np.ndarray, forward: Forward) -> np.ndarray:
    """Violations of the rows by the model's own outputs at raw x [B, k, m], in float64, [B, R]."""
    b, k, m = x.shape
    outputs = np.asarray(forward(x.reshape(b * k, m)), dtype=np.float64).reshape(b, k, -1)
    value: np.ndarray = np.tile([-float(inequality.rhs) for inequality in rows], (b, 1))
    for r, inequality in enumerate(rows):
        for term in inequality.terms:
            if term.kind == "out":
                value[:, r] += float(term.coef) * outputs[:, term.copy, _place(given, term.name)]
            else:
                value[:, r] += float(term.coef) * x[:, term.copy, given.domain.indices(term.name)[0]]
    return np.where(np.isfinite(value), value, -np.inf)


def _place(given: InputClaim, name: str) -> int:
    return given.outputs.index(name) if name in given.outputs else 0


def exact_violation(given: InputClaim, inequality: Inequality, x: np.ndarray, outputs: np.ndarray) -> Fraction | None:
    """Left side minus right side in rationals, the outputs taken as the floats they are; None if not finite."""
    return _exact(inequality, given.domain, given.outputs, x, outputs)


def _exact(
    inequality: Inequality, domain: Domain, names: tuple[str, ...], x: np.ndarray, outputs: np.ndarray
) -> Fraction | None:
    if not np.isfinite(outputs).all():
        return None
    total = -inequality.rhs
    for term in inequality.terms:
        if term.kind == "out":
            place = names.index(term.name) if term.name in names else 0
            total += term.coef * Fraction(float(outputs[term.copy, place]))
        else:
            total += term.coef * Fraction(float(x[term.copy, domain.indices(term.name)[0]]))
    return total


def onto_premise(given: InputClaim, x: np.ndarray, passes: int = 8) -> np.ndarray | None:
    """Raw x [k, m] moved by a few ulps so that Q holds exactly, or None if that does not succeed."""
    domain, claim, premise = given.domain, given.claim, given.premise
    x = np.where(domain.integral, np.rint(x), np.clip(x, domain.lo, domain.hi))
    x = np.where(premise.pinned, x[:1], x)
    if holds_exactly(claim, domain, x):
        return x
    x = _coarse(given, x)
    for _ in range(passes):
        if holds_exactly(claim, domain, x):
            return x
        for inequality in claim.when:
            x = _onto_row(given, inequality, x)
        x = np.clip(x, domain.lo, domain.hi)
    return x if holds_exactly(claim, domain, x) else None


def _coarse(given: InputClaim, x: np.ndarray) -> np.ndarray:
    """Round the coordinates of equality rows to few bits, so that sums and halves of them are exact floats."""
    domain = given.domain
    rows = (r for r in given.claim.when if r.op == "==" and len(r.terms) > 1)
    for i in {domain.indices(t.name)[0] for r in rows for t in r.terms}:
        size = max(abs(domain.lo[i]), abs(domain.hi[i]))
        if domain.integral[i] or size == 0:
            continue
        step = 2.0 ** (math.floor(math.log2(size)) - 24)
        x = x.copy()
        x[:, i] = np.rint(x[:, i] / step) * step
        x[:, i] += step * (x[:, i] < domain.lo[i]) - step * (x[:, i] > domain.hi[i])
    return x


def _onto_row(given: InputClaim, inequality: Inequality, x: np.ndarray) -> np.ndarray:
    """Move one continuous coordinate so that one row of Q holds exactly; rounding goes to the side where it does."""
    domain = given.domain
    total, weight = _left_over(given, inequality, x)
    if (total < 0 and inequality.op == "<=") or total == 0:
        return x
    x = x.copy()
    room = sorted(((abs(a), c, i) for (c, i), a in weight.items() if a and not domain.integral[i]), reverse=True)
    for _, c, i in room:
        value = _solution(float(x[max(c, 0), i]), total, weight[(c, i)], inequality.op)
        if domain.lo[i] <= value <= domain.hi[i]:
            x[slice(None) if c < 0 else c, i] = value
            return x
    return x


def _solution(at: float, total: Fraction, a: Fraction, op: str) -> float:
    """The float next to at − total/a; of a row ``≤`` on the side where it holds."""
    target = Fraction(at) - total / a
    value = float(target)
    if op == "<=" and (Fraction(value) - target) * a > 0:
        return math.nextafter(value, -math.inf if a > 0 else math.inf)
    return value


def _left_over(
    given: InputClaim, inequality: Inequality, x: np.ndarray
) -> tuple[Fraction, dict[tuple[int, int], Fraction]]:
    """Left side minus right side at x, and the weights by (copy, coordinate): copy −1 for a pinned one, which moves
    in all copies.
    """
    total, weight = -inequality.rhs, dict[tuple[int, int], Fraction]()
    for term in inequality.terms:
        i = given.domain.indices(term.name)[0]
        total += term.coef * Fraction(float(x[term.copy, i]))
        key = (-1, i) if given.premise.pinned[i] else (term.copy, i)
        weight[key] = weight.get(key, Fraction(0)) + term.coef
    return total, weight
