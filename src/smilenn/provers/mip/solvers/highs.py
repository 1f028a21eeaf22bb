"""HiGHS through highspy. The only file that imports it."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from smilenn.errors import SmileError
from smilenn.provers.mip.linear_model import LinearModel, safe_bound, without_small
from smilenn.provers.mip.solvers.base import Session, Solver, SolverResult, Status

# HiGHS reads coefficients up to `small_matrix_value` as zero, also those that its presolve makes, and even where it is
# told to keep them its bounds fell below points that exist. Measured on random networks with weights from 1e-5 to 1e5,
# presolve on and off: 9 wrong bounds in 900 with the default 1e-9; 3 in 6,900 if coefficients up to 1e-7 are paid for
# and the rest is kept; none in 6,000 with 1e-6. Large objectives (badly scaled weights) get the last.
LEAST, SMALL, LARGE = 1e-12, 1e-7, 1e3
PERTURBED = "dual_simplex_cost_perturbation_multiplier"


@dataclass(frozen=True)
class Highs(Solver):
    """HiGHS; tolerances as far down as it allows by default.

    Parameters
    ----------
    feasibility : primal and dual feasibility tolerance of the LPs.
    integrality : how far a whole-valued column may be from a whole number (HiGHS: also the MIP's row tolerance).
    presolve : whether HiGHS may simplify the model first.
    heuristics : whether HiGHS may look for points by solving smaller MIPs; on proofs they cost more than they bring
        (measured: small models finish 1.5 to 4 times as fast without, large ones within a quarter either way).
    symmetry : whether HiGHS looks for symmetries of the model.
    """

    feasibility: float = 1e-9
    integrality: float = 1e-9
    presolve: bool = True
    heuristics: bool = False
    symmetry: bool = False
    seed: int = 0
    name: ClassVar[str] = "highs"
    title: ClassVar[str] = "HiGHS"

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
        """Solve; see `Solver.solve`. LPs get their bound from the multipliers (`safe_bound`)."""
        try:
            import highspy
        except ImportError as error:  # pragma: no cover - a core dependency
            raise SmileError("HiGHS is not installed; install it with: pip install highspy") from error
        start = perf_counter()
        model = without_small(model, SMALL if np.abs(model.objective).sum() <= LARGE else 10.0 * SMALL)
        h = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": threads,
            "random_seed": self.seed,
            "time_limit": max(0.0, time_limit),
            "primal_feasibility_tolerance": self.feasibility,
            "dual_feasibility_tolerance": self.feasibility,
            "mip_feasibility_tolerance": self.integrality,
            "mip_abs_gap": gap,
            "mip_rel_gap": gap,
            "presolve": "choose" if self.presolve else "off",
            "mip_detect_symmetry": self.symmetry,
            "small_matrix_value": LEAST,
        }
        for key, value in options.items():
            if h.setOptionValue(key, value) == highspy.HighsStatus.kError:
                return SolverResult(Status.ERROR, detail=f"HiGHS refused the option {key} = {value}")
        for heuristic in ("rins", "rens", "root_reduced_cost"):  # only tuning: older versions lack these options
            h.setOptionValue(f"mip_heuristic_run_{heuristic}", self.heuristics)
        if h.passModel(_lp(highspy, model)) == highspy.HighsStatus.kError:
            return SolverResult(Status.ERROR, detail="HiGHS refused the model")

        mip = bool(model.integer.any())
        stop, reached = Event(), []

        def watch(kind: Any, message: str, seen: Any, answer: Any, data: Any) -> None:
            # called from C++ in the solving thread: sets flags only, raises nothing; HiGHS minimises −objective
            if stop.is_set():
                answer.user_interrupt = True
            elif mip and -seen.mip_dual_bound <= below:
                reached.append(Status.BELOW)
                answer.user_interrupt = True
            elif mip and -seen.mip_primal_bound > above:
                reached.append(Status.ABOVE)
                answer.user_interrupt = True

        h.setCallback(watch, None)
        h.startCallback(
            highspy.cb.HighsCallbackType.kCallbackMipInterrupt
            if mip
            else highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt
        )
        interrupted = _run(h, stop)
        if interrupted and not mip:  # one LP of many: a search that got a result back would go on
            raise KeyboardInterrupt
        return _result(highspy, h, model, mip, reached, interrupted, perf_counter() - start)

    def session(self, model: LinearModel) -> Session:
        """An LP that stays in HiGHS; every solve starts the dual simplex from the last basis or a given one."""
        return HighsSession(self, model)


class HighsSession(Session):
    """See `Session`. Bounds of the LP are not made safe here: a caller that needs a bound computes it from `x`'s duals.

    All columns of an LP kept here should have two finite bounds: then every basis is dual feasible after a change of
    bounds, and the dual simplex needs a few steps only.
    """

    def __init__(self, solver: Highs, model: LinearModel) -> None:
        import highspy

        self.kit, self.model, self.offset = highspy, model, model.offset
        self.h: Any = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "random_seed": solver.seed,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": solver.feasibility,
            "dual_feasibility_tolerance": solver.feasibility,
            "small_matrix_value": LEAST,
            # a few steps per solve: exact edge weights do not pay (measured: a tenth slower)
            "simplex_dual_edge_weight_strategy": 1,
            "simplex_iteration_limit": 1000 + 10 * sum(model.matrix.shape),
        }
        for key, value in options.items():
            self.h.setOptionValue(key, value)
        if self.h.passModel(_lp(highspy, model)) == highspy.HighsStatus.kError:
            raise SmileError("HiGHS refused a linear program; its numbers are too large or not finite.")
        self.first, self.rows = True, len(model.row_lo)

    def columns(self, index: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        """See `Session`."""
        self.h.changeColsBounds(len(index), index.astype(np.int32), lo, hi)

    def row(self, index: int, lo: float, hi: float) -> None:
        """See `Session`."""
        self.h.changeRowBounds(index, lo, hi)

    def coefficient(self, row: int, column: int, value: float) -> None:
        """See `Session`."""
        self.h.changeCoeff(row, column, value)

    def add(self, matrix: csr_matrix, hi: np.ndarray) -> None:
        """See `Session`."""
        low = np.full(len(hi), -np.inf)
        self.h.addRows(
            len(hi),
            low,
            hi,
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
        )
        self.rows += len(hi)

    def solve(self, basis: Any = None) -> SolverResult:
        """See `Session`; the dual bound is the LP's value as HiGHS says it, within its tolerances."""
        h, status = self.h, self.kit.HighsModelStatus
        if basis is not None:
            known, rows = basis
            if rows < self.rows:  # some were added since
                known.row_status = [*known.row_status, *[self.kit.HighsBasisStatus.kBasic] * (self.rows - rows)]
            h.setBasis(known)
        h.run()
        said = h.getModelStatus()
        # costs are perturbed in the first solve only: a tenth slower where a few steps are left. Without it degenerate
        # LPs have been seen to cycle (two copies that are equal); those go back to perturbed costs for good
        if said == status.kIterationLimit:
            h.setOptionValue(PERTURBED, 1.0)
            h.setOptionValue("simplex_iteration_limit", 2**31 - 1)
            h.clearSolver()
            h.run()
            said = h.getModelStatus()
        elif self.first:
            h.setOptionValue(PERTURBED, 0.0)
        self.first = False
        if said == status.kOptimal:
            solution = h.getSolution()
            x, y = np.array(solution.col_value), -np.array(solution.row_dual)
            value = -h.getObjectiveValue()
            return SolverResult(Status.OPTIMAL, value, value, x, 0, 0.0, y)
        if said == status.kInfeasible:
            _, exists, ray = h.getDualRay()
            return SolverResult(Status.INFEASIBLE, multipliers=np.array(ray) if exists else None)
        h.clearSolver()  # whatever went wrong, the next solve starts from scratch
        return SolverResult(Status.ERROR, detail=h.modelStatusToString(said))

    def basis(self) -> Any:
        """A copy of HiGHS's basis, and how many rows it is for."""
        return self.h.getBasis(), self.rows


def _lp(highspy: Any, model: LinearModel) -> Any:
    """The model in HiGHS's own type, as a minimisation of −c·x."""
    lp = highspy.HighsLp()
    rows, columns = model.matrix.shape
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_, lp.offset_ = -model.objective, -model.offset
    lp.col_lower_, lp.col_upper_ = model.col_lo, model.col_hi
    lp.row_lower_, lp.row_upper_ = model.row_lo, model.row_hi
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = columns, rows
    lp.a_matrix_.start_ = model.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = model.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = model.matrix.data.astype(np.float64)
    if model.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in model.integer]
    return lp


def _run(h: Any, stop: Event) -> bool:
    """Run in a thread of its own, so that Ctrl-C reaches Python while HiGHS works; True if it did."""
    failure: list[BaseException] = []

    def work() -> None:
        try:
            h.run()
        except BaseException as error:  # handed to the waiting thread
            failure.append(error)

    worker, interrupted = Thread(target=work, daemon=True), False
    worker.start()
    while worker.is_alive():
        try:
            worker.join(0.2)
        except KeyboardInterrupt:
            if interrupted:  # asked twice: leave the solver behind
                raise
            interrupted = True
            stop.set()
    if failure:
        raise failure[0]
    return interrupted


def _result(
    highspy: Any, h: Any, model: LinearModel, mip: bool, reached: list[Status], interrupted: bool, seconds: float
) -> SolverResult:
    """Translate; a status that is not known to be harmless is an error."""
    said, info, status = h.getModelStatus(), h.getInfo(), highspy.HighsModelStatus
    known = {
        status.kOptimal: Status.OPTIMAL,
        status.kModelEmpty: Status.OPTIMAL,
        status.kInfeasible: Status.INFEASIBLE,
        status.kUnbounded: Status.UNBOUNDED,
        status.kTimeLimit: Status.TIME_LIMIT,
        status.kInterrupt: reached[0] if reached else Status.INTERRUPTED,
        status.kHighsInterrupt: reached[0] if reached else Status.INTERRUPTED,
    }
    outcome = known.get(said, Status.ERROR)
    if interrupted and outcome is not Status.OPTIMAL:
        outcome = Status.INTERRUPTED
    solution = h.getSolution()
    x = np.array(solution.col_value) if solution.value_valid and len(solution.col_value) else None
    multipliers, bound = None, np.inf
    if mip:
        if outcome not in (Status.ERROR, Status.INFEASIBLE, Status.UNBOUNDED):
            bound = -info.mip_dual_bound if np.isfinite(info.mip_dual_bound) else np.inf
    elif solution.dual_valid and outcome is Status.OPTIMAL:
        multipliers = -np.array(solution.row_dual)
        bound = safe_bound(model, multipliers)
    primal = float(model.offset + model.objective @ x) if x is not None else -np.inf
    nodes = max(0, int(info.mip_node_count)) if mip else 0
    return SolverResult(outcome, bound, primal, x, nodes, seconds, multipliers, h.modelStatusToString(said))
