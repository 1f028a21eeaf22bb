"""Sums over columns of which a row has one that is not zero: the numbers of the sum column by column, bit for bit."""

import numpy as np
import pytest
import torch

from smilenn.model import exclusive
from smilenn.model.profile import in_order


def one_by_one(start, y, w):
    total = start.expand(len(y), len(w)).clone()
    for k in range(y.shape[1]):
        total = total + y[:, k : k + 1] * w[:, k]
    return total


def rows(seed, many=2000, *, twice=0.0, none=0.0, scaled=False):
    """Numbers, two categories with other numbers between them; a share of rows has `twice` or `none` in the first."""
    rng = np.random.default_rng(seed)
    first = np.eye(7)[rng.integers(0, 7, many)]
    first[rng.random(many) < none] = 0.0
    again = rng.random(many) < twice
    first[again] += np.eye(7)[rng.integers(0, 7, again.sum())]
    second = np.eye(30)[rng.integers(0, 30, many)] * (rng.normal(size=(many, 1)) if scaled else 1.0)
    numbers = [np.clip(rng.normal(size=(many, 9)), 0, 1) for _ in range(3)]
    y = np.concatenate([numbers[0], first, numbers[1], second, numbers[2]], axis=1)
    return torch.tensor(y), torch.tensor(rng.normal(size=(32, y.shape[1]))), torch.tensor(rng.normal(size=32))


@pytest.mark.parametrize(
    "options", [{}, {"none": 0.3}, {"twice": 0.2}, {"scaled": True}, {"twice": 0.002, "none": 0.1}]
)
@pytest.mark.parametrize("seed", range(3))
@torch.no_grad()
def test_the_numbers_are_those_of_the_whole_sum(options, seed):
    y, w, start = rows(seed, **options)
    assert exclusive.summed(start, y, w) is not None
    assert torch.equal(in_order(start, [(y, w)]), one_by_one(start, y, w))
    each = torch.randn(len(y), len(w), dtype=torch.float64)
    assert torch.equal(in_order(each, [(y, w)]), one_by_one(each, y, w))


@torch.no_grad()
def test_a_row_has_the_same_numbers_in_any_company():
    y, w, start = rows(5, none=0.1)
    whole = in_order(start, [(y, w)])
    assert torch.equal(in_order(start, [(y[:40], w)]), whole[:40])
    assert torch.equal(in_order(start, [(y[700:1300], w)]), whole[700:1300])


@torch.no_grad()
def test_rows_that_are_not_numbers_stay_so():
    y, w, start = rows(6)
    y[3, 10] = torch.nan
    y[4, 20] = torch.inf
    found = in_order(start, [(y, w)])
    assert torch.equal(torch.isnan(found), torch.isnan(one_by_one(start, y, w))) and bool(found[3].isnan().all())


@torch.no_grad()
def test_runs_are_as_long_as_they_can_be():
    y = np.array([[1, 0, 0, 1, 0], [0, 2, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=float)
    assert exclusive._runs(y.T) == [(0, 3), (3, 4), (4, 5)]
    assert exclusive._runs(np.zeros((3, 10))) == [(0, 3)]


def test_few_rows_and_gradients_are_left_to_the_plain_sum():
    y, w, start = rows(7)
    assert exclusive.summed(start, y, w) is None  # torch records
    with torch.no_grad():
        assert exclusive.summed(start, y[:100], w) is None and exclusive.summed(start[:4], y, w[:4]) is None
        dense = torch.rand(2000, 20, dtype=torch.float64) + 0.1
        assert exclusive.summed(start, dense, torch.rand(32, 20, dtype=torch.float64)) is None
