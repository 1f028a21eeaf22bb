"""The slope rule: claims that are tight on the diagonal, proved by the signs of slopes in every activation cell.

With a box of zero width f = g∘lower is piecewise linear. A row ``F(x_1) − F(x_2) ≤ 0`` on ordered pairs (x_1,i − x_2,i
has the sign σ_i, other coordinates equal) holds if in every non-empty activation cell

    σ_i·( q_i + Σ_{j active} κ_j·w_ji ) ≤ 0      for every ordered coordinate i.

Branch-and-bound over the phases of units at *one* point. A leaf holds if the inequality holds with every undecided unit
counted at its worst, max(0, σ_i κ_j w_ji); a leaf is empty if multipliers λ ≥ 0 of its phase splits give
Σ λ_e·(±s_e) < 0 on the whole box. The rule is sufficient, not necessary: a cell without interior may fail it, so
failure refutes nothing. docs/certificate.md §4.3 has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from smilenn.problem import Problem, Row


@dataclass
class SlopeNode:
    """A cell: phases [H]; a unit to split, or a leaf that holds, or one that is `empty` by multipliers of its path."""

    phase: np.ndarray
    path: tuple[tuple[int, int], ...] = ()
    unit: int | None = None
    empty: np.ndarray | None = None
    children: list[SlopeNode] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SlopeTree:
    """The tree and whether every leaf was closed."""

    root: SlopeNode
    complete: bool
    nodes: int
    seconds: float
    note: str = ""


def applies(problem: Problem, row: Row) -> str | None:
    """A sentence why the slope rule does not apply, or None."""
    region, s = problem.region, problem.snapshot
    if problem.copies != 2 or region.has_rows:
        return "The slope rule needs two copies and no extra rows."
    if row.rhs < 0 or row.outputs.sum(axis=0).any() or row.inputs.sum(axis=0).any():
        return "The slope rule needs a difference of the two copies and a right side ≥ 0."
    if s.boxes != "gap" or s.second_const.any() or s.second_slope.any() or s.second_out.any():
        return "The slope rule needs a box of zero width."
    moving = ~region.pinned
    if (moving & region.grouped).any() or not ((region.delta_hi <= 0) | (region.delta_lo >= 0))[moving].all():
        return "The slope rule needs ordered pairs of numbers, the rest equal."
    return None


def slope_tree(problem: Problem, row: Row, *, time_limit: float = 60.0, most: int = 20_000) -> SlopeTree:
    """Grow the tree depth first until every leaf holds or is empty, or a limit is reached."""
    start, s, region = perf_counter(), problem.snapshot, problem.region
    lo, hi = region.lo.min(axis=0), region.hi.max(axis=0)
    moving = np.flatnonzero(~region.pinned)
    sigma = np.where(region.delta_hi[moving] <= 0, -1.0, 1.0)
    low, high = _ranges(problem, lo, hi)
    gains = (row.unit[0][:, None] * s.hidden_weight[:, moving]) * sigma  # [H, moving]
    fixed = row.slope[0][moving] * sigma
    root = SlopeNode(np.zeros(len(s.hidden_bias), dtype=np.int8))
    stack, count = [root], 1
    while stack:
        if count > most or perf_counter() - start > time_limit:
            return SlopeTree(root, False, count, perf_counter() - start, "the time limit was reached")
        node = stack.pop()
        off = (node.phase < 0) | (high <= 0)
        on = ~off & ((node.phase > 0) | (low >= 0))
        open_ = ~off & ~on
        worst = fixed + gains[on].sum(axis=0) + np.maximum(gains[open_], 0.0).sum(axis=0)
        if (worst <= 0).all():
            continue
        if node.path:
            node.empty = _empty(problem, node.path, lo, hi)
            if node.empty is not None:
                continue
        # an open unit of either sign helps: phase by phase it counts as it is, instead of at its worst
        candidates = np.where(open_[:, None], np.abs(gains), 0.0)[:, worst > 0].sum(axis=1)
        if candidates.max(initial=0.0) <= 0:
            return SlopeTree(
                root,
                False,
                count,
                perf_counter() - start,
                "a sliver of the domain may break the claim by less than the tolerance",
            )
        node.unit = int(candidates.argmax())
        for sign in (-1, 1):
            phase = node.phase.copy()
            phase[node.unit] = sign
            node.children.append(SlopeNode(phase, (*node.path, (node.unit, sign))))
        stack += reversed(node.children)
        count += 2
    return SlopeTree(root, True, count, perf_counter() - start)


def _ranges(problem: Problem, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of the pre-activations at one point of the box × one-hot groups, each [H]."""
    s, region = problem.snapshot, problem.region
    plain = ~region.grouped
    w = s.hidden_weight[:, plain]
    low = s.hidden_bias + np.minimum(w * lo[plain], w * hi[plain]).sum(axis=1)
    high = s.hidden_bias + np.maximum(w * lo[plain], w * hi[plain]).sum(axis=1)
    for group in region.groups:
        members = [i for i in group if hi[i] > 0.5]
        low, high = low + s.hidden_weight[:, members].min(axis=1), high + s.hidden_weight[:, members].max(axis=1)
    return low, high


def _empty(problem: Problem, path: tuple[tuple[int, int], ...], lo: np.ndarray, hi: np.ndarray) -> np.ndarray | None:
    """Multipliers [path] that show a cell empty, or None: max θ with ±s_e(x) ≥ θ on the box is negative."""
    from scipy.optimize import linprog

    s, region = problem.snapshot, problem.region
    units, signs = [j for j, _ in path], np.array([sign for _, sign in path], dtype=np.float64)
    rows = np.column_stack([-signs[:, None] * s.hidden_weight[units], np.ones(len(path))])
    sums = np.zeros((len(region.groups), region.size + 1))
    for g, group in enumerate(region.groups):
        sums[g, list(group)] = 1.0
    bounds = [*zip(lo, hi, strict=True), (None, None)]
    cost = np.zeros(region.size + 1)
    cost[-1] = -1.0
    result = linprog(
        cost, A_ub=rows, b_ub=signs * s.hidden_bias[units], bounds=bounds,
        A_eq=sums if len(sums) else None, b_eq=np.ones(len(sums)) if len(sums) else None, method="highs",
    )  # fmt: skip
    if result.status != 0 or result.fun is None or result.fun <= 1e-9:  # θ ≥ −1e-9: not clearly empty
        return None
    return np.maximum(-result.ineqlin.marginals, 0.0)
