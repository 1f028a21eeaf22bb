"""Lemmas attacked: numbers that are none, lemmas that round to nothing or are all dropped, exact optima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.properties.library import Fair, Robust
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import solver
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.tree import learn
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.tree import leaves
from smilenn.testing.problems import cube as box
from smilenn.testing.problems import mixed, snapshot

from .test_exact import cases, exact


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    """Lemmas from the first node on, and more at every cell."""
    monkeypatch.setattr(learn, "AT_ONCE", 0)
    monkeypatch.setattr(learn, "LARGE", 0)


@dataclass(frozen=True)
class NoNumbers(Solver):
    """One multiplier is not a number, or not a finite one; the value is far too good."""

    what: float = np.nan
    last: bool = False
    name = "none"
    title = "a solver without numbers"

    def solve(self, model, *, time_limit, above=np.inf, below=-np.inf, gap=1e-6, threads=1):
        honest = solver("highs").solve(model, time_limit=time_limit)
        if honest.multipliers is None:
            return honest
        y = honest.multipliers.copy()
        y[-1 if self.last else len(y) // 3] = self.what
        return replace(honest, multipliers=y, dual_bound=-100.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("written", [False, True])
def test_multipliers_that_are_no_numbers_close_no_cell(what, last, written):
    for seed in range(1):
        domain = box(3)
        problem = build(Robust(0.2, 0.1).lower(domain)[0], snapshot(domain, np.random.default_rng(seed)))
        r = problem.rows[0]
        truth = ReducedMip().maximise(problem, r, time_limit=20).lower
        for goal in ("optimum", "prove"):
            tree = BranchAndBound(NoNumbers(what, last), workers=1).search(
                problem, r, goal=goal, target=truth - 0.05, time_limit=1.0, most=20, written=written
            )
            assert tree.bound >= truth - 1e-9


@pytest.mark.parametrize("seed", [11, 31, 295, 415])
def test_lemmas_that_round_to_nothing_leave_numbers(seed):
    """Weights of 1e-8 to 1e8: some lemmas become 0 <= 0, an empty row of the linear program."""
    rng, domain = np.random.default_rng(seed), box(2)

    def wild(*shape):
        return rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 8, size=shape)

    s = snapshot(domain, rng, hidden=3, embedding=1)
    weight = wild(6, 2)
    s = replace(
        s,
        hidden_weight=weight,
        hidden_bias=-(weight * rng.uniform(size=(6, 2))).sum(axis=1),
        lower_out=wild(1, 6) * (np.arange(6) < 3),
        second_out=np.abs(wild(1, 6)) * (np.arange(6) > 2),
        head_weight=np.ones((1, 1)),
    )
    problem = build(Claim(1, (), (row([(1, 0, "out", "")], 0),)), s)
    tree = BranchAndBound(workers=1).search(problem, problem.rows[0], goal="optimum", time_limit=5.0, most=80)
    assert not any(np.isnan(leaf.bound) for leaf in leaves(tree.root)) and tree.bound >= tree.value


def test_a_search_goes_on_where_no_lemma_is_kept():
    """Degenerate linear programs: a cut takes a point off and has no multiplier."""
    for seed in range(63, 73):
        rng = np.random.default_rng(seed)
        for domain, prop in ((box(2), Robust(0.5, 0.1)), (mixed(), Fair(["r"], 0.1))):
            s = snapshot(domain, rng, hidden=2)
            half = {
                name: np.rint(2 * getattr(s, name)) / 2
                for name in ("hidden_weight", "hidden_bias", "lower_out", "second_out", "head_weight")
            }
            problem = build(prop.lower(domain)[0], replace(s, **half))
            BranchAndBound(workers=1).search(problem, problem.rows[0], goal="optimum", time_limit=2.0, most=6)


@pytest.mark.parametrize("first", [0, pytest.param(30, marks=pytest.mark.slow)])
def test_no_bound_with_lemmas_is_below_the_exact_optimum(first):
    number = 0
    for seed in range(first, first + 9 if first == 0 else 2000):
        problem = cases(seed)
        top = exact(problem)
        for written in (True, False):
            tree = BranchAndBound(workers=1).search(
                problem, problem.rows[0], goal="optimum", time_limit=5.0, written=written
            )
            number += len(tree.lemmas) > 0
            assert np.isfinite(tree.bound) and Fraction(tree.bound) >= top, (seed, tree.bound, float(top))
    assert number > 3
