"""Choice of prover, verdicts, exact counterexamples, time-out doubling, interruption."""

import signal
import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import holds_exactly
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.portfolio import combine, generate, prove_all, prove_problem
from smilenn.provers.prover import Prover
from smilenn.provers.realise import onto_premise
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.table import choose
from smilenn.provers.tree import branch
from smilenn.provers.tree.relaxation import BoxLP
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum, Proved, Unknown, Violated


def at_upper(problem):
    """The model whose backbone exceeds every box: it sits at the upper corner."""
    s = problem.snapshot
    return lambda x: s.box(problem.domain.scale(x))[1] @ s.head_weight.T + s.head_bias


def test_the_cheapest_prover_that_applies_is_chosen(make):
    rng = np.random.default_rng(0)
    affine = make.problem(make.robust(["x0", "x1"], 0.1, 1), make.snapshot(make.box(2), rng, auxiliaries="affine"))
    one = make.problem(make.monotone(["x0"]), make.snapshot(make.box(1), rng))
    many = make.problem(make.robust(["x0", "x1"], 0.5, 1), make.snapshot(make.box(2), rng, hidden=4))
    tight = make.problem(make.monotone(["x0", "x1"]), make.snapshot(make.box(2), rng, hidden=4))
    three = make.problem(make.convex("x0"), make.snapshot(make.box(2), rng, hidden=4))
    names = [choose(problem, problem.rows[0]) for problem in (affine, one, many, tight, three)]
    assert [choice.prover.name for choice in names] == ["closed-form", "sweep", "branch", "mip", "mip"]
    assert all("\n" not in choice.reason and choice.prover.title in choice.reason for choice in names)
    with pytest.raises(SmileError, match="does not apply"):
        prove_problem(many, prover="sweep")
    with pytest.raises(SmileError, match="no prover 'magic'"):
        prove_problem(many, prover="magic")


def test_wording(make):
    rng = np.random.default_rng(0)
    affine = make.problem(make.robust(["x0", "x1"], 0.1, 100), make.snapshot(make.box(2), rng, auxiliaries="affine"))
    many = make.problem(make.robust(["x0", "x1"], 0.5, 100), make.snapshot(make.box(2), rng, hidden=4))
    assert prove_problem(affine).sentence() == "proved by closed form in float64 within 1e-09"
    assert prove_problem(many).sentence() == "proved by bound propagation in float64 within 1e-09"
    assert prove_problem(many, prover="branch").sentence() == "proved by LP branch-and-bound within 1e-09"
    assert prove_problem(many, prover="mip").sentence() == "proved by HiGHS (reduced MIP) within 1e-06"
    assert prove_problem(many, prover="paper-mip").sentence() == "proved by HiGHS (the paper's model) within 1e-06"
    both = prove_all([affine, many])
    assert both.sentence() == "proved by closed form in float64 and bound propagation in float64 within 1e-09"
    assert both.violation_bound == 0.0 and both.bound < 0
    assert "certified" not in both.sentence()


def test_several_claims_give_the_worst_verdict(make):
    rng = np.random.default_rng(1)
    s = make.snapshot(make.box(2), rng, hidden=3)
    good, bad = (make.problem(make.robust(["x0", "x1"], 0.5, eps), s) for eps in (100, 0.01))
    assert isinstance(prove_all([good]), Proved)
    unknown = prove_all([good, bad])
    assert isinstance(unknown, Unknown) and unknown.bound > 0 and unknown.point.shape == (2, 2)
    violated = prove_all([good, bad], forward=at_upper(bad))
    assert isinstance(violated, Violated) and violated.exit_code == 1
    with pytest.raises(SmileError, match="nothing to prove"):
        combine([])


def counterexample_claims(make):
    names = ["x", "n"]
    free = (row([(1, 0, "in", "r=a"), (-1, 1, "in", "r=a")], 1),)
    return {
        "robust": make.robust(names, 1, 0.01),
        "tenth": make.robust(["x"], 0.1, 0.01),
        "band": make.band("x", 0.1, 0.3, eps=-20),
        "bound": Claim(2, (row([(1, 0, "in", "x")], 0.1), row([(-1, 1, "in", "x")], -0.3)), (make.difference(-20),)),
        "category": Claim(2, free, (make.difference(-20),)),
        "row": Claim(2, (row([(1, 0, "in", "x"), (0.3, 1, "in", "x")], 0.1),), (make.difference(-20),)),
        "equal": Claim(
            3,
            (row([(1, 0, "in", "x"), (-2, 1, "in", "x"), (1, 2, "in", "x")], 0, "=="),),
            (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], -20),),
        ),
    }


@pytest.mark.parametrize("name", ["robust", "tenth", "band", "bound", "category", "row", "equal"])
@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_counterexamples_satisfy_the_premise_exactly(make, name, boxes):
    """Domains with bounds and scales that are not dyadic numbers: rounding must not push the inputs out of Q."""
    third = Feature("x", "continuous", -1 / 3, 0.7, shift=0.1, mult=1 / 0.3)
    domain = Domain((third, *make.mixed().features[1:]))
    s = make.snapshot(domain, np.random.default_rng(2), hidden=3, boxes=boxes)
    problem = make.problem(counterexample_claims(make)[name], s)
    verdict = prove_problem(problem, forward=at_upper(problem))
    assert isinstance(verdict, Violated), verdict
    found = verdict.counterexample
    assert holds_exactly(problem.claim, domain, found.x)
    assert (found.x[1:, problem.premise.pinned] == found.x[0, problem.premise.pinned]).all()
    assert np.array_equal(at_upper(problem)(found.x), found.outputs)
    assert 0 < found.violation <= verdict.bound + 1e-6
    assert found.row == problem.rows[0].text


def test_points_just_outside_the_premise_are_moved_onto_it(make):
    problem = make.problem(make.robust(["x0"], 0.1, 1), make.snapshot(make.box(1), np.random.default_rng(3)))
    x = np.array([[0.3 + 1e-12], [0.2]])  # in floats 0.3 − 0.2 < 0.1 < 0.3 + 1e-12 − 0.2
    assert not holds_exactly(problem.claim, problem.domain, x)
    moved = onto_premise(problem, x)
    assert holds_exactly(problem.claim, problem.domain, moved)
    assert np.abs(moved - x).max() < 2e-12


def test_a_negative_gap_is_not_taken_on_trust(make):
    s = make.snapshot(make.box(1), np.random.default_rng(4), auxiliaries="affine")
    s.second_const[0] = -1e3
    verdict = prove_problem(make.problem(make.robust(["x0"], 0.1, 1e6), s))
    assert isinstance(verdict, Unknown) and "gap" in verdict.reason


@dataclass(frozen=True)
class Slow(Prover):
    """Finds a violation only when given four seconds."""

    name: ClassVar[str] = "slow"
    tolerance: ClassVar[float] = 1e-6

    @property
    def title(self):
        return "slow"

    def refuses(self, problem, row):
        return None

    def maximise(self, problem, row, *, time_limit=1.0, goal="optimum", target=0.0):
        if time_limit < 4:
            return Maximum(9.0 - time_limit, stopped=Why(Reason.TIME), nodes=1)
        return Maximum(6.0, 0.5, problem.region.lo, Why(Reason.TIME), nodes=1)


def test_time_outs_double_until_a_counterexample_appears(make):
    problem = make.problem(make.monotone(["x0"]), make.snapshot(make.box(1), np.random.default_rng(5)))
    found = generate(problem, problem.rows[0], prover=Slow(), start=1.0, limit=100.0)
    assert (found.nodes, found.lower, found.upper) == (3, 0.5, 6.0)
    found = generate(problem, problem.rows[0], prover=Slow(), start=1.0, limit=3.0)
    assert (found.nodes, found.point, found.upper) == (3, None, 6.0)  # 1, 2 and 3 seconds
    done = generate(problem, problem.rows[0], start=1.0, limit=8.0)
    assert done.complete


class Interrupted(ClosedForm):
    def maximise(self, problem, row, **options):
        raise KeyboardInterrupt


def test_interruption_gives_the_best_bound(make):
    problem = make.problem(
        make.robust(["x0"], 0.1, 1), make.snapshot(make.box(1), np.random.default_rng(6), auxiliaries="affine")
    )
    verdict = prove_all([problem, problem], prover=Interrupted())
    assert isinstance(verdict, Unknown) and verdict.because(Reason.INTERRUPTED) and verdict.reason == "interrupted"


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_ctrl_c_stops_the_solver(make):
    rng = np.random.default_rng(7)
    names = [f"x{i}" for i in range(12)]
    problem = make.problem(make.robust(names, 0.5, 0.1), make.snapshot(make.box(12), rng, hidden=30, embedding=4))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, lambda: signal.raise_signal(signal.SIGINT))
    try:
        timer.start()
        found = ReducedMip().maximise(problem, problem.rows[0], time_limit=60)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert found.interrupted and not found.complete and found.seconds < 30
    assert np.isfinite(found.upper) and found.lower <= found.upper


@pytest.mark.parametrize("most", [1e150, 1.7e308])
@pytest.mark.parametrize("prover", ["auto", "branch", "mip"])
def test_a_left_side_without_a_bound_is_reported_with_its_row_and_feature(make, most, prover):
    rng = np.random.default_rng(0)
    small = make.snapshot(make.box(2), rng)
    wide = Domain((Feature("x0", "continuous", -1.0, 1.0), Feature("x1", "continuous", -most, most)))
    problem = make.problem(make.robust(["x1"], 0.1, 1), replace(small, domain=wide))
    verdict = prove_problem(problem, prover=prover, time_limit=5.0)
    assert isinstance(verdict, Unknown) and verdict.bound == np.inf
    assert verdict.reason.startswith(f"'{problem.rows[0].text}' is unbounded") and "'x1' goes up to 1" in verdict.reason


def test_weights_without_a_bound_are_reported_too(make):
    small = make.snapshot(make.box(2), np.random.default_rng(0))
    huge = replace(small, hidden_weight=small.hidden_weight * 1e200, lower_out=small.lower_out * 1e200)
    verdict = prove_problem(make.problem(make.robust(["x0"], 0.1, 1), huge), time_limit=5.0)
    assert isinstance(verdict, Unknown) and "is unbounded" in verdict.reason


@pytest.fixture
def slow(make):
    """A claim whose tree has a few hundred nodes, with ε just above its maximum; and that maximum."""
    names = [f"x{i}" for i in range(4)]
    net = make.snapshot(make.box(4), np.random.default_rng(3), hidden=6)
    problem = make.problem(make.robust(names, 0.3, 0.1), net)
    best = ReducedMip().maximise(problem, problem.rows[0], time_limit=60)
    row = replace(problem.rows[0], rhs=problem.rows[0].rhs + best.upper + 1e-3)
    return replace(problem, rows=(row,)), best.lower - best.upper - 1e-3


def test_a_verdict_at_a_limit_has_the_best_proved_bound(slow, monkeypatch):
    problem, truth = slow
    assert isinstance(prove_problem(problem, prover="branch", time_limit=60.0), Proved)
    late = prove_problem(problem, prover="branch", time_limit=0.0)
    assert isinstance(late, Unknown) and late.because(Reason.TIME) and late.reason == "the time limit was reached"
    assert truth <= late.bound < np.inf
    monkeypatch.setattr(branch, "MEMORY", 1e-4)  # GiB: some twenty nodes
    full = prove_problem(problem, prover="branch", time_limit=60.0)
    assert isinstance(full, Unknown) and truth <= full.bound <= late.bound
    assert full.reason.startswith("the tree reached its limit of") and full.reason.endswith("(memory is capped)")


def test_ctrl_c_in_a_tree_gives_a_verdict_with_what_was_proved(slow, monkeypatch):
    problem, truth = slow
    calls, real = [], BoxLP.solve

    def once(self, *args, **options):
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return real(self, *args, **options)

    monkeypatch.setattr(BoxLP, "solve", once)
    verdict = prove_all([problem], prover="branch", time_limit=60.0)
    assert isinstance(verdict, Unknown) and verdict.because(Reason.INTERRUPTED) and verdict.reason == "interrupted"
    assert truth <= verdict.bound < np.inf and len(calls) == 20
    calls.clear()
    two = prove_all([problem, problem], prover="branch", time_limit=60.0)
    assert isinstance(two, Unknown) and two.bound == np.inf  # the second claim was not looked at
