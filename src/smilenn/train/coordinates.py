"""Coordinates of the outputs in which what is claimed of them is a box, so that a free backbone obeys by construction.

Claims about one input without a premise (`Bounded`, `Ordered`, `Exclusive`, `SumAtMost`, rows of `Safe`) are rows

    Σ_o a_o·f_o(x) ≤ ε − b·x          for all x.

Let the rows of T be their directions a, as far as these are linearly independent, completed by single outputs. In the
coordinates z = T·f each such row bounds one coordinate by an affine function of the inputs,

    lo_t(x) ≤ z_t ≤ hi_t(x),      f = G·z,      G = T⁻¹,

for ordered outputs the steps from one to the next, for a sum that sum. Inside the box nothing is claimed: the backbone
is free, the head G and the auxiliaries lo and hi − lo are fixed, and a row is proved at the root by their constants.
The ends lie `ROOM` inside the claim, which is more than any rounding; where a coordinate has one end only, the other
lies far beyond the data. Every function that satisfies the rows has such coordinates: nothing else is lost.

Rows that depend on those (an upper bound on ordered outputs with a lower one, say) must follow from the box; where they
do not there is no such box, and the claims are left to search, proof and repair, or to a cut (train/capped.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim

ROOM = 2.0**-20  # of the outputs' scale, and of a thousandth of a bound
FAR = 4.0  # of the data's range: how far beyond it an end lies that no claim sets
WORST = 1e6  # condition of T beyond which its inverse is not trusted


@dataclass(frozen=True, eq=False)
class Coordinates:
    """f = scale·(G z + start/scale) with lo ≤ z ≤ hi, all in outputs divided by their scale and less their start.

    Attributes
    ----------
    head : G [o, o].
    low, high : constants of the ends [o]; `low_slope`, `high_slope` [o, m] their slopes in model units.
    """

    head: np.ndarray
    low: np.ndarray
    high: np.ndarray
    low_slope: np.ndarray
    high_slope: np.ndarray

    @property
    def parallel(self) -> bool:
        """Whether both ends of every coordinate have the same slopes: then z less the slopes has constant ends."""
        return np.array_equal(self.low_slope, self.high_slope)

    @property
    def constant(self) -> bool:
        """Whether no end depends on the inputs."""
        return not (self.low_slope.any() or self.high_slope.any())


@dataclass(frozen=True, eq=False)
class Side:
    """One row: direction a [o] (largest coefficient 1) and the affine function of u that it must not exceed."""

    direction: np.ndarray
    const: float
    slope: np.ndarray


def unconditional(claim: Claim) -> bool:
    """Whether it is about every single input."""
    return claim.copies == 1 and not claim.when


def coordinates(
    claims: Sequence[Claim],
    domain: Domain,
    names: Sequence[str],
    scale: np.ndarray,
    start: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
) -> Coordinates | None:
    """Coordinates for unconditional claims on outputs `names`; None where no box of this kind implies all rows.

    x [N, m] and y [N, o] are training rows in raw units: ends that no claim sets lie beyond them.
    """
    sides = [side for claim in claims for side in read_sides(claim, domain, names, scale, start)]
    # rows over several outputs first: a bound on one output may follow from them
    sides.sort(key=lambda side: -int(np.count_nonzero(side.direction)))
    t = _basis([side.direction for side in sides], len(names))
    if np.linalg.cond(t) > WORST:
        return None
    ends = _Ends.open(len(names), domain.size)
    left = [side for side in sides if not ends.set(side, t)]
    ends.close(domain.scale(x), (y - start) / scale @ t.T)
    head = np.linalg.inv(t)
    head[np.abs(head) < 1e-12 * np.abs(head).max()] = 0.0  # rounding of the inverse: the ends leave room for it
    box = Coordinates(head, ends.low, ends.high, ends.low_slope, ends.high_slope)
    u_lo, u_hi = domain.scale(domain.lo), domain.scale(domain.hi)
    if not (_least(box.high - box.low, box.high_slope - box.low_slope, u_lo, u_hi) > 0).all():
        return None
    return box if all(_implied(box, side, u_lo, u_hi) for side in left) else None


def _basis(directions: Sequence[np.ndarray], o: int) -> np.ndarray:
    """T [o, o]: the directions as far as they are linearly independent, completed by single outputs."""
    basis: list[np.ndarray] = []
    for direction in (*directions, *np.eye(o)):
        if np.linalg.matrix_rank(np.stack([*basis, direction]), tol=1e-9) > len(basis):
            basis.append(direction)
    t = np.stack(basis)
    single = np.count_nonzero(t, axis=1) == 1
    if single.all():  # each at its own place, where trees and linear functions are fitted to it
        return t[np.argmax(t != 0, axis=0)]
    t[single] = np.abs(t[single])  # beside steps: trees move all outputs by one that rises with them
    return t


@dataclass(frozen=True, eq=False)
class _Ends:
    """The ends of a box while they are set: constants [o], infinite where none is set yet, and slopes [o, m]."""

    low: np.ndarray
    high: np.ndarray
    low_slope: np.ndarray
    high_slope: np.ndarray

    @classmethod
    def open(cls, o: int, m: int) -> _Ends:
        return cls(np.full(o, -np.inf), np.full(o, np.inf), np.zeros((o, m)), np.zeros((o, m)))

    def set(self, side: Side, t: np.ndarray) -> bool:
        """Let the row be an end of one coordinate; False where it is none, or there is one of another slope."""
        found = [
            (i, sign) for i in range(len(t)) for sign in (1, -1) if np.allclose(t[i] * sign, side.direction, atol=1e-12)
        ]
        if not found:
            return False
        (i, sign), const, slope = found[0], side.const - room(side), side.slope
        ends, slopes = (self.high, self.high_slope) if sign > 0 else (self.low, self.low_slope)
        if not np.isfinite(ends[i]):
            ends[i], slopes[i] = sign * const, sign * slope
            return True
        if not np.array_equal(slopes[i], sign * slope):
            return False
        ends[i] = min(ends[i], const) if sign > 0 else max(ends[i], -const)
        return True

    def close(self, u: np.ndarray, z: np.ndarray) -> None:
        """Set the ends that no row sets, far beyond the coordinates z [N, o] of the training rows u [N, m]."""
        far = FAR * max(1.0, float(np.ptp(z, axis=0).max(initial=0.0)))
        for i, (low, high) in enumerate(zip(np.isfinite(self.low), np.isfinite(self.high), strict=True)):
            if high and not low:
                below = float((self.high[i] + u @ self.high_slope[i] - z[:, i]).max(initial=0.0))
                self.low[i], self.low_slope[i] = self.high[i] - below - far, self.high_slope[i]
            elif low and not high:
                above = float((z[:, i] - self.low[i] - u @ self.low_slope[i]).max(initial=0.0))
                self.high[i], self.high_slope[i] = self.low[i] + above + far, self.low_slope[i]
            elif not low:
                self.low[i], self.high[i] = z[:, i].min() - far, z[:, i].max() + far


def read_sides(claim: Claim, domain: Domain, names: Sequence[str], scale: np.ndarray, start: np.ndarray) -> list[Side]:
    """The rows of a claim with one copy."""
    out = []
    for row in claim.rows:
        a, b = np.zeros(len(names)), np.zeros(domain.size)
        for term in row.terms:
            if term.kind == "out":
                a[list(names).index(term.name)] += float(term.coef)
            else:
                b[domain.indices(term.name)[0]] += float(term.coef)
        size = float(np.abs(a * scale).max())
        const = float(row.rhs) - float(a @ start) - float(b @ domain.shift)
        out.append(Side(a * scale / size, const / size, -b / domain.mult / size))
    return out


def room(side: Side) -> float:
    """How far inside a row the end of a box lies, in outputs divided by their scale."""
    return ROOM * (1.0 + 2.0**-10 * (abs(side.const) + float(np.abs(side.slope).sum())))


def _least(const: np.ndarray, slope: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The least value [o] of const + slope·u over the box of model units."""
    return const + np.maximum(slope, 0.0) @ lo + np.minimum(slope, 0.0) @ hi


def _implied(box: Coordinates, side: Side, lo: np.ndarray, hi: np.ndarray) -> bool:
    """Whether a further row holds wherever z lies in its box."""
    c = side.direction @ box.head
    up, down = np.maximum(c, 0.0), np.minimum(c, 0.0)
    slack = side.const - up @ box.high - down @ box.low
    slope = side.slope - up @ box.high_slope - down @ box.low_slope
    return bool(_least(np.array([slack]), slope[None], lo, hi)[0] > ROOM / 2)
