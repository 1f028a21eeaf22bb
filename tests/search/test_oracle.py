"""The linear oracle over rows: exact on small blocks, a linear program otherwise."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from smilenn.domain import Domain, Feature
from smilenn.problem import build
from smilenn.properties import Claim, Convex, Dominates, Symmetric, row
from smilenn.search.gradient import search
from smilenn.search.oracle import Oracle, constraints


def reference(region, g):
    """max g·u by HiGHS over every constraint, whole numbers kept."""
    k, m = region.copies, region.size
    matrix, low, high = constraints(region, np.arange(m))
    step = np.tile(np.where(region.step > 0, region.step, 1.0), k)
    offset = np.where(np.tile(region.step > 0, k), region.lo.ravel(), 0.0)
    result = milp(
        -g.ravel() * step,
        integrality=np.tile(region.step > 0, k).astype(int),
        constraints=LinearConstraint(matrix * step, low - matrix @ offset, high - matrix @ offset),
        bounds=Bounds((region.lo.ravel() - offset) / step, (region.hi.ravel() - offset) / step),
    )
    return -result.fun + g.ravel() @ offset


CASES = {
    "convex": (Convex(["x0", "x2"]), 4),
    "dominates": (Dominates("x0", "x1", rate=3), 3),
    "cycle": (Symmetric(["x0", "x1", "x2", "x3", "x4"]), 6),
}


@pytest.mark.parametrize("kind", sorted(CASES))
def test_small_blocks_are_listed_and_exact(make, kind):
    what, m = CASES[kind]
    region = make.problem(what, make.box(m)).region
    oracle = Oracle(region)
    assert oracle.blocks is not None
    assert oracle.blocks.program.size == 0
    g = np.random.default_rng(0).normal(size=(12, region.copies, m))
    u = oracle(g)
    assert region.contains(u).all()
    for one, at in zip(g, u, strict=True):
        assert (one * at).sum() == pytest.approx(reference(region, one), abs=1e-7)
    assert region.contains(oracle.sample(50, np.random.default_rng(1))).all()


def test_dense_rows_go_to_one_linear_program(make):
    rng = np.random.default_rng(0)
    when = tuple(
        row([(float(a), 0, "in", f"x{i}") for i, a in enumerate(rng.normal(size=10).round(2))], 1) for _ in range(3)
    )
    region = make.problem(Claim(1, when, (row([(1, 0, "out", "")]),)), make.box(12)).region
    oracle = Oracle(region)
    assert oracle.blocks is not None
    assert len(oracle.blocks.program) == 10
    g = rng.normal(size=(8, 1, 12))
    u = oracle(g)
    assert region.contains(u, 1e-7).all()
    for one, at in zip(g, u, strict=True):
        assert (one * at).sum() == pytest.approx(reference(region, one), abs=1e-6)
    assert region.contains(oracle.sample(20, rng), 1e-7).all()


def test_whole_numbers_in_rows_are_listed_as_grid_points(make):
    domain = Domain((Feature("n", "integer", 0, 9, shift=4.0, mult=0.25), Feature("x")))
    problem = make.problem(Convex("n"), domain)
    oracle = Oracle(problem.region)
    g = np.random.default_rng(0).normal(size=(12, 3, 2))
    u = oracle(g)
    assert problem.region.contains(u).all()
    for one, at in zip(g, u, strict=True):
        assert (one * at).sum() == pytest.approx(reference(problem.region, one), abs=1e-7)
    fractions = oracle.sample(40, np.random.default_rng(1))
    assert problem.region.contains(oracle.snap(fractions)).all()


def test_categories_that_trade_places(make):
    names = ("a", "b", "c")
    domain = Domain(
        (Feature("l", "category", categories=names), Feature("r", "category", categories=names), Feature("x"))
    )
    problem = make.problem(Symmetric(["l", "r"]), domain)
    oracle = Oracle(problem.region)
    u = oracle(np.random.default_rng(0).normal(size=(20, 2, 7)))
    assert problem.region.contains(u).all()
    assert (u[:, 0, :3] == u[:, 1, 3:6]).all()


def test_equalities_that_leave_one_point(make):
    """a + b = 1 and a + 2 b = 3/2: nothing is left to choose, and the search returns that point."""
    domain = Domain.box([0.0], [1.0])
    when = (
        row([(1, 0, "in", "x0"), (1, 1, "in", "x0")], 1, "=="),
        row([(1, 0, "in", "x0"), (2, 1, "in", "x0")], "3/2", "=="),
    )
    claim = Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], 0),))
    problem = build(claim, make.snapshot(domain, np.random.default_rng(0), hidden=2))
    found = search(problem, problem.rows[0], rng=np.random.default_rng(0))
    assert found.u == pytest.approx(np.full((1, 2, 1), 0.5))
