"""Rows over few whole-valued inputs: every pair is tried, and the proof halves boxes down to points where it must.

    found = max over all pairs of the left side        box ──rule with own slopes ≤ found──▶ leaf        else halve it

Pairs are those of rows in which every input is whole and differs by a fixed number between the copies; then copy 1 says
all. On a point every octagon is a point, so the rule gives the left side itself: the bracket closes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from smilenn.auditing.attack import Attack
from smilenn.auditing.bounds import back, spread
from smilenn.auditing.emit import number, signed
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify.check_deep import INPUT, OWN

MOST = 4096  # pairs that are tried one by one
Ends = tuple[tuple[int, int], ...]


def few_pairs(row: Row) -> Ends | None:
    """The whole numbers that each input of copy 1 ranges over; None unless the row has few pairs."""
    if row.low != row.high or not all(row.whole):
        return None
    ends = []
    for i, gap in enumerate(row.low):
        low, high = max(row.lo[0][i], row.lo[1][i] + gap), min(row.hi[0][i], row.hi[1][i] + gap)
        if gap.denominator != 1 or low > high:
            return None
        ends.append((math.ceil(low), math.floor(high)))
    return tuple(ends) if 0 < math.prod(b - a + 1 for a, b in ends) <= MOST else None


def try_all(attack: Attack, row: Row, ends: Ends) -> None:
    """Offer every pair."""
    first = np.array(list(product(*(range(a, b + 1) for a, b in ends))), dtype=np.float64)
    gap = np.array([float(v) for v in row.low])
    attack.offer(attack.into_premise(first, np.broadcast_to(gap, first.shape)))


def enumerated(net: DeepNet, row: Row, ends: Ends, enough: float) -> bytes:
    """A proof that splits boxes of whole numbers until each is a point or has a bound of at most `enough`."""
    out, ahead = bytearray(), [ends]
    while ahead:
        box = ahead.pop()
        i = max(range(len(box)), key=lambda k: box[k][1] - box[k][0])
        low, high = box[i]
        if low == high or _bound(net, row, box) <= enough:
            out.append(OWN)
            continue
        at = (low + high) // 2
        out += bytes([INPUT]) + number(i) + number(0) + signed(at) + number(0)
        ahead += [_part(box, i, at + 1, high), _part(box, i, low, at)]
    return bytes(out)


def _part(box: Ends, i: int, low: int, high: int) -> Ends:
    return (*box[:i], (low, high), *box[i + 1 :])


def _bound(net: DeepNet, row: Row, box: Sequence[tuple[int, int]]) -> float:
    """The rule with own slopes on a box."""
    raw = row.box()
    raw[0], raw[1] = np.array(box, dtype=np.float64).T
    raw[2], raw[3] = raw[0] - raw[4], raw[1] - raw[4]
    cell = spread(net, row.scaled(net, raw))
    if cell is None:
        return -math.inf
    a = row.coefficients()
    kappa, const = a @ net.weights[-1], np.array([(a @ net.biases[-1]).sum()])
    return float(back(net, kappa[:1], kappa[1:], const, len(net.weights) - 2, cell)[0][0])
