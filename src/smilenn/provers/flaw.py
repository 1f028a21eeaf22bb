"""What no rule covers: a flip-free box whose gap may be negative, a left side that no float can bound."""

from __future__ import annotations

import numpy as np

from smilenn.problem import Problem
from smilenn.reason import Reason, Why

MEANINGLESS = 1e100  # left sides of this size overflow or drown everything else


def flaw(problem: Problem) -> Why | None:
    """Why nothing can be proved of a problem, whatever the rule; None where that is not so."""
    return _flipping_gap(problem) or _unbounded(problem)


def _unbounded(problem: Problem) -> Why | None:
    """Which row has no bound that a float could hold, and the feature to blame; None where all have one.

    Features have finite bounds, so in real numbers every left side has a maximum. It is at most
    |const| + Σ_cj |κ_cj|·|b_j| + Σ_ci (|q_ci| + Σ_j |κ_cj|·|w_ji|)·max|u_ci|, flip units taken as they enter.
    """
    s, region, f = problem.snapshot, problem.region, problem.flips
    with np.errstate(over="ignore", invalid="ignore"):
        largest = region.largest
        for row in problem.rows:
            unit = np.abs(row.unit) + row.flip @ np.abs(f.unit)
            slope = np.abs(row.slope) + row.flip @ np.abs(f.slope) + unit @ np.abs(s.hidden_weight)
            terms = (slope * largest).max(axis=0)  # [m]
            rest = abs(row.const) + float((unit @ np.abs(s.hidden_bias)).sum() + (row.flip @ np.abs(f.const)).sum())
            if not terms.sum() + rest < MEANINGLESS:
                worst = int(np.nan_to_num(terms, nan=np.inf, posinf=np.inf).argmax())
                name, most = problem.domain.coordinates[worst], float(largest[:, worst].max())
                return Why.of(Reason.UNBOUNDED, repr(row.text), repr(name), f"{most:.3g}")
    return None


def _flipping_gap(problem: Problem) -> Why | None:
    """The reduction of flip-free boxes needs gap ≥ 0 on X: checked on the box of X, not taken on trust."""
    s = problem.snapshot
    if s.boxes != "gap":
        return None
    domain = s.domain
    lo, hi = domain.scale(domain.lo), domain.scale(domain.hi)
    floor = s.second_const + np.minimum(s.second_slope * lo, s.second_slope * hi).sum(axis=1)
    size = np.abs(s.second_const) + (np.abs(s.second_slope) * np.maximum(np.abs(lo), np.abs(hi))).sum(axis=1)
    if (s.second_out < 0).any() or (floor < -1e-12 * size).any():
        return Why(Reason.NEGATIVE_GAP)
    return None
