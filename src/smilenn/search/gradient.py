"""Counterexamples by batched multi-start Frank-Wolfe with exact line search.

For a row ``max Σ_c ψ_c(u_c)`` over the premise, every start repeats

    s = argmax over the premise of ∇Σψ(u)·s          the linear oracle: vertices, whole numbers, one-hots
    t = argmax over [0, 1] of Σψ(u + t (s − u))      exact: see below
    u ← u + t (s − u)

Along a segment the objective is piecewise linear, with kinks where a hidden unit changes phase. The paper's flip units
enter with weights p ≥ 0, so between two such kinks the objective is convex: its maximum over the segment lies at a kink
of a hidden unit or at t = 1, flips or not.

First-order steps stall on the ridges of units with negative weights. Two remedies, both cheap:

    mixed gradients   a unit near its kink counts with a random share instead of 0 or 1: in half of the starts, and
                      wherever the last step gained nothing
    ridge steps       besides s, the point between s and the previous s towards which the nearest kink stands still

No start ever loses what it has, all starts move in one tensor, and only members of the premise are returned. Whole
numbers and one-hot groups move as fractions first; then they are snapped, switched one at a time while that helps, and
the rest ascends once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from smilenn.problem import Problem, Row
from smilenn.problem.region import Region
from smilenn.search.oracle import Oracle
from smilenn.search.pool import greedy


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a search found, best first: members u [B, k, m] of the premise (model units) and their violations [B].

    A negative value is the best that was found, not a proof that the claim holds.
    """

    u: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.value)


def search(
    problem: Problem,
    row: Row,
    *,
    starts: int = 16,
    iterations: int = 15,
    rng: np.random.Generator,
    seeds: np.ndarray | None = None,
) -> Candidates:
    """Look for input tuples at which the box breaks `row` the most.

    Parameters
    ----------
    starts, iterations : size of the batch and Frank-Wolfe steps of each.
    rng : the only source of randomness; the same state gives the same answer.
    seeds : old counterexamples [S, k, m] (model units). The best of them take up to half of the starts.
    """
    region = problem.region
    oracle = Oracle(region)
    u, tied = _starts(problem, row, oracle, starts, rng, seeds)
    u = oracle.snap(ascend(problem, row, oracle, u, iterations, rng, tied=tied))
    whole = region.step > 0
    if whole.any():
        u = _switch(problem, row, oracle, u, rng)
        reached = (region.coef != 0).any(axis=1)  # [R, m]
        frozen = whole | reached[:, whole].any() & reached.any(axis=0)
        if not frozen.all():
            u = oracle.snap(ascend(problem, row, oracle, u, max(1, iterations // 3), rng, frozen=frozen))
    if seeds is not None and len(seeds):
        u = np.concatenate([u, seeds])
    found = candidates(problem, row, u)
    if not len(found):  # rows over whole numbers that rounding does not meet: one member found exactly
        found = candidates(problem, row, oracle.member(problem.gradient(u[:1], row)[0])[None])
    return found


def candidates(problem: Problem, row: Row, u: np.ndarray) -> Candidates:
    """Points u [B, k, m] scored and sorted, best first, without repetitions and without those outside the premise."""
    u = u[problem.region.contains(u)]
    value = problem.value(u, row)
    order = np.argsort(-value, kind="stable")
    u, value = u[order], value[order]
    width = (problem.region.hi - problem.region.lo).max(axis=0)
    flat = (u / np.where(width > 0, width, 1.0)).reshape(len(u), problem.copies * len(width))
    kept = greedy(cdist(flat, flat, "chebyshev") <= 1e-6, np.arange(len(u)))
    return Candidates(u[kept], value[kept])


def ascend(
    problem: Problem,
    row: Row,
    oracle: Oracle,
    u: np.ndarray,
    iterations: int,
    rng: np.random.Generator,
    *,
    tied: np.ndarray | None = None,
    frozen: np.ndarray | None = None,
) -> np.ndarray:
    """Frank-Wolfe from every start u [B, k, m] at once; values never fall.

    `tied` [B] bool: starts whose copies move together (along the diagonal) for the first half of the steps.
    `frozen` [m] bool: coordinates that stay where they are.
    """
    net = _Net(problem, row)
    at = net.at(u)
    last, last_at = u, at
    stalled = np.zeros(len(u), dtype=bool)
    for step in range(iterations):
        goal = net.gradient(at, stalled | (rng.random(len(u)) < 0.5), rng)
        joint = tied[:, None, None] if tied is not None and step < (iterations + 1) // 2 else None
        if joint is not None:
            goal = np.where(joint, goal.mean(axis=1, keepdims=True), goal)
        target = oracle(goal)
        if joint is not None:
            target = np.where(joint, target[:, :1], target)
        if frozen is not None:
            target = np.where(frozen, u, target)
        there = net.at(target)
        # towards the target, or towards a point between the last two targets that keeps to the nearest ridge
        share = net.ridge(at, there, last_at)[:, None]
        t, gain = net.line_search(at, there, last_at + share * (there - last_at))
        ridge = gain[1] > gain[0]
        share, t, gain = np.where(ridge[:, None], share, 1.0), np.where(ridge, t[1], t[0]), np.maximum(*gain)
        end, end_at = last + share[..., None] * (target - last), last_at + share * (there - last_at)
        stalled = gain <= 1e-9 * row.scale
        t = np.where(stalled, 0.0, t)[:, None]
        at, last_at = at + t * (end_at - at), there
        u, last = u + t[..., None] * (end - u), target
    return u


class _Net:
    """Σψ as a function of y = (W u_c + b, d + D u_c, q·u), which is affine in u and all that a segment needs.

    y [..., kH + kn + 1] holds the hidden pre-activations of all copies, the affine parts of their flip units (none for
    rows without flips) and the linear term.
    """

    def __init__(self, problem: Problem, row: Row) -> None:
        s, flips, k = problem.snapshot, problem.flips, len(row.slope)
        self.shape = row.slope.shape
        self.slope, self.unit, self.flip = row.slope.ravel(), row.unit.ravel(), row.flip.ravel()
        self.flips = bool(self.flip.any())
        self.units = len(self.unit)
        self.weight = _repeat(s.hidden_weight, k)  # [kH, km]
        self.flip_slope = _repeat(flips.slope, k) if self.flips else np.zeros((0, self.slope.size))
        self.flip_unit = _repeat(flips.unit, k) if self.flips else np.zeros((0, self.units))
        self.matrix = np.concatenate([self.weight, self.flip_slope, self.slope[None]]).T
        self.offset = np.concatenate([np.tile(s.hidden_bias, k), np.tile(flips.const, k * self.flips), [0.0]])
        # kinks at which the objective can turn down; the relu of a flip unit only ever turns it up
        falls = self.flip[: len(self.flip_unit)] @ (self.flip_unit < 0)
        self.concave = np.flatnonzero((self.unit < 0) | (falls > 0))

    def at(self, u: np.ndarray) -> np.ndarray:
        """y [B, ·] at u [B, k, m]."""
        return u.reshape(len(u), -1) @ self.matrix + self.offset

    def value(self, y: np.ndarray) -> np.ndarray:
        """Σψ without its constant, [...], at y [..., ·]."""
        hidden = np.maximum(y[..., : self.units], 0.0)
        value = hidden @ self.unit + y[..., -1]
        if self.flips:
            value += np.maximum(y[..., self.units : -1] + hidden @ self.flip_unit.T, 0.0) @ self.flip
        return value

    def gradient(self, y: np.ndarray, mixed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A gradient [B, k, m] at y [B, ·]; where `mixed` [B], units near their kink count with a random share."""
        pre = y[:, : self.units]
        size = np.abs(pre)
        reach = np.where(mixed, size.sum(axis=1) / max(1, self.units) * rng.random(len(y)), -1.0)
        on = np.where(size <= reach[:, None], rng.random(pre.shape), pre > 0)
        if not self.flips:
            return ((on * self.unit) @ self.weight + self.slope).reshape(-1, *self.shape)
        open_ = (y[:, self.units : -1] + np.maximum(pre, 0.0) @ self.flip_unit.T > 0) * self.flip
        unit, slope = self.unit + open_ @ self.flip_unit, self.slope + open_ @ self.flip_slope
        return ((on * unit) @ self.weight + slope).reshape(-1, *self.shape)

    def ridge(self, at: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Shares λ [B] such that on the way to λ·one + (1 − λ)·other the unit nearest to its concave kink stands still.

        Only units that the two ends pull in opposite directions count; λ = 1 where there is none.
        """
        if not self.concave.size:
            return np.ones(len(at))
        p, q1, q2 = at[:, self.concave], (one - at)[:, self.concave], (other - at)[:, self.concave]
        facing = q1 * q2 < 0
        rows = np.arange(len(at))
        near = np.where(facing, np.abs(p), np.inf).argmin(axis=1)
        q1, q2 = q1[rows, near], q2[rows, near]
        return np.divide(q2, q2 - q1, out=np.ones(len(at)), where=facing[rows, near])

    def line_search(self, at: np.ndarray, *ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best t ∈ (0, 1] from y [B, ·] to each of Q ends [B, ·], and its gain (may be ≤ 0), [Q, B] each."""
        rate = np.stack(ends) - at  # [Q, B, ·]
        p, q = at[:, : self.units], rate[..., : self.units]
        t = np.ones((*rate.shape[:2], self.units + 1))
        crossed = p * q < 0
        np.divide(-p, q, out=t[..., :-1], where=crossed)
        np.minimum(t, 1.0, out=t)
        place = np.arange(0, t.size, self.units + 1).reshape(t.shape[:2])
        if self.flips:
            gain = self.value(at[:, None] + t[..., None] * rate[:, :, None]) - self.value(at)[:, None]  # [Q, B, P + 1]
        else:  # value(t_j) = slope·t_j + Σ_{i<j} jump_i (t_j − t_i): the slope behind 0, and jumps κ|q| at the kinks
            slope = rate[..., -1] + np.where((p > 0) | (p == 0) & (q > 0), q, 0.0) @ self.unit
            jump = np.zeros_like(t)
            np.multiply(np.abs(q), self.unit, out=jump[..., :-1], where=crossed)
            order = t.argsort(axis=2) + place[..., None]
            t, jump = t.ravel()[order], jump.ravel()[order]
            gain = t * (slope[..., None] + jump.cumsum(axis=2)) - (jump * t).cumsum(axis=2)
        best = gain.argmax(axis=2) + place
        return t.ravel()[best], gain.ravel()[best]


def _repeat(matrix: np.ndarray, copies: int) -> np.ndarray:
    """The block-diagonal matrix that applies `matrix` to every copy."""
    return np.kron(np.eye(copies), matrix)


def _starts(
    problem: Problem, row: Row, oracle: Oracle, starts: int, rng: np.random.Generator, seeds: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Starting points [B, k, m] and which of them lie on the diagonal, [B] bool.

    Up to half: the best seeds. The rest: vertices that random combinations of unit rows ask for (uniform points crowd
    around the mean of every unit when inputs are many), points of the diagonal where it belongs to the premise (random
    pairs miss it, and the width of the box shows there), and uniform points.
    """
    old = np.empty((0, *problem.region.lo.shape))
    if seeds is not None and len(seeds):
        old = seeds[np.argsort(-problem.value(seeds, row), kind="stable")][: starts // 2]
    left = max(starts - len(old), 1)
    diagonal = (left + 1) // 4 if problem.premise.diagonal and problem.copies > 1 else 0
    uniform = (left - diagonal) // 4
    asked = left - uniform - diagonal // 2
    s = problem.snapshot
    share = rng.normal(size=(asked, *row.unit.shape))
    vertices = oracle(row.slope + share * row.unit @ s.hidden_weight)
    drawn = oracle.sample(uniform + diagonal - diagonal // 2, rng)
    u = np.concatenate([old, vertices, drawn])
    tied = np.zeros(len(u), dtype=bool)
    tied[len(old) : len(old) + diagonal // 2] = True
    tied[len(u) - (diagonal - diagonal // 2) :] = diagonal > 0
    return np.where(tied[:, None, None], u[:, :1], u), tied


def _switch(
    problem: Problem, row: Row, oracle: Oracle, u: np.ndarray, rng: np.random.Generator, rounds: int = 2
) -> np.ndarray:
    """Members u [B, k, m] improved by single changes of a whole number or a one-hot group, the best one per round.

    Every round offers each of them its value at the gradient's vertex (even rounds) or at a random member (odd rounds).
    """
    region, net = problem.region, _Net(problem, row)
    columns, first = _switches(region)
    if not columns.size:
        return u
    rows = np.arange(len(u))
    switch = np.repeat(np.arange(len(first)), np.diff([*first, len(columns)]))  # [v] which switch a column belongs to
    effect = net.matrix.reshape(*net.shape, -1)[:, columns]  # [k, v, ·]
    for number in range(rounds):
        goal = oracle.sample(len(u), rng) if number % 2 else oracle(problem.gradient(u, row))
        move = (region.snap(goal) - u)[:, :, columns]  # [B, k, v]
        at = net.at(u)
        change = np.add.reduceat(np.einsum("bkv,kvy->bvy", move, effect), first, axis=1)  # [B, n, ·]
        new = net.value(at[:, None] + change)
        best = new.argmax(axis=1)
        chosen = (switch == best[:, None]) & (new[rows, best] > net.value(at))[:, None]  # [B, v]
        u = u.copy()
        u[:, :, columns] += np.where(chosen[:, None], move, 0.0)
    return oracle.snap(u)


def _switches(region: Region) -> tuple[np.ndarray, np.ndarray]:
    """Whole-valued coordinates that no row reaches, group by group, and where in that list each switch begins."""
    reached = (region.coef != 0).reshape(-1, region.size).any(axis=0)
    single = [(int(i),) for i in np.flatnonzero((region.step > 0) & ~region.grouped)]
    parts = [part for part in (*single, *region.groups) if not reached[list(part)].any()]
    first = np.cumsum([0, *(len(part) for part in parts)])[:-1]
    return np.array([i for part in parts for i in part], dtype=int), first.astype(int)
