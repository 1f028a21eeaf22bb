"""Deadlines: a moment that is asked for, and nothing where there is none."""

import itertools

import pytest

from smilenn import deadline
from smilenn.deadline import NEVER, Deadline, Late


def test_a_deadline_is_kept_until_its_moment(monkeypatch):
    clock = itertools.count(100.0, 4.0)  # every look takes four seconds
    monkeypatch.setattr(deadline, "perf_counter", lambda: next(clock))
    until = Deadline.after(10.0)
    assert until.at == 110.0 and until.left() == 6.0
    until.keep()  # at 108
    with pytest.raises(Late):
        until.keep()  # at 112
    assert until.left() == 0.0


def test_without_a_deadline_nothing_is_late():
    NEVER.keep()
    assert NEVER.left() == float("inf") and Deadline() == NEVER
