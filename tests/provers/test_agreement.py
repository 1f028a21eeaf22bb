"""Differential tests: every prover that applies gives the same maximum, and no member of the region lies above it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smilenn.domain import Domain, Feature
from smilenn.properties.claim import Claim, row
from smilenn.provers.mip.paper import PaperMip
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.sweep import Sweep

NEAR = 1e-5  # HiGHS closes the gap to 1e-6, relative for maxima above 1
PROVERS = (ClosedForm(), Sweep(), ReducedMip(), PaperMip())

NETWORK = {
    "seed": st.integers(0, 10**6),
    "hidden": st.integers(1, 4),
    "boxes": st.sampled_from(["gap", "paper"]),
    "auxiliaries": st.sampled_from(["constant", "affine", "relu", "relu"]),
    "shared": st.booleans(),
}


def agree(make, problem, rng, wanted=()):
    """All provers on all rows; returns the maxima."""
    maxima = []
    for one in problem.rows:
        found = {p.name: p.maximise(problem, one) for p in PROVERS if p.refuses(problem, one) is None}
        assert set(wanted) <= set(found)
        sampled = problem.value(make.sample(problem, rng, 1000), one)
        size = NEAR * max(1.0, abs(found["mip"].upper))
        for name, maximum in found.items():
            assert maximum.complete, (name, maximum)
            assert problem.region.contains(maximum.point).all()
            assert maximum.lower == pytest.approx(float(problem.value(maximum.point[None], one)[0]), abs=1e-12)
            assert maximum.lower <= maximum.upper
            assert maximum.upper - maximum.lower <= size, (name, maximum)
            assert abs(maximum.upper - found["mip"].upper) <= size, (name, maximum, found["mip"])
            assert sampled.max(initial=-np.inf) <= maximum.upper + 1e-7, name
        maxima.append(found["mip"].upper)
    return maxima


@settings(max_examples=60)
@given(kind=st.sampled_from(["monotone", "robust", "above", "below", "fair", "safe", "grid", "grid-band"]), **NETWORK)
def test_one_input(make, kind, seed, **shape):
    rng = np.random.default_rng(seed)
    domain = make.box(1, -1, 1)
    if kind.startswith("grid"):
        domain = Domain((Feature("x0", "integer", -3, 4, shift=0.5, mult=0.7),))
    claim = {
        "monotone": make.monotone(["x0"]),
        "robust": make.robust(["x0"], 0.25, 0.1),
        "above": make.band("x0", 0.3, 0.8),
        "below": make.band("x0", -0.9, -0.2),
        "fair": make.fair(["x0"], 0.1),
        "safe": make.safe(),
        "grid": make.monotone(["x0"]),
        "grid-band": make.band("x0", 1, 2),
    }[kind]
    agree(make, make.problem(claim, make.snapshot(domain, rng, **shape)), rng, wanted=["sweep", "mip", "paper-mip"])


@settings(max_examples=40)
@given(kind=st.sampled_from(["monotone", "robust", "ordered-band", "fair", "safe", "row", "convex"]), **NETWORK)
def test_continuous_inputs(make, kind, seed, **shape):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 4))
    domain = make.box(m, -1, 1)
    names = domain.coordinates
    claim = {
        "monotone": make.monotone(names[:1]),
        "robust": make.robust(names, 0.25, 0.1),
        "ordered-band": make.band(names[0], 0.3, 0.7),
        "fair": make.fair(names[1:], 0.2),
        "safe": make.safe(),
        "row": Claim(2, (row([(1, 0, "in", "x0"), (1, 1, "in", "x1")], 0.2),), (make.difference(0.1),)),
        "convex": make.convex("x0"),
    }[kind]
    agree(make, make.problem(claim, make.snapshot(domain, rng, **shape)), rng)


@settings(max_examples=40)
@given(kind=st.sampled_from(["order", "count", "category", "member", "all", "safe", "convex"]), **NETWORK)
def test_mixed_inputs(make, kind, seed, **shape):
    rng = np.random.default_rng(seed)
    free = (row([(1, 0, "in", "r=a"), (-1, 1, "in", "r=a")], 1),)
    claim = {
        "order": make.monotone(["x", "n"]),
        "count": make.band("n", 1, 2),
        "category": Claim(2, free, (make.difference(0),)),
        "member": Claim(2, (row([(1, 0, "in", "r=a")], 0), *free), (make.difference(0),)),
        "all": make.robust(["x", "n"], 1, 0.3),
        "safe": make.safe(),
        "convex": make.convex("x"),
    }[kind]
    agree(make, make.problem(claim, make.snapshot(make.mixed(), rng, **shape)), rng)


@settings(max_examples=15)
@given(**NETWORK)
def test_several_outputs_and_input_terms(make, seed, **shape):
    """f_0(a) − f_1(b) ≤ 0.5·a.x − b.n + 1, and a slope bound, on a network with two outputs."""
    rng = np.random.default_rng(seed)
    then = (
        row([(1, 0, "out", "y0"), (-1, 1, "out", "y1"), (-0.5, 0, "in", "x"), (1, 1, "in", "n")], 1),
        row([(1, 0, "out", "y1"), (-1, 1, "out", "y1"), (-2, 0, "in", "x"), (2, 1, "in", "x")], 0),
    )
    claim = Claim(2, (row([(-1, 0, "in", "x"), (1, 1, "in", "x")], 0),), then)
    problem = make.problem(claim, make.snapshot(make.mixed(), rng, outputs=2, **shape))
    assert len(problem.rows) == 2
    agree(make, problem, rng)


@settings(max_examples=15)
@given(**NETWORK)
def test_symmetric_claims_give_symmetric_answers(make, seed, **shape):
    rng = np.random.default_rng(seed)
    network = make.snapshot(make.box(2), rng, **shape)
    both = make.robust(["x0", "x1"], 0.3, 0.2)
    problem = make.problem(both, network)
    assert len(problem.rows) == 1
    (one,) = agree(make, problem, rng)
    other = make.problem(replace(both, then=both.then[1:]), network)
    (two,) = agree(make, other, rng)
    assert one == pytest.approx(two, abs=NEAR)
    point = ReducedMip().maximise(problem, problem.rows[0]).point
    assert float(other.value(point[None, ::-1], other.rows[0])[0]) == pytest.approx(one, abs=NEAR)


@settings(max_examples=15)
@given(**NETWORK)
def test_the_order_of_units_and_inputs_does_not_matter(make, seed, **shape):
    rng = np.random.default_rng(seed)
    domain = make.box(3, -1, 1)
    network = make.snapshot(domain, rng, **shape)
    claim = make.robust(["x0", "x2"], 0.3, 0.2)
    units, inputs = rng.permutation(len(network.hidden_bias)), rng.permutation(3)
    shuffled = replace(
        network,
        domain=Domain(tuple(domain.features[i] for i in inputs)),
        hidden_weight=network.hidden_weight[units][:, inputs],
        hidden_bias=network.hidden_bias[units],
        lower_slope=network.lower_slope[:, inputs],
        second_slope=network.second_slope[:, inputs],
        lower_out=network.lower_out[:, units],
        second_out=network.second_out[:, units],
    )
    one = agree(make, make.problem(claim, network), rng)
    assert agree(make, make.problem(claim, shuffled), rng) == pytest.approx(one, abs=NEAR)


def test_raw_units_do_not_matter(make):
    """The same function of unscaled inputs in the thousands has the same maximum."""
    rng = np.random.default_rng(3)
    network = make.snapshot(make.box(2), rng, hidden=3)
    wide = Domain(tuple(Feature(f"x{i}", "continuous", 0.0, 5000.0) for i in range(2)))
    scaled = replace(network, domain=wide, hidden_weight=network.hidden_weight / 5000)
    one = agree(make, make.problem(make.robust(["x0", "x1"], 0.1, 0.1), network), rng)
    two = agree(make, make.problem(make.robust(["x0", "x1"], 500, 0.1), scaled), rng)
    assert one == pytest.approx(two, abs=NEAR)
