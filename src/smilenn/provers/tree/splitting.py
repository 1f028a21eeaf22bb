"""Ways to split a cell, in the order in which branch-and-bound tries them.

a category or yes/no that differs between the copies
the phase of a hidden or flip unit
a category, then a whole number, that the relaxation holds for a fraction
the widest input
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.problem.region import Region
from smilenn.provers.tree.leaf import Cell, Shape
from smilenn.provers.tree.relaxation import BoxLP, Slack

# (kind, copy, index, threshold): ("phase", c, j, 0), ("flip", c, i, 0), ("input", c, i, model units) or
# ("group", c, g, 0); copy −1 means all copies (pinned)
Split = tuple[str, int, int, float]


def moving_split(region: Region, cell: Cell, open_units: int, *, always: bool = False) -> Split | None:
    """A category or yes/no that differs between two copies, unless it has too many values for so few open units.

    With the protected values fixed a unit's copies differ by a constant, their polygon is a segment and the joint rule
    nearly exact (measured: tens of leaves instead of thousands). But every pair of values is a tree of its own. Nodes
    grow about as 2^(0.4·units) without it; measured with six values, 8 open units are better off without, 16 with.
    """
    if region.copies != 2:
        return None
    for g, group in enumerate(region.groups):
        members = list(group)
        if not region.pinned[members].all():
            left = (cell.hi[:, members] > 0.5).sum(axis=1)
            if always or left.prod() <= 2.0 ** (0.4 * open_units):
                for c in (0, 1):
                    if left[c] > 1:
                        return "group", c, g, 0.0
    width = cell.hi - cell.lo
    two = ~region.pinned & ~region.grouped & (region.step > 0) & (np.abs(width - region.step) < 0.5 * region.step)
    if two.any():
        c, i = np.argwhere(two)[0]
        return "input", int(c), int(i), float((cell.lo[c, i] + cell.hi[c, i]) / 2)
    return None


def phase_split(row: Row, cell: Cell, lp: BoxLP, made: Shape, slack: Slack | None) -> Split | None:
    """The open hidden or flip unit at which the relaxation gives away the most; `made` is the shape of cell or box.

    Trying several candidates on both sides saved up to a third of the nodes and cost two to three times the time;
    remembering what splits gained saved none (measured on trained networks of 8 and 16 units).
    """
    open_ = lp.open & (cell.phase[:, lp.units] == 0)
    score = np.where(open_, lp.tie if slack is None else lp.tie + slack.unit, 0.0)
    if row.flip.any():
        shut = (cell.flip == 0) & (made.flip_low < 0) & (made.flip_high > 0)
        reach = np.minimum(-made.flip_low, made.flip_high) * row.flip
        flips = np.where(shut, 1e-9 * reach + (0.0 if slack is None else slack.flip), 0.0)
        if flips.max() > score.max(initial=0.0):
            c, i = divmod(int(flips.argmax()), flips.shape[1])
            return "flip", c, i, 0.0
    best = int(score.argmax()) if score.size else 0
    if not score.size or not score.flat[best] > 0:
        return None
    c, a = divmod(best, score.shape[1])
    return "phase", c, int(lp.units[a]), 0.0


def fractional_group(region: Region, u: np.ndarray | None) -> Split | None:
    """A group whose members are fractions in the relaxation's point u [k, m]."""
    if u is None:
        return None
    for g, group in enumerate(region.groups):
        members = list(group)
        pinned = bool(region.pinned[members].all())
        for c in range(1 if pinned else region.copies):
            if np.abs(u[c, members] - np.rint(u[c, members])).max() > 1e-6:
                return "group", -1 if pinned else c, g, 0.0
    return None


def open_group(region: Region, cell: Cell) -> Split | None:
    """A group that is not fixed to one category yet: whole relaxed values may still hide loose ranges."""
    for g, group in enumerate(region.groups):
        members = list(group)
        pinned = bool(region.pinned[members].all())
        for c in range(1 if pinned else region.copies):
            if (cell.hi[c, members] > 0.5).sum() > 1:
                return "group", -1 if pinned else c, g, 0.0
    return None


def input_split(region: Region, cell: Cell, u: np.ndarray | None) -> Split | None:
    """Whole numbers first, then the widest interval; halves an interval at a value of a double."""
    width = np.where(region.grouped, 0.0, cell.hi - cell.lo)
    if u is not None:
        steps = np.where(region.step > 0, region.step, 1.0)
        away = np.abs((u - region.lo) / steps - np.rint((u - region.lo) / steps)) * (region.step > 0) * (width > 0)
        if away.max() > 1e-6:
            c, i = np.unravel_index(int(away.argmax()), away.shape)
            return "input", -1 if region.pinned[i] else int(c), int(i), float(u[c, i])
    c, i = np.unravel_index(int(width.argmax()), width.shape)
    if width[c, i] <= 1e-9:
        return None
    return "input", -1 if region.pinned[i] else int(c), int(i), float((cell.lo[c, i] + cell.hi[c, i]) / 2)


def cells(problem: Problem, cell: Cell, split: Split) -> list[Cell]:
    """The children of a cell, which cover it; their order is that of certificates."""
    kind, copy, index, threshold = split
    region, domain = problem.region, problem.domain
    which = slice(None) if copy < 0 else slice(copy, copy + 1)
    if kind in ("phase", "flip"):
        out = []
        for sign in (-1, 1):
            phases = (cell.phase if kind == "phase" else cell.flip).copy()
            phases[which, index] = sign
            out.append(
                Cell(cell.lo, cell.hi, phases, cell.flip)
                if kind == "phase"
                else Cell(cell.lo, cell.hi, cell.phase, phases)
            )
        return out
    if kind == "group":
        members = np.array(region.groups[index])
        out = []
        for chosen in range(len(members)):
            hi = cell.hi.copy()
            hi[which, np.delete(members, chosen)] = 0.0
            out.append(replace(cell, hi=hi))
        return out
    raw = raw_threshold(problem, index, threshold)
    left, right = (np.floor(raw), np.floor(raw) + 1) if region.step[index] > 0 else (raw, raw)
    lo, hi = cell.lo.copy(), cell.hi.copy()
    lo[which, index] = np.maximum(lo[which, index], (right - domain.shift[index]) * domain.mult[index])
    hi[which, index] = np.minimum(hi[which, index], (left - domain.shift[index]) * domain.mult[index])
    return [replace(cell, hi=hi), replace(cell, lo=lo)]


def raw_threshold(problem: Problem, coordinate: int, threshold: float) -> float:
    """The threshold of an input split in raw units, where certificates state it."""
    domain = problem.domain
    return float(threshold / domain.mult[coordinate] + domain.shift[coordinate])
