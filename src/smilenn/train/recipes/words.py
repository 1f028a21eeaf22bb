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


def reasons(
    task: Task,
    found: Roles,
    ramps: int,
    width: np.ndarray,
    curved: frozenset[str] = frozenset(),
    *,
    spare: bool = False,
    bounded: bool = False,
) -> str:
    """A few sentences; `curved` are the features that units read, `width` [o] that of the box; with `spare` trees
    beside it may read protected columns. `bounded` is said of outputs with bounds, where no rule compares inputs.
    """
    hidden, wide = protected(task.stated), float((width * task.scale).max())
    if task.unruled:
        return f"{_unruled(task, bounded)} {_encoder(task, found, ramps)}"
    words = [_encoder(task, found, ramps)]
    if any(own.rising | own.falling for own in found.readings):
        words.append("The signs of its weights make it monotone by construction, so there is nothing to search for.")
    if hidden:
        names = listed(sorted(hidden), 40)
        alone = f"It ignores {names} entirely, so the fairness limit is not used."
        if spare:
            alone = f"The ensemble itself ignores {names}."  # whether trees beside it do is known after training
        words.append(f"It does not read {names}; only the backbone does." if wide else alone)
    if found.linear:
        words.append(f"It is linear in {listed(sorted(found.linear), 40)}, hence convex, concave and of one slope.")
    if curved:
        words.append(_units(task.kinds, curved))
    unread = {name for own in found.readings for name in own.without} - hidden - found.linear - curved
    if unread:
        words.append(
            f"It also ignores {listed(sorted(unread), 40)}: otherwise no rule would certify the other properties "
            "exactly (network=Network(encoder='none') searches for a network that uses them)."
        )
    return " ".join([*words, _backbone(wide, bool(curved))])


def protected(stated: Iterable[Stated]) -> set[str]:
    """Features that a fairness claim names."""
    kinds = (Kind.FAIR, Kind.FAIR_NEARBY)
    return {
        name for one in stated if one.kind in kinds and isinstance(one.meaning, Changes) for name in one.meaning.free
    }


def _encoder(task: Task, found: Roles, ramps: int) -> str:
    if any(set(own.without) < set(task.domain.slices) for own in found.readings):
        return f"An ensemble of small networks over {ramps} quantile ramps per number."
    return "No encoder."


def _unruled(task: Task, bounded: bool) -> str:
    but = ", except that quantiles do not cross" if task.claims else ""
    none = "No property compares inputs" if bounded else f"There are no properties{but}"
    return f"{none}: the network is the one a rule would get, without the signs of a rule."


def _units(kinds: Iterable[Kind], curved: Iterable[str]) -> str:
    kept, read = sorted(KEPT_BY_UNITS & set(kinds)), sorted(curved)
    keeps = f", each of which keeps {' and '.join(kept)} by its sign, direction or slope" if kept else ""
    verb = "is" if len(read) == 1 else "are"
    return f"{listed(read, 40)} {verb} read by piecewise linear units{keeps}; they start as the best spline."


def _backbone(width: float, curved: bool) -> str:
    if width:
        return f"The backbone moves the output within a box of width {width:.3g}, nearly ε."
    if curved:
        return "The backbone has no influence: units are certified one by one, in a box without width."
    return "The backbone has no influence: its box has no width."
