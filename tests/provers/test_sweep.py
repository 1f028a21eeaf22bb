"""The one-input sweep: exact against a fine grid, and useful starting points for training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.provers.rules import sweep
from smilenn.provers.rules.sweep import Sweep, local_maxima


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    boxes=st.sampled_from(["gap", "paper"]),
    strip=st.sampled_from([(-2.0, 0.0), (-0.3, 0.3), (0.2, 0.9), (-0.7, -0.1), (0.5, 0.5)]),
)
def test_never_below_a_fine_grid(make, seed, boxes, strip):
    rng = np.random.default_rng(seed)
    s = make.snapshot(make.box(1, -1, 1), rng, hidden=12, boxes=boxes, embedding=3)
    problem = make.problem(make.band("x0", *strip), s)
    row = problem.rows[0]
    found = Sweep().maximise(problem, row)
    grid = np.linspace(-1, 1, 201)
    pairs = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2, 1)
    value = problem.value(pairs[problem.region.contains(pairs, 1e-12)], row)
    assert value.max() <= found.upper + 1e-9
    assert found.upper - found.lower <= 1e-9
    steepest = np.abs(row.unit) @ np.abs(s.hidden_weight[:, 0])
    steepest = steepest + row.flip @ (np.abs(problem.flips.unit) @ np.abs(s.hidden_weight[:, 0]))
    assert found.lower <= value.max() + 0.01 * steepest.sum() + 1e-9


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_local_maxima_are_violations_and_contain_the_worst(make, boxes):
    rng = np.random.default_rng(4)
    s = make.snapshot(make.box(1, -1, 1), rng, hidden=32, embedding=4, boxes=boxes)
    s.second_const[:], s.second_out[:] = (0.01, 0.0) if boxes == "gap" else (s.lower_const, s.lower_out)
    problem = make.problem(make.monotone(["x0"]), s)
    row = problem.rows[0]
    points = local_maxima(problem, row, limit=5)
    assert (2 if boxes == "gap" else 1) <= len(points) <= 5 and points.shape[1:] == (2, 1)
    value = problem.value(points, row)
    assert (value > 0).all() and (np.diff(value) <= 1e-12).all()
    assert value[0] == pytest.approx(Sweep().maximise(problem, row).lower, abs=1e-12)
    assert problem.region.contains(points).all()
    apart = np.abs(points[:, None] - points[None]).max(axis=(2, 3)) + np.eye(len(points))
    assert apart.min() >= 2e-3


def test_no_local_maxima_where_the_claim_holds(make):
    s = make.snapshot(make.box(1, -1, 1), np.random.default_rng(5), hidden=8)
    problem = make.problem(make.robust(["x0"], 0.1, 1000), s)
    assert local_maxima(problem, problem.rows[0]).shape == (0, 2, 1)


def test_refusals(make):
    s = make.snapshot(make.box(2), np.random.default_rng(6))
    problem = make.problem(make.monotone(["x0"]), s)
    assert "2 coordinates" in Sweep().refuses(problem, problem.rows[0])
    problem = make.problem(make.convex("x0"), make.snapshot(make.box(1), np.random.default_rng(6)))
    assert "rows" in Sweep().refuses(problem, problem.rows[0])
    assert not Sweep().maximise(problem, problem.rows[0]).complete


@pytest.mark.parametrize("strip", [(-2.0, 0.0), (0.0, 2.0)])
@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_an_order_of_two_copies_is_swept_like_any_strip(make, boxes, strip):
    """The running maximum of `_ordered` against windows, and what is proved by it against what is found."""
    for seed in range(10):
        s = make.snapshot(make.box(1, -1, 1), np.random.default_rng(seed), hidden=12, boxes=boxes, embedding=3)
        s.hidden_weight[0], s.hidden_bias[1] = 0.0, 0.0  # no breakpoint, and one at zero
        problem = make.problem(make.band("x0", *strip), s)
        row = problem.rows[0]
        order = sweep._order(problem.region)
        assert order == (1 if strip[0] == 0 else -1)
        general = sweep._profile(problem, row)
        assert sweep._ordered(problem, row, order) == pytest.approx(general.value, abs=1e-12)
        found = Sweep().maximise(problem, row)
        for shift, holds in ((1e-6, True), (-1e-6, False)):
            said = Sweep().maximise(problem, row, goal="prove", target=found.lower + shift)
            assert (said.upper <= found.lower + shift) is holds and said.upper == pytest.approx(found.upper, abs=1e-12)
            assert (said.point is None) is holds and said.complete and said.note == found.note


@pytest.mark.parametrize("strip", [(-1.0, 0.0), (-2.0, 0.1), (0.0, 0.5), (-2.0, -0.1)])
def test_other_strips_are_no_order(make, strip):
    problem = make.problem(make.band("x0", *strip), make.snapshot(make.box(1, -1, 1), np.random.default_rng(0)))
    assert sweep._order(problem.region) == 0
