"""Bounds against the exact optimum: tiny networks with badly scaled weights, maximised by brute force in fractions.

The maximum of a piecewise linear function over a polytope lies at a vertex of the arrangement of the polytope's faces
and the function's kinks: all intersections of as many planes as there are variables, tried one by one.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from smilenn.domain import Domain
from smilenn.model.snapshot import Snapshot
from smilenn.problem import build
from smilenn.properties.claim import Claim, row
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.verdict import Proved


def wild(rng, *shape):
    """Numbers whose sizes differ by up to ten orders of magnitude."""
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-5, 5, size=shape)


def network(domain, rng, hidden):
    """Flip-free auxiliaries with `hidden` units each; kinks are placed within the box."""
    m, h, n = domain.size, 2 * hidden, 1
    weight = wild(rng, h, m)
    bias = -(weight * rng.uniform(domain.lo, domain.hi, size=(h, m))).sum(axis=1)
    lower, second = wild(rng, n, h), np.abs(wild(rng, n, h))
    lower[:, hidden:], second[:, :hidden] = 0.0, 0.0
    flat = np.zeros((n, m))
    return Snapshot(
        domain,
        "gap",
        weight,
        bias,
        wild(rng, n),
        flat,
        lower,
        np.abs(wild(rng, n)),
        flat,
        second,
        rng.choice([-1.0, 1.0], size=(1, n)),
        np.zeros(1),
        ("",),
        np.ones(1),
    )


def cases(seed):
    """One input tuple of two coordinates; or two that share a coordinate and differ in the other, freely or by ≤ δ."""
    rng = np.random.default_rng(seed)
    domain = Domain.box([-1.0, 0.0], [1.0, 1.0])
    if seed % 3 == 0:
        return build(Claim(1, (), (row([(1, 0, "out", "")], 0),)), network(domain, rng, 2))
    when = ()
    if seed % 3 == 1:
        when = tuple(row([(s, 0, "in", "x1"), (-s, 1, "in", "x1")], Fraction(1, 8)) for s in (1, -1))
    claim = Claim(2, when, (row([(1, 0, "out", ""), (-1, 1, "out", "")], 0),), free=() if when else ("x1",))
    return build(claim, network(domain, rng, 1))


def exact(problem):
    """max Σ_c ψ_c of the first row, from the snapshot's numbers as they are."""
    s, region, k, m = problem.snapshot, problem.region, problem.copies, problem.region.size
    coefs = [Fraction(0)] * k
    for term in problem.claim.rows[0].terms:
        coefs[term.copy] += term.coef
    place = {(c, i): (0 if region.pinned[i] else c, i) for c in range(k) for i in range(m)}
    names = sorted(set(place.values()))
    d = len(names)
    F = np.vectorize(Fraction, otypes=[object])
    weight, bias, lower, second = F(s.hidden_weight), F(s.hidden_bias), F(s.lower_out[0]), F(s.second_out[0])
    head, c_lower, c_second = Fraction(s.head_weight[0, 0]), Fraction(s.lower_const[0]), Fraction(s.second_const[0])

    def form(c, w, b):  # w·x_c + b as a row over the variables
        out = [Fraction(0)] * d
        for i in range(m):
            out[names.index(place[c, i])] += w[i]
        return [*out, Fraction(b)]

    units = [(c, j, form(c, weight[j], bias[j])) for c in range(k) for j in range(len(bias))]
    planes = [f for _, _, f in units]
    sides = []  # functions that must be ≥ 0
    for c, i in names:
        for sign, bound in ((1, region.lo[c, i]), (-1, region.hi[c, i])):
            one = [Fraction(0)] * m
            one[i] = Fraction(sign)
            sides.append(form(c, one, -sign * Fraction(float(bound))))
    for i in np.flatnonzero(region.strips):
        for sign, bound in ((1, region.delta_lo[i]), (-1, region.delta_hi[i])):
            plane = [Fraction(0)] * (d + 1)
            plane[names.index((0, i))], plane[names.index((1, i))] = Fraction(sign), Fraction(-sign)
            plane[d] = -sign * Fraction(float(bound))
            sides.append(plane)
    planes += sides

    def at(plane, z):
        return sum((a * b for a, b in zip(plane, z, strict=False)), plane[d])

    best = None
    for chosen in combinations(planes, d):
        z = _solved(chosen, d)
        if z is None or any(at(side, z) < 0 for side in sides):
            continue
        value = Fraction(0)
        for c in range(k):
            v = coefs[c] * head
            value += v * c_lower + max(v, Fraction(0)) * c_second
        for c, j, plane in units:
            v = coefs[c] * head
            value += (v * lower[j] + max(v, Fraction(0)) * second[j]) * max(at(plane, z), Fraction(0))
        best = value if best is None else max(best, value)
    assert best is not None
    return best - problem.claim.rows[0].rhs


def _solved(planes, d):
    """The common point of d planes, None where there is none or more than one."""
    a = [[*plane[:d], -plane[d]] for plane in planes]
    for col in range(d):
        pivot = next((r for r in range(col, d) if a[r][col] != 0), None)
        if pivot is None:
            return None
        a[col], a[pivot] = a[pivot], a[col]
        for r in range(d):
            if r != col and a[r][col] != 0:
                factor = a[r][col] / a[col][col]
                a[r] = [x - factor * y for x, y in zip(a[r], a[col], strict=True)]
    return [a[r][d] / a[r][r] for r in range(d)]


def examine(seeds):
    proved = 0
    for seed in seeds:
        problem = cases(seed)
        one, top = problem.rows[0], exact(problem)
        found = BranchAndBound().maximise(problem, one, time_limit=5.0)
        assert Fraction(found.upper) >= top, (seed, found.upper, float(top))
        assert Fraction(found.lower) <= top + Fraction(found.upper - found.lower), seed
        # the claim with a right side a little below and a little above the optimum
        for share in (-1e-3, 1e-3):
            claim = problem.claim
            rhs = Fraction(float(top) + share * abs(float(top)))
            shifted = build(
                Claim(
                    claim.copies,
                    claim.when,
                    (row([(t.coef, t.copy, t.kind, t.name) for t in claim.rows[0].terms], rhs),),
                    claim.others,
                    claim.equal,
                    claim.free,
                ),
                problem.snapshot,
            )
            verdict = prove_problem(shifted, time_limit=5.0)
            if isinstance(verdict, Proved):
                proved += 1
                assert top - rhs <= Fraction(verdict.tolerance), (seed, share, verdict.sentence(), float(top - rhs))
    return proved


def test_no_bound_is_below_the_exact_optimum():
    assert examine(range(30)) > 10


@pytest.mark.slow
def test_no_bound_is_below_the_exact_optimum_of_ten_thousand_networks():
    assert examine(range(60, 10_060)) > 5_000
