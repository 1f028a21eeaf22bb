"""Two networks against each other by halving inputs: boxes of inputs are split until paired bounds show every row.

    box ──bounds of all rows at most rhs──▶ leaf        else halve the input that keeps most units unsettled

All rows share one tree. Boxes are bounded many at a time, first by lemmas about single copies, which are cheap to find
and to check, then by those about differences. Boxes at every third level pass on what their lemmas about single copies
say: a unit that is settled there needs no lemmas in the boxes within, which takes a third off the check. When the time
is up, open boxes are leaves with poor bounds: the tree is a proof all the same.
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

BATCH = 16
EVERY = 3  # levels between boxes that pass their ranges on: at every level the check takes longer than without
PLACES = 40  # binary digits of where an input is split
ROOM = 1e-4  # of a limit, left for what the checker rounds
NARROW = 2.0**-30  # boxes are not split below this


@dataclass(eq=False)
class Box:
    """Raw inputs between lo and hi [m]; once split, the input, the place and both halves."""

    lo: np.ndarray
    hi: np.ndarray
    level: int = 0
    known: list[np.ndarray] | None = None  # ranges [6, n] of every layer in a box around this one
    lemmas: bytes = b""  # the nodes that bound it, or that it passes on
    bounds: np.ndarray | None = None  # of the rows [S]
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
    ahead, boxes, stuck = [box], 0, False
    while ahead and clock() < until:
        some, ahead = ahead[-BATCH:], ahead[:-BATCH]
        boxes += len(some)
        ahead += _treated(twins, enough, some, np.stack([box.lo, box.hi]))
        stuck |= any((one.bounds > enough).any() for one in some if one.bounds is not None and not one.halves)
    return Halved(box, not ahead and not stuck, boxes)


def _treated(twins: Twins, enough: np.ndarray, some: Sequence[Box], root: np.ndarray) -> list[Box]:
    """Bound boxes and split those that need it; the halves."""
    lo, hi = twins.inputs(np.stack([b.lo for b in some]), np.stack([b.hi for b in some]), root)
    found = twins.bounded(lo, hi, _known(twins, some), joint=False)
    wide = np.flatnonzero((found.bounds > enough).any(axis=1))
    closer = found.bounds[wide]
    if len(wide):  # differences of units may show it yet; their lemmas are for this box alone
        closer = twins.bounded(lo[wide], hi[wide], [r[:, wide] for r in found.layers], joint=True).bounds
    scores, out = twins.widths(found, lo, hi), []
    for box, bounds in zip(some, found.bounds, strict=True):
        box.lemmas, box.bounds = bytes([SINGLES]), bounds
    for k, bounds in zip(wide.tolist(), closer, strict=True):
        if (bounds > enough).any():
            out += _halves(some[k], scores[k], [r[:, k] for r in found.layers])
        else:
            some[k].lemmas, some[k].bounds = some[k].lemmas + bytes([LEMMAS]), bounds
    for box in some:
        box.known = None
    return out


def _known(twins: Twins, some: Sequence[Box]) -> list[np.ndarray]:
    """What boxes around these say, [6, B, n] for every layer."""
    none = twins.unknown
    return [np.stack(ranges, axis=1) for ranges in zip(*(box.known or none for box in some), strict=True)]


def _halves(box: Box, score: np.ndarray, ranges: list[np.ndarray]) -> list[Box]:
    wide = box.hi - box.lo
    score = np.where(wide > NARROW, score + 1e-12 * wide, -1.0)
    i = int(score.argmax())
    at = round((box.lo[i] + box.hi[i]) / 2 * 2.0**PLACES) / 2.0**PLACES
    if score[i] < 0 or not box.lo[i] < at < box.hi[i]:
        return []
    below, above = box.hi.copy(), box.lo.copy()
    below[i] = above[i] = at
    passes = box.level % EVERY == EVERY - 1
    known, box.lemmas = (ranges, box.lemmas) if passes else (box.known, b"")
    ends = ((box.lo, below), (above, box.hi))
    box.split, box.halves = (i, at), [Box(lo, hi, box.level + 1, known) for lo, hi in ends]
    return box.halves


def halved_proof(root: Box) -> bytes:
    """The tree as a proof; leaves have lemmas of single copies, and of differences where they were needed."""
    out, ahead = bytearray(), [root]
    while ahead:
        box = ahead.pop()
        out += box.lemmas
        if box.split is None:
            out += bytes([OWN])
        else:
            i, at = box.split
            out += bytes([INPUT]) + number(i) + number(0) + signed(round(at * 2.0**PLACES)) + number(PLACES)
            ahead += box.halves[::-1]
    return bytes(out)
