"""Measures and their intervals, against numbers worked out by hand and by simulation."""

import math

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.report.quality import CERTIFIED, bootstrap, measure, wilson

DOMAIN = Domain(
    (
        Feature("x", "continuous", 0, 1),
        Feature("g", "binary", categories=("no", "yes")),
        Feature("c", "category", categories=("u", "v", "w")),
    )
)


def rows(n, rng):
    return np.column_stack([rng.uniform(size=n), rng.integers(0, 2, n), np.eye(3)[rng.integers(0, 2, n)]])


def test_regression_measures_by_hand():
    x = rows(4, np.random.default_rng(0))
    y, output = np.array([0.0, 2.0, 4.0, 6.0]), np.array([0.0, 2.0, 4.0, 10.0])
    found = measure(y, output, DOMAIN, x)
    values = {m.name: (m.model.value, m.constant) for m in found.metrics}
    assert values["R²"] == (pytest.approx(1 - 4 / 5), 0.0)
    assert values["mean absolute error"] == (1.0, 2.0)
    assert values["root mean squared error"] == (2.0, pytest.approx(math.sqrt(5)))
    assert found.metrics[0].model.low is None  # four rows bear no interval


def test_classification_measures_by_hand():
    x = rows(4, np.random.default_rng(0))
    found = measure(np.array([1.0, 1, 1, 0]), np.array([2.0, 1.0, -1.0, -1.0]), DOMAIN, x, task="binary")
    values = {m.name: m for m in found.metrics}
    assert values["accuracy"].model.value == 0.75 and values["accuracy"].constant == 0.75
    assert values["balanced accuracy"].model.value == pytest.approx((2 / 3 + 1) / 2)
    loss = np.mean([np.log1p(np.exp(-2)), np.log1p(np.exp(-1)), np.log1p(np.exp(1)), np.log1p(np.exp(-1))])
    assert values["log loss"].model.value == pytest.approx(loss)
    assert not values["log loss"].higher_is_better and values["accuracy"].higher_is_better


def test_groups_partition_the_rows_and_carry_their_own_names():
    rng = np.random.default_rng(1)
    x = rows(300, rng)
    y = rng.normal(size=300)
    groups = measure(y, y + x[:, 1], DOMAIN, x).groups
    by = {(g.feature, g.value): g for g in groups}
    assert set(by) == {("g", "no"), ("g", "yes"), ("c", "u"), ("c", "v")}  # nobody has w
    assert by["g", "no"].rows + by["g", "yes"].rows == 300
    assert by["g", "no"].quality.value == 0.0 and by["g", "yes"].quality.value == pytest.approx(1.0)


def test_wilson_covers_as_often_as_it_says():
    rng = np.random.default_rng(2)
    hits = rng.binomial(60, 0.8, 4000)
    inside = [(e := wilson(int(h), 60)).low <= 0.8 <= e.high for h in hits]
    assert 0.93 < np.mean(inside) < 0.97
    ends = wilson(60, 60)
    assert ends.value == 1.0 and ends.high <= 1.0 + 1e-12 and ends.low < 1.0


def test_bootstrap_covers_a_mean():
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(200):
        sample = rng.exponential(size=80)
        found = bootstrap(lambda rows, sample=sample: float(sample[rows].mean()), 80)
        inside += found.low <= 1.0 <= found.high
    assert 0.85 < inside / 200 <= 1.0


def test_a_constant_target_has_no_r2():
    x = rows(20, np.random.default_rng(0))
    found = measure(np.ones(20), np.ones(20), DOMAIN, x)
    assert math.isnan(found.metrics[0].model.value) and found.metrics[0].model.low is None


def test_right_decisions_that_nothing_turns():
    y, logit = np.array([1.0, 1, 0, 0]), np.array([3.0, 0.5, -3.0, 2.0])
    domain = Domain.box([0.0], [1.0])
    found = measure(y, logit, domain, np.zeros((4, 1)), task="binary", stable_rows=np.abs(logit) > 1)
    (both,) = (m for m in found.metrics if m.name == CERTIFIED)
    assert both.model.value == 0.5 and both.constant == 0.5 and both.higher_is_better
    three = measure(
        np.eye(3),
        np.eye(3),
        domain,
        np.zeros((3, 1)),
        task="multiclass",
        names="abc",
        stable_rows=np.array([True, False, True]),
    )
    assert three.metrics[-1].name == CERTIFIED and three.metrics[-1].model.value == 2 / 3
    assert all(m.name != CERTIFIED for m in measure(y, logit, domain, np.zeros((4, 1)), task="binary").metrics)
