"""Probabilities rise with log-odds bit for bit, and are σ to the last digits."""

import numpy as np
import pytest

from smilenn.sigmoid import LARGEST, STEPS, probability, rising_exp


def neighbours(x, count=200):
    """Each of x [n] with the floats that follow it, [n, count] rising."""
    rows = [x]
    for _ in range(count - 1):
        rows.append(np.nextafter(rows[-1], np.inf))
    return np.stack(rows, axis=1)


@pytest.mark.parametrize("seed", range(3))
def test_adjacent_floats_never_fall(seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(0, 4, 300), rng.uniform(-720, 720, 300), rng.normal(0, 1e-8, 50), [0.0, -1e-300]])
    for rows in (neighbours(x), -neighbours(x)[:, ::-1]):
        found = probability(rows)
        assert (np.diff(found, axis=1) >= 0).all() and (np.diff(1.0 - found, axis=1) <= 0).all()


def test_cells_meet_without_a_step_down():
    edges = np.arange(-40 * STEPS, 40 * STEPS + 1) / STEPS
    before = edges
    for _ in range(20):
        before = np.nextafter(before, -np.inf)
    rows = neighbours(before, 40)
    assert (rows[:, 20] == edges).all()
    assert (np.diff(rising_exp(rows), axis=1) >= 0).all() and (np.diff(probability(rows), axis=1) >= 0).all()


def test_values():
    z = np.linspace(-700, 700, 200_001)
    assert (np.abs(rising_exp(z) / np.exp(z) - 1) < 2e-15).all()
    x = np.linspace(-60, 60, 50_001)
    exact = np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))
    assert (np.abs(probability(x) / exact - 1) < 2e-15).all()
    ends = probability(np.array([-1e300, -LARGEST, 0.0, LARGEST, 1e300]))
    assert ends[2] == 0.5 and ends[0] == ends[1] and ends[1] < 1e-300 and ends[3] == ends[4] == 1.0
    assert probability(np.zeros((2, 3))).shape == (2, 3)
