"""Monotone baselines: monotone on sampled pairs, close to the isotonic limit, equal to an independent package."""

import numpy as np
import pytest
import torch

from smilenn.baselines import Descent, fit_boosting, fit_isotonic, fit_lipschitz_residual, fit_monotone_weights
from smilenn.baselines.lipschitz_residual import LipschitzResidual, SortPairs
from smilenn.baselines.monotone_weights import monotone_net
from smilenn.errors import SmileError

DESCENT = Descent(epochs=60, batch=64, rate=5e-3)


def r2(predictor, data):
    return 1 - ((predictor.predict(data.x_test) - data.y_test) ** 2).mean() / data.y_test.var()


def fitted(name, data):
    match name:
        case "weights":
            return fit_monotone_weights(data, [1], descent=DESCENT)
        case "lipschitz":
            return fit_lipschitz_residual(data, [1], 2.0, descent=Descent(epochs=60, batch=64, rate=2e-2))
        case "boosting":
            return fit_boosting(data.x, data.y, [1], task="regression")
        case _:
            return fit_isotonic(data.x, data.y)


@pytest.mark.parametrize("name", ["weights", "lipschitz", "boosting", "isotonic"])
def test_non_decreasing_and_near_the_limit(name, sine):
    model = fitted(name, sine)
    grid = np.linspace(-12, 12, 4001)[:, None]  # beyond the domain too
    out = model.predict(grid)
    assert (np.diff(out) >= -1e-5).all(), "float32 modules"
    assert r2(model, sine) > r2(fit_isotonic(sine.x, sine.y), sine) - 0.12


SIGNS = [1, -1, 0, 1]


@pytest.mark.parametrize(
    "module", [lambda: monotone_net(SIGNS, (12, 12)), lambda: LipschitzResidual(SIGNS, (12, 12), 2.0)]
)
def test_signs_with_random_weights(module):
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        net = module().double()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.mul_(3.0)
        x = torch.rand(500, 4, generator=generator, dtype=torch.float64) * 4 - 2
        for i, sign in enumerate(SIGNS):
            step = x.clone()
            step[:, i] += torch.rand(500, generator=generator, dtype=torch.float64)
            change = (net(step) - net(x))[:, 0]
            if sign:
                assert (sign * change >= -1e-9).all()
            else:
                assert (change > 1e-6).any() or (change < -1e-6).any()


def test_slope_bound():
    torch.manual_seed(0)
    net = LipschitzResidual([0, 0, 0], (16, 16), 1.5).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(10.0)
    x = torch.rand(1000, 3, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(net(x).sum(), x)
    assert slope.abs().max() <= 1.5 + 1e-9


def test_the_residual_network_agrees_with_an_independent_package():
    reference = pytest.importorskip("monotonicnetworks", reason="the independent package is not installed")
    torch.manual_seed(0)
    sizes, slope, signs = (8, 6), 2.5, [1, 0, -1]
    ours = LipschitzResidual(signs, sizes, slope)
    bound = slope ** (1 / 3)
    widths = (3, *sizes, 1)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.mul_(4.0)  # so that rows are really shrunk
    layers = []
    mine = [layer for layer in ours.inner if not isinstance(layer, SortPairs)]
    for i, layer in enumerate(mine):
        theirs = torch.nn.Linear(widths[i], widths[i + 1])
        theirs.load_state_dict(layer.state_dict())
        layers.append(
            reference.direct_norm(
                theirs, kind="one-inf" if i == 0 else "inf", always_norm=False, max_norm=bound, vectorwise=True
            )
        )
        if i + 1 < len(mine):
            layers.append(reference.GroupSort(widths[i + 1] // 2))
    wrapped = reference.MonotonicWrapper(torch.nn.Sequential(*layers), slope, signs)
    x = torch.randn(200, 3)
    assert torch.allclose(ours(x), wrapped(x), atol=1e-5)


def test_bad_arguments(sine):
    with pytest.raises(SmileError, match="Signs are"):
        monotone_net([2], (4,))
    with pytest.raises(SmileError, match="slope bound must be more than 0"):
        LipschitzResidual([1], (4,), 0.0)
    with pytest.raises(SmileError, match="even sizes"):
        LipschitzResidual([1], (5,), 1.0)
    with pytest.raises(SmileError, match="takes one input"):
        fit_isotonic(np.zeros((3, 2)), np.zeros(3))


def test_boosting_for_two_classes(repaid):
    domain = repaid.domain
    signs = [1 if name == "income" else -1 if name == "debt" else 0 for name in domain.coordinates]
    model = fit_boosting(repaid.x, repaid.y, signs, task="binary")
    assert ((model.predict(repaid.x_test) > 0) == (repaid.y_test > 0)).mean() > 0.75
    more = repaid.x_test.copy()
    more[:, domain.indices("income")[0]] += 20.0
    assert (model.predict(more) >= model.predict(repaid.x_test) - 1e-12).all()
