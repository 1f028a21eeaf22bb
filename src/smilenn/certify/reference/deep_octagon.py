"""Octagons of a unit in both copies: docs/audit-certificate.md, section 4. For the reference checker only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from smilenn.certify.reference.deep_sums import Over, over

GRID = 1 << 40  # ranges, and separately slopes, are multiples of 1 / GRID
ZERO = Fraction(0)
Slope = tuple[Fraction, Fraction]
Point = tuple[int, int, int, int]  # s_1, s_2, relu(s_1), relu(s_2) in multiples of the octagon's unit


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
    def sides(self) -> Over:
        """The six bounds over one denominator, the octagon's unit."""
        return over((self.lo1, self.hi1, self.lo2, self.hi2, self.low, self.high))

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All corners, also those on the axes."""
        return corners(self.sides.tops, True)

    @cached_property
    def ends(self) -> tuple[Point, ...]:
        """Its own corners."""
        return corners(self.sides.tops, False)

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


def corners(sides: Sequence[int], axes: bool) -> tuple[Point, ...]:
    """Where two of the lines meet within an octagon; lines are α·s_1 + β·s_2 = γ."""
    lo1, hi1, lo2, hi2, low, high = sides
    zero = [(1, 0, 0), (0, 1, 0)] if axes else []
    lines = [(1, 0, lo1), (1, 0, hi1), (0, 1, lo2), (0, 1, hi2), (1, -1, low), (1, -1, high), *zero]
    found = set()
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        determinant = a * e - b * d  # 1, −1 or 0
        if determinant:
            p, q = (c * e - b * f) * determinant, (a * f - c * d) * determinant
            if lo1 <= p <= hi1 and lo2 <= q <= hi2 and low <= p - q <= high:
                found.add((p, q))
    return tuple((p, q, max(p, 0), max(q, 0)) for p, q in sorted(found))


def most(r: Octagon, q: Slope) -> Fraction:
    """max over the octagon of q_1·s_1 + q_2·s_2."""
    (a, b), under = (both := over(q)).tops, both.under
    return Fraction(max(a * p1 + b * p2 for p1, p2, _, _ in r.ends), under * r.sides.under)


def rest(r: Octagon, k: Slope, t: Slope) -> Fraction:
    """max over the octagon of Σ κ·relu(s) − t·s."""
    (k1, k2, t1, t2), under = (both := over((*k, *t))).tops, both.under
    return Fraction(left(r.points, k1, k2, t1, t2), r.sides.under * under)


def left(points: Sequence[Point], k1: int, k2: int, t1: int, t2: int) -> int:
    """The same in whole numbers."""
    return max(k1 * a + k2 * b - t1 * p - t2 * q for p, q, a, b in points)


def after_relu(r: Octagon) -> Octagon:
    """The six ranges of relu(s)."""
    moved = [a - b for _, _, a, b in r.points]
    lo1, hi1, lo2, hi2 = (max(v, ZERO) for v in (r.lo1, r.hi1, r.lo2, r.hi2))
    unit = r.sides.under
    return Octagon(lo1, hi1, lo2, hi2, Fraction(min(moved), unit), Fraction(max(moved), unit))
