"""The study of rules about single inputs: projections, attacks, points on edges, and its page."""

from __future__ import annotations

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.experiments import trace
from smilenn.experiments.study import Options
from smilenn.experiments.trace_tasks import OTHERS, POLYTOPES, make


def test_projections_are_nearest_points():
    a, y = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([[2.0, 0.0], [0.0, 0.0], [3.0, -1.0]])
    b = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, np.inf]])
    assert trace.projected(y, a, b) == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0], [2.5, -1.5]]), abs=1e-6)


@pytest.mark.parametrize("name", [*POLYTOPES, *OTHERS])
def test_tasks_are_drawn_from_their_seed(name):
    one, two = make(name, 1, 120), make(name, 1, 120)
    assert one.frame.equals(two.frame) and len(one.frame) == len(one.target) and one.rules
    assert not one.frame.equals(make(name, 2, 120).frame)


def test_an_unknown_task():
    with pytest.raises(SmileError, match="no task 'chess'"):
        make("chess", 0, 10)


def test_a_polytope_is_certified_attacked_and_asked_at_its_edges():
    rows = trace.compute("polytope-2-easy", 0, True, options=Options(quick=True))
    of = {row["model"]: row for row in rows}
    assert set(of) == set(trace.MODELS)
    assert of["ours"]["certified"] and of["ours"]["broken"] == 0 < of["free"]["broken"]
    assert of["ours"]["edge"] == 1000 and of["ours"]["edge_worst"] < 0 < of["ours"]["edge_members"]
    assert of["oracle"]["quality"] > of["ours"]["quality"]
    text = trace.report(rows, Options(quick=True))
    assert "| polytope-2-easy |" in text and "1,000 points on the edges" in text
    met = {aim.what: aim.met for aim in trace.aims(rows)}
    assert met["ours: certified"] and met["ours: attacks that find a rule broken"]
    assert not met["points on the edges that break a rule"]  # too few of them


def test_alternatives_are_attacked_too():
    rows = trace.compute("category", 0, True, options=Options(quick=True))
    assert rows[0]["certified"] and rows[0]["broken"] == 0
