"""The interface of a solver adapter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, vstack

from smilenn.provers.mip.linear_model import LinearModel


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

    def session(self, model: LinearModel) -> Session:
        """A session on an LP; without one of its own a solver starts afresh at every solve."""
        return Afresh(self, model)


class Session(ABC):
    """One LP that stays in a solver while its column bounds and single numbers change; a basis is opaque."""

    @abstractmethod
    def columns(self, index: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        """New bounds for the columns `index`, in increasing order."""

    @abstractmethod
    def row(self, index: int, lo: float, hi: float) -> None:
        """New bounds for a row."""

    @abstractmethod
    def coefficient(self, row: int, column: int, value: float) -> None:
        """One entry of the matrix; it must not have been zero."""

    @abstractmethod
    def add(self, matrix: csr_matrix, hi: np.ndarray) -> None:
        """More rows after the last one, matrix·x ≤ hi."""

    @abstractmethod
    def solve(self, basis: Any = None) -> SolverResult:
        """Maximise from a basis (None: the last one), which may be of a time when there were fewer rows.

        An infeasible LP has its ray in `multipliers`, if there is one: row multipliers y, sign unknown, such that y or
        −y proves that no point satisfies rows and bounds.
        """

    @abstractmethod
    def basis(self) -> Any:
        """The basis of the last solve."""


class Afresh(Session):
    """A session that changes the model and solves it from the start each time."""

    def __init__(self, solver: Solver, model: LinearModel) -> None:
        self.solver, self.model = solver, model

    def columns(self, index: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        """See `Session`."""
        low, high = self.model.col_lo.copy(), self.model.col_hi.copy()
        low[index], high[index] = lo, hi
        self.model = replace(self.model, col_lo=low, col_hi=high)

    def row(self, index: int, lo: float, hi: float) -> None:
        """See `Session`."""
        low, high = self.model.row_lo.copy(), self.model.row_hi.copy()
        low[index], high[index] = lo, hi
        self.model = replace(self.model, row_lo=low, row_hi=high)

    def coefficient(self, row: int, column: int, value: float) -> None:
        """See `Session`."""
        matrix = self.model.matrix.copy()
        matrix[row, column] = value
        self.model = replace(self.model, matrix=matrix)

    def add(self, matrix: csr_matrix, hi: np.ndarray) -> None:
        """See `Session`."""
        m = self.model
        self.model = replace(
            m,
            matrix=csr_matrix(vstack([m.matrix, matrix])),
            row_hi=np.append(m.row_hi, hi),
            row_lo=np.append(m.row_lo, np.full(len(hi), -np.inf)),
        )

    def solve(self, basis: Any = None) -> SolverResult:
        """See `Session`."""
        return self.solver.solve(self.model, time_limit=3600.0)

    def basis(self) -> Any:
        """None: there is nothing to keep."""
        return None
