"""The package's own solvers and provers keep the contracts that third parties are asked to keep; broken ones do not."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.properties.library import Robust
from smilenn.provers.mip.paper import PaperMip
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import SOLVERS, Status, installed, solver
from smilenn.provers.mip.solvers.highs import Highs
from smilenn.provers.rules.ball import Ball
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.order import Order
from smilenn.provers.rules.signs import Signs
from smilenn.provers.rules.slopes import SlopeRule
from smilenn.provers.rules.sweep import Sweep
from smilenn.provers.rules.table import PROVERS
from smilenn.provers.screen import Screen
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.testing import ProverContract, SolverContract
from smilenn.testing.problems import collapsed, cube, monotone, snapshot


class TestHighs(SolverContract):
    def solver(self):
        return solver("highs")


@pytest.mark.skipif("scip" not in installed(), reason="pyscipopt is not installed; pip install 'smilenn[scip]'")
class TestScip(SolverContract):
    def solver(self):
        return solver("scip")


@pytest.mark.skipif("gurobi" not in installed(), reason="gurobipy is not installed; pip install 'smilenn[gurobi]'")
class TestGurobi(SolverContract):
    def solver(self):
        return solver("gurobi")


def test_every_solver_has_its_contract():
    tested = {name.lower().removeprefix("test") for name in globals() if name.startswith("Test")}
    assert set(SOLVERS) <= tested


class TestClosedForm(ProverContract):
    def prover(self):
        return ClosedForm()


class TestSweep(ProverContract):
    def prover(self):
        return Sweep()


class TestSigns(ProverContract):
    def prover(self):
        return Signs()


def rising(profile):
    """Claims that a rising network rises, in some of its inputs."""
    for seed in range(3):
        for m in (1, 2, 3):
            network = collapsed(snapshot(cube(m), np.random.default_rng(seed)))
            yield build(monotone([f"x{i}" for i in range(m)][: seed + 1]), replace(network, profile=profile))


class TestOrder(ProverContract):
    def prover(self):
        return Order()

    def problems(self):
        return rising("fixed-order")


def bounded():
    """Claims that an affine network changes little; of one input, where the box that a search looks at is the ball."""
    for seed in range(8):
        torch.manual_seed(seed)
        domain = cube(1)
        net = SmileNet(domain, torch.nn.Linear(1, 1), 1, auxiliaries="affine")
        with torch.no_grad():
            for part in (net.gap.const, net.gap.rise, net.gap.fall):
                part.zero_()
        (claim,) = Robust("1/5", 1, norm=2).lower(domain)
        yield build(claim, net.snapshot())


class TestBall(ProverContract):
    def prover(self):
        return Ball()

    def problems(self):
        return bounded()


class TestSlopes(ProverContract):
    def prover(self):
        return SlopeRule()

    def problems(self):
        return rising("f64-aux")


class TestBranch(ProverContract):
    def prover(self):
        return BranchAndBound()


class TestMip(ProverContract):
    def prover(self):
        return ReducedMip()


class TestPaperMip(ProverContract):
    def prover(self):
        return PaperMip()


class TestScreen(ProverContract):
    def prover(self):
        return Screen()


def test_every_prover_has_its_contract():
    tested = {name.lower().removeprefix("test") for name in globals() if name.startswith("Test")}
    assert {name.replace("-", "") for name in PROVERS} - {"auto"} <= tested


@dataclass(frozen=True)
class Optimist(BranchAndBound):
    """Says that a maximum is smaller than it is."""

    def maximise(self, problem, row, **options):
        found = super().maximise(problem, row, **options)
        return replace(found, upper=found.upper - 0.5, lower=-np.inf, point=None)


@dataclass(frozen=True)
class Inventor(BranchAndBound):
    """Says that a point is better than it is."""

    def maximise(self, problem, row, **options):
        found = super().maximise(problem, row, **options)
        return replace(found, lower=found.lower + 0.5, upper=found.upper + 1.0)


@dataclass(frozen=True)
class Idle(BranchAndBound):
    """Finds no bound, ever."""

    def maximise(self, problem, row, **options):
        return replace(super().maximise(problem, row, **options), upper=np.inf)


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Optimist, "test_bounds_hold_and_points_exist"),
        (Optimist, "test_nothing_false_is_proved_and_violations_replay"),
        (Optimist, "test_the_time_limit_ends_a_search"),
        (Inventor, "test_bounds_hold_and_points_exist"),
        (Idle, "test_something_true_is_proved"),
    ],
)
def test_a_broken_prover_is_caught(broken, check):
    class Contract(ProverContract):
        def prover(self):
            return broken()

    with pytest.raises(AssertionError):
        getattr(Contract(), check)()


def test_a_prover_that_refuses_everything_has_shown_nothing():
    class Contract(ProverContract):
        def prover(self):
            return Signs()

        def problems(self):
            return [problem for problem in super().problems() if not problem.snapshot.zero_gap]

    with pytest.raises(AssertionError, match="refused all but 0 rows"):
        Contract().test_bounds_hold_and_points_exist()


@dataclass(frozen=True)
class Low(Highs):
    """Bounds below the maximum."""

    def solve(self, model, **options):
        found = super().solve(model, **options)
        return replace(found, dual_bound=found.dual_bound - 0.1)


@dataclass(frozen=True)
class Turned(Highs):
    """Multipliers of the other sign."""

    def solve(self, model, **options):
        found = super().solve(model, **options)
        return replace(found, multipliers=None if found.multipliers is None else -found.multipliers)


@dataclass(frozen=True)
class Relaxed(Highs):
    """Forgets that columns are whole."""

    def solve(self, model, **options):
        return super().solve(replace(model, integer=np.zeros_like(model.integer)), **options)


@dataclass(frozen=True)
class Sure(Highs):
    """Everything is optimal."""

    def solve(self, model, **options):
        return replace(super().solve(model, **options), status=Status.OPTIMAL, dual_bound=1e9)


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Low, "test_linear_programs_have_their_known_optimum"),
        (Low, "test_early_stops_keep_the_bound_valid"),
        (Turned, "test_multipliers_are_a_valid_bound"),
        (Relaxed, "test_whole_numbers_are_kept"),
        (Sure, "test_nothing_feasible_is_said_and_only_then"),
        (Sure, "test_an_unbounded_program_has_no_bound"),
    ],
)
def test_a_broken_solver_is_caught(broken, check):
    class Contract(SolverContract):
        def solver(self):
            return broken()

    with pytest.raises(AssertionError):
        getattr(Contract(), check)()
