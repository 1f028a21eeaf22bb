"""The leaf rule in float64: slopes give an upper bound on ``Σ_c ψ_c − rhs`` over a cell; `relaxation.py` finds them.

A cell is a region cut by bounds and by phases of hidden units. For slopes t_cj, τ_ci and multipliers ν_e ≥ 0

    p·relu(d_i) ≤ τ·d_i + ρ_i            flip units of the paper's boxes, over the interval of d_i
    Σ_c κ_cj·relu(s_c) ≤ Σ_c t_cj·s_c + r_j     hidden units, jointly over the copies: (s_1, s_2) lie in a polygon S_j,
                                         box ∩ strip; r_j is a maximum over the corners of S_j cut by the axes
    0 ≤ ν·(rhs_e − A_e·x)                extra rows of the premise
    0 ≤ y·(h·u + r − Σ_c β_c·relu(s_c))  lemmas on single units (`lemma.py`): y·β leaves κ for the affine part

turn the row into an affine function, whose maximum over the cell is separable (`Region.maximum`). Any slopes give a
valid bound.

docs/certificate.md §4.1 has the proof; the checkers compute the same bound in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.problem.region import Region
from smilenn.provers.tree.lemma import Lemmas, sizes

NONE, EPS = np.zeros(0), float(np.finfo(np.float64).eps)


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
    """t [k, H], τ [k, n], ν [R], y [L] of the first L lemmas."""

    unit: np.ndarray
    flip: np.ndarray
    rows: np.ndarray
    lemmas: np.ndarray = field(default_factory=lambda: NONE)


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
    return cut(problem, box_shape(problem, cell.lo, cell.hi), cell.phase, cell.flip)


def box_shape(problem: Problem, lo: np.ndarray, hi: np.ndarray) -> Shape:
    """Ranges and corners of the cell with bounds lo, hi [k, m] and no phases."""
    s, k = problem.snapshot, problem.copies
    region = problem.region
    if lo is not region.lo or hi is not region.hi:
        region = replace(region, lo=lo, hi=hi)
    h, n = len(s.hidden_bias), s.embedding
    low = high = np.zeros((k, h))
    flip_low = flip_high = np.zeros((k, n))
    points, inside = np.zeros((h, 0, k)), np.zeros((h, 0, k) if k != 2 else (h, 0), dtype=bool)
    empty = region.empty
    if not empty and h:
        low, high = region.unit_ranges(s.hidden_weight, s.hidden_bias)
        high = np.maximum(low, high)
    if not empty and s.boxes == "paper":
        flip_low, flip_high, empty = _cut(*flip_ranges(problem, region, low, high), np.zeros((k, n)))
    if not empty and h and k == 2:
        points, inside = polygon(low, high, *region.difference_ranges(s.hidden_weight))
        empty = bool((~inside.any(axis=1)).any())
    elif not empty and h:
        points, inside = _ends(low, high)
    return Shape(region, low, high, flip_low, flip_high, points, inside, empty)


def _ends(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of copies by themselves: both ends and the kink, [H, 3, k], and which of them lie between the ends."""
    each = np.stack([low, high, np.zeros_like(low)], axis=-1)  # [k, H, 3]
    inside = (each >= low[..., None]) & (each <= high[..., None])
    return each.transpose(1, 2, 0), inside.transpose(1, 2, 0)


def cut(problem: Problem, base: Shape, phase: np.ndarray, flip: np.ndarray) -> Shape:
    """The shape of a box cut by phases of hidden units [k, H] and flip units [k, n].

    The corners contain the crossings with the axes, so those on the right side of them are the corners of the cut.
    """
    if base.empty or not (phase.any() or flip.any()):
        return base
    low, high, empty = _cut(base.low, base.high, phase)
    flip_low, flip_high = base.flip_low, base.flip_high
    if not empty and problem.snapshot.boxes == "paper":
        flip_low, flip_high, empty = _cut(*flip_ranges(problem, base.region, low, high), flip)
    slack = 1e-12 * (1.0 + np.maximum(np.abs(base.low), np.abs(base.high)))  # [k, H]
    right = base.points * phase.T[:, None, :] >= -slack.T[:, None, :]  # [H, P, k]
    inside = base.inside & (right.all(axis=2) if problem.copies == 2 else right)
    empty = empty or bool((~inside.any(axis=1)).any())
    return Shape(base.region, low, high, flip_low, flip_high, base.points, inside, empty)


def flip_cut(
    problem: Problem,
    base: Shape,
    phase: np.ndarray,
    flip: np.ndarray,
    parent: Shape | None = None,
    split: tuple[str, int, int, float] | None = None,
) -> Shape:
    """`cut` as far as the ranges of flip units go; the corners are those of the box, which are more than there are.

    `parent` is what this returned for the cell of the same box from which `split` made this one: a phase of one copy
    moves the ranges of that copy alone, a phase of a flip unit those of none.
    """
    if base.empty or not (phase.any() or flip.any()):
        return base
    low, high, empty = _cut(base.low, base.high, phase)
    if parent is None or split is None or split[1] < 0:
        flip_low, flip_high = flip_ranges(problem, base.region, low, high)
    else:
        flip_low, flip_high = parent.flip_low.copy(), parent.flip_high.copy()
        if split[0] == "phase":
            c = split[1]
            flip_low[c], flip_high[c] = _flip_range(problem, base.region, c, low[c], high[c])
    flip_low, flip_high, none = _cut(flip_low, flip_high, flip)
    return Shape(base.region, low, high, flip_low, flip_high, base.points, base.inside, empty or none)


def _cut(low: np.ndarray, high: np.ndarray, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Ranges cut by phases, and whether one of them is clearly empty."""
    low, high = np.where(phase > 0, np.maximum(low, 0), low), np.where(phase < 0, np.minimum(high, 0), high)
    empty = bool((low > high + 1e-9 * (1 + np.abs(low))).any())
    return low, np.maximum(low, high), empty


def polygon(low: np.ndarray, high: np.ndarray, dl: np.ndarray, du: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    each = [_flip_range(problem, region, c, low[c], high[c]) for c in range(problem.copies)]
    return np.stack([ends[0] for ends in each]), np.stack([ends[1] for ends in each])


def _flip_range(
    problem: Problem, region: Region, c: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """`flip_ranges` of copy c from the ranges of its hidden units, each [H]; each [n]."""
    f, s = problem.flips, problem.snapshot
    on = f.unit * (low >= 0)
    slope, const = f.slope + on @ s.hidden_weight, f.const + on @ s.hidden_bias
    affine_low, affine_high = region.copy_ranges(c, slope, const)
    most = np.where((low < 0) & (high > 0), high, 0.0)  # an open unit's relu lies between 0 and this
    return affine_low + np.minimum(f.unit, 0) @ most, affine_high + np.maximum(f.unit, 0) @ most


def rule_bound(problem: Problem, row: Row, shape: Shape, slopes: Slopes, lemmas: Lemmas | None = None) -> float:
    """The leaf rule's bound on the violation over a cell, −inf for an empty one; `lemmas` are those of the premise."""
    if shape.empty:
        return -np.inf
    s, region, f = problem.snapshot, shape.region, problem.flips
    const, affine, kappa = row.const - row.rhs, row.slope, row.unit
    if row.flip.any():
        low, high, tau = shape.flip_low, shape.flip_high, slopes.flip
        at = np.stack([low, high, np.clip(0.0, low, high)])
        const += float((row.flip * np.maximum(at, 0) - tau * at).max(axis=0).sum() + (tau * f.const).sum())
        affine, kappa = affine + tau @ f.slope, kappa + tau @ f.unit
    if lemmas is not None and slopes.lemmas.any():
        taken, given, more = _used(lemmas, slopes.lemmas[None], kappa.shape)
        affine, kappa, const = affine + given[0], kappa - taken[0], const + float(more[0])
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


def rule_bounds(
    problem: Problem,
    row: Row,
    base: Shape,
    phase: np.ndarray,
    t: np.ndarray,
    nu: np.ndarray,
    flip: np.ndarray | None = None,
    tau: np.ndarray | None = None,
    lemmas: Lemmas | None = None,
    y: np.ndarray = NONE,
) -> np.ndarray:
    """`rule_bound` for many cells of one box at once; [B].

    base : the shape of the box; phase [B, k, H]; slopes t [B, k, H] and multipliers ν [B, R]; with flip units also
    their phases and slopes τ, each [B, k, n]; with lemmas their y [B, L].
    """
    if base.empty:
        return np.full(len(phase), -np.inf)
    s, region, f = problem.snapshot, base.region, problem.flips
    const = row.const - row.rhs + np.einsum("bkh,h->b", t, s.hidden_bias)
    affine, kappa, empty = row.slope + t @ s.hidden_weight, row.unit, np.zeros(len(phase), dtype=bool)
    if flip is not None and tau is not None:
        low, high, empty = _flip_cells(problem, base, phase, flip)
        at = np.stack([low, high, np.clip(0.0, low, high)])
        const = const + (row.flip * np.maximum(at, 0) - tau * at).max(axis=0).sum(axis=(1, 2))
        const = const + np.einsum("bkn,n->b", tau, f.const)
        affine, kappa = affine + tau @ f.slope, row.unit + tau @ f.unit
    if lemmas is not None and y.any():
        taken, given, more = _used(lemmas, y, row.unit.shape)
        affine, kappa, const = affine + given, kappa - taken, const + more
    if t.shape[2]:
        slack = 1e-12 * (1.0 + np.maximum(np.abs(base.low), np.abs(base.high)))  # as in `cut`
        right = base.points * phase.transpose(0, 2, 1)[:, :, None] >= -slack.T[:, None]  # [B, H, P, k]
        gain = np.maximum(base.points, 0.0) * np.swapaxes(kappa, -1, -2)[..., None, :]  # [H, P, k] or [B, H, P, k]
        if problem.copies == 2:
            value = gain.sum(axis=-1) - (base.points * t.transpose(0, 2, 1)[:, :, None]).sum(axis=3)
            const += np.where(base.inside & right.all(axis=3), value, -np.inf).max(axis=2).sum(axis=1)
        else:
            value = gain - base.points * t.transpose(0, 2, 1)[:, :, None]
            const += np.where(base.inside & right, value, -np.inf).max(axis=2).sum(axis=(1, 2))
    if region.has_rows:
        affine = affine - np.einsum("br,rkm->bkm", nu, region.coef)
        const += nu @ region.rhs
    return np.where(empty, -np.inf, const + region.maximum(affine))


def _used(lemmas: Lemmas, y: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """What y [B, L] takes from κ [B, k, H], and adds to the slopes [B, k, m] and to the constants [B]."""
    some = lemmas[: y.shape[1]]
    units = np.zeros((len(some), *shape))
    units[np.arange(len(some)), :, some.unit] = some.beta
    return np.tensordot(y, units, 1), np.tensordot(y, some.slope, 1), y @ some.const


def _flip_cells(
    problem: Problem, base: Shape, phase: np.ndarray, flip: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`flip_ranges` of many cells of one box, cut by their phases: low and high, each [B, k, n], and which are empty.

    phase [B, k, H], flip [B, k, n]; hidden units are cut first, as in `cut`.
    """
    f, s, m = problem.flips, problem.snapshot, problem.region.size
    low, high, empty = _cut_many(base.low, base.high, phase)
    up, down = np.maximum(f.unit, 0), np.minimum(f.unit, 0)
    out_low, out_high = np.empty(flip.shape), np.empty(flip.shape)
    for c in range(problem.copies):
        on, open_ = low[:, c] >= 0, (low[:, c] < 0) & (high[:, c] > 0)
        active = f.unit * on[:, None]  # [B, n, H]
        slope, const = f.slope + active @ s.hidden_weight, f.const + active @ s.hidden_bias
        ends = base.region.copy_ranges(c, slope.reshape(-1, m), const.reshape(-1))
        most = np.maximum(high[:, c], 0) * open_
        out_low[:, c] = ends[0].reshape(const.shape) + most @ down.T
        out_high[:, c] = ends[1].reshape(const.shape) + most @ up.T
    out_low, out_high, also = _cut_many(out_low, out_high, flip)
    return out_low, out_high, empty | also


def _cut_many(low: np.ndarray, high: np.ndarray, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`_cut` for phases [B, k, ·]: ranges of every cell and which cells are clearly empty [B]."""
    low, high = np.where(phase > 0, np.maximum(low, 0), low), np.where(phase < 0, np.minimum(high, 0), high)
    empty = np.asarray((low > high + 1e-9 * (1 + np.abs(low))).any(axis=(1, 2)))
    return low, np.maximum(low, high), empty


class Rounding:
    """How far `rule_bound` may fall below the exact value of its formula, for one row over the whole region.

    A sum of n terms errs by at most n·u·Σ|terms|, u = eps/2, nested sums by the sum of their lengths. The terms are
    those of slopes and coefficients times pre-activations before anything cancels, |t|·(|w|·|x| + |b|); corners and
    ranges are sums of the same kind. Four times that is used, as in `prover.allowance`.
    """

    def __init__(self, problem: Problem, row: Row) -> None:
        s, region, f = problem.snapshot, problem.region, problem.flips
        largest = np.maximum(np.abs(region.lo), np.abs(region.hi))  # [k, m]
        self.largest, self.sizes = largest, NONE
        self.unit = largest @ np.abs(s.hidden_weight).T + np.abs(s.hidden_bias)  # [k, H]
        self.rows = np.abs(region.rhs) + np.einsum("rkm,km->r", np.abs(region.coef), largest)
        self.plain = float((np.abs(row.slope) * largest).sum() + (np.abs(row.unit) * self.unit).sum())
        self.plain += abs(row.const) + abs(row.rhs)
        self.flip = np.zeros(row.flip.shape)
        if row.flip.any():
            self.flip = np.abs(f.const) + largest @ np.abs(f.slope).T + self.unit @ np.abs(f.unit).T
            self.plain += float((row.flip * self.flip).sum())
        terms = region.size + len(s.hidden_bias) + s.embedding + problem.copies + len(region.rhs) + 8
        self.share = 2.0 * EPS * terms

    @property
    def plain_error(self) -> float:
        """The allowance for an evaluation without slopes."""
        return self.share * self.plain

    def use(self, lemmas: Lemmas) -> None:
        """The lemmas that y is of from now on."""
        more = len(lemmas) - len(self.sizes)
        self.sizes, self.share = sizes(lemmas, self.largest, self.unit), self.share + 2.0 * EPS * more

    def error(self, slopes: Slopes) -> float:
        """The allowance for one evaluation."""
        total = self.plain + float((np.abs(slopes.unit) * self.unit).sum())
        total += float((np.abs(slopes.flip) * self.flip).sum() + np.abs(slopes.rows) @ self.rows)
        total += float(slopes.lemmas @ self.sizes[: len(slopes.lemmas)])
        return self.share * total

    def errors(self, t: np.ndarray, nu: np.ndarray, tau: np.ndarray | None = None, y: np.ndarray | None = None):
        """The allowance for many evaluations, t [B, k, H], ν [B, R], τ [B, k, n] and y [B, L]; [B]."""
        total = self.plain + np.einsum("bkh,kh->b", np.abs(t), self.unit) + np.abs(nu) @ self.rows
        if tau is not None:
            total = total + np.einsum("bkn,kn->b", np.abs(tau), self.flip)
        if y is not None:
            total = total + y @ self.sizes[: y.shape[1]]
        return self.share * total
