"""The feasible start: every claim with room holds with a tenth to spare, and the mean prediction stays."""

import numpy as np
import pytest
import torch

from smilenn.problem import build
from smilenn.provers.portfolio import generate
from smilenn.reason import Reason, Why
from smilenn.train import feasible
from smilenn.train.feasible import start_feasible
from smilenn.train.generator import Generator
from smilenn.verdict import Maximum


def started(case, seed=0, boost=10.0):
    """A network far from feasible, before and after its feasible start."""
    nets = []
    for start in (False, True):
        net = case.net(seed)
        with torch.no_grad():
            net.head_weight.mul_(boost)
            if case.config and net.boxes == "gap":
                net.gap.scale_(2.0)
        if start:
            generators = tuple(Generator.of(claim, net.snapshot(), case.config) for claim in case.claims)
            start_feasible(net, torch.tensor(case.x), generators, case.config)
        nets.append(net)
    return nets


def maxima(case, net):
    """(largest left side, ε) of every row."""
    for claim in case.claims:
        problem = build(claim, net.snapshot())
        for row in problem.rows:
            yield generate(problem, row).upper + row.rhs, row.rhs


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("name", ["unfair", "plane"])
def test_the_proved_maximum_is_at_most_nine_tenths_of_epsilon(make, name, boxes):
    case = getattr(make, name)(boxes=boxes)
    before, after = started(case)
    assert max(m / eps for m, eps in maxima(case, before)) > 1.5
    for m, eps in maxima(case, after):
        assert 0.3 * eps < m <= 0.9 * eps + 1e-6  # feasible, and not by flattening everything


@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_scaling_the_head_keeps_the_mean_prediction(make, boxes):
    case = make.plane(boxes=boxes)
    before, after = started(case)
    x = torch.tensor(case.x)
    with torch.no_grad():
        means = [net.head(net.lower(net.scale(x))).mean() for net in (before, after)]
    assert bool((after.head_weight.abs() < before.head_weight.abs()).all())
    assert float(means[0]) == pytest.approx(float(means[1]), abs=1e-9)


@pytest.mark.parametrize("auxiliaries", ["relu", "affine"])
def test_protected_columns_are_forgotten_and_the_others_kept(make, auxiliaries):
    case = make.unfair(auxiliaries=auxiliaries)
    before, after = started(case)
    protected = case.domain.indices("group")
    other = case.domain.indices("score")
    parts = ["weight"] if auxiliaries == "relu" else ["slope"]
    for part in parts:
        assert not getattr(after.lower, part)[:, protected].any()
        assert torch.equal(getattr(after.lower, part)[:, other], getattr(before.lower, part)[:, other])
    if auxiliaries == "affine":
        assert not after.gap.rise[:, protected].any() and not after.gap.fall[:, protected].any()
        u = after.scale(torch.tensor(case.x))
        with torch.no_grad():  # affine in the protected columns: replacing them by their mean keeps the mean
            assert torch.allclose(before.lower(u).mean(dim=0), after.lower(u).mean(dim=0))
    else:
        assert not after.second.weight[:, protected].any()


def test_a_tight_claim_closes_the_gap(make):
    for name in ("wave", "bowl", "several"):
        _, after = started(getattr(make, name)())
        assert after.collapsed, name


def test_a_start_that_is_feasible_already_is_left_alone(make):
    case = make.plane()
    before, after = started(case, boost=1e-3)
    assert make.same(before, after)


def test_a_prover_without_a_bound_does_not_flatten_the_model(make, monkeypatch):
    monkeypatch.setattr(feasible, "generate", lambda *_, **__: Maximum(np.inf, stopped=Why(Reason.TIME)))
    before, after = started(make.plane())
    assert make.same(before, after)
