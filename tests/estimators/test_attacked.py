"""Attacks on robust classifiers through their outputs: none above the bound, and the attack would notice."""

import numpy as np
import pytest
from benchmarks.attack_robust import KINDS, attack, blobs

from smilenn import Robust, SmileClassifier

DELTA = 0.2
PAIRS = (500, pytest.param(2000, marks=pytest.mark.slow))


@pytest.fixture(scope="module")
def fitted():
    x, y = blobs()
    return SmileClassifier(properties=[Robust(DELTA, norm=2)], random_state=0).fit(x, y), x


@pytest.mark.parametrize("count", PAIRS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_within_delta_is_above_the_bound(fitted, kind, count):
    model, x = fitted
    pairs, broken, most, split = attack(kind, model, 2, DELTA, x, count, np.random.default_rng(0))
    assert pairs == count and broken == split == 0
    assert most > 0.6  # the bound is not idle


@pytest.mark.parametrize("count", PAIRS)
def test_longer_steps_are_above_the_bound(fitted, count):
    model, x = fitted
    _, broken, most, _ = attack("gradient", model, 2, 1.1 * DELTA, x, count, np.random.default_rng(0))
    assert broken > 0 and most > 1
