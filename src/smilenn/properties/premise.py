"""Q on a domain: the set of input tuples (x_1..x_k) that a claim speaks of, in raw units.

    lo_c ≤ x_c ≤ hi_c            per copy
    x_1,i = … = x_k,i            pinned coordinates (one shared value)
    δ_lo,i ≤ x_1,i − x_2,i ≤ δ_hi,i    a difference strip, two copies only
    Σ ((x_1,i − x_2,i)/δ_i)² ≤ 1       a ball, two copies only; it has the strips ±δ_i
    A·(x_1..x_k) ≤ rhs or == rhs  whatever else the claim asks for

plus whole-valued coordinates and one-hot groups from the domain. Rows are read exactly (rationals); the floats stored
here are rounded outward, so that the floating-point set contains the exact one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.emptiness import out_of_reach, satisfiable
from smilenn.properties.outward import round_down, round_up, row_floats


@dataclass(frozen=True, eq=False)
class Premise:
    """The grounded premise; k copies, m coordinates, R extra rows.

    Attributes
    ----------
    lo, hi : [k, m] bounds per copy.
    pinned : [m] bool, equal in all copies (always False for k = 1, where nothing is shared).
    delta_lo, delta_hi : [m] strip on x_1 − x_2 for k = 2 (the full range where no row narrows it; 0 where pinned).
    coef, rhs, equality : [R, k, m], [R], [R] extra rows ``Σ coef·x ≤ rhs`` (``==`` where equality).
    origin, factor : [R], [R] which of the claim's own extra rows each of them is, and times what: a multiplier ν of it
        is factor·ν of that one.
    axes : [m] δ of the coordinates of a ball, infinite for the others; None without a ball.
    """

    domain: Domain
    copies: int
    lo: np.ndarray
    hi: np.ndarray
    pinned: np.ndarray
    delta_lo: np.ndarray
    delta_hi: np.ndarray
    coef: np.ndarray
    rhs: np.ndarray
    equality: np.ndarray
    origin: np.ndarray
    factor: np.ndarray
    axes: np.ndarray | None = None

    @property
    def has_rows(self) -> bool:
        """Whether anything beyond boxes, pins and strips is asked."""
        return len(self.rhs) > 0

    @property
    def strips(self) -> np.ndarray:
        """[m] bool: coordinates whose strip cuts the square of the two boxes (k = 2, not pinned)."""
        if self.copies != 2:
            return np.zeros(self.domain.size, dtype=bool)
        wide = (self.delta_lo <= self.lo[0] - self.hi[1]) & (self.delta_hi >= self.hi[0] - self.lo[1])
        return ~self.pinned & ~wide

    @property
    def diagonal(self) -> bool:
        """Whether every (x, …, x) in X satisfies Q: then a proof bounds the width of the box itself."""
        if not (np.ptp(self.lo, axis=0) == 0).all() or not (np.ptp(self.hi, axis=0) == 0).all():
            return False
        if (self.delta_lo > 0).any() or (self.delta_hi < 0).any():
            return False
        if not self.has_rows:
            return True
        total = self.coef.sum(axis=1)
        top = np.maximum(total * self.lo[0], total * self.hi[0]).sum(axis=1) - self.rhs
        low = np.minimum(total * self.lo[0], total * self.hi[0]).sum(axis=1) - self.rhs
        return bool((top <= 0).all() and (low[self.equality] >= 0).all())

    @property
    def symmetric(self) -> bool:
        """Whether swapping the two copies maps Q onto itself (k = 2, no extra rows)."""
        return (
            self.copies == 2
            and not self.has_rows
            and bool((self.lo[0] == self.lo[1]).all() and (self.hi[0] == self.hi[1]).all())
            and bool((self.delta_lo == -self.delta_hi).all())
        )

    def holds(self, x: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
        """Which tuples x [n, k, m] satisfy the premise in float64, each comparison within `tolerance`. [n] bool.

        With tolerance 0 this is a screen only: `Claim`-exact membership is decided in rationals by `holds_exactly`.
        """
        x = x.reshape(-1, self.copies, self.domain.size)
        ok = ((x >= self.lo - tolerance) & (x <= self.hi + tolerance)).all(axis=(1, 2))
        ok &= (~self.integral | (np.abs(x - np.rint(x)) <= tolerance)).all(axis=(1, 2))
        for group in self.domain.groups:
            ok &= (np.abs(x[:, :, group].sum(axis=2) - 1.0) <= tolerance).all(axis=1)
        spread = x.max(axis=1) - x.min(axis=1)
        ok &= (spread[:, self.pinned] <= tolerance).all(axis=1)
        if self.copies == 2:
            gap = x[:, 0] - x[:, 1]
            ok &= ((gap >= self.delta_lo - tolerance) & (gap <= self.delta_hi + tolerance)).all(axis=1)
            if self.axes is not None:
                ok &= ((gap / self.axes) ** 2).sum(axis=1) <= 1 + tolerance
        if self.has_rows:
            value = np.einsum("rkm,nkm->nr", self.coef, x) - self.rhs
            ok &= (value <= tolerance).all(axis=1) & (np.abs(value[:, self.equality]) <= tolerance).all(axis=1)
        return ok

    @property
    def integral(self) -> np.ndarray:
        """[m] bool, coordinates on a whole-number grid."""
        return self.domain.integral


def holds_exactly(claim: Claim, domain: Domain, x: np.ndarray) -> bool:
    """Whether one tuple x [k, m] of raw float64 inputs satisfies Q in exact arithmetic."""
    if not domain.contains(x).all():
        return False
    values = [[Fraction(float(v)) for v in copy] for copy in x]
    for i in np.flatnonzero(pins(claim, domain)):
        if any(copy[i] != values[0][i] for copy in values):
            return False
    for inequality in claim.when:
        total = sum(
            (t.coef * sum(values[t.copy][i] for i in domain.indices(t.name)) for t in inequality.terms), Fraction(0)
        )
        if total > inequality.rhs or (inequality.op == "==" and total != inequality.rhs):
            return False
    shares = [(values[0][domain.indices(n)[0]] - values[1][domain.indices(n)[0]]) / delta for n, delta in claim.ball]
    return sum((share**2 for share in shares), Fraction(0)) <= 1


MOST_ROWS = 30  # of a premise among which contradictions are looked for


class EmptyPremise(SmileError):
    """A premise that no inputs of the domain satisfy: what it claims would be an empty truth."""


class _Empty(Exception):
    """No tuple satisfies the premise."""


def ground(claim: Claim, domain: Domain) -> Premise:
    """Read the rows of Q on a domain; an unknown feature or a premise that no tuple satisfies is an error.

    The error names rows that contradict each other on the domain: none of them can be left out (each is tried).
    """
    try:
        return _ground(claim, domain)
    except _Empty:
        rows = list(claim.when)
        for row in claim.when if len(rows) <= MOST_ROWS else ():
            fewer = [other for other in rows if other is not row]
            try:
                _ground(replace(claim, when=tuple(fewer)), domain)
            except _Empty:
                rows = fewer
        names = listed([row.text() for row in rows], MOST_ROWS)
        blame = {0: "", 1: f": {names} contradicts the domain"}.get(len(rows), f": {names} contradict each other")
        fault = "correct its 'when' rows or the bounds"
        raise EmptyPremise(f"No inputs satisfy the premise of {claim.formula()!r}{blame}; {fault}.") from None


def _ground(claim: Claim, domain: Domain) -> Premise:
    k, m = claim.copies, domain.size
    lo, hi, strips, extra = _sorted_rows(claim, domain)
    pinned = pins(claim, domain)
    for i, strip in strips.items():  # a difference of zero is a pin, and a pin is one shared value
        if domain.integral[i]:
            low, high = strip
            strip[0] = None if low is None else Fraction(math.ceil(low))
            strip[1] = None if high is None else Fraction(math.floor(high))
        pinned[i] |= strip == [0, 0]
    for i in np.flatnonzero(pinned):
        shared_lo, shared_hi = max(copy[i] for copy in lo), min(copy[i] for copy in hi)
        for c in range(k):
            lo[c][i], hi[c][i] = shared_lo, shared_hi
    for i in np.flatnonzero(domain.integral):
        for c in range(k):
            lo[c][i], hi[c][i] = Fraction(math.ceil(lo[c][i])), Fraction(math.floor(hi[c][i]))
    if any(lo[c][i] > hi[c][i] for c in range(k) for i in range(m)):
        raise _Empty
    box_lo = np.array([[round_down(v) for v in copy] for copy in lo])
    box_hi = np.array([[round_up(v) for v in copy] for copy in hi])

    delta_lo, delta_hi = [Fraction(0)] * m, [Fraction(0)] * m
    if k == 2:
        for i in range(m):
            low, high = strips.get(i, [None, None])
            widest_lo = Fraction(box_lo[0, i]) - Fraction(box_hi[1, i])
            widest_hi = Fraction(box_hi[0, i]) - Fraction(box_lo[1, i])
            low = widest_lo if low is None else max(low, widest_lo)
            high = widest_hi if high is None else min(high, widest_hi)
            if low > high or (pinned[i] and (low > 0 or high < 0)):
                raise _Empty
            if low == high == 0:
                pinned[i] = True
                box_lo[:, i], box_hi[:, i] = box_lo[:, i].max(), box_hi[:, i].min()
            delta_lo[i], delta_hi[i] = (Fraction(0), Fraction(0)) if pinned[i] else (low, high)

    if any(out_of_reach(inequality, terms, lo, hi) for inequality, terms in extra):
        raise _Empty
    magnitude = [[max(-lo[c][i], hi[c][i]) for i in range(m)] for c in range(k)]
    rows = [
        (e, *floats) for e, (inequality, terms) in enumerate(extra)
        for floats in row_floats(inequality, terms, magnitude)
    ]  # fmt: skip
    coef = np.zeros((len(rows), k, m))
    for r, (_, entries, *_) in enumerate(rows):
        for key, a in entries.items():
            coef[r, *key] = a
    premise = Premise(
        domain,
        k,
        box_lo,
        box_hi,
        pinned if k > 1 else np.zeros(m, dtype=bool),
        np.array([round_down(v) for v in delta_lo]),
        np.array([round_up(v) for v in delta_hi]),
        coef,
        np.array([rhs for _, _, rhs, _, _ in rows]),
        np.array([equality for *_, equality, _ in rows], dtype=bool),
        np.array([e for e, *_ in rows], dtype=int),
        np.array([factor for *_, factor in rows]),
        _axes(claim, domain),
    )
    if not satisfiable(premise):
        raise _Empty
    return premise


def _axes(claim: Claim, domain: Domain) -> np.ndarray | None:
    """δ [m] of a ball, rounded up; a norm is over numbers that take all values of an interval."""
    if not claim.ball:
        return None
    axes = np.full(domain.size, np.inf)
    for name, delta in claim.ball:
        first, *more = domain.indices(name)
        if more or domain.integral[first]:
            kind = "a category" if more else "a whole number"
            raise SmileError(
                f"norm2: {name!r} is {kind}, and a norm is over continuous features; leave it out, or state how it may "
                "change in a property of its own."
            )
        axes[first] = round_up(delta)
    return axes


Strips = dict[int, list[Fraction | None]]
Extra = list[tuple[Inequality, dict[tuple[int, int], Fraction]]]


def _sorted_rows(claim: Claim, domain: Domain) -> tuple[list[list[Fraction]], list[list[Fraction]], Strips, Extra]:
    """The rows by shape: bounds of one coordinate [k][m], strips on x_1 − x_2 {coordinate: [low, high]}, the rest."""
    lo = [[Fraction(v) for v in domain.lo] for _ in range(claim.copies)]
    hi = [[Fraction(v) for v in domain.hi] for _ in range(claim.copies)]
    strips: Strips = {}
    extra: Extra = []
    for inequality in claim.when:
        terms = _coordinates(inequality, domain)
        both = inequality.op == "=="
        if not terms:
            if inequality.rhs < 0 or (both and inequality.rhs != 0):
                raise _Empty
            continue
        (c, i), a = next(iter(terms.items()))
        bound = inequality.rhs / a
        if len(terms) == 1:
            if a > 0 or both:
                hi[c][i] = min(hi[c][i], bound)
            if a < 0 or both:
                lo[c][i] = max(lo[c][i], bound)
        elif claim.copies == 2 and terms.keys() == {(0, i), (1, i)} and terms[0, i] == -terms[1, i]:
            a, strip = terms[0, i], strips.setdefault(i, [None, None])
            bound = inequality.rhs / a
            if a > 0 or both:
                strip[1] = bound if strip[1] is None else min(strip[1], bound)
            if a < 0 or both:
                strip[0] = bound if strip[0] is None else max(strip[0], bound)
        else:
            extra.append((inequality, terms))
    for name, delta in claim.ball:
        strip = strips.setdefault(domain.indices(name)[0], [None, None])
        strip[0] = -delta if strip[0] is None else max(strip[0], -delta)
        strip[1] = delta if strip[1] is None else min(strip[1], delta)
    return lo, hi, strips, extra


def pins(claim: Claim, domain: Domain) -> np.ndarray:
    """[m] bool: coordinates the claim pins equal in all copies."""
    pinned = np.zeros(domain.size, dtype=bool)
    if claim.copies == 1:
        return pinned
    if claim.others == "equal":
        pinned[:] = True
        for name in claim.named.union(claim.free):
            pinned[list(domain.indices(name))] = False
            for group in domain.groups:  # naming one member frees its group: the members only move together
                if set(domain.indices(name)) & set(group):
                    pinned[list(group)] = False
    for name in claim.equal:
        pinned[list(domain.indices(name))] = True
    return pinned


def _coordinates(inequality: Inequality, domain: Domain) -> dict[tuple[int, int], Fraction]:
    """A row over coordinates: {(copy, coordinate): coefficient}, zeros dropped."""
    out: dict[tuple[int, int], Fraction] = {}
    for term in inequality.terms:
        first, *more = domain.indices(term.name)
        if more:
            raise SmileError(
                f"{inequality.text()!r} uses the category {term.name!r} as a number; name one of its members, "
                f"such as {domain.coordinates[first]!r}."
            )
        key = (term.copy, first)
        out[key] = out.get(key, Fraction(0)) + term.coef
    return {key: a for key, a in out.items() if a}
