"""A claim made slightly more demanding, so that training ends strictly inside the original.

    rhs → rhs − margin − slack·unit                       where there is room: ε > 0, or a row that is not a difference
    f(x') − f(x'') ≤ 0 → … + σ_i·|u'_i − u''_i| ≤ 0       on ordered pairs of claims tight on the diagonal, with
                                                          σ_i = slack·scale, or slack·K where the row has a slope K
    upper → upper + slack / Σ|G|                          the paper's free upper net, for the same claims

The margin bounds what rounding adds to the left side of the deployed network (`allowance`, in floats and larger than
the checker's exact one): a network that reaches this aim is certified with ε, not with ε plus a margin.
The second form asks a monotone network for slopes of at least σ: the claim itself then holds with room to spare
everywhere but on the diagonal, where it is an equality. The third asks the paper's boxes to be flipped with room to
spare there; without it the last sliver of width never quite goes away.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.prover import allowance


def unit(row: Row) -> float:
    """What violations of a row are measured against: ε, or the output scale where ε = 0."""
    return row.rhs if row.rhs > 0 else row.scale


def demanding(problem: Problem, slack: float) -> Problem:
    """The problem with every row made more demanding by the share `slack`."""
    if slack == 0:
        return problem
    flips = replace(problem.flips, const=problem.flips.const + flip_margin(problem, slack))
    return replace(problem, flips=flips, rows=tuple(_tighten(problem, row, slack) for row in problem.rows))


def flip_margin(problem: Problem, slack: float) -> np.ndarray:
    """How much the paper's upper net is raised for claims that are tight on the diagonal, [n]."""
    s = problem.snapshot
    if s.boxes != "paper" or not problem.tight:
        return np.zeros(s.embedding)
    return np.full(s.embedding, slack / max(float((np.abs(s.head_weight) / s.output_scale[:, None]).sum()), 1e-9))


def _tighten(problem: Problem, row: Row, slack: float) -> Row:
    region = problem.region
    difference = not row.outputs.sum(axis=0).any()
    if not difference or row.rhs > row.input_const:
        return replace(row, rhs=row.rhs - allowance(problem, row) - slack * unit(row))
    if problem.copies != 2 or not problem.premise.diagonal:
        return row  # convex and symmetric claims have no linear form of "strictly"
    sigma = np.zeros((2, region.size))
    moving = ~region.pinned & ~region.grouped
    sign = np.where(region.delta_hi <= 0, -1.0, np.where(region.delta_lo >= 0, 1.0, 0.0)) * moving
    size = slack * np.where(row.inputs[0] != 0, np.abs(row.inputs[0]), row.scale)
    sigma[0], sigma[1] = size * sign, -size * sign
    return replace(row, slope=row.slope + sigma, inputs=row.inputs + sigma)
