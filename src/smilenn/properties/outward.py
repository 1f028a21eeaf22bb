"""Rationals as float64, rounded outward: a set of floats contains the exact one.

round_down(v) ≤ v ≤ round_up(v)        Σ a_i·x_i ≤ rhs  ⇒  Σ fl(a_i)·x_i ≤ rhs + Σ |fl(a_i) − a_i|·|x_i|
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from smilenn.properties.claim import Inequality


def row_floats(
    inequality: Inequality, terms: dict[tuple[int, int], Fraction], magnitude: list[list[Fraction]]
) -> list[tuple[dict[tuple[int, int], float], float, bool, float]]:
    """A row in float64, weaker than or equal to the exact one: [(coefficients, rhs, equality, factor)].

    A row whose numbers are no floats (0.1) is first multiplied by a whole number that makes them floats where there is
    one: ``0.1·x ≤ 1`` becomes ``x ≤ 10``. What rounding remains is paid for on the right: with |x_i| ≤ magnitude_i,
    ``Σ fl(a_i)·x_i ≤ rhs + Σ |fl(a_i) − a_i|·magnitude_i``; an equality then becomes two such rows.
    """
    numbers = [*terms.values(), inequality.rhs]
    factor = Fraction(1)
    if not all(is_float(v) for v in numbers):
        factor = Fraction(math.lcm(*(v.denominator for v in numbers)))
        largest = max(abs(v * factor) for v in terms.values())
        factor /= 2 ** (largest.numerator.bit_length() - 1)  # a power of two is free: keep the coefficients near 1
    values = {key: a * factor for key, a in terms.items()}
    rhs = inequality.rhs * factor
    rounded = {key: float(a) for key, a in values.items()}
    slack = Fraction(0)
    for (c, i), a in values.items():
        slack += abs(Fraction(rounded[c, i]) - a) * magnitude[c][i]
    if inequality.op == "==":
        if slack == 0 and is_float(rhs):
            return [(rounded, float(rhs), True, float(factor))]
        return [
            (rounded, round_up(rhs + slack), False, float(factor)),
            ({key: -a for key, a in rounded.items()}, round_up(slack - rhs), False, -float(factor)),
        ]
    return [(rounded, round_up(rhs + slack), False, float(factor))]


def is_float(value: Fraction) -> bool:
    """Whether a float64 is exactly this number."""
    return Fraction(round_down(value)) == value


def round_down(value: Fraction) -> float:
    """The largest float64 ≤ value."""
    try:
        near = float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -math.inf
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def round_up(value: Fraction) -> float:
    """The smallest float64 ≥ value."""
    return 0.0 - round_down(-value)  # not −x: that would make a negative zero
