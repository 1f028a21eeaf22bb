"""Root bounds in one batch: sound, near the LP's, and clear about what they do not cover."""

from __future__ import annotations

import numpy as np
import pytest

from smilenn.errors import SmileError
from smilenn.problem import build
from smilenn.prove.branch import Branch
from smilenn.prove.screen import screen

from .conftest import box, fair, mixed, robust, safe, snapshot


def batch(claim, domain, n=6, **options):
    first = build(claim, snapshot(domain, np.random.default_rng(0), **options))
    more = (snapshot(domain, np.random.default_rng(seed), **options) for seed in range(1, n))
    return [first, *(build(claim, s, like=first) for s in more)]


CLAIMS = {
    "robust": (robust(["x0", "x1", "x2"], 0.2, 0.1), box(3)),
    "fair": (fair(["x"], 0.1), mixed()),
    "safe": (safe(0.5), box(3)),
}


@pytest.mark.parametrize("name", list(CLAIMS))
def test_bounds_hold_and_come_near_the_root_of_the_tree(name):
    problems = batch(*CLAIMS[name])
    best = np.array([Branch().maximise(p, p.rows[0], time_limit=30).lower for p in problems])
    root = np.array([Branch().search(p, p.rows[0], goal="optimum", most=1).bound for p in problems])
    start, found = screen(problems, steps=1).upper, screen(problems, target=-10.0, steps=300).upper
    assert (found >= best).all() and (found <= start + 1e-12).all()
    assert ((found - root) <= 0.35 * np.maximum(start - root, 1e-6) + 0.02 * np.abs(root)).all(), (found, root, start)


def test_a_target_that_is_reached_is_a_proof():
    problems = batch(*CLAIMS["robust"])
    targets = max(Branch().search(p, p.rows[0], goal="optimum", most=1).bound for p in problems) + 0.3
    found = screen(problems, target=targets, steps=200)
    assert (found.upper <= targets).any()
    for p, upper in zip(problems, found.upper, strict=True):
        assert Branch().maximise(p, p.rows[0], time_limit=30).lower <= upper


def test_what_it_does_not_cover_is_refused():
    assert len(screen([]).upper) == 0
    claim, domain = CLAIMS["robust"]
    with pytest.raises(SmileError, match="on one region"):
        screen([build(claim, snapshot(domain, np.random.default_rng(seed))) for seed in range(2)])
    with pytest.raises(SmileError, match="flip-free"):
        screen(batch(claim, domain, 2, boxes="paper"))
