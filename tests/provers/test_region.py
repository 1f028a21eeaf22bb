"""Snapping gives members; linear maxima are exact; pins and grids hold bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.problem.region import Region
from smilenn.properties.claim import Claim, row
from smilenn.properties.premise import ground


def claims(make):
    difference = make.difference(0.1)
    return {
        "free": make.fair(["x"], 0.1),
        "strip": make.robust(["x", "n"], 1, 0.1),
        "ordered": make.monotone(["x", "n"]),
        "band": make.band("n", 1, 3),
        "below": make.band("x", -0.7, -0.2),
        "category": Claim(2, (row([(1, 0, "in", "r=a")], 0),), (difference,)),
        "convex": make.convex("x"),
        "row": Claim(2, (row([(1, 0, "in", "x"), (1, 1, "in", "x"), (0.2, 1, "in", "n")], 0.3),), (difference,)),
        "one": make.safe(),
    }


@pytest.mark.parametrize("name", ["free", "strip", "ordered", "band", "below", "category", "convex", "row", "one"])
def test_snapped_tuples_are_members(make, name):
    domain = make.mixed()
    region = Region.of(ground(claims(make)[name], domain))
    rng = np.random.default_rng(0)
    u = rng.normal(0, 2, size=(300, region.copies, region.size))
    snapped = region.snap(u)
    assert region.contains(snapped).all()
    assert not region.contains(u).any()
    assert np.abs(region.snap(snapped) - snapped).max() <= 1e-9
    assert region.snap(u[0]).shape == u[0].shape
    assert (snapped[:, 1:, region.pinned] == snapped[:, :1, region.pinned]).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_linear_maximum_is_the_best_member(make, seed):
    rng = np.random.default_rng(seed)
    name = rng.choice(["free", "strip", "ordered", "band", "below", "category", "one"])
    region = Region.of(ground(claims(make)[name], make.mixed()))
    g = rng.normal(size=(8, region.copies, region.size))
    best = region.argmax(g)
    assert region.contains(best).all()
    others = region.snap(rng.normal(0, 2, size=(500, region.copies, region.size)))
    assert (np.einsum("bkm,nkm->bn", g, others).max(axis=1) <= region.maximum(g) + 1e-9).all()


def test_strips_of_unequal_boxes_are_propagated(make):
    """a ≥ b + 0.5 on [0, 1] leaves a ∈ [0.5, 1], b ∈ [0, 0.5]."""
    region = Region.of(ground(make.band("x0", 0.5, 1), make.box(1)))
    assert region.lo[:, 0].tolist() == [0.5, 0.0]
    assert region.hi[:, 0].tolist() == [1.0, 0.5]
