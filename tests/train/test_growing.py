"""Trees within a time: how many are grown by a clock that the tests turn, and by how many threads."""

import numpy as np
import pytest
import torch

from smilenn.model.threads import AsManyThreads
from smilenn.train.boosted import unequal
from smilenn.train.growing import FIRST, TIMES, grow_within


class Machine:
    """A clock, and trees that take `each` second after a `start` of every piece; it stops by itself at `most`."""

    def __init__(self, each, start, most=10**9):
        self.each, self.start, self.most, self.time, self.grown = each, start, most, 0.0, [0]

    def now(self):
        return self.time

    def grow(self, trees):
        trees = min(trees, self.most)
        self.time += self.start + self.each * (trees - self.grown[-1])
        self.grown.append(trees)
        return trees


@pytest.mark.parametrize("each", [1e-4, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize("start", [0.0, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("seconds", [2.0, 10.0])
def test_the_time_is_kept_and_used(each, start, seconds):
    machine = Machine(each, start)
    late = grow_within(machine.grow, 1000, seconds, machine.now)
    assert late == (machine.grown[-1] < 1000)
    assert machine.time <= max(seconds, start + FIRST * each) + 0.5 * start + 1e-9
    assert (
        machine.grown[-1] == 1000 or machine.time >= 0.3 * seconds
    )  # what is left is short of a piece worth its start


def test_a_machine_that_is_slowed_down_costs_one_piece():
    machine = Machine(0.01, 0.0)

    def slower(trees):
        machine.each = 0.01 if trees <= FIRST else 0.1
        return machine.grow(trees)

    grow_within(slower, 1000, 1.0, machine.now)
    assert len(machine.grown) == 3 and machine.grown[-1] <= FIRST * (1 + TIMES)


def test_some_trees_are_grown_whatever_the_time_is():
    machine = Machine(1.0, 5.0)
    assert grow_within(machine.grow, 1000, 0.0, machine.now)
    assert machine.grown == [0, FIRST]


def test_a_booster_that_has_stopped_is_left_alone():
    machine = Machine(1e-3, 0.0, most=30)
    assert not grow_within(machine.grow, 1000, 100.0, machine.now)
    assert machine.grown[-1] == 30 and machine.grown.count(30) == 1


def test_trees_have_as_many_threads_as_torch():
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    from threadpoolctl import ThreadpoolController

    def most():
        return max(pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "openmp")

    _openmp_effective_n_threads()  # its library is loaded
    torch_before = torch.get_num_threads()
    with ThreadpoolController().limit(limits=2, user_api="openmp"):
        torch.set_num_threads(1)  # as a user does, and as the command does
        assert most() == 2
        with AsManyThreads():
            assert most() == 1
        assert most() == 2
    torch.set_num_threads(torch_before)


def test_equal_weights_are_none():
    assert unequal(None) is None and unequal(np.full(3, 2.0)) is None
    assert (unequal(np.array([1.0, 2.0])) == [1.0, 2.0]).all()
