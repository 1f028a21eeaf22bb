"""The profile ``dyadic``, exact: docs/certificate.md, section 5.3.

    û = 2⁻ᵍ·round(2ᵍ·fl(fl(x − shift)·mult)),   x̂ = shift + û/mult,   |x̂ − x| ≤ ω

The network rounds its inputs to a grid. Let the terms y_t of a sum Σ w_t·y_t + b be multiples of 2^−γ_t of size at most
Y_t, and p the largest of γ_t + (bits of w_t after the point) and the bits of b after the point. Every product and every
partial sum is a multiple of 2⁻ᵖ, and if

    p ≤ 500   and   (Σ |w_t|·Y_t + |b|)·2ᵖ ≤ 2⁵³

it is no larger than 2⁵³·2⁻ᵖ: a float, in whatever order. So the network returns the real function at x̂. For the
reference checker only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.floats import floor_log2
from smilenn.certify.reference.model import ZERO, Model, Vector, dot, scaler, zero_gap
from smilenn.certify.reference.strict import Refused

MOST_BITS, MOST_SCALE = 500, 400
LARGEST_INPUT = Fraction(2**500)
FLOATS = 2**53


def moves(model: Model) -> Vector:
    """ω per coordinate; Refused unless nothing rounds after the inputs have."""
    net, grid = model.net, model.net.grid
    if not zero_gap(net):
        raise Refused("The profile 'dyadic' needs boxes of zero width.")
    if any(not -MOST_SCALE <= floor_log2(scale) <= MOST_SCALE for scale in net.output_scale):
        raise Refused("The profile 'dyadic' needs output scales from 2^-400 to 2^400.")
    if any(error > Fraction(1, 2 ** (grid + 1)) for error in scaler(net.domain)[1]):
        raise Refused("The scaled inputs may err by more than half a step of the network's grid.")
    # û_lo and û_hi, halves to even: Y = max(|û_lo|, |û_hi|)
    ends = [[Fraction(round(v * 2**grid), 2**grid) for v in side] for side in model.ends]
    size = [max(abs(lo), abs(hi)) for lo, hi in zip(*ends, strict=True)]
    if any(y > LARGEST_INPUT for y in size):
        raise Refused("The scaled inputs are larger than 2^500.")
    _nothing_rounds(model, size)
    # ω = 2⁻ᵍ/2^⌊log2 mult⌋, 0 for whole-valued coordinates with shift = 0 and mult = 1: these lie on the grid
    d = net.domain
    return [
        ZERO if whole and shift == 0 and mult == 1 else Fraction(1, 2**grid) / Fraction(2) ** floor_log2(mult)
        for whole, shift, mult in zip(d.whole, d.shift, d.mult, strict=True)
    ]


def _nothing_rounds(model: Model, size: Vector) -> None:
    """Hidden units over û, lower over û and the units, the head over lower: every sum is one of floats."""
    net = model.net
    get = net.tensors
    bits = [net.grid] * len(size)
    units = [
        _sum(w, b, bits, size) for w, b in zip(get.get("lower.weight", []), get.get("lower.bias", [[]])[0], strict=True)
    ]
    lower = []
    for i, b in enumerate(get["lower.const"][0]):
        terms = list(units)
        w = get["lower.out"][i] if units else []
        if "lower.slope" in get:
            w, terms = get["lower.slope"][i] + w, [*zip(bits, size, strict=True), *units]
        lower.append(_sum(w, b, [p for p, _ in terms], [y for _, y in terms]))
    for w, b in zip(model.head, model.head_bias, strict=True):
        _sum(w, b, [p for p, _ in lower], [y for _, y in lower])


# p = max of γ_t + (bits of w_t) over w_t ≠ 0, and the bits of b;  (Σ|w_t|·Y_t + |b|)·2ᵖ ≤ 2⁵³
def _sum(w: Vector, b: Fraction, bits: Sequence[int], size: Vector) -> tuple[int, Fraction]:
    """Σ w·y + b is a multiple of 2⁻ᵖ and at most so large: p and the size."""
    p = max(_bits(b), *(gamma + _bits(x) for x, gamma in zip(w, bits, strict=True) if x), 0)
    total = dot([abs(x) for x in w], size) + abs(b)
    if p > MOST_BITS or total * 2**p > FLOATS:
        raise Refused("A sum of the network may need more bits than a float has, so it might be rounded.")
    return p, total


def _bits(value: Fraction) -> int:
    """The least e ≥ 0 such that a float is a multiple of 2⁻ᵉ."""
    return value.denominator.bit_length() - 1
