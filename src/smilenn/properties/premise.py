"""Q on a domain: the set of input tuples (x_1..x_k) that a claim is about, in raw units.

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
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim, Ends, Inequality, narrow
from smilenn.properties.emptiness import out_of_reach, satisfiable
from smilenn.properties.outward import row_floats
from smilenn.rounding import round_down, round_up


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
    return (
        _agrees(values, pins(claim, domain))
        and all(_satisfies(inequality, values, domain) for inequality in claim.when)
        and _in_ball(claim, values, domain)
    )


def _agrees(values: Exact, pinned: np.ndarray) -> bool:
    """Whether every pinned coordinate has one value in all copies."""
    return all(copy[i] == values[0][i] for i in np.flatnonzero(pinned) for copy in values)


def _satisfies(inequality: Inequality, values: Exact, domain: Domain) -> bool:
    """Whether values [k][m] satisfy a row."""
    amounts = (t.coef * sum(values[t.copy][i] for i in domain.indices(t.name)) for t in inequality.terms)
    total = sum(amounts, Fraction(0))
    return total <= inequality.rhs and (inequality.op != "==" or total == inequality.rhs)


def _in_ball(claim: Claim, values: Exact, domain: Domain) -> bool:
    """Σ ((x_1,i − x_2,i)/δ_i)² ≤ 1; true without a ball."""
    places = [(domain.indices(name)[0], delta) for name, delta in claim.ball]
    return sum((((values[0][i] - values[1][i]) / delta) ** 2 for i, delta in places), Fraction(0)) <= 1


Exact = list[list[Fraction]]  # [k][m]
Strips = dict[int, Ends]
Entries = dict[tuple[int, int], Fraction]
Extra = list[tuple[Inequality, Entries]]
FloatRows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]

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
        rows = _contradicting(claim, domain)
        names = listed([row.text() for row in rows], MOST_ROWS)
        blame = {0: "", 1: f": {names} contradicts the domain"}.get(len(rows), f": {names} contradict each other")
        fault = "correct its 'when' rows or the bounds"
        raise EmptyPremise(f"No inputs satisfy the premise of {claim.formula()!r}{blame}; {fault}.") from None


def _contradicting(claim: Claim, domain: Domain) -> list[Inequality]:
    """Rows of an empty premise of which none can be left out; all of them where they are many."""
    rows = list(claim.when)
    for row in claim.when if len(rows) <= MOST_ROWS else ():
        fewer = [other for other in rows if other is not row]
        try:
            _ground(replace(claim, when=tuple(fewer)), domain)
        except _Empty:
            rows = fewer
    return rows


def _ground(claim: Claim, domain: Domain) -> Premise:
    lo, hi, strips, extra = _sorted_rows(claim, domain)
    pinned = pins(claim, domain)
    _pin_zero_strips(strips, pinned, domain.integral)
    _tighten(lo, hi, pinned, domain.integral)
    if any(out_of_reach(inequality, terms, lo, hi) for inequality, terms in extra):
        raise _Empty
    box = _outward(lo, round_down), _outward(hi, round_up)
    gaps = _gap_bounds(*box, strips, pinned)
    rows = _rows_as_floats(extra, lo, hi)
    premise = Premise(domain, claim.copies, *box, pinned, *gaps, *rows, _axes(claim, domain))
    if not satisfiable(premise):
        raise _Empty
    return premise


def _pin_zero_strips(strips: Strips, pinned: np.ndarray, integral: np.ndarray) -> None:
    """A difference of zero is a pin, and a pin is one shared value; whole numbers get whole ends; in place."""
    for i, strip in strips.items():
        if integral[i]:
            strip[:] = _inward(*strip)
        pinned[i] |= strip == [0, 0]


def _outward(values: Exact, away: Callable[[Fraction], float]) -> np.ndarray:
    return np.array([[away(v) for v in copy] for copy in values])


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


def _inward(low: Fraction | None, high: Fraction | None) -> Ends:
    """The whole numbers next to both ends, inside."""
    return [
        None if low is None else Fraction(math.ceil(low)),
        None if high is None else Fraction(math.floor(high)),
    ]


def _tighten(lo: Exact, hi: Exact, pinned: np.ndarray, integral: np.ndarray) -> None:
    """One range for all copies of a pinned coordinate, whole ends for one on the grid; in place."""
    copies = range(len(lo))
    for i in np.flatnonzero(pinned):
        shared_lo, shared_hi = max(copy[i] for copy in lo), min(copy[i] for copy in hi)
        for c in copies:
            lo[c][i], hi[c][i] = shared_lo, shared_hi
    for i in np.flatnonzero(integral):
        for c in copies:
            lo[c][i], hi[c][i] = Fraction(math.ceil(lo[c][i])), Fraction(math.floor(hi[c][i]))
    if any(low > high for c in copies for low, high in zip(lo[c], hi[c], strict=True)):
        raise _Empty


def _gap_bounds(
    box_lo: np.ndarray, box_hi: np.ndarray, strips: Strips, pinned: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """δ_lo, δ_hi [m] rounded outward; 0 where there are not two copies."""
    if len(box_lo) != 2:
        return np.zeros_like(box_lo[0]), np.zeros_like(box_lo[0])
    gaps = _differences(box_lo, box_hi, strips, pinned)
    return np.array([round_down(low) for low, _ in gaps]), np.array([round_up(high) for _, high in gaps])


def _differences(
    box_lo: np.ndarray, box_hi: np.ndarray, strips: Strips, pinned: np.ndarray
) -> list[tuple[Fraction, Fraction]]:
    """Bounds on x_1 − x_2 by coordinate: strips within what the box [2, m] allows.

    A coordinate whose difference can only be 0 is pinned, and its box shared; both in place.
    """
    out = []
    for i in range(box_lo.shape[1]):
        low, high = strips.get(i, [None, None])
        widest_lo = Fraction(box_lo[0, i]) - Fraction(box_hi[1, i])
        widest_hi = Fraction(box_hi[0, i]) - Fraction(box_lo[1, i])
        low = widest_lo if low is None else max(low, widest_lo)
        high = widest_hi if high is None else min(high, widest_hi)
        if low > high or (pinned[i] and not low <= 0 <= high):
            raise _Empty
        if low == high == 0:
            pinned[i] = True
            box_lo[:, i], box_hi[:, i] = box_lo[:, i].max(), box_hi[:, i].min()
        out.append((Fraction(0), Fraction(0)) if pinned[i] else (low, high))
    return out


def _rows_as_floats(extra: Extra, lo: Exact, hi: Exact) -> FloatRows:
    """The rows in floats that allow at least as much: coef, rhs, equality, origin, factor as `Premise` has them."""
    magnitude = [[max(-low, high) for low, high in zip(*ends, strict=True)] for ends in zip(lo, hi, strict=True)]
    rows = [row_floats(inequality, terms, magnitude) for inequality, terms in extra]
    every = [row for own in rows for row in own]
    return (
        _dense([entries for entries, *_ in every], len(lo), len(lo[0])),
        np.array([rhs for _, rhs, _, _ in every]),
        np.array([equality for *_, equality, _ in every], dtype=bool),
        np.array([place for place, own in enumerate(rows) for _ in own], dtype=int),
        np.array([factor for *_, factor in every]),
    )


def _dense(rows: list[dict[tuple[int, int], float]], k: int, m: int) -> np.ndarray:
    coef = np.zeros((len(rows), k, m))
    for r, entries in enumerate(rows):
        for key, a in entries.items():
            coef[r, *key] = a
    return coef


def _sorted_rows(claim: Claim, domain: Domain) -> tuple[Exact, Exact, Strips, Extra]:
    """The rows by shape: bounds of one coordinate [k][m], strips on x_1 − x_2 {coordinate: [low, high]}, the rest."""
    lo = [[Fraction(v) for v in domain.lo] for _ in range(claim.copies)]
    hi = [[Fraction(v) for v in domain.hi] for _ in range(claim.copies)]
    strips: Strips = {}
    extra: Extra = []
    for inequality in claim.when:
        terms = _coordinates(inequality, domain)
        if not terms:
            _refuse_contradiction(inequality)
            continue
        (c, i), a = next(iter(terms.items()))
        if len(terms) == 1:
            ends: Ends = [lo[c][i], hi[c][i]]
            narrow(ends, a, inequality)
            lo[c][i], hi[c][i] = ends  # type: ignore[assignment] # cut or not, both are there
        elif claim.copies == 2 and _is_difference(terms, i):
            narrow(strips.setdefault(i, [None, None]), terms[0, i], inequality)
        else:
            extra.append((inequality, terms))
    _narrow_by_ball(strips, claim, domain)
    return lo, hi, strips, extra


def _is_difference(terms: Entries, i: int) -> bool:
    """Whether the terms are a multiple of x_1,i − x_2,i."""
    return terms.keys() == {(0, i), (1, i)} and terms[0, i] == -terms[1, i]


def _narrow_by_ball(strips: Strips, claim: Claim, domain: Domain) -> None:
    """The strips ±δ_i that a ball has; in place."""
    for name, delta in claim.ball:
        strip = strips.setdefault(domain.indices(name)[0], [None, None])
        strip[0] = -delta if strip[0] is None else max(strip[0], -delta)
        strip[1] = delta if strip[1] is None else min(strip[1], delta)


def _refuse_contradiction(inequality: Inequality) -> None:
    """A row without terms: true, or of nothing."""
    if inequality.rhs < 0 or (inequality.op == "==" and inequality.rhs != 0):
        raise _Empty


def pins(claim: Claim, domain: Domain) -> np.ndarray:
    """[m] bool: coordinates the claim pins equal in all copies."""
    pinned = np.zeros(domain.size, dtype=bool)
    if claim.copies == 1:
        return pinned
    if claim.others == "equal":
        pinned[:] = True
        pinned[sorted(_loose(claim, domain))] = False
    for name in claim.equal:
        pinned[list(domain.indices(name))] = True
    return pinned


def _loose(claim: Claim, domain: Domain) -> set[int]:
    """Coordinates that the premise names or frees; naming one member frees its group, whose members move together."""
    places = {i for name in claim.named.union(claim.free) for i in domain.indices(name)}
    return places.union(*(group for group in domain.groups if places.intersection(group)))


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
