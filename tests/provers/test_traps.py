"""The numerical traps of big-M models and lying solvers: reproduced, and shown not to reach a verdict."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from smilenn.provers.mip.paper import PaperMip, two_sided
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import Solver, SolverResult, Status
from smilenn.provers.mip.solvers.highs import Highs
from smilenn.provers.portfolio import generate, prove_problem
from smilenn.provers.rules.sweep import Sweep
from smilenn.verdict import Proved, Unknown, Violated


def network(make, seed, hidden=3):
    return make.snapshot(make.box(1, -1, 1), np.random.default_rng(seed), hidden=hidden)


def forward_of(problem, choose):
    """A model whose backbone sits at `choose(lower, upper)` of its box."""

    def forward(x):
        s = problem.snapshot
        return choose(*s.box(problem.domain.scale(x))) @ s.head_weight.T + s.head_bias

    return forward


@pytest.mark.parametrize("big_m", [20.0, 1000.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_false_certificate_of_a_one_sided_claim(make, seed, big_m):
    """ε_lo = −M with the same M in the rows of b makes γ ≤ 0 whatever the network does."""
    problem = make.problem(make.monotone(["x0"]), network(make, seed))
    true = Sweep().maximise(problem, problem.rows[0])
    assert true.lower > 0.1

    naive = two_sided(problem, -big_m, 0.0, big_m=big_m)
    assert naive.status is Status.OPTIMAL
    assert naive.bound <= 1e-6  # "no violation", says the paper's model

    dropped = two_sided(problem, None, 0.0, big_m=big_m)
    assert dropped.bound == pytest.approx(true.upper, abs=1e-6)
    row = PaperMip().maximise(problem, problem.rows[0])
    assert row.upper == pytest.approx(true.upper, abs=1e-6)
    for prover in ("auto", "mip", "paper-mip"):
        assert isinstance(prove_problem(problem, prover=prover), Unknown)


def test_a_big_m_that_is_too_small_cuts_off_counterexamples(make):
    problem = make.problem(make.monotone(["x0"]), network(make, 2))
    true = Sweep().maximise(problem, problem.rows[0])
    said = two_sided(problem, None, 0.0, big_m=0.3)
    assert said.status is Status.INFEASIBLE  # the paper's sign of "no counterexample"
    assert true.lower > 1 and isinstance(prove_problem(problem), Unknown)


def test_phantom_violations_of_a_large_big_m(make):
    """A binary at 1e-5 times M = 1e6 buys violation that does not exist; re-evaluation shows it."""
    phantoms = 0
    for seed in (0, 1, 2):
        problem = make.problem(make.robust(["x0"], 0.1, 0), network(make, seed))
        true = Sweep().maximise(problem, problem.rows[0])
        eps = true.upper + 0.2
        held = make.problem(make.robust(["x0"], 0.1, round(eps, 6)), network(make, seed))
        assert isinstance(prove_problem(held, prover="mip"), Proved)
        for big_m in (1e6, 1e7, 1e8):
            loose = Highs(feasibility=1e-7, integrality=1e-5, presolve=False)
            said = two_sided(held, -eps, eps, big_m=big_m, engine=loose, time_limit=20)
            phantoms += said.claimed > 0.01
            assert said.value <= 0.0  # whatever the solver claims, its point is not a violation
    assert phantoms > 0


@dataclass(frozen=True)
class Liar(Solver):
    """Says what it is told to say."""

    status: Status = Status.OPTIMAL
    dual_bound: float = np.inf
    fraction: float | None = 0.5
    name: ClassVar[str] = "liar"
    title: ClassVar[str] = "a liar"

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        x = None
        if self.fraction is not None:
            lo, hi = np.maximum(model.col_lo, -10), np.minimum(model.col_hi, 10)
            x = lo + self.fraction * (hi - lo)
        return SolverResult(self.status, self.dual_bound, 1e3, x, 7, 0.0, None, "trust me")


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.ABOVE])
@pytest.mark.parametrize("fraction", [0.0, 0.37, 1.0, np.nan])
def test_a_lying_primal_point_is_never_a_violation(make, status, fraction):
    """The claim holds: the solver's 'violation of 1000' is re-evaluated and stays unknown, model or no model."""
    problem = make.problem(make.robust(["x0"], 0.1, 1000), network(make, 1))
    prover = ReducedMip(Liar(status, np.inf, fraction))
    found = prover.maximise(problem, problem.rows[0])
    assert found.lower <= 0 and found.upper == np.inf
    for forward in (None, forward_of(problem, lambda lower, upper: upper)):
        verdict = prove_problem(problem, prover=prover, forward=forward)
        assert isinstance(verdict, Unknown)
        assert verdict.bound == np.inf


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNBOUNDED, Status.ERROR])
def test_statuses_that_make_no_sense_prove_nothing(make, status):
    problem = make.problem(make.robust(["x0"], 0.1, 1000), network(make, 1))
    verdict = prove_problem(problem, prover=ReducedMip(Liar(status, -5.0, None)))
    assert isinstance(verdict, Unknown)
    assert verdict.bound == np.inf
    assert status.value in verdict.reason


def test_an_early_optimal_below_its_own_point_is_corrected(make):
    """A dual bound below a real point of the region is not believed."""
    problem = make.problem(make.monotone(["x0"]), network(make, 1))
    honest = Sweep().maximise(problem, problem.rows[0])
    at = (honest.point[:, 0] + 1) / 2

    @dataclass(frozen=True)
    class Early(Liar):
        def solve(self, model, **options):
            x = np.zeros(len(model.col_lo))
            x[:2] = at  # the input columns come first, scaled to [0, 1]
            return SolverResult(Status.OPTIMAL, -1.0, -1.0, x)

    found = ReducedMip(Early()).maximise(problem, problem.rows[0])
    assert found.upper >= found.lower == pytest.approx(honest.lower)
    assert isinstance(prove_problem(problem, prover=ReducedMip(Early())), Unknown)


def test_a_time_out_is_unknown(make):
    rng = np.random.default_rng(5)
    names = [f"x{i}" for i in range(6)]
    problem = make.problem(make.robust(names, 0.3, 0.1), make.snapshot(make.box(6), rng, hidden=12))
    verdict = prove_problem(problem, prover="mip", time_limit=0.0)
    assert isinstance(verdict, Unknown)
    assert "time limit" in verdict.reason
    stuck = ReducedMip(Liar(Status.TIME_LIMIT, 0.75, None))
    verdict = prove_problem(problem, prover=stuck)
    assert isinstance(verdict, Unknown) and verdict.bound == 0.75 * problem.rows[0].scale
    found = generate(problem, problem.rows[0], prover=stuck, start=1.0, limit=8.0)
    assert not found.complete and found.nodes == 4 * 7  # 1, 2, 4 and 8 seconds


def test_violated_needs_the_model_itself(make):
    """The box allows a violation; only a backbone that uses it is violated."""
    problem = make.problem(make.robust(["x0"], 0.1, 0.01), network(make, 1))
    assert isinstance(prove_problem(problem), Unknown)
    middle = np.zeros(problem.snapshot.embedding)
    constant = prove_problem(problem, forward=lambda x: np.zeros((len(x), 1)) + middle.sum())
    assert isinstance(constant, Unknown) and constant.point is not None
    verdict = prove_problem(problem, forward=forward_of(problem, lambda lower, upper: lower))
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.violation > 0
