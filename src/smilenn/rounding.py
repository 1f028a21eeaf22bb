"""Numbers rounded to the safe side: floats around a rational, and bounds as they are printed.

round_down(v) ≤ v ≤ round_up(v)        v ≤ two_digits(v)        bound ≤ shown_bound(bound), but for its last bit
"""

from __future__ import annotations

import math
import sys
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction


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


def is_float(value: Fraction) -> bool:
    """Whether a float64 is exactly this number."""
    return Fraction(round_down(value)) == value


def two_digits(value: Fraction) -> Fraction:
    """The smallest decimal of two significant digits that is ≥ value > 0."""
    return Fraction(_ceiling(2).divide(Decimal(value.numerator), Decimal(value.denominator)))


def shown_bound(bound: float) -> str:
    """A bound with two digits, or with three rounded up: what is printed is never smaller than what was checked."""
    short = f"{bound:.2g}"
    if Fraction(short) >= Fraction(bound) * (1 - Fraction(1, 2**52)):  # `bound` is the float of a number of two digits
        return short
    return f"{_ceiling(3).create_decimal_from_float(bound):g}"


def six_digits(bound: float) -> str:
    """A bound with six digits, none of them too small."""
    short = f"{bound:.6g}"
    return short if Fraction(short) >= Fraction(bound) else f"{_ceiling(6).create_decimal_from_float(bound):g}"


def _ceiling(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_CEILING)
