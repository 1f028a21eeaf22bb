"""Exact maximum over one input by sweeping breakpoints.

With m = 1 each ψ_c is piecewise linear in t. Call a unit *concave* in copy c if its coefficient there is negative (or
it feeds a flip unit with a negative weight): between the breakpoints −b/w of concave units ψ_c is convex, because flip
units have p ≥ 0 and relu of a convex function is convex; breakpoints of flip units need no visit. A convex function
takes its maximum over a polygon at a vertex, so with B_c the concave breakpoints of copy c and the ends of its interval
it is enough to look at

    t_1 = … = t_k             pinned:     t ∈ ∪ B_c
    each t_c by itself        no strip:   t_c ∈ B_c
    δ_lo ≤ t_1 − t_2 ≤ δ_hi   strip:      t_1 ∈ B_1 ∪ (B_2 + δ_lo) ∪ (B_2 + δ_hi), and for each t_1 the best t_2 among
                                          the ends of [t_1 − δ_hi, t_1 − δ_lo] and the points of B_2 in between

(the last by a sliding-window maximum). On a grid every breakpoint is replaced by its two neighbours; the polygons of a
grid with whole strips have whole vertices, so nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.prove.presolve import Reduced, presolve
from smilenn.prove.prover import FOREVER, Goal, Prover, allowance, evaluated
from smilenn.prove.verdict import Maximum


@dataclass(frozen=True)
class Sweep(Prover):
    """One-input sweep in float64."""

    name: ClassVar[str] = "sweep"
    tolerance: ClassVar[float] = 1e-9

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "one-input sweep in float64"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Only one input, without extra rows."""
        region = problem.region
        if region.size != 1:
            return f"There are {region.size} coordinates; the sweep handles one."
        if region.has_rows:
            return "The premise has rows beyond boxes, equalities and differences of one feature."
        return "The input is a category." if region.groups else None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The exact maximum, whatever the goal; `upper` adds the float64 error of evaluating ψ."""
        start = perf_counter()
        why = self.refuses(problem, row)
        if why is not None:
            return Maximum(np.inf, complete=False, note=why)
        tuples, value = _profile(presolve(problem, row))
        best = int(value.argmax())
        point, lower = evaluated(problem, row, tuples[best][:, None])
        upper = max(float(value[best]), lower) + allowance(problem, row)
        return Maximum(
            upper, lower, point, True, f"sweep over {len(value)} breakpoints", perf_counter() - start, len(value)
        )


def local_maxima(problem: Problem, row: Row, limit: int = 16, separation: float = 1e-3) -> np.ndarray:
    """Locally maximal tuples with a positive violation, best first: [P, k, 1] model units, P ≤ limit.

    For each candidate t_1 the best rest of the tuple is taken; local maxima over t_1 are kept, those closer than
    `separation` times the interval to a better one dropped.
    """
    tuples, value = _profile(presolve(problem, row))
    left, right = np.append(-np.inf, value[:-1]), np.append(value[1:], -np.inf)
    peaks = np.flatnonzero((value > left) & (value >= right) & (value > 0))
    peaks = peaks[np.argsort(-value[peaks], kind="stable")]
    apart = separation * float(problem.region.hi.max() - problem.region.lo.min())
    kept: list[int] = []
    for peak in peaks:
        if len(kept) == limit:
            break
        if all(np.abs(tuples[peak] - tuples[other]).max() >= apart for other in kept):
            kept.append(int(peak))
    points = problem.region.snap(tuples[kept][:, :, None])
    return points[problem.value(points, row) > 0]


def _profile(reduced: Reduced) -> tuple[np.ndarray, np.ndarray]:
    """Candidate tuples [N, k] ordered by t_1, with the largest Σ_c ψ_c − rhs that t_1 allows, [N]."""
    region, k = reduced.region, len(reduced.slope)
    lo, hi = region.lo[:, 0], np.maximum(region.lo[:, 0], region.hi[:, 0])
    points = [_candidates(reduced, c, lo[c], hi[c]) for c in range(k)]
    if region.pinned[0]:
        t = np.unique(np.concatenate(points))
        value = sum((reduced.psi(c, t[:, None]) for c in range(k)), np.full(len(t), reduced.const))
        return np.tile(t[:, None], (1, k)), value
    if not region.strips[0]:
        first = reduced.psi(0, points[0][:, None]) + reduced.const
        tuples = np.tile(points[0][:, None], (1, k))
        for c in range(1, k):
            value = reduced.psi(c, points[c][:, None])
            tuples[:, c] = points[c][value.argmax()]
            first = first + value.max()
        return tuples, first
    dl, du = region.delta_lo[0], region.delta_hi[0]
    t = np.concatenate([points[0], points[1] + dl, points[1] + du])
    t = np.unique(_to_grid(t[(t >= lo[0]) & (t <= hi[0])], region.step[0], lo[0], hi[0]))
    value = reduced.psi(1, points[1][:, None])
    left = np.clip(_to_grid(t - du, region.step[0], lo[1], hi[1]), lo[1], hi[1])
    right = np.clip(_to_grid(t - dl, region.step[0], lo[1], hi[1]), lo[1], hi[1])
    inside = _window_argmax(value, np.searchsorted(points[1], left, "left"), np.searchsorted(points[1], right, "right"))
    options = np.stack([left, right, np.where(inside >= 0, points[1][inside], left)])  # [3, N]
    second = reduced.psi(1, options.reshape(-1, 1)).reshape(options.shape)
    best = second.argmax(axis=0)
    columns = np.arange(len(t))
    return (
        np.stack([t, options[best, columns]], axis=1),
        reduced.const + reduced.psi(0, t[:, None]) + second[best, columns],
    )


def _candidates(reduced: Reduced, c: int, lo: float, hi: float) -> np.ndarray:
    """Ends of [lo, hi] and the breakpoints of the concave units of copy c (grid neighbours on a grid), sorted."""
    concave = reduced.unit[c] < 0
    if reduced.flip.size:
        concave |= (reduced.inner_unit[c][reduced.flip[c] > 0] < 0).any(axis=0)
    weight = reduced.weight[concave, 0]
    kinks = -reduced.bias[concave][weight != 0] / weight[weight != 0]
    kinks = kinks[(kinks > lo) & (kinks < hi)]
    step = reduced.region.step[0]
    if step:
        at = (kinks - lo) / step
        kinks = np.clip(lo + step * np.concatenate([np.floor(at), np.ceil(at)]), lo, hi)
    return np.unique(np.concatenate([[lo, hi], kinks]))


def _to_grid(t: np.ndarray, step: float, lo: float, hi: float) -> np.ndarray:
    return np.clip(lo + step * np.rint((t - lo) / step), lo, hi) if step else t


def _window_argmax(value: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """argmax of value[first:last] for each window, −1 where it is empty; a table over powers of two."""
    table = [np.arange(len(value))]
    width = 1
    while 2 * width <= len(value):
        a, b = table[-1][: len(value) - 2 * width + 1], table[-1][width : len(value) - width + 1]
        table.append(np.where(value[a] >= value[b], a, b))
        width *= 2
    out = np.full(len(first), -1)
    size = last - first
    for level, best in enumerate(table):
        here = np.flatnonzero((size >= 1 << level) & (size < 2 << level))
        a, b = best[first[here]], best[last[here] - (1 << level)]
        out[here] = np.where(value[a] >= value[b], a, b)
    return out
