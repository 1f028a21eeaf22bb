"""Random small networks and claims, straight from numpy: no torch in these tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from smilenn.domain import Domain, Feature
from smilenn.model.snapshot import Snapshot
from smilenn.problem import Problem, build
from smilenn.properties.claim import Claim, row


def snapshot(domain, rng, *, hidden=3, embedding=2, outputs=1, boxes="gap", auxiliaries="relu", shared=False):
    """A snapshot with random weights; `auxiliaries` is constant, affine or relu, `shared` one hidden layer for both."""
    m, n, o = domain.size, embedding, outputs
    h = 0 if auxiliaries != "relu" else (hidden if shared else 2 * hidden)
    weight = rng.normal(size=(h, m))
    centre = (domain.scale(domain.lo) + domain.scale(domain.hi)) / 2
    bias = -weight @ centre + 0.4 * rng.normal(size=h)
    lower, second = rng.normal(size=(n, h)), rng.normal(size=(n, h))
    if h and not shared:
        lower[:, hidden:], second[:, :hidden] = 0.0, 0.0
    slope = rng.normal(size=(2, n, m)) if auxiliaries == "affine" else np.zeros((2, n, m))
    const = rng.normal(size=(2, n))
    if boxes == "gap":
        second = np.abs(second) * 0.3
        low = np.minimum(slope[1] * domain.scale(domain.lo), slope[1] * domain.scale(domain.hi)).sum(axis=1)
        const[1] = -low + 0.1 * np.abs(const[1])
    names = ("",) if o == 1 else tuple(f"y{i}" for i in range(o))
    return Snapshot(
        domain, boxes, weight, bias, const[0], slope[0], lower, const[1], slope[1], second,
        rng.normal(size=(o, n)), rng.normal(size=o), names, np.ones(o),
    )  # fmt: skip


def box(m, lo=0.0, hi=1.0):
    return Domain.box([lo] * m, [hi] * m)


def mixed():
    """One continuous, one scaled integer, one category."""
    return Domain(
        (
            Feature("x", "continuous", -1.0, 1.0),
            Feature("n", "integer", 0, 5, shift=1.0, mult=0.3),
            Feature("r", "category", categories=("a", "b", "c")),
        )
    )


def difference(bound, sign=1, name=""):
    return row([(sign, 0, "out", name), (-sign, 1, "out", name)], bound)


def monotone(names, sign=1):
    """a ≤ b on names, the rest equal ⇒ f(a) − f(b) ≤ 0."""
    return Claim(2, tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 0) for n in names), (difference(0, sign),))


def robust(names, delta, eps):
    when = [row([(s, 0, "in", n), (-s, 1, "in", n)], delta) for n in names for s in (1, -1)]
    return Claim(2, tuple(when), (difference(eps), difference(eps, -1)))


def band(name, low, high, eps=0.1):
    """low ≤ a − b ≤ high on one feature, the rest equal ⇒ f(a) − f(b) ≤ eps."""
    when = (
        row([(1, 0, "in", name), (-1, 1, "in", name)], high),
        row([(-1, 0, "in", name), (1, 1, "in", name)], -low),
    )
    return Claim(2, when, (difference(eps),))


def fair(names, eps):
    """Features in names free, the rest equal ⇒ |f(a) − f(b)| ≤ eps."""
    when = tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 1000) for n in names)
    return Claim(2, when, (difference(eps), difference(eps, -1)))


def safe(limit=0.0):
    return Claim(1, (), (row([(1, 0, "out", "")], limit),))


def convex(name):
    """2 b = a + c on one feature, the rest equal ⇒ 2 f(b) ≤ f(a) + f(c)."""
    return Claim(
        3,
        (row([(1, 0, "in", name), (-2, 1, "in", name), (1, 2, "in", name)], 0, "=="),),
        (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], 0),),
    )


def sample(problem: Problem, rng, n=4000):
    """Random members of the region, [≤ n, k, m]."""
    region = problem.region
    u = region.snap(rng.uniform(region.lo, region.hi, size=(n, *region.lo.shape)))
    return u[region.contains(u)]


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """The builders above."""
    return SimpleNamespace(
        snapshot=snapshot, box=box, mixed=mixed, difference=difference, monotone=monotone, robust=robust, band=band,
        fair=fair, safe=safe, convex=convex, sample=sample, problem=build,
    )  # fmt: skip
