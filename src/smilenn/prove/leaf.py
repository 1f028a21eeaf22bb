"""The leaf rule in float64: slopes give an upper bound on ``Σ_c ψ_c − rhs`` over a cell, and an LP finds the slopes.

A cell is a region cut by bounds and by phases of hidden units. For slopes t_cj, τ_ci and multipliers ν_e ≥ 0

    p·relu(d_i) ≤ τ·d_i + ρ_i            flip units of the paper's boxes, over the interval of d_i
    Σ_c κ_cj·relu(s_c) ≤ Σ_c t_cj·s_c + r_j     hidden units, jointly over the copies: (s_1, s_2) lie in a polygon S_j,
                                         box ∩ strip; r_j is a maximum over the corners of S_j cut by the axes
    0 ≤ ν·(rhs_e − A_e·x)                extra rows of the premise

turn the row into an affine function, whose maximum over the cell is separable (`Region.maximum`). Any slopes give a
valid bound. The best ones are multipliers of an LP: with λ_v ≥ 0 a weight on every corner v of S_j,

    max q·x + Σ_v λ_v·Σ_c κ_c·relu(v_c)   s.t.  Σ_v λ_v·v_c = w_j·x_c + b_j  (multiplier t_cj),  Σ_v λ_v = 1  (r_j)

docs/certificate.md §4.1 has the proof; the checkers compute the same bound in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.prove.linear_model import Builder
from smilenn.prove.solvers.base import Solver, Status
from smilenn.region import Region


@dataclass(frozen=True, eq=False)
class Cell:
    """Part of a premise: bounds lo, hi [k, m] in model units, phases of hidden units [k, H] and of flip units [k, n].

    A phase is −1 where the pre-activation is ≤ 0, +1 where it is ≥ 0, 0 where it is open.
    """

    lo: np.ndarray
    hi: np.ndarray
    phase: np.ndarray
    flip: np.ndarray


@dataclass(frozen=True, eq=False)
class Slopes:
    """t [k, H], τ [k, n], ν [R]."""

    unit: np.ndarray
    flip: np.ndarray
    rows: np.ndarray

    def rounded(self, bits: int) -> Slopes:
        """Rounded to multiples of 2^-bits, ν kept ≥ 0 by its caller's sign."""
        scale = 2.0**bits
        return Slopes(*(np.rint(a * scale) / scale for a in (self.unit, self.flip, self.rows)))


@dataclass(frozen=True, eq=False)
class Shape:
    """What the rule needs to know of a cell, for the units that take part.

    Attributes
    ----------
    region : the premise with the cell's bounds.
    low, high : [k, H] ranges of the pre-activations, cut by the phases.
    flip_low, flip_high : [k, n] ranges of the flip units' inner functions, cut by their phases.
    points, inside : corners of the S_j, [H, P, k] and which of them exist [H, P]; for k ≠ 2 the copies are separate and
        the corners of copy c are ``points[:, :, c]`` with ``inside[:, :, c]`` [H, P, k].
    empty : the cell holds no point.
    """

    region: Region
    low: np.ndarray
    high: np.ndarray
    flip_low: np.ndarray
    flip_high: np.ndarray
    points: np.ndarray
    inside: np.ndarray
    empty: bool


def shape(problem: Problem, cell: Cell) -> Shape:
    """Ranges and corners of a cell."""
    s, k = problem.snapshot, problem.copies
    region = replace(problem.region, lo=cell.lo, hi=cell.hi)
    h, n = len(s.hidden_bias), s.embedding
    low = high = np.zeros((k, h))
    flip_low = flip_high = np.zeros((k, n))
    points, inside = np.zeros((h, 0, k)), np.zeros((h, 0), dtype=bool)
    empty = bool((cell.lo > cell.hi).any()) or any(len(t) == 0 for t in region.allowed)
    if not empty and h:
        low, high = region.unit_ranges(s.hidden_weight, s.hidden_bias)
        low, high, empty = _cut(low, high, cell.phase)
    if not empty and s.boxes == "paper":
        flip_low, flip_high, empty = _cut(*flip_ranges(problem, region, low, high), cell.flip)
    if not empty and h and k == 2:
        points, inside = _polygon(low, high, *region.difference_ranges(s.hidden_weight))
        empty = bool((~inside.any(axis=1)).any())
    elif not empty and h:
        each = np.stack([low, high, np.zeros_like(low)], axis=-1)  # [k, H, 3]
        points = each.transpose(1, 2, 0)
        inside = ((each >= low[..., None]) & (each <= high[..., None])).transpose(1, 2, 0)
    return Shape(region, low, high, flip_low, flip_high, points, inside, empty)


def _cut(low: np.ndarray, high: np.ndarray, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Ranges cut by phases, and whether one of them is clearly empty."""
    low, high = np.where(phase > 0, np.maximum(low, 0), low), np.where(phase < 0, np.minimum(high, 0), high)
    empty = bool((low > high + 1e-9 * (1 + np.abs(low))).any())
    return low, np.maximum(low, high), empty


def _polygon(low: np.ndarray, high: np.ndarray, dl: np.ndarray, du: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of box ∩ strip cut by the axes: [H, 21, 2], and which lie in the polygon [H, 21]."""
    zero = np.zeros_like(dl)
    first, second, strip = (low[0], high[0], zero), (low[1], high[1], zero), (dl, du)
    pairs = [(a, b) for a in first for b in second]
    pairs += [(a, a - d) for a in first for d in strip]
    pairs += [(b + d, b) for b in second for d in strip]
    points = np.stack([np.stack(pair, axis=-1) for pair in pairs], axis=1)
    slack = 1e-12 * (1.0 + np.abs(low).max(axis=0) + np.abs(high).max(axis=0))[:, None]
    gap = points[..., 0] - points[..., 1]
    inside = (gap >= dl[:, None] - slack) & (gap <= du[:, None] + slack)
    for c in (0, 1):
        inside &= (points[..., c] >= low[c][:, None] - slack) & (points[..., c] <= high[c][:, None] + slack)
    return points, inside


def flip_ranges(problem: Problem, region: Region, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of the flip units' inner functions d over a region, each [k, n].

    Units that are decided in the cell count exactly, as s or 0; the others by the interval of their relu.
    """
    f, s, k = problem.flips, problem.snapshot, problem.copies
    out_low, out_high = np.empty((k, len(f.const))), np.empty((k, len(f.const)))
    up, down = np.maximum(f.unit, 0), np.minimum(f.unit, 0)
    for c in range(k):
        on, open_ = (low[c] >= 0).astype(np.float64), ((low[c] < 0) & (high[c] > 0)).astype(np.float64)
        slope, const = f.slope + (f.unit * on) @ s.hidden_weight, f.const + (f.unit * on) @ s.hidden_bias
        affine_low, affine_high = region.unit_ranges(slope, const)
        most = np.maximum(high[c], 0) * open_  # an open unit's relu lies between 0 and this
        out_low[c], out_high[c] = affine_low[c] + down @ most, affine_high[c] + up @ most
    return out_low, out_high


def rule_bound(problem: Problem, row: Row, shape: Shape, slopes: Slopes) -> float:
    """The leaf rule's bound on the violation over a cell, −inf for an empty one."""
    if shape.empty:
        return -np.inf
    s, region, f = problem.snapshot, shape.region, problem.flips
    const, affine, kappa = row.const - row.rhs, row.slope, row.unit
    if row.flip.any():
        low, high, tau = shape.flip_low, shape.flip_high, slopes.flip
        at = np.stack([low, high, np.clip(0.0, low, high)])
        const += float((row.flip * np.maximum(at, 0) - tau * at).max(axis=0).sum() + (tau * f.const).sum())
        affine, kappa = affine + tau @ f.slope, kappa + tau @ f.unit
    t = slopes.unit
    relu = np.maximum(shape.points, 0.0)
    gain = relu * kappa.T[:, None, :] - shape.points * t.T[:, None, :]  # [H, P, k]
    if problem.copies == 2:
        const += (
            float(np.where(shape.inside, gain.sum(axis=2), -np.inf).max(axis=1, initial=-np.inf).sum())
            if len(t.T)
            else 0.0
        )
    elif len(t.T):
        const += float(np.where(shape.inside, gain, -np.inf).max(axis=1).sum())
    affine = affine + t @ s.hidden_weight
    const += float((t * s.hidden_bias).sum())
    if region.has_rows:
        affine = affine - np.einsum("r,rkm->km", slopes.rows, region.coef)
        const += float(slopes.rows @ region.rhs)
    return const + float(region.maximum(affine[None])[0])


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The LP's answer on a cell: slopes, inputs u [k, m], how far hidden [k, H] and flip units [k, n] are relaxed."""

    slopes: Slopes
    u: np.ndarray
    slack: np.ndarray
    flip_slack: np.ndarray


def relax(
    problem: Problem, row: Row, cell: Cell, shape: Shape, active: np.ndarray, solver: Solver, time_limit: float
) -> Relaxation | None:
    """Solve the LP over the corners for the units `active` [H] bool; None where the solver has no answer."""
    s, region, k = problem.snapshot, shape.region, problem.copies
    builder = Builder()
    column = np.empty((k, region.size), dtype=int)
    for i in range(region.size):
        if region.pinned[i]:
            column[:, i] = builder.column(region.lo[0, i], region.hi[0, i], gain=row.slope[:, i].sum())
        else:
            for c in range(k):
                column[c, i] = builder.column(region.lo[c, i], region.hi[c, i], gain=row.slope[c, i])
    for i in np.flatnonzero(region.strips):
        builder.row({int(column[0, i]): 1.0, int(column[1, i]): -1.0}, region.delta_lo[i], region.delta_hi[i])
    for group in region.groups:
        for c in range(1 if region.pinned[list(group)].all() else k):
            builder.dense(column[c, list(group)], np.ones(len(group)), 1.0, 1.0)
    rows = len(builder._row_lo)
    for a, b, same in zip(region.coef, region.rhs, region.equality, strict=True):
        builder.dense(column.ravel(), a.ravel(), b if same else -np.inf, b)
    units = [int(j) for j in np.flatnonzero(active)]
    weights: list[list[tuple[np.ndarray, np.ndarray]]] = []  # per unit and copy: columns λ and the points' coordinates
    balance = len(builder._row_lo)
    for j in units:
        weights.append(_corners(builder, row, shape, j, k))
        for c in range(k):
            lam, at = weights[-1][c]
            index = np.concatenate([lam, column[c]])
            builder.dense(index, np.concatenate([at, -s.hidden_weight[j]]), s.hidden_bias[j], s.hidden_bias[j])
    flips = len(builder._row_lo)
    flipped, tops = _flip_rows(builder, problem, row, shape, column, units, weights) if row.flip.any() else ([], [])
    for per_copy in weights:
        for lam in {tuple(lam) for lam, _ in per_copy}:
            builder.dense(np.array(lam), np.ones(len(lam)), 1.0, 1.0)
    result = solver.solve(builder.model(), time_limit=time_limit)
    if result.status is not Status.OPTIMAL or result.multipliers is None or result.x is None:
        return None
    y, x = result.multipliers, result.x
    t, tau = np.zeros((k, len(s.hidden_bias))), np.zeros_like(row.flip)
    t[:, units] = y[balance : balance + k * len(units)].reshape(len(units), k).T
    for r, (c, i) in enumerate(flipped):
        tau[c, i] = y[flips + r]
    nu = y[rows : rows + len(region.rhs)]
    nu = np.where(region.equality, nu, np.maximum(nu, 0.0))
    u = x[column]
    slack = np.zeros((k, len(s.hidden_bias)))
    true = np.maximum(u @ s.hidden_weight.T + s.hidden_bias, 0.0)
    kappa = row.unit + tau @ problem.flips.unit if row.flip.any() else row.unit
    for j, per_copy in zip(units, weights, strict=True):
        each = np.array([float(x[lam] @ np.maximum(at, 0.0)) for lam, at in per_copy]) - true[:, j]
        joint = max(0.0, float(kappa[:, j] @ each)) if k == 2 else 1.0  # what the unit gives away, copies together
        share = np.abs(kappa[:, j] * each)
        slack[:, j] = joint * share / max(share.sum(), 1e-300) if k == 2 else np.maximum(kappa[:, j] * each, 0.0)
    flip_slack = np.zeros_like(row.flip)
    for (c, i), (d, top) in zip(flipped, tops, strict=True):
        flip_slack[c, i] = max(0.0, x[top] - max(x[d], 0.0)) * row.flip[c, i]
    return Relaxation(Slopes(t, tau, nu), u, slack, flip_slack)


def _corners(builder: Builder, row: Row, shape: Shape, j: int, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Columns λ for the corners of one unit: shared by the copies for k = 2, else one set per copy."""
    if k == 2:
        at = np.unique(shape.points[j][shape.inside[j]], axis=0)
        gains = np.maximum(at, 0.0) @ row.unit[:, j]
        lam = np.array([builder.column(0.0, 1.0, gain=g) for g in gains], dtype=int)
        return [(lam, at[:, c]) for c in range(2)]
    out = []
    for c in range(k):
        at = np.unique(shape.points[j, :, c][shape.inside[j, :, c]])
        lam = np.array([builder.column(0.0, 1.0, gain=max(v, 0.0) * row.unit[c, j]) for v in at], dtype=int)
        out.append((lam, at))
    return out


def _flip_rows(
    builder: Builder, problem: Problem, row: Row, shape: Shape, column: np.ndarray, units: list[int],
    weights: list[list[tuple[np.ndarray, np.ndarray]]],
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:  # fmt: skip
    """Rows d = const + D x + E h with h = Σ λ relu(v), and y below the concave envelope of relu(d).

    Returns the (copy, flip unit) of each and its columns (d, y). The rows that define the d come first, in this order,
    so that their multipliers are found.
    """
    f, low, high = problem.flips, shape.flip_low, shape.flip_high
    names: list[tuple[int, int]] = []
    envelope: list[tuple[int, float, float, float]] = []
    for c, i in np.argwhere(row.flip).tolist():
        d = builder.column(float(low[c, i]), float(high[c, i]))
        index, value = [np.array([d]), column[c]], [np.array([1.0]), -f.slope[i]]
        for j, per_copy in zip(units, weights, strict=True):
            lam, at = per_copy[c]
            index.append(lam)
            value.append(-f.unit[i, j] * np.maximum(at, 0.0))
        builder.dense(np.concatenate(index), np.concatenate(value), float(f.const[i]), float(f.const[i]))
        names.append((c, i))
        envelope.append((d, float(low[c, i]), float(high[c, i]), float(row.flip[c, i])))
    tops: list[tuple[int, int]] = []
    for d, a, b, p in envelope:
        top = builder.column(0.0, max(b, 0.0), gain=p)
        tops.append((d, top))
        if b > 0:  # y ≤ relu(a) + (relu(b) − relu(a))/(b − a)·(d − a)
            slope = (max(b, 0.0) - max(a, 0.0)) / (b - a) if b > a else 1.0
            builder.row({top: 1.0, d: -slope}, -np.inf, max(a, 0.0) - slope * a)
    return names, tops
