"""Lemmas: they hold wherever the premise does, are as tight as the envelope, and a search with them ends the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from smilenn.domain import Domain, Feature
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.properties.library import Convex, Fair, Robust
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.mip.solvers import solver
from smilenn.provers.tree import grow, learn
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.hull import Hull, tightest
from smilenn.provers.tree.leaf import Cell, Slopes, rule_bound, rule_bounds, shape
from smilenn.provers.tree.lemma import joined, no_lemmas, patterns, proved, written
from smilenn.testing.problems import cube as box
from smilenn.testing.problems import mixed, snapshot


def problems(seed):
    """One copy, two in a strip, two with a category, three."""
    rng = np.random.default_rng(seed)
    single = Claim(1, (), (row([(1, 0, "out", "")], 1),))
    every = ((box(3), single), (box(3), Robust(0.2, 0.1)), (mixed(), Fair(["r"], 0.1)), (box(2), Convex(["x0"])))
    for domain, prop in every:
        claim = prop if isinstance(prop, Claim) else prop.lower(domain)[0]
        yield build(claim, snapshot(domain, rng, hidden=3))


def left_and_right(problem, lemmas, u):
    """Σ β·relu(s) and h·u + r at tuples u [B, k, m]: each [B, L]."""
    s = problem.snapshot
    relu = np.maximum(u @ s.hidden_weight.T + s.hidden_bias, 0.0)  # [B, k, H]
    left = np.einsum("bkl,lk->bl", relu[:, :, lemmas.unit], lemmas.beta)
    return left, np.einsum("bkm,lkm->bl", u, lemmas.slope) + lemmas.const


def points(problem, rng, count=400):
    """Members of the premise, corners among them."""
    region = problem.region
    u = region.lo + (region.hi - region.lo) * rng.uniform(-0.5, 1.5, size=(count, region.copies, region.size))
    u = region.snap(np.clip(u, region.lo, region.hi))
    return u[region.contains(u, 1e-9)]


@pytest.mark.parametrize("seed", range(6))
def test_a_lemma_of_any_numbers_holds_on_the_premise(seed):
    rng = np.random.default_rng(seed)
    for problem in problems(seed):
        k, m, h = problem.copies, problem.region.size, len(problem.snapshot.hidden_bias)
        many = 40
        made = written(
            rng.integers(0, h, many),
            rng.normal(size=(many, k)),
            rng.normal(size=(many, 2**k, k)),
            rng.normal(size=(many, k, m)),
            20,
        )
        lemmas = proved(problem, problem.region, made)
        left, right = left_and_right(problem, lemmas, points(problem, rng))
        assert (left <= right + 1e-12).all()
        best = (left - right).max(axis=0)
        assert (best > -2.0 * np.abs(right).max()).any()  # not by leaving all the room there is


def test_theta_stays_in_its_range_and_numbers_too_large_make_no_lemma():
    beta = np.array([[1.5, -2.0], [1.5, -2.0], [3e9, 1.0]])
    made = written(np.zeros(3, dtype=int), beta, np.full((3, 4, 2), [[9.0, -7.0]]), np.ones((3, 2, 1)), 10)
    assert (made.theta[:2, :, 1] == -2.0).all()
    assert (made.theta[:2, :, 0] == np.where(patterns(2)[:, 0], 1.5, 0.0)).all()
    assert not made.beta[2].any() and not made.slope[2].any() and np.isinf(made.const).all()
    free = written(np.zeros(1, dtype=int), beta[:1] / 3, np.zeros((1, 4, 2)), np.ones((1, 2, 1)) / 3, None)
    assert (free.beta == beta[:1] / 3).all() and free.theta[0, 1, 0] == 0.5


def envelope(problem, unit, beta, u):
    """The least concave function above Σ β·relu(s) at u, by a linear program over all patterns; without strips."""
    region, s, k, m = problem.region, problem.snapshot, problem.copies, problem.region.size
    w, b, some = s.hidden_weight[unit], s.hidden_bias[unit], patterns(problem.copies)
    size = 1 + k * m + k  # λ, v, what relu is at least
    cost, rows, rhs, same, equal = np.zeros(len(some) * size), [], [], [], []
    for p, on in enumerate(some):
        at = p * size
        for c in range(k):
            x = slice(at + 1 + c * m, at + 1 + (c + 1) * m)
            if beta[c] > 0 and on[c]:
                cost[x] -= beta[c] * w
                cost[at] -= beta[c] * b
            if beta[c] < 0:
                cost[at + 1 + k * m + c] -= beta[c]
                above = np.zeros(len(cost))
                above[x], above[at], above[at + 1 + k * m + c] = w, b, -1.0
                rows.append(above)
                rhs.append(0.0)
            for i in range(m):
                for end, sign in ((region.lo[c, i], -1.0), (region.hi[c, i], 1.0)):
                    line = np.zeros(len(cost))
                    line[at + 1 + c * m + i], line[at] = sign, -sign * end
                    rows.append(line)
                    rhs.append(0.0)
                if c and region.pinned[i]:
                    line = np.zeros(len(cost))
                    line[at + 1 + i], line[at + 1 + c * m + i] = 1.0, -1.0
                    same.append(line)
                    equal.append(0.0)
        for group in region.groups:
            for c in range(k):
                line = np.zeros(len(cost))
                line[[at + 1 + c * m + i for i in group]], line[at] = 1.0, -1.0
                same.append(line)
                equal.append(0.0)
    whole = np.zeros(len(cost))
    whole[::size] = 1.0
    same.append(whole)
    equal.append(1.0)
    for c in range(k):
        for i in range(m):
            line = np.zeros(len(cost))
            line[1 + c * m + i :: size] = 1.0
            same.append(line)
            equal.append(u[c, i])
    bounds = ([(0, 1)] + [(None, None)] * (k * m) + [(0, None)] * k) * len(some)
    found = linprog(cost, A_ub=np.array(rows), b_ub=rhs, A_eq=np.array(same), b_eq=equal, bounds=bounds)
    assert found.status == 0
    return -float(found.fun or 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_tightest_lemma_is_the_envelope(seed):
    """One copy exactly; two with pins and categories to within the grid of θ and of slopes for two positive copies."""
    rng = np.random.default_rng(seed)
    single = Claim(1, (), (row([(1, 0, "out", "")], 1),))
    domain = Domain((Feature("a"), Feature("b"), Feature("g", "category", categories=("p", "q", "r"))))
    for claim, betas, room in (
        (single, [(1.0,), (0.3,)], 1e-7),
        (Fair(["g"], 0.1).lower(domain)[0], [(1.0, -1.0), (0.5, -0.8), (1.0, 0.0), (0.4, 0.7)], 0.08),
    ):
        problem = build(claim, snapshot(domain, rng, hidden=3))
        hull = Hull.of(problem.region)
        for beta in betas:
            u = (points(problem, rng, 2).mean(axis=0)) if len(beta) == 2 else points(problem, rng, 3).mean(axis=0)
            units = np.arange(len(problem.snapshot.hidden_bias))
            made = tightest(problem, hull, units, np.tile(beta, (len(units), 1)), u)
            value = made.const + np.einsum("lkm,km->l", made.slope, u)
            for j, mine in zip(made.unit, value, strict=True):
                exact = envelope(problem, j, np.array(beta), u)
                assert exact - 1e-7 <= mine <= exact + room


def test_slopes_of_all_units_at_once_are_those_of_each():
    for problem in problems(3):
        if problem.copies > 2:
            continue
        rng = np.random.default_rng(0)
        u, units = points(problem, rng, 4).mean(axis=0), np.arange(len(problem.snapshot.hidden_bias))
        beta, hull = rng.normal(size=(len(units), problem.copies)), Hull.of(problem.region)
        together = tightest(problem, hull, units, beta, u)
        order = np.argsort(together.unit)
        for j in units:
            alone = tightest(problem, hull, units[j : j + 1], beta[j : j + 1], u)
            assert np.allclose(alone.slope[0], together.slope[order[j]]) and alone.unit[0] == j
            assert alone.const[0] == pytest.approx(together.const[order[j]])


@pytest.mark.parametrize("seed", range(4))
def test_the_leaf_rule_with_lemmas_is_never_below_the_value(seed):
    rng = np.random.default_rng(seed)
    for problem in problems(seed):
        r, s, k, m = problem.rows[0], problem.snapshot, problem.copies, problem.region.size
        h, many = len(s.hidden_bias), 12
        made = written(
            rng.integers(0, h, many),
            rng.normal(size=(many, k)),
            rng.normal(size=(many, 2**k, k)),
            0.3 * rng.normal(size=(many, k, m)),
            16,
        )
        lemmas = proved(problem, problem.region, made)
        zero = np.zeros((k, h), dtype=np.int8)
        cell = Cell(problem.region.lo, problem.region.hi, zero, np.zeros_like(r.flip, dtype=np.int8))
        base = shape(problem, cell)
        t, y = rng.normal(size=(5, k, h)), np.maximum(rng.normal(size=(5, many)), 0.0)
        nu = np.zeros((5, len(problem.region.rhs)))
        found = rule_bounds(problem, r, base, np.stack([zero] * 5), t, nu, lemmas=lemmas, y=y)
        reached = problem.value(points(problem, rng), r).max()
        for i in range(5):
            one = rule_bound(problem, r, base, Slopes(t[i], np.zeros_like(r.flip), nu[i], y[i]), lemmas)
            assert one == pytest.approx(found[i], rel=1e-9, abs=1e-9) and one >= reached - 1e-9
        fewer = rule_bounds(problem, r, base, np.stack([zero] * 5), t, nu, lemmas=lemmas, y=y[:, :7])
        rest = np.where(np.arange(many) < 7, y, 0.0)
        assert np.allclose(fewer, rule_bounds(problem, r, base, np.stack([zero] * 5), t, nu, lemmas=lemmas, y=rest))


def hard(seed=0):
    domain = box(5)
    problem = build(Robust(0.2, 0.5).lower(domain)[0], snapshot(domain, np.random.default_rng(seed), hidden=6))
    return problem, problem.rows[0]


def test_a_search_with_lemmas_ends_at_the_same_optimum(monkeypatch):
    """At once, later, and further down."""
    monkeypatch.setattr(learn, "LARGE", 8)
    for seed in range(2):
        domain = box(3)
        net = snapshot(domain, np.random.default_rng(seed), hidden=3)
        problem = build(Robust(0.3, 0.5).lower(domain)[0], net)
        r = problem.rows[0]
        best = ReducedMip().maximise(problem, r, time_limit=30)
        for at_once, later in ((0, 10**9), (10**9, 4)):
            monkeypatch.setattr(learn, "AT_ONCE", at_once)
            monkeypatch.setattr(learn, "LATER", later)
            tree = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=30)
            assert tree.complete and tree.bound == pytest.approx(best.upper, abs=2e-5)
            assert tree.nodes < 4 or len(tree.lemmas)


def test_rows_with_flip_units_go_without(monkeypatch):
    problem = build(
        Robust(0.3, 0.5).lower(box(3))[0], snapshot(box(3), np.random.default_rng(0), hidden=3, boxes="paper")
    )
    for at_once, later in ((0, 10**9), (10**9, 4)):
        monkeypatch.setattr(learn, "AT_ONCE", at_once)
        monkeypatch.setattr(learn, "LATER", later)
        tree = BranchAndBound(workers=1).search(problem, problem.rows[0], goal="optimum", time_limit=30)
        assert tree.complete and tree.nodes >= 4 and not len(tree.lemmas)


def test_lemmas_save_nodes_and_the_tree_carries_those_that_its_leaves_use(monkeypatch):
    problem, r = hard()
    target = ReducedMip().maximise(problem, r, time_limit=60).upper + 0.05
    monkeypatch.setattr(learn, "AT_ONCE", 0)
    tree = BranchAndBound(workers=1).search(problem, r, target=target, time_limit=60)
    monkeypatch.setattr(learn, "AT_ONCE", 10**9)
    monkeypatch.setattr(learn, "LATER", 10**9)
    plain = BranchAndBound(workers=1).search(problem, r, target=target, time_limit=60)
    assert tree.complete and plain.complete and len(tree.lemmas) and not len(plain.lemmas)
    assert 2 * tree.nodes < plain.nodes


def test_lemmas_that_a_tree_brings_along_are_proved_again_on_the_new_weights():
    problem, r = hard(1)
    tree = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=60)
    assert len(tree.lemmas)
    lying = replace(tree, lemmas=replace(tree.lemmas, const=tree.lemmas.const - 100.0))
    truth = ReducedMip().maximise(problem, r, time_limit=60).lower
    assert (
        BranchAndBound(workers=1).search(problem, r, target=truth - 1e-3, like=lying, time_limit=60).bound
        >= truth - 1e-9
    )


def test_there_are_no_more_lemmas_than_memory_was_counted_for(monkeypatch):
    problem, r = hard(2)
    monkeypatch.setattr(learn, "MOST", 10)
    tree = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=60, most=600)
    assert len(tree.lemmas) <= 10
    assert len(joined([no_lemmas(2, 5), tree.lemmas])) == len(tree.lemmas)


def test_where_phases_run_out_categories_come_first_and_lemmas_go(monkeypatch):
    monkeypatch.setattr(learn, "AT_ONCE", 0)
    monkeypatch.setattr(grow, "EXHAUSTED", 0)  # at the first split
    for seed in range(3):
        domain = mixed()
        problem = build(Fair(["r"], 0.1).lower(domain)[0], snapshot(domain, np.random.default_rng(seed), hidden=3))
        r = problem.rows[0]
        tree = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=30)
        best = ReducedMip().maximise(problem, r, time_limit=30)
        assert tree.complete and tree.bound == pytest.approx(best.upper, abs=2e-5)
        assert tree.root.split is None or (tree.root.split[0] == "group" and not len(tree.lemmas))


def test_lemmas_that_are_taken_over_are_rounded_as_a_certificate_writes_them():
    """Else writing them would move bounds: a tree of a search that wrote nothing, taken over by one that does."""
    problem, r = hard(1)
    free = BranchAndBound(workers=1).search(problem, r, goal="optimum", time_limit=60, written=False)
    rounded = grow.Growth(problem, r, solver(), 60.0, "optimum", 0.0, True)
    scale = 2.0 ** (rounded.bits or 0)
    assert len(free.lemmas) and (free.lemmas.slope * scale != np.rint(free.lemmas.slope * scale)).any()
    tree = BranchAndBound(workers=1).search(problem, r, target=free.bound + 0.01, like=free, time_limit=60)
    assert tree.complete and len(tree.lemmas) == len(free.lemmas)
    for part in (tree.lemmas.beta, tree.lemmas.theta, tree.lemmas.slope):
        assert (part * scale == np.rint(part * scale)).all()
