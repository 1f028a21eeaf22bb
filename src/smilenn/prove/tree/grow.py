"""Branch-and-bound on phases, categories, whole numbers and inputs, with the leaf rule's LP bound in every cell.

The cell with the largest bound is split, then its worse child, and so on down until a child is done; then the next
largest. It ends when every bound is ≤ the target (proved), when a point above it is found, or at a limit. What counts
as a cell's bound is the leaf rule evaluated by `rule_bound` with the LP's slopes, rounded as a certificate will write
them: a solver that lies gives poor slopes, never a wrong bound. Cells that an LP would close wait and are confirmed by
the rule in batches; one that is refused is open again. A search that starts from the tree of an earlier one bounds the
old leaves by their old slopes first, also in batches, and solves LPs for those that stay open.

Categories that differ between the copies come first where units are many (`moving_split`). Where they are few, phases
come first; but cells whose phases are all decided and which are still open show that the categories were to blame, and
after a few of them the search starts over, categories first.

The tree and its slopes are kept (`Tree`): they are what a certificate carries.
"""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.prove.mip.solvers.base import Solver
from smilenn.prove.prover import GAP, Goal, evaluated
from smilenn.prove.tree.leaf import Cell, Rounding, Shape, Slopes, box_shape, cut, flip_cut, rule_bound, rule_bounds
from smilenn.prove.tree.learn import AT_ONCE, LATER, MOST, Lessons
from smilenn.prove.tree.lemma import Lemmas, no_lemmas, proved, written
from smilenn.prove.tree.relaxation import BoxLP, Relaxation, Slack
from smilenn.prove.tree.splitting import (
    Split,
    cells,
    fractional_group,
    input_split,
    moving_split,
    open_group,
    phase_split,
)
from smilenn.prove.tree.tree import Node, Tree, leaves
from smilenn.reason import Reason, Why
from smilenn.search.gradient import search

BOXES = 128  # linear programs kept at a time
SEARCH_AT: dict[Goal, int] = {"find": 8, "optimum": 32, "prove": 256}  # nodes after which a search for points pays
STEEPEST = 64.0  # slopes are kept below this multiple of the largest coefficient
OUTSIDE = 8.0  # the same for single inputs on a polytope: cells outside of it are closed by steep multipliers alone
WAITING = 256  # cells confirmed at a time
EXHAUSTED, EARLY = 3, 1000  # so many cells without open phases, within so many nodes, and the search starts over
PARTS = ("unit", "flip", "rows", "lemmas")  # fields of Slopes
USES, MOST_USED = 24, 127.0  # bits behind the point of y, as certificates write it, and the largest
BITS = 24  # slopes are rounded to multiples of 2^-BITS, or coarser where large ones must fit into 31 bits


@dataclass
class _Box:
    """A box of inputs: a cell of it (kept, for its arrays' identities are the key), shape, first split, LP."""

    cell: Cell
    base: Shape
    moving: Split | None
    lp: BoxLP | None = None


class Run:
    """One search over a premise, or over one cell of it: evaluates cells, keeps the best point, chooses splits."""

    def __init__(
        self, problem: Problem, row: Row, solver: Solver, time_limit: float, goal: Goal, target: float,
        written: bool, cell: Cell | None = None, lemmas: Lemmas | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.row, self.solver, self.target = problem, row, solver, target
        self.goal: Goal = goal
        self.start, self.limit = perf_counter(), time_limit
        k, self.h = row.unit.shape
        self.useful = (row.unit != 0).any(axis=0)
        largest = float(np.abs(row.unit).max(initial=0.0))
        if row.flip.any():
            self.useful |= (problem.flips.unit[row.flip.any(axis=0)] != 0).any(axis=0)
            largest = max(largest, float(row.flip.max()), float((row.flip @ np.abs(problem.flips.unit)).max(initial=0)))
        coef = np.abs(problem.region.coef)
        if coef.any():  # multipliers of further rows: what takes a coefficient of the row away
            slope = np.abs(row.slope) + np.abs(row.unit) @ np.abs(problem.snapshot.hidden_weight)
            largest = max(largest, float(slope.max()) / float(coef[coef > 0].min()) / STEEPEST)
        steep = OUTSIDE if k == 1 and coef.any() else STEEPEST
        self.steepest = 2.0 ** math.ceil(math.log2(max(steep * largest, 1e-300)))
        largest = self.steepest * max(1.0, float(np.abs(problem.region.factor).max(initial=0.0)))
        self.bits = min(BITS, 30 - math.ceil(math.log2(largest))) if written else None
        # phases and slopes of a node, and the LP's answer of an open one: about 25 corners a unit, inputs, rows, lemmas
        self.bytes = 9 * k * (self.h + row.flip.shape[1]) + 8 * (30 * self.h + 2 * k * problem.region.size + MOST)
        self.flips, self.rounding = bool(row.flip.any()), Rounding(problem, row)
        self.gap = max(GAP * row.scale, 1e-9 * self.rounding.plain)  # the LPs' tolerance, where numbers are large
        if lemmas is None and (self.flips or goal == "find"):  # they do not pay there: see `learn.py`
            lemmas = no_lemmas(k, problem.region.size)
        self.lessons = Lessons(problem, self.rounding, self.bits, lemmas)
        self.last: tuple[Cell, Shape] | None = None
        self.point: np.ndarray | None = None
        self.value = -np.inf
        self.count, self.pushed = 0, 0
        self.stopped: Why | None = None
        self.categories_first, self.exhausted = False, 0
        zeros = np.zeros((k, self.h), dtype=np.int8), np.zeros_like(row.flip, dtype=np.int8)
        self.nothing = Slopes(np.zeros((k, self.h)), np.zeros_like(row.flip), np.zeros(len(problem.region.rhs)))
        self.whole = Cell(problem.region.lo, problem.region.hi, *zeros) if cell is None else cell
        self._begin()

    def _begin(self) -> None:
        """An empty tree; the best point stays."""
        self.current: Node | None = None  # being split
        self.heap: list[tuple[float, int, Node]] = []
        self.waiting: list[Node] = []
        self.hints: dict[int, Relaxation] = {}
        self.boxes: OrderedDict[tuple[int, int], _Box] = OrderedDict()
        self.root = Node(self.whole, np.inf, self.nothing)

    # ---- the search ---------------------------------------------------------------------------------------------

    def grow(self, most: int, like: Tree | None = None, pause: float = math.inf) -> None:
        """Split until done, or until there are `pause` nodes; why it stops early goes to `stopped`.

        Called again, it goes on.
        """
        plunge: Node | None = None
        searching = SEARCH_AT[self.goal]
        try:
            if self.count == 0:
                for node in [self.root] if like is None else self._still_open(self._taken_over(like, most)):
                    late = perf_counter() - self.start > self.limit
                    self.push(node if late else self.bounded(node))
            while self.heap or plunge is not None or self.waiting:
                reached = self._reached(plunge)
                if self.waiting and (reached or len(self.waiting) >= WAITING or self.count >= pause):
                    self._confirm()
                    continue
                if reached:
                    return
                if self.count >= most:
                    self.stop(Reason.NODES, most)
                    return
                if perf_counter() - self.start > self.limit:
                    self.stop(Reason.TIME)
                    return
                if self.count >= pause:
                    return
                if self.count >= searching:
                    searching = most + 1
                    self._search()
                    continue
                node = plunge if plunge is not None else heapq.heappop(self.heap)[2]
                if plunge is None and self._deepened(node):
                    continue
                plunge, self.current = None, node
                if not self.split(node):
                    self.stop(Reason.NO_SPLIT)
                    self.push(node)
                    return
                if self._starts_over(like is None):
                    self._begin()
                    plunge = self.bounded(self.root)
                    continue
                for child in sorted((self.bounded(child, node) for child in node.children), key=lambda n: n.bound):
                    if child.proved and child.bound <= self._threshold():
                        continue
                    if plunge is not None:
                        self.push(plunge)
                    plunge = child
                self.current = None
                self._forget(node)
                if plunge is not None and plunge.bound <= self._threshold():
                    self.push(plunge)
                    plunge = None
        except KeyboardInterrupt:
            self.stop(Reason.INTERRUPTED)
            self._take_back()
        finally:
            if plunge is not None:
                self.push(plunge)

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
            self._learn(no_lemmas(self.problem.copies, self.problem.region.size))
            return True
        return not self.lessons.looked and early and self.count >= LATER

    def _learn(self, lemmas: Lemmas) -> None:
        """These lemmas in place of those there were, and no more are looked for."""
        self.lessons = Lessons(self.problem, self.rounding, self.bits, lemmas)

    def stop(self, reason: Reason, *details: object) -> None:
        """The search ends before its goal."""
        self.stopped = Why.of(reason, *details)

    def left(self) -> float:
        """Seconds of the time limit that are left."""
        return max(0.0, self.limit - (perf_counter() - self.start))

    def paused(self) -> bool:
        """Whether the search is to go on."""
        return self.stopped is None and not self._reached(None)

    def tree(self) -> Tree:
        """What was found."""
        found = leaves(self.root)
        self._prove(found)
        bound = max(leaf.bound for leaf in found)
        seconds = perf_counter() - self.start
        return Tree(self.root, bound, self.point, self.value, self.stopped, self.count, seconds, self.lessons.lemmas)

    def _threshold(self) -> float:
        """Cells with at most this bound need no further split."""
        return self.value + self.gap if self.goal == "optimum" else self.target

    def _reached(self, plunge: Node | None) -> bool:
        bound = max(-self.heap[0][0] if self.heap else -np.inf, -np.inf if plunge is None else plunge.bound)
        return bound <= self._threshold() or (self.goal != "optimum" and self.value > self.target)

    def _confirm(self) -> None:
        """The rule's bounds of the cells that wait; those above the threshold are open again."""
        waiting, self.waiting = self.waiting, []
        self._prove(waiting)
        for node in waiting:
            if node.bound > self._threshold():
                self.push(node)
            else:
                self._forget(node)

    def _search(self) -> None:
        """A better point from the search stack; the points of the LPs are often good enough, and free."""
        found = search(self.problem, self.row, rng=np.random.default_rng(0))
        if len(found) and found.value[0] > self.value:
            self.point, self.value = found.u[0], float(found.value[0])

    def push(self, node: Node) -> None:
        """An open cell."""
        self.pushed += 1
        heapq.heappush(self.heap, (-node.bound, self.pushed, node))

    def _forget(self, node: Node) -> None:
        self.hints.pop(id(node), None)

    def _taken_over(self, like: Tree, most: int) -> list[Node]:
        """The leaves of a tree with the splits and slopes of another one, not yet bounded; the root of a stranger."""
        cell, other = self.root.cell, like.root.cell
        if (cell.lo.shape, cell.phase.shape) != (other.lo.shape, other.phase.shape):
            return [self.root]
        old = like.lemmas  # of other weights, perhaps, or of a search that did not round its numbers as this one does
        again = written(old.unit, old.beta, old.theta, old.slope, self.bits)
        self._learn(proved(self.problem, self.problem.region, again))
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
            node.slopes = self._writable(replace(node.slopes, rows=rows))
            boxes.setdefault((id(node.cell.lo), id(node.cell.hi)), []).append(node)
        for box in boxes.values():
            for first in range(0, len(box), WAITING):
                self._bound_again(box[first : first + WAITING])
        closed = [node.bound <= self._threshold() for node in nodes]
        self.count += sum(closed)
        return [node for node, done in zip(nodes, closed, strict=True) if not done]

    def _bound_again(self, nodes: list[Node]) -> None:
        """The leaf rule on cells of one box with the slopes they have; some were found when there were fewer lemmas."""
        most = max(len(node.slopes.lemmas) for node in nodes)
        for node in nodes:
            y = np.zeros(most)
            y[: len(node.slopes.lemmas)] = node.slopes.lemmas
            node.slopes = replace(node.slopes, lemmas=y)
        self._bound(nodes, Slopes(*(np.stack([getattr(n.slopes, part) for n in nodes]) for part in PARTS)))

    def _bound(self, nodes: list[Node], made: Slopes) -> None:
        """The leaf rule on cells of one box with slopes whose first axis is the cell's."""
        base, t, nu, y = self._box(nodes[0].cell).base, made.unit, made.rows, made.lemmas
        phases, flip, tau = np.stack([node.cell.phase for node in nodes]), None, None
        if self.flips:
            flip, tau = np.stack([node.cell.flip for node in nodes]), made.flip
        bounds = rule_bounds(self.problem, self.row, base, phases, t, nu, flip, tau, self.lessons.lemmas, y)
        bounds += self.rounding.errors(t, nu, tau, y)
        bounds = np.where(np.isnan(bounds), np.inf, bounds)  # slopes that are no numbers prove nothing
        for node, bound in zip(nodes, bounds.tolist(), strict=True):
            node.bound, node.proved = bound, True

    # ---- a cell -------------------------------------------------------------------------------------------------

    def bounded(self, node: Node, parent: Node | None = None) -> Node:
        """Bound a cell by its LP; what would close it counts only after the leaf rule has confirmed it.

        An open cell's bound is the LP's value for the time being: `tree` replaces it by the rule's.
        """
        cell, box = node.cell, self._box(node.cell)
        self.count += 1
        if box.base.empty:
            node.bound, node.proved = -np.inf, True
            return node
        if box.lp is None:
            if self._decided(node, box.base):
                return node
            box.lp = self._linear(box.base)
            if node is self.root and not self.lessons.looked and self._many(box.lp) and not self._refuted(box.lp):
                self._look(box)
        hint = None
        if parent is not None and cell.lo is parent.cell.lo and cell.hi is parent.cell.hi:
            hint = self.hints.get(id(parent))
        ranges = None
        if self.flips:
            known = (hint.ranges, parent.split) if hint is not None and parent is not None else (None, None)
            ranges = flip_cut(self.problem, box.base, cell.phase, cell.flip, *known)
        relaxed = box.lp.solve(cell.phase, ranges, hint, parent and parent.split)
        if relaxed is None or relaxed.x is None:
            made = self._cut(cell)
            node.bound, node.proved = self._rule(made, node.slopes), True
            if relaxed is not None and len(relaxed.multipliers) and node.bound > self._threshold():
                self._along(node, made, box.lp.slopes(relaxed))
            return node
        self._take(node, relaxed)
        return node

    def _take(self, node: Node, relaxed: Relaxation) -> None:
        """The LP's answer on a cell."""
        node.bound, node.proved = relaxed.value, False
        self.hints[id(node)] = relaxed
        if relaxed.value <= self._threshold():
            self.waiting.append(node)
            node.bound = -np.inf  # until the rule has spoken; nothing asks for it before
        elif relaxed.value <= self._threshold() + self.gap:
            self._prove([node])
            if node.bound <= self._threshold():
                self._forget(node)

    def _deepened(self, node: Node) -> bool:
        """Whether a cell of the root's box got more lemmas; it waits, is open or closed then, with another bound."""
        relaxed, box = self.hints.get(id(node)), self._box(node.cell)
        if relaxed is None or node.proved or box.lp is None or box.base.region is not self.problem.region:
            return False
        if not self.lessons.at(box.lp, relaxed, node.cell.phase, self.count):
            return False
        again = box.lp.solve(node.cell.phase, parent=relaxed)
        if again is None or again.x is None:
            return False
        self._take(node, again)
        if node.bound > self._threshold():
            self.push(node)
        return True

    def _decided(self, node: Node, base: Shape) -> bool:
        """Whether a cell closes without an LP: its box decides every unit, and the row is affine there."""
        open_ = (base.low < 0) & (base.high > 0) & self.useful
        if self.flips or len(base.region.rhs) or open_.any():
            return False
        slopes = self._writable(replace(self.nothing, unit=np.where(base.low >= 0, self.row.unit, 0.0)))
        bound = self._rule(self._cut(node.cell), slopes)
        if bound > self._threshold():
            return False
        node.slopes, node.bound, node.proved = slopes, bound, True
        return True

    def _prove(self, nodes: list[Node]) -> None:
        """Replace LPs' values by the leaf rule's bounds with the LPs' slopes."""
        boxes: dict[tuple[int, int], list[tuple[Node, Relaxation]]] = {}
        for node in nodes:
            relaxed = None if node.proved else self.hints.get(id(node))
            if relaxed is not None:
                boxes.setdefault((id(node.cell.lo), id(node.cell.hi)), []).append((node, relaxed))
            elif not node.proved:
                node.bound, node.proved = self._rule(self._cut(node.cell), node.slopes), True
        for found in boxes.values():
            for first in range(0, len(found), WAITING):
                self._prove_box(found[first : first + WAITING])

    def _prove_box(self, found: list[tuple[Node, Relaxation]]) -> None:
        """`_prove` for cells of one box, in one batch."""
        cell = found[0][0].cell
        made = self._writable(self._lp(cell).many_slopes([relaxed for _, relaxed in found]))
        flip = made.flip if self.flips else [self.nothing.flip] * len(found)
        for (node, _), *own in zip(found, made.unit, flip, made.rows, made.lemmas, strict=True):
            node.slopes = Slopes(*own)
        self._bound([node for node, _ in found], made)

    def _rule(self, made: Shape, slopes: Slopes) -> float:
        """The leaf rule's bound, rounding included."""
        bound = rule_bound(self.problem, self.row, made, slopes, self.lessons.lemmas) + self.rounding.error(slopes)
        return np.inf if np.isnan(bound) else bound

    def _cut(self, cell: Cell) -> Shape:
        """The shape of a cell; the last one is kept."""
        if self.last is None or self.last[0] is not cell:
            self.last = cell, cut(self.problem, self._box(cell).base, cell.phase, cell.flip)
        return self.last[1]

    def _better(self, node: Node, made: Shape, slopes: Slopes) -> None:
        slopes = self._writable(slopes)
        bound = self._rule(made, slopes)
        if bound < node.bound:
            node.bound, node.slopes = bound, slopes

    def _along(self, node: Node, made: Shape, ray: Slopes) -> None:
        """Move along the ray of an LP without a point, in the direction and as far as it takes."""
        start, size = node.slopes, max(float(np.abs(getattr(ray, part)).max(initial=0.0)) for part in PARTS)
        used = np.append(start.lemmas, np.zeros(len(ray.lemmas) - len(start.lemmas)))
        if not size > 0:
            return
        signs = (1.0, -1.0)
        for power in range(-10, 1, 2):
            before = node.bound
            for sign in signs:
                far = sign * 2.0**power * self.steepest / size
                rows = start.rows + far * ray.rows
                rows = np.where(self.problem.region.equality, rows, np.maximum(rows, 0.0))
                lemmas = np.maximum(used + far * ray.lemmas, 0.0)
                self._better(node, made, Slopes(start.unit + far * ray.unit, start.flip + far * ray.flip, rows, lemmas))
                if node.bound < before:  # the way down
                    signs = (sign,)
                    break
            if node.bound <= self._threshold():
                return

    def _writable(self, slopes: Slopes) -> Slopes:
        """Clipped and rounded to what a certificate can hold, if it is for one."""
        if self.bits is None:
            return slopes
        scale, size = 2.0**self.bits, np.abs(self.problem.region.factor)  # multipliers are written for the claim's rows
        unit, flip, rows = (np.rint(np.clip(a, -self.steepest, self.steepest) * each * scale) / scale / each
                            for a, each in ((slopes.unit, 1.0), (slopes.flip, 1.0), (slopes.rows, size)))  # fmt: skip
        return Slopes(unit, flip, rows, np.rint(np.clip(slopes.lemmas, 0.0, MOST_USED) * 2.0**USES) / 2.0**USES)

    def _box(self, cell: Cell) -> _Box:
        """What the cells of one box share: they differ in their phases only."""
        key = id(cell.lo), id(cell.hi)
        if key in self.boxes:
            self.boxes.move_to_end(key)
            return self.boxes[key]
        base = box_shape(self.problem, cell.lo, cell.hi)
        many = int(((base.low < 0) & (base.high > 0) & self.useful).any(axis=0).sum())
        moving = None
        if self.categories_first or not len(self.lessons.lemmas):  # lemmas know what the copies of a unit share
            moving = moving_split(self.problem.region, cell, many, always=self.categories_first)
        self.boxes[key] = _Box(cell, base, moving)
        if len(self.boxes) > BOXES:
            self.boxes.popitem(last=False)
        return self.boxes[key]

    def _lp(self, cell: Cell) -> BoxLP:
        box = self._box(cell)
        if box.lp is None:
            box.lp = self._linear(box.base)
        return box.lp

    def _linear(self, base: Shape) -> BoxLP:
        return BoxLP(self.problem, self.row, base, self.solver, self.steepest, self.lessons.lemmas)

    def _many(self, lp: BoxLP) -> bool:
        """Whether lemmas pay: many open units, or a tree that has grown large without."""
        return self.count >= LATER or int((lp.open & (lp.kappa > 0)).sum()) >= AT_ONCE

    def _refuted(self, lp: BoxLP) -> bool:
        """Whether the point of the first LP is above the target already, as it often is where a claim is false."""
        relaxed = lp.solve(self.whole.phase)
        if relaxed is not None and relaxed.x is not None:
            self._try(lp.slack(relaxed))
        return self.goal != "optimum" and self.value > self.target

    def _try(self, slack: Slack) -> None:
        """An LP's point may be the best one known."""
        if slack.reached > (self.value if self.goal == "optimum" else max(self.value, self.target)):
            point, value = evaluated(self.problem, self.row, slack.u)
            if value > self.value:
                self.point, self.value = point, value

    def _look(self, box: _Box) -> None:
        """Lemmas at the root; the LP is built again with those that are kept."""
        assert box.lp is not None
        self.lessons.at_root(box.lp, self.whole.phase, self._threshold(), self.left)
        if box.lp.lemmas:  # rows of lemmas, of which some or all were dropped
            box.lp, box.moving = self._linear(box.base), box.moving if self.categories_first else None

    def split(self, node: Node) -> bool:
        """Split a node; False where nothing is left to split. The LP's point may be the best one known."""
        cell, region, box = node.cell, self.problem.region, self._box(node.cell)
        relaxed, slack, u, lp = self.hints.get(id(node)), None, None, self._lp(cell)
        if relaxed is not None:
            slack = lp.slack(relaxed)
            u = slack.u
            self._try(slack)
        made = box.base if relaxed is None or relaxed.ranges is None else relaxed.ranges
        made = self._cut(cell) if self.flips and relaxed is None else made
        chosen = box.moving or phase_split(self.row, cell, lp, made, slack)
        if chosen is None:
            chosen = fractional_group(region, u) or open_group(region, cell) or input_split(region, cell, u)
            if chosen is None:
                return False
            self.exhausted += chosen[0] == "group" and chosen[1] >= 0 and region.copies == 2
        node.split = chosen
        node.children = [Node(part, np.inf, node.slopes) for part in cells(self.problem, cell, chosen)]
        return True
