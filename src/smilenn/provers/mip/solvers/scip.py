"""SCIP through pyscipopt. The only file that imports it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from smilenn.errors import SmileError
from smilenn.provers.mip.linear_model import LinearModel, without_small
from smilenn.provers.mip.solvers.base import Solver, SolverResult, Status

SMALL = 1e-7  # coefficients up to this are paid for: SCIP takes numbers below 1e-9 for zero


@dataclass(frozen=True)
class Scip(Solver):
    """SCIP; LPs get no multipliers (its presolve does not keep them)."""

    feasibility: float = 1e-9
    seed: int = 0
    name: ClassVar[str] = "scip"
    title: ClassVar[str] = "SCIP"

    @property
    def tolerance(self) -> float:
        """The feasibility tolerance, which is the integrality tolerance too."""
        return self.feasibility

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
        """Solve; see `Solver.solve`. `threads` is ignored: this SCIP has one."""
        try:
            import pyscipopt
        except ImportError as error:
            raise SmileError("SCIP is not installed; install it with: pip install 'smilenn[scip]'") from error
        start = perf_counter()
        model = without_small(model, SMALL)
        m = pyscipopt.Model()
        m.hideOutput()
        options: dict[str, Any] = {
            "limits/time": max(0.0, time_limit),
            "limits/gap": gap,
            "limits/absgap": gap,
            "numerics/feastol": self.feasibility,
            "numerics/dualfeastol": self.feasibility,
            "randomization/randomseedshift": self.seed,
        }
        if np.isfinite(above):
            options["limits/primal"] = float(np.nextafter(above, np.inf))
        if np.isfinite(below):
            options["limits/dual"] = float(below)
        for key, value in options.items():
            m.setParam(key, value)
        x = _fill(pyscipopt, m, model)
        m.optimize()
        return _result(m, model, x, above, below, perf_counter() - start)


def _fill(pyscipopt: Any, m: Any, model: LinearModel) -> list[Any]:
    def side(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    x = [
        m.addVar(lb=side(lo), ub=side(hi), vtype="I" if whole else "C", obj=float(gain))
        for lo, hi, whole, gain in zip(model.col_lo, model.col_hi, model.integer, model.objective, strict=True)
    ]
    m.setMaximize()
    m.addObjoffset(model.offset)
    a = model.matrix
    for r, (lo, hi) in enumerate(zip(model.row_lo, model.row_hi, strict=True)):
        entries = range(a.indptr[r], a.indptr[r + 1])
        total = pyscipopt.quicksum(float(a.data[e]) * x[a.indices[e]] for e in entries)
        if lo == hi:
            m.addCons(total == float(lo))
        else:
            if np.isfinite(hi):
                m.addCons(total <= float(hi))
            if np.isfinite(lo):
                m.addCons(total >= float(lo))
    return x


def _result(m: Any, model: LinearModel, x: list[Any], above: float, below: float, seconds: float) -> SolverResult:
    """Translate; a status that is not known to be harmless is an error."""
    said = m.getStatus()
    known = {
        "optimal": Status.OPTIMAL,
        "gaplimit": Status.OPTIMAL,
        "infeasible": Status.INFEASIBLE,
        "unbounded": Status.UNBOUNDED,
        "inforunbd": Status.UNBOUNDED,
        "timelimit": Status.TIME_LIMIT,
        "userinterrupt": Status.INTERRUPTED,
        "primallimit": Status.ABOVE,
        "duallimit": Status.BELOW,
    }
    outcome = known.get(said, Status.ERROR)
    point, primal, bound = None, -np.inf, np.inf
    if m.getNSols() > 0:
        best = m.getBestSol()
        point = np.array([best[v] for v in x])
        primal = float(model.offset + model.objective @ point)
    if outcome not in (Status.ERROR, Status.INFEASIBLE, Status.UNBOUNDED):
        bound = float(m.getDualbound())
        bound = bound if abs(bound) < 1e19 else np.inf
    if outcome is Status.ABOVE and not primal > above:
        outcome = Status.ERROR
    if outcome is Status.BELOW and not bound <= below + 1e-9:
        outcome = Status.ERROR
    return SolverResult(outcome, bound, primal, point, int(m.getNTotalNodes()), seconds, None, said)
