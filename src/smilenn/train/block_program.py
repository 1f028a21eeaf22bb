"""A linear program put together by blocks, solved by HiGHS.

minimise Σ cost·block        Σ matrix·block ≤ right side        low ≤ block ≤ high
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

SECONDS = 20.0  # for one linear program


class Program:
    """A linear program put together by blocks: variables in named blocks, rows Σ matrix·block ≤ right side."""

    def __init__(self) -> None:
        self.starts: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.size, self.cost, self.bounds = 0, list[np.ndarray](), list[tuple[float, float]]()
        self.rows: list[tuple[dict[str, np.ndarray], np.ndarray]] = []

    def block(
        self, name: str, shape: tuple[int, ...], low: float, high: np.ndarray | float, cost: np.ndarray | float = 0.0
    ) -> None:
        """Add variables of this shape with their bounds and costs."""
        count = int(np.prod(shape))
        self.starts[name] = (self.size, shape)
        self.size += count
        self.cost.append(np.broadcast_to(np.asarray(cost, dtype=np.float64), shape).ravel())
        self.bounds += [(low, float(most)) for most in np.broadcast_to(high, shape).ravel()]

    def at_most(self, terms: dict[str, np.ndarray], rhs: np.ndarray | float) -> None:
        """Rows Σ_name matrix_name·block ≤ rhs; matrices [r, size of the block]."""
        first = next(iter(terms.values()))
        self.rows.append((terms, np.broadcast_to(np.asarray(rhs, dtype=np.float64), (len(first),))))

    def solve(self) -> dict[str, np.ndarray] | None:
        """The blocks at an optimum, or None."""
        parts, right, offset = [], [], 0
        for terms, rhs in self.rows:
            for name, matrix in terms.items():
                part = sparse.coo_matrix(matrix)
                parts.append((part.data, part.row + offset, part.col + self.starts[name][0]))
            right.append(rhs)
            offset += len(rhs)
        data, row, col = (np.concatenate(each) for each in zip(*parts, strict=True))
        matrix = sparse.csr_matrix((data, (row, col)), shape=(offset, self.size))
        found = linprog(
            np.concatenate(self.cost),
            A_ub=matrix,  # type: ignore[arg-type]
            b_ub=np.concatenate(right),
            bounds=self.bounds,
            method="highs",
            options={"time_limit": SECONDS},
        )
        if found.status != 0:
            return None
        return {
            name: found.x[start : start + int(np.prod(shape))].reshape(shape)
            for name, (start, shape) in self.starts.items()
        }
