"""The solver layer: known answers, early stops, statuses, and bounds that do not rest on tolerances."""

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.prove.linear_model import Builder, safe_bound
from smilenn.prove.mip import ReducedMip
from smilenn.prove.solvers import Status, solver


def knapsack(n=30, seed=0, whole=True):
    rng = np.random.default_rng(seed)
    build = Builder()
    for gain in rng.uniform(1, 2, n):
        build.column(0, 1, whole=whole, gain=gain)
    for _ in range(8):
        weight = rng.uniform(1, 2, n)
        build.dense(range(n), weight, -np.inf, weight.sum() / 3)
    build.offset = 1.0
    return build.model()


def test_an_lp_has_a_bound_from_its_multipliers():
    model = knapsack(whole=False)
    result = solver("highs").solve(model, time_limit=10)
    assert result.status is Status.OPTIMAL
    assert result.dual_bound == pytest.approx(result.primal, abs=1e-7)
    assert (model.matrix @ result.x <= model.row_hi + 1e-7).all()
    assert safe_bound(model, result.multipliers) == result.dual_bound
    for seed in range(5):  # any multipliers give a bound, good ones a tight one
        worse = safe_bound(model, result.multipliers + np.random.default_rng(seed).normal(size=len(model.row_hi)))
        assert worse >= result.primal - 1e-9


def test_a_mip_stops_at_a_point_above_or_a_bound_below():
    model = knapsack()
    best = solver().solve(model, time_limit=20)
    assert best.status is Status.OPTIMAL and best.dual_bound == pytest.approx(best.primal, abs=1e-4)
    above = solver().solve(model, time_limit=20, above=best.primal - 2)
    assert above.status in (Status.ABOVE, Status.OPTIMAL)
    assert above.primal > best.primal - 2 and above.dual_bound >= best.primal - 1e-6
    below = solver().solve(model, time_limit=20, below=best.primal + 0.5)
    assert below.status in (Status.BELOW, Status.OPTIMAL)
    assert best.primal - 1e-6 <= below.dual_bound <= best.primal + 0.5


def test_statuses_are_told_apart():
    build = Builder()
    x = build.column(0, 1, whole=True, gain=1.0)
    build.row({x: 1.0}, lo=2.0)
    assert solver().solve(build.model(), time_limit=5).status is Status.INFEASIBLE
    build = Builder()
    build.column(0, np.inf, gain=1.0)
    result = solver().solve(build.model(), time_limit=5)
    assert result.status in (Status.UNBOUNDED, Status.ERROR) and result.dual_bound == np.inf
    assert solver().solve(knapsack(200), time_limit=0.0).status is Status.TIME_LIMIT


def test_unknown_solvers_are_named():
    with pytest.raises(SmileError, match="There is no solver 'cplex'"):
        solver("cplex")
    with pytest.raises(SmileError, match=r"smilenn\[gurobi\]"):
        solver("gurobi")


def test_goals(make):
    """`find` and `prove` stop early, `optimum` does not; all bounds hold."""
    rng = np.random.default_rng(1)
    s = make.snapshot(make.box(6), rng, hidden=4)
    problem = make.problem(make.robust([f"x{i}" for i in range(6)], 0.2, 0.1), s)
    row = problem.rows[0]
    best = ReducedMip().maximise(problem, row)
    assert best.complete and best.upper - best.lower <= 1e-5
    found = ReducedMip().maximise(problem, row, goal="find", target=best.lower / 2)
    assert found.complete and found.lower > best.lower / 2 and found.upper >= best.lower - 1e-6
    shown = ReducedMip().maximise(problem, row, goal="prove", target=best.upper * 1.1)
    assert shown.complete and best.lower - 1e-6 <= shown.upper <= best.upper * 1.1
    plain = ReducedMip(twin_cuts=False).maximise(problem, row)
    assert plain.upper == pytest.approx(best.upper, abs=1e-5)
