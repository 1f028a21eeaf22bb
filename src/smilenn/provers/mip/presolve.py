"""A row with everything decided folded away: what is left is what makes the maximum hard.

Over the region, per copy c:

- a unit whose pre-activation range is ≥ 0 is affine, ≤ 0 is zero; likewise a flip unit;
- a unit that sees pinned coordinates only takes the same value in all copies: its coefficients are added up (and often
  cancel), Σ_c κ_c·relu(a_c) = (Σ_c κ_c)·relu(a_1);
- a unit without a coefficient is dropped.

The result is again  ψ_c(u) = q_c·u + κ_c·relu(W u + b) + p_c·relu(d_c + D_c u + E_c·relu(W u + b)), p ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.problem.region import Region


@dataclass(frozen=True, eq=False)
class Reduced:
    """Σ_c ψ_c − rhs after presolve; k copies, m coordinates, h live units, n live flip units.

    Attributes
    ----------
    const, slope : number and q [k, m].
    weight, bias : W [h, m], b [h].
    low, high : [k, h] exact pre-activation ranges (outer ones where extra rows exist).
    unit : κ [k, h]; those of `tied` units sit in the first copy.
    tied : [h] bool, units that see pinned coordinates only.
    flip : p [k, n].
    inner_const, inner_slope, inner_unit : d [k, n], D [k, n, m], E [k, n, h].
    inner_low, inner_high : [k, n] outer ranges of the flip units' inner functions.
    """

    region: Region
    const: float
    slope: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unit: np.ndarray
    tied: np.ndarray
    flip: np.ndarray
    inner_const: np.ndarray
    inner_slope: np.ndarray
    inner_unit: np.ndarray
    inner_low: np.ndarray
    inner_high: np.ndarray

    def psi(self, c: int, u: np.ndarray) -> np.ndarray:
        """ψ_c at u [N, m] without the constant, [N]."""
        hidden = np.maximum(u @ self.weight.T + self.bias, 0.0)
        value = u @ self.slope[c] + hidden @ self.unit[c]
        if self.flip.size:
            inner = self.inner_const[c] + u @ self.inner_slope[c].T + hidden @ self.inner_unit[c].T
            value = value + np.maximum(inner, 0.0) @ self.flip[c]
        return value


def presolve(problem: Problem, row: Row) -> Reduced:
    """Fold, tie and drop; exact up to rounding."""
    s, region = problem.snapshot, problem.region
    k, m = problem.copies, region.size
    flips = np.flatnonzero((row.flip > 0).any(axis=0))
    live = (row.unit != 0).any(axis=0) | (problem.flips.unit[flips] != 0).any(axis=0)
    weight, bias = s.hidden_weight[live], s.hidden_bias[live]
    low, high = region.unit_ranges(weight, bias) if live.any() else (np.zeros((k, 0)), np.zeros((k, 0)))
    on, undecided = low >= 0, (low < 0) & (high > 0)

    const, slope, unit = row.const - row.rhs, row.slope.copy(), row.unit[:, live].copy()
    p = row.flip[:, flips].copy()
    d = np.tile(problem.flips.const[flips], (k, 1))
    D = np.tile(problem.flips.slope[flips], (k, 1, 1))
    E = np.tile(problem.flips.unit[flips][:, live], (k, 1, 1))
    for c in range(k):
        d[c] += E[c][:, on[c]] @ bias[on[c]]
        D[c] += E[c][:, on[c]] @ weight[on[c]]
        E[c][:, ~undecided[c]] = 0.0
    inner_low, inner_high = inner_ranges(region, weight, bias, low, high, d, D, E)
    for c in range(k):
        open_ = (inner_low[c] >= 0) & (p[c] > 0)
        const += float(p[c, open_] @ d[c, open_])
        slope[c] += p[c, open_] @ D[c, open_]
        unit[c] += p[c, open_] @ E[c, open_]
        p[c, open_ | (inner_high[c] <= 0)] = 0.0
        const += float(unit[c, on[c]] @ bias[on[c]])
        slope[c] += unit[c, on[c]] @ weight[on[c]]
        unit[c, ~undecided[c]] = 0.0
    tied = np.zeros(len(bias), dtype=bool) if k == 1 else ~(weight[:, ~region.pinned] != 0).any(axis=1)
    unit[0, tied] = unit[:, tied].sum(axis=0)
    unit[1:, tied] = 0.0

    kept = (p > 0).any(axis=0)
    E = np.where(p[:, :, None] > 0, E, 0.0)[:, kept]
    units = (unit != 0).any(axis=0) | (E != 0).any(axis=(0, 1))
    return Reduced(
        region,
        const,
        slope,
        weight[units],
        bias[units],
        low[:, units],
        high[:, units],
        unit[:, units],
        tied[units],
        p[:, kept],
        d[:, kept],
        D[:, kept].reshape(k, -1, m),
        E[:, :, units],
        inner_low[:, kept],
        inner_high[:, kept],
    )


def inner_ranges(
    region: Region,
    weight: np.ndarray,
    bias: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    d: np.ndarray,
    D: np.ndarray,
    E: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Outer ranges of d + D u + E·relu(W u + b) per copy, each [k, n].

    Two bounds, the better one taken: every relu at the end of its range; every relu replaced by its chord or a line
    through the origin and the sum maximised exactly over the region. Without units both are exact.
    """
    k, n = d.shape
    m = region.size
    if n == 0:
        return np.zeros((k, 0)), np.zeros((k, 0))
    ends = np.zeros((2, k, n))
    for sign, out in ((1.0, ends[0]), (-1.0, ends[1])):
        for c in range(k):
            lo, hi = np.minimum(low[c], 0.0), np.maximum(high[c], 0.0)
            e = sign * E[c]  # maximise sign·inner
            g = np.zeros((2 * n, k, m))
            g[:n, c] = sign * D[c]
            chord = hi / np.maximum(hi - lo, 1e-300)  # relu(a) ≤ chord·(a − lo)
            line = (hi > -lo).astype(np.float64)  # relu(a) ≥ line·a
            rise = np.where(e > 0, e * chord, e * line)
            g[n:, c] = sign * D[c] + rise @ weight
            linear = region.maximum(g)
            boxed = linear[:n] + sign * d[c] + np.maximum(e, 0.0) @ hi
            relaxed = linear[n:] + sign * d[c] + rise @ bias - (np.maximum(e, 0.0) * chord) @ lo
            out[c] = np.minimum(boxed, relaxed)
    return -ends[1], ends[0]
