"""Small random problems for provers: networks straight from numpy, and claims of every shape that a premise can have.

one input · several · whole numbers and categories · three copies · zero-width boxes with weights of one sign
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from smilenn.domain import Domain, Feature
from smilenn.model.snapshot import Boxes, Snapshot
from smilenn.problem import Problem, build
from smilenn.properties.claim import Claim, Inequality, row

Auxiliaries = Literal["constant", "affine", "relu"]


def snapshot(
    domain: Domain,
    rng: np.random.Generator,
    *,
    hidden: int = 3,
    embedding: int = 2,
    outputs: int = 1,
    boxes: Boxes = "gap",
    auxiliaries: Auxiliaries = "relu",
    shared: bool = False,
) -> Snapshot:
    """A snapshot with random weights; `shared` has one hidden layer for both auxiliaries."""
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
        domain,
        boxes,
        weight,
        bias,
        const[0],
        slope[0],
        lower,
        const[1],
        slope[1],
        second,
        rng.normal(size=(o, n)),
        rng.normal(size=o),
        names,
        np.ones(o),
    )


def collapsed(network: Snapshot) -> Snapshot:
    """The same with a box of no width, weights and outputs of its units ≥ 0: it rises in every input, and is convex."""
    return replace(
        network,
        hidden_weight=np.abs(network.hidden_weight),
        lower_out=np.abs(network.lower_out),
        lower_slope=np.abs(network.lower_slope),
        second_const=np.zeros_like(network.second_const),
        second_slope=np.zeros_like(network.second_slope),
        second_out=np.zeros_like(network.second_out),
        head_weight=np.abs(network.head_weight),
    )


def cube(m: int, lo: float = 0.0, hi: float = 1.0) -> Domain:
    """m continuous features x0, x1, …"""
    return Domain.box([lo] * m, [hi] * m)


def mixed() -> Domain:
    """One continuous, one scaled integer, one category."""
    return Domain(
        (
            Feature("x", "continuous", -1.0, 1.0),
            Feature("n", "integer", 0, 5, shift=1.0, mult=0.3),
            Feature("r", "category", categories=("a", "b", "c")),
        )
    )


# ---- claims ---------------------------------------------------------------------------------------------------------


def difference(bound: Any, sign: int = 1, name: str = "") -> Inequality:
    """``sign·(f(a) − f(b)) ≤ bound``."""
    return row([(sign, 0, "out", name), (-sign, 1, "out", name)], bound)


def monotone(names: Sequence[str], sign: int = 1) -> Claim:
    """a ≤ b on names, the rest equal ⇒ f(a) − f(b) ≤ 0."""
    return Claim(2, tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 0) for n in names), (difference(0, sign),))


def robust(names: Sequence[str], delta: Any, eps: Any) -> Claim:
    """|a − b| ≤ delta on names, the rest equal ⇒ |f(a) − f(b)| ≤ eps."""
    when = [row([(s, 0, "in", n), (-s, 1, "in", n)], delta) for n in names for s in (1, -1)]
    return Claim(2, tuple(when), (difference(eps), difference(eps, -1)))


def band(name: str, low: float, high: float, eps: Any = 0.1) -> Claim:
    """low ≤ a − b ≤ high on one feature, the rest equal ⇒ f(a) − f(b) ≤ eps."""
    when = (
        row([(1, 0, "in", name), (-1, 1, "in", name)], high),
        row([(-1, 0, "in", name), (1, 1, "in", name)], -low),
    )
    return Claim(2, when, (difference(eps),))


def fair(names: Sequence[str], eps: Any) -> Claim:
    """Features in names free, the rest equal ⇒ |f(a) − f(b)| ≤ eps."""
    when = tuple(row([(1, 0, "in", n), (-1, 1, "in", n)], 1000) for n in names)
    return Claim(2, when, (difference(eps), difference(eps, -1)))


def safe(limit: Any = 0.0) -> Claim:
    """f ≤ limit."""
    return Claim(1, (), (row([(1, 0, "out", "")], limit),))


def convex(name: str) -> Claim:
    """2 b = a + c on one feature, the rest equal ⇒ 2 f(b) ≤ f(a) + f(c)."""
    return Claim(
        3,
        (row([(1, 0, "in", name), (-2, 1, "in", name), (1, 2, "in", name)], 0, "=="),),
        (row([(-1, 0, "out", ""), (2, 1, "out", ""), (-1, 2, "out", "")], 0),),
    )


# ---- problems -------------------------------------------------------------------------------------------------------


def small_problems(seed: int) -> Iterator[Problem]:
    """One problem of every shape: domains, premises, boxes and auxiliaries."""
    rng = np.random.default_rng(seed)
    boxes: Boxes = "gap" if seed % 2 else "paper"
    kinds: tuple[Auxiliaries, ...] = ("relu", "affine", "constant")
    one, two, several = cube(1, -1, 1), cube(2), mixed()
    shapes: list[tuple[Domain, Claim]] = [
        (one, monotone(["x0"])),
        (one, band("x0", 0.3, 0.8)),
        (two, robust(["x0", "x1"], 0.25, 0.1)),
        (two, fair(["x1"], 0.2)),
        (two, safe()),
        (two, Claim(2, (row([(1, 0, "in", "x0"), (1, 1, "in", "x1")], 0.2),), (difference(0.1),))),
        (two, convex("x0")),
        (several, monotone(["x", "n"])),
        (several, Claim(2, (row([(1, 0, "in", "r=a"), (-1, 1, "in", "r=a")], 1),), (difference(0),))),
    ]
    for place, (domain, claim) in enumerate(shapes):
        kind = kinds[(seed + place) % 3] if place % 2 else "relu"
        yield build(claim, snapshot(domain, rng, boxes=boxes, auxiliaries=kind, hidden=2))
    for claim in (convex("x0"), monotone(["x0"])):
        yield build(claim, collapsed(snapshot(two, rng)))


def large_problem(seed: int) -> Problem:
    """A problem that no prover finishes at once."""
    names = [f"x{i}" for i in range(8)]
    network = snapshot(cube(8), np.random.default_rng(seed), hidden=12, embedding=4)
    return build(robust(names, 0.5, 0.1), network)


def with_right_side(problem: Problem, text: str, rhs: float) -> Problem:
    """The problem of one row alone, with another right side."""
    (stated,) = [one for one in problem.claim.rows if one.text() == text]
    return build(replace(problem.claim, then=(replace(stated, rhs=Fraction(rhs)),)), problem.snapshot)


def members(problem: Problem, rng: np.random.Generator, count: int = 4000) -> np.ndarray:
    """Random members of the region, [≤ count, k, m]."""
    region = problem.region
    u = region.snap(rng.uniform(region.lo, region.hi, size=(count, *region.lo.shape)))
    return u[region.contains(u)]
