"""The solver layer: known answers, early stops, statuses, and bounds that do not rest on tolerances."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.provers.mip.linear_model import Builder, at_least, safe_bound
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import SOLVERS, Status, installed, solver
from smilenn.provers.mip.solvers.base import Afresh
from smilenn.provers.tree.branch import BranchAndBound


def _param(name):
    reason = f"{SOLVERS[name]} is not installed; pip install 'smilenn[{name}]' runs this test too"
    return pytest.param(name, marks=[] if name in installed() else [pytest.mark.skip(reason=reason)])


everywhere = pytest.mark.parametrize("name", [_param(name) for name in SOLVERS])


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


@everywhere
def test_a_mip_stops_at_a_point_above_or_a_bound_below(name):
    model = knapsack()
    best = solver(name).solve(model, time_limit=20)
    assert best.status is Status.OPTIMAL and best.dual_bound == pytest.approx(best.primal, abs=1e-4)
    above = solver(name).solve(model, time_limit=20, above=best.primal - 2)
    assert above.status in (Status.ABOVE, Status.OPTIMAL)
    assert above.primal > best.primal - 2 and above.dual_bound >= best.primal - 1e-6
    below = solver(name).solve(model, time_limit=20, below=best.primal + 0.5)
    assert below.status in (Status.BELOW, Status.OPTIMAL)
    assert best.primal - 1e-6 <= below.dual_bound <= best.primal + 0.5


@everywhere
@pytest.mark.parametrize("whole", [True, False])
def test_a_model_is_infeasible_above_its_maximum_and_only_there(name, whole):
    model = knapsack(12, whole=whole)
    best = solver(name).solve(model, time_limit=20)
    for objective in (True, False):
        beyond = at_least(model, best.primal + 0.01, objective=objective)
        assert solver(name).solve(beyond, time_limit=20).status in (Status.INFEASIBLE, Status.BELOW)
        within = solver(name).solve(at_least(model, best.primal - 0.01, objective=objective), time_limit=20)
        assert within.status is Status.OPTIMAL and model.offset + model.objective @ within.x >= best.primal - 0.0101
        assert within.primal == pytest.approx(best.primal if objective else 0.0, abs=1e-4)


@everywhere
def test_statuses_are_told_apart(name):
    build = Builder()
    x = build.column(0, 1, whole=True, gain=1.0)
    build.row({x: 1.0}, lo=2.0)
    assert solver(name).solve(build.model(), time_limit=5).status is Status.INFEASIBLE
    build = Builder()
    build.column(0, np.inf, gain=1.0)
    result = solver(name).solve(build.model(), time_limit=5)
    assert result.status in (Status.UNBOUNDED, Status.ERROR) and result.dual_bound == np.inf
    assert solver(name).solve(knapsack(200), time_limit=0.0).status is Status.TIME_LIMIT


def test_unknown_solvers_are_named():
    with pytest.raises(SmileError, match="There is no solver 'cplex'"):
        solver("cplex")


@pytest.mark.parametrize("name", ["scip", "gurobi"])
def test_a_missing_library_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, SOLVERS[name], None)  # imports of it fail
    with pytest.raises(SmileError, match=rf"smilenn\[{name}\]"):
        solver(name).solve(knapsack(), time_limit=1)


@everywhere
def test_the_same_optimum_on_every_solver(make, name):
    rng = np.random.default_rng(3)
    problem = make.problem(make.fair(["x", "n"], 0.1), make.snapshot(make.mixed(), rng, hidden=4))
    row = problem.rows[0]
    found = ReducedMip(solver(name)).maximise(problem, row, time_limit=30)
    tree = BranchAndBound().maximise(problem, row, time_limit=30)
    assert found.complete and tree.complete
    assert found.upper == pytest.approx(tree.upper, abs=1e-5) and found.lower == pytest.approx(tree.lower, abs=1e-5)


def test_gurobi_lps_have_multipliers():
    pytest.importorskip("gurobipy", reason="gurobipy is not installed; pip install 'smilenn[gurobi]'")
    model = knapsack(whole=False)
    result = solver("gurobi").solve(model, time_limit=10)
    assert result.status is Status.OPTIMAL
    assert safe_bound(model, result.multipliers) == pytest.approx(result.primal, abs=1e-6)


def test_gurobi_says_that_its_licence_is_too_small():
    gurobipy = pytest.importorskip("gurobipy", reason="gurobipy is not installed; pip install 'smilenn[gurobi]'")
    result = solver("gurobi").solve(knapsack(2500), time_limit=10)
    assert result.status in (Status.ERROR, Status.OPTIMAL)  # optimal with a full licence
    assert result.status is Status.OPTIMAL or "size-limited" in result.detail, gurobipy


def test_a_session_goes_on_where_it_was():
    """Bounds, rows and coefficients changed in place give what a new model gives; an empty one has a ray."""
    model = knapsack(whole=False)
    for session in (solver("highs").session(model), Afresh(solver("highs"), model)):
        first = session.solve()
        basis = session.basis()
        index = np.arange(5)
        session.columns(index, np.zeros(5), np.zeros(5))
        session.row(0, -np.inf, model.row_hi[0] / 2)
        session.coefficient(1, 7, 5.0)
        second = session.solve(basis)
        matrix, hi, top = model.matrix.copy(), model.col_hi.copy(), model.row_hi.copy()
        matrix[1, 7], hi[:5], top[0] = 5.0, 0.0, top[0] / 2
        fresh = solver("highs").solve(replace(model, matrix=matrix, col_hi=hi, row_hi=top), time_limit=10)
        assert second.dual_bound == pytest.approx(fresh.dual_bound, abs=1e-7) and second.dual_bound < first.dual_bound
    session = solver("highs").session(model)
    session.row(2, 1e3, 1e4)
    result = session.solve()
    assert result.status is Status.INFEASIBLE
    y = result.multipliers
    matrix = model.matrix.toarray()
    lo, hi = model.row_lo.copy(), model.row_hi.copy()
    lo[2], hi[2] = 1e3, 1e4

    def empty(y):  # y·Ax over the box stays below what the rows ask for
        need = sum(y[r] * (lo[r] if y[r] > 0 else hi[r]) for r in np.flatnonzero(y))
        return np.maximum(y @ matrix, 0.0).sum() < need

    assert empty(y) or empty(-y)


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
