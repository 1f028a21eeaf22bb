"""Gurobi through gurobipy. The only file that imports it.

Without your own licence, gurobipy brings a size-limited one: up to 2,000 columns and 2,000 rows. A model beyond
that is an error that says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from smilenn.errors import SmileError
from smilenn.provers.mip.linear_model import LinearModel, safe_bound, without_small
from smilenn.provers.mip.solvers.base import Solver, SolverResult, Status


@dataclass(frozen=True)
class Gurobi(Solver):
    """Gurobi; tolerances as far down as it allows by default."""

    feasibility: float = 1e-9
    integrality: float = 1e-9
    seed: int = 0
    name: ClassVar[str] = "gurobi"
    title: ClassVar[str] = "Gurobi"

    @property
    def tolerance(self) -> float:
        """The larger of the two."""
        return max(self.feasibility, self.integrality)

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
        """Solve; see `Solver.solve`."""
        try:
            import gurobipy
        except ImportError as error:
            raise SmileError("Gurobi is not installed; install it with: pip install 'smilenn[gurobi]'") from error
        start = perf_counter()
        model = without_small(model, 1e-7)
        options: dict[str, Any] = {
            "OutputFlag": 0,
            "Threads": threads,
            "Seed": self.seed,
            "TimeLimit": max(0.0, time_limit),
            "FeasibilityTol": self.feasibility,
            "OptimalityTol": self.feasibility,
            "IntFeasTol": self.integrality,
            "MIPGap": gap,
            "MIPGapAbs": gap,
        }
        if model.integer.any():
            options |= {"BestObjStop": np.nextafter(above, np.inf), "BestBdStop": below}
        try:
            with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.Model(env=env) as m:
                for key, value in options.items():
                    m.setParam(key, value)
                x, rows = _fill(gurobipy, m, model)
                m.optimize()
                return _result(gurobipy, m, model, x, rows, above, below, perf_counter() - start)
        except gurobipy.GurobiError as error:
            return SolverResult(Status.ERROR, detail=f"Gurobi: {error}")


def _fill(gurobipy: Any, m: Any, model: LinearModel) -> tuple[Any, list[tuple[np.ndarray, Any]]]:
    """Columns, objective and rows; a row with two different sides becomes two."""
    kinds = np.where(model.integer, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS)
    x = m.addMVar(len(model.objective), lb=model.col_lo, ub=model.col_hi, vtype=kinds)
    m.setObjective(model.objective @ x + model.offset, gurobipy.GRB.MAXIMIZE)
    same = model.row_lo == model.row_hi
    parts = [
        (same, "=", model.row_lo),
        (~same & np.isfinite(model.row_hi), "<", model.row_hi),
        (~same & np.isfinite(model.row_lo), ">", model.row_lo),
    ]
    rows = []
    for chosen, sense, side in parts:
        index = np.flatnonzero(chosen)
        if len(index):
            rows.append((index, m.addMConstr(model.matrix[index], x, sense, side[index])))
    return x, rows


def _result(
    gurobipy: Any,
    m: Any,
    model: LinearModel,
    x: Any,
    rows: list[tuple[np.ndarray, Any]],
    above: float,
    below: float,
    seconds: float,
) -> SolverResult:
    """Translate; a status that is not known to be harmless is an error."""
    code, mip = gurobipy.GRB, bool(model.integer.any())
    known = {
        code.OPTIMAL: Status.OPTIMAL,
        code.INFEASIBLE: Status.INFEASIBLE,
        code.UNBOUNDED: Status.UNBOUNDED,
        code.INF_OR_UNBD: Status.INFEASIBLE,
        code.TIME_LIMIT: Status.TIME_LIMIT,
        code.INTERRUPTED: Status.INTERRUPTED,
    }
    has_point = m.SolCount > 0
    primal = float(m.ObjVal) if has_point else -np.inf
    if m.Status == code.USER_OBJ_LIMIT:
        outcome = Status.ABOVE if primal > above else Status.BELOW
    else:
        outcome = known.get(m.Status, Status.ERROR)
    point = np.array(x.X) if has_point else None
    bound, multipliers = np.inf, None
    if mip:
        if outcome in (Status.OPTIMAL, Status.ABOVE, Status.BELOW, Status.TIME_LIMIT, Status.INTERRUPTED):
            bound = float(m.ObjBound) if abs(m.ObjBound) < 1e100 else np.inf
    elif outcome is Status.OPTIMAL:
        multipliers = np.zeros(len(model.row_lo))
        for index, constraint in rows:
            multipliers[index] += constraint.Pi
        bound = safe_bound(model, multipliers)
    if point is not None:
        primal = float(model.offset + model.objective @ point)
    nodes = int(m.NodeCount) if mip else 0
    return SolverResult(outcome, bound, primal, point, nodes, seconds, multipliers, f"status {m.Status}")
