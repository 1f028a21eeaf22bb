"""Why an ensemble looks as it does, for `explain`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from smilenn.errors import listed
from smilenn.properties.meaning import Changes
from smilenn.train.recipes.roles import Roles
from smilenn.train.recipes.stated import Kind, Stated
from smilenn.train.recipes.task import Task

KEPT_BY_UNITS = {Kind.CONVEX, Kind.CONCAVE, Kind.SYMMETRIC, Kind.DOMINATES, Kind.LIPSCHITZ, Kind.ROBUST}


def reasons(task: Task, found: Roles, ramps: int, width: np.ndarray, curved: frozenset[str] = frozenset()) -> str:
    """One sentence; `curved` are the features that units read, `width` [o] that of the box."""
    hidden = protected(task.stated)
    words = [_encoder(task, found, ramps)]
    if any(own.rising | own.falling for own in found.readings):
        words.append("monotone by the signs of their weights, so nothing is searched")
    if hidden:
        words.append("which do not read the protected columns")
    if found.linear:
        words.append(f"linear in {', '.join(sorted(found.linear))}, which is convex and concave and of one slope")
    if curved:
        words.append(_units(task.kinds, curved))
    unread = {name for own in found.readings for name in own.without} - hidden - found.linear - curved
    if unread:
        words.append(
            f"nor {', '.join(sorted(unread))}, since no rule certifies more of the other properties exactly "
            "(encoder='none' searches for a network that does)"
        )
    words.append(_backbone(float((width * task.scale).max()), bool(curved)))
    return "; ".join(words) + "."


def protected(stated: Iterable[Stated]) -> set[str]:
    """Features that a fairness claim names."""
    kinds = (Kind.FAIR, Kind.FAIR_NEARBY)
    return {
        name for one in stated if one.kind in kinds and isinstance(one.meaning, Changes) for name in one.meaning.free
    }


def _encoder(task: Task, found: Roles, ramps: int) -> str:
    if any(set(own.without) < set(task.domain.slices) for own in found.readings):
        return f"Encoder: the mean of several small networks over {ramps} quantile ramps a number"
    return "Encoder: none"


def _units(kinds: Iterable[Kind], curved: Iterable[str]) -> str:
    kept = sorted(KEPT_BY_UNITS & set(kinds))
    keeps = f", each of which keeps {' and '.join(kept)} by its sign, direction or slope" if kept else ""
    return f"{listed(sorted(curved), 40)} read by piecewise linear units{keeps}; they start as the best spline"


def _backbone(width: float, curved: bool) -> str:
    if width:
        return f"the backbone moves the output within a box of width {width:.3g}, nearly ε"
    if curved:
        return "the backbone plays no part, since units are certified one by one in a box of no width"
    return "the backbone plays no part, since ε = 0 leaves its box no width"
