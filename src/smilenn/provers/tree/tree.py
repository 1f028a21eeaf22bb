"""The tree of a branch-and-bound: what a certificate carries.

A claim is searched several times in one fit: in posttraining, for the verdict, for the certificate. `Trees` hands the
tree of one search to the next, where its splits and slopes are bounded again by the leaf rule, without an LP for the
leaves that the old slopes still close (`grow.py`). A tree of other weights is a hint: nothing in it is taken on trust.
Only the very same maximisation (`stamp`) is not done twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.properties.cases import Cases
from smilenn.provers.tree.leaf import Cell, Slopes
from smilenn.provers.tree.lemma import Lemmas
from smilenn.provers.tree.splitting import Split
from smilenn.reason import Why


@dataclass
class Node:
    """A cell of the tree: a leaf with slopes, or a split with children; `proved` says that `bound` is the rule's."""

    cell: Cell
    bound: float
    slopes: Slopes
    split: Split | None = None
    proved: bool = False
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Tree:
    """A finished or abandoned search: its root, proved bound and best point, and why it stopped short of its goal.

    `lemmas` are what the slopes of its leaves refer to. `stamp` says what was maximised, where the tree is kept for
    later; the bounds of its leaves are the rule's there.
    """

    root: Node
    bound: float
    point: np.ndarray | None
    value: float
    stopped: Why | None
    nodes: int
    seconds: float
    lemmas: Lemmas
    stamp: str = ""

    @property
    def complete(self) -> bool:
        """Whether the search reached its goal, no limit was hit."""
        return self.stopped is None

    def shows(self, stamp: str, target: float) -> bool:
        """Whether it proves a bound of `target` on what has this stamp."""
        return self.stamp == stamp and self.complete and self.bound <= target


class Trees(dict[tuple[str, str], Tree]):
    """The last tree of every row, by `tree_key`; and of claims with clauses the last cases, by the claim's digest."""

    def __init__(self, trees: Mapping[tuple[str, str], Tree] | None = None) -> None:
        super().__init__(trees or {})
        self.cases: dict[str, Cases] = {}


def tree_key(problem: Problem, row: Row) -> tuple[str, str]:
    """What a row's tree is kept under: the claim and the row, whatever the weights."""
    return problem.claim_digest, row.text


def stamp(problem: Problem, row: Row, written: bool) -> str:
    """SHA-256 of all numbers that a bound depends on: weights, region and row, and whether slopes were rounded."""
    r, f = problem.region, problem.flips
    hasher = hashlib.sha256(repr((problem.weights_digest, tree_key(problem, row), r.groups, written)).encode())
    for values in (
        row.slope,
        row.unit,
        row.flip,
        [row.const, row.rhs],
        f.const,
        f.slope,
        f.unit,
        r.lo,
        r.hi,
        r.pinned,
        r.step,
        r.delta_lo,
        r.delta_hi,
        r.coef,
        r.rhs,
        r.equality,
    ):
        hasher.update(np.ascontiguousarray(values).tobytes())
    return hasher.hexdigest()


def leaves(root: Node) -> list[Node]:
    """All cells without children."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.split is None:
            found.append(node)
    return found
