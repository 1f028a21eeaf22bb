"""Bound propagation for all rows of a claim at once: the leaf rule (`leaf.py`) at the root, with slopes without an LP.

Rows of one claim share their region and units; only κ and q differ. With [a, b] the range of a unit in a copy,

    t = κ             a ≥ 0                 the unit is linear
    t = 0             b ≤ 0
    t = κ·b/(b − a)   κ > 0                 the chord of relu over [a, b]
    t = κ or 0        κ < 0                 whichever of s and 0 is nearer to relu over [a, b]
    t_c = κ_c·λ       two copies, λ = b/(b − a) over both: where κ_1 = −κ_2, what the copies share cancels

Any slopes give a valid bound; the better of the two choices counts. A row whose bound is ≤ 0 is proved in a few array
operations for all rows together; one that is not goes to a prover. Trained networks are rarely that far from ε, so this
pays where a claim has many rows (classes, outputs) and only some of them are close.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.prover import FOREVER, Goal, Prover, allowance
from smilenn.provers.tree.leaf import Rounding, Shape, box_shape
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum

MOST = 1 << 22  # numbers in the largest array


@dataclass(frozen=True)
class Screen(Prover):
    """Bound propagation as a prover: one evaluation of the leaf rule, no search."""

    name: ClassVar[str] = "screen"
    tolerance: ClassVar[float] = 1e-9

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "bound propagation in float64"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Rows with flip units, whose inner functions it does not bound."""
        return "The paper's boxes have flip units." if row.flip.any() else None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The bound, whatever the goal; it has no point to offer."""
        upper = float(screened(problem, [row])[0])
        return Maximum(upper, stopped=None if upper <= target else Why(Reason.BOUND_LEFT), note=self.title)


def screened(problem: Problem, rows: Sequence[Row] | None = None) -> np.ndarray:
    """Upper bounds [R] on the violation of rows (all of the problem's by default), +inf for rows with flip units.

    The float64 error of the evaluation and of the network is included.
    """
    rows = problem.rows if rows is None else rows
    out = np.full(len(rows), np.inf)
    which = [r for r, row in enumerate(rows) if not row.flip.any()]
    if not which:
        return out
    base = box_shape(problem, problem.region.lo, problem.region.hi)
    if base.empty:  # emptiness is the business of the premise, with exact numbers
        return out
    step = max(1, MOST // max(1, 2 * base.points.size))
    for first in range(0, len(which), step):
        part = which[first : first + step]
        out[part] = _bounds(problem, [rows[r] for r in part], base)
    return out


def _bounds(problem: Problem, rows: Sequence[Row], base: Shape) -> np.ndarray:
    """[R], one batch."""
    s, region = problem.snapshot, base.region
    kappa = np.stack([row.unit for row in rows])  # [R, k, H]
    t = _slopes(kappa, base)  # [R, 2, k, H]
    const = np.array([row.const - row.rhs for row in rows])[:, None] + np.einsum("rskh,h->rs", t, s.hidden_bias)
    affine = np.stack([row.slope for row in rows])[:, None] + t @ s.hidden_weight  # [R, 2, k, m]
    points, inside = base.points, base.inside
    if kappa.shape[2]:
        gain = np.maximum(points, 0.0) * kappa.transpose(0, 2, 1)[:, None, :, None]  # [R, 1, H, P, k]
        gain = gain - points * t.transpose(0, 1, 3, 2)[..., None, :]  # [R, 2, H, P, k]
        if problem.copies == 2:
            const = const + np.where(inside, gain.sum(axis=4), -np.inf).max(axis=3).sum(axis=2)
        else:
            const = const + np.where(inside, gain, -np.inf).max(axis=3).sum(axis=(2, 3))
    bound = const + region.maximum(affine.reshape(-1, *affine.shape[2:])).reshape(const.shape)
    free = np.zeros((t.shape[1], len(region.rhs)))
    for r, row in enumerate(rows):
        bound[r] += Rounding(problem, row).errors(t[r], free) + allowance(problem, row)
    return bound.min(axis=1)


def _slopes(kappa: np.ndarray, base: Shape) -> np.ndarray:
    """Both choices of slopes for coefficients [R, k, H]: [R, 2, k, H]."""
    low, high = base.low, base.high
    width = np.where(high > low, high - low, 1.0)
    open_ = (low < 0) & (high > 0)
    chord = np.where(open_, high / width, (low >= 0).astype(np.float64))
    nearer = np.where(open_, (high > -low).astype(np.float64), chord)
    least, most = low.min(axis=0), high.max(axis=0)
    both = np.where((least < 0) & (most > 0), most / np.where(most > least, most - least, 1.0), least >= 0)
    return np.stack([kappa * np.where(kappa > 0, chord, nearer), kappa * both], axis=1)
