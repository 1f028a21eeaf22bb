"""The premise of a claim and its cells, in `Fraction`: docs/certificate.md, section 3, widened as in section 5.3.

For the reference checker only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from smilenn.certify.reference.claims import Claim, Row
from smilenn.certify.reference.model import ZERO, Matrix, Vector
from smilenn.certify.reference.net import Domain
from smilenn.certify.reference.norm import Part
from smilenn.certify.reference.reader import Entry
from smilenn.certify.reference.strict import Refused


@dataclass(frozen=True)
class ExtraRow:
    """Σ coef·x ≤ rhs, or == rhs, up to `slack`; coef by (copy, coordinate)."""

    coef: dict[tuple[int, int], Fraction]
    rhs: Fraction
    equality: bool
    slack: Fraction


@dataclass(frozen=True)
class Premise:
    """Bounds per (copy, coordinate), pins, strips for k = 2 (empty lists otherwise), extra rows; raw units.

    The coordinates are those of `domain`: the inputs, or what an encoder makes of them (encoder.py). `whole` says
    which of them take whole values only: those of the domain that are not moved to a grid. `ball` has δ of the
    coordinates of a ball that are not pinned, `parts` what the branches of an encoder leave of it.
    """

    domain: Domain
    copies: int
    whole: list[bool]
    lo: Matrix
    hi: Matrix
    pinned: list[bool]
    strip_lo: Vector
    strip_hi: Vector
    extra: list[ExtraRow]
    ball: Mapping[int, Fraction] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)

    @property
    def symmetric(self) -> bool:
        """k = 2, no extra rows, equal boxes, δ_lo = −δ_hi."""
        same = self.copies == 2 and not self.extra and self.lo[0] == self.lo[1] and self.hi[0] == self.hi[1]
        return same and all(low == -high for low, high in zip(self.strip_lo, self.strip_hi, strict=True))


# Σ coef·x[copy, name] op rhs, like terms added and zeros dropped
def _merged(row: Row) -> dict[tuple[int, int], Fraction]:
    out: dict[tuple[int, int], Fraction] = {}
    for term in row.terms:
        key = (term.copy, term.index)
        out[key] = out.get(key, ZERO) + term.coef
    return {key: value for key, value in out.items() if value}


def _pins(claim: Claim, domain: Domain) -> list[bool]:
    """Pinned by name: the features that `when` and `free` leave out, if others are equal, and those in `equal`."""
    m = len(domain.names)
    if claim.copies == 1:
        return [False] * m
    pinned = [claim.others == "equal"] * m
    if claim.others == "equal":
        named = {t.index for row in claim.when for t in row.terms} | {i for i, _, _ in claim.ball}
        named |= {i for name in claim.free for i in domain.indices[name]}
        for group in domain.groups:
            if named & set(group):
                named |= set(group)
        pinned = [i not in named for i in range(m)]
    for name in claim.equal:
        for i in domain.indices[name]:
            pinned[i] = True
    return pinned


# x̂ lies within ω of x and keeps order and equality: bounds [lo − ω, hi + ω], strips [δ_lo − 2ω, δ_hi + 2ω] that keep
# their sign, extra rows up to Σ|coef|·ω; pins stay
def ground(claim: Claim, domain: Domain, omega: Vector | None = None) -> Premise:
    """Read the rows of `when`: bounds, strips, extra rows; `omega` [m] is how far the network moves its inputs.

    The claim has a witness (`check_witness`), so its premise is not empty.
    """
    k, m = claim.copies, len(domain.names)
    omega = [ZERO] * m if omega is None else omega
    lo = [list(domain.lo) for _ in range(k)]
    hi = [list(domain.hi) for _ in range(k)]
    low: list[Fraction | None] = [None] * m
    high: list[Fraction | None] = [None] * m
    extra = []
    for row in (*claim.when, *claim.path):
        terms = _merged(row)
        if not terms:
            continue  # true: of a false one there is no witness
        (c, i), a = next(iter(terms.items()))
        strip = k == 2 and terms.keys() == {(0, i), (1, i)} and terms[0, i] == -terms[1, i]
        if len(terms) == 1:
            if a > 0 or row.equality:
                hi[c][i] = min(hi[c][i], row.rhs / a)
            if a < 0 or row.equality:
                lo[c][i] = max(lo[c][i], row.rhs / a)
        elif strip:
            a = terms[0, i]
            bound, before, after = row.rhs / a, low[i], high[i]
            if a > 0 or row.equality:
                high[i] = bound if after is None else min(after, bound)
            if a < 0 or row.equality:
                low[i] = bound if before is None else max(before, bound)
        else:
            slack = sum((abs(v) * omega[j] for (_, j), v in terms.items()), ZERO)
            extra.append(ExtraRow(terms, row.rhs, row.equality, slack))
    for i, delta, _ in claim.ball:  # every |x_1 − x_2| ≤ δ
        before, after = low[i], high[i]
        low[i] = -delta if before is None else max(before, -delta)
        high[i] = delta if after is None else min(after, delta)
    pinned = _pins(claim, domain)
    for i in range(m):
        before, after = low[i], high[i]
        if domain.whole[i]:  # rounded inward
            low[i] = before = None if before is None else Fraction(math.ceil(before))
            high[i] = after = None if after is None else Fraction(math.floor(after))
            for c in range(k):
                lo[c][i], hi[c][i] = Fraction(math.ceil(lo[c][i])), Fraction(math.floor(hi[c][i]))
        if k == 2 and before == after == 0:
            pinned[i] = True
        if pinned[i]:
            first, last = max(copy[i] for copy in lo), min(copy[i] for copy in hi)
            for c in range(k):
                lo[c][i], hi[c][i] = first, last
        for c in range(k):
            lo[c][i], hi[c][i] = lo[c][i] - omega[i], hi[c][i] + omega[i]
        if before is not None:
            low[i] = max(before - 2 * omega[i], ZERO) if before >= 0 else before - 2 * omega[i]
        if after is not None:
            high[i] = min(after + 2 * omega[i], ZERO) if after <= 0 else after + 2 * omega[i]
    strip_lo, strip_hi = [], []
    for i in range(m) if k == 2 else ():
        widest_lo, widest_hi = lo[0][i] - hi[1][i], hi[0][i] - lo[1][i]
        before, after = low[i], high[i]
        strip_lo.append(ZERO if pinned[i] else widest_lo if before is None else max(before, widest_lo))
        strip_hi.append(ZERO if pinned[i] else widest_hi if after is None else min(after, widest_hi))
    whole = [given and not move for given, move in zip(domain.whole, omega, strict=True)]
    ball = {i: delta for i, delta, _ in claim.ball if not pinned[i]}
    return Premise(domain, k, whole, lo, hi, pinned, strip_lo, strip_hi, extra, ball)


# δ_hi ≤ 0: x_1 ≤ x_2, sign −1; else δ_lo ≥ 0: x_1 ≥ x_2, sign +1
def directions(premise: Premise, rule: str) -> dict[int, int]:
    """k = 2: the sign of every unpinned coordinate; Refused if one may move both ways, or in a group."""
    out = {}
    for i, pinned in enumerate(premise.pinned):
        if pinned:
            continue
        if premise.strip_hi[i] > 0 and premise.strip_lo[i] < 0:
            raise Refused(f"The {rule} rule needs every feature that moves to move one way.")
        out[i] = -1 if premise.strip_hi[i] <= 0 else 1
    if any(i in out for group in premise.domain.groups for i in group):
        raise Refused(f"The {rule} rule does not apply to a category that moves.")
    return out


def check_witness(entry: Entry, domain: Domain) -> None:
    """The witness lies in the domain and satisfies the rows of `when` and the pins, all exactly."""
    x = entry.witness
    for copy in x:
        for v, lo, hi, whole in zip(copy, domain.lo, domain.hi, domain.whole, strict=True):
            if not lo <= v <= hi or (whole and v.denominator != 1):
                raise Refused("The witness does not lie in the domain.")
        if any(sum(copy[i] for i in group) != 1 for group in domain.groups):
            raise Refused("The witness does not lie in the domain: a category does not have exactly one value.")
    for i, pinned in enumerate(_pins(entry.claim, domain)):
        if pinned and any(copy[i] != x[0][i] for copy in x):
            raise Refused("The witness does not satisfy the premise: it differs in a feature that is to be equal.")
    for row in (*entry.claim.when, *entry.claim.path):
        value = sum((t.coef * x[t.copy][t.index] for t in row.terms), ZERO)
        if value > row.rhs or (row.equality and value != row.rhs):
            raise Refused("The witness does not satisfy the premise: the claim may be about nothing.")
    if sum((((x[0][i] - x[1][i]) / delta) ** 2 for i, delta, _ in entry.claim.ball), ZERO) > 1:
        raise Refused("The witness does not lie in the ball of the premise.")


class Cell:
    """The premise cut by splits.

    lo, hi [k][m]; allowed [k][group] positions of allowed categories; phase [k][hidden unit] and
    flip [k][flip unit] pairs (≤ 0, ≥ 0).
    """

    def __init__(self, premise: Premise, units: int, flips: int = 0, *, hull: bool = False) -> None:
        """`hull`: one copy, the hull of all of them, for the slope rule."""
        self.premise, self.groups = premise, premise.domain.groups
        self.lo, self.hi = [list(copy) for copy in premise.lo], [list(copy) for copy in premise.hi]
        self.allowed = [[_allowed(lo, hi, g) for g in self.groups] for lo, hi in zip(self.lo, self.hi, strict=True)]
        if hull:
            self.lo = [[min(v) for v in zip(*self.lo, strict=True)]]
            self.hi = [[max(v) for v in zip(*self.hi, strict=True)]]
            self.allowed = [[tuple(sorted(set().union(*v))) for v in zip(*self.allowed, strict=True)]]
        self.phase = [[(False, False)] * units for _ in self.lo]
        self.flip = [[(False, False)] * flips for _ in self.lo]
        self.grouped = {i for group in self.groups for i in group}
        self.plain = [i for i in range(len(premise.domain.names)) if i not in self.grouped]

    @property
    def visibly_empty(self) -> bool:
        """Some lo > hi, or a copy that allows no category of a group."""
        crossed = any(x > y for lo, hi in zip(self.lo, self.hi, strict=True) for x, y in zip(lo, hi, strict=True))
        return crossed or not all(allowed for copy in self.allowed for allowed in copy)

    # Σ_i w_i·x_ci over the cell: per coordinate an end by the sign of w_i, per group the extremes of allowed categories
    def span(self, c: int, w: Vector) -> tuple[Fraction, Fraction]:
        """The range of w·x_c; the cell must not be visibly empty."""
        low = high = ZERO
        for i in self.plain:
            if w[i]:
                ends = (w[i] * self.lo[c][i], w[i] * self.hi[c][i])
                low, high = low + min(ends), high + max(ends)
        for group, allowed in zip(self.groups, self.allowed[c], strict=True):
            values = [w[group[p]] for p in allowed]
            low, high = low + min(values), high + max(values)
        return low, high

    def pairs(self, g: int) -> list[tuple[int, int]]:
        """k = 2: allowed pairs of categories of group g; pinned members have the strip [0, 0]."""
        group, (first, second), premise = self.groups[g], [copy[g] for copy in self.allowed], self.premise
        # a difference of v at member p is allowed:
        fits = [{v for v in (-1, 0, 1) if premise.strip_lo[i] <= v <= premise.strip_hi[i]} for i in group]
        stiff = {p for p in range(len(group)) if 0 not in fits[p]}  # members that must differ
        return [
            (p, r)
            for p in first
            for r in second
            if (not stiff if p == r else stiff <= {p, r} and 1 in fits[p] and -1 in fits[r])
        ]


def _allowed(lo: Vector, hi: Vector, group: tuple[int, ...]) -> tuple[int, ...]:
    """Positions p with hi ≥ 1 there and lo ≤ 0 everywhere else in the group."""
    forced = {p for p, i in enumerate(group) if lo[i] > 0}
    return tuple(p for p, i in enumerate(group) if hi[i] >= 1 and forced <= {p})
