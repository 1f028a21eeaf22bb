"""IEEE 754 doubles in integers: no operation of the processor's floats takes part.

    (−1)^sign · m · 2^e,   0 ≤ m < 2⁵³,   −1074 ≤ e ≤ 971

A process may flush subnormal numbers to zero, and then reads, compares and prints them as zero. The checker must not
depend on that, so it decodes bits, reads decimal digits, rounds and prints by integer arithmetic. For the reference
checker only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

ZERO = Fraction(0)
DIGITS, LEAST, LARGEST = 53, -1074, Fraction(2) ** 1024
HIDDEN = 1 << 52
NO_NUMBER = 0x7FF
DECIMAL = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?")
# 10^309 is larger than every float, and 10^-325 rounds to zero
MOST_PLACES, LEAST_PLACES = 309, -325


@dataclass(frozen=True, slots=True)
class Double:
    """A finite float by its 64 bits, so that −0 is not 0: what a JSON number with a point or an exponent becomes."""

    bits: int

    @property
    def value(self) -> Fraction:
        """The rational that it is."""
        value = decoded(self.bits)
        assert value is not None  # finite
        return value


# exponent field 0: subnormal, e = −1074 and no hidden digit; 2047: infinite or no number
def decoded(bits: int) -> Fraction | None:
    """The rational with these 64 bits; None if they are infinite or no number."""
    field = bits >> 52 & NO_NUMBER
    if field == NO_NUMBER:
        return None
    m = (bits & HIDDEN - 1) + (HIDDEN if field else 0)
    e = max(field, 1) - 1075
    value = Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)
    return -value if bits >> 63 else value


# 2^l ≤ x < 2^(l+1):  with b the number of binary digits, b(n) − b(d) is l or l + 1
def floor_log2(x: Fraction) -> int:
    """⌊log2 x⌋ of a positive number."""
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    reached = x.numerator << max(-guess, 0) >= x.denominator << max(guess, 0)
    return guess if reached else guess - 1


# m·2^e with e = max(⌊log2 |x|⌋ − 52, −1074), m the whole number nearest to |x|·2^−e, halves to even
def fl(x: Fraction) -> Fraction:
    """The float nearest to x; there is no largest one here, so callers compare with their own limit."""
    if not x:
        return ZERO
    e = max(floor_log2(abs(x)) - DIGITS + 1, LEAST)
    unit = x.denominator << max(e, 0)
    m, rest = divmod(abs(x.numerator) << max(-e, 0), unit)
    if 2 * rest > unit or (2 * rest == unit and m % 2):
        m += 1
    value = Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)
    return -value if x < 0 else value


def double(value: Fraction, negative: bool) -> Double:
    """The float that a non-negative rational is, with a sign."""
    if not value:
        return Double(negative << 63)
    e = max(floor_log2(value) - DIGITS + 1, LEAST)
    m = int(value / Fraction(2) ** e)
    field = e - LEAST + 1 if m >= HIDDEN else 0
    return Double(negative << 63 | field << 52 | m % HIDDEN)


# digits·10^places; of an exponent only its size is looked at before a power of ten is computed
def parsed(text: str) -> Double:
    """The float nearest to a JSON number; ValueError if it is not a number, or too large for a float."""
    match = DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("a number is malformed")
    sign, whole, rest, exponent = match.groups(default="")
    digits = (whole + rest).lstrip("0")
    places = int(exponent or "0") - len(rest)
    if not digits or len(digits) + places < LEAST_PLACES:
        return double(ZERO, bool(sign))
    if len(digits) + places <= MOST_PLACES:
        value = fl(int(digits) * Fraction(10) ** places)
        if value < LARGEST:
            return double(value, bool(sign))
    raise ValueError("a number is beyond the range of floats")


# the fewest digits that are nearest to no other float, and of these the nearest to it, halves to even
def shortest(number: Double) -> str:
    """A float as Python writes it."""
    value, sign = abs(number.value), "-" if number.bits >> 63 else ""
    if not value:
        return f"{sign}0.0"
    top = _floor_log10(value)
    for length in range(1, 18):
        unit = Fraction(10) ** (top - length + 1)
        below = value // unit
        good = [n for n in (below, below + 1) if fl(n * unit) == value]
        if good:
            break
    else:
        raise AssertionError("17 digits name every float")
    digits = str(min(good, key=lambda n: (abs(n * unit - value), n % 2)))
    point = top + 1 + len(digits) - length  # the number is 0.digits · 10^point
    digits = digits.rstrip("0")
    if -4 < point <= 16:
        whole, rest = digits[: max(point, 0)].ljust(point, "0"), digits[max(point, 0) :]
        return f"{sign}{whole or '0'}.{'0' * -point}{rest or '0'}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+03d}"


def _floor_log10(x: Fraction) -> int:
    """⌊log10 x⌋ of a positive float: 1233/4096 is just above log10 2, so the guess is off by one at most."""
    guess = floor_log2(x) * 1233 >> 12
    while Fraction(10) ** (guess + 1) <= x:
        guess += 1
    while Fraction(10) ** guess > x:
        guess -= 1
    return guess
