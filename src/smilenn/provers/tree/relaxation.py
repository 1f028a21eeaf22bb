"""The LP that finds the leaf rule's best slopes, kept in a solver for all cells of one box.

Corners v of the polygons S_j (`leaf.py`) get weights λ_v ≥ 0, and

    max q·x + Σ_v λ_v·Σ_c κ_c·relu(v_c)   s.t.  Σ_v λ_v·v_c = w_j·x_c + b_j  (multiplier t_cj),  Σ_v λ_v = 1  (r_j)

The corners contain the crossings of the polygon's edges with the axes. A phase s_c ≥ 0 therefore keeps the corners with
v_c ≥ 0 and forbids the others (λ_v ≤ 0): no coefficient changes when phases are split, so one LP in the solver serves
all cells of a box, and every column has two finite bounds, so the dual simplex goes on from any basis. Flip units of
the paper's boxes change a bound and a coefficient each, d ∈ [α, β] and y below the chord of relu over [α, β].

Lemmas (`lemma.py`) are rows over the λ of a unit and the inputs, Σ_v λ_v·Σ_c β_c·relu(v_c) − h·u ≤ r (multiplier y).

Phases that contradict each other would leave no point, and multipliers without end. The rows of t may therefore be
missed at a price: s_cj by e_cj at the cost p_cj·|e_cj|, which is the same as |t_cj| ≤ p_cj for the multipliers.
Units whose phase the box decides are folded into q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from smilenn.problem import Problem, Row
from smilenn.provers.mip.solvers.base import Solver, Status
from smilenn.provers.tree.box_model import BoxModel
from smilenn.provers.tree.hull import Hull, tightest
from smilenn.provers.tree.leaf import NONE, Shape, Slopes
from smilenn.provers.tree.lemma import Lemmas, no_lemmas

WORTH = 0.003  # of all that the units give away: what a lemma has to take from it


@dataclass(eq=False)
class Relaxation:
    """The LP's answer on a cell.

    Attributes
    ----------
    value : the LP's maximum as the solver says it, −inf for an infeasible one.
    multipliers : of the LP's rows; `BoxLP.slopes` makes slopes of them, of an infeasible LP the direction of a ray.
    x : the LP's point, None for an infeasible one.
    basis : where the solver may go on from.
    top : upper bounds of the λ: 1, or 0 where the phases forbid a corner.
    ranges : the shape that was given for its ranges of flip units.
    """

    value: float
    multipliers: np.ndarray
    x: np.ndarray | None
    basis: Any
    top: np.ndarray
    ranges: Shape | None = None


@dataclass(frozen=True, eq=False)
class Slack:
    """How much units are relaxed at the LP's point u [k, m], in output units.

    Of the LP's hidden units [k, J] and of flip units [k, n];
    `reached` is the row's violation at u, before u is moved to a member of the premise (whole numbers, categories).
    """

    u: np.ndarray
    unit: np.ndarray
    flip: np.ndarray
    reached: float


class BoxLP(BoxModel):
    """The LP of one box in a solver; `lemmas` are those of the premise."""

    def __init__(
        self, problem: Problem, row: Row, base: Shape, solver: Solver, steepest: float, lemmas: Lemmas | None = None
    ) -> None:
        super().__init__(problem, row, base, steepest)
        k, model = self.k, self.model
        self.session = solver.session(model)
        self.top = np.ones(len(self.gain))  # present upper bounds of the λ
        self.ends = np.full((2, len(self.flips)), np.nan)  # present ranges of the flip units
        self._kept: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]] = {}
        many, corners = len(self.units), np.arange(len(self.gain))
        self.said = np.zeros((k, many, len(self.gain)))  # relu of unit and copy as a sum over the λ
        for c in range(k):
            self.said[c, self.owner, corners] = self.relu[:, c]
        low, high = base.low[:, self.units], base.high[:, self.units]
        weight = np.abs(row.unit[:, self.units])
        if len(self.flips):
            weight = weight + row.flip @ np.abs(problem.flips.unit[:, self.units])
        self.open = (low < 0) & (high > 0)  # [k, J] what phases can decide
        self.tie = 1e-9 * weight * np.minimum(-low, high)  # breaks ties between units where the LP shows no slack
        self.lemmas, self.price = 0, NONE  # lemmas known
        self.rows, self.width = model.matrix.shape  # without them
        self.which = np.zeros(0, dtype=int)  # the lemma of each row behind those
        if lemmas is not None and len(lemmas):
            self.add(lemmas)

    def add(self, lemmas: Lemmas) -> None:
        """Rows for lemmas that come after those known so far; those of units that the box decides are left out."""
        first, self.lemmas = self.lemmas, self.lemmas + len(lemmas)
        place = np.full(len(self.problem.snapshot.hidden_bias), -1)
        place[self.units] = np.arange(len(self.units))
        kept = np.flatnonzero((place[lemmas.unit] >= 0) & lemmas.beta.any(axis=1))  # β = 0: rounded to nothing
        some = lemmas[kept]
        matrix = np.zeros((len(kept), self.width))
        for c in range(self.k):
            moves = self.moves[c]  # a pinned input's column is that of all copies
            matrix[:, self.column[c, moves]] -= some.slope[:, c, moves]
        own = place[some.unit][:, None] == self.owner  # [L, corners]
        matrix[:, self.inputs : self.inputs + len(self.gain)] = own * (some.beta @ self.relu.T)
        limit = some.const + np.einsum("lkm,km->l", some.slope, self.fixed)
        size = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), 1e-300)
        self.session.add(csr_matrix(matrix / size[:, None]), limit / size)
        self.which, self.price = np.append(self.which, first + kept), np.append(self.price, self.scale / size)

    def solve(
        self,
        phase: np.ndarray,
        shape: Shape | None = None,
        parent: Relaxation | None = None,
        split: tuple[str, int, int, float] | None = None,
    ) -> Relaxation | None:
        """The LP on the cell of this box with phases [k, H]; its shape is needed where there are flip units.

        `parent` is the answer on the cell of the same box from which `split` made this one. None where the solver has
        no answer; a value of −inf without multipliers where no corner of a unit is left.
        """
        top = self._top(phase) if parent is None or split is None else self._cut(parent.top, phase, split)
        if top is None:
            return Relaxation(-np.inf, np.zeros(0), None, None, self.top)
        self._move(top)
        if shape is not None and len(self.flips):
            if shape.empty:
                return Relaxation(-np.inf, np.zeros(0), None, None, top)
            self._cut_flips(shape)
        result = self.session.solve(None if parent is None else parent.basis)
        if result.multipliers is None or not np.isfinite(result.multipliers).all():
            return None
        if result.status is Status.INFEASIBLE:
            return Relaxation(-np.inf, result.multipliers, None, None, top)
        if result.status is not Status.OPTIMAL or result.x is None:
            return None
        if not (np.isfinite(result.x).all() and np.isfinite(result.dual_bound)):
            return None
        value = result.dual_bound * self.scale
        return Relaxation(value, result.multipliers, result.x, self.session.basis(), top, shape)

    def _move(self, top: np.ndarray) -> None:
        """Tell the solver which upper bounds of the λ have changed."""
        changed = np.flatnonzero(top != self.top)
        if len(changed):
            self.session.columns(self.inputs + changed, np.zeros(len(changed)), top[changed])
            self.top = top

    def _top(self, phase: np.ndarray) -> np.ndarray | None:
        """Upper bounds of the λ for phases [k, H], None where a unit has no corner left."""
        signs = phase[:, self.units].T[self.owner]  # [L, k]; corners of one copy are zero in the others
        top = (signs * self.at >= self.least).all(axis=1).astype(np.float64)
        return top if np.bincount(self.convex, top, minlength=self.sets).all() else None

    def _cut(self, top: np.ndarray, phase: np.ndarray, split: tuple[str, int, int, float]) -> np.ndarray | None:
        """The same from a parent's and the last split."""
        kind, c, j, _ = split
        if kind != "phase" or j not in self.place:
            return top
        key = c, self.place[j], int(phase[c, j])
        if key not in self._kept:
            which = c * len(self.units) + key[1] if self.copy is not None else key[1]
            own = np.flatnonzero(self.convex == which)
            lost = key[2] * self.at[own, c] < self.least[own, 0]
            self._kept[key] = own[~lost], own[lost]
        kept, lost = self._kept[key]
        if not top[kept].any():
            return None
        top = top.copy()
        top[lost] = 0.0
        return top

    def slopes(self, relaxed: Relaxation) -> Slopes:
        """The multipliers as slopes; those of a ray without the coefficients of folded units."""
        k, many, scale, region, y = self.k, len(self.units), self.scale, self.base.region, relaxed.multipliers
        own = relaxed.x is not None
        tau, t = np.zeros_like(self.row.flip), np.where(self.on, self.row.unit, 0.0) if own else np.zeros(self.on.shape)
        if len(self.flips):
            tau[self.flips[:, 0], self.flips[:, 1]] = y[self.flip_row : self.chord] * scale
            t += np.where(self.on, tau @ self.problem.flips.unit, 0.0)
        t[:, self.units] = y[: k * many].reshape(k, many) * (scale / self.size)
        nu = y[self.extra : self.flip_row] * scale
        if own and len(nu):
            nu = np.where(region.equality, nu, np.maximum(nu, 0.0))
        used = self._used(y[None])[0]
        return Slopes(t, tau, nu, np.maximum(used, 0.0) if own else used)

    def _used(self, y: np.ndarray) -> np.ndarray:
        """The multipliers of lemmas in those of the rows, [B, rows] to [B, lemmas]."""
        out, known = np.zeros((len(y), self.lemmas)), y.shape[1] - self.rows
        out[:, self.which[:known]] = y[:, self.rows :] * self.price[:known]
        return out

    def slack(self, relaxed: Relaxation) -> Slack:
        """What each unit gives away at the LP's point, shared out between its copies."""
        assert relaxed.x is not None
        x, flip = relaxed.x, np.zeros(self.row.flip.shape)
        u = np.where(self.moves, x[self.column], self.fixed)
        kappa = self.kappa
        for r, (c, i) in enumerate(self.flips):
            flip[c, i] = max(0.0, x[self.y[r]] - max(x[self.d[r]], 0.0)) * self.row.flip[c, i]
        if len(self.flips):
            kappa = kappa + self.slopes(relaxed).flip @ self.problem.flips.unit[:, self.units]
        true = np.maximum(u @ self.weight.T + self.bias, 0.0)
        each = kappa * (self.said @ x[self.inputs : self.inputs + len(self.gain)] - true)  # [k, J]
        lost = each.sum(axis=0)
        if self.k == 2:
            share = np.abs(each)
            each = share * (lost / np.maximum(share[0] + share[1], 1e-300))
        return Slack(u, np.maximum(each, 0.0), flip, relaxed.value - float(lost.sum() + flip.sum()))

    def tightest(self, hull: Hull, relaxed: Relaxation, phase: np.ndarray, bits: int | None) -> Lemmas:
        """Lemmas that cut off the LP's point in a cell with phases [k, H]; copies of a unit that they decide count not.

        For units that give away more there than their envelope does, by a share WORTH of what all give away.
        """
        assert relaxed.x is not None
        weights, kappa = relaxed.x[self.inputs : self.inputs + len(self.gain)], self.kappa
        kappa = np.where(phase[:, self.units] == 0, kappa, 0.0)
        u = np.where(self.moves, relaxed.x[self.column], self.fixed)
        said = np.bincount(self.owner, weights * (self.relu * kappa.T[self.owner]).sum(axis=1), len(self.units))
        true = (kappa * np.maximum(u @ self.weight.T + self.bias, 0.0)).sum(axis=0)
        least = WORTH * max(float((said - true).sum()), 1e-12 * self.scale)
        some = np.flatnonzero((said - true > least) & (kappa > 0).any(axis=0))
        if not len(some):
            return no_lemmas(self.k, hull.region.size)
        made = tightest(self.problem, hull, self.units[some], kappa.T[some], u, bits)
        own = np.array([self.place[int(j)] for j in made.unit])
        value = made.const + np.einsum("lkm,km->l", made.slope, u)
        return made[np.flatnonzero((said[own] - value > least) & made.beta.any(axis=1))]

    def many_slopes(self, relaxed: Sequence[Relaxation]) -> Slopes:
        """`slopes` of several answers with points, each array with a first axis for them; τ only with flip units."""
        k, many, region = self.k, len(self.units), self.base.region
        rows = max(len(r.multipliers) for r in relaxed)  # lemmas may have come since
        y = np.stack([np.append(r.multipliers, np.zeros(rows - len(r.multipliers))) for r in relaxed])
        t, tau = np.zeros((len(y), *self.on.shape)), self.nothing
        t[:] = np.where(self.on, self.row.unit, 0.0)
        if len(self.flips):
            tau = np.zeros((len(y), *self.row.flip.shape))
            tau[:, self.flips[:, 0], self.flips[:, 1]] = y[:, self.flip_row : self.chord] * self.scale
            t += np.where(self.on, tau @ self.problem.flips.unit, 0.0)
        t[:, :, self.units] = y[:, : k * many].reshape(len(y), k, many) * (self.scale / self.size)
        nu = y[:, self.extra : self.flip_row] * self.scale
        return Slopes(t, tau, np.where(region.equality, nu, np.maximum(nu, 0.0)), np.maximum(self._used(y), 0.0))

    def _cut_flips(self, shape: Shape) -> None:
        """d ∈ [a, b] and y ≤ relu(a) + (relu(b) − relu(a))/(b − a)·(d − a), for the flip units whose ranges moved."""
        c, i = self.flips[:, 0], self.flips[:, 1]
        ends = np.stack([shape.flip_low[c, i], shape.flip_high[c, i]])  # [2, F]
        moved = np.flatnonzero((ends != self.ends).any(axis=0))
        if not len(moved):
            return
        self.ends, (a, b) = ends, ends[:, moved]
        top, bottom = np.maximum(b, 0.0), np.maximum(a, 0.0)
        columns = np.concatenate([self.d[moved], self.y[moved]])
        self.session.columns(columns, np.concatenate([a, 0.0 * top]), np.concatenate([b, top]))
        slope = np.where(b > a, (top - bottom) / np.where(b > a, b - a, 1.0), 1.0)
        for r, tilt, most in zip(moved.tolist(), slope.tolist(), (bottom - slope * a).tolist(), strict=True):
            self.session.coefficient(self.chord + r, int(self.d[r]), -tilt)
            self.session.row(self.chord + r, -np.inf, most)
