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
do not there is no such box, and the claims are left to search, proof and repair.
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
    """Whether it speaks of every single input."""
    return claim.copies == 1 and not claim.when


def coordinates(
    claims: Sequence[Claim], domain: Domain, names: Sequence[str], scale: np.ndarray, start: np.ndarray,
    x: np.ndarray, y: np.ndarray,
) -> Coordinates | None:  # fmt: skip
    """Coordinates for unconditional claims on outputs `names`; None where no box of this kind implies all rows.

    x [N, m] and y [N, o] are training rows in raw units: ends that no claim sets lie beyond them.
    """
    sides = [side for claim in claims for side in read_sides(claim, domain, names, scale, start)]
    # rows over several outputs first: a bound on one output may follow from them
    sides.sort(key=lambda side: -int(np.count_nonzero(side.direction)))
    o, m = len(names), domain.size
    basis: list[np.ndarray] = []
    for direction in (*(side.direction for side in sides), *np.eye(o)):
        if np.linalg.matrix_rank(np.stack([*basis, direction]), tol=1e-9) > len(basis):
            basis.append(direction)
    t = np.stack(basis)
    if np.linalg.cond(t) > WORST:
        return None
    low, high = np.full(o, -np.inf), np.full(o, np.inf)
    low_slope, high_slope = np.zeros((o, m)), np.zeros((o, m))
    left: list[Side] = []
    for side in sides:
        found = [
            (i, sign) for i in range(o) for sign in (1, -1) if np.allclose(t[i] * sign, side.direction, atol=1e-12)
        ]
        if not found:
            left.append(side)
            continue
        (i, sign), const, slope = found[0], side.const - room(side), side.slope
        ends, slopes = (high, high_slope) if sign > 0 else (low, low_slope)
        if not np.isfinite(ends[i]):
            ends[i], slopes[i] = sign * const, sign * slope
        elif np.array_equal(slopes[i], sign * slope):
            ends[i] = min(ends[i], const) if sign > 0 else max(ends[i], -const)
        else:
            left.append(side)  # a second bound of another slope
    u = domain.scale(x)
    z = (y - start) / scale @ t.T  # [N, o]
    span = max(1.0, float(np.ptp(z, axis=0).max(initial=0.0)))
    for i in range(o):
        if np.isfinite(high[i]) and not np.isfinite(low[i]):
            below = float((high[i] + u @ high_slope[i] - z[:, i]).max(initial=0.0))
            low[i], low_slope[i] = high[i] - below - FAR * span, high_slope[i]
        elif np.isfinite(low[i]) and not np.isfinite(high[i]):
            above = float((z[:, i] - low[i] - u @ low_slope[i]).max(initial=0.0))
            high[i], high_slope[i] = low[i] + above + FAR * span, low_slope[i]
        elif not np.isfinite(low[i]):
            low[i], high[i] = z[:, i].min() - FAR * span, z[:, i].max() + FAR * span
    head = np.linalg.inv(t)
    head[np.abs(head) < 1e-12 * np.abs(head).max()] = 0.0  # rounding of the inverse: the ends leave room for it
    box = Coordinates(head, low, high, low_slope, high_slope)
    u_lo, u_hi = domain.scale(domain.lo), domain.scale(domain.hi)
    if not (_least(high - low, high_slope - low_slope, u_lo, u_hi) > 0).all():
        return None
    return box if all(_implied(box, side, u_lo, u_hi) for side in left) else None


def read_sides(
    claim: Claim, domain: Domain, names: Sequence[str], scale: np.ndarray, start: np.ndarray
) -> list[Side]:  # fmt: skip
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
