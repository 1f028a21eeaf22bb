"""CROWN-IBP and the attack: verification is never contradicted, and training for it pays."""

import numpy as np
import pytest
import torch

from smilenn.baselines import Descent, Ramp, fit_agnostic, fit_crown_ibp, mlp, pgd_margin, verify
from smilenn.errors import SmileError
from smilenn.model.backbones import ConvNet

DELTA = 0.15
DESCENT = Descent(epochs=20, batch=50, rate=3e-3, seed=0)


def conv(inputs, embedding):
    return ConvNet(round(inputs**0.5), (4, 4), 8, embedding)


@pytest.fixture(scope="module")
def robust(squares):
    return fit_crown_ibp(squares, DELTA, conv, 4, descent=DESCENT)


def test_verified_rows_withstand_the_attack(squares, robust):
    for net in (robust, fit_agnostic(squares, conv, 4, task="binary", descent=DESCENT)):
        verified = verify(net, squares.x_test, squares.y_test, DELTA)
        attacked = pgd_margin(net, squares.x_test, squares.y_test, DELTA, steps=20, restarts=2, dtype=torch.float32)
        assert (attacked[verified] > 0).all()
        right = (net.predict(squares.x_test) > 0) == (squares.y_test > 0)
        assert right[verified].all()
        assert ((attacked > 0) <= right).all(), "an attack never repairs a prediction"


def test_training_for_the_bound_pays(squares, robust):
    plain = fit_agnostic(squares, conv, 4, task="binary", descent=DESCENT)
    share = [verify(net, squares.x_test, squares.y_test, DELTA).mean() for net in (robust, plain)]
    assert share[0] > 0.95 and share[0] > share[1] + 0.05


def test_it_repeats_from_its_seed(squares, robust):
    again = fit_crown_ibp(squares, DELTA, conv, 4, descent=DESCENT)
    assert np.array_equal(robust.predict(squares.x_test), again.predict(squares.x_test))


def test_the_attack_finds_the_worst_point_of_a_linear_model(squares):
    """For s·(w·x + b) the minimum over the clipped ball is known."""
    net = fit_agnostic(
        squares,
        lambda inputs, embedding: torch.nn.Linear(inputs, embedding),
        1,
        task="binary",
        descent=Descent(epochs=3, batch=50),
    ).double()
    x, y = squares.x_test[:50], squares.y_test[:50]
    weight = (net.module[1].weight @ net.module[0].weight)[0].detach().numpy()
    sign = 2 * y - 1
    corner = np.clip(x - DELTA * np.sign(sign[:, None] * weight), 0, 1)
    exact = sign * net.predict(corner)
    assert np.allclose(pgd_margin(net, x, y, DELTA, steps=100), exact, atol=1e-9)


def test_zero_delta_is_the_clean_margin(squares, robust):
    sign = 2 * squares.y_test - 1
    margin = pgd_margin(robust, squares.x_test, squares.y_test, 0.0, steps=1, dtype=torch.float32)
    assert np.allclose(margin, sign * robust.predict(squares.x_test), atol=1e-6)


def test_ramp():
    ramp = Ramp(warm=0.1, ramped=0.5, kappa=0.4, beta=0.0)
    assert ramp.at(0.0) == (0.0, 1.0, 1.0)
    assert ramp.at(0.3) == pytest.approx((0.5, 0.7, 0.5))
    assert ramp.at(0.8) == pytest.approx((1.0, 0.4, 0.0))
    early = Ramp(warm=0.1, ramped=0.5, kappa=0.4, beta=0.2, faded=0.5)
    assert early.at(0.2) == pytest.approx((0.25, 0.85, 0.6))
    assert early.at(0.3) == pytest.approx((0.5, 0.7, 0.2)) and early.at(0.4)[2] == pytest.approx(0.2)


def test_bad_arguments(squares, credit):
    with pytest.raises(SmileError, match="scaling='none'"):
        fit_crown_ibp(credit, 0.1, mlp((4,)), 2)
    with pytest.raises(SmileError, match="delta must be 0 or more"):
        fit_crown_ibp(squares, -0.1, conv, 2)
    with pytest.raises(SmileError, match="steps ≥ 1"):
        pgd_margin(lambda x: x, squares.x, squares.y, 0.1, steps=0)
    with pytest.raises(SmileError, match="epochs ≥ 1"):
        Descent(epochs=0)
    with pytest.raises(SmileError, match="settle above 0"):
        Descent(settle=0.0)
