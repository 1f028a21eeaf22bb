"""Solver adapters: sparse matrices in; primal point, dual bound and multipliers out. One file per solver library."""

from __future__ import annotations

from importlib.util import find_spec

from smilenn.errors import SmileError, listed
from smilenn.provers.mip.linear_model import LinearModel
from smilenn.provers.mip.solvers.base import Session, Solver, SolverResult, Status

__all__ = ["SOLVERS", "LinearModel", "Session", "Solver", "SolverResult", "Status", "installed", "solver"]

SOLVERS: dict[str, str] = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}  # name → library


def installed() -> list[str]:
    """The solvers whose libraries are there; HiGHS always is."""
    return [name for name, library in SOLVERS.items() if find_spec(library) is not None]


def solver(name: str = "highs") -> Solver:
    """The adapter called `name`; its library is imported on the first solve."""
    if name == "highs":
        from smilenn.provers.mip.solvers.highs import Highs

        return Highs()
    if name == "scip":
        from smilenn.provers.mip.solvers.scip import Scip

        return Scip()
    if name == "gurobi":
        from smilenn.provers.mip.solvers.gurobi import Gurobi

        return Gurobi()
    raise SmileError(f"There is no solver {name!r}; the solvers are {listed(tuple(SOLVERS))}.")
