"""What an encoder leaves of a premise, in `Fraction`: docs/certificate.md, section 3.1.

    e = box(layer_l(… layer_1(u) …)), branch by branch;   every computed e_1..e_k satisfies the premise returned here

Of every number that the encoder computes a spread is kept: its range in all copies, the range of its difference between
any two of them, and whether it rises (is certainly not smaller in copy 1) or falls (is certainly not larger). A layer
moves by at most E what it computes from given numbers, hence a difference by at most 2E; equal numbers through the same
operations stay equal, and rounding to nearest is non-decreasing. For the reference checker only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.contract import length, rounding, upward
from smilenn.certify.reference.layers import Layer, layer_shapes
from smilenn.certify.reference.model import ETA, ZERO, U, Vector, bounded, lin, scaler
from smilenn.certify.reference.net import Branch, Net
from smilenn.certify.reference.norm import Part, Reach, from_differences, unknown
from smilenn.certify.reference.premise import ExtraRow, Premise
from smilenn.certify.reference.strict import Refused
from smilenn.certify.reference.trees import Question, Tree, value

ONE = Fraction(1)
ANYTHING = Fraction(2**1024)
"""Beyond every float: what a pinned module returns is cut to a box of floats before anything is done with it."""
MOST_BITS = 1 << 13
"""Of a denominator. A layer of an honest encoder adds some hundred, a forged one thousands, which would be slow."""


@dataclass(frozen=True)
class Spread:
    """lo ≤ y ≤ hi in all copies, low ≤ y_1 − y_2 ≤ high; what rises and falls is the same number in all copies.

    low ≤ 0 ≤ high always. For k ≠ 2 the difference is that of any two copies, and rises and falls go together.
    """

    lo: Fraction
    hi: Fraction
    low: Fraction
    high: Fraction
    rises: bool
    falls: bool

    @property
    def size(self) -> Fraction:
        """Y = max(|lo|, |hi|)."""
        return max(abs(self.lo), abs(self.hi))

    @property
    def apart(self) -> Fraction:
        """D, the largest difference."""
        return max(-self.low, self.high)


# low = 0 if y rises, else max(min(low, 0), lo − hi);  high = 0 if y falls, else min(max(high, 0), hi − lo)
def settled(lo: Fraction, hi: Fraction, low: Fraction, high: Fraction, rises: bool, falls: bool) -> Spread:
    """A spread after a step; Refused if it needs too many bits, so that many layers cannot keep a checker busy."""
    low = ZERO if rises else max(min(low, ZERO), lo - hi)
    high = ZERO if falls else min(max(high, ZERO), hi - lo)
    if any(v.denominator.bit_length() > MOST_BITS for v in (lo, hi, low, high)):
        raise Refused(f"The ranges of the encoder's layers need numbers of more than {MOST_BITS} bits.")
    return Spread(lo, hi, low, high, rises, falls)


# u_i = mult_i·(x_i − shift_i): range mult·([lo, hi] − shift) ± e_u over the hull of the copies' bounds, difference
# mult·[δ_lo, δ_hi] ± 2·e_u;  rises if δ_lo ≥ 0, falls if δ_hi ≤ 0 (k = 2, no group), pinned coordinates do both
def inputs(net: Net, premise: Premise) -> list[Spread]:
    """The spreads of the model units u, [m]."""
    d, out = net.domain, []
    grouped = {i for group in d.groups for i in group}
    for i, error in enumerate(scaler(d)[1]):
        mult, shift = d.mult[i], d.shift[i]
        lo = mult * (min(copy[i] for copy in premise.lo) - shift) - error
        hi = mult * (max(copy[i] for copy in premise.hi) - shift) + error
        low, high, rises = lo - hi, hi - lo, premise.pinned[i]
        falls = rises
        if premise.copies == 2:
            low = mult * premise.strip_lo[i] - 2 * error
            high = mult * premise.strip_hi[i] + 2 * error
            if i not in grouped:
                rises, falls = rises or premise.strip_lo[i] >= 0, falls or premise.strip_hi[i] <= 0
        out.append(settled(lo, hi, low, high, rises, falls))
    return out


# S = mult·δ in the ball, R = Σ 2·e_u there and Σ D of what else may differ
def started(net: Net, premise: Premise, columns: Sequence[int], u: Sequence[Spread]) -> Reach:
    """Axes and rest of the model units that a branch reads."""
    if premise.copies != 2:
        return unknown(len(columns))
    errors = scaler(net.domain)[1]
    axes = tuple(net.domain.mult[i] * premise.ball.get(i, ZERO) for i in columns)
    return Reach(axes, sum((2 * errors[i] if i in premise.ball else u[i].apart for i in columns), ZERO))


# ---- layers ---------------------------------------------------------------------------------------------------------

Tensors = Callable[[str], list[Vector]]
"""A layer's tensors by their names, a vector as one row."""


# clip((y_source − start)·rate, 0, 1): range [0, 1], difference rate·[low, high] ± 2E,
# E = ((1 + u)² − 1)·D·rate + 2η(1 + rate + D),  D = max(|lo − start|, |hi − start|)
def _ramp_error(y: Spread, start: Fraction, rate: Fraction) -> Fraction:
    # neither y − start nor the product may overflow: infinity times a rate that is flushed to zero is NaN
    far = bounded(max(abs(y.lo - start), abs(y.hi - start)))
    bounded(far * rate)
    return ((1 + U) ** 2 - 1) * far * rate + 2 * ETA * (1 + rate + far)


def _ramps(layer: Layer, tensors: Tensors, given: Sequence[Spread]) -> list[Spread]:
    out = []
    for place, start, rate in zip(layer.source, tensors("start")[0], tensors("rate")[0], strict=True):
        y = given[place]
        error = _ramp_error(y, start, rate)
        low, high = rate * y.low - 2 * error, rate * y.high + 2 * error
        out.append(settled(ZERO, Fraction(1), low, high, y.rises, y.falls))
    return out


# Σ w_i·y_i + b: the ranges of interval arithmetic, E = LIN(w, b; Y, 0) on both sides of the values, 2E of differences;
# rises if every y with w > 0 rises and every y with w < 0 falls; falls if every y with w > 0 falls and …
def _sum(w: Vector, b: Fraction, given: Sequence[Spread]) -> tuple[Spread, Fraction]:
    """The spread of a sum, and how large its terms may be together."""
    error, reach = lin(w, b, [y.size for y in given], [ZERO] * len(given))
    lo, hi, low, high = b - error, b + error, -2 * error, 2 * error
    rises = falls = True
    for a, y in zip(w, given, strict=True):
        if a > 0:
            lo, hi, low, high = lo + a * y.lo, hi + a * y.hi, low + a * y.low, high + a * y.high
            rises, falls = rises and y.rises, falls and y.falls
        elif a < 0:
            lo, hi, low, high = lo + a * y.hi, hi + a * y.lo, low + a * y.high, high + a * y.low
            rises, falls = rises and y.falls, falls and y.rises
    return settled(lo, hi, low, high, rises, falls), reach


# weight·[y, base] + bias
def _linear(layer: Layer, tensors: Tensors, given: Sequence[Spread]) -> list[Spread]:
    return [_sum(w, b, given)[0] for w, b in zip(tensors("weight"), tensors("bias")[0], strict=True)]


# max(y, 0) in the first c coordinates, min(y, 0) in the others: applied to the ends; differences stay
def _kinks(layer: Layer, tensors: Tensors, given: Sequence[Spread]) -> list[Spread]:
    out = []
    for i, y in enumerate(given):
        bend = max if i < layer.convex else min
        out.append(settled(bend(y.lo, ZERO), bend(y.hi, ZERO), y.low, y.high, y.rises, y.falls))
    return out


# means of the blocks of a side × side image, row by row: sums with weights 1/block² and N = block²
def _pool(layer: Layer, tensors: Tensors, given: Sequence[Spread]) -> list[Spread]:
    out, block = [], layer.block
    side = math.isqrt(layer.inputs)
    for top in range(0, side, block):
        for left in range(0, side, block):
            part = [given[i * side + j] for i in range(top, top + block) for j in range(left, left + block)]
            spread, reach = _sum([Fraction(1, block**2)] * len(part), ZERO, part)
            bounded(block**2 * reach)  # the sum is taken before it is divided
            out.append(spread)
    return out


# max_i |y_i − w_i| + b: range [b − E, F + b + E], F = max|w_i| + max Y_i, E = u·F + η + u·(F + u·F + η + |b|) + η;
# difference ±(D + 2E), D the largest |low| or |high|, by the reverse triangle inequality of the maximum norm, or N
def _distance(layer: Layer, tensors: Tensors, given: Sequence[Spread], norm: Fraction | None) -> list[Spread]:
    size, far = max(y.size for y in given), max(y.apart for y in given)
    far = far if norm is None or far < norm else norm
    same = all(y.rises and y.falls for y in given)
    out = []
    for w, b in zip(tensors("weight"), tensors("bias")[0], strict=True):
        most = max(map(abs, w)) + size
        error = U * most + ETA + U * (most + U * most + ETA + abs(b)) + ETA
        apart = far + 2 * error
        out.append(settled(b - error, most + b + error, -apart, apart, same, same))
    return out


# ((b + v_1) + v_2) + …: the sums of the trees' ranges and differences, widened by E and 2E, E = LIN of T ones;
# what every tree raises rises. A set asks for its largest member, which differs by no more than some member does
def _trees(layer: Layer, tensors: Tensors, given: Sequence[Spread], forest: Sequence[Tree]) -> list[Spread]:
    asked = []
    for part in (*([y] for y in given), *([given[i] for i in places] for places in layer.sets)):
        lo, hi = max(y.lo for y in part), max(y.hi for y in part)
        asked.append(Question(lo, hi, min(y.low for y in part), max(y.high for y in part)))
    out, start = [], 0
    for count, b in zip(layer.trees, tensors("bias")[0], strict=True):
        values = [value(tree, asked) for tree in forest[start : start + count]]
        start += count
        error, _ = lin([ONE] * count, b, [max(abs(v.lo), abs(v.hi)) for v in values], [ZERO] * count)
        lo, hi = b + sum(v.lo for v in values) - error, b + sum(v.hi for v in values) + error
        low, high = sum(v.low for v in values) - 2 * error, sum(v.high for v in values) + 2 * error
        rises, falls = all(v.low >= 0 for v in values), all(v.high <= 0 for v in values)
        out.append(settled(lo, hi, low, high, rises, falls))
    return out


# y − W·(g ∘ max(Wᵀy + b, 0)): range ±M', difference ±N', N' = UP(N) + 2E, or ±2M' where no N is known
def _contract(net: Net, layer: Layer, given: Sequence[Spread], reach: Reach) -> tuple[list[Spread], Reach]:
    before = length([y.size for y in given]) if reach.size is None else reach.size
    error, size = rounding(net.contractions[layer.prefix], len(given), before)
    apart = 2 * size if reach.norm is None else upward(reach.norm) + 2 * error
    same = all(y.rises and y.falls for y in given)
    spread = settled(-size, size, -apart, apart, same, same)
    axis = ZERO if same or reach.rest is None else apart
    after = Reach((axis,) * len(given), None if reach.rest is None else ZERO, size)
    return [spread] * len(given), after


# kinks: S and R stay;  ramps: S·rate, R·max rate + Σ 2E, unless a place is read twice;  others: by their differences
def _reach(layer: Layer, tensors: Tensors, given: Sequence[Spread], y: Sequence[Spread], reach: Reach) -> Reach:
    """Axes and rest after a layer that is not a contraction, which takes `given` to `y`."""
    if reach.rest is None or layer.kind == "pinned":
        return unknown(len(y))
    if layer.kind == "kinks":
        return Reach(reach.axes, reach.rest)
    if layer.kind == "ramps" and len(set(layer.source)) == len(layer.source):
        (start,), (rate,) = tensors("start"), tensors("rate")
        ramps = list(zip(layer.source, start, rate, strict=True))
        added = sum((2 * _ramp_error(given[i], a, s) for i, a, s in ramps), ZERO)
        return Reach(tuple(s * reach.axes[i] for i, _, s in ramps), max(rate) * reach.rest + added)
    return from_differences([s.apart for s in y])


# any function of y: equal if every y is equal in all copies
def _pinned(layer: Layer, tensors: Tensors, given: Sequence[Spread]) -> list[Spread]:
    same = all(y.rises and y.falls for y in given)
    return [settled(-ANYTHING, ANYTHING, -2 * ANYTHING, 2 * ANYTHING, same, same)] * layer.outputs


LAYERS = {
    "ramps": _ramps,
    "linear": _linear,
    "kinks": _kinks,
    "pool": _pool,
    "pinned": _pinned,
}


# y is cut to [lo, hi], which is non-decreasing and 1-Lipschitz: so are its range's ends, and differences stay
def boxed(y: Spread, lo: Fraction, hi: Fraction) -> Spread:
    """The spread after the cut; a range beside the box becomes one point of it."""
    return settled(min(max(y.lo, lo), hi), min(max(y.hi, lo), hi), y.low, y.high, y.rises, y.falls)


def _tensors(net: Net, layer: Layer) -> Tensors:
    return lambda name: net.tensors[layer.prefix + name]


Spend = Callable[[int], None]
"""Takes work off a budget; Refused if there is not so much left."""


# (4·numbers + 256·(coordinates that are read and found))·(1 + ⌊λ/1024⌋), λ the digits of the longest denominator read
def price(numbers: int, found: int, read: Sequence[Spread]) -> int:
    """What a step costs."""
    digits = max(v.denominator.bit_length() for y in read for v in (y.lo, y.hi, y.low, y.high))
    return (4 * numbers + 256 * (len(read) + found)) * (1 + digits // 1024)


# numbers in tensors and places in sets; the units of a contraction are found too
def _layer_price(layer: Layer, read: Sequence[Spread]) -> int:
    numbers = sum(math.prod(shape) for shape in layer_shapes(layer).values()) + sum(map(len, layer.sets))
    return price(numbers, layer.outputs + layer.units, read)


def outputs(net: Net, branch: Branch, u: Sequence[Spread], reach: Reach, spend: Spend) -> tuple[list[Spread], Reach]:
    """The spreads of what a branch with layers computes, before the box; Refused if a number could overflow.

    With them axes and rest, from those of what it reads. Every layer is paid for before it is computed.
    """
    y = [u[i] for i in branch.columns]
    base: list[Spread] = []
    for spread in y:
        bounded(spread.size)
    for layer in branch.layers:
        read = [*y, *base[: layer.base]]
        spend(_layer_price(layer, read))
        y, reach = _after(net, layer, read, reach)
        for spread in y if layer.kind != "pinned" else ():
            bounded(spread.size)
        base = base or y
    spend(price(2 * len(y), len(y), y))  # the box
    return y, reach


def _after(net: Net, layer: Layer, given: list[Spread], reach: Reach) -> tuple[list[Spread], Reach]:
    """One layer."""
    tensors = _tensors(net, layer)
    if layer.kind == "contract":
        return _contract(net, layer, given, reach)
    if layer.kind == "trees":
        y = _trees(layer, tensors, given, net.forests[layer.prefix])
    elif layer.kind == "distance":
        y = _distance(layer, tensors, given, reach.norm)
    else:
        y = LAYERS[layer.kind](layer, tensors, given)
    return y, _reach(layer, tensors, given, y, reach)


# ---- the premise on e -----------------------------------------------------------------------------------------------


def encoded(net: Net, premise: Premise, spend: Spend = lambda _: None) -> Premise:
    """The premise on e that all e_1..e_k computed from inputs of the premise satisfy; itself without an encoder."""
    if not net.encoder:
        return premise
    k, inner, u = premise.copies, net.inner, inputs(net, premise)
    lo: list[Vector] = [[] for _ in range(k)]
    hi: list[Vector] = [[] for _ in range(k)]
    pinned: list[bool] = []
    strip_lo: Vector = []
    strip_hi: Vector = []
    parts: list[Part] = []
    for branch in net.encoder:
        for i in () if branch.layers else branch.columns:
            for c in range(k):
                lo[c].append(premise.lo[c][i])
                hi[c].append(premise.hi[c][i])
            pinned.append(premise.pinned[i])
            strip_lo += premise.strip_lo[i : i + 1]
            strip_hi += premise.strip_hi[i : i + 1]
        computed: list[Spread] = []
        if branch.layers:
            computed, reach = outputs(net, branch, u, started(net, premise, branch.columns, u), spend)
            parts.append(Part(tuple(range(len(pinned), len(pinned) + len(computed))), reach))
        for y in computed:
            at = len(pinned)
            spread = boxed(y, inner.lo[at], inner.hi[at])
            for c in range(k):
                lo[c].append(spread.lo)
                hi[c].append(spread.hi)
            pinned.append(k > 1 and spread.rises and spread.falls)
            strip_lo += [spread.low] if k == 2 else []
            strip_hi += [spread.high] if k == 2 else []
    extra = [
        ExtraRow({(c, net.passed[i]): v for (c, i), v in row.coef.items()}, row.rhs, row.equality, row.slack)
        for row in premise.extra
        if all(i in net.passed for _, i in row.coef)
    ]
    ball = {net.passed[i]: delta for i, delta in premise.ball.items() if i in net.passed}
    return Premise(inner, k, list(inner.whole), lo, hi, pinned, strip_lo, strip_hi, extra, ball, parts)
