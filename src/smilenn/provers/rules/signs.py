"""One copy against a mean of others, every unit by itself: convex, dominating and symmetric networks without a tree.

    Σ_c α_c·F(x_c) ≤ 0,   F = q·x + Σ_j κ_j·relu(s_j(x)),   α_p > 0 ≥ α_c for c ≠ p,   Σ_c α_c = 0

With a box of zero width this holds if the affine part does not rise and, relu being convex and non-decreasing, no unit
does: where κ_j > 0, s_j(x_p) ≤ the mean of the other s_j(x_c) on the premise, where κ_j < 0, s_j(x_p) ≥ each of them.
Such linear forms are ≤ 0 if nothing is left of them but what is pinned or moves one way, after the rows
``Σ coef·x == 0`` of the premise have been subtracted (docs/certificate.md §4.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.proof import SignsProof
from smilenn.provers.prover import FOREVER, Goal, allowance
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.tree import Trees
from smilenn.verdict import Maximum

NOISE = 1e-15  # of the numbers involved: what one operation in floats may leave, or take; the checker is exact


@dataclass(frozen=True)
class Signs(Rule):
    """A proof by the signs of the weights, or a refusal: there is no bound in between."""

    name: ClassVar[str] = "signs"
    tolerance: ClassVar[float] = 1e-9
    checked: ClassVar[str] = "signs"
    shows: ClassVar[str] = "convex, dominating and symmetric networks, every unit by itself"
    cost: ClassVar[Cost] = Cost.SIGNS
    because: ClassVar[str] = "every unit is convex or in order"

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "the signs of the weights"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """A sentence why the signs do not prove the row."""
        if not problem.snapshot.zero_gap:
            return "The box has a width."
        if problem.snapshot.profile == "dyadic":
            return "The inputs are moved to a grid."
        alpha = shares(row.outputs)
        if alpha is None or row.rhs < 0:
            return "The row does not hold one copy against a mean of others."
        p = int(alpha.argmax())
        ratio = alpha[:, None] / alpha[p]
        if (row.outputs != ratio * row.outputs[p]).any() or (row.inputs != ratio * row.inputs[p]).any():
            return "The copies have coefficients that are not multiples of each other."
        return self._rises(problem, row, alpha, p)

    def _rises(self, problem: Problem, row: Row, alpha: np.ndarray, p: int) -> str | None:
        """A sentence which part of F may rise from the mean of the other copies to copy p, or None."""
        s, premise = problem.snapshot, problem.premise
        unpinned = ~problem.region.pinned * problem.domain.mult  # [m]: weights on raw inputs
        zero = premise.equality & (premise.rhs == 0)
        rows = [(_pivot(problem, coef), coef) for coef in premise.coef[zero]]
        room = self.tolerance * row.scale / (1 + len(s.hidden_weight))  # for what floats leave in doubt, a form each
        if not _falls(problem, rows, alpha[:, None] / alpha[p] * (row.slope[p] * unpinned), room):
            return "The affine part may rise."
        others = [np.eye(len(alpha))[c] - np.eye(len(alpha))[p] for c in np.flatnonzero(alpha < 0)]
        for kappa, weight in zip(row.unit[p], s.hidden_weight * unpinned, strict=True):
            ways = [alpha / alpha[p]] if kappa > 0 else others if kappa < 0 else []
            if not all(_falls(problem, rows, abs(kappa) * way[:, None] * weight, room) for way in ways):
                return "A unit may rise."
        return None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The bound 0 − rhs."""
        start = perf_counter()
        return Maximum(-row.rhs, error=allowance(problem, row), seconds=perf_counter() - start)

    def declines(self, problem: Problem, row: Row) -> str | None:
        """Pairs without further rows, for which other rules also find the bound."""
        pairs = problem.copies <= 2 and not problem.region.has_rows
        return "Two copies without further rows are left to other rules." if pairs else None

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """Nothing to write: the checkers look at the signs."""
        return Emission(SignsProof())


def shares(outputs: np.ndarray) -> np.ndarray | None:
    """α [k] of coefficients a [k, o], one of them positive and Σ α = 0; None if there is none."""
    for column in outputs.T:
        if column.any():
            alpha = column if (column > 0).sum() == 1 else -column
            return alpha if (alpha > 0).sum() == 1 and alpha.sum() == 0 else None
    return None


def _pivot(problem: Problem, coef: np.ndarray) -> tuple[int, int]:
    """The first (copy, coordinate) that may move both ways, else the first."""
    keys = [(int(c), int(i)) for c, i in zip(*np.nonzero(coef), strict=True)]
    if problem.copies != 2:
        return keys[0]
    low, high = problem.region.delta_lo, problem.region.delta_hi
    return next((key for key in keys if low[key[1]] < 0 < high[key[1]]), keys[0])


def _falls(problem: Problem, rows: list[tuple[tuple[int, int], np.ndarray]], form: np.ndarray, room: float) -> bool:
    """Whether Σ form·x ≤ 0 on the premise, up to `room`; form [k, m], raw inputs x.

    Where rows were subtracted, coefficients that are no larger than their own errors are taken for zero; with these
    errors the sum may be off by Σ error·|x|, which must not exceed `room`.
    """
    region, error, linked = problem.region, NOISE * np.abs(form), False
    for pivot, coef in rows:
        if form[pivot]:
            ratio = coef / coef[pivot]
            taken = form[pivot] * ratio
            error = error + np.abs(ratio) * error[pivot] + NOISE * (np.abs(form) * (coef != 0) + np.abs(taken))
            form, linked = form - taken, True
    if linked:
        reach = np.maximum(np.abs(problem.premise.lo), np.abs(problem.premise.hi))
        if not float((error * reach).sum()) <= room:
            return False
        form = np.where(np.abs(form) <= error, 0.0, form)
    moving = form.any(axis=0) & ~region.pinned
    if (np.abs(form.sum(axis=0)) > (error.sum(axis=0) if linked else 0.0)).any():
        return False
    if not moving.any():
        return True
    if problem.copies != 2:
        return False
    rises = (form[0] * region.delta_lo > 0) | (form[0] * region.delta_hi > 0)
    return not (rises & moving).any()
