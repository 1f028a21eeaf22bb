"""A small pool of counterexamples, re-scored first whenever the weights have moved.

Old counterexamples score 0.97–1.00 of the new optimum at a tenth of a millisecond, so they are asked before anything is
searched, and they seed the search. The pool keeps the best ones that differ from each other:

    keep u_1, then u_2, … in the order of their violations, unless a kept point of the same row lies within `radius` of
    it (largest coordinate difference, in widths of the domain), until `limit` are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from smilenn.errors import SmileError
from smilenn.problem import Problem
from smilenn.search.abstraction import Abstraction, abstract


@dataclass(frozen=True, eq=False)
class Pool:
    """At most `limit` counterexamples of one claim, best first; immutable: every method returns a new pool.

    Attributes
    ----------
    limit : how many are kept.
    radius : points of one row closer than this are one point.
    u : [N, k, m] inputs, model units.
    row : [N] index into `Problem.rows`.
    value : [N] violations at the weights of the last `rescore` or `add`.
    """

    limit: int = 16
    radius: float = 1e-3
    u: np.ndarray | None = None
    row: np.ndarray | None = None
    value: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise SmileError(f"A pool keeps at least one counterexample, not {self.limit}.")

    def __len__(self) -> int:
        return 0 if self.row is None else len(self.row)

    @property
    def best(self) -> float:
        """The largest violation in the pool, −inf where it is empty."""
        return float(self.value[0]) if self.value is not None and len(self.value) else float("-inf")

    def seeds(self, row: int) -> np.ndarray | None:
        """Points [S, k, m] kept for one row, best first, to start a search from; None where there are none."""
        if self.u is None or self.row is None:
            return None
        return self.u[self.row == row] if (self.row == row).any() else None

    def rescore(self, problem: Problem) -> Pool:
        """The same points at the weights of another problem of the same claim, sorted again."""
        return self if self.u is None or self.row is None else self._keep(problem, self.u, self.row)

    def add(self, problem: Problem, row: int | np.ndarray, u: np.ndarray) -> Pool:
        """Points u [B, k, m] of one row (or of rows [B]) added; everything is scored on `problem`."""
        rows = np.broadcast_to(np.asarray(row, dtype=int), len(u))
        if self.u is None or self.row is None:
            return self._keep(problem, u, rows)
        return self._keep(problem, np.concatenate([self.u, u]), np.concatenate([self.row, rows]))

    def violated(self, least: float = 0.0) -> Pool:
        """Only the points whose violation exceeds `least`."""
        if self.u is None or self.row is None or self.value is None:
            return self
        kept = self.value > least
        return replace(self, u=self.u[kept], row=self.row[kept], value=self.value[kept])

    def abstraction(self, problem: Problem) -> Abstraction:
        """The pool as abstracted counterexamples, vertices from the head of `problem`."""
        u = np.empty((0, *problem.region.lo.shape)) if self.u is None else self.u
        return abstract(problem, np.empty(0, dtype=int) if self.row is None else self.row, u)

    def _keep(self, problem: Problem, u: np.ndarray, row: np.ndarray) -> Pool:
        known = row < len(problem.rows)
        u, row = u[known], row[known]
        value = np.empty(len(u))
        for r in np.unique(row):
            value[row == r] = problem.value(u[row == r], problem.rows[r])
        order = np.argsort(-value, kind="stable")
        width = (problem.region.hi - problem.region.lo).max(axis=0)
        flat = (u / np.where(width > 0, width, 1.0)).reshape(len(u), problem.copies * len(width))
        near = (cdist(flat, flat, "chebyshev") <= self.radius) & (row[:, None] == row)
        kept = greedy(near, order, self.limit)
        return replace(self, u=u[kept], row=row[kept], value=value[kept])

    # ---- resume -------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary; floats survive exactly."""
        arrays = {name: getattr(self, name) for name in ("u", "row", "value")}
        return {"limit": self.limit, "radius": self.radius} | {
            name: None if array is None else array.tolist() for name, array in arrays.items()
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Pool:
        """Inverse of `to_json`."""
        if not isinstance(data, Mapping) or set(data) != {"limit", "radius", "u", "row", "value"}:
            raise SmileError("A pool is described by 'limit', 'radius', 'u', 'row' and 'value'.")
        if data["u"] is None or not data["u"]:
            return cls(int(data["limit"]), float(data["radius"]))
        u, value = np.array(data["u"], dtype=np.float64), np.array(data["value"], dtype=np.float64)
        row = np.array(data["row"], dtype=int)
        if u.ndim != 3 or row.shape != (len(u),) or value.shape != (len(u),):
            raise SmileError("The pool's arrays do not fit together; its file was cut or edited, remove it.")
        return cls(int(data["limit"]), float(data["radius"]), u, row, value)


def greedy(near: np.ndarray, order: np.ndarray, limit: int | None = None) -> list[int]:
    """Points in this order, less those near [N, N] bool to one that was taken; at most `limit`.

    >>> greedy(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool), np.arange(3))
    [0, 2]
    """
    taken: list[int] = []
    hidden = np.zeros(len(near), dtype=bool)
    for i in order.tolist():
        if not hidden[i]:
            taken.append(i)
            hidden |= near[i]
            if len(taken) == limit:
                break
    return taken
