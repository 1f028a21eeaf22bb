"""Outputs in an order (quantiles, `Ordered`) with constant upper bounds, alone or beside rules that compare inputs.

The ensemble is that of the same rules without the upper bounds; train/capped.py cuts its outputs at them in the end.
What is left must survive such a cut: an order of outputs, constant lower bounds, and rules of order and fairness on
single outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from smilenn.properties.claim import Claim, Inequality
from smilenn.train.coordinates import ROOM, Coordinates, Side, read_sides, room, unconditional
from smilenn.train.recipes import ensemble
from smilenn.train.recipes.stated import Kind
from smilenn.train.recipes.task import Recipe, Task

KEPT = {Kind.MONOTONE, Kind.FAIR}  # of single outputs, by what is cut of them
WORDS = " The outputs are cut at their upper bounds behind the mean, which keeps the order of outputs and of inputs."
WITHOUT = (
    " Upper bounds on outputs in an order have no box beside these rules, and repair may draw all outputs to a "
    "constant; give a lower bound alone, or predict one number."
)


def recipe(task: Task) -> Recipe | None:
    """The ensemble without upper bounds, and where to cut it; None where a box serves, or a cut breaks some rule."""
    if task.box is not None:
        return None
    found = _without_tops(task)
    if found is None:
        return None
    alone = found.task.kinds <= {Kind.SINGLE}  # then it is the ensemble of a task without a rule
    made = ensemble.recipe(replace(found.task, unruled=alone), closed=True)
    if made is None or made.net.encoder is None:
        return None
    return replace(made, reasons=made.reasons + WORDS, ceiling=found.heights)


def held_words(task: Task, found: Recipe) -> str:
    """What becomes of upper bounds on ordered outputs where neither a box nor a cut keeps them; else nothing."""
    if task.box is not None or found.ceiling is not None or found.family not in ("ensemble", "curved", "plain"):
        return ""
    sides = [side for claim in task.settled if unconditional(claim) for side in _sides(claim, task)]
    ordered = any(_survives(side, task.scale) and np.count_nonzero(side.direction) == 2 for side in sides)
    return WITHOUT if ordered and any(map(_is_top, sides)) else ""


@dataclass(frozen=True, eq=False)
class _Open:
    """The task without upper bounds, and the heights [o] that its outputs are to be cut at."""

    task: Task
    heights: np.ndarray


def _without_tops(task: Task) -> _Open | None:
    """None where there is no upper bound, or something else that is asked breaks where outputs are cut."""
    claims, tops, sides = list[Claim](), list[Side](), list[Side]()
    for claim in task.claims:
        if not unconditional(claim) or claim.either:
            claims.append(claim)
            continue
        rest = list[Inequality]()
        for line, side in zip(claim.rows, _sides(claim, task), strict=True):
            if _is_top(side):
                tops.append(side)
            else:
                rest.append(line)
                sides.append(side)
        if rest:
            claims.append(replace(claim, then=tuple(rest), sentence=""))
    open_ = replace(task, claims=tuple(claims))
    box = open_.box if tops and all(_survives(side, task.scale) for side in sides) else None
    if box is None or not _all_survive(open_):
        return None
    heights = _heights(task, box, tops, [side for side in sides if np.count_nonzero(side.direction) == 2])
    return None if heights is None else _Open(open_, heights)


def _sides(claim: Claim, task: Task) -> list[Side]:
    return read_sides(claim, task.domain, task.outputs.names, task.scale, task.start)


def _is_top(side: Side) -> bool:
    """Whether it is a constant upper bound on a single output."""
    return np.count_nonzero(side.direction) == 1 and side.direction.max() > 0 and not side.slope.any()


def _survives(side: Side, scale: np.ndarray) -> bool:
    """Whether it is a constant lower bound on a single output, or f_i ≤ f_j + constant."""
    own = np.sort((side.direction / scale)[side.direction != 0])  # as it was before outputs were scaled
    order = len(own) == 2 and own[0] == -own[1]
    return not side.slope.any() and (order or (len(own) == 1 and own[0] < 0))


def _all_survive(task: Task) -> bool:
    """Whether the rules on several inputs do."""
    single = (unconditional(one.claim) for one in task.stated if one.kind == Kind.SINGLE)
    others = (one for one in task.stated if one.kind != Kind.SINGLE)
    return all(single) and all(one.kind in KEPT and all(len(form) == 1 for form in one.forms) for one in others)


def _heights(task: Task, box: Coordinates, tops: Sequence[Side], orders: Sequence[Side]) -> np.ndarray | None:
    """Heights [o] in output units, a little inside the bounds and each below those of the outputs above it; of an
    output without a bound what it cannot exceed. None where nothing lies between them and what is below.
    """
    up, down = np.maximum(box.head, 0.0), np.minimum(box.head, 0.0)
    height = up @ box.high + down @ box.low
    for side in tops:
        k = int(side.direction.argmax())
        height[k] = min(height[k], side.const - room(side))
    height = task.start + task.scale * height
    for _ in height:
        for side in orders:
            i, j = int(side.direction.argmax()), int(side.direction.argmin())
            # a row is divided by the larger of its two scales, and counted from the start of both outputs
            size = max(task.scale[i], task.scale[j])
            apart = size * (side.const - ROOM / 2) + task.start[i] - task.start[j]
            height[i] = min(height[i], height[j] + apart)
    least = task.start + task.scale * (up @ box.low + down @ box.high)
    return height if (height > least).all() else None
