"""Whether any tuple satisfies a premise: on the box in rationals, and with rows or one-hot groups by a small MIP."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from smilenn.properties.claim import Inequality

if TYPE_CHECKING:
    from smilenn.properties.premise import Premise


def out_of_reach(
    inequality: Inequality, terms: dict[tuple[int, int], Fraction], lo: list[list[Fraction]], hi: list[list[Fraction]]
) -> bool:
    """Whether a row fails on the whole box, in rationals: solvers forgive a miss of 1e-7, a premise does not."""
    ends = [sorted((a * lo[c][i], a * hi[c][i])) for (c, i), a in terms.items()]
    least, most = sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))
    return least > inequality.rhs or (inequality.op == "==" and most < inequality.rhs)


def satisfiable(premise: Premise) -> bool:
    """Whether some tuple satisfies the premise; decided by a small MIP when rows or one-hot groups are involved.

    MIP solvers have called feasible sets empty. "Empty" counts only if a second run agrees, without the solver's own
    simplifications and with every row scaled and weakened by 1e-9; a time-out is no proof of emptiness either.
    """
    groups = premise.domain.groups
    restricted = any((premise.lo[:, list(g)] > 0).any() or (premise.hi[:, list(g)] < 1).any() for g in groups)
    stripped = any(premise.strips[list(g)].any() for g in groups)
    if not premise.has_rows and not restricted and not stripped:
        return True
    matrix, least, most = _rows(premise)
    if not _infeasible(premise, matrix, least, most, presolve=True):
        return True
    size = np.maximum((np.abs(matrix) * (premise.hi - premise.lo).ravel()).max(axis=1, initial=0.0), 1e-300)
    return not _infeasible(premise, matrix / size[:, None], least / size - 1e-9, most / size + 1e-9, presolve=False)


def _rows(premise: Premise) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pins, strips, groups and further rows as least ≤ A·x ≤ most over all copies, A [rows, k·m]."""
    k, m = premise.copies, premise.domain.size

    def line(entries: dict[tuple[int, int], float]) -> np.ndarray:
        out = np.zeros((k, m))
        for place, a in entries.items():
            out[place] = a
        return out.ravel()

    pinned, strips = (np.flatnonzero(which).tolist() for which in (premise.pinned, premise.strips & ~premise.pinned))
    rows = [(line({(0, i): 1.0, (c, i): -1.0}), 0.0, 0.0) for i in pinned for c in range(1, k)]
    rows += [(line({(0, i): 1.0, (1, i): -1.0}), premise.delta_lo[i], premise.delta_hi[i]) for i in strips]
    rows += [(line({(c, i): 1.0 for i in group}), 1.0, 1.0) for group in premise.domain.groups for c in range(k)]
    further = zip(premise.coef, premise.rhs, premise.equality, strict=True)
    rows += [(a.ravel(), b if same else -np.inf, b) for a, b, same in further]
    return np.array([a for a, _, _ in rows]), np.array([b for _, b, _ in rows]), np.array([b for *_, b in rows])


def _infeasible(premise: Premise, matrix: np.ndarray, least: np.ndarray, most: np.ndarray, *, presolve: bool) -> bool:
    from scipy.optimize import Bounds, LinearConstraint, milp

    result = milp(
        np.zeros(matrix.shape[1]),
        integrality=np.tile(premise.integral.astype(int), premise.copies),
        bounds=Bounds(premise.lo.ravel(), premise.hi.ravel()),
        constraints=LinearConstraint(matrix, least, most),
        options={"time_limit": 10.0, "presolve": presolve},
    )
    return result.status == 2
