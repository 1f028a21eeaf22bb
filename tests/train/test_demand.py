"""The demanding claim is stronger than the original, everywhere."""

import numpy as np
import pytest
import torch

from smilenn.problem import build
from smilenn.properties import Dominates, Monotone, Safe, Symmetric
from smilenn.provers.portfolio import generate
from smilenn.provers.prover import allowance
from smilenn.train.demand import demanding, flip_margin, unit

CASES = ["wave", "unfair", "plane", "slopes", "bowl", "several"]


def problems(make, name, boxes, seed=0):
    case = getattr(make, name)(boxes=boxes, output_scale=4.0)
    net = case.net(seed)
    return [build(claim, net.snapshot()) for claim in case.claims]


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("name", CASES)
def test_the_value_only_grows(make, name, boxes):
    for problem in problems(make, name, boxes):
        harder = demanding(problem, 0.1)
        u = make.members(problem, 300)
        assert len(u) > 100
        for row, hard in zip(problem.rows, harder.rows, strict=True):
            was, now = problem.value(u, row), harder.value(u, hard)
            assert (now >= was - 1e-12).all()
            if problem.copies == 2:  # "strictly convex" has no linear form
                assert (now > was + 1e-9).any()


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("name", CASES)
def test_a_proof_of_the_demanding_claim_proves_the_original(make, name, boxes):
    for problem in problems(make, name, boxes, seed=1):
        harder = demanding(problem, 0.1)
        for row, hard in zip(problem.rows, harder.rows, strict=True):
            assert generate(harder, hard).upper >= generate(problem, row).upper - 1e-6 * row.scale


@pytest.mark.parametrize(
    "claim", [Safe(then=["out <= -1"]), Symmetric(["x0", "x1"], 0.2), Dominates("x0", "x1"), Monotone(decreasing="x1")]
)
def test_other_claims_grow_too(make, claim):
    net = make.several().net()
    (lowered,) = claim.lower(net.domain)
    problem = build(lowered, net.snapshot())
    harder = demanding(problem, 0.1)
    u = make.members(problem, 200)
    for row, hard in zip(problem.rows, harder.rows, strict=True):
        assert (harder.value(u, hard) >= problem.value(u, row) - 1e-12).all()


def test_no_slack_changes_nothing(make):
    (problem,) = problems(make, "wave", "gap")
    assert demanding(problem, 0.0) is problem


def test_a_tight_claim_asks_for_slopes_and_stays_an_equality_on_the_diagonal(make):
    case = make.wave()
    net = case.net()
    net.gap.scale_(0.0)
    problem = build(case.claims[0], net.snapshot())
    (row,), (hard,) = problem.rows, demanding(problem, 0.1).rows
    u = np.linspace(-1, 1, 7)[:, None, None] * np.ones((7, 2, 1))
    assert np.allclose(problem.value(u, hard), 0.0, atol=1e-12)
    u[:, 1] += 0.5  # a ≤ b, half a unit apart
    assert np.allclose(problem.value(u, hard) - problem.value(u, row), 0.1 * row.scale * 0.5)
    assert hard.rhs == row.rhs == 0.0 and unit(row) == row.scale


def test_room_on_the_diagonal_shrinks_epsilon(make):
    (problem,) = problems(make, "unfair", "gap")
    for row, hard in zip(problem.rows, demanding(problem, 0.1).rows, strict=True):
        assert hard.rhs == row.rhs - allowance(problem, row) - 0.1 * row.rhs and unit(row) == row.rhs
        assert 0 < allowance(problem, row) < 1e-9 * row.rhs
        assert (hard.slope == row.slope).all()


def test_flip_margin_is_for_tight_claims_on_the_paper_s_boxes_only(make):
    (tight,) = problems(make, "wave", "paper")
    (gap,) = problems(make, "wave", "gap")
    (roomy,) = problems(make, "unfair", "paper")
    assert not flip_margin(gap, 0.1).any() and not flip_margin(roomy, 0.1).any()
    lift = flip_margin(tight, 0.1)
    head = np.abs(tight.snapshot.head_weight) / tight.snapshot.output_scale[:, None]
    assert (lift > 0).all() and float((head * lift).sum()) == pytest.approx(0.1)
    assert (demanding(tight, 0.1).flips.const == tight.flips.const + lift).all()


def test_flip_margin_survives_a_head_of_zeros(make):
    case = make.wave(boxes="paper")
    net = case.net()
    with torch.no_grad():
        net.head_weight.zero_()
    assert np.isfinite(flip_margin(build(case.claims[0], net.snapshot()), 0.1)).all()
