"""Ranges of a layer from those below it: docs/audit-certificate.md, sections 4 and 8. For the reference checker only.

s_c = W_c·a_c + b_c        s_1 − s_2 = ½(W_1 + W_2)·(a_1 − a_2) + ½(W_1 − W_2)·(a_1 + a_2) + b_1 − b_2
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.deep_files import Network
from smilenn.certify.reference.deep_octagon import GRID, ZERO, Octagon, after_relu, down, up
from smilenn.certify.reference.deep_sums import Over, over, ranges
from smilenn.certify.reference.strict import need

LARGE = Fraction(1 << 60)


class Layer:
    """One layer of two networks, which may be the same: rows and columns of W_c, and b_c."""

    def __init__(self, nets: tuple[Network, Network], layer: int) -> None:
        self.first, self.one = layer == 1, nets[0] is nets[1]
        weights, self.biases = zip(*((net.weights[layer - 1], net.biases[layer - 1]) for net in nets), strict=True)
        self.inputs, self.roundoff = len(weights[0][0]), nets[0].roundoff
        self.rows = [[over(w) for w in part] for part in weights]
        self.columns = [[over(column) for column in zip(*part, strict=True)] for part in weights]
        self.shifts = [over(b) for b in self.biases]
        self.apart = [
            over([(p + q) / 2 for p, q in zip(*rows, strict=True)] + [(p - q) / 2 for p, q in zip(*rows, strict=True)])
            for rows in zip(*weights, strict=True)
        ]

    def through(self, below: Sequence[Octagon], rounds: bool) -> tuple[tuple[Octagon, ...], tuple[Fraction, ...]]:
        """Octagons and ε of the units."""
        a = below if self.first else [after_relu(r) for r in below]
        largest = [max(abs(v) for v in (r.lo1, r.hi1, r.lo2, r.hi2)) for r in a]
        need(all(v < LARGE for v in largest), "A value is 2^60 or more.")
        sizes, gap = over(largest), [(r.low, r.high) for r in a]
        copies = [ranges([(r.lo1, r.hi1) for r in a]), ranges([(r.lo2, r.hi2) for r in a])]
        differences = ranges(gap + [(r.lo1 + r.lo2, r.hi1 + r.hi2) for r in a])
        out, noise = [], []
        for j, apart in enumerate(self.apart):
            eps = self.error(j, sizes) if rounds else ZERO
            b1, b2 = self.biases[0][j], self.biases[1][j]
            lo1, hi1 = outward(copies[0].ends(self.rows[0][j]), b1, eps)
            lo2, hi2 = outward(copies[1].ends(self.rows[1][j]), b2, eps)
            low, high = outward(differences.ends(apart), b1 - b2, 2 * eps)
            out.append(Octagon(lo1, hi1, lo2, hi2, low, high))
            noise.append(eps)
        return tuple(out), tuple(noise)

    def error(self, j: int, sizes: Over) -> Fraction:
        """ε of a unit: the larger one of both networks."""
        n = (self.inputs + 5) * self.roundoff
        totals = [self.rows[c][j].sizes() * sizes + abs(self.biases[c][j]) for c in ((0,) if self.one else (0, 1))]
        return up(n / (1 - n) * max(totals)) + Fraction(1, GRID)


def outward(ends: tuple[Fraction, Fraction], shift: Fraction, eps: Fraction) -> tuple[Fraction, Fraction]:
    """An interval, moved, rounded outward and widened by ε."""
    return down(ends[0] + shift) - eps, up(ends[1] + shift) + eps
