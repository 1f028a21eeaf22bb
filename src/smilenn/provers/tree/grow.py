"""Branch-and-bound on phases, categories, whole numbers and inputs, with the leaf rule's LP bound in every cell.

The cell with the largest bound is split, then its worse child, and so on down until a child is done; then the next
largest. It ends when every bound is ≤ the target (proved), when a point above it is found, or at a limit. Cells that
an LP would close wait and are confirmed by the leaf rule in batches (`cells.py`); one that is refused is open again. A
search that starts from the tree of an earlier one bounds the old leaves by their old slopes first, also in batches, and
solves LPs for those that stay open.

Categories that differ between the copies come first where units are many (`moving_split`). Where they are few, phases
come first; but cells whose phases are all decided and which are still open show that the categories were to blame, and
after a few of them the search starts over, categories first.

The tree and its slopes are kept (`Tree`): they are what a certificate carries.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from time import perf_counter

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.prover import Goal
from smilenn.provers.tree import learn
from smilenn.provers.tree.cells import PARTS, WAITING, Cells
from smilenn.provers.tree.leaf import Cell, Slopes
from smilenn.provers.tree.lemma import Lemmas, no_lemmas, proved, written
from smilenn.provers.tree.splitting import cells, fractional_group, input_split, open_group, phase_split
from smilenn.provers.tree.tree import Node, Tree, leaves
from smilenn.reason import Reason, Why
from smilenn.search.gradient import search

SEARCH_AT: dict[Goal, int] = {"find": 8, "optimum": 32, "prove": 256}  # nodes after which a search for points pays
EXHAUSTED, EARLY = 3, 1000  # so many cells without open phases, within so many nodes, and the search starts over


class Growth(Cells):
    """One search over a premise, or over one cell of it: which cell is taken up, where it is split, when it ends."""

    def __init__(
        self,
        problem: Problem,
        row: Row,
        solver: Solver,
        time_limit: float,
        goal: Goal,
        target: float,
        written: bool,
        cell: Cell | None = None,
        lemmas: Lemmas | None = None,
    ) -> None:
        super().__init__(problem, row, solver, time_limit, goal, target, written, cell, lemmas)
        self.pushed, self.exhausted = 0, 0
        self.stopped: Why | None = None

    def begin(self) -> None:
        """An empty tree; the best point stays."""
        super().begin()
        self.current: Node | None = None  # being split
        self.plunge: Node | None = None  # to be split next
        self.heap: list[tuple[float, int, Node]] = []

    def grow(self, most: int, like: Tree | None = None, pause: float = math.inf) -> None:
        """Split until done, or until there are `pause` nodes; why it stops early goes to `stopped`.

        Called again, it goes on.
        """
        self.searching = SEARCH_AT[self.goal]
        try:
            if self.count == 0:
                for node in [self.root] if like is None else self._still_open(self._taken_over(like, most)):
                    late = perf_counter() - self.start > self.limit
                    self.push(node if late else self.bounded(node))
            going = True
            while going and self._confirmed(pause) and not self._ended(most, pause):
                going = self._step(most, like is None)
        except KeyboardInterrupt:
            self.stop(Reason.INTERRUPTED)
            self._take_back()
        finally:
            self._push_plunge()

    def _confirmed(self, pause: float) -> bool:
        """Whether a cell is open, once those that wait and must not wait longer are confirmed."""
        while self.waiting and (self._reached() or len(self.waiting) >= WAITING or self.count >= pause):
            self._confirm()
        return bool(self.heap or self.plunge is not None or self.waiting)

    def _ended(self, most: int, pause: float) -> bool:
        """Whether the goal, a limit or the pause is reached."""
        if self._reached():
            return True
        if self.count >= most:
            self.stop(Reason.NODES, most)
            return True
        if perf_counter() - self.start > self.limit:
            self.stop(Reason.TIME)
            return True
        return self.count >= pause

    def _step(self, most: int, alone: bool) -> bool:
        """A search for points, once; else the next cell is split. False where it cannot be."""
        if self.count >= self.searching:
            self.searching = most + 1
            self._search()
            return True
        node, self.plunge = self.plunge, None
        if node is None:
            node = heapq.heappop(self.heap)[2]
            if self._deepened(node):
                return True
        self.current = node
        if not self.split(node):
            self.stop(Reason.NO_SPLIT)
            self.push(node)
            return False
        if self._starts_over(alone):
            self.begin()
            self.plunge = self.bounded(self.root)
        else:
            self._descend(node)
        return True

    def _descend(self, node: Node) -> None:
        """Bound the children; the worse of those that stay open is split next."""
        for child in sorted((self.bounded(child, node) for child in node.children), key=lambda n: n.bound):
            if not (child.proved and child.bound <= self.threshold()):
                self._push_plunge()
                self.plunge = child
        self.current = None
        self.forget(node)
        if self.plunge is not None and self.plunge.bound <= self.threshold():
            self._push_plunge()

    def _push_plunge(self) -> None:
        """The cell that was to be split next is one of the open ones."""
        if self.plunge is not None:
            self.push(self.plunge)
            self.plunge = None

    def _take_back(self) -> None:
        """Undo the split whose children were not all bounded yet: what is known of the whole cell is better."""
        node, self.current = self.current, None
        relaxed = None if node is None else self.hints.get(id(node))
        if node is not None and relaxed is not None:
            node.split, node.children, node.bound, node.proved = None, [], relaxed.value, False

    def _starts_over(self, alone: bool) -> bool:
        """Whether another tree is to be preferred: one with categories first and no lemmas, or one with lemmas."""
        if not alone or self.categories_first:
            return False
        early, learned = self.count < EARLY, len(self.lessons.lemmas) > 0
        if (early or learned) and self.exhausted >= EXHAUSTED * (3 if learned else 1):
            self.categories_first = True
            self.learn(no_lemmas(self.problem.copies, self.problem.region.size))
            return True
        return not self.lessons.looked and early and self.count >= learn.LATER

    def stop(self, reason: Reason, *details: object) -> None:
        """The search ends before its goal."""
        self.stopped = Why.of(reason, *details)

    def paused(self) -> bool:
        """Whether the search is to go on."""
        return self.stopped is None and not self._reached()

    def tree(self) -> Tree:
        """What was found."""
        found = leaves(self.root)
        self.prove(found)
        bound = max(leaf.bound for leaf in found)
        seconds = perf_counter() - self.start
        return Tree(self.root, bound, self.point, self.value, self.stopped, self.count, seconds, self.lessons.lemmas)

    def _reached(self) -> bool:
        bound = max(-self.heap[0][0] if self.heap else -np.inf, -np.inf if self.plunge is None else self.plunge.bound)
        return bound <= self.threshold() or (self.goal != "optimum" and self.value > self.target)

    def _confirm(self) -> None:
        """The rule's bounds of the cells that wait; those above the threshold are open again."""
        waiting, self.waiting = self.waiting, []
        self.prove(waiting)
        for node in waiting:
            if node.bound > self.threshold():
                self.push(node)
            else:
                self.forget(node)

    def _search(self) -> None:
        """A better point from the search stack; the points of the LPs are often good enough, and free."""
        found = search(self.problem, self.row, rng=np.random.default_rng(0))
        if len(found) and found.value[0] > self.value:
            self.point, self.value = found.u[0], float(found.value[0])

    def push(self, node: Node) -> None:
        """An open cell."""
        self.pushed += 1
        heapq.heappush(self.heap, (-node.bound, self.pushed, node))

    def _taken_over(self, like: Tree, most: int) -> list[Node]:
        """The leaves of a tree with the splits and slopes of another one, not yet bounded; the root of a stranger."""
        cell, other = self.root.cell, like.root.cell
        if (cell.lo.shape, cell.phase.shape) != (other.lo.shape, other.phase.shape):
            return [self.root]
        old = like.lemmas  # of other weights, perhaps, or of a search that did not round its numbers as this one does
        again = written(old.unit, old.beta, old.theta, old.slope, self.bits)
        self.learn(proved(self.problem, self.problem.region, again))
        leaves, stack = [], [(self.root, like.root)]
        while stack:
            mine, old = stack.pop()
            if old.split is None or len(leaves) + len(stack) > most // 2:
                mine.slopes = old.slopes
                leaves.append(mine)
                continue
            mine.split = old.split
            mine.children = [Node(cell, np.inf, mine.slopes) for cell in cells(self.problem, mine.cell, old.split)]
            stack += zip(mine.children, old.children, strict=True)
        return leaves

    def _still_open(self, nodes: list[Node]) -> list[Node]:
        """Bound leaves that were taken over by the slopes they came with; those left open get LPs."""
        boxes: dict[tuple[int, int], list[Node]] = {}
        for node in nodes:
            rows = np.where(self.problem.region.equality, node.slopes.rows, np.maximum(node.slopes.rows, 0.0))
            node.slopes = self.writable(replace(node.slopes, rows=rows))
            boxes.setdefault((id(node.cell.lo), id(node.cell.hi)), []).append(node)
        for box in boxes.values():
            for first in range(0, len(box), WAITING):
                self._bound_again(box[first : first + WAITING])
        closed = [node.bound <= self.threshold() for node in nodes]
        self.count += sum(closed)
        return [node for node, done in zip(nodes, closed, strict=True) if not done]

    def _bound_again(self, nodes: list[Node]) -> None:
        """The leaf rule on cells of one box with the slopes they have; some were found when there were fewer lemmas."""
        most = max(len(node.slopes.lemmas) for node in nodes)
        for node in nodes:
            y = np.zeros(most)
            y[: len(node.slopes.lemmas)] = node.slopes.lemmas
            node.slopes = replace(node.slopes, lemmas=y)
        self.bound(nodes, Slopes(*(np.stack([getattr(n.slopes, part) for n in nodes]) for part in PARTS)))

    def _deepened(self, node: Node) -> bool:
        """Whether a cell of the root's box got more lemmas; it waits, is open or closed then, with another bound."""
        relaxed, box = self.hints.get(id(node)), self.box(node.cell)
        if relaxed is None or node.proved or box.lp is None or box.base.region is not self.problem.region:
            return False
        if not self.lessons.at(box.lp, relaxed, node.cell.phase, self.count):
            return False
        again = box.lp.solve(node.cell.phase, parent=relaxed)
        if again is None or again.x is None:
            return False
        self.take(node, again)
        if node.bound > self.threshold():
            self.push(node)
        return True

    def split(self, node: Node) -> bool:
        """Split a node; False where nothing is left to split. The LP's point may be the best one known."""
        cell, box = node.cell, self.box(node.cell)
        relaxed, slack, u, lp = self.hints.get(id(node)), None, None, self.lp(cell)
        if relaxed is not None:
            slack = lp.slack(relaxed)
            u = slack.u
            self.try_point(slack)
        made = box.base if relaxed is None or relaxed.ranges is None else relaxed.ranges
        made = self.cut(cell) if self.flips and relaxed is None else made
        chosen = box.moving or phase_split(self.row, cell, lp, made, slack)
        if chosen is None:
            chosen = self._input_split(cell, u)
        if chosen is None:
            return False
        node.split = chosen
        node.children = [Node(part, np.inf, node.slopes) for part in cells(self.problem, cell, chosen)]
        return True

    def _input_split(self, cell: Cell, u: np.ndarray | None) -> tuple[str, int, int, float] | None:
        """A group or an input to split where no unit is left; None where nothing is."""
        region = self.problem.region
        chosen = fractional_group(region, u) or open_group(region, cell) or input_split(region, cell, u)
        if chosen is not None:
            self.exhausted += chosen[0] == "group" and chosen[1] >= 0 and region.copies == 2
        return chosen
