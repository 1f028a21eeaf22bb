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

(the last by a sliding-window maximum). Where the strip says only which copy is the larger one, t_1 ≥ t_2 or t_1 ≤ t_2
in one interval, as a monotone claim does, both copies take B_1 ∪ B_2 and the window is a running maximum. On a grid
every breakpoint is replaced by its two neighbours; the polygons of a grid with whole strips have whole vertices, so
nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, Row
from smilenn.problem.region import Region
from smilenn.provers.proof import SweepProof
from smilenn.provers.prover import FOREVER, Goal, allowance, evaluated
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum


@dataclass(frozen=True)
class Sweep(Rule):
    """One-input sweep in float64."""

    name: ClassVar[str] = "sweep"
    tolerance: ClassVar[float] = 1e-9
    checked: ClassVar[str] = "sweep"
    shows: ClassVar[str] = "one input"
    cost: ClassVar[Cost] = Cost.FORMULA
    because: ClassVar[str] = "there is one input"

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
        """The exact maximum, whatever the goal; `upper` adds the float64 error of evaluating ψ.

        A row that is proved comes without a point.
        """
        start = perf_counter()
        why = self.refuses(problem, row)
        if why is not None:
            return Maximum(np.inf, stopped=Why.of(Reason.REFUSED, why))
        error = allowance(problem, row)
        if goal == "prove" and (order := _order(problem.region)):
            value = _ordered(problem, row, order)
            upper, many = float(value.max()) + error, len(value)
            if upper <= target:
                return Maximum(upper, -np.inf, None, None, _note(many), perf_counter() - start, many)
        profile = _profile(problem, row)
        best, many = int(profile.value.argmax()), len(profile.t)
        upper, point, lower = float(profile.value[best]), None, -np.inf
        if goal != "prove" or upper + error > target:
            point, lower = evaluated(problem, row, profile.tuple_at(best)[:, None])
            upper = max(upper, lower)
        return Maximum(upper + error, lower, point, None, _note(many), perf_counter() - start, many)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """Nothing to write: the checkers sweep themselves."""
        return Emission(SweepProof())

    def writes(self, problem: Problem, row: Row) -> bool:
        """One copy or two, as the checkers sweep."""
        return problem.copies <= 2


def _note(many: int) -> str:
    return f"sweep over {many} breakpoints"


def local_maxima(problem: Problem, row: Row, limit: int = 16, separation: float = 1e-3) -> np.ndarray:
    """Locally maximal tuples with a positive violation, best first: [P, k, 1] model units, P ≤ limit.

    For each candidate t_1 the best rest of the tuple is taken; local maxima over t_1 are kept, those closer than
    `separation` times the interval to a better one dropped.
    """
    profile = _profile(problem, row)
    value = profile.value
    left, right = np.append(-np.inf, value[:-1]), np.append(value[1:], -np.inf)
    peaks = np.flatnonzero((value > left) & (value >= right) & (value > 0))
    peaks = peaks[np.argsort(-value[peaks], kind="stable")]
    apart = separation * float(problem.region.hi.max() - problem.region.lo.min())
    kept: list[np.ndarray] = []
    for peak in peaks:
        if len(kept) == limit:
            break
        one = profile.tuple_at(int(peak))
        if all(np.abs(one - other).max() >= apart for other in kept):
            kept.append(one)
    points = problem.region.snap(np.array(kept).reshape(-1, problem.copies, 1))
    return points[problem.value(points, row) > 0]


@dataclass(frozen=True, eq=False)
class _Profile:
    """Candidates t_1 [N] in increasing order and the largest Σ_c ψ_c − rhs that each allows [N].

    `tuple_at(i)` is the tuple [k] that takes the i-th value.
    """

    t: np.ndarray
    value: np.ndarray
    tuple_at: Callable[[int], np.ndarray]


def _profile(problem: Problem, row: Row) -> _Profile:
    region, k = problem.region, problem.copies
    const = row.const - row.rhs
    if region.strips[0]:
        return _windows(problem, row, const)
    points = _candidates(problem, row)
    if region.pinned[0]:
        t = _sorted(np.concatenate(points))
        value = sum((_psi(problem, row, c, t) for c in range(k)), np.full(len(t), const))
        return _Profile(t, value, lambda i: np.full(k, t[i]))
    values = [_psi(problem, row, c, points[c]) for c in range(k)]
    tops = [int(v.argmax()) for v in values]
    others = sum(float(v[i]) for v, i in zip(values[1:], tops[1:], strict=True))
    rest = [points[c][tops[c]] for c in range(1, k)]
    return _Profile(points[0], values[0] + (const + others), lambda i: np.array([points[0][i], *rest]))


def _windows(problem: Problem, row: Row, const: float) -> _Profile:
    """`_profile` of two copies with a strip."""
    region = problem.region
    lo, hi = region.lo[:, 0], np.maximum(region.lo[:, 0], region.hi[:, 0])
    dl, du, step = region.delta_lo[0], region.delta_hi[0], region.step[0]
    points = _candidates(problem, row)
    second = points[1]
    t = np.concatenate([points[0], second + dl, second + du])
    t = _sorted(_to_grid(t[(t >= lo[0]) & (t <= hi[0])], step, lo[0], hi[0]))
    left = np.clip(_to_grid(t - du, step, lo[1], hi[1]), lo[1], hi[1])
    right = np.clip(_to_grid(t - dl, step, lo[1], hi[1]), lo[1], hi[1])
    ends = _psi(problem, row, 1, np.concatenate([second, left, right]))
    inner, at_left, at_right = ends[: len(second)], ends[len(second) : len(second) + len(t)], ends[-len(t) :]
    first, last = np.searchsorted(second, left, "left"), np.searchsorted(second, right, "right")
    best = np.maximum(np.maximum(at_left, at_right), _window_max(inner, first, last))

    def tuple_at(i: int) -> np.ndarray:
        options, worth = [left[i], right[i]], [at_left[i], at_right[i]]
        if first[i] < last[i]:
            j = first[i] + int(inner[first[i] : last[i]].argmax())
            options, worth = [*options, second[j]], [*worth, inner[j]]
        return np.array([t[i], options[int(np.argmax(worth))]])

    return _Profile(t, const + _psi(problem, row, 0, t) + best, tuple_at)


def _order(region: Region) -> int:
    """1 if the premise is two copies in one interval with t_1 ≥ t_2 and nothing else, −1 for t_1 ≤ t_2, else 0."""
    if not region.strips[0]:
        return 0
    (lo, other_lo), (hi, other_hi) = region.lo[:, 0].tolist(), region.hi[:, 0].tolist()
    if region.step[0] or lo != other_lo or hi != other_hi:
        return 0
    dl, du = float(region.delta_lo[0]), float(region.delta_hi[0])
    return 1 if dl == 0 and du >= hi - lo else -1 if du == 0 and dl <= lo - hi else 0


def _ordered(problem: Problem, row: Row, order: int) -> np.ndarray:
    """The values of `_profile` where only the order of two copies is given, without the tuples that take them.

    Few and plain NumPy calls: they are what the proof of a monotone network costs.
    """
    lo, hi = float(problem.region.lo[0, 0]), float(problem.region.hi[0, 0])
    kinks, concave = _kinks(problem.snapshot), _concave(problem, row)
    own = kinks[(concave[0] | concave[1]) & (kinks > lo) & (kinks < hi)]
    own.sort()
    t = np.empty(len(own) + 2)
    t[0], t[1:-1], t[-1] = lo, own, max(lo, hi)
    psi = _psi(problem, row, slice(None), t)  # [N, 2]
    second = psi[:, 1] if order > 0 else psi[::-1, 1]
    best = np.maximum.accumulate(second)
    return psi[:, 0] + (best if order > 0 else best[::-1]) + (row.const - row.rhs)


def _psi(problem: Problem, row: Row, c: int | slice, t: np.ndarray) -> np.ndarray:
    """ψ_c at t [N] without the constant, [N]; for a slice of copies [N, copies]."""
    s, column = problem.snapshot, t[:, None]
    hidden = column * s.hidden_weight[:, 0]
    hidden += s.hidden_bias
    np.maximum(hidden, 0.0, out=hidden)
    value = hidden @ row.unit[c].T
    value += (t if isinstance(c, int) else column) * row.slope[c, 0]
    if s.boxes != "gap":
        flips = problem.flips
        inner = flips.const + column * flips.slope[:, 0] + hidden @ flips.unit.T
        value += np.maximum(inner, 0.0) @ row.flip[c].T
    return value


def _kinks(s: Snapshot) -> np.ndarray:
    """−b/w of every unit [H], infinite or not a number where w = 0: never inside an interval."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return -s.hidden_bias / s.hidden_weight[:, 0]


def _concave(problem: Problem, row: Row) -> np.ndarray:
    """Which units are concave in which copy, [k, H] bool."""
    concave = row.unit < 0
    if problem.snapshot.boxes != "gap":
        concave |= ((row.flip > 0)[:, :, None] & (problem.flips.unit < 0)).any(axis=1)
    return concave


def _candidates(problem: Problem, row: Row) -> list[np.ndarray]:
    """For every copy the ends of [lo, hi] and the breakpoints of its concave units (on a grid their neighbours)."""
    kinks, concave, step = _kinks(problem.snapshot), _concave(problem, row), problem.region.step[0]
    lo = problem.region.lo[:, 0]
    hi = np.maximum(lo, problem.region.hi[:, 0])
    out = []
    for c in range(len(lo)):
        own = kinks[concave[c] & (kinks > lo[c]) & (kinks < hi[c])]
        if step:
            at = (own - lo[c]) / step
            own = np.clip(lo[c] + step * np.concatenate([np.floor(at), np.ceil(at)]), lo[c], hi[c])
        out.append(_sorted(np.concatenate([lo[c : c + 1], own, hi[c : c + 1]])))
    return out


def _sorted(t: np.ndarray) -> np.ndarray:
    """The different values of t in increasing order."""
    t = np.sort(t)
    new = np.empty(len(t), dtype=bool)
    new[:1] = True
    np.not_equal(t[1:], t[:-1], out=new[1:])
    return t[new]


def _to_grid(t: np.ndarray, step: float, lo: float, hi: float) -> np.ndarray:
    return np.clip(lo + step * np.rint((t - lo) / step), lo, hi) if step else t


def _window_max(value: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """max of value[first:last] for each window, −inf where it is empty; a table over powers of two."""
    size = last - first
    if (last == len(value)).all():  # windows open to the right: no table needed
        rest = np.append(np.maximum.accumulate(value[::-1])[::-1], -np.inf)
        return rest[first]
    if not first.any():
        return np.append(-np.inf, np.maximum.accumulate(value))[last]
    out, table, width = np.full(len(first), -np.inf), value, 1
    while True:  # table[i] is the maximum of value[i : i + width]
        here = np.flatnonzero((size >= width) & (size < 2 * width))
        out[here] = np.maximum(table[first[here]], table[last[here] - width])
        if 2 * width > len(value):
            return out
        table = np.maximum(table[: len(table) - width], table[width:])
        width *= 2
