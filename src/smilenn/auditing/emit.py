"""The proof of a row as bytes: the tree of the search, slopes rounded as coarsely as its bound allows.

The tree is walked with the checker's own cells, so the states of units and the bounds of leaves are those it will find.
A leaf is stored with the fewest binary digits for which its bound stays within what the whole row needs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from smilenn.auditing.search import Node, Slopes
from smilenn.certify.check_deep import INPUT, LEMMAS, OWN, PHASE, STORED, Cell, G, K, Proof

DIGITS = (6, 9, 12, 15, 18, 21, 24, 28, 32, 36, 40)
OWN_CODE, NONE_CODE, FIRST, SECOND, OPPOSITE, BOTH = range(6)
Codes = list[list[tuple[int, int] | None]]


def write_proof(proof: Proof, root: Node, limit: Fraction) -> bytes:
    """The bytes of a proof; leaves above `limit` get the best slopes known."""
    return Writer(proof, limit).tree(root)


class Writer:
    """Writes one proof; `proof` is the checker's, without rounding."""

    def __init__(self, proof: Proof, limit: Fraction) -> None:
        self.proof, self.limit = proof, int(limit * (1 << (K + G)))
        self.start = 0  # where the last leaf found its digits

    def tree(self, root: Node) -> bytes:
        """The whole tree, a node before its children, the first child first."""
        out = bytearray()
        ahead: list[tuple[Node, Cell | None]] = [(root, self.proof.root())]
        while ahead:
            node, cell = ahead.pop()
            if node.lemmas:
                out.append(LEMMAS)
                cell = self.proof.grown(cell, None, LEMMAS)
            if node.split is None:
                out += self.leaf(node, cell)
            else:
                out += self.split(node, cell, ahead)
        return bytes(out)

    def split(self, node: Node, cell: Cell | None, ahead: list[tuple[Node, Cell | None]]) -> bytes:
        """A split; its children are put on the list."""
        assert node.split is not None
        if len(node.split) == 2:
            i, at = node.split[0], Fraction(node.split[1])
            cells = [self.proof.parted(cell, i, 0, at, sign) for sign in (-1, 1)]
            places = at.denominator.bit_length() - 1
            head = bytes([INPUT]) + number(i) + number(0) + signed(at.numerator) + number(places)
        else:
            layer, unit, copy = node.split
            cell = self.proof.forced(cell)
            cells = [self.proof.grown(cell, (layer + 1, unit, copy, sign)) for sign in (-1, 1)]
            head = bytes([PHASE]) + number(layer) + number(unit) + number(copy)
        ahead += list(zip(node.children, cells, strict=True))[::-1]
        return head

    def leaf(self, node: Node, cell: Cell | None) -> bytes:
        """A leaf, as short as its bound allows."""
        cell = self.proof.forced(cell)
        if cell is None:
            return bytes([OWN])
        (value,) = self.proof.leaves(cell, None)
        if value <= self.limit or node.slopes is None:
            return bytes([OWN])
        best, kept = value, bytes([OWN])
        for place in range(max(self.start - 1, 0), len(DIGITS)):
            codes = rounded(node.slopes, cell, DIGITS[place])
            (value,) = self.proof.leaves(cell, shifted(codes, DIGITS[place]))
            if value < best:
                best, kept = value, bytes([STORED]) + written(codes, DIGITS[place])
            if value <= self.limit:
                self.start = place
                break
        return kept


def rounded(slopes: Slopes, cell: Cell, digits: int) -> Codes:
    """Slopes in multiples of 2^-digits, from the top layer down; None: the checker's own."""
    out: Codes = []
    for layer in range(len(slopes), 0, -1):
        here: list[tuple[int, int] | None] = []
        for t1, t2, r in zip(*slopes[layer - 1], cell.ranges[layer], strict=True):
            if np.isnan(t1) or np.isnan(t2):
                here.append(None)
            elif r[4] == r[5]:  # s_1 − s_2 is known: one slope says it all
                here.append((round(float(t1 + t2) * 2.0**digits), 0))
            else:
                here.append((round(float(t1) * 2.0**digits), round(float(t2) * 2.0**digits)))
        out.append(here)
    return out


def shifted(codes: Codes, digits: int) -> Codes:
    """The same in multiples of 2^-K."""
    return [[None if t is None else (t[0] << (K - digits), t[1] << (K - digits)) for t in here] for here in codes]


def written(codes: Codes, digits: int) -> bytes:
    """Digits, then per layer half a byte a unit and the numbers."""
    out = bytearray(number(digits))
    for here in codes:
        kinds = [_kind(t) for t in here] + [0] * (len(here) % 2)
        out += bytes(a | b << 4 for a, b in zip(kinds[::2], kinds[1::2], strict=True))
        for kind, t in zip(kinds, here, strict=False):
            if t is not None and kind >= FIRST:
                out += b"".join(signed(v) for v in {SECOND: t[1:], BOTH: t}.get(kind, t[:1]))
    return bytes(out)


def _kind(t: tuple[int, int] | None) -> int:
    match t:
        case None:
            return OWN_CODE
        case (0, 0):
            return NONE_CODE
        case (_, 0):
            return FIRST
        case (0, _):
            return SECOND
    return OPPOSITE if t[0] == -t[1] else BOTH


def number(value: int) -> bytes:
    """A whole number ≥ 0, seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def signed(value: int) -> bytes:
    """A whole number of either sign."""
    return number(2 * value if value >= 0 else -2 * value - 1)
