"""A moment by which work has to end: asked between its parts, and handed to what runs in a process of its own.

    Deadline.after(10).keep()     raises Late once the ten seconds are over
    Deadline.after(10).left()     seconds that are left

Whoever sets a deadline says what it means that the work was not done by then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter


class Late(Exception):
    """The deadline was there before the work was done."""


@dataclass(frozen=True)
class Deadline:
    """A moment by `perf_counter`, infinitely far away where there is none."""

    at: float = math.inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(perf_counter() + seconds)

    def left(self) -> float:
        """Seconds, none below zero; infinite without a deadline."""
        return max(0.0, self.at - perf_counter())

    def keep(self) -> None:
        """Raise `Late` if the moment is over."""
        if perf_counter() > self.at:
            raise Late


NEVER = Deadline()
