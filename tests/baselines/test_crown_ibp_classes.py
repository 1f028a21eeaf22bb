"""CROWN-IBP of several classes: its bounds hold, and training with them pays."""

import numpy as np
import pytest
import torch

from smilenn.baselines.agnostic import mlp
from smilenn.baselines.crown_ibp_classes import class_bounds, fit_class_bounds, verify_classes
from smilenn.baselines.descent import Descent
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
    ibp, back = class_bounds(fitted, rows, true, 0.05)
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
