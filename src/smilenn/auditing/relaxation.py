"""The LP whose multipliers are the deep rule's best slopes on a cell, kept in the solver while phases are cut.

Corners v of the octagons S_j get weights λ_v ≥ 0 with Σ_v λ_v = 1, and

    max Σ_c κ_c·a_c      a_c = Σ_v λ_v·relu(v_c)      Σ_v λ_v·v_c = W·a_c^below + b   (multiplier t_cj)

A phase s_c ≥ 0 forbids the corners with v_c < 0: no coefficient changes, so the dual simplex goes on from the last
basis. The rows of t may be missed at a price, so cells without a point give a low bound instead of no answer. A unit
whose phase the cell decides has no corners: it is W·a + b or nothing.

columns   inputs │ a of units that a layer above reads │ λ │ e⁺, e⁻: how far rows are missed
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from smilenn.auditing import octagon
from smilenn.auditing.bounds import Cell, Cut
from smilenn.auditing.network import DeepNet
from smilenn.provers.mip.linear_model import LinearModel
from smilenn.provers.mip.solvers.base import Session, Solver, Status

PRICE, FAR = 1e5, 10.0  # missing a row costs so many times the largest gain (less made bounds a third worse); how far


@dataclass(frozen=True, eq=False)
class Answer:
    """The LP's answer: slopes of every layer (NaN: settled), its point, and how much each unit gives away there."""

    slopes: list[tuple[np.ndarray, np.ndarray]]
    x: np.ndarray  # [2, m], scaled inputs
    slack: list[np.ndarray]  # per layer [2, n], 0 where settled
    basis: Any


class Relaxation:
    """The LP of one cell; `kappa` [2, n] are the coefficients of the last hidden layer."""

    def __init__(self, net: DeepNet, kappa: np.ndarray, cell: Cell, cuts: Sequence[Cut], solver: Solver) -> None:
        self.net, self.kappa, self.cell = net, kappa, cell
        self.depth = len(cell.layers)
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.lo: list[np.ndarray] = []
        self.hi: list[np.ndarray] = []
        self.cost: list[np.ndarray] = []
        self.rhs: list[np.ndarray] = []
        self.width = self.rows = 0
        self._inputs()
        self.open, self.at, self.owner, self.lam, self.size, self.t_row, self.a_row = [], [], [], [], [], [], []
        self.a_of: list[list[Any]] = []
        cut = {(layer, j) for layer, j, _, _ in cuts}
        for layer in range(self.depth):
            self._layer(layer, np.array([(layer, j) in cut for j in range(len(net.biases[layer]))], dtype=bool))
        self._slack_columns()
        self.session: Session = solver.session(self._model())
        self.top = np.ones(self.width)

    # ---- the model ----------------------------------------------------------------------------------------------

    def _columns(self, lo: np.ndarray, hi: np.ndarray, cost: np.ndarray | None = None) -> np.ndarray:
        index = self.width + np.arange(len(lo))
        self.width += len(lo)
        self.lo.append(lo)
        self.hi.append(hi)
        self.cost.append(np.zeros(len(lo)) if cost is None else cost)
        return index

    def _rows(self, rhs: np.ndarray) -> np.ndarray:
        index = self.rows + np.arange(len(rhs))
        self.rows += len(rhs)
        self.rhs.append(rhs)
        return index

    def _put(self, row: np.ndarray, column: np.ndarray, value: np.ndarray) -> None:
        row, column, value = np.broadcast_arrays(row, column, value)
        self.entries.append((row.ravel(), column.ravel(), value.ravel()))

    def _inputs(self) -> None:
        """x_1 has columns of its own; x_2 = x_1 − d where the difference is fixed."""
        l1, u1, l2, u2, dl, du = self.cell.inputs
        first = self._columns(l1, u1)
        tied = dl == du
        free = np.flatnonzero(~tied)
        second = first.copy()
        second[free] = self._columns(l2[free], u2[free])
        self.shift = np.where(tied, dl, 0.0)
        self.inputs = np.stack([first, second])
        strip = free[(dl[free] > l1[free] - u2[free]) | (du[free] < u1[free] - l2[free])]
        rows = self._rows(np.zeros(len(strip)))
        width = self._columns(dl[strip], du[strip])  # the difference as a column
        for column, sign in ((first[strip], 1.0), (second[strip], -1.0), (width, -1.0)):
            self._put(rows, column, np.full(len(strip), sign))

    def _below(self, layer: int, c: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What layer layer reads: columns, which units they are of, and the constant that it adds to W·a."""
        w = self.net.weights[layer]
        if layer == 0:
            return self.inputs[c], np.arange(w.shape[1]), -(w @ self.shift) * c
        column, unit = self.a_of[layer - 1][c]
        return column, unit, np.zeros(len(w))

    def _layer(self, layer: int, cut: np.ndarray) -> None:
        r, last = self.cell.layers[layer], layer == self.depth - 1
        is_open = ~octagon.settled(r) | cut
        j = np.flatnonzero(is_open)
        points = octagon.corners(r[:, j])  # [15, J, 2]
        owner, at = _different(points)
        size = np.maximum(np.abs(points).max(axis=(0, 2), initial=0.0), 1e-300)
        relu = np.maximum(at, 0.0)
        gain = (relu * self.kappa[:, j[owner]].T).sum(axis=1) if last else None
        lam = self._columns(np.zeros(len(owner)), np.ones(len(owner)), gain)
        whole = self._rows(np.ones(len(j)))
        self._put(whole[owner], lam, np.ones(len(lam)))
        t_rows, a_rows, a_of = [], [], []
        for c in range(2):
            below, unit, const = self._below(layer, c)
            w, b = self.net.weights[layer], self.net.biases[layer] + const
            rows = self._rows(b[j] / size)
            self._put(rows[owner], lam, at[:, c] / size[owner])
            self._put(rows[:, None], below[None], -w[np.ix_(j, unit)] / size[:, None])
            t_rows.append(rows)
            on = np.flatnonzero(~is_open & (r[2 * c] >= 0))
            cost = self.kappa[c, on] if last else None
            reach = 10.0 * (1.0 + r[2 * c + 1, on] - r[2 * c, on])
            column = self._columns(r[2 * c, on] - reach, r[2 * c + 1, on] + reach, cost)
            rows = self._rows(b[on])
            self._put(rows, column, np.ones(len(on)))
            self._put(rows[:, None], below[None], -w[np.ix_(on, unit)])
            if last:
                continue
            own = self._columns(np.zeros(len(j)), np.maximum(r[2 * c + 1, j], 0.0))
            rows = self._rows(np.zeros(len(j)))
            self._put(rows, own, np.ones(len(j)))
            self._put(rows[owner], lam, -relu[:, c])
            a_rows.append(rows)
            a_of.append((np.concatenate([column, own]), np.concatenate([on, j])))
        self.open.append(j)
        self.at.append(at)
        self.owner.append(owner)
        self.lam.append(lam)
        self.size.append(size)
        self.t_row.append(t_rows)
        self.a_row.append(a_rows)
        self.a_of.append(a_of)

    def _slack_columns(self) -> None:
        """e⁺ and e⁻ of every row of a slope."""
        rows = np.concatenate([row for pair in self.t_row for row in pair]).astype(int)
        gains = np.abs(np.concatenate(self.cost))
        reach = np.maximum(np.abs(np.concatenate(self.lo)), np.abs(np.concatenate(self.hi)))
        worth = max(float((gains * reach).max(initial=0.0)), 1e-300)
        for sign in (1.0, -1.0):
            many = len(rows)
            column = self._columns(np.zeros(many), np.full(many, FAR), np.full(many, -PRICE * worth))
            self._put(rows, column, np.full(many, sign))

    def _model(self) -> LinearModel:
        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        keep = value != 0
        matrix = csr_matrix(coo_matrix((value[keep], (row[keep], column[keep])), shape=(self.rows, self.width)))
        cost, rhs = np.concatenate(self.cost), np.concatenate(self.rhs)
        self.scale = 2.0 ** round(math.log2(max(float(np.abs(cost).max(initial=0.0)) / PRICE, 1e-300)))
        whole = np.zeros(self.width, dtype=bool)
        lo, hi = np.concatenate(self.lo), np.concatenate(self.hi)
        return LinearModel(matrix, rhs, rhs, lo, hi, whole, cost / self.scale, 0.0)

    # ---- solving ------------------------------------------------------------------------------------------------

    def solve(self, cuts: Sequence[Cut], basis: Any = None) -> Answer | None:
        """The answer on the cell with these phases; None where the solver has none."""
        top = np.ones(self.width)
        for layer, j, c, sign in cuts:
            place = int(np.searchsorted(self.open[layer], j))
            if place == len(self.open[layer]) or self.open[layer][place] != j:
                continue  # settled in this cell: nothing to forbid
            mine = (self.owner[layer] == place) & (
                sign * self.at[layer][:, c] < -1e-12 * (1.0 + self.size[layer][place])
            )
            top[self.lam[layer][mine]] = 0.0
        changed = np.flatnonzero(top != self.top)
        if len(changed):
            self.session.columns(changed, np.zeros(len(changed)), top[changed])
            self.top = top
        result = self.session.solve(basis)
        if result.status is not Status.OPTIMAL or result.multipliers is None or result.x is None:
            return None
        if not (np.isfinite(result.multipliers).all() and np.isfinite(result.x).all()):
            return None
        return self._answer(result.x, result.multipliers * self.scale)

    def _answer(self, point: np.ndarray, y: np.ndarray) -> Answer:
        x = np.stack([point[self.inputs[0]], point[self.inputs[1]] - self.shift])
        slopes, slack, below = [], [], x
        for layer in range(self.depth):
            n, j = len(self.net.biases[layer]), self.open[layer]
            s = below @ self.net.weights[layer].T + self.net.biases[layer]  # [2, n]
            t, loss, a = np.full((2, n), np.nan), np.zeros((2, n)), np.maximum(s, 0.0)
            for c in range(2):
                t[c, j] = y[self.t_row[layer][c]] / self.size[layer]
                weight = np.maximum(self.at[layer][:, c], 0.0) * point[self.lam[layer]]
                a[c, j] = np.bincount(self.owner[layer], weights=weight, minlength=len(j))
                price = self.kappa[c, j] if layer == self.depth - 1 else y[self.a_row[layer][c]]
                loss[c, j] = price * (a[c, j] - np.maximum(s[c, j], 0.0))
            settled = np.isnan(t)
            a = np.where(settled & (self.cell.layers[layer][[0, 2]] < 0), 0.0, a)
            slopes.append((t[0], t[1]))
            slack.append(loss)
            below = a
        return Answer(slopes, x, slack, self.session.basis())


def _different(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unit and place of every corner, each once: points [15, J, 2] → owner [L], at [L, 2]."""
    many = points.shape[1]
    size = np.maximum(np.abs(points).max(axis=(0, 2), initial=0.0), 1e-300) if many else np.ones(0)
    key = np.round(points / size[None, :, None], 11) + 0.0
    flat = np.concatenate([np.broadcast_to(np.arange(many)[None, :, None], (len(points), many, 1)), key], axis=-1)
    _, first = np.unique(flat.reshape(-1, 3), axis=0, return_index=True)
    return first % max(many, 1), points.reshape(-1, 2)[first]
