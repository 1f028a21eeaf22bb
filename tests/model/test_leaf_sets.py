"""Leaves by sets: the same as by walks, for rows at and beside thresholds, and categories in any place."""

import numpy as np
import pytest
import torch

from smilenn.model.encoders import Trees
from smilenn.model.encoders.leaf_sets import MOST_LEAVES, WORD, columns, reached
from smilenn.model.encoders.trees import Nodes

THRESHOLDS = np.array([-1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 5e-324, -5e-324])
SETS = [[2, 3], [3, 4], [6], [5, 6, 7], [2, 3, 4]]  # two categories, and places 2 to 4 joined by several sets
INPUTS = 8


ASKED = INPUTS + len(SETS)


def tree(rng, depth, asks=ASKED):
    if depth == 0 or rng.random() < 0.1:
        return [-1], [float(rng.normal())]
    left, right = (tree(rng, depth - 1, asks) for _ in range(2))
    return [int(rng.integers(asks)), *left[0], *right[0]], [float(rng.choice(THRESHOLDS)), *left[1], *right[1]]


def layer(seed, depth=5, trees=(9, 4)):
    rng = np.random.default_rng(seed)
    return Trees.of(INPUTS, [[tree(rng, depth) for _ in range(n)] for n in trees], rng.normal(size=len(trees)), SETS)


def table(seed, rows=400):
    """Two numbers, then two categories of three places each, of some rows none."""
    rng = np.random.default_rng(seed)
    x = np.zeros((rows, INPUTS))
    at = rng.choice(THRESHOLDS, size=(rows, 2))
    x[:, :2] = np.where(rng.random((rows, 2)) < 0.5, at, np.nextafter(at, rng.choice([-9.0, 9.0], size=(rows, 2))))
    for first in (2, 5):
        code = rng.integers(4, size=rows)
        x[code < 3, first + code[code < 3]] = 1.0
    return torch.tensor(x)


def found(own):
    plan = own.plan()
    nodes = Nodes.of(plan.split.numpy(), plan.number.numpy(), plan.right, plan.starts)
    return columns(nodes, own.inputs, own.sets)


def walked(own, y):
    plan = own.plan()
    return plan.leaf[plan.reached(own._asked(y))].T


@pytest.mark.parametrize("seed", range(9))
def test_rows_reach_the_leaves_of_a_walk(seed):
    own, y = layer(seed, depth=seed), table(seed)
    if not own.plan().active:  # leaves alone: nothing is asked
        assert not found(own)
        return
    assert torch.equal(reached(found(own), y), walked(own, y))


def test_coordinates_that_sets_join_are_one_column():
    own = layer(3)
    assert sorted(column.places for column in found(own)) == [[0], [1], [2, 3, 4], [5, 6, 7]]
    apart = Trees.of(4, [[([4, -1, 5, -1, -1], [0.5, 1.0, 0.5, 2.0, 3.0])]], sets=[[0, 1], [2, 3]])
    assert sorted(column.places for column in found(apart)) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("value", [0.5, 2.0, -1.0, np.nan, np.inf])
def test_rows_that_are_no_categories_walk(value):
    own, y = layer(4), table(4)
    y[7, 3] = value
    assert reached(found(own), y) is None
    assert torch.equal(own(y), torch.cat([own(row[None]) for row in y]))


def test_two_ones_and_no_number_walk():
    own, y = layer(5), table(5)
    y[3, 2:5] = 1.0
    assert reached(found(own), y) is None
    y = table(5)
    y[3, 0] = np.nan
    assert reached(found(own), y) is None
    assert torch.equal(own(y), torch.cat([own(row[None]) for row in y]))


def test_the_layer_uses_them_for_many_rows_and_has_the_same_bits(monkeypatch):
    own, y = layer(2), table(2, rows=700)
    assert own.plan().columns(own.inputs, own.sets, 700) and not own.plan().columns(own.inputs, own.sets, 5)
    wanted = torch.cat([own(row[None]) for row in y])
    assert torch.equal(own(y), wanted) and torch.equal(own(y.flip(0)).flip(0), wanted)
    for name, size in (("leaf_sets.TILE", 1), ("leaf_sets.TILE", 100), ("trees.ROWS", 10)):
        monkeypatch.setattr(f"smilenn.model.encoders.{name}", size)
        assert torch.equal(own(y), wanted)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    assert torch.equal(own(y), wanted)
    torch.set_num_threads(before)


@pytest.mark.parametrize("rows", [5, 700])
def test_one_search_gives_leaves_and_sums(rows):
    own, y = layer(2), table(2, rows)
    leaves, sums = own.leaves_and_sums(y)
    assert torch.equal(leaves, walked(own, y)) and torch.equal(sums, own(y))


@pytest.mark.parametrize("leaves", [WORD, WORD + 1, 2 * WORD, 2 * WORD + 1, MOST_LEAVES, MOST_LEAVES + 1])
@pytest.mark.parametrize("right", [True, False])
def test_chains_up_to_the_most_leaves(leaves, right):
    """Trees as deep as they have leaves; one leaf more and rows walk."""
    thresholds = np.arange(leaves - 1.0)
    if right:  # ask for 0, then for 1, …
        split, number = [0, -1] * (leaves - 1) + [-1], [v for k in thresholds for v in (k, -k)] + [99.0]
    else:
        split = [0] * (leaves - 1) + [-1] * leaves
        number = [*thresholds[::-1], *np.arange(leaves, dtype=float)]
    own = Trees.of(1, [[(split, number)]])
    y = torch.tensor(np.linspace(-1.0, leaves, 2 * leaves + 5))[:, None]
    assert bool(own.plan().columns(1, [], len(y))) == (leaves <= MOST_LEAVES)
    assert torch.equal(own.leaves(y[:1]), torch.tensor([[0]]))
    assert torch.equal(own(y), torch.cat([own(row[None]) for row in y]))
    if leaves <= MOST_LEAVES:
        assert torch.equal(reached(found(own), y), walked(own, y))
