"""Who computes: the calling thread alone, so that what is asserted of it holds for every number of a result.

Rounding mode and the treatment of subnormal numbers belong to a thread, and worker threads keep what they were born
with. An assertion in the calling thread says nothing of them. `OneThread` therefore takes them out of the computation:

    torch    `set_num_threads(1)` is a setting of the calling thread, for elementwise operations and matrix products
             alike; other Python threads keep theirs. A thread that uses torch for the first time in that moment
             starts with one thread, which costs it speed, never bits.
    others   NumPy's and SciPy's BLAS, OpenMP, joblib: `OneLibraryThread`, for models of other libraries. The number of
             threads of OpenBLAS belongs to the process, so Python threads take turns.

`AsManyThreads` does not ask for one: it gives learners of scikit-learn the number that torch has. Left to themselves
they take every core, and where another program has one of these, all wait for it at every node of a tree.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import torch

from smilenn.errors import SmileError
from smilenn.model.pools import thread_pools
from smilenn.model.profile import assert_ieee

_TURN = threading.RLock()  # of those who set the number of threads of the whole process


class OneThread:
    """A block that the calling thread computes alone, as IEEE 754 has it; asserted when it begins and when it ends.

    `rows` are evaluated in it; `subnormals` as in `assert_ieee`. The number of threads is restored whatever happens.
    A traced program has no threads yet: there, only the assertions are made.
    """

    def __init__(self, rows: int, *, subnormals: bool = True) -> None:
        self.rows, self.subnormals, self.before = rows, subnormals, 0

    def __enter__(self) -> Self:
        assert_ieee(self.rows, subnormals=self.subnormals)
        if not torch.compiler.is_compiling():
            # Ask first: a thread that uses torch for the first time is given the number that any thread has set last,
            # and what we set before that would be overwritten by its first operation.
            self.before = torch.get_num_threads()
            torch.set_num_threads(1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.before:
            torch.set_num_threads(self.before)
        if kind is None:
            assert_ieee(self.rows, subnormals=self.subnormals)


class OneLibraryThread:
    """A block in which NumPy, scikit-learn and what they call compute in the calling thread; one block at a time."""

    def __enter__(self) -> Self:
        from joblib import parallel_config

        _TURN.acquire()
        try:
            pools = thread_pools()
            self.limits = pools.limit(limits=1)
            self.limits.__enter__()
        except BaseException:
            _TURN.release()
            raise
        try:
            several = [pool["filepath"] for pool in pools.info() if (pool["num_threads"] or 1) > 1]
            if several:
                raise SmileError(
                    f"The number of threads of {several[0]} is held by another thread of this program; a model is "
                    "clamped by one thread alone, so leave threadpool_limits out of the other one."
                )
            self.jobs = parallel_config(backend="sequential")
            self.jobs.__enter__()
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.jobs.__exit__(kind, error, trace)
        self._give_back()

    def _give_back(self) -> None:
        try:
            self.limits.__exit__(None, None, None)
        finally:
            _TURN.release()


class AsManyThreads:
    """A block in which OpenMP, by which scikit-learn grows trees, has no more threads than torch has."""

    def __enter__(self) -> Self:
        self.limits = thread_pools().limit(limits=torch.get_num_threads(), user_api="openmp")
        self.limits.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.limits.__exit__(None, None, None)
