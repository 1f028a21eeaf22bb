"""How long the numbers of a claim are: docs/certificate.md, section 6.

    ξ = digits of the common denominator of bounds, strips, shift, û_lo, û_hi and ω
    σ = digits of the common denominator of the claim + 2·e(tensors outside the encoder) + e(mult),
        all tensors are multiples of 2^−e(tensors)

A product takes as long as both its factors are, so a row counts (1 + ⌊ξ/2048⌋)·(1 + ⌊σ/512⌋) times.
For the reference checker only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from smilenn.certify.reference.model import Model, Vector
from smilenn.certify.reference.premise import Premise
from smilenn.certify.reference.strict import Refused

COORDINATE_DIGITS, SLOPE_DIGITS = 2048, 512
MOST_DIGITS = 1 << 17
"""Of a common denominator of bounds, strips and domain: a longer one is refused, before it takes long to compute."""


@dataclass(frozen=True)
class Lengths:
    """What the claims of a network share: a common denominator of its coordinates, and the digits of its weights."""

    coordinates: int
    weights: int


def lengths(model: Model, omega: Vector | None) -> Lengths:
    """Of shift, û_lo, û_hi and ω; and twice the digits after the point of tensors, plus those of mult."""
    inner, tensors = model.net.inner, model.net.tensors
    own = (row for name in tensors if not name.startswith("encoder.") for row in tensors[name])
    digits = 2 * _after_the_point(v for row in own for v in row) + _after_the_point(inner.mult)
    return Lengths(_common(1, (*inner.shift, *model.ends[0], *model.ends[1], *(omega or ()))), digits)


def factor(shared: Lengths, premise: Premise, claim: int) -> int:
    """How often a row counts; `claim` is the common denominator of the claim, of a case with its weights."""
    bounds = [v for side in (*premise.lo, *premise.hi, premise.strip_lo, premise.strip_hi) for v in side]
    common = _common(shared.coordinates, bounds)
    slopes = claim.bit_length() + shared.weights
    return (1 + common.bit_length() // COORDINATE_DIGITS) * (1 + slopes // SLOPE_DIGITS)


def _after_the_point(values: Iterable[Fraction]) -> int:
    """The least e ≥ 0 such that all these floats are multiples of 2^−e."""
    return max(v.denominator.bit_length() - 1 for v in values)


def _common(start: int, values: Iterable[Fraction]) -> int:
    """The least common multiple of a number and all denominators."""
    out = start
    for denominator in {v.denominator for v in values}:
        out = math.lcm(out, denominator)
        if out.bit_length() > MOST_DIGITS:
            raise Refused(f"The bounds of a claim need a common denominator of more than {MOST_DIGITS} bits.")
    return out
