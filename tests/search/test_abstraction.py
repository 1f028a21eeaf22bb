"""CEProp and Resolved."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from smilenn.problem import build
from smilenn.properties import Claim, Fair, Lipschitz, Monotone, Robust, Safe, row
from smilenn.search.abstraction import abstract, resolved, values, violation
from smilenn.search.gradient import search
from smilenn.search.oracle import Oracle

CLAIMS = {
    "robust": (Robust(0.2, 0.1), "box"),
    "fair": (Fair("r", 0.1), "mixed"),
    "monotone": (Monotone(decreasing="x0"), "box"),
    "lipschitz": (Lipschitz("x0", 0.5), "box"),
    "functional": (Safe(then="out <= 0.05 * y - 3"), "mixed"),
}


def tensors(problem, u):
    s = problem.snapshot
    lower, upper = s.box(u)
    return tuple(torch.tensor(a, requires_grad=True) for a in (lower, upper, s.head_weight, s.head_bias))


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("kind", sorted(CLAIMS))
def test_the_heads_signs_give_the_value_of_the_problem(make, kind, boxes):
    what, where = CLAIMS[kind]
    problem = make.problem(what, make.box(4) if where == "box" else make.mixed(), 3, embedding=3, boxes=boxes)
    for r, one in enumerate(problem.rows):
        u = search(problem, one, rng=np.random.default_rng(0)).u
        part = abstract(problem, r, u)
        expected = problem.value(u, one)
        np.testing.assert_allclose(values(part, problem), expected, atol=1e-12)
        np.testing.assert_allclose(violation(part, *tensors(problem, u)).detach().numpy(), expected, atol=1e-12)


def test_several_rows_and_outputs_in_one_batch(make):
    rows = (row([(1, 0, "out", "y0"), (-2, 0, "out", "y1"), (0.5, 0, "in", "x0")], 0.3), row([(1, 0, "out", "y1")]))
    problem = make.problem(Claim(1, (), rows), make.box(3), outputs=2, embedding=4)
    u = np.random.default_rng(0).random((6, 1, 3))
    which = np.array([0, 1, 1, 0, 0, 1])
    part = abstract(problem, which, u)
    expected = [problem.value(u[i : i + 1], problem.rows[r])[0] for i, r in enumerate(which)]
    np.testing.assert_allclose(values(part, problem), expected, atol=1e-12)
    np.testing.assert_allclose(values(part[2:4], problem), expected[2:4], atol=1e-12)


def test_a_timed_out_incumbent_need_not_be_a_vertex(make):
    """Any embedding inside the boxes, vertex or not, violates by at most the abstracted counterexample."""
    problem = make.problem(Robust(0.2, 0.1), make.box(4), embedding=3)
    one, rng, s = problem.rows[0], np.random.default_rng(0), problem.snapshot
    u = Oracle(problem.region).sample(50, rng)
    lower, upper = s.box(u)
    z = lower + rng.choice([0.0, 1e-9, 0.3, 1.0], size=lower.shape) * (upper - lower)
    reached = np.einsum("ko,bko->b", one.outputs, z @ s.head_weight.T + s.head_bias) - one.rhs
    worst = values(abstract(problem, 0, u), problem)
    assert (worst >= reached - 1e-12).all()
    assert (worst > reached + 1e-6).any()


def test_gradients_reach_the_chosen_bound_only(make):
    problem = make.problem(Robust(0.2, 0.1), make.box(4), embedding=3)
    u = Oracle(problem.region).sample(5, np.random.default_rng(0))
    part = abstract(problem, 0, u)
    lower, upper, weight, bias = tensors(problem, u)
    violation(part, lower, upper, weight, bias).sum().backward()
    v = part.outputs @ problem.snapshot.head_weight
    np.testing.assert_allclose(upper.grad.numpy(), np.where(part.upper, v, 0.0), atol=1e-12)
    np.testing.assert_allclose(lower.grad.numpy(), np.where(part.upper, 0.0, v), atol=1e-12)
    assert weight.grad.abs().sum() > 0
    assert bias.grad == pytest.approx(0.0)  # a difference: the bias cancels


def test_the_pattern_stays_while_weights_move(make):
    """The stored vertex moves with its box; when the head changes sign the old pattern stays until drawn again."""
    problem = make.problem(Robust(0.2, 0.1), make.box(4))
    u = Oracle(problem.region).sample(5, np.random.default_rng(0))
    part = abstract(problem, 0, u)
    lower, upper, weight, bias = tensors(problem, u)
    shifted = violation(part, lower, upper + 1.0, weight, bias) - violation(part, lower, upper, weight, bias)
    gain = np.where(part.upper, part.outputs @ problem.snapshot.head_weight, 0.0).sum(axis=(1, 2))
    np.testing.assert_allclose(shifted.detach().numpy(), gain, atol=1e-12)
    assert (violation(part, lower, upper, -weight, bias).detach().numpy() <= 0).all()


def test_flipped_boxes_count_as_their_lower_bound(make):
    s = make.snapshot(make.box(2), np.random.default_rng(0), boxes="paper")
    s = replace(s, second_const=s.second_const - 100.0)
    problem = build(Safe(then="out <= 0").lower(s.domain)[0], s)
    u = np.random.default_rng(0).random((4, 1, 2))
    lower, upper = s.box(u)
    assert (lower == upper).all()
    part = abstract(problem, 0, u)
    np.testing.assert_allclose(values(part, problem), (lower @ s.head_weight.T + s.head_bias)[:, 0, 0], atol=1e-12)


def test_resolved_has_no_multiplier():
    assert resolved(None)
    assert resolved(0.0)
    assert resolved(-1.0)
    assert not resolved(1e-12)
    assert not resolved(float("nan"))
    assert resolved(np.empty(0))
    assert resolved(np.array([-1.0, 0.0]))
    assert not resolved(torch.tensor([-1.0, 1e-9]))


def test_search_imports_without_torch():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import smilenn.search.gradient, smilenn.search.pool, smilenn.search.polish, smilenn.search.abstraction"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
