"""The reduced MIP: ``max Σ_c ψ_c − rhs`` with one binary per undecided unit that the maximum wants large.

After presolve (`presolve.py`), with a = W u_c + b ∈ [l, h], l < 0 < h exact, r for relu(a):

    r ≥ 0, r ≥ a                              where r must not be too small (negative coefficient): no binary needed
    r ≤ a − l·(1 − z),  r ≤ h·z,  z ∈ {0,1}   where r must not be too large (positive coefficient)

A unit that feeds flip units with both signs gets both. Pinned coordinates share one column, whole-valued ones are
u = lo + step·n, groups sum to one. *Twin cuts* for a unit seen in two copies, [dl, du] the range of a' − a'':

    r' − r'' ≤ du (a' − a'' − dl)/(du − dl),   r' − r'' ≥ dl (du − (a' − a''))/(du − dl)    if dl < 0 < du
    0 ≤ r' − r'' ≤ a' − a''   if dl ≥ 0,       a' − a'' ≤ r' − r'' ≤ 0                       if du ≤ 0

Columns are scaled (inputs to [0, 1], units by the size of their range) and the objective is divided by the scale of the
row, so that the solver's absolute tolerances mean something. Numbers that nearly cancel (an input near 1e9 that varies
by one) leave rounding errors in a range or a right side; where one exceeds what the solver's tolerance forgives, the
row is weakened by it, for a bound that is too tight by an ulp cuts off whole regions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.problem.region import Region
from smilenn.provers.mip.linear_model import Builder, LinearModel
from smilenn.provers.mip.presolve import Reduced, presolve
from smilenn.provers.mip.solvers import Solver, SolverResult, Status, solver
from smilenn.provers.prover import EPS, FOREVER, GAP, Goal, allowance, evaluated
from smilenn.provers.rules.rule import Cost, Rule
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum

FORGIVEN = 1e-10  # relative to a row's scale: a tenth of the tolerance that solvers are given


@dataclass(frozen=True, eq=False)
class Inputs:
    """Input columns: u[c, i] = offset[c, i] + factor[c, i] · x[column[c, i]]; a fixed coordinate has factor 0."""

    column: np.ndarray
    offset: np.ndarray
    factor: np.ndarray

    def u(self, x: np.ndarray) -> np.ndarray:
        """The tuple [k, m] of a solution x [columns]."""
        return self.offset + self.factor * x[self.column]


@dataclass(frozen=True)
class ReducedMip(Rule):
    """The reduced MIP on a solver (HiGHS by default): a solver's word, which no certificate can repeat."""

    solver: Solver = field(default_factory=solver)
    twin_cuts: bool = True
    threads: int = 1
    name: ClassVar[str] = "mip"
    tolerance: ClassVar[float] = 1e-6
    shows: ClassVar[str] = "ε = 0 otherwise, and three copies or more"
    cost: ClassVar[Cost] = Cost.SEARCH
    because: ClassVar[str] = "the claim is tight on the diagonal, or has three copies or more"
    challenged: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return f"{self.solver.title} (reduced MIP)"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Never: this is the general method."""
        return None

    def declines(self, problem: Problem, row: Row) -> str | None:
        """One or two copies with room: branch-and-bound is faster there, in the mean (docs/notes/provers.md).

        Its joint bounds do not cover three copies, and a claim with ε = 0 is met on the diagonal only within a
        tolerance, which the MIP has.
        """
        return "Branch-and-bound is faster here." if problem.copies <= 2 and not problem.tight else None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """Solve; the bound is the solver's dual bound, the point is re-evaluated."""
        start = perf_counter()
        reduced = presolve(problem, row)
        model, inputs = reduced_model(reduced, row.scale, twin_cuts=self.twin_cuts)
        found = solved(self.solver, problem, row, model, inputs, start, time_limit, goal, target, self.threads)
        return replace(found, error=self.solver.tolerance * sensitivity(reduced) + allowance(problem, row))


def solved(
    engine: Solver,
    problem: Problem,
    row: Row,
    model: LinearModel,
    inputs: Inputs,
    start: float,
    time_limit: float,
    goal: Goal,
    target: float,
    threads: int = 1,
) -> Maximum:
    """Run a solver on a model whose objective is the violation divided by `row.scale`, and check what it says.

    A point that the solver holds for a violation but that is none in float64 does not end the search: the solver runs
    on to optimality in the time that is left.
    """
    scale, upper, best, at, nodes = row.scale, np.inf, -np.inf, None, 0
    above = target / scale + (1e-9 if goal != "optimum" else np.inf)
    below = target / scale if goal != "optimum" else -np.inf
    while True:
        left = time_limit - (perf_counter() - start)
        result = engine.solve(model, time_limit=left, above=above, below=below, gap=GAP, threads=threads)
        nodes += result.nodes
        upper = min(upper, bound_of(result) * scale)
        point, value = evaluated(problem, row, None if result.x is None else inputs.u(result.x))
        if value > best:
            best, at = value, point
        if result.status is Status.ABOVE and best <= target and above < np.inf:
            above = np.inf
            continue
        break
    stopped = stop_of(result)
    return Maximum(max(upper, best), best, at, stopped, result.status.value, perf_counter() - start, nodes)


STOPS = {
    Status.INFEASIBLE: Reason.INFEASIBLE,
    Status.UNBOUNDED: Reason.UNBOUNDED_MODEL,
    Status.TIME_LIMIT: Reason.TIME,
    Status.INTERRUPTED: Reason.INTERRUPTED,
    Status.ERROR: Reason.SOLVER,
}


def stop_of(result: SolverResult) -> Why | None:
    """Why a solver stopped short of its goal, None where it reached it."""
    if result.status is Status.ERROR and result.detail:
        return Why.of(Reason.SOLVER_SAYS, result.detail)
    return Why(STOPS[result.status]) if result.status in STOPS else None


def bound_of(result: SolverResult) -> float:
    """The dual bound of a result, +inf unless the status is one whose bound means something."""
    trusted = (Status.OPTIMAL, Status.ABOVE, Status.BELOW, Status.TIME_LIMIT, Status.INTERRUPTED)
    return result.dual_bound if result.status in trusted and not np.isnan(result.dual_bound) else np.inf


def sensitivity(reduced: Reduced) -> float:
    """How far the maximum moves, at most, per unit of tolerance in the rows of its scaled model, in output units.

    A unit's column enters with the gain |κ|·size, and so at most with that multiplier do its rows (definition, two
    sides of the relu, twin cuts); four rows each, and as much again for the units inside a flip.
    """
    size = np.maximum(-reduced.low, reduced.high)  # [k, h]
    width = np.maximum(reduced.region.hi - reduced.region.lo, 0.0)
    inner = np.maximum(-reduced.inner_low, reduced.inner_high) + np.einsum(
        "knh,kh->kn", np.abs(reduced.inner_unit), size
    )
    gains = (np.abs(reduced.unit) * size).sum() + (reduced.flip * inner).sum() + (np.abs(reduced.slope) * width).sum()
    return 4.0 * float(gains)


def padding(error: np.ndarray | float, size: np.ndarray | float) -> np.ndarray:
    """What a rounding error is worth beside a size: nothing where a solver's tolerance forgives it, else twice it."""
    return np.where(np.asarray(error) > FORGIVEN * np.asarray(size), 2.0 * np.asarray(error), 0.0)


def rounding(weight: np.ndarray, bias: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Float64 error of W u_c + b for |u_c| ≤ largest [k, m]: [k, H]."""
    terms = weight.shape[1] + 8
    return EPS * terms * (largest @ np.abs(weight).T + np.abs(bias))


def reduced_model(reduced: Reduced, scale: float, *, twin_cuts: bool = True) -> tuple[LinearModel, Inputs]:
    """The MIP of a presolved row, objective divided by `scale`."""
    build = Builder()
    inputs = input_columns(build, reduced.region)
    reduced = _padded(reduced)
    k, h = reduced.unit.shape
    build.offset = (reduced.const + float((reduced.slope * inputs.offset).sum())) / scale
    for c in range(k):
        for column, gain in zip(inputs.column[c], reduced.slope[c] * inputs.factor[c], strict=True):
            build.gain[column] += gain / scale
    live = reduced.flip > 0
    up, down = _sides(reduced)
    size = np.maximum(-reduced.low, reduced.high)  # [k, h] units are scaled by it: a/size, r/size
    pre, out = np.full((k, h), -1), np.full((k, h), -1)
    for j in range(h):
        for c in range(k):
            if c and reduced.tied[j]:
                pre[c, j], out[c, j] = pre[0, j], out[0, j]
            elif up[c, j] or down[c, j]:
                gain = reduced.unit[c, j] * size[c, j] / scale
                pre[c, j], out[c, j] = _unit(
                    build,
                    inputs,
                    c,
                    reduced.weight[j],
                    reduced.bias[j],
                    reduced.low[c, j],
                    reduced.high[c, j],
                    gain,
                    up[c, j],
                    down[c, j],
                )
    if twin_cuts and k == 2 and h:
        _twins(build, reduced, pre, out, size, up, down)
    for c in range(k):
        for i in np.flatnonzero(live[c]):
            _flip(build, inputs, reduced, c, int(i), out[c], size[c], scale)
    return build.model(), inputs


def _sides(reduced: Reduced) -> tuple[np.ndarray, np.ndarray]:
    """Which units gain by being large, which by being small, [k, h] each; a tied unit's first copy speaks for all."""
    sides = []
    for sign in (1.0, -1.0):
        side = sign * reduced.unit > 0
        for own, live, inner in zip(side, reduced.flip > 0, reduced.inner_unit, strict=False):
            own |= (sign * inner[live] > 0).any(axis=0)
        side[0, reduced.tied] = side[:, reduced.tied].any(axis=0)
        sides.append(side)
    return sides[0], sides[1]


def _padded(reduced: Reduced) -> Reduced:
    """The same with ranges that contain what rounding may make of them."""
    largest = reduced.region.largest
    error = rounding(reduced.weight, reduced.bias, largest)
    pad = padding(error, np.maximum(-reduced.low, reduced.high))
    low, high = reduced.low - pad, reduced.high + pad
    if not reduced.flip.size:
        return replace(reduced, low=low, high=high)
    inner = np.stack(
        [
            rounding(slope, const, one[None])[0] + np.abs(unit) @ (own + EPS * len(own) * size)
            for slope, const, unit, one, own, size in zip(
                reduced.inner_slope,
                reduced.inner_const,
                reduced.inner_unit,
                largest,
                error,
                np.maximum(-low, high),
                strict=True,
            )
        ]
    )
    pad = padding(inner, np.maximum(-reduced.inner_low, reduced.inner_high))
    return replace(reduced, low=low, high=high, inner_low=reduced.inner_low - pad, inner_high=reduced.inner_high + pad)


def input_columns(build: Builder, region: Region, *, share: bool = True) -> Inputs:
    """Columns, grid, groups, strips and extra rows of the region; pinned coordinates share a column if `share`."""
    k, m = region.copies, region.size
    offset, factor = region.lo.copy(), np.maximum(region.hi - region.lo, 0.0)
    grid = region.step > 0
    factor[:, grid] = np.where(factor[:, grid] > 0, region.step[grid], 0.0)
    column = np.zeros((k, m), dtype=np.int64)
    for i in range(m):
        for c in range(k):
            if c and region.pinned[i] and share:
                column[c, i], offset[c, i], factor[c, i] = column[0, i], offset[0, i], factor[0, i]
                continue
            top = 1.0 if not grid[i] else np.rint((region.hi[c, i] - region.lo[c, i]) / region.step[i])
            column[c, i] = build.column(0.0, top if factor[c, i] > 0 else 0.0, whole=bool(grid[i]), name=f"x{c}.{i}")
    inputs = Inputs(column, offset, factor)
    _group_rows(build, region, inputs, share)
    _strip_rows(build, region, inputs, share)
    _further_rows(build, region, inputs)
    return inputs


def _group_rows(build: Builder, region: Region, inputs: Inputs, share: bool) -> None:
    """One member of every category is 1."""
    for group in region.groups:
        members = list(group)
        for c in range(region.copies):
            if c and share and region.pinned[members].all():
                continue
            total = 1.0 - inputs.offset[c, members].sum()
            build.dense(inputs.column[c, members], inputs.factor[c, members], total, total)


def _strip_rows(build: Builder, region: Region, inputs: Inputs, share: bool) -> None:
    """δ_lo ≤ x_1 − x_2 ≤ δ_hi; pinned copies are equal, where they do not share a column."""
    k, (column, offset, factor) = region.copies, (inputs.column, inputs.offset, inputs.factor)
    for i in np.flatnonzero(region.strips | (region.pinned & (not share) & (k > 1))):
        size = max(float(factor[:, i].max()), 1e-300)
        gap = offset[0, i] - offset[1, i]
        lo, hi = (region.delta_lo[i], region.delta_hi[i]) if k == 2 else (0.0, 0.0)
        pad = float(padding(EPS * (np.abs(offset[:, i]).sum() + abs(lo) + abs(hi)), size))
        entries = [factor[0, i] / size, -factor[1, i] / size]
        build.dense(column[:2, i], entries, (lo - gap - pad) / size, (hi - gap + pad) / size)
        for c in range(2, k):
            build.dense(column[[0, c], i], [factor[0, i] / size, -factor[c, i] / size], 0.0, 0.0)


def _further_rows(build: Builder, region: Region, inputs: Inputs) -> None:
    """The other rows of the premise."""
    for coef, rhs, same in zip(region.coef, region.rhs, region.equality, strict=True):
        value = coef * inputs.factor
        size = max(float(np.abs(value).max()), 1e-300)
        error = EPS * (coef.size + 2) * (abs(rhs) + float(np.abs(coef * inputs.offset).sum()))
        top, pad = (rhs - float((coef * inputs.offset).sum())) / size, float(padding(error, size)) / size
        build.dense(inputs.column.ravel(), (value / size).ravel(), top - pad if same else -np.inf, top + pad)


def _unit(
    build: Builder,
    inputs: Inputs,
    c: int,
    weight: np.ndarray,
    bias: float,
    low: float,
    high: float,
    gain: float,
    up: bool,
    down: bool,
) -> tuple[int, int]:
    """Columns a/size and relu(a)/size of one undecided unit; returns their indices."""
    size = max(-low, high)
    pre = build.column(low / size, high / size)
    used = np.flatnonzero(weight * inputs.factor[c])
    const = (bias + float(weight @ inputs.offset[c])) / size
    build.dense(
        np.append(inputs.column[c, used], pre),
        np.append(weight[used] * inputs.factor[c, used] / size, -1.0),
        -const,
        -const,
    )
    out = build.column(0.0, high / size, gain=gain)
    if down:
        build.row({out: 1.0, pre: -1.0}, lo=0.0)
    if up:
        z = build.column(0.0, 1.0, whole=True)
        build.row({out: 1.0, pre: -1.0, z: -low / size}, hi=-low / size)
        build.row({out: 1.0, z: -high / size}, hi=0.0)
    return pre, out


def _twins(
    build: Builder,
    reduced: Reduced,
    pre: np.ndarray,
    out: np.ndarray,
    size: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
) -> None:
    """Twin cuts for units undecided in both copies."""
    dl, du = reduced.region.difference_ranges(reduced.weight)
    for j in np.flatnonzero((out >= 0).all(axis=0) & ~reduced.tied):
        s = max(float(size[:, j].max()), 1e-300)
        r0, r1, a0, a1 = out[0, j], out[1, j], pre[0, j], pre[1, j]
        f0, f1 = size[0, j] / s, size[1, j] / s  # r' − r'' = s·(f0·x[r0] − f1·x[r1])
        lo, hi = min(dl[j], 0.0) / s, max(du[j], 0.0) / s
        if hi - lo <= 1e-12:
            continue
        if up[0, j] or down[1, j]:
            rise = hi / (hi - lo)
            build.row({r0: f0, r1: -f1, a0: -rise * f0, a1: rise * f1}, hi=-rise * lo)
        if up[1, j] or down[0, j]:
            rise = -lo / (hi - lo)
            build.row({r0: f0, r1: -f1, a0: -rise * f0, a1: rise * f1}, lo=-rise * hi)


def _flip(
    build: Builder, inputs: Inputs, reduced: Reduced, c: int, i: int, out: np.ndarray, size: np.ndarray, scale: float
) -> None:
    """Column p·relu(inner) of one undecided flip unit: only its upper side matters, p > 0."""
    low, high = reduced.inner_low[c, i], reduced.inner_high[c, i]
    s = max(-low, high)
    units = np.flatnonzero(reduced.inner_unit[c, i])
    used = np.flatnonzero(reduced.inner_slope[c, i] * inputs.factor[c])
    const = float(reduced.inner_const[c, i] + reduced.inner_slope[c, i] @ inputs.offset[c]) / s
    f = build.column(0.0, high / s, gain=reduced.flip[c, i] * s / scale)
    t = build.column(0.0, 1.0, whole=True)
    columns = np.concatenate([inputs.column[c, used], out[units], [f, t]])
    inner = np.concatenate(
        [reduced.inner_slope[c, i, used] * inputs.factor[c, used], reduced.inner_unit[c, i, units] * size[units]]
    )
    build.dense(columns, np.concatenate([-inner / s, [1.0, -low / s]]), -np.inf, const - low / s)
    build.row({f: 1.0, t: -high / s}, hi=0.0)
