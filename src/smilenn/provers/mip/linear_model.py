"""A mixed-integer linear model as sparse matrices: what every solver adapter gets.

    maximise  offset + c·x    subject to  row_lo ≤ A x ≤ row_hi,  col_lo ≤ x ≤ col_hi,  x_j whole where integer_j

`Builder` collects columns and rows; `safe_bound` turns any multipliers of an LP into a bound that holds whatever the
solver's tolerances were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_matrix, vstack


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Fields as in the formula above; A is [rows, columns] in compressed rows."""

    matrix: csr_matrix
    row_lo: np.ndarray
    row_hi: np.ndarray
    col_lo: np.ndarray
    col_hi: np.ndarray
    integer: np.ndarray
    objective: np.ndarray
    offset: float = 0.0
    names: tuple[str, ...] = ()


@dataclass
class Builder:
    """Collects columns and rows of a `LinearModel`."""

    lo: list[float] = field(default_factory=list)
    hi: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    offset: float = 0.0
    _index: list[np.ndarray] = field(default_factory=list)
    _value: list[np.ndarray] = field(default_factory=list)
    _row_lo: list[float] = field(default_factory=list)
    _row_hi: list[float] = field(default_factory=list)

    def column(self, lo: float, hi: float, *, whole: bool = False, gain: float = 0.0, name: str = "") -> int:
        """Add a column, return its index."""
        self.lo.append(float(lo))
        self.hi.append(float(max(lo, hi)))
        self.whole.append(whole)
        self.gain.append(float(gain))
        self.names.append(name)
        return len(self.lo) - 1

    def row(self, entries: Mapping[int, float], lo: float = -np.inf, hi: float = np.inf) -> None:
        """Add ``lo ≤ Σ entries ≤ hi``; entries {column: coefficient}."""
        self.dense(list(entries.keys()), list(entries.values()), lo, hi)

    def dense(self, index: Sequence[int] | np.ndarray, value: Sequence[float] | np.ndarray, lo: float, hi: float):
        """Add a row given by column indices and coefficients; repeated columns are added up, zeros dropped."""
        columns, values = np.asarray(index, dtype=np.int64), np.asarray(value, dtype=np.float64)
        if len(np.unique(columns)) < len(columns):
            unique, where = np.unique(columns, return_inverse=True)
            values = np.bincount(where, weights=values, minlength=len(unique))
            columns = unique
        keep = values != 0
        self._index.append(columns[keep])
        self._value.append(values[keep])
        self._row_lo.append(float(lo))
        self._row_hi.append(float(hi))

    def model(self) -> LinearModel:
        """The finished model."""
        start = np.cumsum([0, *(len(i) for i in self._index)])
        index = np.concatenate(self._index) if self._index else np.zeros(0, dtype=np.int64)
        value = np.concatenate(self._value) if self._value else np.zeros(0)
        matrix = csr_matrix((value, index, start), shape=(len(self._row_lo), len(self.lo)))
        return LinearModel(
            matrix,
            np.array(self._row_lo),
            np.array(self._row_hi),
            np.array(self.lo),
            np.array(self.hi),
            np.array(self.whole, dtype=bool),
            np.array(self.gain),
            self.offset,
            tuple(self.names),
        )


def without_small(model: LinearModel, least: float) -> LinearModel:
    """The model without coefficients up to `least`, every row weakened by as much as they could contribute.

    Solvers drop such coefficients on their own, without the second half, and may so prove what is not true.
    """
    small = np.abs(model.matrix.data) <= least
    if not small.any():
        return model
    matrix = model.matrix.copy()
    columns, size = matrix.indices[small], np.abs(matrix.data[small])
    reach = size * np.maximum(np.abs(model.col_lo[columns]), np.abs(model.col_hi[columns]))
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[small]
    slack = np.bincount(owner, weights=reach, minlength=matrix.shape[0])
    matrix.data[small] = 0.0
    matrix.eliminate_zeros()
    return replace(model, matrix=matrix, row_lo=model.row_lo - slack, row_hi=model.row_hi + slack)


def at_least(model: LinearModel, least: float, *, objective: bool = True) -> LinearModel:
    """The model with the row ``offset + c·x ≥ least``, and with nothing to maximise unless `objective`.

    It is infeasible if and only if the maximum is below `least`; a solver finds that within its tolerances, and cannot
    tell it from a model that was empty before.
    """
    return replace(
        model,
        matrix=csr_matrix(vstack([model.matrix, csr_matrix(model.objective[None])])),
        row_lo=np.append(model.row_lo, least - model.offset),
        row_hi=np.append(model.row_hi, np.inf),
        objective=model.objective if objective else np.zeros_like(model.objective),
        offset=model.offset if objective else 0.0,
    )


def safe_bound(model: LinearModel, multipliers: np.ndarray) -> float:
    """An upper bound on the LP relaxation from row multipliers y [rows] of any quality.

    c·x = y·Ax + (c − Aᵀy)·x ≤ Σ_i max(y_i·lo_i, y_i·hi_i) + Σ_j max(d_j·lo_j, d_j·hi_j) for every feasible x;
    multipliers that would use an infinite side are set to zero. Valid up to the rounding of these sums.
    """
    y = np.where((multipliers > 0) & np.isinf(model.row_hi), 0.0, multipliers)
    y = np.where((y < 0) & np.isinf(model.row_lo), 0.0, y)
    d = model.objective - model.matrix.T @ y
    rows = np.where(y > 0, y * np.where(y > 0, model.row_hi, 0.0), y * np.where(y < 0, model.row_lo, 0.0))
    columns = np.where(d > 0, d * np.where(d > 0, model.col_hi, 0.0), d * np.where(d < 0, model.col_lo, 0.0))
    return float(model.offset + rows.sum() + columns.sum())
