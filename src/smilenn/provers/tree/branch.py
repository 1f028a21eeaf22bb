"""The prover that works on every problem and leaves a certificate: LP branch-and-bound (`grow.py`, `parallel.py`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

from smilenn.problem import Problem, Row
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.proof import Leaf, LeafProof
from smilenn.provers.prover import FOREVER, Goal, allowance
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.grow import Growth
from smilenn.provers.tree.leaf import Rounding
from smilenn.provers.tree.parallel import SHARED_AT, cores, share
from smilenn.provers.tree.tree import Tree, Trees, stamp, tree_key
from smilenn.provers.tree.written import BITS, leaf_proof
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum

ROOT = LeafProof(BITS, (), (Leaf((), (), (), ()),))  # nothing but the root of a tree, without a slope
MOST_NODES = 1_000_000
ROOM = 1e-8  # of the output scale: how far below the right side a search for a certificate aims
MEMORY = 2.0  # GiB that the tree may take


@dataclass(frozen=True)
class BranchAndBound(Rule):
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
    checked: ClassVar[str] = "leaf"
    shows: ClassVar[str] = "everything"
    cost: ClassVar[Cost] = Cost.SEARCH
    because: ClassVar[str] = "nothing cheaper applies"

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
        return Maximum(upper, tree.value, tree.point, tree.stopped, self.title, tree.seconds, tree.nodes)

    def search(
        self,
        problem: Problem,
        row: Row,
        *,
        time_limit: float = FOREVER,
        goal: Goal = "prove",
        target: float = 0.0,
        most: int = MOST_NODES,
        like: Tree | None = None,
        written: bool = True,
    ) -> Tree:
        """Grow the tree until the goal is reached: the optimum, or a bound below or a point above the target.

        `like` (or the tree of the row in `trees`) is a tree of the same claim, on these or other weights: its splits
        are taken over, and so are its slopes where they still close a leaf; if it already proves this very row on these
        weights, it is returned. `written` slopes are rounded as certificates write them. Interrupting (Ctrl-C) returns
        the tree as it stands.
        """
        if like is None and self.trees is not None:
            like = self.trees.get(tree_key(problem, row))
        same = "" if like is None and self.trees is None else stamp(problem, row, written)
        if like is not None and goal == "prove" and like.shows(same, target):
            return like
        run = Growth(problem, row, self._solver(), time_limit, goal, target, written)
        self._grow(run, most, like)
        tree = replace(run.tree(), stamp=same)
        if self.trees is not None:
            self.trees[tree_key(problem, row)] = tree
        return tree

    def _grow(self, run: Growth, most: int, like: Tree | None) -> None:
        """Grow the tree within the memory, on all cores once it is large."""
        most = min(most, max(1, int(MEMORY * 2**30 / (2000 + run.bytes))))  # a node's own objects and its arrays
        workers = self.workers or cores()
        run.grow(most, like, SHARED_AT if workers > 1 else math.inf)
        if workers > 1 and run.paused():
            share(run, most, workers)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """The tree with its slopes; the search aims a little below the right side, for rounding and margin.

        Of a row without units the tree is its root, which has no slopes, wherever that is enough.
        """
        if shown_at_once(problem, row, -ROOM * row.scale):
            return Emission(ROOT)
        like = None if trees is None else trees.get(tree_key(problem, row))
        found = self.search(problem, row, time_limit=time_limit, target=-ROOM * row.scale, like=like)
        proof = leaf_proof(problem, found)
        if found.stopped is not None:
            return Emission(proof, found.stopped)
        return Emission(proof, None if found.bound <= 0 else Why(Reason.BOX))

    def remembering(self, trees: Trees | None) -> BranchAndBound:
        """The same search with these `trees`, or its own where there are none."""
        return self if trees is None else replace(self, trees=trees)

    def _solver(self) -> Solver:
        if self.solver is not None:
            return self.solver
        from smilenn.provers.mip.solvers import solver

        return solver("highs")


def shown_at_once(problem: Problem, row: Row, target: float) -> bool:
    """Whether a row has no units and its maximum, which is a formula then, is at most `target`, rounding included."""
    region = problem.region
    if not row.affine or problem.snapshot.boxes != "gap" or region.has_rows or region.empty:
        return False
    most = float(region.maximum(row.slope[None])[0]) + row.const - row.rhs
    return most + Rounding(problem, row).plain_error <= target
