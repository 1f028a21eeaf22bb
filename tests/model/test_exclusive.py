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


def added(start, y, w):
    columns = exclusive.Columns(y)
    assert columns.runs
    return columns.add_(start.expand(len(y), len(w)).clone(), w.T.contiguous())


@pytest.mark.parametrize("options", [{}, {"none": 0.3}, {"twice": 0.2}, {"scaled": True}, {"twice": 0.002}])
@pytest.mark.parametrize("seed", range(3))
@torch.no_grad()
def test_the_numbers_are_those_of_the_whole_sum(options, seed):
    y, w, start = rows(seed, **options)
    found = added(start, y, w)
    assert torch.equal(found, one_by_one(start, y, w)) and torch.equal(found, in_order(start, [(y, w)]))


@torch.no_grad()
def test_rows_that_are_not_numbers_stay_so():
    y, w, start = rows(6)
    y[3, 10] = torch.nan
    y[4, 20] = torch.inf
    found, wanted = added(start, y, w), one_by_one(start, y, w)
    assert torch.equal(found.isnan(), wanted.isnan()) and bool(found[3].isnan().all())


def test_runs_are_as_long_as_they_can_be():
    y = np.array([[1, 0, 0, 1, 0], [0, 2, 0, 0, 0], [0, 0, 0, 1, 1]], dtype=float)
    assert exclusive.runs(y.T) == [(0, 3), (3, 4), (4, 5)]
    assert exclusive.runs(np.zeros((3, 10))) == [(0, 3)]
