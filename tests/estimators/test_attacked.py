"""Attacks on robust classifiers through their outputs: none above the bound, and the attack would notice."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.attack_robust import KINDS, _config, attack, blobs, digits, opened, promises, saved

from smilenn import Network, Robust, SmileClassifier

DELTA = 0.2
PAIRS = (500, pytest.param(2000, marks=pytest.mark.slow))


@pytest.fixture(scope="module")
def fitted():
    """Blobs in the Euclidean norm."""
    x, y = blobs()
    return SmileClassifier(properties=[Robust(DELTA, norm=2)], random_state=0).fit(x, y), x


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Digits of 8 × 8 pixels in the maximum norm, saved."""
    x, y = digits()
    place = tmp_path_factory.mktemp("digits") / "model"
    SmileClassifier(
        properties=[Robust("0.1")], network=Network(encoder="image"), config=_config(6, 0.02, 0.6), random_state=0
    ).fit(x, y).save(place)
    return place


@pytest.mark.parametrize("count", PAIRS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_within_delta_is_above_the_bound(fitted, kind, count):
    model, x = fitted
    found = attack(kind, model, promises(model)[0], x, count, np.random.default_rng(0))
    assert found.pairs == count and found.above == found.split == 0
    assert found.most.max() > 0.6  # the bound is not idle


@pytest.mark.parametrize("count", PAIRS)
def test_longer_steps_are_above_the_bound(fitted, count):
    model, x = fitted
    longer = replace(promises(model)[0], delta=1.1 * DELTA)
    found = attack("gradient", model, longer, x, count, np.random.default_rng(0))
    assert found.above > 0 and found.most.max() > 1


def test_the_maximum_norm_of_digits(folder, capsys):
    model = opened(folder)
    known = promises(model)
    assert [one.norm for one in known] == ["inf", "inf"] and [one.delta for one in known] == pytest.approx([0.1, 0.001])
    found = saved(folder, None, 400, math.inf)
    assert found.pairs == 400 and found.above == found.split == 0
    assert found.most.max() > 0.6 and found.accepted > 0 and found.differ > 0
    assert capsys.readouterr().out.count("maximum norm") == 2 * len(KINDS)


def test_it_ends_when_time_is_over(folder):
    assert saved(folder, None, 1000, 0.0).pairs == 0


def test_longer_steps_get_two_answers(folder):
    model = opened(folder)
    longer = replace(promises(model)[0], delta=0.3)
    found = attack("decision", model, longer, digits()[0], 200, np.random.default_rng(0))
    assert found.above > 0 and found.split > 0
