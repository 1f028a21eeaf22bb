"""Bounds contain what is sampled, agree with exact cases, and order as theory says."""

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.baselines.crown import crown, crown_forms
from smilenn.baselines.interval import interval
from smilenn.baselines.layers import layers_of
from smilenn.baselines.symbolic import symbolic
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP, ConvNet


def networks():
    torch.manual_seed(0)
    yield "mlp", nn.Sequential(MLP(6, (16, 16), 8), nn.Linear(8, 1)).double(), 6
    yield "linear", nn.Sequential(nn.Linear(6, 1)).double(), 6
    yield "narrow", nn.Sequential(nn.Linear(6, 1), nn.ReLU(), nn.Linear(1, 1)).double(), 6
    yield "conv-28", nn.Sequential(ConvNet(28, (4, 4, 8), 8, 8), nn.Linear(8, 1)).double(), 784
    yield "conv-7", nn.Sequential(ConvNet(7, (3, 5), 8, 8), nn.Linear(8, 1)).double(), 49


def boxes_of(size, radius, n=20):
    generator = torch.Generator().manual_seed(1)
    centre = torch.rand(n, size, generator=generator, dtype=torch.float64)
    return centre - radius, centre + radius


def samples(lower, upper, n=200):
    """[n, B, m]: uniform points, and corners."""
    generator = torch.Generator().manual_seed(2)
    t = torch.rand(n, *lower.shape, generator=generator, dtype=torch.float64)
    t[: n // 2] = t[: n // 2].round()
    return lower + t * (upper - lower)


CASES = [pytest.param(net, size, id=name) for name, net, size in networks()]


@pytest.mark.parametrize(("net", "size"), CASES)
@pytest.mark.parametrize("radius", [0.0, 0.01, 0.1, 1.0])
def test_interval_and_crown_contain_sampled_outputs(net, size, radius):
    lower, upper = boxes_of(size, radius)
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    low, high = (end[:, 0] for end in boxes[-1])
    ones = torch.ones(len(lower), dtype=torch.float64)
    below, above = crown(layers, boxes, ones), -crown(layers, boxes, -ones)
    out = torch.stack([net(x)[:, 0] for x in samples(lower, upper)])
    for floor, ceiling in ((low, high), (below, above)):
        assert (out >= floor - 1e-9).all() and (out <= ceiling + 1e-9).all()
    if radius == 0:
        assert torch.allclose(below, out[0]) and torch.allclose(low, out[0])


@pytest.mark.parametrize(("net", "size"), [case for case in CASES if "conv" not in case.id])
@pytest.mark.parametrize("radius", [0.0, 0.05, 0.5])
def test_symbolic_bounds_contain_sampled_outputs(net, size, radius):
    lower, upper = boxes_of(size, radius)
    low, high = symbolic(layers_of(net), lower, upper)
    out = torch.stack([net(x) for x in samples(lower, upper)])
    assert (out >= low - 1e-9).all() and (out <= high + 1e-9).all()
    assert radius or torch.allclose(low, high)


def test_an_affine_network_is_bounded_exactly():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 1)).double()
    lower, upper = boxes_of(5, 0.2)
    weight, bias = net[0].weight[0], net[0].bias
    exact = (weight.clamp(min=0) * lower + weight.clamp(max=0) * upper).sum(dim=1) + bias
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    assert torch.allclose(boxes[-1][0][:, 0], exact)
    assert torch.allclose(crown(layers, boxes, torch.ones(len(lower))), exact)
    assert torch.allclose(symbolic(layers, lower, upper)[0][:, 0], exact)


def test_forms_in_one_pass_are_bounded_as_they_are_one_by_one():
    torch.manual_seed(0)
    net = nn.Sequential(ConvNet(7, (3, 5), 8, 8), nn.ReLU(), nn.Linear(8, 3)).double()
    lower, upper = boxes_of(49, 0.05)
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    forms = torch.randn(len(lower), 4, 3, dtype=torch.float64)
    found = crown_forms(layers, boxes, forms)
    for k in range(4):
        assert torch.allclose(found[:, k], crown(layers, boxes, forms[:, k]), rtol=1e-12, atol=1e-12)
    out = torch.stack([(forms @ net(x)[:, :, None])[:, :, 0] for x in samples(lower, upper)])
    assert (out >= found - 1e-9).all() and not torch.allclose(found[:, 0], found[:, 1])


def test_one_relu_by_hand():
    """f(x) = |x|/2 = relu(x)/2 + relu(−x)/2 on [−1, 2]."""
    net = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False)).double()
    net.requires_grad_(False)
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[1.0], [-1.0]]))
        net[2].weight.copy_(torch.tensor([[0.5, 0.5]]))
    lower, upper = torch.tensor([[-1.0]]).double(), torch.tensor([[2.0]]).double()
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    assert [float(end) for end in boxes[-1]] == [0.0, 1.5]
    one = torch.ones(1).double()
    # below: relu(x) ≥ x (2 > 1), relu(−x) ≥ 0 (1 < 2): x/2 ≥ −0.5
    assert float(crown(layers, boxes, one)) == pytest.approx(-0.5)
    # above: 2(x + 1)/3/2 + 1·(−x + 2)/3/2 = x/6 + 2/3 ≤ 1
    assert float(-crown(layers, boxes, -one)) == pytest.approx(1.0)
    low, high = symbolic(layers, lower, upper)
    # below: L' = x·2/3 and −x/3: x/6 ≥ −1/6; above as CROWN's
    assert float(low) == pytest.approx(-1 / 6) and float(high) == pytest.approx(1.0)


def test_bounds_are_differentiable_in_the_weights():
    torch.manual_seed(0)
    net = nn.Sequential(ConvNet(7, (3, 5), 8, 8), nn.Linear(8, 1)).double()
    lower, upper = boxes_of(49, 0.05, n=4)
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    (crown(layers, boxes, torch.ones(4)) + boxes[-1][0][:, 0]).sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in net.parameters())
    assert sum(float(p.grad.abs().sum()) for p in net.parameters()) > 0


def test_a_layer_without_a_rule_is_refused():
    with pytest.raises(SmileError, match="no bounds for a layer Tanh"):
        layers_of(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    with pytest.raises(SmileError, match="not Conv2d"):
        symbolic([nn.Conv2d(1, 1, 1)], torch.zeros(1, 4), torch.ones(1, 4))


def test_crown_is_tighter_than_interval_on_average():
    torch.manual_seed(3)
    net = nn.Sequential(MLP(10, (32, 32), 8), nn.Linear(8, 1)).double()
    lower, upper = boxes_of(10, 0.02)
    layers = layers_of(net)
    boxes = interval(layers, lower, upper)
    assert np.mean((crown(layers, boxes, torch.ones(20)) - boxes[-1][0][:, 0]).detach().numpy()) > 0
