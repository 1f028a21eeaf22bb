"""The cells of one search: bounded by LPs, confirmed by the leaf rule, with the LPs and the best point kept.

What counts as a cell's bound is the leaf rule evaluated by `rule_bound` with the LP's slopes, rounded as a certificate
will write them: a solver that lies gives poor slopes, never a wrong bound. Cells that an LP would close wait and are
confirmed by the rule in batches. `grow.py` says which cell is taken up next.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.prover import GAP, Goal, evaluated
from smilenn.provers.tree import learn
from smilenn.provers.tree.leaf import Cell, Rounding, Shape, Slopes, box_shape, cut, flip_cut, rule_bound, rule_bounds
from smilenn.provers.tree.learn import MOST, Lessons
from smilenn.provers.tree.lemma import Lemmas, no_lemmas
from smilenn.provers.tree.relaxation import BoxLP, Relaxation, Slack
from smilenn.provers.tree.splitting import Split, moving_split
from smilenn.provers.tree.tree import Node

BOXES = 128  # linear programs kept at a time
STEEPEST = 64.0  # slopes are kept below this multiple of the largest coefficient
OUTSIDE = 8.0  # the same for single inputs on a polytope: cells outside of it are closed by steep multipliers alone
WAITING = 256  # cells confirmed at a time
PARTS = ("unit", "flip", "rows", "lemmas")  # fields of Slopes
USES, MOST_USED = 24, 127.0  # bits behind the point of y, as certificates write it, and the largest
BITS = 24  # slopes are rounded to multiples of 2^-BITS, or coarser where large ones must fit into 31 bits


@dataclass
class Box:
    """A box of inputs: a cell of it (kept, for its arrays' identities are the key), shape, first split, LP."""

    cell: Cell
    base: Shape
    moving: Split | None
    lp: BoxLP | None = None


class Cells:
    """Bounds cells of a premise, or of one cell of it, and keeps what they share."""

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
        self.problem, self.row, self.solver, self.target = problem, row, solver, target
        self.goal: Goal = goal
        self.start, self.limit = perf_counter(), time_limit
        k, self.h = row.unit.shape
        self.useful = (row.unit != 0).any(axis=0)
        if row.flip.any():
            self.useful |= (problem.flips.unit[row.flip.any(axis=0)] != 0).any(axis=0)
        self.steepest = _steepest(problem, row)
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
        self.count, self.categories_first = 0, False
        zeros = np.zeros((k, self.h), dtype=np.int8), np.zeros_like(row.flip, dtype=np.int8)
        self.nothing = Slopes(np.zeros((k, self.h)), np.zeros_like(row.flip), np.zeros(len(problem.region.rhs)))
        self.whole = Cell(problem.region.lo, problem.region.hi, *zeros) if cell is None else cell
        self.begin()

    def begin(self) -> None:
        """An empty tree; the best point stays."""
        self.waiting: list[Node] = []
        self.hints: dict[int, Relaxation] = {}
        self.boxes: OrderedDict[tuple[int, int], Box] = OrderedDict()
        self.root = Node(self.whole, np.inf, self.nothing)

    def left(self) -> float:
        """Seconds of the time limit that are left."""
        return max(0.0, self.limit - (perf_counter() - self.start))

    def threshold(self) -> float:
        """Cells with at most this bound need no further split."""
        return self.value + self.gap if self.goal == "optimum" else self.target

    def bounded(self, node: Node, parent: Node | None = None) -> Node:
        """Bound a cell by its LP; what would close it counts only after the leaf rule has confirmed it.

        An open cell's bound is the LP's value for the time being: `tree` replaces it by the rule's.
        """
        box = self.box(node.cell)
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
        relaxed = self._relaxed(node, parent, box.base, box.lp)
        if relaxed is None or relaxed.x is None:
            self._without_point(node, relaxed, box.lp)
        else:
            self.take(node, relaxed)
        return node

    def _relaxed(self, node: Node, parent: Node | None, base: Shape, lp: BoxLP) -> Relaxation | None:
        """The LP's answer on a cell; it goes on from the answer on its parent, where both have one box."""
        cell, hint, ranges = node.cell, None, None
        if parent is not None and cell.lo is parent.cell.lo and cell.hi is parent.cell.hi:
            hint = self.hints.get(id(parent))
        if self.flips:
            known = (hint.ranges, parent.split) if hint is not None and parent is not None else (None, None)
            ranges = flip_cut(self.problem, base, cell.phase, cell.flip, *known)
        return lp.solve(cell.phase, ranges, hint, parent and parent.split)

    def _without_point(self, node: Node, relaxed: Relaxation | None, lp: BoxLP) -> None:
        """The leaf rule with the slopes a cell has, or along the ray of its LP."""
        made = self.cut(node.cell)
        node.bound, node.proved = self._rule(made, node.slopes), True
        if relaxed is not None and len(relaxed.multipliers) and node.bound > self.threshold():
            self._along(node, made, lp.slopes(relaxed))

    def take(self, node: Node, relaxed: Relaxation) -> None:
        """The LP's answer on a cell."""
        node.bound, node.proved = relaxed.value, False
        self.hints[id(node)] = relaxed
        if relaxed.value <= self.threshold():
            self.waiting.append(node)
            node.bound = -np.inf  # until the rule has spoken; nothing asks for it before
        elif relaxed.value <= self.threshold() + self.gap:
            self.prove([node])
            if node.bound <= self.threshold():
                self.forget(node)

    def _decided(self, node: Node, base: Shape) -> bool:
        """Whether a cell closes without an LP: its box decides every unit, and the row is affine there."""
        open_ = (base.low < 0) & (base.high > 0) & self.useful
        if self.flips or len(base.region.rhs) or open_.any():
            return False
        slopes = self.writable(replace(self.nothing, unit=np.where(base.low >= 0, self.row.unit, 0.0)))
        bound = self._rule(self.cut(node.cell), slopes)
        if bound > self.threshold():
            return False
        node.slopes, node.bound, node.proved = slopes, bound, True
        return True

    def prove(self, nodes: list[Node]) -> None:
        """Replace LPs' values by the leaf rule's bounds with the LPs' slopes."""
        boxes: dict[tuple[int, int], list[tuple[Node, Relaxation]]] = {}
        for node in nodes:
            relaxed = None if node.proved else self.hints.get(id(node))
            if relaxed is not None:
                boxes.setdefault((id(node.cell.lo), id(node.cell.hi)), []).append((node, relaxed))
            elif not node.proved:
                node.bound, node.proved = self._rule(self.cut(node.cell), node.slopes), True
        for found in boxes.values():
            for first in range(0, len(found), WAITING):
                self._prove_box(found[first : first + WAITING])

    def _prove_box(self, found: list[tuple[Node, Relaxation]]) -> None:
        """`prove` for cells of one box, in one batch."""
        cell = found[0][0].cell
        made = self.writable(self.lp(cell).many_slopes([relaxed for _, relaxed in found]))
        flip = made.flip if self.flips else [self.nothing.flip] * len(found)
        for (node, _), *own in zip(found, made.unit, flip, made.rows, made.lemmas, strict=True):
            node.slopes = Slopes(*own)
        self.bound([node for node, _ in found], made)

    def bound(self, nodes: list[Node], made: Slopes) -> None:
        """The leaf rule on cells of one box with slopes whose first axis is the cell's."""
        base, t, nu, y = self.box(nodes[0].cell).base, made.unit, made.rows, made.lemmas
        phases, flip, tau = np.stack([node.cell.phase for node in nodes]), None, None
        if self.flips:
            flip, tau = np.stack([node.cell.flip for node in nodes]), made.flip
        bounds = rule_bounds(self.problem, self.row, base, phases, t, nu, flip, tau, self.lessons.lemmas, y)
        bounds += self.rounding.errors(t, nu, tau, y)
        bounds = np.where(np.isnan(bounds), np.inf, bounds)  # slopes that are not numbers prove nothing
        for node, bound in zip(nodes, bounds.tolist(), strict=True):
            node.bound, node.proved = bound, True

    def _rule(self, made: Shape, slopes: Slopes) -> float:
        """The leaf rule's bound, rounding included."""
        bound = rule_bound(self.problem, self.row, made, slopes, self.lessons.lemmas) + self.rounding.error(slopes)
        return np.inf if np.isnan(bound) else bound

    def cut(self, cell: Cell) -> Shape:
        """The shape of a cell; the last one is kept."""
        if self.last is None or self.last[0] is not cell:
            self.last = cell, cut(self.problem, self.box(cell).base, cell.phase, cell.flip)
        return self.last[1]

    def _better(self, node: Node, made: Shape, slopes: Slopes) -> None:
        slopes = self.writable(slopes)
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
            if node.bound <= self.threshold():
                return

    def writable(self, slopes: Slopes) -> Slopes:
        """Clipped and rounded to what a certificate can hold, if it is for one."""
        if self.bits is None:
            return slopes
        scale, size = 2.0**self.bits, np.abs(self.problem.region.factor)  # multipliers are written for the claim's rows
        unit, flip, rows = (
            np.rint(np.clip(a, -self.steepest, self.steepest) * each * scale) / scale / each
            for a, each in ((slopes.unit, 1.0), (slopes.flip, 1.0), (slopes.rows, size))
        )
        return Slopes(unit, flip, rows, np.rint(np.clip(slopes.lemmas, 0.0, MOST_USED) * 2.0**USES) / 2.0**USES)

    def box(self, cell: Cell) -> Box:
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
        self.boxes[key] = Box(cell, base, moving)
        if len(self.boxes) > BOXES:
            self.boxes.popitem(last=False)
        return self.boxes[key]

    def lp(self, cell: Cell) -> BoxLP:
        """The linear program of a cell's box."""
        box = self.box(cell)
        if box.lp is None:
            box.lp = self._linear(box.base)
        return box.lp

    def _linear(self, base: Shape) -> BoxLP:
        return BoxLP(self.problem, self.row, base, self.solver, self.steepest, self.lessons.lemmas)

    def _many(self, lp: BoxLP) -> bool:
        """Whether lemmas pay: many open units, or a tree that has grown large without."""
        return self.count >= learn.LATER or int((lp.open & (lp.kappa > 0)).sum()) >= learn.AT_ONCE

    def _refuted(self, lp: BoxLP) -> bool:
        """Whether the point of the first LP is above the target already, as it often is where a claim is false."""
        relaxed = lp.solve(self.whole.phase)
        if relaxed is not None and relaxed.x is not None:
            self.try_point(lp.slack(relaxed))
        return self.goal != "optimum" and self.value > self.target

    def try_point(self, slack: Slack) -> None:
        """An LP's point may be the best one known."""
        if slack.reached > (self.value if self.goal == "optimum" else max(self.value, self.target)):
            point, value = evaluated(self.problem, self.row, slack.u)
            if value > self.value:
                self.point, self.value = point, value

    def _look(self, box: Box) -> None:
        """Lemmas at the root; the LP is built again with those that are kept."""
        assert box.lp is not None
        self.lessons.at_root(box.lp, self.whole.phase, self.threshold(), self.left)
        if box.lp.lemmas:  # rows of lemmas, of which some or all were dropped
            box.lp, box.moving = self._linear(box.base), box.moving if self.categories_first else None

    def learn(self, lemmas: Lemmas) -> None:
        """These lemmas in place of those there were, and no more are looked for."""
        self.lessons = Lessons(self.problem, self.rounding, self.bits, lemmas)

    def forget(self, node: Node) -> None:
        """The LP's answer on a cell that needs no more splits."""
        self.hints.pop(id(node), None)


def _steepest(problem: Problem, row: Row) -> float:
    """The largest slope that a certificate is given, a power of two."""
    largest, coef = float(np.abs(row.unit).max(initial=0.0)), np.abs(problem.region.coef)
    if row.flip.any():
        largest = max(largest, float(row.flip.max()), float((row.flip @ np.abs(problem.flips.unit)).max(initial=0)))
    if coef.any():  # multipliers of further rows: what takes a coefficient of the row away
        slope = np.abs(row.slope) + np.abs(row.unit) @ np.abs(problem.snapshot.hidden_weight)
        largest = max(largest, float(slope.max()) / float(coef[coef > 0].min()) / STEEPEST)
    steep = OUTSIDE if len(row.unit) == 1 and coef.any() else STEEPEST
    return 2.0 ** math.ceil(math.log2(max(steep * largest, 1e-300)))
