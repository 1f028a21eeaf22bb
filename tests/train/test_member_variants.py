"""Variants of `benchmarks.member_variants`: their gradients are torch's, and the weights they make keep their signs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from benchmarks.member_variants import Dropped, Scaled, Shared, coslog4

from smilenn.domain import Domain
from smilenn.model.encoders.monotone import Kind, monotone_encoder
from smilenn.train.backward_members import StackRun
from smilenn.train.config import Config
from smilenn.train.ensemble import Ensemble, Stack


def branches(groups=4):
    torch.manual_seed(0)
    domain = Domain.box([0.0] * 3, [1.0] * 3)
    u = np.random.default_rng(0).uniform(size=(30, 3))
    encoder = monotone_encoder(
        domain, u, increasing=["x0"], decreasing=["x1"], kinds=[Kind("deep", 4, (6, 4))], members=groups
    )
    return encoder.learned, Ensemble(encoder).ramps(torch.as_tensor(u))[0]


def scaled(stack):
    times = (1 + 6 * stack.factor)[:, None]
    size = stack.size
    return [torch.cat([w[:, :, :-size], w[:, :, -size:] * times], dim=2) for w in stack.raw]


def shared(stack):
    made = []
    for w, r, s in zip(stack.common, stack.inward, stack.outward, strict=True):
        many = len(r) // len(w)
        made.append(s[:, :, None] * w.repeat(many, 1, 1) * r[:, None])
    return [*made, stack.last]


CASES = [(Scaled, scaled), (lambda given: Shared(given, folds=2), shared)]


@pytest.mark.parametrize(("kind", "weights"), CASES)
def test_slopes_are_those_of_torch(kind, weights):
    own, ramps = branches()
    stack = kind(own)
    with torch.no_grad():  # away from the start, where every factor is one
        for one in stack.moved:
            one.add_(0.05 * torch.rand_like(one))
    stack.settle_(1.0)
    run = StackRun(stack, len(ramps))
    slope = torch.randn_like(run(ramps))
    found = run.backward(slope)
    stack.weights = weights(stack)  # torch records how they are made
    wanted = torch.autograd.grad((stack.outputs(ramps).transpose(0, 1) * slope).sum(), stack.parameters)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("kind", "weights"), CASES)
def test_signs_hold_after_any_step_and_are_written_back(kind, weights):
    own, _ = branches()
    stack = kind(own)
    with torch.no_grad():
        for one in stack.moved:
            one.add_(3 * torch.randn_like(one))
    stack.settle_(0.9)
    for learned, kept in stack.pairs():
        kept.data.copy_(learned)
    for branch in own:
        for layer in branch.layers:
            if hasattr(layer, "signs"):
                assert bool((layer.weight * layer.signs >= 0).all())
    assert all(torch.allclose(a, b) for a, b in zip(stack.weights, weights(stack), strict=True))


def test_units_that_are_left_out_pass_nothing(monkeypatch):
    own, ramps = branches()
    stack = Stack(own)
    slope = torch.randn(4, len(ramps), 1)

    def slopes(kind):
        run = kind(stack, len(ramps))
        run(ramps)
        return run.backward(slope)

    monkeypatch.setattr(Dropped, "SHARE", 0.0)
    for one, other in zip(slopes(Dropped), slopes(StackRun), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    monkeypatch.setattr(Dropped, "SHARE", 1.0 - 1e-9)
    inner = stack.weights[1].shape[2] - ramps.shape[1]
    assert not slopes(Dropped)[1][:, :, :inner].any()


def test_the_rate_goes_up_and_down_in_four_waves():
    optimizer, config = torch.optim.SGD([torch.zeros(1)], lr=1.0), Config(learning_rate=1.0, train_learning_rate=1.0)
    rates = []
    for done in np.linspace(0, 1, 301):
        coslog4(optimizer, config, float(done))
        rates.append(optimizer.param_groups[0]["lr"])
    falls = np.diff(np.sign(np.diff(rates))) < 0
    assert falls.sum() == 4 and max(rates) == pytest.approx(1.0, abs=1e-3)
    assert rates[0] == rates[-1] == pytest.approx(config.final_rate)
