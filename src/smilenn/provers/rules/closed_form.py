"""Exact maximum where it separates: affine ψ, and convex ψ with few undecided units.

For affine ψ the region without extra rows is a product, so  max Σ_c q_c·u_c  is taken per coordinate and per one-hot
group (`Region.maximum`). A unit with a positive coefficient is a maximum of two affine functions,
κ·relu(a) = max(0, κ·a), hence with P of them

    max_u  q·u + Σ_j κ_j relu(a_j)  =  max_{s ∈ {0,1}^P}  max_u  q·u + Σ_j s_j κ_j a_j ,

2^P closed forms in one batch. The paper's free boxes over affine auxiliaries are the main case: P ≤ n flip units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.mip.presolve import Reduced, presolve
from smilenn.provers.prover import FOREVER, Goal, allowance, evaluated
from smilenn.provers.rules.rule import Cost, Rule
from smilenn.reason import Reason, Why
from smilenn.verdict import Maximum

CHUNK = 1 << 19  # numbers per batch of objectives


@dataclass(frozen=True)
class ClosedForm(Rule):
    """Closed form in float64; at most 2^`patterns` patterns of positive units."""

    patterns: int = 14
    name: ClassVar[str] = "closed-form"
    tolerance: ClassVar[float] = 1e-9
    shows: ClassVar[str] = "affine rows, and convex ones with few undecided units"
    cost: ClassVar[Cost] = Cost.FORMULA
    because: ClassVar[str] = "the row separates over the inputs"

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "closed form in float64"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Extra rows, negative units and too many positive units do not separate."""
        if problem.region.has_rows:
            return "The premise has rows beyond boxes, equalities and differences of one feature."
        return None if row.affine else self._refuses(presolve(problem, row))

    def _refuses(self, reduced: Reduced) -> str | None:
        if (reduced.unit < 0).any():
            return f"{int((reduced.unit < 0).any(axis=0).sum())} undecided units have a negative coefficient."
        if reduced.inner_unit.any():
            return "Undecided hidden units feed the flip units."
        positive = int((reduced.unit > 0).sum() + (reduced.flip > 0).sum())
        if positive > self.patterns:
            return f"{positive} undecided units make 2^{positive} patterns; at most 2^{self.patterns} are enumerated."
        return None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The exact maximum, whatever the goal; `upper` adds the float64 error of the sum.

        An affine row that is proved comes without a point.
        """
        start = perf_counter()
        if row.affine and goal == "prove" and not problem.region.has_rows:
            upper = float(problem.region.maximum(row.slope[None])[0]) + row.const - row.rhs + allowance(problem, row)
            if upper <= target:
                return Maximum(upper, note="closed form", seconds=perf_counter() - start, nodes=1)
        reduced = presolve(problem, row)
        why = self.refuses(problem, row) if problem.region.has_rows else self._refuses(reduced)
        if why is not None:
            return Maximum(np.inf, stopped=Why.of(Reason.REFUSED, why), seconds=perf_counter() - start)
        best, at, done = -np.inf, None, 0
        for const, g in _patterns(reduced):
            u = reduced.region.argmax(g)
            value = np.einsum("bkm,bkm->b", g, u) + const
            top = int(value.argmax())
            if value[top] > best:
                best, at = float(value[top]), u[top]
            done += len(value)
            if perf_counter() - start > time_limit:
                break
        point, lower = evaluated(problem, row, at)
        seconds = perf_counter() - start
        total = 1 << int((reduced.unit > 0).sum() + (reduced.flip > 0).sum())
        if done < total:
            stopped = Why.of(Reason.PATTERNS, done, total)
            return Maximum(np.inf, lower, point, stopped, seconds=seconds, nodes=done)
        upper = max(best, lower) + allowance(problem, row)
        return Maximum(upper, lower, point, None, f"closed form over {total} patterns", seconds, total)


def _patterns(reduced: Reduced) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All sums over subsets of the positive units, in chunks: constants [B] and objectives [B, k, m]."""
    k, m = reduced.slope.shape
    consts, slopes = [], []
    for c, j in zip(*np.nonzero(reduced.unit > 0), strict=True):
        term = np.zeros((k, m))
        term[c] = reduced.unit[c, j] * reduced.weight[j]
        consts.append(reduced.unit[c, j] * reduced.bias[j])
        slopes.append(term)
    for c, i in zip(*np.nonzero(reduced.flip > 0), strict=True):
        term = np.zeros((k, m))
        term[c] = reduced.flip[c, i] * reduced.inner_slope[c, i]
        consts.append(reduced.flip[c, i] * reduced.inner_const[c, i])
        slopes.append(term)
    p = len(consts)
    const, slope = np.array(consts).reshape(p), np.array(slopes).reshape(p, k * m)
    chunk = max(1, CHUNK // max(1, k * m))
    for first in range(0, 1 << p, chunk):
        index = np.arange(first, min(first + chunk, 1 << p))
        bits = ((index[:, None] >> np.arange(p)) & 1).astype(np.float64)
        yield reduced.const + bits @ const, (reduced.slope.ravel() + bits @ slope).reshape(-1, k, m)
