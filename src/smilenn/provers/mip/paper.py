"""The paper's full big-M model, kept as the reference that the reduced problem is tested and measured against.

    max γ   over x', x'', r', r'', s', s'', z', z'', t', t'', y', y'', b
    l ≤ x', x'' ≤ u,   δ_lo ≤ x' − x'' ≤ δ_hi,   whole and one-hot features as in X
    r ≥ 0, r ≥ a, r ≤ a − L(1 − s), r ≤ U s, s ∈ {0,1}      every unit a = W x + b of both nets, in both copies
    z ≥ lower(x), z ≤ lower(x) + M(1 − t), z ≤ upper(x) + M t, t ∈ {0,1}ⁿ
    z ≥ lower(x), z ≤ lower(x) + gap(x)          instead, where it is told that boxes cannot flip (`flips` False)
    y = G z + g_0
    γ ≤ y' − y'' − ε_hi + M b,   γ ≤ −y' + y'' + ε_lo + M (1 − b),   b ∈ {0,1}

Nothing is shared, folded or cut. By default every M is the smallest valid one by interval bounds; a fixed `big_m` for
all of them is what the paper describes, with its traps: too small cuts off true counterexamples, too large lets an
integrality tolerance buy violation, and ε_lo = −M for a one-sided claim makes γ ≤ 0 always. A one-sided claim here
drops the other side. γ is left free below, so that a bound is reported where the paper's γ > 0 would be infeasible.

`PaperMip` bounds one row (any number of copies and outputs, input terms included), always takes interval bounds and
knows of flip-free boxes; `two_sided` is the formula above, for experiments also with a fixed M, whose bounds then prove
nothing. The paper knows no flip-free boxes: to its model upper = lower + gap is a net like any other, with bounds of
its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.errors import SmileError
from smilenn.problem import Problem, Row
from smilenn.provers.mip.linear_model import Builder
from smilenn.provers.mip.presolve import inner_ranges
from smilenn.provers.mip.reduced import Inputs, bound_of, input_columns, padding, rounding, solved
from smilenn.provers.mip.solvers import Solver, Status, solver
from smilenn.provers.prover import EPS, FOREVER, GAP, Goal, Prover, allowance
from smilenn.verdict import Maximum


@dataclass(frozen=True)
class PaperMip(Prover):
    """The paper's model for one row, every M from interval bounds."""

    solver: Solver = field(default_factory=solver)
    threads: int = 1
    name: ClassVar[str] = "paper-mip"
    tolerance: ClassVar[float] = 1e-6
    challenged: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return f"{self.solver.title} (the paper's model)"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Never."""
        return None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """Solve; bound from the solver's dual side, point re-evaluated."""
        start = perf_counter()
        build = Builder()
        inputs, y = _network(build, problem, None, flips=problem.snapshot.boxes == "paper")
        gamma = build.column(-np.inf, np.inf, gain=1.0, name="gamma")
        columns, values, const = _violation(row, inputs, y)
        build.dense(
            np.append(columns, gamma), np.append(-values / row.scale, 1.0), -np.inf, (const - row.rhs) / row.scale
        )
        found = solved(self.solver, problem, row, build.model(), inputs, start, time_limit, goal, target, self.threads)
        return replace(found, error=self.solver.tolerance * _sensitivity(problem, row) + allowance(problem, row))


@dataclass(frozen=True, eq=False)
class TwoSided:
    """What the two-sided model says.

    Attributes
    ----------
    bound : the solver's dual bound on γ.
    claimed : γ of the solver's incumbent, as it says.
    value : the larger side at that incumbent, re-evaluated in float64 (−inf if it is not a member of the region).
    """

    status: Status
    bound: float
    claimed: float
    value: float
    point: np.ndarray | None
    seconds: float
    nodes: int


def two_sided(
    problem: Problem,
    eps_lo: float | None,
    eps_hi: float | None,
    *,
    big_m: float | None = None,
    engine: Solver | None = None,
    time_limit: float = FOREVER,
    target: float | None = None,
    threads: int = 1,
    flips: bool = True,
    gap: float = GAP,
) -> TwoSided:
    """``eps_lo ≤ f(x') − f(x'') ≤ eps_hi`` in one model with the paper's b; None drops a side.

    `big_m` None takes interval bounds. With `target` the solver may stop at a point above it, or once the bound is at
    or below it. `flips` False leaves the t out where boxes cannot flip.
    """
    s = problem.snapshot
    if problem.copies != 2 or len(s.outputs) != 1 or (eps_lo is None and eps_hi is None):
        raise SmileError("The two-sided model needs two copies, one output and at least one side.")
    build = Builder()
    inputs, y = _network(build, problem, big_m, flips=flips or s.boxes == "paper")
    widest = 2.0 * max(_spread(problem), abs(eps_lo or 0.0), abs(eps_hi or 0.0)) if big_m is None else big_m
    _sides(build, y, eps_lo, eps_hi, widest)
    above, below = (np.inf, -np.inf) if target is None else (target + 1e-9, target)
    result = (engine or solver()).solve(
        build.model(), time_limit=time_limit, above=above, below=below, gap=gap, threads=threads
    )
    point, value = None, -np.inf
    if result.x is not None:
        point = problem.region.snap(inputs.u(result.x))
        value = _larger_side(problem, point, eps_lo, eps_hi)
    return TwoSided(result.status, bound_of(result), result.primal, value, point, result.seconds, result.nodes)


def _sides(build: Builder, y: np.ndarray, eps_lo: float | None, eps_hi: float | None, widest: float) -> None:
    """γ below both sides, of which b chooses one; below the only one where a side is missing."""
    gamma = build.column(-np.inf, np.inf, gain=1.0, name="gamma")
    both = eps_lo is not None and eps_hi is not None
    b, m = build.column(0.0, 1.0 if both else 0.0, whole=True, name="b"), widest if both else 0.0
    first, second = y[0, 0], y[1, 0]
    if eps_hi is not None:
        build.row({gamma: 1.0, first: -1.0, second: 1.0, b: -m}, hi=-eps_hi)
    if eps_lo is not None:
        build.row({gamma: 1.0, first: 1.0, second: -1.0, b: m}, hi=eps_lo + m)


def _larger_side(problem: Problem, point: np.ndarray, eps_lo: float | None, eps_hi: float | None) -> float:
    """max(f(x') − f(x'') − ε_hi, f(x'') − f(x') + ε_lo) at a point [2, m], −inf if it is not a member of the region."""
    if not problem.region.contains(point).all():
        return -np.inf
    high = -np.inf if eps_hi is None else difference(problem, point, 1) - eps_hi
    low = -np.inf if eps_lo is None else difference(problem, point, -1) + eps_lo
    return max(high, low)


def difference(problem: Problem, u: np.ndarray, sign: int) -> float:
    """The largest sign·(f(x') − f(x'')) that the boxes allow at u [2, m] (model units), one output."""
    s = problem.snapshot
    lower, upper = s.box(u)  # [2, n]
    g = sign * s.head_weight[0]
    high, low = np.where(g > 0, upper[0], lower[0]), np.where(g > 0, lower[1], upper[1])
    return float(g @ (high - low))


def _network(build: Builder, problem: Problem, big_m: float | None, *, flips: bool) -> tuple[Inputs, np.ndarray]:
    """All columns and rows up to y = G z + g_0, every copy by itself; returns the inputs and y's columns [k, o]."""
    s, region = problem.snapshot, problem.region
    inputs = input_columns(build, region, share=False)
    low, high = region.unit_ranges(s.hidden_weight, s.hidden_bias)
    k, n = problem.copies, s.embedding
    units_pad, flips_pad = _pads(problem)
    low, high = low - units_pad, high + units_pad
    upper_const, upper_slope, upper_out = s.second_const, s.second_slope, s.second_out
    if s.boxes == "gap":
        upper_const, upper_slope = s.lower_const + upper_const, s.lower_slope + upper_slope
        upper_out = s.lower_out + upper_out
        lower_lo, lower_hi = _net_ranges(problem, s.lower_const, s.lower_slope, s.lower_out)
        upper_lo, upper_hi = _net_ranges(problem, upper_const, upper_slope, upper_out)
        room_lo, room_hi = upper_lo - lower_hi, upper_hi - lower_lo
    else:
        room_lo, room_hi = _flip_ranges(problem)
    room_lo, room_hi = room_lo - flips_pad, room_hi + flips_pad
    y = np.zeros((k, len(s.outputs)), dtype=np.int64)
    for c in range(k):
        x, offset, factor = inputs.column[c], inputs.offset[c], inputs.factor[c]
        units = np.array(
            [
                _relu(
                    build,
                    x,
                    s.hidden_weight[j] * factor,
                    s.hidden_bias[j] + float(s.hidden_weight[j] @ offset),
                    *((min(low[c, j], 0.0), max(high[c, j], 0.0)) if big_m is None else (-big_m, big_m)),
                )
                for j in range(len(s.hidden_bias))
            ],
            dtype=np.int64,
        )
        z = np.array([build.column(-np.inf, np.inf, name=f"z{c}.{i}") for i in range(n)])
        columns = np.concatenate([x, units])
        for i in range(n):
            lower = np.concatenate([s.lower_slope[i] * factor, s.lower_out[i]])
            upper = np.concatenate([upper_slope[i] * factor, upper_out[i]])
            lower_const = float(s.lower_const[i] + s.lower_slope[i] @ offset)
            upper_at = float(upper_const[i] + upper_slope[i] @ offset)
            build.dense([z[i], *columns], [1.0, *-lower], lower_const, np.inf)
            if not flips:
                build.dense([z[i], *columns], [1.0, *-upper], -np.inf, upper_at)
                continue
            t = build.column(0.0, 1.0, whole=True, name=f"t{c}.{i}")
            open_, shut = (big_m, big_m) if big_m is not None else (room_hi[c, i], -room_lo[c, i])
            open_, shut = max(open_, 0.0), max(shut, 0.0)
            build.dense([z[i], t, *columns], [1.0, open_, *-lower], -np.inf, lower_const + open_)
            build.dense([z[i], t, *columns], [1.0, -shut, *-upper], -np.inf, upper_at)
        for o in range(len(s.outputs)):
            y[c, o] = build.column(-np.inf, np.inf, name=f"y{c}.{o}")
            build.dense([y[c, o], *z], [1.0, *-s.head_weight[o]], s.head_bias[o], s.head_bias[o])
    return inputs, y


def _sensitivity(problem: Problem, row: Row) -> float:
    """As `mip.sensitivity`, for rows that are not scaled: multipliers times the larger of one and the rows' M."""
    s, region = problem.snapshot, problem.region
    z = np.abs(row.outputs) @ np.abs(s.head_weight)  # [k, n]
    low, high = region.unit_ranges(s.hidden_weight, s.hidden_bias)
    room_lo, room_hi = _flip_ranges(problem)
    units = z @ (np.abs(s.lower_out) + np.abs(s.second_out)) * np.maximum(1.0, np.maximum(-low, high))
    boxes = z * np.maximum(1.0, np.maximum(-room_lo, room_hi))
    slopes = (z @ (np.abs(s.lower_slope) + np.abs(s.second_slope)) + np.abs(row.inputs)) * (region.hi - region.lo)
    return 4.0 * float(units.sum() + boxes.sum() + slopes.sum() + np.abs(row.outputs).sum())


def _pads(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """What rounding may add to the ranges of units [k, H] and of second − lower [k, n]; see `mip.padding`."""
    s, region = problem.snapshot, problem.region
    largest = region.largest
    units = rounding(s.hidden_weight, s.hidden_bias, largest)
    out, slope = np.abs(s.lower_out) + np.abs(s.second_out), np.abs(s.lower_slope) + np.abs(s.second_slope)
    size = largest @ np.abs(s.hidden_weight).T + np.abs(s.hidden_bias)
    flips = rounding(slope, np.abs(s.lower_const) + np.abs(s.second_const), largest)
    flips = flips + (units + EPS * (out.shape[1] + 8) * size) @ out.T
    return padding(units, 1.0), padding(flips, 1.0)


def _relu(build: Builder, x: np.ndarray, weight: np.ndarray, bias: float, low: float, high: float) -> int:
    """r = relu(weight·x + bias) with a binary, big-M rows from [low, high]; returns r's column."""
    r = build.column(0.0, high)
    s = build.column(0.0, 1.0, whole=True)
    build.dense([r, *x], [1.0, *-weight], bias, np.inf)
    build.dense([r, s, *x], [1.0, -low, *-weight], -np.inf, bias - low)
    build.dense([r, s], [1.0, -high], -np.inf, 0.0)
    return r


def _violation(row: Row, inputs: Inputs, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Σ_c a_c·y_c + b_c·x_c as columns, coefficients and a constant."""
    columns = np.concatenate([y.ravel(), inputs.column.ravel()])
    values = np.concatenate([row.outputs.ravel(), (row.inputs * inputs.factor).ravel()])
    return columns, values, row.input_const + float((row.inputs * inputs.offset).sum())


def _net_ranges(
    problem: Problem, const: np.ndarray, slope: np.ndarray, out: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Interval bounds of const + slope·u + out·relu(W u + b) per copy, each [k, n]."""
    s, k = problem.snapshot, problem.copies
    low, high = problem.region.unit_ranges(s.hidden_weight, s.hidden_bias)
    per_copy = (np.tile(const, (k, 1)), np.tile(slope, (k, 1, 1)), np.tile(out, (k, 1, 1)))
    return inner_ranges(problem.region, s.hidden_weight, s.hidden_bias, low, high, *per_copy)


def _flip_ranges(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Interval bounds of second − lower."""
    return _net_ranges(problem, problem.flips.const, problem.flips.slope, problem.flips.unit)


def _spread(problem: Problem) -> float:
    """An upper bound on |f(x') − f(x'')| by interval bounds, one output."""
    s = problem.snapshot
    lower_lo, lower_hi = _net_ranges(problem, s.lower_const, s.lower_slope, s.lower_out)
    _, second_hi = _net_ranges(problem, s.second_const, s.second_slope, s.second_out)
    top = lower_hi + np.maximum(second_hi, 0.0) if s.boxes == "gap" else np.maximum(lower_hi, second_hi)
    g = s.head_weight[0]
    high = np.where(g > 0, g * top, g * lower_lo).sum(axis=1)
    low = np.where(g > 0, g * lower_lo, g * top).sum(axis=1)
    return float(max(high[0] - low[1], high[1] - low[0]))
