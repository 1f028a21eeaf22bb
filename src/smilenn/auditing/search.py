"""Best-first branch and bound over phases and inputs: the deep rule bounds every cell with slopes from an LP.

    proved = max over open and closed cells of the rule's bound         found = the left side of the best pair

The cell with the largest bound is split at the unit that gives away most at the LP's point. Where one input makes a
good part of the ranges of its units, that input is halved instead: two or three inputs often make nearly all of them,
and each half settles many units at once. Cells by inputs are seldom empty, so their slopes are not steep, and the
network's own rounding adds little. Whenever the time is up, the tree is a proof: every cell that was reached has slopes
of its own.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from smilenn.auditing import octagon
from smilenn.auditing.attack import Attack
from smilenn.auditing.bounds import Cell, Cut, back, spread
from smilenn.auditing.network import DeepNet
from smilenn.auditing.relaxation import Answer, Relaxation
from smilenn.auditing.rows import Row
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.mip.solvers.highs import Highs

Slopes = list[tuple[np.ndarray, np.ndarray]]
Split = tuple[int, int, int] | tuple[int, float]  # layer, unit, copy of a phase; or an input and where it is split
REBUILT = 12  # cuts below the last hidden layer after which a cell gets an LP of its own
POLISHED = 8  # of so many cells one has its LP's point climbed from
NEARBY, ASIDE = 64, 0.05  # the last points of LPs evolve again while that takes up to such a share of the time
ROOM = 1e-3  # of a right side that is to be decided: left for rounding, the network's own included
MANY, MOST = 12, 0.8  # units not settled, or share of all units: above the smaller number inputs are split,
LONG = 0.25  # if one of them makes such a share of these units' ranges
CHEAP = 300_000  # multiplications up to which a checker is asked for lemmas beside those of the root
FRACTION = 1e-6  # a whole-valued input is not whole at the LP's point
PLACES = 20  # binary digits of where it is split
SHARE = 0.8  # of the tolerance that the search uses; the rest is for rounding slopes


@dataclass(eq=False)
class Node:
    """A cell of the tree: its slopes (None: own, or empty), and once split the unit and both children."""

    cuts: tuple[Cut, ...]
    cell: Cell | None
    bound: float
    slopes: Slopes | None = None
    split: Split | None = None
    raw: np.ndarray | None = None  # boxes and strips of the inputs, [6, m]
    halved: int = 0  # how often an input was split
    children: list[Node] = field(default_factory=list)
    basis: Any = None
    anchor: Relaxation | None = None
    built: int = 0  # how many of its cuts the LP's ranges know
    lemmas: bool = False  # whether its ranges come from lemmas


class Search:
    """The tree of one row."""

    def __init__(
        self, net: DeepNet, row: Row, attack: Attack, *, gap: float, decide: bool = False, solver: Solver | None = None
    ) -> None:
        self.net, self.row, self.attack, self.gap, self.decide = net, row, attack, gap, decide
        self.solver = Highs() if solver is None else solver
        a = row.coefficients()
        self.kappa = a @ net.weights[-1]  # [2, n]
        self.const = float((a @ net.biases[-1]).sum())
        self.cheap = 0 < _lemma_work(net.sizes) <= CHEAP
        self.count, self.nodes = 0, 0
        self.heap: list[tuple[float, int, Node, Split]] = []
        self.closed = -np.inf
        self.nearby: deque[np.ndarray] = deque(maxlen=NEARBY)
        self.evolving = 0.0  # seconds
        self.course: list[tuple[float, float, float]] = []  # seconds, found, proved, whenever the bracket moved

    @property
    def found(self) -> float:
        """The left side of the best pair."""
        return -np.inf if self.attack.best is None else float(self.attack.best.value)

    @property
    def proved(self) -> float:
        """The largest bound of a cell that is not split, in float64."""
        return max(self.closed, -self.heap[0][0]) if self.heap else self.closed

    @property
    def enough(self) -> float:
        """Cells with a bound up to this need no split."""
        closed = self.found + SHARE * self.gap * abs(self.found)
        if not self.decide or self.row.rhs is None:
            return closed
        limit = float(self.row.rhs)
        return np.inf if self.found > limit else max(closed, limit - ROOM * abs(limit))

    def run(self, until: float) -> Node:
        """Search until that time (`perf_counter`) or the gap is closed; the root."""
        lemmas, begun = len(self.net.weights) > 2, perf_counter()
        raw = self.row.box()
        cell = spread(self.net, self.row.scaled(self.net, raw), lemmas=lemmas)
        root = Node((), cell, np.inf, lemmas=lemmas, raw=raw)
        self._bound(root, None)
        self._note(begun)
        while self.heap and -self.heap[0][0] > self.enough and perf_counter() < until:
            _, _, node, split = heapq.heappop(self.heap)
            self._split(node, split)
            self._evolve(begun)
            self._note(begun)
        return root

    def _evolve(self, begun: float) -> None:
        """Improve the pairs near the points of the last LPs, now and then."""
        now = perf_counter()
        if len(self.nearby) < NEARBY or self.evolving > ASIDE * (now - begun):
            return
        self.attack.evolve(np.concatenate(self.nearby), 0.5)
        self.nearby.clear()
        self.evolving += perf_counter() - now

    def _note(self, begun: float) -> None:
        """Note the bracket if it moved since the last time."""
        if not self.course or self.course[-1][1:] != (self.found, self.proved):
            self.course.append((perf_counter() - begun, self.found, self.proved))

    def _split(self, node: Node, split: Split) -> None:
        node.split = split
        for sign in (-1, 1):
            child = self._phase(node, (*split, sign)) if len(split) == 3 else self._half(node, *split, sign)
            node.children.append(child)
            self._bound(child, node)
        node.cell = node.basis = node.anchor = node.slopes = None  # the children have what they need

    def _phase(self, node: Node, cut: Cut) -> Node:
        """A child with the sign of a unit."""
        cell = spread(self.net, node.cell.inputs, node.cell, (cut,))  # type: ignore[union-attr]
        return Node((*node.cuts, cut), cell, -np.inf, raw=node.raw, halved=node.halved)

    def _half(self, node: Node, i: int, at: float, sign: int) -> Node:
        """A child with an input of copy 1 at most `at` (−1) or at least; its ranges and lemmas are found anew."""
        raw = node.raw.copy()  # type: ignore[union-attr]
        lemmas = self.cheap and node.halved % 2 == 1  # those of the box around it are nearly as good
        raw[int(sign < 0), i] = np.floor(at) + (sign > 0) if self.row.whole[i] else at
        cell = spread(self.net, self.row.scaled(self.net, raw), node.cell, lemmas=lemmas)
        return Node(node.cuts, cell, -np.inf, lemmas=lemmas, raw=raw, halved=node.halved + 1)

    def _bound(self, node: Node, parent: Node | None) -> None:
        """Bound a cell and put it where it belongs."""
        self.nodes += 1
        if node.cell is None:
            return
        fresh = parent is None or node.raw is not parent.raw or self._rebuilt(node, parent)
        split = self._solved(node, parent, fresh)
        if split is None and node.bound > self.enough and node.built < len(node.cuts):
            split = self._solved(node, parent, True)  # its own ranges are tighter than those of the shared LP
        if split is None or node.bound <= self.enough:
            self.closed = max(self.closed, node.bound)
            node.cell = node.basis = node.anchor = None
        else:
            self.count += 1
            heapq.heappush(self.heap, (-node.bound, self.count, node, split))

    def _solved(self, node: Node, parent: Node | None, fresh: bool) -> Split | None:
        """Give a cell its bound, from a fresh LP or its parent's; where to split it, None if nowhere."""
        assert node.cell is not None
        answer = self._answer(node, node.cell, None if fresh else parent)
        own = parent is None or answer is None or fresh
        node.bound, node.slopes = self._rule(node.cell, None) if own else np.inf, None
        if answer is not None:
            self._try(node, node.cell, answer.slopes)
        if parent is not None and (node.slopes is None or node.bound >= parent.bound):
            self._try(node, node.cell, parent.slopes)
        if answer is None:
            return _any_phase(node.cell) or self._halved(node)
        node.basis = answer.basis
        near = self._near(answer.x)
        self.attack.offer(near)
        self.nearby.append(near)
        if self.nodes % POLISHED == 1:
            self.attack.climb_from(near[0])
        return self._long(node) or _widest(answer, node.cell) or self._fraction(answer, node)

    def _fraction(self, answer: Answer, node: Node) -> Split | None:
        """A whole-valued input that is farthest from a whole number at the LP's point, split there."""
        x, raw = self.net.unscaled(answer.x)[0], node.raw
        assert raw is not None
        free = np.array(self.row.whole) & (raw[0] < raw[1])
        x = np.clip(x, raw[0], raw[1])
        far = np.where(free, np.abs(x - np.rint(x)), 0.0)
        i = int(far.argmax())
        return (i, float(np.floor(x[i])) + 0.5) if far[i] > FRACTION else None

    def _halved(self, node: Node) -> Split | None:
        """The input that moves the first layer most, where no LP says more and no sign is open."""
        cell, raw = node.cell, node.raw
        assert cell is not None and raw is not None
        wide = np.abs(self.net.weights[0]).sum(axis=0) * (cell.inputs[1] - cell.inputs[0])
        return _middle(raw, int(wide.argmax()))

    def _long(self, node: Node) -> Split | None:
        """The input that makes most of the ranges of units whose sign is open, while there are many of them."""
        cell, raw = node.cell, node.raw
        assert cell is not None and raw is not None
        unsettled = [~octagon.settled(r) for r in cell.layers]
        first = np.abs(self.net.weights[0][unsettled[0]])
        if sum(map(np.sum, unsettled)) <= min(MANY, MOST * sum(map(len, unsettled))) or not len(first):
            return None
        wide = first * (cell.inputs[1] - cell.inputs[0])
        share = (wide / np.maximum(wide.sum(axis=1, keepdims=True), 1e-300)).mean(axis=0)
        i = int(share.argmax())
        return _middle(raw, i) if share[i] > LONG else None

    def _answer(self, node: Node, cell: Cell, lender: Node | None) -> Answer | None:
        """What the LP of a cell says: that of the lender, going on from its basis, or a fresh one."""
        if lender is None:
            node.anchor, basis = Relaxation(self.net, self.kappa, cell, node.cuts, self.solver), None
            node.built = len(node.cuts)
        else:
            assert lender.anchor is not None
            node.anchor, basis, node.built = lender.anchor, lender.basis, lender.built
        return node.anchor.solve(node.cuts, basis)

    def _try(self, node: Node, cell: Cell, slopes: Slopes | None) -> None:
        """Take slopes whose bound is lower than the node's."""
        if slopes is not None and (value := self._rule(cell, slopes)) < node.bound:
            node.bound, node.slopes = value, slopes

    def _rebuilt(self, node: Node, parent: Node) -> bool:
        """Whether a cell gets an LP of its own.

        Its ranges above a cut are tighter than those of the LP it would share, but a shared LP goes on from a basis: on
        two networks of two and four layers 12 cuts closed more than 1, 3 or 6 did in the same time.
        """
        last = len(self.net.weights) - 2
        return sum(layer < last for layer, *_ in node.cuts[parent.built :]) >= REBUILT

    def _rule(self, cell: Cell, slopes: Slopes | None) -> float:
        given = None if slopes is None else [(a[None], b[None]) for a, b in slopes]
        top = len(self.net.weights) - 2
        return float(back(self.net, self.kappa[:1], self.kappa[1:], np.array([self.const]), top, cell, given)[0][0])

    def _near(self, u: np.ndarray) -> np.ndarray:
        """Pairs of the premise near scaled inputs u [2, m]."""
        x = self.net.unscaled(u)
        return self.attack.into_premise(x[:1], (x[0] - x[1])[None])


def _middle(raw: np.ndarray, i: int) -> tuple[int, float] | None:
    """The place in the middle of an input's range; None where it is too narrow to have one."""
    at = round((raw[0, i] + raw[1, i]) / 2 * 2.0**PLACES) / 2.0**PLACES
    return (i, at) if raw[0, i] < at < raw[1, i] else None


def _any_phase(cell: Cell) -> tuple[int, int, int] | None:
    """The first unit whose sign is open, and the copy: where no LP says which one gives away most."""
    for layer, r in enumerate(cell.layers):
        for c in range(2):
            j = np.flatnonzero((r[2 * c] < -1e-9) & (r[2 * c + 1] > 1e-9))
            if len(j):
                return layer, int(j[0]), c
    return None


def _lemma_work(sizes: tuple[int, ...]) -> int:
    """Multiplications of a checker for the lemmas of one cell, docs/audit-certificate.md §6."""
    layers = [n * (16 + 2 * below) for below, n in pairwise(sizes[:-1])]
    return sum(6 * n * sum(layers[:k]) for k, n in enumerate(sizes[1:-1]))


def _widest(answer: Answer, cell: Cell) -> tuple[int, int, int] | None:
    """The unit whose relaxation gives away most at the LP's point, and the copy."""
    best, where = 1e-12, None
    for weighted in (True, False):
        for layer, (slack, r) in enumerate(zip(answer.slack, cell.layers, strict=True)):
            undecided = np.stack([(r[2 * c] < -1e-9) & (r[2 * c + 1] > 1e-9) for c in range(2)])
            score = (
                np.where(undecided, slack, 0.0).sum(axis=0) if weighted else np.where(undecided, 1.0, 0.0).sum(axis=0)
            )
            j = int(score.argmax())
            if score[j] > best and undecided[:, j].any():
                best = float(score[j])
                c = int(np.where(undecided[:, j], np.abs(slack[:, j]), -1.0).argmax())
                where = (layer, j, c)
        if where is not None:
            return where
    return None
