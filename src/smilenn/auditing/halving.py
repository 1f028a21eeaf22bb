"""Two networks against each other by halving inputs: boxes of inputs are split until paired bounds show every row.

    box ──bounds of all rows at most rhs──▶ leaf        else halve the input that keeps most units unsettled

All rows share one tree. Boxes are bounded many at a time, first by lemmas about single copies, which are cheap to find
and to check, then by those about differences. Each is bounded by itself: lemmas of the boxes around it would settle
some of its units, but on ACAS-Xu they took a checker longer than all leaves and showed no leaf more. When the time is
up, open boxes are leaves with poor bounds: the tree is a proof all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from smilenn.auditing.emit import number, signed
from smilenn.auditing.network import DeepNet
from smilenn.auditing.paired import Twins
from smilenn.certify.check_deep import INPUT, LEMMAS, OWN, SINGLES

BATCH = 32
PLACES = 40  # binary digits of where an input is split
ROOM = 0.1  # of a limit, left for the networks' own rounding and for what the checker rounds: 0.02 was too little once
NARROW = 2.0**-30  # boxes are not split below this


@dataclass(eq=False)
class Box:
    """Raw inputs between lo and hi [m]; once split, the input, the place and both halves."""

    lo: np.ndarray
    hi: np.ndarray
    lemmas: bytes = b""  # the nodes that bound a leaf
    split: tuple[int, float] | None = None
    halves: list[Box] = field(default_factory=list)


@dataclass(frozen=True)
class Halved:
    """The tree, whether all of its leaves were shown, and how many boxes were bounded."""

    root: Box
    done: bool
    boxes: int


def halve(
    first: DeepNet,
    second: DeepNet,
    weights: np.ndarray,
    rhs: np.ndarray,
    box: Box,
    until: float,
    clock: Callable[[], float] = perf_counter,
) -> Halved:
    """Show Σ_o a_o·(f_o − g_o) ≤ rhs for rows a [S, o] on a box of raw inputs, until that time of the clock."""
    twins, enough = Twins(first, second, weights), rhs - ROOM * np.abs(rhs)
    ahead, boxes = [box], 0
    while ahead and clock() < until:
        some, ahead = ahead[-BATCH:], ahead[:-BATCH]
        boxes += len(some)
        ahead += _treated(twins, first, enough, some)
    return Halved(box, not ahead, boxes)


def _treated(twins: Twins, net: DeepNet, enough: np.ndarray, some: Sequence[Box]) -> list[Box]:
    """Bound boxes and split those that need it; the halves."""
    ends = [net.scaled(np.stack(side)) for side in zip(*((b.lo, b.hi) for b in some), strict=True)]
    lo, hi = np.minimum(*ends), np.maximum(*ends)
    found = twins.bounded(lo, hi, None, joint=False)
    wide = np.flatnonzero((found.bounds > enough).any(axis=1))
    closer = found.bounds[wide]
    if len(wide):  # differences of units may show it yet; their lemmas are for this box alone
        closer = twins.bounded(lo[wide], hi[wide], [r[:, wide] for r in found.layers], joint=True).bounds
    scores, out = twins.widths(found, lo, hi), []
    for box in some:
        box.lemmas = bytes([SINGLES])
    for k, bounds in zip(wide.tolist(), closer, strict=True):
        if (bounds > enough).any():
            out += _halves(some[k], scores[k])
        else:
            some[k].lemmas += bytes([LEMMAS])
    return out


def _halves(box: Box, score: np.ndarray) -> list[Box]:
    wide = box.hi - box.lo
    score = np.where(wide > NARROW, score + 1e-12 * wide, -1.0)
    i = int(score.argmax())
    at = round((box.lo[i] + box.hi[i]) / 2 * 2.0**PLACES) / 2.0**PLACES
    if score[i] < 0 or not box.lo[i] < at < box.hi[i]:
        return []
    below, above = box.hi.copy(), box.lo.copy()
    below[i] = above[i] = at
    box.split, box.halves = (i, at), [Box(box.lo, below), Box(above, box.hi)]
    return box.halves


def halved_proof(root: Box) -> bytes:
    """The tree as a proof; leaves have lemmas of single copies, and of differences where they were needed."""
    out, ahead = bytearray(), [root]
    while ahead:
        box = ahead.pop()
        if box.split is None:
            out += box.lemmas + bytes([OWN])
        else:
            i, at = box.split
            out += bytes([INPUT]) + number(i) + number(0) + signed(round(at * 2.0**PLACES)) + number(PLACES)
            ahead += box.halves[::-1]
    return bytes(out)
