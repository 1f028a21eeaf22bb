"""Sums of products over one denominator: a = (A_1, …, A_n)/d, b = (B_1, …, B_n)/e give Σ a_i·b_i = Σ A_i·B_i / (d·e).

A fraction is reduced once for a sum instead of once for every term. For the reference checker of audits only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul


@dataclass(frozen=True)
class Over:
    """Rationals as whole numbers over one denominator."""

    tops: tuple[int, ...]
    under: int

    def __mul__(self, other: Over) -> Fraction:
        """Σ a_i·b_i."""
        return Fraction(sum(map(mul, self.tops, other.tops)), self.under * other.under)

    def sizes(self) -> Over:
        """|a_i|."""
        return Over(tuple(map(abs, self.tops)), self.under)


def over(values: Iterable[Fraction]) -> Over:
    """With the least common denominator."""
    some = tuple(values)
    under = math.lcm(*(v.denominator for v in some))
    return Over(tuple(v.numerator * (under // v.denominator) for v in some), under)


@dataclass(frozen=True)
class Ranges:
    """Intervals [lo_i, hi_i] over one denominator."""

    lo: tuple[int, ...]
    hi: tuple[int, ...]
    under: int

    def ends(self, w: Over) -> tuple[Fraction, Fraction]:
        """The least and the largest Σ w_i·a_i over a_i in the intervals."""
        low = sum(k * (a if k > 0 else b) for k, a, b in zip(w.tops, self.lo, self.hi, strict=True))
        high = sum(k * (b if k > 0 else a) for k, a, b in zip(w.tops, self.lo, self.hi, strict=True))
        return Fraction(low, w.under * self.under), Fraction(high, w.under * self.under)


def ranges(pairs: Sequence[tuple[Fraction, Fraction]]) -> Ranges:
    """From their ends."""
    both = over(end for pair in pairs for end in pair)
    return Ranges(both.tops[::2], both.tops[1::2], both.under)
