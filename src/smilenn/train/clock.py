"""The time of a training run: what earlier parts of it took, and what its limit leaves.

elapsed = seconds before + now − begun   over: elapsed ≥ min(share·limit, limit − kept)   left = max(0, limit − elapsed)
"""

from __future__ import annotations

import math
import time


class Clock:
    """Starts when it is made; `before` are the seconds of the parts that a checkpoint remembers.

    Training has a `share` of the limit, repair and proof have the rest; more of it is `kept` where these will need it.
    """

    def __init__(self, limit: float | None = None, share: float = 1.0) -> None:
        self.limit, self.share, self.before = limit, share, 0.0
        self.begun, self.kept = time.perf_counter(), 0.0

    def reserve(self, seconds: float) -> None:
        """Keep so much for what follows training, but no more than half of the limit: training has its share."""
        self.kept = seconds if self.limit is None else min(seconds, self.limit / 2)

    def elapsed(self) -> float:
        """Seconds of this run, earlier parts included."""
        return self.before + time.perf_counter() - self.begun

    def over(self) -> bool:
        """Whether training has used its share of the limit.

        No unit of work begins after that, not even the first: a limit that is too short trains nothing.
        """
        limit = self.limit
        return limit is not None and self.elapsed() >= min(limit * self.share, limit - self.kept)

    def left(self) -> float:
        """Seconds left of the limit, none below zero; infinite without one."""
        return math.inf if self.limit is None else max(0.0, self.limit - self.elapsed())
