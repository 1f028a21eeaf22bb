"""Climbing a ridge exactly: the convex-concave step as a linear program.

First-order methods stall where units with negative weights have their kinks. Fix the phase of every unit that enters
with a positive weight (relu(a) ≥ a and relu(a) ≥ 0, so either phase is a lower bound that is exact at u) and of every
flip unit; what is left is concave, and a linear program finds its maximum over the premise:

    max q·u + Σ_{j on, κ_j > 0} κ_j a_j(u) + Σ_{κ_j < 0} κ_j r_j,   r_j ≥ a_j(u), r_j ≥ 0

The value can only rise; repeated until it no longer does. Whole numbers and one-hot groups stay as they are.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from smilenn.problem import Problem, Row
from smilenn.search.oracle import constraints, fixed


def polish(problem: Problem, row: Row, u: np.ndarray, *, rounds: int = 10) -> tuple[np.ndarray, float]:
    """One member u [k, m] of the premise climbed to a point no linear program improves, with its violation.

    The result is a member again and never worse than `u`.
    """
    region = problem.region
    value = float(problem.value(u[None], row)[0])
    model = _Model(problem, row, u)
    for _ in range(rounds):
        new = model.step(u)
        if new is None:
            break
        new = region.snap(new)
        reached = float(problem.value(new[None], row)[0])
        if not reached > value + 1e-9 * row.scale or not region.contains(new[None])[0]:
            break
        u, value = new, reached
    return u, value


class _Model:
    """The parts of the linear program that do not depend on the phases.

    Its variables are the moving coordinates (a pinned one once for all copies), then one r per copy and hidden unit.
    """

    def __init__(self, problem: Problem, row: Row, u: np.ndarray) -> None:
        region, s = fixed(problem.region, u), problem.snapshot
        k, m, h = region.copies, region.size, len(s.hidden_bias)
        self.problem, self.row, self.shape = problem, row, (k, m)
        shared = region.pinned if k > 1 else np.zeros(m, dtype=bool)
        number = np.arange(k * m).reshape(k, m)
        number[1:, shared] = number[0, shared]
        names, self.place = np.unique(number, return_inverse=True)
        self.place = self.place.reshape(k * m)  # which variable each coordinate of each copy is
        spread = sparse.csr_matrix((np.ones(k * m), (np.arange(k * m), self.place)), (k * m, len(names)))
        lo, hi = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        np.maximum.at(lo, self.place, region.lo.ravel())
        np.minimum.at(hi, self.place, region.hi.ravel())
        self.bounds = Bounds(np.append(lo, np.zeros(k * h)), np.append(np.maximum(lo, hi), np.full(k * h, np.inf)))
        self.spread = spread
        free = np.flatnonzero(
            ~shared & (region.hi > region.lo).any(axis=0) | (region.coef != 0).reshape(-1, m).any(axis=0)
        )
        matrix, low, high = constraints(region, free)
        columns = (np.arange(k)[:, None] * m + free).ravel()
        premise = sparse.csr_matrix(matrix) @ spread[columns]
        weights = sparse.kron(sparse.identity(k), s.hidden_weight, format="csr") @ spread  # a = weights·u + bias
        self.matrix = sparse.csr_matrix(sparse.bmat([[premise, None], [weights, -sparse.identity(k * h)]]))
        self.low = np.append(low, np.full(k * h, -np.inf))
        self.high = np.append(high, -np.tile(s.hidden_bias, k))

    def step(self, u: np.ndarray) -> np.ndarray | None:
        """The maximiser [k, m] with the phases of u [k, m] fixed; None where the solver does not give one."""
        problem, row = self.problem, self.row
        s, flips = problem.snapshot, problem.flips
        pre = u @ s.hidden_weight.T + s.hidden_bias  # [k, H]
        unit, slope = row.unit, row.slope
        if row.flip.any():
            inner = flips.const + u @ flips.slope.T + np.maximum(pre, 0.0) @ flips.unit.T
            open_ = (inner > 0) * row.flip
            unit, slope = unit + open_ @ flips.unit, slope + open_ @ flips.slope
        slope = slope + np.where((unit > 0) & (pre > 0), unit, 0.0) @ s.hidden_weight
        goal = np.concatenate([slope.ravel() @ self.spread, np.minimum(unit, 0.0).ravel()])
        used = np.append(np.ones(len(self.low) - unit.size, dtype=bool), (unit < 0).ravel())
        result = milp(  # without whole numbers: HiGHS's linear programming
            -goal,
            constraints=LinearConstraint(self.matrix[used], self.low[used], self.high[used]),
            bounds=self.bounds,
        )
        return None if result.x is None else result.x[self.place].reshape(self.shape)
