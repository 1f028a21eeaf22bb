"""Monotone and fair claims, or none: an ensemble of monotone encoders that never read a protected column.

The box around it has width 0 if a claim is tight on the diagonal, else nearly ε: there the backbone has a say. Claims
on every single input hold beside them: the ensemble then works in the coordinates of their box, cut to its ends.

    ramps per number    64 for one or two features, 128 / features for some, 8 up to 32 features, then 256 / features

The numbers were chosen on held-out rows of training parts of the tables in docs/encoders.md, never on their test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from smilenn.model.encoders import Branch, Encoder
from smilenn.model.encoders.monotone import Kind as NetworkKind
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.train.averaged import averaged
from smilenn.train.boosted import Directions
from smilenn.train.coordinates import Coordinates
from smilenn.train.recipes.roles import MANY, Reading, Roles, moved, roles
from smilenn.train.recipes.spare import signs, spare_of
from smilenn.train.recipes.stated import Kind
from smilenn.train.recipes.task import Recipe, Task, steps
from smilenn.train.recipes.words import reasons

FEWEST, MOST, SHARED = 8, 64, 128  # ramps of a number
RATE = 3e-3
SMALL = 5000  # rows up to which other networks are tried beside wide ones
HARD = {Kind.CONVEX, Kind.CONCAVE, Kind.SYMMETRIC, Kind.DOMINATES}  # tight, and without a proof by slopes
ALONE = {Kind.MONOTONE, Kind.FAIR, Kind.LIPSCHITZ}  # what an ensemble is made for without any of those
JOINED = {*ALONE, Kind.ROBUST, Kind.SINGLE}  # what it keeps beside
BY_TREES = {Kind.MONOTONE, Kind.FAIR, Kind.SINGLE}  # a jump breaks none of these
LETTERS = "abcdefghijklmnopqrstuvwxyz"

NOTHING = (
    "No encoder: the properties together let the output depend on no feature but by what a box of their ε leaves the "
    "backbone (network=Network(encoder='none') searches for more)."
)


def recipe(task: Task, *, closed: bool = False) -> Recipe | None:
    """Encoders alone; None where a feature has to be passed on past them, or a claim is of another kind.

    A `closed` one has no box for the backbone.
    """
    plan = planned_ensemble(task)
    if plan is None:
        return None
    if closed:
        plan = replace(plan, width=np.zeros_like(plan.width))
    if not plan.readings and not plan.roles.linear and not plan.roles.curved:
        net = averaged(
            task.domain,
            None,
            task.scale,
            task.start,
            outputs=task.outputs.names,
            width=plan.width,
            head=plan.head,
            sizes=task.design.backbone_sizes,
        )
        return Recipe(net, steps(len(task.x), RATE), NOTHING, "ensemble")
    if plan.roles.passed:
        return None
    ramps, trees = plan.ramps(task), tree_signs(task, plan)
    members = networks(task.design.members, len(task.x)) if trees else task.design.members
    made = branches_of(
        task, plan, tabular_kinds(ramps, len(task.x), task.classify) if trees else network_kinds(ramps), members
    )
    encoder = Encoder(task.domain, made.branches, groups=members, parts=len(plan.readings))
    net = averaged(
        task.domain,
        encoder,
        task.scale,
        task.start,
        outputs=task.outputs.names,
        width=plan.width,
        slopes=made.slopes,
        head=plan.head,
        sizes=task.design.backbone_sizes,
    )
    net.lower.slope.requires_grad_(False)
    limit_(encoder, plan, made.places)
    spare = spare_of(task, plan.box, plan.width, cut=True, closed=closed)
    words = reasons(task, plan.roles, ramps, plan.width, spare=bool(spare), bounded=closed)
    return Recipe(net, steps(len(task.x), RATE), words, "ensemble", trees, spare, task.design.members)


def networks(members: int, rows: int) -> int:
    """Networks of a kind beside so many boosters: as many, or half of them where rows are many.

    There the mean leans on the trees, and kept rows were predicted as well with half of the networks.
    """
    return members if rows <= SMALL else max(1, members // 2)


def tabular_kinds(ramps: int, rows: int, classify: bool) -> list[NetworkKind]:
    """The kinds beside trees and linear functions. Wide networks with little decay are the best of them from some
    hundred rows on. Smooth ones read every number as it is instead of by its quantiles: they help small tables, and
    classes of any size. Deep ones, which decay more, help small tables.
    """
    wide, smooth = NetworkKind("wide", 2 * ramps, (64, 64), 1.0, 0.02), NetworkKind("smooth", 1, (64, 64), 1.0, 0.1)
    if rows > SMALL:
        return [wide, smooth] if classify else [wide]
    return [wide, NetworkKind("deep", ramps, (32, 32)), smooth]


def network_kinds(ramps: int) -> list[NetworkKind]:
    """The kinds of networks an ensemble has; which of them stay is decided on rows kept from training."""
    return [
        NetworkKind("deep", ramps, (32, 32)),
        NetworkKind("shallow", ramps, (16,)),
        NetworkKind("sharp", ramps, (16,), 10.0, 0.01),
    ]


def tree_signs(task: Task, plan: Plan) -> tuple[Directions, ...]:
    """What trees may read beside the networks, for every output: the same, and only where claims are about order."""
    if not task.kinds <= BY_TREES:
        return ()
    every = task.domain.slices
    return tuple(signs(own, [name for name in every if name not in own.without]) for own in plan.roles.readings)


# ---- what is planned before a network is made ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """The roles of the features, the box of coordinates they are meant in (None: the outputs), G [o, o] of it, the
    width [o] of the box around the ensemble, and what its parts read, each different.
    """

    roles: Roles
    box: Coordinates | None
    head: np.ndarray
    width: np.ndarray
    readings: tuple[Reading, ...]

    def ramps(self, task: Task) -> int:
        """Quantile ramps for every number that is read."""
        read = sum(any(name not in own.without for own in self.readings) for name in task.domain.slices)
        return min(MOST, max(2, SHARED // max(1, read), min(FEWEST, 2 * SHARED // max(1, read))))


def planned_ensemble(task: Task) -> Plan | None:
    """The plan for an ensemble, in a box's coordinates where that serves; None where there is no such network."""
    if task.design.backbone is not None or not (_unruled(task) or _suits(task)):
        return None
    box = task.box
    if box is not None and box.parallel and not _leans(box, len(task.outputs.names)):
        found = _plan(task, box)
        if found is not None or box.constant:
            return found
    return _plan(task, None)


def _unruled(task: Task) -> bool:
    """Whether nobody has stated a rule, nor sizes or an image that only other networks have a use for."""
    return task.unruled and not task.design.sized and not task.design.image


def _suits(task: Task) -> bool:
    kinds, alone = task.kinds, ALONE | {Kind.ROBUST} if moved(task.domain, task.stated) < MANY else ALONE
    return bool(kinds & HARD) or (bool(kinds & alone) and kinds <= JOINED)


def _leans(box: Coordinates, outputs: int) -> bool:
    """Whether the ends of one output's box have a slope, which other claims might not want."""
    return outputs == 1 and bool(box.high_slope.any())


def _plan(task: Task, box: Coordinates | None) -> Plan | None:
    o = len(task.outputs.names)
    head, slopes = (np.eye(o), None) if box is None else (box.head, box.high_slope)
    found = roles(task.domain, task.stated, task.outputs, task.scale[:, None] * head, slopes, task.classify)
    if found is None:
        return None
    width = found.width if box is None else np.minimum(found.width, (box.high - box.low) / 2)
    every = set(task.domain.slices)
    readings = tuple(dict.fromkeys(own for own in found.readings if not own.without >= every))
    return Plan(found, box, head, width, readings)


# ---- branches ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Branches:
    """The branches of all members, and what their coordinates are for.

    `places` [P] are the coordinates of z in the order in which a member returns them (−1: only for units to read),
    `context` [o, P] those that the units of a coordinate of z may read, `slopes` [o, M·P] those of the mean.
    """

    branches: list[Branch]
    places: list[int]
    context: np.ndarray
    slopes: np.ndarray


def branches_of(task: Task, plan: Plan, kinds: Sequence[NetworkKind], members: int, more: int = 0) -> Branches:
    """Fresh branches, `members` of each kind for every reading, each with `more` coordinates for units to read."""
    domain, o, own = task.domain, len(task.outputs.names), plan.roles.readings
    places, context = _places(plan, o, more)
    parts = [
        monotone_encoder(
            domain,
            domain.scale(task.x),
            increasing=sorted(reading.rising),
            decreasing=sorted(reading.falling),
            without=sorted(reading.without),
            kinds=kinds,
            members=members,
            outputs=own.count(reading) + more,
            suffix="" if len(plan.readings) == 1 else LETTERS[i % 26] + "_" * (i // 26),
        )
        for i, reading in enumerate(plan.readings)
    ]
    branches = [b for one in zip(*(part.branches for part in parts), strict=True) for b in one if isinstance(b, Branch)]
    slopes = np.array([[float(t == place) for place in places] for t in range(o)])
    each = len(branches) // max(1, len(parts))  # networks side by side
    return Branches(branches, places, context, np.tile(slopes, each) / max(1, each))


def _places(plan: Plan, o: int, more: int) -> tuple[list[int], np.ndarray]:
    """`Branches.places` and `Branches.context`."""
    places, context = list[int](), np.zeros((o, len(plan.readings) * more + o), dtype=bool)
    for reading in plan.readings:
        own = [t for t, other in enumerate(plan.roles.readings) if other == reading]
        context[own, len(places) + len(own) : len(places) + len(own) + more] = True
        places += [*own, *[-1] * more]
    return places, context[:, : len(places)]


def limit_(encoder: Encoder, plan: Plan, places: Sequence[int]) -> None:
    """Keep every member inside the plan's box of coordinates: their mean is then inside, and its box around it."""
    if plan.box is None or not places:
        return
    ends = np.full((2, encoder.size), np.inf) * [[-1.0], [1.0]]
    own = np.stack([plan.box.low + plan.width / 2, plan.box.high - plan.width / 2])[:, places]
    own[:, np.array(places) < 0] = [[-np.inf], [np.inf]]
    ends[:, encoder.encoded] = np.tile(own, int(encoder.encoded.sum()) // len(places))
    encoder.limit_(ends[0], ends[1])
