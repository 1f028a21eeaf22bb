"""What trees that read protected columns may move every coordinate of the network by, of the ε that fairness allows.

    rules that compare inputs alone           each coordinate of a form v of the outputs:  w = ε / Σ|v|
    quantiles that do not cross beside these  the one coordinate that shifts all of them:  w = ε / |v_t|

A shift of all quantiles by one number leaves their differences as they are, so it breaks no rule about these. A rule of
fairness alone leaves its ε to the backbone, and a rule on the outputs' size leaves nothing.

The trees rise or fall as every coordinate must. Any other rule that compares inputs (`Lipschitz`, `Convex`, …) moves
some features and pins the rest: the trees read none that it moves, so they are equal at all inputs it compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes, Rises
from smilenn.properties.premise import ground
from smilenn.train.boosted import Directions
from smilenn.train.recipes.roles import Reading
from smilenn.train.recipes.stated import Entry, Kind, Stated, coefficients, entries
from smilenn.train.recipes.task import Task
from smilenn.train.within import SHARE, Spare

TIGHT = {
    Kind.MONOTONE,
    Kind.LIPSCHITZ,
    Kind.CONVEX,
    Kind.CONCAVE,
    Kind.SYMMETRIC,
    Kind.DOMINATES,
    Kind.ROBUST,
}  # compare inputs, and leave the backbone no box


def spare_of(task: Task, head: np.ndarray | None, box: np.ndarray) -> tuple[Spare, ...]:
    """What is spare of every coordinate, none where nothing is; `head` [o, o] are the coordinates of a box on single
    inputs, None where coordinates are the outputs; `box` [o] is the width that the backbone has.
    """
    kinds, single = task.kinds - {Kind.SINGLE}, Kind.SINGLE in task.kinds
    if box.any() or kinds == {Kind.FAIR} or not {Kind.FAIR} <= kinds <= TIGHT | {Kind.FAIR}:
        return ()
    if single == (head is None):
        return ()
    coordinates = np.diag(task.scale) if head is None else task.scale[:, None] * head
    width = _of_outputs(task, coordinates) if head is None else _of_shift(task, coordinates)
    found = [one.spare(task.domain, float(w)) for one, w in zip(_limits(task, coordinates), width, strict=True)]
    return tuple(found) if any(own.width for own in found) else ()


def signs(own: Reading, names: Iterable[str]) -> Directions:
    """The sign of the effect that each of these features may have."""
    return {name: (name in own.rising) - (name in own.falling) for name in names}


# ---- what trees of a coordinate may read ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Limits:
    """Features that a coordinate rises or falls with, those that it is protected from, those that other rules move."""

    rising: set[str] = field(default_factory=set)
    falling: set[str] = field(default_factory=set)
    protected: set[str] = field(default_factory=set)
    moved: set[str] = field(default_factory=set)

    def add(self, one: Stated, entry: Entry, domain: Domain) -> None:
        """What one claim asks."""
        if isinstance(one.meaning, Rises):
            for names, sign in ((one.meaning.up, entry.sign), (one.meaning.down, -entry.sign)):
                (self.rising if sign > 0 else self.falling).update(names)
        elif one.kind == Kind.FAIR and isinstance(one.meaning, Changes):
            self.protected.update(one.meaning.free)
        else:
            pinned = ground(one.claim, domain).pinned
            self.moved.update(name for name in domain.slices if not pinned[domain.slices[name]].all())

    def spare(self, domain: Domain, width: float) -> Spare:
        """Trees of no width where they could read no protected feature."""
        signs = {name: (name in self.rising) - (name in self.falling) for name in domain.slices}
        barred = frozenset(self.moved | (self.rising & self.falling))
        return Spare(signs, width if self.protected - barred else 0.0, frozenset(self.protected), barred)


def _limits(task: Task, coordinates: np.ndarray) -> list[_Limits]:
    """Of every coordinate, which are [o, n] in output units."""
    found = [_Limits() for _ in range(coordinates.shape[1])]
    for one in task.stated:
        for entry in entries(one.forms, task.outputs, coordinates):
            found[entry.coordinate].add(one, entry, task.domain)
    return found


# ---- by how much they may move it -----------------------------------------------------------------------------------


def _fair(task: Task) -> list[tuple[Stated, float]]:
    """The claims of fairness with their ε, less what rounding needs."""
    return [
        (one, SHARE * float(one.meaning.eps))
        for one in task.stated
        if one.kind == Kind.FAIR and isinstance(one.meaning, Changes)
    ]


def _of_outputs(task: Task, coordinates: np.ndarray) -> np.ndarray:
    """w [o] of coordinates that are the outputs, each on its own."""
    width = np.full(len(task.outputs.names), np.inf)
    for one, eps in _fair(task):
        for entry in entries(one.forms, task.outputs, coordinates):
            width[entry.coordinate] = min(width[entry.coordinate], eps / entry.size)
    return np.where(np.isfinite(width), width, 0.0)


def _of_shift(task: Task, head: np.ndarray) -> np.ndarray:
    """w [n] of the coordinates of head [o, n]: nothing but of one that moves all outputs alike and touches no claim on
    single inputs.
    """
    width = np.zeros(head.shape[1])
    alike = [t for t, own in enumerate(head.T) if own[0] != 0 and (own == own[0]).all()]
    single = [one.claim for one in task.stated if one.kind == Kind.SINGLE]
    if len(alike) == 1 and not any(_touched(claim, task, head[:, alike[0]]) for claim in single):
        width[alike[0]] = _least_width(task, head, alike[0])
    return width


def _touched(claim: Claim, task: Task, own: np.ndarray) -> bool:
    """Whether a coordinate with these entries of the head [o] plays a part in a claim on single inputs."""
    names = task.outputs.names
    return any(
        sum(float(term.coef) * own[names.index(term.name)] for term in row.terms if term.kind == "out") != 0
        for row in claim.rows
    )


def _least_width(task: Task, head: np.ndarray, t: int) -> float:
    """The most that coordinate t may move under all claims of fairness."""
    limits = [
        eps / abs(float(v[t]))
        for one, eps in _fair(task)
        for v in (coefficients(form, task.outputs, head) for form in one.forms)
        if v[t] != 0
    ]
    return min(limits, default=0.0)
