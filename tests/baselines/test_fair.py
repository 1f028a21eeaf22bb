"""Agnostic, unaware, the constant, CertiFair."""

import numpy as np
import pytest
import torch

from smilenn.baselines import Descent, fit_agnostic, fit_certifair, fit_constant, fit_unaware, mlp
from smilenn.baselines.certifair import spread
from smilenn.errors import SmileError

DESCENT = Descent(epochs=30, batch=64, rate=3e-3)


def flipped(data, x):
    out = x.copy()
    (race,) = data.domain.indices("race")
    out[:, race] = 1 - out[:, race]
    return out


def variation(net, data):
    return float(np.abs(net.predict(data.x_test) - net.predict(flipped(data, data.x_test))).max())


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_agnostic_learns_and_depends_on_race(task, credit, repaid):
    data = credit if task == "regression" else repaid
    net = fit_agnostic(data, mlp((16, 16)), 4, task=task, descent=DESCENT)
    out = net.predict(data.x_test)
    if task == "regression":
        assert 1 - ((out - data.y_test) ** 2).mean() / data.y_test.var() > 0.7
        assert abs(out.mean() - data.y_test.mean()) < 3, "in the target's units"
    else:
        assert ((out > 0) == (data.y_test > 0)).mean() > 0.8
    assert variation(net, data) > 0.05


def test_unaware_cannot_see_the_protected_feature(credit):
    net = fit_unaware(credit, ["race"], mlp((16, 16)), 4, task="regression", descent=DESCENT)
    assert variation(net, credit) == 0.0
    out = net.predict(credit.x_test)
    assert 1 - ((out - credit.y_test) ** 2).mean() / credit.y_test.var() > 0.6


def test_constant(credit, repaid):
    assert set(fit_constant(credit.y, "regression").predict(credit.x_test)) == {credit.y.mean()}
    logit = fit_constant(repaid.y, "binary").value
    assert 1 / (1 + np.exp(-logit)) == pytest.approx(repaid.y.mean())
    assert np.isfinite(fit_constant(np.ones(5), "binary").value)


def test_certifair_trades_quality_for_spread(repaid):
    free, tight = (
        fit_certifair(repaid, "race", weight, (16, 16), 4, task="binary", descent=DESCENT) for weight in (0.0, 0.2)
    )
    u = free.scale(torch.as_tensor(repaid.x_test))
    assert float(spread(tight, "race", u).detach()) < 0.5 * float(spread(free, "race", u).detach())
    assert variation(tight, repaid) < variation(free, repaid)


def test_certifair_without_weight_is_agnostic(repaid):
    net = fit_certifair(repaid, "race", 0.0, (16,), 4, task="binary", descent=DESCENT)
    same = fit_agnostic(repaid, mlp((16,)), 4, task="binary", descent=DESCENT)
    assert np.array_equal(net.predict(repaid.x_test), same.predict(repaid.x_test))


def test_the_spread_of_rows_is_the_mean_of_their_spreads(repaid):
    net = fit_agnostic(repaid, mlp((16, 16)), 4, task="binary", descent=Descent(epochs=1)).double()
    u = net.scale(torch.as_tensor(repaid.x_test))
    each = [float(spread(net, "race", u[i : i + 1]).detach()) for i in range(len(u))]
    assert len(set(each)) < len(each), "some rows share their box"
    assert float(spread(net, "race", u).detach()) == pytest.approx(np.mean(each))


def test_the_spread_bounds_every_counterfactual_change_in_its_boxes(repaid):
    """|f(x, race 1) − f(x', race 0)| ≤ UB − LB for inputs that share the row's categories."""
    net = fit_agnostic(repaid, mlp((16, 16)), 4, task="binary", descent=Descent(epochs=2)).double()
    domain = repaid.domain
    (race,) = domain.indices("race")
    rng = np.random.default_rng(0)
    numeric = np.array([f.kind in ("continuous", "integer") for f in domain.features for _ in f.coordinates])
    for row in repaid.x_test[:10]:
        bound = float(spread(net, "race", net.scale(torch.as_tensor(row[None]))).detach())
        x = np.repeat(row[None], 500, axis=0)
        x[:, numeric] = rng.uniform(domain.lo[numeric], domain.hi[numeric], (500, numeric.sum()))
        x[:, race] = 1.0
        other = x.copy()
        other[:, race] = 0.0
        assert (net.predict(x) - net.predict(other)).max() <= bound + 1e-9


def test_bad_arguments(repaid):
    with pytest.raises(SmileError, match="between 0 and 1"):
        fit_certifair(repaid, "race", 1.5, (4,), 2, task="binary")
    with pytest.raises(SmileError, match="not a yes/no feature"):
        fit_certifair(repaid, "income", 0.1, (4,), 2, task="binary")
