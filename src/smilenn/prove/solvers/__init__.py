"""Solver adapters: sparse matrices in; primal point, dual bound and multipliers out. One file per solver library."""

from __future__ import annotations

from smilenn.errors import SmileError, listed
from smilenn.prove.solvers.base import Solver, SolverResult, Status

__all__ = ["SOLVERS", "Solver", "SolverResult", "Status", "solver"]

SOLVERS: tuple[str, ...] = ("highs",)
_EXTRAS = {"scip": "smilenn[scip]", "gurobi": "smilenn[gurobi]"}


def solver(name: str = "highs") -> Solver:
    """The adapter called `name`; its library is imported on the first solve."""
    if name == "highs":
        from smilenn.prove.solvers.highs import Highs

        return Highs()
    if name in _EXTRAS:
        raise SmileError(f"The solver {name!r} has no adapter in this version (extra: {_EXTRAS[name]}); use 'highs'.")
    raise SmileError(f"There is no solver {name!r}; the solvers are {listed(SOLVERS)}.")
