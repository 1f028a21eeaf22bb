"""The tree of a branch-and-bound: what a certificate carries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smilenn.prove.leaf import Cell, Slopes
from smilenn.prove.splitting import Split


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
    """A finished or abandoned search: its root, proved bound and best point, and whether the goal was reached."""

    root: Node
    bound: float
    point: np.ndarray | None
    value: float
    complete: bool
    nodes: int
    seconds: float
    note: str = ""


def leaves(root: Node) -> list[Node]:
    """All cells without children."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.split is None:
            found.append(node)
    return found
