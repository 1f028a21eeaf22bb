"""Triton's kernels return the norms of torch's operations, and their gradients away from ties."""

from importlib.util import find_spec

import pytest
import torch

from smilenn.model.encoders import distance
from smilenn.model.encoders.powers import power_near

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or find_spec("triton") is None, reason="needs a GPU and Triton"
)
ROWS, COLUMNS, UNITS = 33, 70, 45  # no multiples of a tile


def pair(seed):
    """Rows x [B, i], weights w [j, i] and what the norms are weighted with, float64; no two differences are equal."""
    g = torch.Generator().manual_seed(seed)
    shapes = (ROWS, COLUMNS), (UNITS, COLUMNS), (ROWS, UNITS)
    return [torch.randn(*shape, generator=g, dtype=torch.float32).double() for shape in shapes]


def results(x, w, g, power):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    value = distance.norm(x, w, power)
    (value * g).sum().backward()
    assert x.grad is not None and w.grad is not None
    return [found.detach().double().cpu() for found in (value, x.grad, w.grad)]


@pytest.mark.parametrize("p", [8.0, 18.0, 98.0, 258.0, None])
@pytest.mark.parametrize("seed", [0, 1])
def test_kernels_agree_with_torch(p, seed, monkeypatch):
    from smilenn.model.encoders import distance_triton

    x, w, g = pair(seed)
    power = None if p is None else power_near(p)
    wanted = results(x, w, g, power)  # float64, on the processor
    calls = []
    real = distance_triton.norms
    monkeypatch.setattr(distance_triton, "norms", lambda *given: calls.append(1) or real(*given))
    found = results(x.float().cuda(), w.float().cuda(), g.float().cuda(), power)
    assert calls  # the kernels, and not torch's operations
    for ours, known, tolerance in zip(found, wanted, (1e-6, 1e-4, 1e-4), strict=True):
        assert (ours - known).abs().max() <= tolerance * known.abs().max()


def test_an_input_without_a_gradient_gets_none():
    x, w, g = (one.float().cuda() for one in pair(2))
    w.requires_grad_()
    (distance.norm(x, w, power_near(8.0)) * g).sum().backward()
    assert x.grad is None and w.grad is not None and torch.isfinite(w.grad).all()


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_every_tile_gives_the_same_bits(parts):
    from smilenn.model.encoders.distance_triton import Tile, norms, slopes

    tiles = [Tile(64, 32, 2), Tile(32, 32, 4), Tile(16, 32, 4), Tile(64, 64, 4)]
    g = torch.Generator().manual_seed(3)
    x, w = (torch.randn(64, count, generator=g).cuda() for count in (ROWS, 64))  # [K, B] and [K, N]
    power = power_near(18.0)
    out = [norms(x, w, power, tile, parts)[0] for tile in tiles]
    scale, weights = 1 / out[0], torch.randn_like(out[0])
    to_x = [slopes(x, w.T.contiguous(), scale, weights, power, tile, parts) for tile in tiles]
    assert all(torch.equal(one, found[0]) for found in (out, to_x) for one in found)


@pytest.mark.parametrize("p", [8.0, 258.0, None])
def test_parts_are_put_together(p):
    """Few units and many inputs: maxima and sums are cut, and the first of equal maxima counts, as without parts."""
    from smilenn.model.encoders.distance_triton import NORMS, norms, plan

    g = torch.Generator().manual_seed(4)
    x, w = (torch.randint(-9, 9, (512, count), generator=g).float().cuda() for count in (ROWS, 10))
    assert plan(512, 10, ROWS, NORMS).parts == 8
    power = None if p is None else power_near(p)
    (value, place), (known, first) = norms(x, w, power), norms(x, w, power, parts=1)
    assert torch.allclose(value, known, rtol=1e-6)
    if p is None:
        assert place is not None and first is not None and torch.equal(place, first) and torch.equal(value, known)


def test_how_many_parts_there_are_follows_from_the_shapes():
    from smilenn.model.encoders.distance_triton import LEAST, NORMS, plan

    assert plan(2560, 2560, 2560, NORMS).parts == 1  # tiles enough
    assert plan(2560, 2560, 128, NORMS).parts * 160 >= NORMS.busy
    assert plan(783, 10, 128, NORMS).parts == 1  # an odd number of terms is not halved
    assert plan(2 * LEAST - 2, 10, 128, NORMS).parts == 1
    for terms in (784, 2560, 96):
        assert terms % plan(terms, 10, 128, NORMS).parts == 0
