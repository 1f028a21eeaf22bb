"""Random small networks as float64 snapshots; claims come from the property library."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, build
from smilenn.properties import Property
from smilenn.properties.claim import Claim


def snapshot(domain: Domain, rng, *, hidden=3, embedding=2, outputs=1, boxes="gap", auxiliaries="relu") -> Snapshot:
    """Lower and second with `hidden` units each, pre-activations centred on the domain."""
    m, n, h = domain.size, embedding, 2 * hidden if auxiliaries == "relu" else 0
    weight = 2.0 * rng.normal(size=(h, m)) / np.sqrt(m)
    bias = -weight @ domain.scale((domain.lo + domain.hi) / 2) + 0.5 * rng.normal(size=h)
    lower, second = rng.normal(size=(n, h)), rng.normal(size=(n, h))
    lower[:, hidden:], second[:, :hidden] = 0.0, 0.0
    slope = 0.5 * rng.normal(size=(2, n, m)) / np.sqrt(m)
    if auxiliaries == "constant":
        slope[:] = 0.0
    if boxes == "gap":
        second, slope[1] = 0.3 * np.abs(second), 0.0
    names = ("",) if outputs == 1 else tuple(f"y{i}" for i in range(outputs))
    return Snapshot(
        domain,
        boxes,
        weight,
        bias,
        0.1 * rng.normal(size=n),
        slope[0],
        lower,
        0.1 * np.abs(rng.normal(size=n)),
        slope[1],
        second,
        rng.normal(size=(outputs, n)),
        rng.normal(size=outputs),
        names,
        np.ones(outputs),
    )


def problem(what: Property | Claim, domain: Domain, seed: int = 0, **shape) -> Problem:
    """A property or claim on a random network."""
    s = snapshot(domain, np.random.default_rng(seed), **shape)
    return build(what if isinstance(what, Claim) else what.lower(domain, s.outputs)[0], s)


def box(m: int) -> Domain:
    return Domain.box([0.0] * m, [1.0] * m)


def mixed() -> Domain:
    """Two continuous features, a scaled integer, a yes/no and a category."""
    return Domain(
        (
            Feature("x", "continuous", -1.0, 1.0),
            Feature("r", "category", categories=("a", "b", "c")),
            Feature("n", "integer", 0, 5, shift=1.0, mult=0.3),
            Feature("y", "continuous", 10.0, 30.0, shift=10.0, mult=0.05),
            Feature("yes", "binary"),
        )
    )


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The builders above."""
    return SimpleNamespace(snapshot=snapshot, problem=problem, box=box, mixed=mixed)
