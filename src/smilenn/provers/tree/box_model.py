"""The LP of one box (`relaxation.py` has its formula) as matrices: columns, corners, rows, prices.

columns   inputs that can move │ λ of corners │ d, y of flip units │ e⁺, e⁻: how far rows are missed
rows      Σ λ·v = s │ Σ λ = 1 │ strips │ groups │ further rows │ d of flip units │ chords of y
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from smilenn.problem import Problem, Row
from smilenn.provers.mip.linear_model import LinearModel
from smilenn.provers.tree.leaf import Shape

ENOUGH = 64.0  # multiples of the largest gain of a corner: what missing a row by its size costs, at most
FAR = 10.0  # a row may be missed by this multiple of its size, which is more than it takes


class BoxModel:
    """The LP of one box as matrices, and where everything is in them.

    `base` is the shape of the box without phases, `steepest` the largest slope wanted.
    """

    def __init__(self, problem: Problem, row: Row, base: Shape, steepest: float) -> None:
        self.problem, self.row, self.base, self.steepest = problem, row, base, steepest
        region, s, k = base.region, problem.snapshot, problem.copies
        self.k, self.flips, self.nothing = k, np.argwhere(row.flip > 0), np.zeros_like(row.flip)
        useful = (row.unit != 0).any(axis=0)
        if len(self.flips):
            useful |= (problem.flips.unit[row.flip.any(axis=0)] != 0).any(axis=0)
        on, off = base.low >= 0, base.high <= 0
        settled = (on | off).all(axis=0)
        self.units = np.flatnonzero(useful & ~settled)
        self.place = {int(j): a for a, j in enumerate(self.units)}
        self.on = (on & ~off) & (useful & settled)  # [k, H] folded units that count as s
        self.weight, self.bias = s.hidden_weight[self.units], s.hidden_bias[self.units]
        self.kappa = row.unit[:, self.units]
        self._columns(region)
        self._corners()
        self.model = self._model(region, s)

    def _columns(self, region: Any) -> None:
        """Columns of inputs that can move; the others are numbers."""
        k, moving = self.k, region.hi > region.lo
        self.column, count = np.full(moving.shape, -1), 0
        for c in range(k):
            own = moving[c] & ~(region.pinned & (c > 0))
            self.column[c, own] = count + np.arange(own.sum())
            count += int(own.sum())
        if k > 1:
            self.column[1:, region.pinned] = self.column[0, region.pinned]
        self.inputs, self.moves = count, self.column >= 0
        self.fixed = np.where(self.moves, 0.0, region.lo)

    def _corners(self) -> None:
        """One column λ per different corner: the unit, the copy (k ≠ 2), and its coordinates."""
        base, units, k = self.base, self.units, self.k
        points, inside = base.points[units], base.inside[units]
        if k == 2:
            same = (points[:, :, None] == points[:, None]).all(axis=-1)  # [J, P, P]
        else:
            same = (points[:, :, None] == points[:, None]).transpose(0, 3, 1, 2)  # [J, k, P, P]
            inside = inside.transpose(0, 2, 1)
        earlier = np.tril(np.ones(same.shape[-2:], dtype=bool), -1)
        inside = inside & ~(same & earlier & inside[..., None, :]).any(axis=-1)
        if k == 2:
            self.owner, p = np.nonzero(inside)
            self.copy, self.at = None, points[self.owner, p]  # [L, 2]
        else:
            self.owner, self.copy, p = np.nonzero(inside)
            self.at = np.zeros((len(p), k))
            self.at[np.arange(len(p)), self.copy] = points[self.owner, p, self.copy]
        self.size = np.maximum(np.abs(points).max(axis=(1, 2), initial=0.0), 1e-300)  # [J]
        self.least = -1e-12 * (1.0 + self.size[self.owner])[:, None]  # a corner on an axis belongs to both sides
        self.convex = self.owner if self.copy is None else self.copy * len(units) + self.owner
        self.sets = len(units) if self.copy is None else k * len(units)
        self.relu = np.maximum(self.at, 0.0)
        self.gain = (self.relu * self.row.unit.T[units][self.owner]).sum(axis=1)

    def _model(self, region: Any, s: Any) -> LinearModel:
        k, units, row = self.k, self.units, self.row
        many, corners, n = len(units), len(self.gain), self.inputs
        live = len(self.flips)
        strips = np.flatnonzero(region.strips & ((self.column[0] >= 0) | (self.column[-1] >= 0)))
        sums = [
            (c, list(group))
            for group in region.groups
            for c in range(1 if region.pinned[list(group)].all() else k)
            if (self.column[c, list(group)] >= 0).any()
        ]
        first = k * many + self.sets
        self.extra, self.flip_row = first + len(strips) + len(sums), first + len(strips) + len(sums) + len(region.rhs)
        self.chord = self.flip_row + live
        missed = k * many + live  # rows that may be missed, upwards or downwards
        a = np.zeros((self.chord + live, n + corners + 2 * live + 2 * missed))
        lo, hi = np.full(len(a), -np.inf), np.full(len(a), np.inf)
        lam = n + np.arange(corners)
        self._unit_rows(a, lo, hi, lam)
        a[k * many + self.convex, lam] = 1.0
        lo[k * many : first] = hi[k * many : first] = 1.0
        self._premise_rows(a, lo, hi, first, strips.tolist(), sums, region)
        cost = np.zeros(a.shape[1])
        slope = row.slope + (row.unit * self.on) @ s.hidden_weight
        for c in range(k):
            moves = self.column[c] >= 0
            cost[self.column[c, moves]] += slope[c, moves]
        cost[lam] = self.gain
        offset = row.const - row.rhs + float((slope * self.fixed).sum() + ((row.unit * self.on) @ s.hidden_bias).sum())
        col_lo, col_hi = np.zeros(a.shape[1]), np.ones(a.shape[1])
        for c in range(k):
            moves = self.column[c] >= 0
            col_lo[self.column[c, moves]], col_hi[self.column[c, moves]] = region.lo[c, moves], region.hi[c, moves]
        self.d = n + corners + np.arange(live)
        self.y = self.d + live
        self._flip_rows(a, lo, hi, cost, col_lo, col_hi, lam)
        rows = np.concatenate([np.arange(k * many), self.flip_row + np.arange(live)])
        up = n + corners + 2 * live + np.arange(missed)
        a[rows, up], a[rows, up + missed] = 1.0, -1.0
        sizes = np.concatenate([np.tile(self.size, k), self._reach()])
        worth = np.abs(np.concatenate([self.gain, row.flip[self.flips[:, 0], self.flips[:, 1]] * self._reach()]))
        price = np.minimum(self.steepest * sizes, ENOUGH * max(float(worth.max(initial=0.0)), 1e-300))
        price[k * many :] /= sizes[k * many :]  # the rows of flip units are not scaled
        cost[up] = cost[up + missed] = -price
        col_hi[up] = col_hi[up + missed] = FAR * np.concatenate([np.ones(k * many), self._reach()])
        # solvers' tolerances are absolute: gains of about one, whatever the weights
        gains = [np.abs(cost[:n]) * (col_hi[:n] - col_lo[:n]), worth]
        self.scale = scale = 2.0 ** round(math.log2(max(1e-300, *(float(g.max(initial=0.0)) for g in gains))))
        return LinearModel(
            csr_matrix(a), lo, hi, col_lo, col_hi, np.zeros(a.shape[1], dtype=bool), cost / scale, offset / scale
        )

    def _unit_rows(self, a: np.ndarray, lo: np.ndarray, hi: np.ndarray, lam: np.ndarray) -> None:
        """Σ_v λ_v·v_c = w·x_c + b, divided by the unit's size."""
        many = len(self.units)
        for c in range(self.k):
            here = slice(c * many, (c + 1) * many)
            moves = self.column[c] >= 0
            a[here, self.column[c, moves]] = -self.weight[:, moves] / self.size[:, None]
            lo[here] = hi[here] = (self.bias + self.weight @ self.fixed[c]) / self.size
            mine = slice(None) if self.copy is None else self.copy == c
            a[c * many + self.owner[mine], lam[mine]] = self.at[mine, c] / self.size[self.owner[mine]]

    def _premise_rows(
        self,
        a: np.ndarray,
        lo: np.ndarray,
        hi: np.ndarray,
        first: int,
        strips: list[int],
        sums: list[tuple[int, list[int]]],
        region: Any,
    ) -> None:
        """Strips, groups and the premise's further rows, from row `first` on."""
        for r, i in enumerate(strips, first):
            lo[r], hi[r] = region.delta_lo[i], region.delta_hi[i]
            self._place(a, lo, hi, r, 0, i, 1.0)
            self._place(a, lo, hi, r, 1, i, -1.0)
        for r, (c, members) in enumerate(sums, first + len(strips)):
            lo[r] = hi[r] = 1.0
            for i in members:
                self._place(a, lo, hi, r, c, i, 1.0)
        for r, (coef, rhs, same) in enumerate(zip(region.coef, region.rhs, region.equality, strict=True), self.extra):
            lo[r], hi[r] = (rhs if same else -np.inf), rhs
            for c, i in np.argwhere(coef):
                self._place(a, lo, hi, r, int(c), int(i), coef[c, i])

    def _place(self, a: np.ndarray, lo: np.ndarray, hi: np.ndarray, r: int, c: int, i: int, value: float) -> None:
        """Add value·x_ci to a row; a fixed input goes to the right side."""
        if self.column[c, i] >= 0:
            a[r, self.column[c, i]] += value
        else:
            lo[r] -= value * self.fixed[c, i]
            hi[r] -= value * self.fixed[c, i]

    def _flip_rows(
        self,
        a: np.ndarray,
        lo: np.ndarray,
        hi: np.ndarray,
        cost: np.ndarray,
        col_lo: np.ndarray,
        col_hi: np.ndarray,
        lam: np.ndarray,
    ) -> None:
        """Rows d = const + D x + E·relu(s) with relu(s) = Σ λ relu(v), and y below the chord (set in `solve`)."""
        f, s = self.problem.flips, self.problem.snapshot
        for r, (c, i) in enumerate(self.flips):
            at = self.flip_row + r
            slope = f.slope[i] + (f.unit[i] * self.on[c]) @ s.hidden_weight
            const = f.const[i] + float((f.unit[i] * self.on[c]) @ s.hidden_bias) + float(slope @ self.fixed[c])
            moves = self.column[c] >= 0
            a[at, self.column[c, moves]] = -slope[moves]
            mine = slice(None) if self.copy is None else self.copy == c
            a[at, lam[mine]] = -f.unit[i, self.units[self.owner[mine]]] * self.relu[mine, c]
            a[at, self.d[r]] = 1.0
            lo[at] = hi[at] = const
            a[self.chord + r, self.y[r]], a[self.chord + r, self.d[r]] = 1.0, -1.0
            hi[self.chord + r] = 0.0
            cost[self.y[r]] = self.row.flip[c, i]
            col_lo[self.d[r]], col_hi[self.d[r]] = self.base.flip_low[c, i], self.base.flip_high[c, i]
            col_hi[self.y[r]] = max(self.base.flip_high[c, i], 0.0)

    def _reach(self) -> np.ndarray:
        """The size of each live flip unit's inner function over the box."""
        c, i = self.flips[:, 0], self.flips[:, 1]
        return np.maximum(np.abs(self.base.flip_low[c, i]), np.abs(self.base.flip_high[c, i])) + 1e-9
