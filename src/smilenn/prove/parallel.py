"""Open cells of a search shared out to processes, each a search of its own.

    grow serially to `SHARED_AT` nodes  →  one task per open cell, largest bound first  →  put the subtrees in place

A task depends on its cell, the target and the best point known when the work was shared out, on nothing that another
process does, and results are taken in the order of the tasks: the tree is the same with two processes and with sixty.
"""

from __future__ import annotations

import logging
import time
import warnings
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pickle import PickleError
from typing import Any

from smilenn.problem import Problem, Row
from smilenn.prove.grow import Run
from smilenn.prove.leaf import Cell
from smilenn.prove.prover import Goal
from smilenn.prove.solvers.base import Solver
from smilenn.prove.tree import Node, Tree

logger = logging.getLogger(__name__)

SHARED_AT = 2000  # nodes: some seconds of work behind, and as a rule more ahead


@dataclass(frozen=True, eq=False)
class Task:
    """One cell to be searched by `deadline` (seconds of `time.time`), with at most `most` nodes."""

    problem: Problem
    row: Row
    solver: Solver
    cell: Cell
    goal: Goal
    target: float
    value: float
    written: bool
    categories_first: bool
    deadline: float
    most: int


def subtree(task: Task) -> Tree:
    """Search one cell."""
    left = max(0.0, task.deadline - time.time())
    run = Run(task.problem, task.row, task.solver, left, task.goal, task.target, task.written, task.cell)
    run.value, run.categories_first = task.value, task.categories_first
    run.grow(task.most)
    return run.tree()


def share(run: Run, most: int, workers: int) -> None:
    """Finish a paused search with several processes; Ctrl-C keeps what was proved so far."""
    from joblib import Parallel, delayed  # seconds of imports in every process: only where it pays

    nodes = [node for _, _, node in sorted(run.heap, key=lambda entry: entry[:2])]
    deadline = time.time() + run.left()
    tasks = [
        Task(run.problem, run.row, run.solver, node.cell, run.goal, run.target, run.value, run.bits is not None,
             run.categories_first, deadline, max(1, (most - run.count) // workers))
        for node in nodes
    ]  # fmt: skip
    done = 0
    try:
        found: Any = Parallel(n_jobs=workers, return_as="generator")(delayed(subtree)(task) for task in tasks)
        for node, tree in zip(nodes, found, strict=True):
            done += 1
            _place(run, node, tree)
            if run.count >= most:
                run.complete, run.note = False, f"the tree reached its limit of {most} nodes (memory is capped)"
            if run.count >= most or (run.goal != "optimum" and run.value > run.target):
                with warnings.catch_warnings():  # joblib warns of work that is thrown away; it is meant to be
                    warnings.simplefilter("ignore", UserWarning)
                    found.close()
                break
        run.heap = []
    except KeyboardInterrupt:
        run.complete, run.note = False, "interrupted"
    except (OSError, PickleError, BrokenProcessPool) as error:  # no semaphores, no memory for processes, one was killed
        logger.warning("The proof goes on in one process: %s", error)
        run.heap = []
        for node in nodes[done:]:
            run.push(node)
        run.grow(most)


def _place(run: Run, node: Node, tree: Tree) -> None:
    """Put a subtree where its cell is."""
    root = tree.root
    node.split, node.children, node.slopes = root.split, root.children, root.slopes
    node.bound, node.proved = root.bound, True
    run.count += tree.nodes
    if tree.point is not None and tree.value > run.value:
        run.point, run.value = tree.point, tree.value
    if not tree.complete:
        run.complete, run.note = False, tree.note


def cores() -> int:
    """How many processes pay: the cores this one may use."""
    from joblib import cpu_count

    return int(cpu_count())
