"""Rows of concurrent requests, predicted together.

One batch is computed at a time. Meanwhile rows of other requests gather; the next batch is all of them, up to a limit.
Where a certificate promises bits (profile `fixed-order`), a row's do not depend on its batch (docs/encoders.md). The
numbers of other models move by their rounding with who else is asking; their certificates hold for every order of sums.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

MOST_ROWS = 4096  # of a batch
FEW = 64  # rows that take milliseconds
GATHER = 0.0005  # seconds in which rows of other requests join
MOST_WAITING = 65536  # rows; beyond, callers are asked to come again


class Busy(Exception):
    """Too many rows are waiting."""


@dataclass(eq=False)
class _Asked:
    x: np.ndarray
    answer: asyncio.Future[np.ndarray]


class Batcher:
    """`predict` inputs [n, m] of many callers; `observe` is told how many rows every batch has."""

    def __init__(self, predict: Callable[[np.ndarray], np.ndarray], observe: Callable[[int], None]) -> None:
        self._predict, self._observe = predict, observe
        self._waiting: list[_Asked] = []
        self._rows = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="predict")
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, x: np.ndarray) -> np.ndarray:
        """Outputs [n, o] of inputs x [n, m]."""
        if self._rows + len(x) > MOST_WAITING:
            raise Busy
        asked = _Asked(x, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        self._rows += len(x)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await asked.answer

    async def _run(self) -> None:
        """Batch after batch, until nobody waits."""
        while self._waiting:
            await asyncio.sleep(GATHER)  # whoever is ready now joins the batch
            batch = self._next()
            if not batch:
                continue
            x = batch[0].x if len(batch) == 1 else np.concatenate([asked.x for asked in batch])
            try:
                outputs = await self._outputs(x)
            except Exception as error:  # everybody who asked is told; the next batch may be fine
                _fail(batch, error)
                continue
            self._observe(len(x))
            at = 0
            for asked in batch:
                if not asked.answer.done():
                    asked.answer.set_result(outputs[at : at + len(asked.x)])
                at += len(asked.x)

    async def _outputs(self, x: np.ndarray) -> np.ndarray:
        """Few rows are predicted at once: a thread of their own would fight for the interpreter with this one."""
        if len(x) <= FEW:
            return self._predict(x)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._predict, x)

    def _next(self) -> list[_Asked]:
        """Those who have waited longest; callers that have gone away are left out."""
        batch: list[_Asked] = []
        size = 0
        while self._waiting and (not batch or size + len(self._waiting[0].x) <= MOST_ROWS):
            asked = self._waiting.pop(0)
            self._rows -= len(asked.x)
            if not asked.answer.cancelled():
                batch.append(asked)
                size += len(asked.x)
        return batch

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False)


def _fail(batch: list[_Asked], error: Exception) -> None:
    for asked in batch:
        if not asked.answer.done():
            asked.answer.set_exception(error)
