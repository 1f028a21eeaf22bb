"""Temperatures against a grid and a known answer; ε scaled by it, checked in rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import smilenn
from smilenn import Calibration, SmileClassifier, SmileError, calibrate
from smilenn.calibration import temperature


def drawn(n, scale, seed=0):
    """Logits that are `scale` times too large for the labels they come with."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, n)
    return scale * z, (rng.uniform(size=n) < 1 / (1 + np.exp(-z))).astype(float)


@pytest.mark.parametrize("scale", [0.25, 1.0, 3.0])
def test_the_temperature_undoes_a_known_scaling(scale):
    z, y = drawn(40_000, scale)
    assert temperature(z, y) == pytest.approx(scale, rel=0.05)


def test_no_other_temperature_has_a_smaller_loss():
    z, y = drawn(300, 2.0, seed=1)
    best = temperature(z, y)

    def loss(t):
        return np.mean(np.logaddexp(0, z / t) - y * z / t)

    assert all(loss(best) <= loss(best * factor) + 1e-15 for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0))


def test_separated_and_useless_logits_end_at_the_limits():
    y = np.array([0.0, 0, 1, 1])
    assert temperature(np.array([-1.0, -2, 1, 2]), y) == 1 / 1024
    assert temperature(np.array([1.0, 2, -1, -2]), y) == 1024


@pytest.mark.parametrize("t", [0.3, 1.7, 10.0])
def test_probabilities_never_fall_between_neighbouring_logits(t):
    for start in np.linspace(-30, 30, 61):
        z = np.full(2_000, start).view(np.int64)
        z = np.sort((z + np.arange(2_000)).view(np.float64))
        assert (np.diff(Calibration(t).probability(z)) >= 0).all(), start


@given(st.floats(0, 1e6), st.floats(1e-3, 1e3), st.floats(0, 1e6))
def test_eps_is_never_rounded_down(eps, t, largest):
    scaled = Calibration(t).eps(eps, largest)
    assert Fraction(scaled) * Fraction(t) >= Fraction(eps) + Fraction(largest) / 2**52
    assert scaled <= (eps + largest / 2**52) / t * (1 + 1e-15) + 1e-300


@given(st.floats(-50, 50), st.floats(0, 3), st.floats(0.05, 20))
def test_calibrated_logits_move_by_no_more_than_it_says(z, eps, t):
    """As the network returns them: |a − b| ≤ ε, exactly, and the quotients in float64."""
    a, b = np.float64(z), np.float64(z + eps)
    gap = abs(Fraction(float(a)) - Fraction(float(b)))
    warm = Calibration(t)
    quotients = warm.logit(np.array([a, b]))
    moved = abs(Fraction(float(quotients[0])) - Fraction(float(quotients[1])))
    bound = warm.eps(math.nextafter(float(gap), math.inf) if gap else 0.0, max(abs(float(a)), abs(float(b))))
    assert moved <= Fraction(bound)
    change = abs(float(np.diff(warm.probability(np.array([a, b])))[0]))
    assert change <= math.tanh(bound / 4) + 1e-15


def test_labels_stay_and_probabilities_get_better():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = np.where(x[:, 0] + rng.normal(0, 0.5, 400) > 0, "yes", "no")
    config = smilenn.Config(pretrain_epochs=10, epochs=10, posttrain_rounds=2)
    model = SmileClassifier(increasing=[0], config=config, random_state=0, certify_limit=5.0).fit(x[:200], y[:200])
    found = calibrate(model, x[200:], y[200:])
    logit = model.decision_function(x[200:])
    assert ((found.probability(logit) > 0.5) == (logit > 0)).all()
    right = (y[200:] == "yes").astype(float)

    def loss(z):
        return float(np.mean(np.logaddexp(0, z) - right * z))

    assert loss(found.logit(logit)) <= loss(logit)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Calibration(0.0), "A temperature is a positive number, not 0.0."),
        (lambda: Calibration(math.nan), "A temperature is a positive number, not nan."),
        (lambda: Calibration(1.0).eps(-1.0), "ε and the largest logit are numbers of 0 or more, not -1.0 and 0.0."),
        (lambda: temperature(np.ones(3), np.ones(3)), "Calibration needs rows of both classes; give more rows."),
        (lambda: temperature(np.zeros(0), np.zeros(0)), "Calibration needs rows of both classes; give more rows."),
    ],
)
def test_what_cannot_be_calibrated(call, message):
    with pytest.raises(SmileError) as caught:
        call()
    assert str(caught.value) == message


def test_labels_are_checked():
    class Fixed:
        classes_ = np.array(["no", "yes"])

        def decision_function(self, X):
            return np.zeros(len(X))

    with pytest.raises(SmileError, match="The labels hold 'maybe', which is none of the classes no, yes"):
        calibrate(Fixed(), [[0], [1]], ["yes", "maybe"])
    with pytest.raises(SmileError, match="Got 2 rows and 1 labels; give one label per row"):
        calibrate(Fixed(), [[0], [1]], ["yes"])


def test_computed_probabilities_change_by_no_more_than_said():
    """Where ε is near 1e-16 a computed probability moves by a last digit, which is more than tanh(ε / 4T)."""
    draw, beyond = np.random.default_rng(0), 0
    for size in (1e-17, 1e-16, 1e-15, 1e-14, 1e-3):
        warm = Calibration(float(draw.uniform(0.3, 3)))
        a = np.concatenate([draw.uniform(-1e-15, 1e-15, 2000), draw.uniform(-3, 3, 2000)])
        b = a + draw.uniform(-size, size, 4000)
        change = np.abs(warm.probability(a) - warm.probability(b))
        for p, q, moved in zip(a.tolist(), b.tolist(), change.tolist(), strict=True):
            eps = float(abs(Fraction(p) - Fraction(q)) * (1 + Fraction(1, 2**50)))
            beyond += moved > math.tanh(warm.eps(eps) / 4) * (1 + 2.0**-48)
            assert moved <= warm.change(eps)
    assert beyond > 100
    assert Calibration(2.0).change(0.0) == 0.0 and Calibration(2.0).change(5e-324) == 2.0**-48
