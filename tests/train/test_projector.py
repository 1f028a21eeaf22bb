"""The projector: it resolves the counterexamples it is given and moves as little as it can."""

import numpy as np
import pytest
import torch

from smilenn.train.generator import Generator
from smilenn.train.losses import property_loss
from smilenn.train.phases import project


def pressed(case, seed=0):
    net = case.net(seed)
    with torch.no_grad():
        net.head_weight.mul_(10.0)
    generators = [Generator.of(claim, net.snapshot(), case.config) for claim in case.claims]
    return net, [generator.refresh(net.snapshot(), np.random.default_rng(0)) for generator in generators]


@pytest.mark.parametrize("boxes", ["gap", "paper"])
@pytest.mark.parametrize("name", ["unfair", "plane"])
def test_it_resolves_its_counterexamples(make, name, boxes):
    case = getattr(make, name)(boxes=boxes).but(projector_steps=500)
    net, pools = pressed(case)
    backbone = [p.clone() for p in net.backbone.parameters()]
    start = property_loss(net, pools)[1]
    assert start > 0
    worst, total = project(net, pools, case.config)
    assert worst < 0.01 * start and total > 0
    assert all(torch.equal(a, b) for a, b in zip(backbone, net.backbone.parameters(), strict=True))
    if boxes == "gap":
        assert net.gap.is_non_negative()


def test_one_step_moves_at_most_the_radius(make):
    case = make.plane().but(projector_steps=1, projector_radius=0.01)
    net, pools = pressed(case)
    before = [p.detach().clone() for p in net.enforcement_parameters()]
    project(net, pools, case.config)
    after = [p.detach() for p in net.enforcement_parameters()]
    moved = sum(float(((a - b) ** 2).sum()) for a, b in zip(before, after, strict=True))
    assert 0 < moved**0.5 <= 0.01 + 1e-12


def test_nothing_to_resolve_moves_nothing(make):
    case = make.plane()
    net, pools = pressed(case)
    before = {k: v.clone() for k, v in net.state_dict().items()}
    assert project(net, [], case.config) == (-np.inf, 0.0)
    assert all(torch.equal(before[k], v) for k, v in net.state_dict().items())
    with torch.no_grad():
        net.head_weight.zero_()
    assert project(net, pools, case.config)[1] == 0.0
