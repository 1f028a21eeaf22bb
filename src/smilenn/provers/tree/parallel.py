"""Open cells of a search shared out to processes, or to the workers of a cluster, each a search of its own.

    grow serially to `SHARED_AT` nodes  →  open cells in `TASKS` tasks, box by box  →  put the subtrees in place

The cells of a box share a linear program, which takes longer to build than to solve: a task has several cells, of few
boxes. It depends on its cells, the target and the best point known when the work was shared out, on nothing that
another process does, and results are taken in the order of the tasks: the tree is the same with two processes and with
sixty. A cluster gets what the tasks have in common once. Without it the rest is searched here: a proof is not lost.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pickle import PickleError
from typing import Any

from smilenn.clusters.context import current
from smilenn.clusters.task import ClusterError
from smilenn.problem import Problem, Row
from smilenn.provers.mip.solvers.base import Solver
from smilenn.provers.prover import Goal
from smilenn.provers.tree.grow import Growth
from smilenn.provers.tree.leaf import Cell
from smilenn.provers.tree.lemma import Lemmas
from smilenn.provers.tree.tree import Node, Tree
from smilenn.reason import Reason

logger = logging.getLogger(__name__)

SHARED_AT = 1000  # nodes: some seconds of work behind, and as a rule more ahead; processes take seconds to start
TASKS = 128  # at most; more than there are cores, so that none waits long for the last one


@dataclass(frozen=True, eq=False)
class Portion:
    """Cells to be searched by `deadline` (seconds of `time.time`), with at most `most` nodes in all."""

    problem: Problem
    row: Row
    solver: Solver
    cells: tuple[Cell, ...]
    lemmas: Lemmas
    goal: Goal
    target: float
    value: float
    written: bool
    categories_first: bool
    deadline: float
    most: int


def subtrees(task: Portion) -> list[Tree]:
    """Search the cells one after the other; linear programs of a box are kept for the next cell of it.

    Where a point above the target is found, the cells after it are left as they are.
    """
    found: list[Tree] = []
    value, count, last = task.value, 0, None
    for cell in task.cells:
        left = max(0.0, task.deadline - time.time())
        run = Growth(task.problem, task.row, task.solver, left, task.goal, task.target, task.written, cell, task.lemmas)
        run.value, run.categories_first = value, task.categories_first
        if last is not None and last.categories_first == run.categories_first:
            run.boxes = last.boxes
        run.grow(max(1, task.most - count))
        found.append(run.tree())
        value, count, last = max(value, run.value), count + run.count, run
    return found


def tasks(run: Growth, most: int, workers: int) -> list[tuple[list[Node], Portion]]:
    """The open cells of a paused search, box by box and the largest bounds first, in tasks of about equal size."""
    order: dict[tuple[int, int], int] = {}
    for _, _, node in sorted(run.heap, key=lambda entry: entry[:2]):
        order.setdefault((id(node.cell.lo), id(node.cell.hi)), len(order))
    nodes = sorted(run.heap, key=lambda e: (order[id(e[2].cell.lo), id(e[2].cell.hi)], *e[:2]))
    size = -(-len(nodes) // TASKS)
    parts = [[node for _, _, node in nodes[i : i + size]] for i in range(0, len(nodes), size)]
    deadline = time.time() + run.left()
    return [
        (
            part,
            Portion(
                run.problem,
                run.row,
                run.solver,
                tuple(node.cell for node in part),
                run.lessons.lemmas,
                run.goal,
                run.target,
                run.value,
                run.bits is not None,
                run.categories_first,
                deadline,
                max(1, (most - run.count) // workers),
            ),
        )
        for part in parts
    ]


def _subtrees(common: Portion, cells: tuple[Cell, ...]) -> list[Tree]:
    return subtrees(replace(common, cells=cells))


def _searched(work: Sequence[tuple[list[Node], Portion]], workers: int) -> Any:
    """The subtrees of every task, in order: from the cluster whose block this is, or from processes."""
    pool = current()
    if pool is not None:
        common = replace(work[0][1], cells=())
        return pool.results(_subtrees, [task.cells for _, task in work], common)
    from joblib import Parallel, delayed  # seconds of imports in every process: only where it pays

    return Parallel(n_jobs=workers, return_as="generator")(delayed(subtrees)(task) for _, task in work)


def share(run: Growth, most: int, workers: int) -> None:
    """Finish a paused search with several processes; Ctrl-C keeps what was proved so far."""
    work = tasks(run, most, workers)
    done = 0
    try:
        found = _searched(work, workers)
        for (nodes, _), trees in zip(work, found, strict=True):
            done += 1
            for node, tree in zip(nodes, trees, strict=True):
                _place(run, node, tree)
            if run.count >= most:
                run.stop(Reason.NODES, most)
            if run.count >= most or (run.goal != "optimum" and run.value > run.target):
                with warnings.catch_warnings():  # joblib warns of work that is thrown away; it is meant to be
                    warnings.simplefilter("ignore", UserWarning)
                    found.close()
                break
        run.heap = []
    except KeyboardInterrupt:
        run.stop(Reason.INTERRUPTED)
    except (OSError, PickleError, BrokenProcessPool, ClusterError) as error:  # no semaphores, no memory, one was killed
        logger.warning("The proof goes on in one process: %s", error)
        run.heap = []
        for nodes, _ in work[done:]:
            for node in nodes:
                run.push(node)
        run.grow(most)


def _place(run: Growth, node: Node, tree: Tree) -> None:
    """Put a subtree where its cell is, unless its time was over before it knew more than the search had known."""
    root = tree.root
    run.count += tree.nodes
    if tree.point is not None and tree.value > run.value:
        run.point, run.value = tree.point, tree.value
    if not tree.complete:
        run.stopped = tree.stopped
        if tree.bound > node.bound:
            return
    node.split, node.children, node.slopes = root.split, root.children, root.slopes
    node.bound, node.proved = root.bound, True


def cores() -> int:
    """How many processes pay: the workers of a cluster, or the cores this process may use."""
    pool = current()
    if pool is not None:
        return pool.workers
    from joblib import cpu_count

    return int(cpu_count())
