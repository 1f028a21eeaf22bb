"""The tree of a proof, and how much checking it may take: docs/certificate.md, section 6.

Trees are counted first, then walked in preorder with an explicit stack: their depth is limited by the memory for one
short record per level, not by Python's recursion. For the reference checker only.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from fractions import Fraction

from smilenn.certify.reference.claims import Claim
from smilenn.certify.reference.floats import decoded
from smilenn.certify.reference.model import ZERO, Model
from smilenn.certify.reference.premise import Cell, Premise
from smilenn.certify.reference.reader import Proof
from smilenn.certify.reference.strict import Refused
from smilenn.certify.reference.trees import work

LEAF, PHASE, INPUT, GROUP, EMPTY, FLIP = range(6)
ALL = 255


class Budget:
    """How many nodes all proofs together may still have, and how much work they may be.

    `factor` is how often a row of the claim that is being checked counts: work.py.
    """

    def __init__(self, nodes: int, work: int) -> None:
        self.nodes, self.work, self.factor = nodes, work, 1

    # for every number of the claim, for every case
    def case(self, claim: Claim, common: int) -> None:
        """Refused if one more case, which reads its claim anew, is too much; `common` is its common denominator."""
        self.spent(claim.reading(common))

    # the pairs of leaves of trees, for every claim
    def claim(self, model: Model) -> None:
        """Refused if one more claim is too much; what the layers of an encoder cost depends on its premise."""
        self.spent(sum(work(tree) for forest in model.net.forests.values() for tree in forest))

    # k·(n·(o + m + hidden units) + 8·(m + 8)) for every row
    def row(self, model: Model, premise: Premise) -> None:
        """Refused if one more row is too much, whatever its proof."""
        net, m = model.net, len(premise.pinned)
        work = premise.copies * (net.embedding * (len(net.outputs) + m + len(model.bias)) + 8 * (m + 8))
        self.spent(self.factor * work)

    # k·(16·nodes + (nodes·(hidden units + 1 + extra + ⌈lemmas/4⌉) + 2ᵏ·lemmas)·(m + 1 + pairs)·(1 + n, paper boxes)),
    # pairs = Σ ⌊size²/64⌋ of the groups for k = 2
    def spend(
        self, nodes: int, model: Model, premise: Premise, lemmas: int = 0, extra: int = 0, times: int = 1
    ) -> None:
        """Refused if a proof of so many nodes and lemmas, its leaves with so many extra rows, is too much."""
        k, groups = premise.copies, premise.domain.groups
        width = len(premise.pinned) + 1 + (sum(len(group) ** 2 // 64 for group in groups) if k == 2 else 0)
        flips = model.net.embedding if model.net.boxes == "paper" else 0
        self.nodes -= nodes
        if self.nodes < 0:
            raise Refused("The proofs have more nodes than a certificate may have.")
        each = len(model.bias) + 1 + extra + math.ceil(Fraction(lemmas, 4))
        work = k * (16 * nodes + (nodes * each + 2**k * lemmas) * width * (1 + flips))
        self.spent(times * self.factor * work)

    def spent(self, work: int) -> None:
        """Refused if so much more is too much."""
        self.work -= work
        if self.work < 0:
            raise Refused("The proofs are more work to check than those of a certificate may be.")


def count(data: bytes, numbers: int, groups: Sequence[Sequence[int]]) -> int:
    """How many nodes a tree has whose leaves hold so many numbers; of a malformed one, at least those before that."""
    at = nodes = depth = 0  # depth: phase splits on the path
    due, phases = array("Q", [1]), bytearray(1)  # per level: children to come, and whether it splits a phase
    while due and at < len(data):
        kind = data[at]
        nodes += 1
        if kind in (LEAF, EMPTY):
            at += 1 + 4 * (numbers if kind == LEAF else depth)
            due[-1] -= 1
            while due and not due[-1]:
                due.pop()
                depth -= phases.pop()
                if due:
                    due[-1] -= 1
        else:
            index = int.from_bytes(data[at + 2 : at + 4], "little")
            due.append(len(groups[index]) if kind == GROUP and index < len(groups) else 2)
            phases.append(kind == PHASE)
            depth += kind == PHASE
            at += 12 if kind == INPUT else 4
    return nodes


class Walk:
    """The leaves of a proof's tree, each while `cell` is cut by the splits above it.

    `numbers` is how many int32 a leaf holds; `slope` says that the tree is over one point (section 4.3). Per level the
    stack keeps a split's place in the file, the child that is open, and the value that the cell had before.
    """

    def __init__(self, proof: Proof, cell: Cell, numbers: int, *, slope: bool) -> None:
        self.data, self.cell, self.numbers, self.slope = proof.nodes, cell, numbers, slope
        self.places, self.children, self.before = array("Q"), array("Q"), []
        self.leaves = self.at = 0

    def __iter__(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Kind and numbers of every leaf, in preorder."""
        more = True
        while more:
            kind = self._take("<B", self.at)[0]
            if kind in (LEAF, EMPTY):
                form = f"<{self.numbers}i" if kind == LEAF else f"<{len(self.phases())}I"
                if kind == EMPTY and not self.slope:
                    raise Refused("A proof by the leaf rule has a leaf that is declared empty.")
                self.leaves += 1
                yield kind, self._take(form, self.at + 1)
                self.at += 1 + struct.calcsize(form)
                more = self._next()
            else:
                self.places.append(self.at)
                self.children.append(0)
                self.at += 12 if kind == INPUT else 4
                self._enter()
        if self.at != len(self.data):
            raise Refused("A proof has nodes after the end of its tree.")

    def phases(self) -> list[tuple[int, int]]:
        """(unit, −1 or +1) of the phase splits above, from the root down: s ≤ 0 or s ≥ 0."""
        path = zip(self.places, self.children, strict=True)
        return [(self._take("<H", at + 2)[0], 2 * child - 1) for at, child in path if self.data[at] == PHASE]

    def _take(self, form: str, at: int) -> tuple:
        if at + struct.calcsize(form) > len(self.data):
            raise Refused("A proof ends in the middle of its tree.")
        return struct.unpack_from(form, self.data, at)

    def _split(self) -> tuple[int, range, int, Fraction, int]:
        """The last split: kind, the copies it cuts, what it splits, the threshold, the number of children."""
        cell, premise, at = self.cell, self.cell.premise, self.places[-1]
        (kind, copy, index), theta, children = self._take("<BBH", at), ZERO, 2
        counts = {
            PHASE: len(cell.phase[0]),
            INPUT: len(premise.pinned),
            GROUP: len(cell.groups),
            FLIP: len(cell.flip[0]),
        }
        if kind not in counts:
            raise Refused("A proof has a node of an unknown kind.")
        if index >= counts[kind]:
            raise Refused("A proof splits a unit, coordinate or category that does not exist.")
        pinned = False
        if kind == INPUT:
            threshold = decoded(self._take("<Q", at + 4)[0])
            if threshold is None:
                raise Refused("A proof splits an input at a threshold that is not finite.")
            if index in cell.grouped:
                raise Refused("A proof splits one coordinate of a category instead of the category.")
            pinned, theta = premise.pinned[index], threshold
        elif kind == GROUP:
            pinned, children = all(premise.pinned[i] for i in cell.groups[index]), len(cell.groups[index])
        if self.slope and kind != PHASE and not pinned:
            raise Refused("A proof by the slope rule splits a feature that moves.")
        together = pinned or self.slope
        if (copy != ALL) if together else (copy >= premise.copies):
            raise Refused("A proof splits for a copy that it may not name there.")
        return kind, range(len(cell.lo)) if together else range(copy, copy + 1), index, theta, children

    def _where(self, kind: int, child: int) -> list[list]:
        if kind == INPUT:
            return self.cell.lo if child else self.cell.hi
        return {PHASE: self.cell.phase, FLIP: self.cell.flip, GROUP: self.cell.allowed}[kind]

    # s ≤ 0 and s ≥ 0, d ≤ 0 and d ≥ 0; x ≤ θ and x ≥ θ (whole-valued: x ≤ ⌊θ⌋ and x ≥ ⌊θ⌋ + 1); one child per category
    def _enter(self) -> None:
        """Cut the cell to the open child of the last split. Copies that are cut together have equal values there."""
        kind, copies, i, theta, _ = self._split()
        child = self.children[-1]
        where = self._where(kind, child)
        old = where[copies[0]][i]
        if kind in (PHASE, FLIP):
            new = (old[0] or child == 0, old[1] or child == 1)
        elif kind == GROUP:
            new = tuple(p for p in old if p == child)
        else:
            if self.cell.premise.whole[i]:
                theta = Fraction(math.floor(theta) + child)
            new = max(old, theta) if child else min(old, theta)
        self.before.append(old)
        for c in copies:
            where[c][i] = new

    def _next(self) -> bool:
        """Go on to the next child that is to be visited; False at the end of the tree."""
        while self.places:
            kind, copies, i, _, children = self._split()
            where, old = self._where(kind, self.children[-1]), self.before.pop()
            for c in copies:
                where[c][i] = old
            if self.children[-1] + 1 < children:
                self.children[-1] += 1
                self._enter()
                return True
            self.places.pop()
            self.children.pop()
        return False
