"""The contract of solver adapters: programs whose answers are known without a solver.

    LP     A, a point x* ≥ 0 and multipliers y* ≥ 0 are drawn; c and the right sides are chosen so that both are optimal
    MIP    up to ten columns of 0 or 1: all of their values are tried

    class TestMySolver(SolverContract):
        def solver(self):
            return MySolver()

Provers believe a solver's bound as far as its tolerance, after a search has failed to beat it; so a bound below a point
that exists is the worst that a solver can do, and every test looks for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import product
from time import perf_counter

import numpy as np
from scipy.sparse import csr_matrix

from smilenn.provers.mip.linear_model import Builder, LinearModel, at_least, safe_bound
from smilenn.provers.mip.solvers.base import Solver, SolverResult, Status

DRAWS = 12
LIMIT = 60.0  # seconds for programs that take milliseconds


class SolverContract(ABC):
    """Subclass it in a test module and return an adapter; LPs and small MIPs are drawn for it."""

    near = 1e-5  # how far an optimum may be off, relative to its size where that is above 1
    patience = 30.0  # seconds after a time limit by which an answer must be there

    @abstractmethod
    def solver(self) -> Solver:
        """The adapter, with the tolerances that provers will use."""

    def _off(self, value: float) -> float:
        return self.near * max(1.0, abs(value))

    def _sound(self, model: LinearModel, found: SolverResult, best: float) -> None:
        """Whatever was asked: the bound is not below the best point, and a point is one."""
        assert found.dual_bound >= best - self._off(best), f"{found.dual_bound} is below a point of value {best}"
        if found.x is not None:
            assert _misses(model, found.x) <= 1e-6 * (1 + float(np.abs(found.x).max(initial=0.0)))
            assert abs(found.primal - (model.offset + float(model.objective @ found.x))) <= self._off(found.primal)

    def test_linear_programs_have_their_known_optimum(self) -> None:
        """Value, point and bound."""
        for seed in range(DRAWS):
            model, best = known_lp(seed)
            found = self.solver().solve(model, time_limit=LIMIT)
            self._sound(model, found, best)
            assert found.status is Status.OPTIMAL, found.status.value
            assert abs(found.primal - best) <= self._off(best) and found.dual_bound <= best + self._off(best)

    def test_multipliers_are_a_valid_bound(self) -> None:
        """Where an LP comes with multipliers, they give its optimum by weak duality; the sign convention is theirs."""
        for seed in range(DRAWS):
            model, best = known_lp(seed)
            found = self.solver().solve(model, time_limit=LIMIT)
            if found.multipliers is not None:
                assert found.multipliers.shape == model.row_hi.shape
                bound = safe_bound(model, found.multipliers)
                assert best - self._off(best) <= bound <= best + self._off(best)

    def test_whole_numbers_are_kept(self) -> None:
        """Small MIPs against every assignment."""
        for seed in range(DRAWS):
            model, best = small_mip(seed)
            found = self.solver().solve(model, time_limit=LIMIT)
            self._sound(model, found, best)
            assert found.status is Status.OPTIMAL and abs(found.primal - best) <= self._off(best)
            assert found.dual_bound <= best + 2 * self._off(best)
            assert found.x is not None and (np.abs(found.x - np.rint(found.x))[model.integer] <= 1e-6).all()

    def test_early_stops_keep_the_bound_valid(self) -> None:
        """Above a target, or once the bound has fallen to one."""
        for seed in range(DRAWS):
            model, best = small_mip(seed)
            above = self.solver().solve(model, time_limit=LIMIT, above=best - 0.5)
            self._sound(model, above, best)
            assert above.status in (Status.ABOVE, Status.OPTIMAL) and above.primal > best - 0.5
            below = self.solver().solve(model, time_limit=LIMIT, below=best + 0.5)
            self._sound(model, below, best)
            assert below.status in (Status.BELOW, Status.OPTIMAL) and below.dual_bound <= best + 0.5 + self._off(best)

    def test_nothing_feasible_is_said_and_only_then(self) -> None:
        """A program is infeasible above its maximum, and not below it."""
        for seed in range(DRAWS):
            for model, best in (known_lp(seed), small_mip(seed)):
                beyond = self.solver().solve(at_least(model, best + 0.1), time_limit=LIMIT)
                assert beyond.status in (Status.INFEASIBLE, Status.BELOW), beyond.status.value
                assert beyond.x is None or beyond.primal <= best + self._off(best)
                within = self.solver().solve(at_least(model, best - 0.1), time_limit=LIMIT)
                assert within.status is Status.OPTIMAL, within.status.value

    def test_an_unbounded_program_has_no_bound(self) -> None:
        """It may be called an error; it may not be called solved."""
        build = Builder()
        build.column(0.0, np.inf, gain=1.0)
        build.column(0.0, 1.0, gain=1.0)
        build.row({0: 1.0, 1: -1.0}, lo=-5.0)
        found = self.solver().solve(build.model(), time_limit=LIMIT)
        assert found.status in (Status.UNBOUNDED, Status.ERROR) and found.dual_bound == np.inf

    def test_the_time_limit_ends_a_search(self) -> None:
        """Without time there is no wrong answer, and soon one."""
        model = knapsack(200, 0)
        rounded = float(model.offset + model.objective @ _packed(model))
        for limit in (0.0, 0.2):
            begun = perf_counter()
            found = self.solver().solve(model, time_limit=limit)
            assert perf_counter() - begun <= limit + self.patience
            self._sound(model, found, rounded)
            assert found.status in (Status.TIME_LIMIT, Status.OPTIMAL), found.status.value

    def test_a_session_finds_what_a_new_program_has(self) -> None:
        """Columns, a row and a coefficient changed in place, and a row added."""
        optima = 0
        for seed in range(DRAWS):
            model, _ = known_lp(seed)
            session = self.solver().session(model)
            session.solve()
            basis = session.basis()
            hi, top, matrix = model.col_hi.copy(), model.row_hi.copy(), model.matrix.toarray()
            hi[:2], top[0], matrix[1, 0] = 4.0, top[0] + 0.5, matrix[1, 0] + 0.5
            more, limit = np.ones((1, len(hi))), np.array([8.0])
            session.columns(np.arange(2), np.zeros(2), hi[:2])
            session.row(0, -np.inf, float(top[0]))
            session.coefficient(1, 0, float(matrix[1, 0]))
            session.add(csr_matrix(more), limit)
            changed = session.solve(basis)
            new = replace(
                model,
                matrix=csr_matrix(np.vstack([matrix, more])),
                col_hi=hi,
                row_hi=np.append(top, limit),
                row_lo=np.append(model.row_lo, -np.inf),
            )
            fresh = self.solver().solve(new, time_limit=LIMIT)
            assert changed.status is fresh.status
            if fresh.status is Status.OPTIMAL:
                optima += 1
                assert abs(changed.primal - fresh.primal) <= self._off(fresh.primal)
        assert optima, "no changed program was solved"


def known_lp(seed: int) -> tuple[LinearModel, float]:
    """A linear program with an optimal point and optimal multipliers by construction, and its maximum.

    maximise c·x, A x ≤ b, 0 ≤ x ≤ 10: with b = A x* + slack (none where y* > 0) and c = Aᵀy* − r (r > 0 only where
    x* = 0), every feasible x has c·x ≤ y*·b − r·x ≤ y*·b = c·x*.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 9)), int(rng.integers(2, 8))
    matrix = rng.normal(size=(m, n)).round(3)
    point = np.where(rng.random(n) < 0.5, rng.uniform(0.5, 5.0, n), 0.0).round(3)
    prices = np.where(rng.random(m) < 0.6, rng.uniform(0.1, 3.0, m), 0.0).round(3)
    rest = np.where(point == 0.0, rng.uniform(0.0, 2.0, n), 0.0)
    slack = np.where(prices == 0.0, rng.uniform(0.0, 2.0, m), 0.0)
    build = Builder(offset=float(rng.normal()))
    for gain in matrix.T @ prices - rest:
        build.column(0.0, 10.0, gain=float(gain))
    for line, top in zip(matrix, matrix @ point + slack, strict=True):
        build.dense(range(n), line, -np.inf, float(top))
    model = build.model()
    return model, float(model.offset + model.objective @ point)


def knapsack(n: int, seed: int) -> LinearModel:
    """n columns of 0 or 1 with gains, and five rows of weights of which a third fits."""
    rng = np.random.default_rng(seed)
    build = Builder(offset=1.0)
    for gain in rng.uniform(1, 2, n):
        build.column(0, 1, whole=True, gain=float(gain))
    for _ in range(5):
        weight = rng.uniform(1, 2, n)
        build.dense(range(n), weight, -np.inf, float(weight.sum() / 3))
    return build.model()


def small_mip(seed: int) -> tuple[LinearModel, float]:
    """A knapsack of eight to ten columns, and its maximum over all assignments."""
    model = knapsack(8 + seed % 3, seed)
    every = np.array(list(product((0.0, 1.0), repeat=len(model.objective))))
    fits = (every @ model.matrix.T.toarray() <= model.row_hi).all(axis=1)
    return model, float(model.offset + (every[fits] @ model.objective).max())


def _packed(model: LinearModel) -> np.ndarray:
    """A point of a knapsack: columns are taken as long as they fit."""
    x, matrix = np.zeros(len(model.objective)), model.matrix.toarray()
    for j in range(len(x)):
        x[j] = 1.0
        if (matrix @ x > model.row_hi).any():
            x[j] = 0.0
    return x


def _misses(model: LinearModel, x: np.ndarray) -> float:
    """By how much x leaves rows or bounds."""
    rows = model.matrix @ x
    parts = (model.row_lo - rows, rows - model.row_hi, model.col_lo - x, x - model.col_hi)
    return max(float(part.max(initial=0.0)) for part in parts)
