"""The curved units of a network, from the shapes that its coordinates must have (train/curved.py has the formula).

Of every direction that a side may read there is one unit that is always on and several with knots; then units in random
combinations of directions, and units that also read what the encoder says. A column with bounded slopes has units of
its own, for both sides at the same knots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from smilenn.domain import Domain
from smilenn.train.curved import ALWAYS_ON, BESIDE, KNOTTED, ROOM, BoundedColumn, Units
from smilenn.train.recipes.shapes import Shape, directions

KNOTS = 12  # of a direction, quantiles of the training rows; fewer where there are many directions
JOINT, CONTEXT = 12, 16  # a side: units in random combinations of directions; units that also read e

Drawn = list[tuple[np.ndarray, int]]  # directions [m], each with what kind of unit reads it


def curved_units(
    domain: Domain,
    wanted: Sequence[Shape],
    features: Sequence[str],
    *,
    members: int,
    places: Sequence[int],
    context: np.ndarray,
    ordered: Sequence[bool],
    passed: Sequence[int],
    rng: np.random.Generator,
    few: bool = False,
) -> Units | None:
    """The units over the columns of these features; None where no side may read any of them.

    `places` [P] are the coordinates of z in the order of a member's e (−1: of none), `context` [n, P] what the units of
    a coordinate may read of it; `passed` are the columns that the encoder passes on. `few` units, with knots that
    stay, where proofs need trees.
    """
    columns = [i for name in features for i in domain.indices(name)]
    made = _Made(domain, columns, {i: k for k, i in enumerate(passed)}, few, rng)
    for t, shape in enumerate(wanted):
        made.add_coordinate(t, shape, beside=bool(context[t].any()))
    if not made.rows:
        return None
    return Units(
        members,
        np.array(made.coordinate),
        np.array(made.side),
        np.array(made.rows),
        np.array(made.kind),
        made.stays(wanted),
        np.array([list(places).index(t) if t in places else -1 for t in range(len(wanted))]),
        context,
        np.array(ordered),
        members * len(places),
        made.bounds(wanted),
        tuple(made.slopes),
        made.budgets(wanted),
        frozenset(name for name in features if made.read & set(domain.indices(name))),
    )


@dataclass
class _Made:
    """Units of one member while they are put together; `at` are the places of the passed columns."""

    domain: Domain
    columns: list[int]
    at: dict[int, int]
    few: bool
    rng: np.random.Generator
    coordinate: list[int] = field(default_factory=list)
    side: list[int] = field(default_factory=list)
    rows: list[np.ndarray] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    read: set[int] = field(default_factory=set)
    slopes: list[BoundedColumn] = field(default_factory=list)

    def add(self, t: int, side: int, d: np.ndarray, kind: int) -> int:
        """A unit of coordinate t in direction d [m]; its number."""
        self.read.update(int(i) for i in np.flatnonzero(d))
        row = np.zeros(len(self.at))
        row[[self.at[i] for i in self.columns]] = d[self.columns]
        self.coordinate.append(t)
        self.side.append(side)
        self.rows.append(row)
        self.kind.append(kind)
        return len(self.rows) - 1

    def add_coordinate(self, t: int, shape: Shape, *, beside: bool) -> None:
        """All units of coordinate t; some read e where there is something `beside` them to read."""
        bounded = [i for i in self.columns if i in shape.bounds and i not in shape.tied]
        for i in bounded:
            knots = max(2, min(KNOTS // (2 if self.few else 1), 4 * KNOTS // len(bounded)))
            self.slopes.append(self._add_slopes(t, shape, i, knots))
        rest = [i for i in self.columns if i not in bounded]
        for side in (1, -1):
            for d, kind in self._drawn(shape, side, rest, beside=beside):
                self.add(t, side, d, kind)

    def _drawn(self, shape: Shape, side: int, columns: Sequence[int], *, beside: bool) -> Drawn:
        """The directions of one side over these columns."""
        ways = directions(shape, side, columns, self.domain)
        knots = max(2, (KNOTS if len(ways) <= 4 else 2 * KNOTS // len(ways)) // (4 if self.few else 1))
        out: Drawn = [(d, ALWAYS_ON) for d in ways]
        out += [(d, KNOTTED) for d in _one_way(ways) for _ in range(knots)]
        free = [d for d in ways if not any(d[i] for i in shape.bounds)]
        if self.few:
            return out
        joint = JOINT if len(free) > 1 else 0
        out += [(d, KNOTTED) for d in _combined(shape, side, free, self.domain, self.rng, joint)]
        if beside:
            out += [(d, BESIDE) for d in _combined(shape, side, free, self.domain, self.rng, CONTEXT)]
        return out

    def _add_slopes(self, t: int, shape: Shape, i: int, knots: int) -> BoundedColumn:
        """Units of column i, whose slopes are bounded; what must not bend one way has no units for that."""
        d = np.zeros(self.domain.size)
        reach = float((self.domain.hi - self.domain.lo)[i] * self.domain.mult[i])
        d[i] = 2.0 ** -round(math.log2(max(reach, 1e-300)))
        side = -1 if i in shape.concave else 1
        up, down = self.add(t, side, d, ALWAYS_ON), self.add(t, side, -d, ALWAYS_ON)
        rise, fall = (
            tuple(self.add(t, sign, d, KNOTTED) if may else -1 for _ in range(knots))
            for sign, may in ((1, i not in shape.concave), (-1, i not in shape.convex))
        )
        return BoundedColumn(t, float(d[i]), up, down, rise, fall, *_ends(shape, i))

    def _column(self, one: BoundedColumn) -> int:
        """The place of the passed column that these units read."""
        return int(np.flatnonzero(self.rows[one.up])[0])

    def stays(self, wanted: Sequence[Shape]) -> np.ndarray:
        """Which units have knots that stay: all of few ones, and those that read a column of bounded slope."""
        limited = {self.at[i] for shape in wanted for i in shape.bounds if i in self.at}
        return np.array([self.few or any(row[i] for i in limited) for row in self.rows])

    def bounds(self, wanted: Sequence[Shape]) -> tuple[tuple[int, int, float], ...]:
        """(coordinate, passed column, limit) where slopes are not cut column by column."""
        cut = {(one.coordinate, self._column(one)) for one in self.slopes}
        return tuple(
            (t, self.at[i], limit)
            for t, shape in enumerate(wanted)
            for i, limit in shape.bounds.items()
            if i in self.at and (t, self.at[i]) not in cut
        )

    def budgets(self, wanted: Sequence[Shape]) -> tuple[tuple[dict[int, float], float], ...]:
        """What robust claims leave all slopes together, by places in `slopes`."""
        out = []
        for t, shape in enumerate(wanted):
            own = {self._column(s): k for k, s in enumerate(self.slopes) if s.coordinate == t}
            for moves, eps in shape.budgets:
                deltas = {own[self.at[i]]: delta for i, delta in moves.items() if self.at.get(i) in own}
                out += [(deltas, eps)] if deltas else []
        return tuple(out)


def _ends(shape: Shape, i: int) -> tuple[float, float]:
    """The least and the largest slope in column i; both 0 where it must rise and fall."""
    limit = shape.bounds[i] * (1 - ROOM)
    least = ROOM * limit if i in shape.rising else -limit
    most = -ROOM * limit if i in shape.falling else limit
    return (least, most) if least < most else (0.0, 0.0)


def _one_way(ways: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The directions whose opposite is not among those before: units of the opposite differ from these by lines."""
    seen: list[np.ndarray] = []
    for d in ways:
        if not any(np.array_equal(-d, other) for other in seen):
            seen.append(d)
    return seen


def _combined(
    shape: Shape, side: int, ways: Sequence[np.ndarray], domain: Domain, rng: np.random.Generator, many: int
) -> list[np.ndarray]:
    """Random combinations of directions with weights that are powers of two, those that are allowed."""
    out = []
    for _ in range(many if ways else 0):
        share = 2.0 ** rng.integers(-2, 2, len(ways)) * (rng.random(len(ways)) < 0.7)
        d = np.sum([s * way for s, way in zip(share, ways, strict=True)], axis=0)
        if d.any() and shape.allows(side, d, domain.mult):
            out.append(d)
    return out
