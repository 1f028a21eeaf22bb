"""Search: members only, never above the proved maximum, close to it on most instances."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.domain import Domain, Feature
from smilenn.problem import build
from smilenn.properties import Claim, Convex, Dominates, Fair, Lipschitz, Monotone, Robust, Safe, Symmetric, row
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.search.gradient import _Net, _starts, ascend, search
from smilenn.search.oracle import Oracle
from smilenn.search.polish import polish


def supermodular(names):
    """a + d = b + c on two features, each moved alone in b and c ⇒ f(b) + f(c) ≤ f(a) + f(d)."""
    p, q = names
    when = [row([(1, 0, "in", n), (1, 3, "in", n), (-1, 1, "in", n), (-1, 2, "in", n)], 0, "==") for n in names]
    when += [row([(1, 0, "in", p), (-1, 1, "in", p)], 0, "=="), row([(1, 0, "in", q), (-1, 2, "in", q)], 0, "==")]
    when += [row([(1, 0, "in", n), (-1, 3, "in", n)]) for n in names]
    then = row([(-1, 0, "out", ""), (1, 1, "out", ""), (1, 2, "out", ""), (-1, 3, "out", "")])
    return Claim(4, tuple(when), (then,))


def polytope(m, rows, rng):
    """Σ a_i x_i ≤ 0.5 for a few dense rows ⇒ f ≤ 0: too large to list vertices."""
    when = tuple(
        row([(round(a, 2), 0, "in", f"x{i}") for i, a in enumerate(rng.normal(size=m))], 0.5) for _ in range(rows)
    )
    return Claim(1, when, (row([(1, 0, "out", "")]),))


KINDS = {
    "fair": lambda make: (Fair("r", 0.1), make.mixed()),
    "monotone": lambda make: (Monotone(increasing=["x0", "x1"]), make.box(4)),
    "monotone mixed": lambda make: (Monotone(increasing=["x", "n"]), make.mixed()),
    "robust": lambda make: (Robust(0.1, 0.1), make.box(5)),
    "lipschitz": lambda make: (Lipschitz("x0", 0.5), make.box(3)),
    "convex": lambda make: (Convex(["x0", "x1"]), make.box(4)),
    "convex whole": lambda make: (Convex("n"), make.mixed()),
    "dominates": lambda make: (Dominates("x0", "x1", rate=2), make.box(4)),
    "symmetric": lambda make: (Symmetric(["x0", "x1", "x2", "x3"]), make.box(5)),
    "supermodular": lambda make: (supermodular(("x0", "x1")), make.box(3)),
    "polytope": lambda make: (polytope(8, 3, np.random.default_rng(5)), make.box(8)),
    "safe": lambda make: (Safe(then="out <= 0"), make.mixed()),
}


@settings(max_examples=36)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 10**6),
    boxes=st.sampled_from(["gap", "gap", "paper"]),
    auxiliaries=st.sampled_from(["relu", "relu", "affine", "constant"]),
)
def test_found_points_are_members_and_never_above_the_proved_maximum(make, kind, seed, boxes, auxiliaries):
    what, domain = KINDS[kind](make)
    problem = make.problem(what, domain, seed, boxes=boxes, auxiliaries=auxiliaries)
    for one in problem.rows:
        found = search(problem, one, starts=8, iterations=8, rng=np.random.default_rng(seed))
        assert len(found) >= 1
        assert problem.region.contains(found.u).all()
        assert (np.diff(found.value) <= 0).all()
        np.testing.assert_allclose(found.value, problem.value(found.u, one), rtol=0, atol=1e-12)
        u, value = polish(problem, one, found.u[0])
        assert value >= found.value[0]
        assert problem.region.contains(u[None])[0]
        assert value == problem.value(u[None], one)[0]
        best = ReducedMip().maximise(problem, one)
        assert value <= best.upper + 1e-6 * max(1.0, abs(best.upper))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_reaches_the_maximum_on_most_instances(make, kind):
    shares = []
    for seed in range(5):
        what, domain = KINDS[kind](make)
        problem = make.problem(what, domain, seed, boxes="paper" if seed % 3 == 2 else "gap")
        one = problem.rows[0]
        found = search(problem, one, rng=np.random.default_rng(seed))
        _, value = polish(problem, one, found.u[0])
        best = ReducedMip().maximise(problem, one).upper
        low = float(problem.value(Oracle(problem.region).snap(_some(problem, 500)), one).mean())
        shares.append([(v - low) / (best - low) for v in (found.value[0], value)])
    alone, polished = np.array(shares).T
    assert (alone >= 0.95).mean() >= 0.6, alone
    assert (polished >= 0.95).mean() >= 0.8, polished
    assert polished.min() >= 0.8


def _some(problem, count):
    return Oracle(problem.region).sample(count, np.random.default_rng(0))


def test_the_same_random_state_gives_the_same_answer(make):
    problem = make.problem(Fair("r", 0.1), make.mixed())
    one, two = (search(problem, problem.rows[0], rng=np.random.default_rng(3)) for _ in range(2))
    assert (one.u == two.u).all()
    assert (one.value == two.value).all()


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("seed", range(5))
def test_line_search_is_exact(make, boxes, seed):
    rng = np.random.default_rng(seed)
    problem = make.problem(Robust(1.0, 0.1), make.box(6), seed, hidden=5, boxes=boxes)
    one = problem.rows[0]
    net = _Net(problem, one)
    u, ends = rng.random((10, 2, 6)), rng.random((10, 2, 2, 6))
    t, gain = (x.T for x in net.line_search(net.at(u), net.at(ends[:, 0]), net.at(ends[:, 1])))
    grid = np.linspace(0, 1, 4001)[1:]
    for b in range(10):
        for q in range(2):
            move, start = ends[b, q] - u[b], problem.value(u[b : b + 1], one)[0]
            dense = problem.value(u[b] + grid[:, None, None] * move, one) - start
            reached = problem.value((u[b] + t[b, q] * move)[None], one)[0] - start
            assert 0 < t[b, q] <= 1
            assert reached == pytest.approx(gain[b, q], abs=1e-9)
            assert max(gain[b, q], 0.0) >= dense.max() - 1e-12  # downhill all the way: anything ≤ 0 will do
            assert gain[b, q] <= max(dense.max(), 0.0) + 1e-2


def test_values_never_fall(make):
    problem = make.problem(Robust(0.2, 0.1), make.box(10), hidden=6)
    one, oracle = problem.rows[0], Oracle(problem.region)
    u = oracle.sample(32, np.random.default_rng(0))
    before = problem.value(u, one)
    for _ in range(5):
        u = ascend(problem, one, oracle, u, 3, np.random.default_rng(1))
        after = problem.value(u, one)
        assert (after >= before - 1e-9).all()
        before = after


def test_many_inputs_need_starts_from_unit_rows(make):
    """Uniform points crowd around the mean of every unit: with 256 inputs they see none of the units that matter."""
    domain, ratios = make.box(256), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        s = make.snapshot(domain, rng, hidden=4)
        s = replace(s, hidden_bias=s.hidden_bias - 2.5)  # asleep at the mean, awake only far from it
        claim = Robust(0.1, 0.1).lower(domain)[0]
        problem = build(claim, s)
        one, oracle = problem.rows[0], Oracle(problem.region)
        seeded, _ = _starts(problem, one, oracle, 16, rng, None)
        uniform = oracle.sample(16, rng)
        ratios.append(problem.value(seeded, one).max() - problem.value(uniform, one).max())
        assert search(problem, one, rng=rng).value[0] >= problem.value(uniform, one).max()
    assert min(ratios) > 0


def peak(make, width, m=6):
    """An increasing network whose box is open around one point only, and as narrow as `width` there."""
    domain = make.box(m)
    s = make.snapshot(domain, np.random.default_rng(0), hidden=1, embedding=1)
    lower, second = np.zeros((1, 2 * m + 1)), np.full((1, 2 * m + 1), -2.0)
    lower[0, 0], second[0, 0] = 0.5, 0.0
    values = {
        "hidden_weight": np.concatenate([np.ones((1, m)), np.eye(m), -np.eye(m)]),
        "hidden_bias": np.concatenate([[10.0], np.full(m, -0.4), np.full(m, 0.4)]),
        "lower_const": np.zeros(1),
        "lower_slope": np.zeros((1, m)),
        "lower_out": lower,
        "second_const": np.array([width]),
        "second_slope": np.zeros((1, m)),
        "second_out": second,
        "head_weight": np.ones((1, 1)),
        "head_bias": np.zeros(1),
    }
    return build(Monotone(increasing=list(range(m))).lower(domain)[0], replace(s, **values))


def test_the_width_of_the_box_is_found_on_the_diagonal(make):
    problem = peak(make, 0.136)
    one, rng, oracle = problem.rows[0], np.random.default_rng(0), Oracle(problem.region)
    pairs = oracle.sample(2000, rng)
    assert problem.value(pairs, one).max() < 0
    assert np.median(problem.value(ascend(problem, one, oracle, pairs[:16], 15, rng), one)) < 0
    found = search(problem, one, rng=rng)
    assert found.value[0] == pytest.approx(0.136, abs=1e-6)
    assert found.u[0] == pytest.approx(0.4, abs=1e-6)


def test_seeds_are_kept_and_improved(make):
    problem = make.problem(Robust(0.1, 0.1), make.box(8), hidden=4)
    one = problem.rows[0]
    first = search(problem, one, rng=np.random.default_rng(0))
    again = search(problem, one, starts=2, iterations=1, rng=np.random.default_rng(1), seeds=first.u)
    assert again.value[0] >= first.value[0]
    empty = search(problem, one, rng=np.random.default_rng(0), seeds=np.empty((0, 2, 8)))
    assert (empty.value == first.value).all()


def test_categories_and_whole_numbers_are_reached_exactly(make):
    domain = make.mixed()
    problem = make.problem(Fair("r", 0.1), domain, 4, hidden=4)
    one = problem.rows[0]
    found = search(problem, one, rng=np.random.default_rng(0))
    x = domain.unscale(found.u)
    assert domain.contains(x.reshape(-1, domain.size)).all()
    every = np.array([[[i, j] for j in range(3)] for i in range(3)]).reshape(-1, 2)
    hot = np.repeat(found.u[:1], 9, axis=0)
    hot[:, :, 1:4] = np.eye(3)[every]
    assert found.value[0] >= problem.value(hot, one).max() - 1e-9


def test_rows_over_whole_numbers_that_rounding_misses(make):
    """7·n + 11·k + 13·z = 1000 on large grids: members are rare, and one is found by the exact fallback."""
    domain = Domain(
        (Feature("n", "integer", 0, 5000), Feature("k", "integer", 0, 5000), Feature("z", "integer", 0, 5000))
    )
    claim = Claim(
        1,
        (row([(7, 0, "in", "n"), (11, 0, "in", "k"), (13, 0, "in", "z")], 1000, "=="),),
        (row([(1, 0, "out", "")]),),
    )
    problem = make.problem(claim, domain, hidden=2)
    found = search(problem, problem.rows[0], rng=np.random.default_rng(0))
    assert len(found) >= 1
    assert problem.region.contains(found.u).all()
    assert (found.u[:, 0] @ [7, 11, 13] == 1000).all()


def test_a_fixed_coordinate_and_a_single_start(make):
    domain = Domain((Feature("a", "continuous", 3.0, 3.0), Feature("b")))
    problem = make.problem(Robust(0.5, 0.1), domain)
    found = search(problem, problem.rows[0], starts=1, iterations=1, rng=np.random.default_rng(0))
    assert len(found) == 1
    assert (found.u[:, :, 0] == 3.0).all()


def test_copies_may_have_bounds_of_their_own(make):
    claim = Claim(
        2,
        (row([(1, 0, "in", "x0")], 0.2), row([(-1, 1, "in", "x0")], -0.8)),
        (row([(1, 0, "out", ""), (-1, 1, "out", "")]),),
    )
    problem = make.problem(claim, make.box(2))
    found = search(problem, problem.rows[0], rng=np.random.default_rng(0))
    assert (found.u[:, 0, 0] <= 0.2).all()
    assert (found.u[:, 1, 0] >= 0.8).all()
    assert (found.u[:, 0, 1] == found.u[:, 1, 1]).all()
