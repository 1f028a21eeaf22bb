"""Closed form: exact on affine ψ, patterns for convex ψ, honest about what it cannot do."""

import numpy as np
import pytest

from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.rules.closed_form import ClosedForm


def test_known_answer(make):
    """f(u) = box of a constant width 0.5 around 2·u_0 − u_1: robust with δ = 0.1 means 0.3 + 0.5."""
    rng = np.random.default_rng(0)
    s = make.snapshot(make.box(2), rng, embedding=1, auxiliaries="affine")
    s.lower_slope[:], s.second_slope[:], s.second_const[:], s.head_weight[:] = [2, -1], 0, 0.5, 1
    problem = make.problem(make.robust(["x0", "x1"], 0.1, 0.2), s)
    found = ClosedForm().maximise(problem, problem.rows[0])
    assert found.lower == pytest.approx(0.8 - 0.2, abs=1e-12)
    assert 0 <= found.upper - found.lower < 1e-12


def test_many_patterns_in_chunks(make, monkeypatch):
    """Eight flip units over affine auxiliaries, in one batch or in many: the same number, that of the MIP."""
    rng = np.random.default_rng(1)
    s = make.snapshot(make.box(5), rng, embedding=8, auxiliaries="affine", boxes="paper")
    problem = make.problem(make.robust([f"x{i}" for i in range(5)], 0.3, 0.1), s)
    one = ClosedForm().maximise(problem, problem.rows[0])
    monkeypatch.setattr("smilenn.provers.rules.closed_form.CHUNK", 30)
    two = ClosedForm().maximise(problem, problem.rows[0])
    assert one.nodes == two.nodes >= 16
    assert one.upper == pytest.approx(two.upper, abs=1e-12)
    assert one.upper == pytest.approx(ReducedMip().maximise(problem, problem.rows[0]).upper, abs=1e-6)


def test_refusals_name_the_reason(make):
    rng = np.random.default_rng(2)
    relu = make.snapshot(make.box(2), rng, hidden=3)
    problem = make.problem(make.robust(["x0", "x1"], 0.3, 0.1), relu)
    assert "negative coefficient" in ClosedForm().refuses(problem, problem.rows[0])
    refused = ClosedForm().maximise(problem, problem.rows[0])
    assert refused.upper == np.inf and not refused.complete
    affine = make.snapshot(make.box(2), rng, auxiliaries="affine", boxes="paper", embedding=8)
    problem = make.problem(make.convex("x0"), affine)
    assert "rows" in ClosedForm().refuses(problem, problem.rows[0])
    problem = make.problem(make.robust(["x0", "x1"], 1, 0.1), affine)
    assert "patterns" in ClosedForm(patterns=1).refuses(problem, problem.rows[0])
    timed = ClosedForm().maximise(problem, problem.rows[0], time_limit=-1.0)
    assert timed.complete or timed.upper == np.inf


def test_units_of_pinned_features_cancel(make):
    """A unit that sees only pinned features drops out of a difference: affine in the rest, so closed form applies."""
    rng = np.random.default_rng(3)
    s = make.snapshot(make.box(3), rng, hidden=4, shared=True)
    s.hidden_weight[:, 0] = 0.0
    s.second_out[:] = 0.0
    problem = make.problem(make.fair(["x0"], 0.1), s)
    assert ClosedForm().refuses(problem, problem.rows[0]) is None
    width = float(s.width(np.zeros(3))[0])
    assert ClosedForm().maximise(problem, problem.rows[0]).upper == pytest.approx(width - 0.1, abs=1e-12)
