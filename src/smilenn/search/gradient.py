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

from smilenn.problem import Problem, Row
from smilenn.region import Region
from smilenn.search.oracle import Oracle


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
    flat = (u / np.where(width > 0, width, 1.0)).reshape(len(u), -1)
    kept: list[int] = []
    for i in range(len(u)):
        if not kept or np.abs(flat[kept] - flat[i]).max(axis=1).min() > 1e-6:
            kept.append(i)
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
    at, last = net.at(u), None
    stalled, rows = np.zeros(len(u), dtype=bool), np.arange(len(u))
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
        ends, ends_at = [target], [there]
        if last is not None:
            share = net.ridge(at, there, last[1])[:, None, None]
            ends.append(last[0] + share * (target - last[0]))
            ends_at.append(last[1] + share * (there - last[1]))
        t, gain = net.line_search(at, np.stack(ends_at, axis=1))
        best = gain.argmax(axis=1)
        end, end_at = np.stack(ends)[best, rows], np.stack(ends_at)[best, rows]
        last = target, there
        stalled = gain[rows, best] <= 1e-9 * row.scale
        t = np.where(stalled, 0.0, t[rows, best])[:, None, None]
        u = np.where(t == 1.0, end, u + t * (end - u))  # t = 1 lands on the end, not a rounding error away from it
        at = np.where(t == 1.0, end_at, at + t * (end_at - at))
    return u


class _Net:
    """Σψ as a function of y = (W u + b, d + D u, q·u), which is affine in u and all that a segment needs.

    The last axis of y [..., k, H + n + 1] holds hidden pre-activations, the affine parts of flip units (none for rows
    without flips) and the linear term, per copy.
    """

    def __init__(self, problem: Problem, row: Row) -> None:
        s, flips = problem.snapshot, problem.flips
        flipped = row.flip.any()
        k, m = row.slope.shape
        parts = [s.hidden_weight] + [flips.slope] * bool(flipped)
        matrix = np.concatenate([*parts, np.zeros((1, m))])
        self.matrix = np.repeat(matrix.T[None], k, axis=0)  # [k, m, H + n + 1]
        self.matrix[:, :, -1] = row.slope
        self.offset = np.concatenate([s.hidden_bias, *[flips.const] * bool(flipped), [0.0]])
        self.h = len(s.hidden_bias)
        self.row, self.weight = row, s.hidden_weight
        self.flips = flips if flipped else None
        # kinks at which the objective can turn down; relu of the flip units only ever turns it up
        self.concave = row.unit < 0
        if self.flips is not None:
            self.concave = self.concave | (row.flip @ (flips.unit < 0) > 0)
        self.concave = np.flatnonzero(self.concave)

    def at(self, u: np.ndarray) -> np.ndarray:
        """y [B, k, H + n + 1] at u [B, k, m]."""
        return (u.swapaxes(0, 1) @ self.matrix).swapaxes(0, 1) + self.offset

    def value(self, y: np.ndarray) -> np.ndarray:
        """Σψ without its constant, [...], at y [..., k, H + n + 1]."""
        hidden = np.maximum(y[..., : self.h], 0.0)
        shape = y.shape[:-2]
        value = hidden.reshape(*shape, -1) @ self.row.unit.ravel() + y[..., -1].sum(axis=-1)
        if self.flips is not None:
            inner = np.maximum(y[..., self.h : -1] + hidden @ self.flips.unit.T, 0.0)
            value += inner.reshape(*shape, -1) @ self.row.flip.ravel()
        return value

    def gradient(self, y: np.ndarray, mixed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A gradient [B, k, m] at y [B, k, ·]; where `mixed` [B], units near their kink count with a random share."""
        row, pre = self.row, y[..., : self.h]
        on = (pre > 0).astype(np.float64)
        if mixed.any():
            near = pre[mixed]
            reach = np.abs(near).mean(axis=2, keepdims=True) * rng.uniform(size=(len(near), 1, 1))
            on[mixed] = np.where(np.abs(near) <= reach, rng.uniform(size=near.shape), on[mixed])
        if self.flips is None:
            return (on * row.unit) @ self.weight + row.slope
        open_ = (y[..., self.h : -1] + np.maximum(pre, 0.0) @ self.flips.unit.T > 0) * row.flip
        return (on * (row.unit + open_ @ self.flips.unit)) @ self.weight + row.slope + open_ @ self.flips.slope

    def ridge(self, at: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Shares λ [B] such that on the way to λ·one + (1 − λ)·other the unit nearest to its concave kink stands still.

        Only units that the two ends pull in opposite directions count; λ = 1 where there is none.
        """
        b = len(at)
        p, q1, q2 = (
            x[..., : self.h].reshape(b, -1)[:, self.concave] for x in (at, one - at, other - at)
        )  # each [B, P]
        if not p.size:
            return np.ones(b)
        facing = q1 * q2 < 0
        near = np.where(facing, np.abs(p), np.inf).argmin(axis=1)
        rows = np.arange(b)
        q1, q2 = q1[rows, near], q2[rows, near]
        return np.divide(q2, q2 - q1, out=np.ones(b), where=facing[rows, near])

    def line_search(self, at: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best t ∈ (0, 1] from y [B, k, ·] to each of the ends [B, Q, k, ·], and its gain (may be ≤ 0), [B, Q]."""
        b, n = ends.shape[:2]
        rate = ends - at[:, None]
        p = at[..., : self.h].reshape(b, 1, -1)[..., self.concave]
        q = rate[..., : self.h].reshape(b, n, -1)[..., self.concave]
        t = np.ones((b, n, len(self.concave) + 1))
        np.divide(-p, q, out=t[..., :-1], where=p * q < 0)
        t = np.minimum(t, 1.0)
        value = self.value(at[:, None, None] + t[..., None, None] * rate[:, :, None])  # [B, Q, P + 1]
        best = value.argmax(axis=2)[..., None]
        gain = np.take_along_axis(value, best, 2)[..., 0] - self.value(at)[:, None]
        return np.take_along_axis(t, best, 2)[..., 0], gain


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
    problem: Problem, row: Row, oracle: Oracle, u: np.ndarray, rng: np.random.Generator, rounds: int = 4
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
    for number in range(rounds):
        goal = oracle.sample(len(u), rng) if number % 2 else oracle(problem.gradient(u, row))
        move = (region.snap(goal) - u)[:, :, columns]  # [B, k, v]
        at = net.at(u)
        change = np.add.reduceat(move[..., None] * net.matrix[:, columns], first, axis=2)  # [B, k, n, ·]
        new = net.value(at[:, None] + change.swapaxes(1, 2))  # [B, n]
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
