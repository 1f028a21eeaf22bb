"""Which share of the domain keeps its label whatever the protected input is: boxes of whole numbers, split and bounded.

    settled(box)  ⇔  f > 0 on box × every part, or f ≤ 0 on box × every part        (a part: some protected values)

The boxes with the most points are bounded first, many at a time, and one that is not settled is halved at the input
that spans most of its bounds. What the tree claims is counted again by the checkers; a claim that rounding spoils is
not counted.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from smilenn.auditing.emit import number, signed
from smilenn.auditing.label_bounds import Boxes
from smilenn.auditing.network import DeepNet
from smilenn.certify.check_deep import OPEN, OTHER, POSITIVE, SPLIT

AT_ONCE = 256
KEPT = 1 - 5e-4  # of the points that the search settled: the smallest leaves of a proof are not worth their check


@dataclass(eq=False)
class Box:
    """Whole bounds lo, hi [m]; a claim about it, or the input and the value it is split at and both children."""

    lo: np.ndarray
    hi: np.ndarray
    points: int
    claim: int = OPEN
    split: tuple[int, int] | None = None
    children: list[Box] = field(default_factory=list)


class ShareSearch:
    """The tree of boxes of one network and protected input."""

    def __init__(
        self, net: DeepNet, lo: np.ndarray, hi: np.ndarray, protected: int, parts: Sequence[tuple[int, int]]
    ) -> None:
        self.net, self.protected, self.parts = net, protected, parts
        self.root = self._box(lo, hi)
        self.settled, self.count = 0, 0
        self.heap: list[tuple[int, int, Box]] = [(-self.root.points, 0, self.root)]
        self.leaves: list[Box] = []

    def _box(self, lo: np.ndarray, hi: np.ndarray) -> Box:
        sizes = np.delete(hi - lo + 1, self.protected)
        return Box(lo, hi, math.prod(int(v) for v in sizes))

    def run(self, until: float) -> None:
        """Split boxes until that time (`perf_counter`), or nothing is left to split."""
        while self.heap and perf_counter() < until:
            batch = [heapq.heappop(self.heap)[2] for _ in range(min(AT_ONCE, len(self.heap)))]
            claims, spans = self._bounded(np.stack([b.lo for b in batch]), np.stack([b.hi for b in batch]))
            for box, claim, span in zip(batch, claims, spans, strict=True):
                if claim != OPEN:
                    box.claim = claim
                    self.settled += box.points
                    self.leaves.append(box)
                elif span.max() > 0:
                    self._split(box, int(span.argmax()))

    def _bounded(self, lo: np.ndarray, hi: np.ndarray) -> tuple[list[int], np.ndarray]:
        """What is claimed of boxes [B, m], and how much each input spans where it can be split."""
        above, below, spans = np.ones(len(lo), dtype=bool), np.ones(len(lo), dtype=bool), np.zeros(lo.shape)
        for part in self.parts:
            ends = [lo.copy(), hi.copy()]
            for end, value in zip(ends, part, strict=True):
                end[:, self.protected] = value
            low, high, found = Boxes(self.net, *ends).output()
            room = 1e-9 * np.maximum(np.abs(low), np.abs(high))
            above, below, spans = above & (low > room), below & (high < -room), spans + found
        spans[:, self.protected] = 0.0
        claims = np.where(above, POSITIVE, np.where(below, OTHER, OPEN))
        return claims.tolist(), np.where(hi > lo, spans, 0.0)

    def _split(self, box: Box, i: int) -> None:
        at = math.floor((box.lo[i] + box.hi[i]) / 2)
        box.split = i, at
        for side in (0, 1):
            lo, hi = box.lo.copy(), box.hi.copy()
            (hi if side == 0 else lo)[i] = at + side
            child = self._box(lo, hi)
            box.children.append(child)
            self.count += 1
            heapq.heappush(self.heap, (-child.points, self.count, child))

    def along(self, i: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Up to `most` ranges of input i, edges [k + 1], and which share of the points in each is settled [k]."""
        low, high = int(self.root.lo[i]), int(self.root.hi[i])
        edges = np.unique(np.round(np.linspace(low, high + 1, most + 1)))
        if not self.leaves:
            return edges, np.zeros(len(edges) - 1)
        lo, hi = (np.array([getattr(leaf, end)[i] for leaf in self.leaves]) for end in ("lo", "hi"))
        points = np.array([float(leaf.points) for leaf in self.leaves]) / (hi - lo + 1)
        common = np.minimum(hi[:, None] + 1, edges[1:]) - np.maximum(lo[:, None], edges[:-1])
        total = self.root.points * np.diff(edges) / (high - low + 1)
        return edges, (np.maximum(common, 0) * points[:, None]).sum(axis=0) / total

    def proof(self) -> bytes:
        """The tree as bytes, without the smallest leaves."""
        kept, total = set(), 0
        for box in sorted(self.leaves, key=lambda b: -b.points):
            if total >= KEPT * self.settled and self.settled < self.root.points:
                break
            kept.add(id(box))
            total += box.points
        return _written(self.root, _useful(self.root, kept))


def _useful(root: Box, kept: set[int]) -> set[int]:
    """The boxes that are kept or have one below them."""
    out, order, ahead = set(kept), [], [root]
    while ahead:
        order.append(box := ahead.pop())
        ahead += box.children
    for box in reversed(order):
        if any(id(child) in out for child in box.children):
            out.add(id(box))
    return out


def _written(root: Box, useful: set[int]) -> bytes:
    """A node before its children, the lower half first."""
    out, ahead = bytearray(), [root]
    while ahead:
        box = ahead.pop()
        if id(box) not in useful:
            out.append(OPEN)
        elif box.split is None:
            out.append(box.claim)
        else:
            i, at = box.split
            out += bytes([SPLIT]) + number(i) + signed(at)
            ahead += box.children[::-1]
    return bytes(out)
