"""Bound propagation over many rows: never below the maximum, the same as the leaf rule row by row, and used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smilenn.problem import build
from smilenn.properties.library import Convex, Fair, Robust
from smilenn.provers import portfolio, screen
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.screen import Screen, screened
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.leaf import Cell, Slopes, rule_bound, shape
from smilenn.search.oracle import Oracle
from smilenn.testing.problems import cube as box
from smilenn.testing.problems import mixed, snapshot
from smilenn.verdict import Proved


def problem(seed, boxes="gap", eps=0.1):
    rng = np.random.default_rng(seed)
    domain, prop = [(mixed(), Fair(["r"], eps)), (box(3), Robust(0.2, eps)), (box(2), Convex(["x0"]))][seed % 3]
    net = snapshot(domain, rng, hidden=3, boxes=boxes)
    return build(prop.lower(domain)[0], net)


def variants(one, rng, many):
    """Rows with other coefficients over the same units and region."""
    r = one.rows[0]
    return [
        replace(r, unit=r.unit * rng.normal(size=r.unit.shape), slope=r.slope + rng.normal(size=r.slope.shape))
        for _ in range(many)
    ]


@given(st.integers(0, 10_000))
def test_never_below_a_point(seed):
    rng = np.random.default_rng(seed)
    one = problem(seed)
    rows = variants(one, rng, 5)
    points = Oracle(one.region).sample(64, rng)
    for bound, r in zip(screened(one, rows), rows, strict=True):
        assert one.value(points, r).max() <= bound


@pytest.mark.parametrize("seed", range(6))
def test_the_batch_is_the_leaf_rule_row_by_row(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    one = problem(seed)
    rows = variants(one, rng, 7)
    together = screened(one, rows)
    region, (k, h) = one.region, rows[0].unit.shape
    made = shape(one, Cell(region.lo, region.hi, np.zeros((k, h), np.int8), np.zeros_like(rows[0].flip, np.int8)))
    for r, bound in zip(rows, together, strict=True):
        t = screen._slopes(r.unit[None], made)[0]
        alone = min(
            rule_bound(one, r, made, Slopes(own, np.zeros_like(r.flip), np.zeros(len(region.rhs)))) for own in t
        )
        assert bound == pytest.approx(alone, abs=1e-9 * (1 + abs(alone))) and bound >= alone
    monkeypatch.setattr(screen, "MOST", 1)  # one row at a time
    assert screened(one, rows) == pytest.approx(together)


@pytest.mark.parametrize("seed", range(6))
def test_no_lower_than_the_optimum_and_flips_are_left_alone(seed):
    one = problem(seed)
    found = BranchAndBound(workers=1).maximise(one, one.rows[0], time_limit=30)
    assert screened(one)[0] >= found.lower
    flipped = problem(seed, "paper")
    if flipped.rows[0].flip.any():
        assert screened(flipped)[0] == np.inf and Screen().refuses(flipped, flipped.rows[0]) is not None


def test_a_verdict_needs_no_tree_for_rows_that_the_screen_proves(monkeypatch):
    one = problem(1)
    wide = replace(one, rows=(replace(one.rows[0], rhs=one.rows[0].rhs + float(screened(one)[0]) + 1e-6),))

    def never(*args, **options):
        raise AssertionError("a tree was grown")

    with monkeypatch.context() as patch:
        patch.setattr(BranchAndBound, "search", never)
        verdict = prove_problem(wide)
        assert isinstance(verdict, Proved) and verdict.method == Screen().title and verdict.bound <= 0
        with pytest.raises(AssertionError, match="a tree was grown"):
            prove_problem(replace(one, rows=(replace(one.rows[0], rhs=wide.rows[0].rhs - 2e-6),)))
    assert portfolio.choose(wide, wide.rows[0]).reason.startswith("LP branch-and-bound")
