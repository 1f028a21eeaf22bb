"""Compiled loops return the norms of torch's operations, and their gradients away from ties."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest
import torch

from smilenn.model.encoders import patches as plain
from smilenn.model.encoders.powers import power_near

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")
SHAPES = [(5, 12, (2, 6), 3), (33, 70, (1, 70), 45), (3, 49, (4, 13), 17)]  # with and without a rest of four terms


def given(rows, columns, patches, units, seed=0):
    """Rows y [B, i], weights w [g, k, n], what the norms are weighted with and patches, float64; no two differences
    are equal. One row has no gradient.
    """
    rng = torch.Generator().manual_seed(seed)
    y = torch.rand(rows, columns, generator=rng, dtype=torch.float32).double()
    w = 0.3 * torch.randn(*patches, units, generator=rng, dtype=torch.float32).double()
    g = torch.randn(rows, patches[0] * units, generator=rng, dtype=torch.float32).double()
    g[1] = 0
    places = torch.stack([torch.randperm(columns, generator=rng)[: patches[1]] for _ in range(patches[0])])
    return y, w, g, places


def results(y, w, g, patches, power):
    y, w = y.clone().requires_grad_(), w.clone().requires_grad_()
    value = plain.patch_norm(y, w, patches, power)
    (value * g).sum().backward()
    assert y.grad is not None and w.grad is not None
    return [found.detach().double() for found in (value, y.grad, w.grad)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("p", [8.0, 10.0, 34.0, 98.0, 130.0, None])
def test_loops_agree_with_float64_and_with_torch(shape, p, monkeypatch):
    from smilenn.model.encoders import patches_numba

    y, w, g, patches = given(*shape)
    power = None if p is None else power_near(p)
    wanted = results(y, w, g, patches, power)  # float64: torch's operations
    short = y.float(), w.float(), g.float(), patches
    calls = []
    real = patches_numba.patch_norm
    monkeypatch.setattr(patches_numba, "patch_norm", lambda *said: calls.append(1) or real(*said))
    found = results(*short, power)
    assert calls  # the loops
    monkeypatch.setattr(plain, "has_numba", lambda: False)
    other = results(*short, power)
    assert len(calls) == 1  # torch's operations
    for ours, theirs, known, tolerance in zip(found, other, wanted, (1e-6, 1e-4, 1e-4), strict=True):
        assert (ours - known).abs().max() <= tolerance * known.abs().max()
        assert (ours - theirs).abs().max() <= tolerance * known.abs().max()


@pytest.mark.parametrize("p", [8.0, 130.0, None])
def test_equal_rows_have_distance_zero_and_finite_slopes(p):
    y = torch.rand(4, 9, requires_grad=True)
    w = y.detach()[:1].T[None].clone().requires_grad_()
    value = plain.patch_norm(y, w, torch.arange(9)[None], None if p is None else power_near(p))
    value.sum().backward()
    assert value[0, 0] < 1e-20 and (value[1:] > 0).all()
    assert y.grad is not None and w.grad is not None
    assert torch.isfinite(y.grad).all() and torch.isfinite(w.grad).all()


def test_rows_without_a_gradient_get_none():
    y, w, g, patches = (one if one.dtype == torch.long else one.float() for one in given(*SHAPES[0]))
    w.requires_grad_()
    (plain.patch_norm(y, w, patches, power_near(8.0)) * g).sum().backward()
    assert y.grad is None and w.grad is not None and torch.isfinite(w.grad).all()


def test_two_threads_compile_a_power_once(monkeypatch):
    from smilenn.model.encoders import patches_numba

    power, compiled = power_near(514.0), []
    real = patches_numba._compiled
    monkeypatch.setattr(patches_numba, "_compiled", lambda *types: compiled.append(types) or real(*types))
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: patches_numba.kernels(power), range(2))
    assert one is other and len(compiled) == 2  # forward and backward
