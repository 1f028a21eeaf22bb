"""Who performs tasks: this process, or processes of this machine; `dask_pool.py` has the third, a cluster.

    pool.finished(function, tasks, shared)  ─▶  (i, function(shared, tasks[i])) as they finish
    pool.results(function, tasks, shared)   ─▶  function(shared, tasks[0]), function(shared, tasks[1]), …

A task's value depends on the task and on `shared` alone, and `results` come in the order of the tasks: whoever reads
them sees the same whatever the number of workers. A worker that dies loses its task, which another one begins anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smilenn.clusters.task import ClusterError, Done, perform, versions

DEATHS = 3  # of processes, before a job is given up

Function = Callable[[Any, Any], Any]


class Pool(ABC):
    """Performs tasks; functions are those of a module, so that other processes find them by name."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks can run at the same time."""

    @abstractmethod
    def finished(self, function: Function, tasks: Sequence[Any], shared: Any = None) -> Iterator[tuple[int, Any]]:
        """The number of every task with its value, as they finish; `shared` goes to every worker once."""

    def results(self, function: Function, tasks: Sequence[Any], shared: Any = None) -> Iterator[Any]:
        """The values in the order of the tasks; one that is early waits for those before it."""
        early: dict[int, Any] = {}
        following = 0
        for index, value in self.finished(function, tasks, shared):
            early[index] = value
            while following in early:
                yield early.pop(following)
                following += 1


@dataclass(frozen=True)
class Here(Pool):
    """The process that asks, one task after the other."""

    @property
    def workers(self) -> int:
        """One: the tasks take turns."""
        return 1

    def finished(self, function: Function, tasks: Sequence[Any], shared: Any = None) -> Iterator[tuple[int, Any]]:
        """In the order of the tasks."""
        for index, task in enumerate(tasks):
            yield index, perform(function, shared, task, versions()).get()


@dataclass(frozen=True)
class Processes(Pool):
    """Processes of this machine."""

    count: int

    @property
    def workers(self) -> int:
        """The number of processes."""
        return self.count

    def finished(self, function: Function, tasks: Sequence[Any], shared: Any = None) -> Iterator[tuple[int, Any]]:
        """As they finish; the tasks of processes that died are begun anew, `DEATHS` times at most."""
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(tasks))
        for _ in range(DEATHS):
            try:
                for index, done in self._started(function, left, shared):
                    del left[index]
                    yield index, done.get()
                return
            except BrokenProcessPool:  # the others end with the one that died
                continue
        raise ClusterError(
            f"Processes were killed {DEATHS} times, as happens when memory runs out; use fewer or smaller parts."
        )

    def _started(self, function: Function, left: dict[int, Any], shared: Any) -> Iterator[tuple[int, Done]]:
        from joblib import Parallel, delayed

        calls = [delayed(_numbered)(index, function, shared, task, versions()) for index, task in left.items()]
        found: Any = Parallel(n_jobs=self.count, return_as="generator_unordered", backend="loky")(calls)
        yield from found


def _numbered(index: int, function: Function, shared: Any, task: Any, wanted: dict[str, str]) -> tuple[int, Done]:
    return index, perform(function, shared, task, wanted)
