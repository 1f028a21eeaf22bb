"""The interface of a solver adapter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from smilenn.prove.linear_model import LinearModel


class Status(Enum):
    """Why a solver stopped; the value is the sentence a person reads."""

    OPTIMAL = "solved to optimality"
    ABOVE = "stopped at a point above the target"
    BELOW = "stopped when the bound fell to the target"
    INFEASIBLE = "the solver found no feasible point in a set that is not empty"
    UNBOUNDED = "the solver reported an unbounded model, which it is not"
    TIME_LIMIT = "the time limit was reached"
    INTERRUPTED = "interrupted"
    ERROR = "the solver failed"


@dataclass(frozen=True, eq=False)
class SolverResult:
    """What a solver says; nothing here is trusted without a check.

    Attributes
    ----------
    primal : objective of `x`, −inf without a point.
    dual_bound : upper bound on the maximum, +inf if none.
    x : [columns] or None.
    multipliers : [rows] of an LP (d objective / d right side), or None.
    detail : the solver's own words.
    """

    status: Status
    dual_bound: float = np.inf
    primal: float = -np.inf
    x: np.ndarray | None = None
    nodes: int = 0
    seconds: float = 0.0
    multipliers: np.ndarray | None = None
    detail: str = ""


class Solver(ABC):
    """An adapter; frozen dataclasses with their tolerances as fields implement it."""

    name: ClassVar[str]
    title: ClassVar[str]

    @property
    def tolerance(self) -> float:
        """By how much rows, bounds and whole numbers may be missed."""
        return 1e-9

    @abstractmethod
    def solve(
        self,
        model: LinearModel,
        *,
        time_limit: float,
        above: float = np.inf,
        below: float = -np.inf,
        gap: float = 1e-6,
        threads: int = 1,
    ) -> SolverResult:
        """Maximise; stop early at a point with an objective > `above`, or once the bound is ≤ `below`.

        `gap` is the absolute gap, and the relative one for objectives above 1.
        """
