"""The prover that works on every problem and leaves a certificate: LP branch-and-bound (`grow.py`, `parallel.py`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

from smilenn.problem import Problem, Row
from smilenn.prove.mip.solvers.base import Solver
from smilenn.prove.prover import FOREVER, Goal, Prover, allowance
from smilenn.prove.tree.grow import Run
from smilenn.prove.tree.parallel import SHARED_AT, cores, share
from smilenn.prove.tree.splitting import raw_threshold as raw_threshold
from smilenn.prove.tree.tree import Node as Node
from smilenn.prove.tree.tree import Tree, Trees, stamp, tree_key
from smilenn.verdict import Maximum

MOST_NODES = 1_000_000
MEMORY = 2.0  # GiB that the tree may take


@dataclass(frozen=True)
class Branch(Prover):
    """LP branch-and-bound; `solver` None means HiGHS, `workers` 0 a process for every core (large trees only).

    `trees` are those of earlier searches: one of the same row is taken over, and the new one is kept there, its slopes
    rounded as certificates write them.
    """

    solver: Solver | None = None
    workers: int = 0
    trees: Trees | None = field(default=None, compare=False, repr=False)
    name: ClassVar[str] = "branch"
    tolerance: ClassVar[float] = 1e-9
    challenged: ClassVar[bool] = True

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
        kept = self.trees is not None
        tree = self.search(problem, row, time_limit=time_limit, goal=goal, target=target, written=kept)
        upper = tree.bound + allowance(problem, row)
        return Maximum(upper, tree.value, tree.point, tree.complete, tree.note or self.title, tree.seconds, tree.nodes)

    def search(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "prove", target: float = 0.0,
        most: int = MOST_NODES, like: Tree | None = None, written: bool = True,
    ) -> Tree:  # fmt: skip
        """Grow the tree until the goal is reached: the optimum, or a bound below or a point above the target.

        `like` (or the tree of the row in `trees`) is a tree of the same claim, on these or other weights: its splits
        are taken over, and so are its slopes where they still close a leaf; if it already proves this very row on these
        weights, it is returned. `written` slopes are rounded as certificates write them. Interrupting (Ctrl-C) returns
        the tree as it stands.
        """
        if like is None and self.trees is not None:
            like = self.trees.get(tree_key(problem, row))
        same = "" if like is None and self.trees is None else stamp(problem, row, written)
        if like is not None and same == like.stamp and goal == "prove" and like.complete and like.bound <= target:
            return like
        run = Run(problem, row, self._solver(), time_limit, goal, target, written)
        most = min(most, max(1, int(MEMORY * 2**30 / (2000 + run.bytes))))  # a node's own objects and its arrays
        workers = self.workers or cores()
        run.grow(most, like, SHARED_AT if workers > 1 else math.inf)
        if workers > 1 and run.paused():
            share(run, most, workers)
        tree = replace(run.tree(), stamp=same)
        if self.trees is not None:
            self.trees[tree_key(problem, row)] = tree
        return tree

    def _solver(self) -> Solver:
        if self.solver is not None:
            return self.solver
        from smilenn.prove.mip.solvers import solver

        return solver("highs")
