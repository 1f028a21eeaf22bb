"""Octagons of a unit in both copies, and the slopes a checker chooses: docs/audit-certificate.md, sections 4 and 5."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from smilenn.certify.reference.deep_sums import over

GRID = 1 << 40  # ranges, and separately slopes, are multiples of 1 / GRID
ZERO = Fraction(0)
Slope = tuple[Fraction, Fraction]
Point = tuple[Fraction, Fraction, Fraction, Fraction]  # s_1, s_2, relu(s_1), relu(s_2)


def up(x: Fraction, grid: int = GRID) -> Fraction:
    """The least multiple of 1/grid that is ≥ x."""
    return Fraction(math.ceil(x * grid), grid)


def down(x: Fraction, grid: int = GRID) -> Fraction:
    """The largest multiple of 1/grid that is ≤ x."""
    return Fraction(math.floor(x * grid), grid)


@dataclass(frozen=True)
class Octagon:
    """lo_c ≤ s_c ≤ hi_c, low ≤ s_1 − s_2 ≤ high."""

    lo1: Fraction
    hi1: Fraction
    lo2: Fraction
    hi2: Fraction
    low: Fraction
    high: Fraction

    def met(self, other: Octagon) -> Octagon:
        """What both say."""
        return Octagon(
            max(self.lo1, other.lo1),
            min(self.hi1, other.hi1),
            max(self.lo2, other.lo2),
            min(self.hi2, other.hi2),
            max(self.low, other.low),
            min(self.high, other.high),
        )

    def closed(self) -> Octagon | None:
        """With its own consequences; None if empty."""
        lo1, hi1, lo2, hi2, low, high = self.lo1, self.hi1, self.lo2, self.hi2, self.low, self.high
        for _ in range(2):
            low, high = max(low, lo1 - hi2), min(high, hi1 - lo2)
            lo1, hi1 = max(lo1, lo2 + low), min(hi1, hi2 + high)
            lo2, hi2 = max(lo2, lo1 - high), min(hi2, hi1 - low)
        if lo1 > hi1 or lo2 > hi2 or low > high:
            return None
        closed = Octagon(lo1, hi1, lo2, hi2, low, high)
        return closed if closed.contains(lo1, max(lo2, lo1 - high)) or closed.ends else None

    def within(self, known: Octagon) -> Octagon | None:
        """What both say, closed; `known` itself, with its points, where nothing is new."""
        closed = self.met(known).closed()
        return known if closed == known else closed

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All corners, also those on the axes."""
        return corners(self, True)

    @cached_property
    def ends(self) -> tuple[Point, ...]:
        """Its own corners."""
        return corners(self, False)

    @cached_property
    def places(self) -> tuple[tuple[tuple[int, int, int, int], ...], int]:
        """All corners in whole multiples of 1 / unit, and the unit."""
        tops = over(v for point in self.points for v in point)
        return tuple(zip(*(tops.tops[i::4] for i in range(4)), strict=True)), tops.under

    def off(self, copy: int) -> bool:
        """Whether a copy is below 0, or 0 at most."""
        low, high = (self.lo1, self.hi1) if copy == 0 else (self.lo2, self.hi2)
        return low < 0 and high <= 0

    def settled(self) -> tuple[bool, bool] | None:
        """Which copies are on; None unless both are settled."""
        on = (self.lo1 >= 0, self.lo2 >= 0)
        return on if (on[0] or self.hi1 <= 0) and (on[1] or self.hi2 <= 0) else None

    def contains(self, p: Fraction, q: Fraction) -> bool:
        """Whether (p, q) satisfies all six inequalities."""
        return self.lo1 <= p <= self.hi1 and self.lo2 <= q <= self.hi2 and self.low <= p - q <= self.high


def corners(r: Octagon, axes: bool) -> tuple[Point, ...]:
    """Where two of the lines meet within the octagon; lines are α·s_1 + β·s_2 = γ, in whole multiples of 1 / unit."""
    sides = (r.lo1, r.hi1, r.lo2, r.hi2, r.low, r.high)
    unit = math.lcm(*(v.denominator for v in sides))
    lo1, hi1, lo2, hi2, low, high = (v.numerator * (unit // v.denominator) for v in sides)
    zero = [(1, 0, 0), (0, 1, 0)] if axes else []
    lines = [(1, 0, lo1), (1, 0, hi1), (0, 1, lo2), (0, 1, hi2), (1, -1, low), (1, -1, high), *zero]
    found = set()
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        determinant = a * e - b * d  # 1, −1 or 0
        if determinant:
            p, q = (c * e - b * f) * determinant, (a * f - c * d) * determinant
            if lo1 <= p <= hi1 and lo2 <= q <= hi2 and low <= p - q <= high:
                found.add((p, q))
    points = [(Fraction(p, unit), Fraction(q, unit)) for p, q in sorted(found)]
    return tuple((p, q, max(p, ZERO), max(q, ZERO)) for p, q in points)


def rest(r: Octagon, k: Slope, t: Slope) -> Fraction:
    """max over the octagon of Σ κ·relu(s) − t·s."""
    (k1, k2, t1, t2), under = (both := over((*k, *t))).tops, both.under
    places, unit = r.places
    return Fraction(max(k1 * a + k2 * b - t1 * p - t2 * q for p, q, a, b in places), unit * under)


def after_relu(r: Octagon) -> Octagon:
    """The six ranges of relu(s)."""
    moved = [a - b for _, _, a, b in r.points]
    lo1, hi1, lo2, hi2 = (max(v, ZERO) for v in (r.lo1, r.hi1, r.lo2, r.hi2))
    return Octagon(lo1, hi1, lo2, hi2, min(moved), max(moved))


def own(r: Octagon, k: Slope) -> Slope:
    """The slopes that the checker chooses by itself."""
    on = r.settled()
    if on is not None:
        return (k[0] if on[0] else ZERO), (k[1] if on[1] else ZERO)
    if k == (0, 0):
        return ZERO, ZERO
    both = k[0] + k[1]
    e, f = moved(r, k[1], -r.high, -r.low), moved(r, k[0], r.low, r.high)
    pairs = [
        (alone(k[0], r.lo1, r.hi1), alone(k[1], r.lo2, r.hi2)),
        (alone(both, r.lo1, r.hi1) - e, e),
        (f, alone(both, r.lo2, r.hi2) - f),
    ]
    apart = r.lo1 + r.hi1 - r.lo2 - r.hi2
    shift = min(max(apart, 2 * r.low), 2 * r.high) - apart
    m1, m2 = 2 * (r.lo1 + r.hi1) + shift, 2 * (r.lo2 + r.hi2) - shift
    return min(pairs, key=lambda t: 4 * rest(r, k, t) + t[0] * m1 + t[1] * m2)  # the first of equals


def one_copy(r: Octagon, k: Slope) -> tuple[Slope, Fraction]:
    """Own slopes where one coefficient is zero, of two networks; and what they leave between the other's bounds."""
    first = k[0] != 0
    own_k, lo, hi = (k[0], r.lo1, r.hi1) if first else (k[1], r.lo2, r.hi2)
    t = alone(own_k, lo, hi)
    places = [lo, hi, ZERO] if lo < 0 < hi else [lo, hi]
    left = max(own_k * max(s, ZERO) - t * s for s in places)
    return ((t, ZERO) if first else (ZERO, t)), left


def alone(k: Fraction, lo: Fraction, hi: Fraction) -> Fraction:
    """One copy: its phase, the chord above for κ > 0, the nearer side below for κ ≤ 0."""
    if lo >= 0:
        return k
    if hi <= 0:
        return ZERO
    if k > 0:
        return down(k * hi / (hi - lo))
    return k if hi > -lo else ZERO


def moved(r: Octagon, k: Fraction, lo: Fraction, hi: Fraction) -> Fraction:
    """κ·(relu(s + e) − relu(s)) over e in [lo, hi]."""
    if r.lo1 >= 0 and r.lo2 >= 0:
        return k
    rising = k > 0
    if lo >= 0:
        return k if rising else ZERO
    if hi <= 0:
        return ZERO if rising else k
    return down(k * (hi if rising else -lo) / (hi - lo))
