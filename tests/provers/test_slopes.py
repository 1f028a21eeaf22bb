"""The slope rule: sufficient signs in every activation cell, and the traps it must not fall into."""

from __future__ import annotations

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.model.snapshot import Snapshot
from smilenn.problem import build
from smilenn.properties.library import Fair, Lipschitz, Monotone
from smilenn.provers.rules.slopes import SlopeRule, slope_tree
from smilenn.testing.problems import cube as box


def net(domain, weight, bias, out, slope=None):
    """A scalar network f = slope·u + out·relu(W u + b) with a box of zero width."""
    h, m = len(bias), domain.size
    zeros = np.zeros
    return Snapshot(
        domain,
        "gap",
        np.reshape(weight, (h, m)).astype(float),
        np.array(bias, dtype=float),
        zeros(1),
        np.zeros((1, m)) if slope is None else np.reshape(slope, (1, m)).astype(float),
        np.reshape(out, (1, h)).astype(float),
        zeros(1),
        zeros((1, m)),
        zeros((1, h)),
        np.ones((1, 1)),
        zeros(1),
        ("",),
        np.ones(1),
    )


def only(prop, snapshot):
    (claim,) = prop.lower(snapshot.domain)
    problem = build(claim, snapshot)
    return problem, problem.rows[0]


def test_signs_right_by_construction_need_a_single_leaf():
    rng = np.random.default_rng(0)
    domain = box(20)
    weight = rng.normal(size=(64, 20))
    weight[:, :3] = np.abs(weight[:, :3])
    problem, r = only(Monotone(["x0", "x1", "x2"]), net(domain, weight, rng.normal(size=64), rng.uniform(0, 1, 64)))
    tree = slope_tree(problem, r)
    assert tree.complete and tree.nodes == 1


def test_free_signs_with_enough_slope_are_proved_and_too_little_is_not():
    rng = np.random.default_rng(1)
    weight, bias, out = rng.normal(size=(8, 3)), 0.3 * rng.normal(size=8), rng.normal(size=8)
    problem, r = only(Monotone(["x0"]), net(box(3, -1, 1), weight, bias, out))
    u = np.random.default_rng(2).uniform(-1, 1, size=(20_000, 3))
    active = u @ weight.T + bias > 0
    least = float((active @ (out * weight[:, 0])).min())
    for extra, expected in ((0.05, True), (-0.05, False)):
        problem, r = only(Monotone(["x0"]), net(box(3, -1, 1), weight, bias, out, [-least + extra, 0, 0]))
        assert slope_tree(problem, r).complete is expected


def test_a_falling_affine_function_without_hidden_units_is_not_proved():
    """The root fails and no path leads to it, so there is no pair to show either: that is no proof."""
    problem, r = only(Monotone(["x0"]), net(box(2), [], [], [], [-1, 0]))
    tree = slope_tree(problem, r)
    assert not tree.complete and tree.pair is None
    assert not SlopeRule().maximise(problem, r).complete
    assert SlopeRule().emit(problem, r, time_limit=10.0).why is not None
    problem, r = only(Monotone(["x0"]), net(box(2), [], [], [], [1, 0]))
    assert slope_tree(problem, r).complete


def test_a_cell_of_a_single_point_that_fails_is_no_proof():
    """f = relu(2x − 1) − relu(x − ½) rises, but would fall where only the second is on, which is at x = ½."""
    problem, r = only(Monotone(["x0"]), net(box(1), [[2], [1]], [-1, -0.5], [1, -1]))
    tree = slope_tree(problem, r)
    assert not tree.complete and tree.pair is None


def test_a_dip_between_whole_numbers_is_not_called_monotone():
    """f = x − 10 relu(x − ¼) + 10 relu(x − ¾) on {0, 1}: slope 1 at both ends, but the rule asks for the interval."""
    domain = Domain((Feature("x", "integer", 0, 1), Feature("y", "continuous", 0, 1)))
    problem, r = only(Monotone(["x"]), net(domain, [[1, 0], [1, 0]], [-0.25, -0.75], [-10, 10], [1, 0]))
    assert SlopeRule().refuses(problem, r) is None
    assert not slope_tree(problem, r).complete


def test_lipschitz_rows_bound_the_slope_from_both_sides():
    snapshot = net(box(2), [[1, 0], [-1, 0]], [-0.5, 0.5], [2, 1], [0.5, 0])
    for bound, expected in ((2.6, True), (2.4, False)):
        (claim,) = Lipschitz(["x0"], bound).lower(snapshot.domain)
        problem = build(claim, snapshot)
        assert all(slope_tree(problem, r).complete for r in problem.rows) is expected


@pytest.mark.parametrize("prop", [Fair(["x0"], 0.1)])
def test_refuses_what_is_not_ordered(prop):
    problem, r = only(prop, net(box(2), [[1, 0]], [0], [1]))
    assert SlopeRule().refuses(problem, r) is not None


@pytest.mark.parametrize(("kind", "expected"), [("integer", True), ("continuous", False)])
def test_pinned_whole_numbers_are_split(kind, expected):
    """The slope in x is −3 for n between the whole numbers only: harmless if n is whole and does not move."""
    domain = Domain((Feature("x", "continuous", 0, 1), Feature("n", kind, 0, 1)))
    problem, r = only(Monotone(["x"]), net(domain, [[1, -8], [1, -8]], [3, 1], [-4, 4], [1, 0]))
    tree = slope_tree(problem, r)
    assert tree.complete is expected
    if not expected:
        assert tree.pair is not None and problem.value(tree.pair[None], r)[0] > 0


def test_knots_of_single_columns_need_no_linear_programs(monkeypatch):
    """Slopes between knots, rising and falling, all positive: cells of two columns, told apart by their knots."""
    from smilenn.provers.rules import slopes

    rng = np.random.default_rng(0)
    knots = np.linspace(-0.9, 0.9, 10)
    steps = np.diff(rng.uniform(0.1, 2.0, (2, 11)), axis=1)
    weight = np.kron(np.eye(2), np.ones((10, 1)))
    first = 0.1 - np.minimum(np.cumsum(steps, axis=1).min(axis=1), 0.0)
    good = net(box(2, -1.0), weight, np.tile(-knots, 2), steps.ravel(), first)
    monkeypatch.setattr(slopes, "_deepest", None)
    assert slope_tree(*only(Monotone(["x0", "x1"]), good)).complete
    monkeypatch.undo()
    bad = net(box(2, -1.0), weight, np.tile(-knots, 2), steps.ravel(), first - [0.0, 0.2])
    found = slope_tree(*only(Monotone(["x0", "x1"]), bad))
    assert not found.complete and found.pair is not None
