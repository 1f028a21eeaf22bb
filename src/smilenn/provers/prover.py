"""The one interface of all provers: ``max Σ_c ψ_c(u_c) − rhs`` over a region, with a proved bound and a checked point.

    lower ≤ max ≤ upper

`upper` always comes from the dual side (a bound, never an incumbent); `lower` is always `Problem.value` in float64 at a
point that was snapped into the region and found to be a member.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.verdict import Maximum

Goal = Literal["optimum", "prove", "find"]
GAP = 1e-6  # relative to the scale of the row: what "optimum" means
FOREVER = 3600.0
EPS = float(np.finfo(np.float64).eps)


class Prover(ABC):
    """A method that bounds the violation of one row.

    Attributes
    ----------
    name : how a user asks for it.
    tolerance : relative to `Row.scale`; an upper bound below it counts as ≤ 0.
    challenged : whether its bounds come from a solver and a search must fail to beat them before they count.
    """

    name: ClassVar[str]
    tolerance: ClassVar[float]
    challenged: ClassVar[bool] = False

    @property
    @abstractmethod
    def title(self) -> str:
        """Who proves, as a verdict says it: ``proved by <title> within 1e-06``."""

    @abstractmethod
    def refuses(self, problem: Problem, row: Row) -> str | None:
        """A sentence why the method does not apply, or None."""

    @abstractmethod
    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """Bound the largest violation of `row`.

        ``optimum`` closes the gap to 1e-6; ``prove`` stops as soon as ``upper ≤ target`` is shown or a point with a
        value above `target` is found; ``find`` stops at the first such point (or at the proof that there is none).
        """


def evaluated(problem: Problem, row: Row, u: np.ndarray | None) -> tuple[np.ndarray | None, float]:
    """A solver's point u [k, m] snapped into the region and evaluated in float64; (None, −inf) if not a member."""
    if u is None or not np.isfinite(u).all():
        return None, -np.inf
    point = problem.region.snap(u)
    if not problem.region.contains(point).all():
        return None, -np.inf
    return point, float(problem.value(point[None], row)[0])


def allowance(problem: Problem, row: Row) -> float:
    """A bound on the float64 error of evaluating Σ_c ψ_c, by us or by the network, anywhere in the region.

    A dot product of n terms errs by at most n·u·Σ|terms| (u = eps/2), and the errors of nested sums add, so
    (m + H + n + k)·u times the sum of the largest absolute terms bounds the error; four times that is used. The terms
    are those of the network, before they cancel in `Row`: a forward pass rounds each of them. Numbers that enter by a
    single addition (head bias, right side) count twice their own rounding.
    """
    s, size = problem.snapshot, problem.region.largest  # [k, m]
    outputs, inputs = np.abs(row.outputs), np.abs(row.inputs)
    total = float(np.vdot(outputs @ np.abs(s.head_weight), problem.largest_box) + np.vdot(inputs, size))
    single = float((outputs @ np.abs(s.head_bias)).sum()) + abs(row.rhs)
    single += float((inputs @ np.abs(problem.domain.mult * problem.domain.shift)).sum())
    terms = problem.region.size + len(s.hidden_bias) + s.embedding + problem.copies + 8
    return 2.0 * EPS * (terms * total + single)
