"""Sums of few numbers are added up in one call: bit for bit the sums of one column after the other."""

import pytest
import torch

from smilenn.model import profile
from smilenn.model.encoders import Trees


def bits(values):
    return values.contiguous().view(torch.int64)


@pytest.mark.parametrize("seed", range(20))
def test_in_order_has_the_same_bits_either_way(seed, monkeypatch):
    """Over three hundred powers of ten, with zeros of both signs and a start that is -0."""
    draw = torch.Generator().manual_seed(seed)
    rows, inputs, outputs = (int(torch.randint(1, most, (1,), generator=draw)) for most in (9, 60, 70))
    power = torch.randint(-160, 150, (rows, inputs), generator=draw)
    y = torch.randn(rows, inputs, generator=draw, dtype=torch.float64) * 10.0 ** power.to(torch.float64)
    w = torch.randn(outputs, inputs, generator=draw, dtype=torch.float64)
    w[torch.rand(w.shape, generator=draw) < 0.3] = 0.0
    start = -torch.randn(outputs, generator=draw, dtype=torch.float64).abs()
    start[::2] = -0.0
    terms = [(y, w), (y[:, :1] + 1.0, w[:, :1])]
    with torch.no_grad():
        found = profile.in_order(start, terms)
        monkeypatch.setattr(profile, "PARTIAL", 0)
        assert torch.equal(bits(profile.in_order(start, terms)), bits(found))
    with torch.enable_grad():
        assert torch.equal(bits(profile.in_order(start, terms)), bits(found))


def test_trees_have_the_same_bits_either_way(monkeypatch):
    draw = torch.Generator().manual_seed(0)
    values = (torch.randn(200, generator=draw) * 10.0 ** torch.randint(-30, 30, (200,), generator=draw)).tolist()
    trees = [([0, -1, -1], [0.5, low, high]) for low, high in zip(values[::2], values[1::2], strict=True)]
    layer, x = Trees.of(1, [trees, trees[::-1]], bias=[-0.0, 1.0]), torch.tensor([[0.4], [0.6]], dtype=torch.float64)
    with torch.no_grad():
        found = layer(x)
        monkeypatch.setattr(profile, "PARTIAL", 0)
        assert torch.equal(bits(layer(x)), bits(found))
    assert not torch.equal(found[:, 0] + 1.0, found[:, 1])  # the order counts
