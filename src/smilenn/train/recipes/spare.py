"""What trees that read protected columns may move every coordinate of the network by, of the ε that fairness allows.

    rules that compare inputs alone           each coordinate of a form v of the outputs:  w = ε / Σ|v|
    quantiles that do not cross beside these  the one coordinate that shifts all of them:  w = ε / |v_t|
    constant ends of single outputs           each coordinate, and the ends that its sum with the trees must keep
    a constant end of ordered outputs         the coordinate that shifts all of them, likewise

A shift of all quantiles by one number leaves their differences as they are, so it breaks no rule about these. A rule of
fairness alone leaves its ε to the backbone. Any other rule on the size of the outputs leaves nothing: one whose ends
depend on the inputs, one about sums or differences of outputs, one beside units, which are not cut to its ends.

The trees rise or fall as every coordinate must. Any other rule that compares inputs (`Lipschitz`, `Convex`, …) moves
some features and pins the rest: the trees read none that it moves, so they are equal at all inputs it compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes, Rises
from smilenn.properties.premise import ground
from smilenn.train.boosted import Directions
from smilenn.train.coordinates import Coordinates, unconditional
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

INSIDE, SMALL = 2.0**-12, 0.01  # of a bound, more than repair asks for; of what lies between both


def spare_of(
    task: Task, box: Coordinates | None, width: np.ndarray, *, cut: bool, closed: bool = False
) -> tuple[Spare, ...]:
    """What is spare of every coordinate, none where nothing is; `box` are the coordinates of claims on single inputs,
    None where coordinates are the outputs; `width` [o] is what the backbone has. `cut` says that all of the network is
    cut to the ends of the box, `closed` that the backbone has no box though every rule would leave it one.
    """
    kinds, single = task.kinds - {Kind.SINGLE}, Kind.SINGLE in task.kinds
    if width.any() or not {Kind.FAIR} <= kinds <= TIGHT | {Kind.FAIR} or (kinds == {Kind.FAIR} and not closed):
        return ()
    if single == (box is None):
        return ()
    head = np.diag(task.scale) if box is None else task.scale[:, None] * box.head
    own, ends = (_of_outputs(task, head), None) if box is None else _in_box(task, box, head, cut)
    found = [one.spare(task.domain, float(w)) for one, w in zip(_limits(task, head), own, strict=True)]
    if ends is not None:
        found = [replace(one, ends=(float(low), float(high))) for one, (low, high) in zip(found, ends, strict=True)]
    return tuple(found) if any(one.width for one in found) else ()


def _in_box(task: Task, box: Coordinates, head: np.ndarray, cut: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """w [n] in the coordinates of a box, head [o, n] of it, and the ends [n, 2] that a sum with the trees must keep,
    where claims on single inputs bound what is moved: all of these must be constant ends of the box.
    """
    own = _of_shift(task, head)
    single = [one.claim for one in task.stated if one.kind == Kind.SINGLE]
    if own.any() or not (cut and box.constant and all(map(unconditional, single))):
        return own, None
    each = np.array_equal(box.head != 0, np.eye(len(box.head), dtype=bool))
    return (_of_outputs(task, head) if each else _of_shift(task, head, ended=True)), _ends(task, box)


def _ends(task: Task, box: Coordinates) -> np.ndarray:
    """The ends [n, 2] of coordinates, so far inside that repair finds nothing to do where one moves an output alone."""
    ends = np.stack([box.low, box.high], axis=1)
    own = np.where(_alone(box.head)[:, None], box.head, 0.0)  # [o, n]
    start = np.abs(np.sign(own)).T @ (task.start / task.scale)
    bounds = own.sum(axis=0)[:, None] * ends + start[:, None]
    room = np.minimum(INSIDE * np.abs(bounds), SMALL * (box.high - box.low)[:, None])
    return ends + room * [1.0, -1.0]


def _alone(head: np.ndarray) -> np.ndarray:
    """Which outputs [o] are moved by one coordinate alone."""
    return np.count_nonzero(head, axis=1) == 1


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
    """w [o] of coordinates that are moved independently of each other."""
    width = np.full(len(task.outputs.names), np.inf)
    for one, eps in _fair(task):
        for entry in entries(one.forms, task.outputs, coordinates):
            width[entry.coordinate] = min(width[entry.coordinate], eps / entry.size)
    return np.where(np.isfinite(width), width, 0.0)


def _of_shift(task: Task, head: np.ndarray, *, ended: bool = False) -> np.ndarray:
    """w [n] of the coordinates of head [o, n]: nothing but of one that moves all outputs alike and touches no claim on
    single inputs; an `ended` one may, and moves some output alone.
    """
    width = np.zeros(head.shape[1])
    alike = [t for t, own in enumerate(head.T) if own[0] != 0 and (own == own[0]).all()]
    single = [one.claim for one in task.stated if one.kind == Kind.SINGLE]
    if len(alike) != 1:
        return width
    touched = any(_touched(claim, task, head[:, alike[0]]) for claim in single)
    if not touched or (ended and head[_alone(head), alike[0]].any()):
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
