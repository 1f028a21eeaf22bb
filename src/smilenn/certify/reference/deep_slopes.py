"""The slopes that a checker chooses by itself: docs/audit-certificate.md, section 5. For the reference checker only.

Coefficients κ and slopes t are whole multiples of 1/GRID here, bounds of an octagon whole multiples of its unit: the
quotients of bounds are those of the page, and so is what is compared, up to a common factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.deep_octagon import GRID, ZERO, Octagon, Slope, left


def whole(k: Fraction) -> int:
    """A multiple of 1/GRID as a whole number."""
    out, more = divmod(GRID, k.denominator)
    if more:
        raise ArithmeticError(f"{k} is not on the grid.")
    return k.numerator * out


def own(r: Octagon, k: Slope) -> tuple[Slope, Fraction]:
    """Own slopes of a unit, and what they leave."""
    on = r.settled()
    if on is not None:  # then the unit is linear
        return ((k[0] if on[0] else ZERO), (k[1] if on[1] else ZERO)), ZERO
    if k == (0, 0):
        return (ZERO, ZERO), ZERO
    k1, k2, sides = whole(k[0]), whole(k[1]), r.sides.tops
    m1, m2 = middle(sides)

    def judged(t: tuple[int, int]) -> tuple[int, int]:
        """Four times the bound in the octagon's middle; what is left."""
        over = left(r.points, k1, k2, *t)
        return 4 * over + t[0] * m1 + t[1] * m2, over

    judgements = [(judged(t), t) for t in candidates(sides, k1, k2)]
    (_, over), t = min(judgements, key=lambda one: one[0][0])  # the first of equals
    return (Fraction(t[0], GRID), Fraction(t[1], GRID)), Fraction(over, GRID * r.sides.under)


def candidates(sides: Sequence[int], k1: int, k2: int) -> list[tuple[int, int]]:
    """Each copy by itself; one copy and the difference, either way."""
    lo1, hi1, lo2, hi2, low, high = sides
    on = lo1 >= 0 and lo2 >= 0
    e, f = moved(on, k2, -high, -low), moved(on, k1, low, high)
    return [
        (alone(k1, lo1, hi1), alone(k2, lo2, hi2)),
        (alone(k1 + k2, lo1, hi1) - e, e),
        (f, alone(k1 + k2, lo2, hi2) - f),
    ]


def middle(sides: Sequence[int]) -> tuple[int, int]:
    """m_1 and m_2: four times the middle of an octagon."""
    lo1, hi1, lo2, hi2, low, high = sides
    apart = lo1 + hi1 - lo2 - hi2
    shift = min(max(apart, 2 * low), 2 * high) - apart
    return 2 * (lo1 + hi1) + shift, 2 * (lo2 + hi2) - shift


def one_copy(r: Octagon, k: Slope) -> tuple[Slope, Fraction]:
    """Own slopes where one coefficient is zero, of two networks; and what they leave between the other's bounds."""
    first = k[0] != 0
    own_k, (lo, hi) = (whole(k[0]), r.sides.tops[:2]) if first else (whole(k[1]), r.sides.tops[2:4])
    t = alone(own_k, lo, hi)
    places = [lo, hi, 0] if lo < 0 < hi else [lo, hi]
    over = Fraction(max(own_k * max(s, 0) - t * s for s in places), GRID * r.sides.under)
    slope = Fraction(t, GRID)
    return ((slope, ZERO) if first else (ZERO, slope)), over


def alone(k: int, lo: int, hi: int) -> int:
    """One copy: its phase, the chord above for κ > 0, the nearer side below for κ ≤ 0."""
    if lo >= 0:
        return k
    if hi <= 0:
        return 0
    if k > 0:
        return k * hi // (hi - lo)
    return k if hi > -lo else 0


def moved(on: bool, k: int, lo: int, hi: int) -> int:
    """κ·(relu(s + e) − relu(s)) over e in [lo, hi]; `on`: both copies are."""
    if on:
        return k
    rising = k > 0
    if lo >= 0:
        return k if rising else 0
    if hi <= 0:
        return 0 if rising else k
    return k * (hi if rising else -lo) // (hi - lo)
