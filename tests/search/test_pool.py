"""The pool: re-scored when weights move, diverse, limited, saved and loaded exactly."""

import json
from dataclasses import replace

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.problem import build
from smilenn.properties import Fair, Robust
from smilenn.search.gradient import search
from smilenn.search.pool import Pool, greedy


def moved(problem, size, seed=1):
    """The same claim after a small step of all weights."""
    s, rng = problem.snapshot, np.random.default_rng(seed)
    names = ("hidden_weight", "hidden_bias", "lower_out", "second_out", "head_weight")
    new = {name: getattr(s, name) + size * rng.normal(size=getattr(s, name).shape) for name in names}
    return build(problem.claim, replace(s, **new), like=problem)


@pytest.fixture
def filled(make):
    problem = make.problem(Robust(0.1, 0.1), make.box(20), hidden=4)
    found = search(problem, problem.rows[0], rng=np.random.default_rng(0))
    return problem, Pool(limit=8).add(problem, 0, found.u)


def test_scores_follow_the_weights(filled):
    problem, pool = filled
    new = moved(problem, 0.02)
    again = pool.rescore(new)
    assert len(again) == len(pool)
    np.testing.assert_array_equal(again.value, new.value(again.u, new.rows[0]))
    assert (np.diff(again.value) <= 0).all()
    fresh = search(new, new.rows[0], starts=64, rng=np.random.default_rng(0))
    assert again.best >= 0.9 * fresh.value[0]


def test_keeps_the_best_and_drops_twins(filled):
    problem, pool = filled
    assert len(pool) == 8
    twins = pool.add(problem, 0, np.clip(pool.u + 1e-6, 0, 1))
    flat = twins.u.reshape(len(twins), -1)
    gaps = np.abs(flat[:, None] - flat[None]).max(axis=2)[np.triu_indices(len(twins), 1)]
    assert gaps.min() > twins.radius
    assert twins.best >= pool.best
    worse = pool.add(problem, 0, np.full((1, 2, 20), 0.5))
    assert worse.value == pytest.approx(pool.value)


def test_rows_are_kept_apart(make):
    from smilenn.properties import Claim, row

    rows = (row([(1, 0, "out", "y0")]), row([(1, 0, "out", "y1")], 0.3))
    problem = make.problem(Claim(1, (), rows), make.box(3), outputs=2)
    u = np.random.default_rng(0).random((4, 1, 3))
    pool = Pool().add(problem, 0, u).add(problem, 1, u)
    assert len(pool) == 8
    for r in (0, 1):
        seeds = pool.seeds(r)
        assert len(seeds) == 4
        np.testing.assert_allclose(np.sort(pool.value[pool.row == r]), np.sort(problem.value(u, problem.rows[r])))
    assert pool.seeds(7) is None
    part = pool.abstraction(problem)
    assert (part.row == pool.row).all()


def test_only_violations(filled):
    _, pool = filled
    level = float(pool.value[3])
    kept = pool.violated(level)
    assert len(kept) == 3
    assert (kept.value > level).all()
    assert len(Pool().violated()) == 0


def test_an_empty_pool_answers(filled):
    problem, _ = filled
    pool = Pool()
    assert len(pool) == 0
    assert pool.best == -np.inf
    assert pool.seeds(0) is None
    assert len(pool.rescore(problem)) == 0
    assert len(pool.add(problem, 0, np.empty((0, 2, 20)))) == 0
    assert pool.abstraction(problem).u.shape == (0, 2, 20)


def test_state_survives_json_bit_for_bit(make):
    problem = make.problem(Fair("r", 0.1), make.mixed())
    found = search(problem, problem.rows[0], rng=np.random.default_rng(0))
    for pool in (Pool(limit=5).add(problem, 0, found.u), Pool(limit=3)):
        back = Pool.from_json(json.loads(json.dumps(pool.to_json())))
        assert (back.limit, back.radius, len(back)) == (pool.limit, pool.radius, len(pool))
        if len(pool):
            assert (back.u == pool.u).all()
            assert (back.value == pool.value).all()
            assert (back.row == pool.row).all()


@pytest.mark.parametrize("bad", [{}, [], {"limit": 1, "radius": 0.1, "u": [[[1.0]]], "row": [], "value": [1.0]}])
def test_a_damaged_state_is_refused(bad):
    with pytest.raises(SmileError):
        Pool.from_json(bad)
    with pytest.raises(SmileError, match="at least one"):
        Pool(limit=0)


@pytest.mark.parametrize("limit", [None, 4])
def test_points_near_to_one_that_was_taken_are_left_out(limit):
    rng = np.random.default_rng(0)
    for n in (0, 1, 25):
        near = rng.random((n, n)) < 0.2
        near = near | near.T | np.eye(n, dtype=bool)
        order, wanted = rng.permutation(n), list[int]()
        for i in order:
            if not near[wanted, i].any() and len(wanted) != limit:
                wanted.append(int(i))
        assert greedy(near, order, limit) == wanted
