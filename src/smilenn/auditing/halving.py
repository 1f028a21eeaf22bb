"""Two networks against each other by halving inputs: boxes of inputs are split until paired bounds show every row.

    box ──bounds of all rows at most rhs──▶ leaf        else halve the input that keeps most units unsettled

All rows share one tree. Boxes are bounded many at a time, each within what is known of the box around it, first by
lemmas about single copies, which are cheap to find and to check, then by those about differences. When the time
is up, open boxes are leaves with poor bounds: the tree is a proof all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from smilenn.auditing.emit import number, signed
from smilenn.auditing.network import DeepNet
from smilenn.auditing.paired import Bounded, Twins
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
    known: list[np.ndarray] | None = None  # ranges of every layer in the box around it
    lemmas: bytes = b""  # the nodes that bound it
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
    found = twins.bounded(lo, hi, _known(some), joint=False)
    wide = np.flatnonzero((found.bounds > enough).any(axis=1))
    closer = found.bounds[wide]
    if len(wide):  # differences of units may show it yet; their lemmas are for this box alone
        closer = twins.bounded(lo[wide], hi[wide], [r[:, wide] for r in found.layers], joint=True).bounds
    scores, out = twins.widths(found, lo, hi), []
    for box in some:
        box.lemmas, box.known = bytes([SINGLES]), None
    for k, bounds in zip(wide.tolist(), closer, strict=True):
        if (bounds > enough).any():
            out += _halves(some[k], scores[k], found, k)
        else:
            some[k].lemmas += bytes([LEMMAS])
    return out


def _known(some: Sequence[Box]) -> list[np.ndarray] | None:
    """What is known of boxes, layer by layer; all of them have something, or none has."""
    known = [box.known for box in some if box.known is not None]
    return [np.stack(layer, axis=1) for layer in zip(*known, strict=True)] if known else None


def _halves(box: Box, score: np.ndarray, found: Bounded, k: int) -> list[Box]:
    wide = box.hi - box.lo
    score = np.where(wide > NARROW, score + 1e-12 * wide, -1.0)
    i = int(score.argmax())
    at = round((box.lo[i] + box.hi[i]) / 2 * 2.0**PLACES) / 2.0**PLACES
    if score[i] < 0 or not box.lo[i] < at < box.hi[i]:
        return []
    ranges = [r[:, k] for r in found.layers]
    below, above = box.hi.copy(), box.lo.copy()
    below[i] = above[i] = at
    box.split, box.halves = (i, at), [Box(box.lo, below, ranges), Box(above, box.hi, ranges)]
    return box.halves


def halved_proof(root: Box) -> bytes:
    """The tree as a proof: lemmas of single copies where a box was bounded, of differences where they were needed."""
    out, ahead = bytearray(), [root]
    while ahead:
        box = ahead.pop()
        out += box.lemmas
        if box.split is None:
            out.append(OWN)
        else:
            i, at = box.split
            out += bytes([INPUT]) + number(i) + number(0) + signed(round(at * 2.0**PLACES)) + number(PLACES)
            ahead += box.halves[::-1]
    return bytes(out)
