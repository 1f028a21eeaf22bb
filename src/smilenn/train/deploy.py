"""The numeric profile of a trained network: how it must be evaluated so that ε = 0 means ε = 0, bit for bit.

A claim that is tight on the diagonal (ε = 0) leaves no room for rounding. If its network is monotone by the signs of
its weights, summing in one order is enough (profile ``fixed-order``, weights untouched). Otherwise the weights are
rounded to short dyadic numbers so that nothing rounds later (profile ``dyadic``). The box has no width, f = g∘lower, so
the head is multiplied out first, V ← G·V and so on; unit j is brought to max_i |w_ji| ∈ [½, 1) by a power of two, which
relu lets pass; and with R the largest Σ|A|·|u| + Σ|V|·|s| + |c| of an output,

    û ∈ 2^-g·ℤ    W ∈ 2^-a1·ℤ    V ∈ 2^-a2·ℤ    A ∈ 2^-(a1+a2)·ℤ    b ∈ 2^-(g+a1)·ℤ    c ∈ 2^-(g+a1+a2)·ℤ

with g + a1 + a2 = 51 − ⌈log2 R⌉ shared out evenly: fifteen bits or so each. Rounded weights may tilt a slope that was
nearly flat to the wrong side; then every ordered input gets a small slope of its own in the right direction. Whatever
cannot be proved again on the rounded network is undone, and the claim is certified up to a margin instead.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from smilenn.problem import Problem, Row, build_all
from smilenn.properties.claim import Claim
from smilenn.provers.portfolio import prove_problem
from smilenn.provers.rules.order import ordered
from smilenn.provers.rules.slopes import SlopeRule, slope_tree
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.verdict import Proved

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet

LEAST_BITS = 8  # for inputs, first and second weights each: below this, rounding would be seen in the predictions
NOISE = 1e-9  # a prover's rounding; what is left of it in exact arithmetic the checker will say
LIFTS = (0.0, 1.0, 4.0, 16.0)  # slopes given to ordered inputs, in multiples of what rounding may take away


def deploy(net: SmileNet, claims: Sequence[Claim], *, time_limit: float = 30.0) -> str:
    """Choose the profile of `net`, in place, within `time_limit` seconds; a sentence says what was chosen and why."""
    net.set_profile("f64-aux")
    problems = build_all(claims, net.snapshot())
    tight = [(problem, row) for problem in problems for row in problem.rows if is_tight(problem, row)]
    if not tight:
        return "No claim is tight on the diagonal: float64 in any order, with a margin for rounding."
    if all(ordered(problem, row) for problem, row in tight):
        net.set_profile("fixed-order")
        return "Monotone by the signs of its weights: float64 in a fixed order, exact without a margin."
    if not net.collapsed or net.encoder is not None or any(row.inputs.any() for _, row in tight):
        return "Claims with ε = 0 hold up to the rounding of float64."
    begun, before = perf_counter(), copy.deepcopy(net.state_dict())
    slope = net.lower.skip, net.skip
    for lift in LIFTS:
        rounded = round_weights(net, before, tight, lift)
        if rounded is None or perf_counter() - begun > time_limit:
            break
        rounded.write(net)
        if _holds(build_all(claims, net.snapshot()), time_limit - (perf_counter() - begun)):
            return f"Weights and inputs were rounded to {rounded.grid} bits, so that nothing rounds later."
    net.set_profile("f64-aux")
    net.lower.set_skip(slope[0])
    net.skip = slope[1]
    net.load_state_dict(before)
    return "Claims with ε = 0 hold up to the rounding of float64: rounded weights could not be proved again."


def is_tight(problem: Problem, row: Row) -> bool:
    """A difference of two copies whose premise holds where they are equal, with a right side of zero."""
    difference = not row.outputs.sum(axis=0).any() and not row.inputs.sum(axis=0).any()
    return problem.copies == 2 and problem.premise.diagonal and difference and row.rhs <= row.input_const


def _holds(problems: Sequence[Problem], time_limit: float) -> bool:
    """Whether every row can be proved: tight ones by slopes, or at the root; others as usual."""
    until = perf_counter() + time_limit
    for problem in problems:
        tight = [row for row in problem.rows if is_tight(problem, row)]
        if not all(_tight_holds(problem, row, until - perf_counter()) for row in tight):
            return False
        loose = tuple(row for row in problem.rows if not is_tight(problem, row))
        if loose and not isinstance(
            prove_problem(replace(problem, rows=loose), time_limit=max(0.1, until - perf_counter())), Proved
        ):
            return False
    return True


def _tight_holds(problem: Problem, row: Row, seconds: float) -> bool:
    if seconds <= 0:
        return False
    if SlopeRule().refuses(problem, row) is None:
        return slope_tree(problem, row, time_limit=seconds).complete
    return BranchAndBound().search(problem, row, time_limit=seconds, most=1).bound <= NOISE * row.scale


@dataclass(frozen=True, eq=False)
class Rounded:
    """Dyadic weights with the head multiplied out: W [h, m], b [h], V [o, h], A [o, m], c [o], and g."""

    weight: np.ndarray
    bias: np.ndarray
    out: np.ndarray
    slope: np.ndarray
    const: np.ndarray
    grid: int

    def write(self, net: SmileNet) -> None:
        """Into the network: the first o coordinates of the embedding become the outputs, in units of output_scale."""
        import torch

        o = len(self.const)

        def padded(values: np.ndarray) -> torch.Tensor:
            full = np.zeros((net.embedding, *values.shape[1:]))
            full[:o] = values
            return torch.tensor(full)

        net.lower.set_skip(True)
        net.skip = net.skip or net.lower.kind != "affine"  # which have a slope anyway
        with torch.no_grad():
            net.lower.const.copy_(padded(self.const))
            net.lower.slope.copy_(padded(self.slope))
            if net.lower.hidden:
                net.lower.weight.copy_(torch.tensor(self.weight))
                net.lower.bias.copy_(torch.tensor(self.bias))
                net.lower.out.copy_(padded(self.out))
            net.head_weight.copy_(torch.eye(o, net.embedding, dtype=torch.float64))
            net.head_bias.zero_()
        net.set_profile("dyadic", self.grid)


def round_weights(net: SmileNet, weights: dict, tight: Sequence[tuple[Problem, Row]], lift: float) -> Rounded | None:
    """The network's `weights` (its state before) in few bits, ordered inputs lifted; None where bits do not suffice."""

    def array(name: str, *shape: int) -> np.ndarray:
        return weights[name].cpu().numpy() if name in weights else np.zeros(shape)

    n, m, h, o = net.embedding, net.domain.size, net.lower.hidden, len(net.outputs)
    if o > n:
        return None
    head = array("head_weight")
    weight, bias = array("lower.weight", 0, m), array("lower.bias", 0)
    out = head @ array("lower.out", n, h)
    slope, const = head @ array("lower.slope", n, m), head @ array("lower.const") + array("head_bias")
    exponent = np.frexp(np.abs(weight).max(axis=1, initial=0.0))[1]
    weight, bias, out = np.ldexp(weight, -exponent[:, None]), np.ldexp(bias, -exponent), np.ldexp(out, exponent)
    reach = np.maximum(np.abs(net.u_lo.cpu().numpy()), np.abs(net.u_hi.cpu().numpy())) + 2.0**-LEAST_BITS
    size = np.abs(slope) @ reach + np.abs(out) @ (np.abs(weight) @ reach + np.abs(bias)) + np.abs(const)
    size = size * np.maximum(net.output_scale.cpu().numpy(), 1.0)  # the checker's head is in output units
    bits = 51 - math.ceil(math.log2(max(float(size.max()), 2.0**-20)))  # one to spare for lifts and rounding up
    g, a1 = bits // 3, (bits - bits // 3) // 2
    a2 = bits - g - a1
    if g < LEAST_BITS:
        return None

    def grid(values: np.ndarray, places: int) -> np.ndarray:
        return np.ldexp(np.rint(np.ldexp(values, places)), -places)

    lost = 2.0 ** -(a1 + 1) * np.abs(out).sum(axis=1)[:, None] + 2.0 ** -(a2 + 1) * np.abs(weight).sum(axis=0)
    slope = slope + lift * lost * _directions(tight, o, m)
    return Rounded(
        grid(weight, a1), grid(bias, g + a1), grid(out, a2), grid(slope, a1 + a2), grid(const, bits), min(g, 52)
    )


def _directions(tight: Sequence[tuple[Problem, Row]], o: int, m: int) -> np.ndarray:
    """+1 where an output should rise with an input, −1 where it should fall, 0 where none or both are asked; [o, m]."""
    wanted: np.ndarray = np.zeros((2, o, m), dtype=bool)
    for problem, row in tight:
        region = problem.region
        moving = ~region.pinned & ~region.grouped
        sigma = np.where(region.delta_hi <= 0, -1, np.where(region.delta_lo >= 0, 1, 0)) * moving
        sign = -np.sign(row.outputs[0])[:, None] * sigma
        wanted[0] |= sign > 0
        wanted[1] |= sign < 0
    return wanted[0].astype(float) - wanted[1]
