"""Branch-and-bound on phases, categories, whole numbers and inputs, with the leaf rule's LP bound in every cell.

Best first: the cell with the largest bound is split, until every bound is ≤ the target (proved), a point above it is
found, or a limit is reached. What counts as a cell's bound is the leaf rule evaluated by `rule_bound` with the LP's
slopes: a solver that lies gives poor slopes, never a wrong bound.

The tree and its slopes are kept (`Tree`): they are what a certificate carries.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.prove.leaf import Cell, Relaxation, Shape, Slopes, relax, rule_bound, shape
from smilenn.prove.prover import FOREVER, GAP, Goal, Prover, allowance, evaluated
from smilenn.prove.solvers.base import Solver
from smilenn.prove.verdict import Maximum

MOST_NODES = 100_000


@dataclass
class Node:
    """A cell of the tree: a leaf with slopes, or a split with children.

    `split` is (kind, copy, index, threshold): ("phase", c, j, 0), ("flip", c, i, 0), ("input", c, i, model units) or
    ("group", c, g, 0); copy −1 means all copies (pinned).
    """

    cell: Cell
    bound: float
    slopes: Slopes
    split: tuple[str, int, int, float] | None = None
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Tree:
    """A finished or abandoned search: its root, proved bound and best point, and whether the goal was reached."""

    root: Node
    bound: float
    point: np.ndarray | None
    value: float
    complete: bool
    nodes: int
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Branch(Prover):
    """LP branch-and-bound; `solver` None means HiGHS."""

    solver: Solver | None = None
    name: ClassVar[str] = "branch"
    tolerance: ClassVar[float] = 1e-9

    @property
    def title(self) -> str:
        """How a verdict names it."""
        return "LP branch-and-bound"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Applies to every problem."""
        return None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """Bound the row; see `Prover.maximise`."""
        tree = self.search(problem, row, time_limit=time_limit, goal=goal, target=target)
        upper = tree.bound + allowance(problem, row)
        return Maximum(upper, tree.value, tree.point, tree.complete, tree.note or self.title, tree.seconds, tree.nodes)

    def search(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "prove", target: float = 0.0,
        most: int = MOST_NODES,
    ) -> Tree:  # fmt: skip
        """Grow the tree until the goal is reached: the optimum, or a bound below or a point above the target."""
        run = _Run(problem, row, self._solver(), time_limit)
        open_, unflipped = np.zeros((problem.copies, run.h), dtype=np.int8), np.zeros_like(row.flip, dtype=np.int8)
        root = run.node(Cell(problem.region.lo, problem.region.hi, open_, unflipped))
        heap: list[tuple[float, int, Node]] = [(-root.bound, 0, root)]
        count, note, complete = 1, "", True
        while heap:
            bound = -heap[0][0]
            if bound <= run.value + GAP * row.scale if goal == "optimum" else bound <= target or run.value > target:
                break
            if count >= most or perf_counter() - run.start > time_limit:
                complete, note = False, "the time limit was reached" if count < most else f"{most} nodes were reached"
                break
            _, _, node = heapq.heappop(heap)
            if not run.split(node):
                complete, note = False, "a cell cannot be split further"
                heapq.heappush(heap, (-node.bound, count, node))
                break
            for child in node.children:
                count += 1
                heapq.heappush(heap, (-child.bound, count, child))
        bound = max((-entry[0] for entry in heap), default=-np.inf)
        return Tree(root, bound, run.point, run.value, complete, count, perf_counter() - run.start, note)

    def _solver(self) -> Solver:
        if self.solver is not None:
            return self.solver
        from smilenn.prove.solvers import solver

        return solver("highs")


class _Run:
    """One search: evaluates cells, keeps the best point, chooses splits."""

    def __init__(self, problem: Problem, row: Row, solver: Solver, time_limit: float) -> None:
        self.problem, self.row, self.solver = problem, row, solver
        self.start, self.limit = perf_counter(), time_limit
        self.h = len(problem.snapshot.hidden_bias)
        self.useful = (row.unit != 0).any(axis=0)
        if row.flip.any():
            self.useful |= (problem.flips.unit[row.flip.any(axis=0)] != 0).any(axis=0)
        self.point: np.ndarray | None = None
        self.value = -np.inf
        self.hints: dict[int, tuple[Relaxation, Shape]] = {}

    def node(self, cell: Cell, parent: Slopes | None = None) -> Node:
        """Bound a cell: the better of the LP's slopes and the parent's."""
        k, row = self.problem.copies, self.row
        slopes = parent or Slopes(
            np.zeros((k, self.h)), np.zeros_like(row.flip), np.zeros(len(self.problem.region.rhs))
        )
        made = shape(self.problem, cell)
        if made.empty:
            return Node(cell, -np.inf, slopes)
        bound = rule_bound(self.problem, row, made, slopes)
        left = max(0.1, self.limit - (perf_counter() - self.start))
        active = self.useful | (cell.phase != 0).any(axis=0)
        relaxed = relax(self.problem, row, cell, made, active, self.solver, left)
        node = Node(cell, bound, slopes)
        if relaxed is not None:
            point, value = evaluated(self.problem, row, relaxed.u)
            if value > self.value:
                self.point, self.value = point, value
            better = rule_bound(self.problem, row, made, relaxed.slopes)
            if better < bound:
                node.bound, node.slopes = better, relaxed.slopes
            self.hints[id(node)] = (relaxed, made)
        return node

    def split(self, node: Node) -> bool:
        """Split a node; False where nothing is left to split."""
        chosen = self._choose(node)
        if chosen is None:
            return False
        node.split = chosen
        node.children = [self.node(cell, node.slopes) for cell in self._cells(node.cell, chosen)]
        self.hints.pop(id(node), None)
        return True

    def _choose(self, node: Node) -> tuple[str, int, int, float] | None:
        problem, cell, region = self.problem, node.cell, self.problem.region
        relaxed, made = self.hints.get(id(node), (None, None))
        if made is None:
            made = shape(problem, cell)
        u = None if relaxed is None else relaxed.u
        moving = self._choose_moving(cell)
        if moving is not None:
            return moving
        if u is not None:
            for g, group in enumerate(region.groups):
                members = list(group)
                pinned = bool(region.pinned[members].all())
                for c in range(1 if pinned else problem.copies):
                    if np.abs(u[c, members] - np.rint(u[c, members])).max() > 1e-6:
                        return "group", -1 if pinned else c, g, 0.0
        return self._choose_phase(cell, made, relaxed) or self._choose_group(cell) or self._choose_input(cell, u)

    def _choose_moving(self, cell: Cell) -> tuple[str, int, int, float] | None:
        """A category or yes/no that differs between the copies, first of all.

        With the protected values fixed a unit's copies differ by a constant, their polygon is a segment and the joint
        rule nearly exact (measured: tens of leaves instead of thousands).
        """
        region = self.problem.region
        if self.problem.copies != 2:
            return None
        for g, group in enumerate(region.groups):
            members = list(group)
            if not region.pinned[members].all():
                for c in (0, 1):
                    if (cell.hi[c, members] > 0.5).sum() > 1:
                        return "group", c, g, 0.0
        width = cell.hi - cell.lo
        two = ~region.pinned & ~region.grouped & (region.step > 0) & (np.abs(width - region.step) < 0.5 * region.step)
        if two.any():
            c, i = np.argwhere(two)[0]
            return "input", int(c), int(i), float((cell.lo[c, i] + cell.hi[c, i]) / 2)
        return None

    def _choose_phase(self, cell: Cell, made: Shape, relaxed: Relaxation | None) -> tuple[str, int, int, float] | None:
        """The hidden or flip unit whose relaxation gives away the most."""
        weight = np.abs(self.row.unit) + self.row.flip @ np.abs(self.problem.flips.unit)
        open_ = (cell.phase == 0) & (made.low < 0) & (made.high > 0) & self.useful
        reach = np.minimum(-made.low, made.high)  # a little of it breaks ties where the LP shows no slack
        score = np.where(open_, 1e-6 * weight * reach + (0.0 if relaxed is None else relaxed.slack), 0.0)
        flip_open = (cell.flip == 0) & (made.flip_low < 0) & (made.flip_high > 0)
        flip_reach = np.minimum(-made.flip_low, made.flip_high) * self.row.flip
        flip_score = np.where(flip_open, 1e-6 * flip_reach + (0.0 if relaxed is None else relaxed.flip_slack), 0.0)
        best, flip_best = float(score.max(initial=0.0)), float(flip_score.max(initial=0.0))
        if max(best, flip_best) <= 0:
            return None
        kind, table = ("phase", score) if best >= flip_best else ("flip", flip_score)
        c, j = np.unravel_index(int(table.argmax()), table.shape)
        return kind, int(c), int(j), 0.0

    def _choose_group(self, cell: Cell) -> tuple[str, int, int, float] | None:
        """A group that is not fixed to one category yet: whole relaxed values may still hide loose ranges."""
        region = self.problem.region
        for g, group in enumerate(region.groups):
            members = list(group)
            pinned = bool(region.pinned[members].all())
            for c in range(1 if pinned else self.problem.copies):
                if (cell.hi[c, members] > 0.5).sum() > 1:
                    return "group", -1 if pinned else c, g, 0.0
        return None

    def _choose_input(self, cell: Cell, u: np.ndarray | None) -> tuple[str, int, int, float] | None:
        """Whole numbers first, then the widest interval in use; halves an interval at a value of a double."""
        region = self.problem.region
        width = np.where(region.grouped, 0.0, cell.hi - cell.lo)
        if u is not None:
            steps = np.where(region.step > 0, region.step, 1.0)
            away = np.abs((u - region.lo) / steps - np.rint((u - region.lo) / steps)) * (region.step > 0) * (width > 0)
            if away.max() > 1e-6:
                c, i = np.unravel_index(int(away.argmax()), away.shape)
                return "input", -1 if region.pinned[i] else int(c), int(i), float(u[c, i])
        c, i = np.unravel_index(int(width.argmax()), width.shape)
        if width[c, i] <= 1e-9:
            return None
        return "input", -1 if region.pinned[i] else int(c), int(i), float((cell.lo[c, i] + cell.hi[c, i]) / 2)

    def _cells(self, cell: Cell, split: tuple[str, int, int, float]) -> list[Cell]:
        kind, copy, index, threshold = split
        region, domain = self.problem.region, self.problem.domain
        which = slice(None) if copy < 0 else slice(copy, copy + 1)
        if kind in ("phase", "flip"):
            out = []
            for sign in (-1, 1):
                phases = (cell.phase if kind == "phase" else cell.flip).copy()
                phases[which, index] = sign
                out.append(replace(cell, phase=phases) if kind == "phase" else replace(cell, flip=phases))
            return out
        if kind == "group":
            members = np.array(region.groups[index])
            out = []
            for chosen in range(len(members)):
                hi = cell.hi.copy()
                hi[which, np.delete(members, chosen)] = 0.0
                out.append(replace(cell, hi=hi))
            return out
        raw = raw_threshold(self.problem, index, threshold)
        if region.step[index] > 0:
            left, right = np.floor(raw), np.floor(raw) + 1
        else:
            left = right = raw
        lo, hi = cell.lo.copy(), cell.hi.copy()
        lo[which, index] = np.maximum(lo[which, index], (right - domain.shift[index]) * domain.mult[index])
        hi[which, index] = np.minimum(hi[which, index], (left - domain.shift[index]) * domain.mult[index])
        return [replace(cell, hi=hi), replace(cell, lo=lo)]


def raw_threshold(problem: Problem, coordinate: int, threshold: float) -> float:
    """The threshold of an input split in raw units, where certificates state it."""
    domain = problem.domain
    return float(threshold / domain.mult[coordinate] + domain.shift[coordinate])
