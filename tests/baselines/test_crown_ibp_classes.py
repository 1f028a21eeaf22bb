"""CROWN-IBP of several classes: its bounds hold, and training with them pays."""

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.baselines import crown_ibp_classes
from smilenn.baselines.agnostic import mlp
from smilenn.baselines.crown import crown
from smilenn.baselines.crown_ibp import Ramp
from smilenn.baselines.crown_ibp_classes import (
    ball,
    convolutions,
    crown_margins,
    fit_class_bounds,
    interval_margins,
    verify_classes,
)
from smilenn.baselines.descent import Descent
from smilenn.baselines.layers import layers_of
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.prepare import Prepared
from smilenn.domain import Domain
from smilenn.errors import SmileError


def blobs(rows, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    centres = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    return np.clip(centres[y] + rng.normal(0, 0.05, (rows, 2)), 0, 1), y


@pytest.fixture(scope="module")
def fitted():
    x, y = blobs(300, 0)
    domain = Domain.box([0.0, 0.0], [1.0, 1.0], ["a", "b"])
    data = Prepared(domain, x[:250], y[:250], x[250:], y[250:], x, y)
    return fit_class_bounds(data, 0.05, mlp((16,)), 8, 3, descent=Descent(epochs=40, batch=32, rate=1e-2))


def test_no_sampled_margin_is_below_a_bound(fitted):
    x, y = blobs(60, 1)
    rows, true = torch.as_tensor(x).to(fitted.shift.dtype), torch.as_tensor(y)
    boxes = ball(fitted, rows, 0.05)
    ibp, back = interval_margins(fitted, boxes, true), crown_margins(fitted, boxes, true)
    assert torch.allclose(ibp.gather(1, true[:, None]), torch.zeros(60, 1, dtype=ibp.dtype), atol=1e-6)
    rng = torch.Generator().manual_seed(0)
    least = torch.full_like(ibp, torch.inf)
    for _ in range(200):
        step = (torch.rand(rows.shape, generator=rng, dtype=rows.dtype) * 2 - 1).sign() * 0.05
        f = fitted((rows + step).clamp(0, 1))
        least = torch.minimum(least, f.gather(1, true[:, None]) - f)
    for bound in (ibp, back):
        assert (bound <= least + 1e-4).all()
    assert (torch.maximum(ibp, back) > 0).sum() > 60  # not idle


@pytest.fixture(scope="module")
def images():
    """Random weights on images of 8×8 pixels, ten classes, float64."""
    torch.manual_seed(0)
    backbone = convolutions(4, 6)(64, 12)
    for layer in backbone.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            layer.reset_parameters()  # wider boxes
    net = nn.Sequential(backbone, nn.ReLU(), nn.Linear(12, 10)).double()
    return ScaledModule(Domain.box([0.0] * 64, [1.0] * 64), net)


def test_boxes_keep_their_size_at_the_start():
    torch.manual_seed(0)
    net = ScaledModule(Domain.box([0.0] * 784, [1.0] * 784), convolutions(32, 32)(784, 64))
    x = torch.rand(8, 784, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        radii = [float((upper - lower).mean() / 2) for lower, upper in ball(net, x, 0.1)]
    assert all(0.05 < radius < 0.25 for radius in radii) and len(radii) == 8


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1, 0.6])
def test_margins_of_convolutions(images, delta):
    rng = torch.Generator().manual_seed(1)
    x = torch.rand((12, 64), generator=rng, dtype=torch.float64)
    x[:, ::3] = x[:, ::3].round()  # pixels at an end: their boxes are cut
    true = torch.arange(12) % 10
    boxes = ball(images, x, delta)
    bounds = interval_margins(images, boxes, true), crown_margins(images, boxes, true)
    step = torch.rand((300, 12, 64), generator=rng, dtype=torch.float64) * 2 - 1
    step[:200] = step[:200].sign()
    f = images((x + delta * step).clamp(0, 1).flatten(0, 1)).unflatten(0, (300, 12))
    least = (f.gather(2, true.expand(300, 12)[:, :, None]) - f).amin(dim=0)
    layers, one = layers_of(images.module), torch.eye(10, dtype=torch.float64)
    for bound in bounds:
        assert (bound <= least + 1e-12).all() and (bound.gather(1, true[:, None]) == 0).all()
        assert delta or torch.allclose(bound, least, atol=1e-12)
    for j in range(10):  # class by class, each form alone
        assert torch.allclose(bounds[1][:, j], crown(layers, boxes, one[true] - one[j]), atol=1e-12)


def test_rows_do_not_change_one_anothers_bounds(images):
    x = torch.rand((7, 64), generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    true = torch.arange(7)
    for margins in (interval_margins, crown_margins):
        together = margins(images, ball(images, x, 0.05), true)
        for i in range(7):
            alone = margins(images, ball(images, x[i : i + 1], 0.05), true[i : i + 1])
            assert torch.allclose(together[i], alone[0], rtol=0, atol=1e-12)


def test_verification_takes_the_better_bound_of_every_row(fitted):
    x, y = blobs(300, 3)
    rows, true = torch.as_tensor(x).to(fitted.shift.dtype), torch.as_tensor(y)
    boxes = ball(fitted, rows, 0.12)
    ibp, back = interval_margins(fitted, boxes, true), crown_margins(fitted, boxes, true)
    own = torch.arange(3) == true[:, None]
    shown = {name: ((low > 0) | own).all(dim=1).numpy() for name, low in (("ibp", ibp), ("crown", back))}
    best = ((torch.maximum(ibp, back) > 0) | own).all(dim=1).detach().numpy()
    assert np.array_equal(verify_classes(fitted, x, y, 0.12)[1], best)
    assert best.sum() > shown["ibp"].sum() and 0 < best.mean() < 1


def test_crown_is_asked_while_its_weight_lasts(monkeypatch):
    asked = []
    monkeypatch.setattr(crown_ibp_classes, "crown_margins", lambda *args: asked.append(0) or crown_margins(*args))
    x, y = blobs(40, 0)
    data = Prepared(Domain.box([0.0, 0.0], [1.0, 1.0]), x, y, x[:10], y[:10], x, y)
    ramp, descent = Ramp(warm=0.0, ramped=0.5, kappa=0.0, beta=0.0), Descent(epochs=2, batch=4)
    fit_class_bounds(data, 0.05, mlp((4,)), 2, 3, ramp=ramp, descent=descent)
    assert len(asked) == 9  # of 20 steps the first is at δ = 0, where κ is 1, and the ramp ends with the tenth


def test_a_larger_radius_in_training_verifies_more_there():
    x, y = blobs(250, 0)
    data = Prepared(Domain.box([0.0, 0.0], [1.0, 1.0]), x, y, x[:50], y[:50], x, y)
    descent = Descent(epochs=15, batch=32, rate=1e-2, settle=0.7)
    shares = []
    for trained in (None, 0.15):
        net = fit_class_bounds(data, 0.01, mlp((16,)), 8, 3, trained=trained, descent=descent)
        shares.append(verify_classes(net, x, y, 0.15)[1].mean())
    assert shares[1] > shares[0] + 0.1


def test_verified_images_are_right(fitted):
    x, y = blobs(200, 2)
    right, verified = verify_classes(fitted, x, y, 0.05)
    assert right.mean() > 0.95 and verified.mean() > 0.8
    assert (right | ~verified).all()
    assert not verify_classes(fitted, x, (y + 1) % 3, 0.05)[1][right].any()
    assert verify_classes(fitted, x, y, 0.4)[1].mean() < verified.mean()


def test_scaled_inputs_are_refused():
    domain = Domain.from_data(np.array([[0.0], [2.0]]))
    none = np.zeros((0, 1))
    data = Prepared(domain, none, np.zeros(0), none, np.zeros(0), none, np.zeros(0))
    with pytest.raises(SmileError, match="raw inputs"):
        fit_class_bounds(data, 0.1, mlp((4,)), 2, 3)
