"""Rows of rationals as float64, rounded outward: a set of floats contains the exact one.

Σ a_i·x_i ≤ rhs  ⇒  Σ fl(a_i)·x_i ≤ rhs + Σ |fl(a_i) − a_i|·|x_i|
"""

from __future__ import annotations

import math
from fractions import Fraction

from smilenn.properties.claim import Inequality
from smilenn.rounding import is_float, round_up


def _scale(inequality: Inequality, terms: dict[tuple[int, int], Fraction]) -> Fraction:
    """What a row is multiplied by so that its numbers are whole, over a power of two; 1 where they are floats."""
    numbers = [*terms.values(), inequality.rhs]
    if all(is_float(v) for v in numbers):
        return Fraction(1)
    factor = Fraction(math.lcm(*(v.denominator for v in numbers)))
    largest = max(abs(v * factor) for v in terms.values())
    return factor / 2 ** (largest.numerator.bit_length() - 1)  # a power of two is free: keep the coefficients near 1


def row_floats(
    inequality: Inequality, terms: dict[tuple[int, int], Fraction], magnitude: list[list[Fraction]]
) -> list[tuple[dict[tuple[int, int], float], float, bool, float]]:
    """A row in float64, weaker than or equal to the exact one: [(coefficients, rhs, equality, factor)].

    A row whose numbers are not floats (0.1) is first multiplied by a whole number that makes them floats where there is
    one: ``0.1·x ≤ 1`` becomes ``x ≤ 10``. What rounding remains is paid for on the right: with |x_i| ≤ magnitude_i,
    ``Σ fl(a_i)·x_i ≤ rhs + Σ |fl(a_i) − a_i|·magnitude_i``; an equality then becomes two such rows.
    """
    factor = _scale(inequality, terms)
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
