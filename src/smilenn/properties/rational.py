"""Numbers as people write them, read and printed exactly: 0.1 is one tenth."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from numbers import Rational, Real
from typing import Any

import numpy as np

from smilenn.errors import SmileError

LARGEST = 10**300  # beyond this a number no longer fits a float64 comfortably
SHORT = 40  # characters of a text whose number is remembered


def exact(value: Any) -> Fraction:
    """A number as the user wrote it: 0.1 is one tenth, not the binary double next to it.

    >>> exact(0.1)
    Fraction(1, 10)
    """
    if (
        type(value) in (int, Fraction) and -LARGEST <= value.numerator <= LARGEST
    ):  # most of them, in claims of many rows
        return value if type(value) is Fraction else Fraction(value)
    return _short(value) if type(value) is str and len(value) <= SHORT else _read(value)


def _read(value: Any) -> Fraction:
    """`exact` of any value."""
    if isinstance(value, np.ndarray) and value.ndim == 0:  # a number of numpy in its box
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (Real, str)):
        raise SmileError(f"{value!r} is not a number; give a finite one.")
    if isinstance(value, str) and len(value) > 400:
        raise SmileError("A number longer than 400 characters was given; shorten it.")
    try:
        result = _as_fraction(value)
    except OverflowError:
        raise SmileError(
            f"{_shown(value)} is beyond 1e300, or nearer to 0 than 1e-300; give a number such as 0.1, in other units."
        ) from None
    except (ValueError, ZeroDivisionError):
        raise SmileError(f"{_shown(value)} is not a finite number; give one such as 0.1 or 1/3.") from None
    if abs(result) > LARGEST:
        raise SmileError("A number beyond 1e300 was given; choose other units.")
    return result


@lru_cache(maxsize=1 << 10)
def _short(text: str) -> Fraction:
    """`exact` of a short text, which claims repeat."""
    return _read(text)


def _shown(value: Any) -> str:
    """A number as it was given: one of numpy without its type."""
    return str(value) if isinstance(value, np.generic) and not isinstance(value, str) else repr(value)


def _as_fraction(value: Any) -> Fraction:
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    text = str(value).lower()
    if "e" in text and abs(int(text.split("e")[1])) > 300:
        raise OverflowError(text)  # Fraction('1e3000000') would take seconds and megabytes
    return Fraction(text)


def number(value: Fraction) -> str:
    """A rational as people write it: a decimal where that is exact and short, else p/q.

    >>> number(Fraction(1, 10)), number(Fraction(1, 3)), number(Fraction(-2))
    ('0.1', '1/3', '-2')
    """
    if value.denominator == 1:
        return str(value.numerator)
    twos, fives = (_multiplicity(prime, value.denominator) for prime in (2, 5))
    digits = max(twos, fives)
    if value.denominator != 2**twos * 5**fives or digits > 30:
        return f"{value.numerator}/{value.denominator}"
    scaled = abs(value.numerator) * 10**digits // value.denominator
    text = str(scaled).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def divisor(value: Fraction) -> str:
    """`number` behind a division sign: a fraction stands in brackets, for x / 1/3 would be a third of x.

    >>> divisor(Fraction(1, 10)), divisor(Fraction(1, 3))
    ('0.1', '(1/3)')
    """
    text = number(value)
    return f"({text})" if "/" in text else text


def _multiplicity(prime: int, whole: int) -> int:
    """How often a prime divides a whole number."""
    count = 0
    while whole % prime == 0:
        whole //= prime
        count += 1
    return count
