"""A path of inputs, all of them in the domain, each further along than the one before; and the first one that reaches.

    one number                  every float64, or whole number, from x_i to the end e_i
    several                     x_i + t·(e_i − x_i) for t = k/2³², whole numbers rounded

Every coordinate moves one way only: rounding is monotone. So does what is certified to rise along it, and halving finds
the first step that reaches; rounding that a claim leaves room for may make it one of several firsts. Each round asks
for up to `BATCH` places at once, first for those that somebody has suggested. Where the outputs rise smoothly, a line
between the ends leads to the place in few rounds.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

BATCH = 63
SUGGESTED = 24  # of the suggested steps, asked for in one round
FINEST = 2**32
SHRUNK = 4  # by how much a round must bring the outputs at both ends closer for a line to lead the next one
FANNED, EVEN = 12, 8  # steps on either side of a guess, and parts of equal length beside them


def ordered(value: float) -> int:
    """The place of a float64 among all of them: larger numbers have larger places, −0.0 that of 0.0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def float_at(place: int) -> float:
    """Inverse of `ordered`."""
    (value,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return -value if place < 0 else value


@dataclass(frozen=True, eq=False)
class Path:
    """From inputs x [m] to those with x_i = ends_i at the coordinates `places`; `whole` ones stay whole numbers."""

    x: np.ndarray
    places: tuple[int, ...]
    ends: tuple[float, ...]
    whole: tuple[bool, ...]

    @property
    def steps(self) -> int:
        """How many there are; the start is step 0."""
        if len(self.places) > 1:
            return FINEST
        place, last, whole = next(zip(self.places, self.ends, self.whole, strict=True))
        first = float(self.x[place])
        return abs(round(last) - round(first)) if whole else abs(ordered(last) - ordered(first))

    def at(self, steps: list[int]) -> np.ndarray:
        """The inputs at these steps, [n, m]."""
        out = np.repeat(self.x[None, :], len(steps), axis=0)
        if len(self.places) == 1:
            out[:, self.places[0]] = self._single(steps)
            return out
        share = np.array([step / FINEST for step in steps])
        for i, end, whole in zip(self.places, self.ends, self.whole, strict=True):
            out[:, i] = _between(float(self.x[i]), end, share, whole)
        return out

    def positions(self, steps: list[int]) -> np.ndarray:
        """How far along these steps are, as floats that rise with them: t, or ±the value of the one number; [n]."""
        if len(self.places) > 1:
            return np.array([step / FINEST for step in steps])
        return self._way * np.array(self._single(steps))

    def position_of(self, number: int, values: np.ndarray) -> np.ndarray:
        """Where the coordinate `places[number]` passes values [n]; whole numbers pass one halfway to the next."""
        start, end = float(self.x[self.places[number]]), self.ends[number]
        passed = np.floor(values) + 0.5 if self.whole[number] else values
        return (passed - start) / (end - start) if len(self.places) > 1 else self._way * passed

    def near(self, position: float) -> int:
        """The last step at or before a position, up to rounding; positions beyond the ends have steps beyond too."""
        if len(self.places) > 1:
            return math.floor(position * FINEST)
        start = self._way * self._start
        return math.floor(position - start) if self.whole[0] else ordered(position) - ordered(start)

    @property
    def _start(self) -> float:
        return float(self.x[self.places[0]])

    @property
    def _way(self) -> int:
        return 1 if self.ends[0] >= self._start else -1

    def _single(self, steps: list[int]) -> list[float]:
        start, way = self._start, self._way
        if self.whole[0]:
            return [start + way * step for step in steps]
        return [float_at(ordered(start) + way * step) for step in steps]


def _between(start: float, end: float, share: np.ndarray, whole: bool) -> np.ndarray:
    """start + share·(end − start), which never turns back as the share [n] grows, and is the end at a share of 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved = start + share * (end - start)
    moved = np.where(np.isnan(moved), start, np.where(share == 1.0, end, moved))  # 0·∞, where the domain is that wide
    return np.clip(np.rint(moved) if whole else moved, min(start, end), max(start, end))


def first(reaches: Callable[[list[int]], np.ndarray], last: int) -> int | None:
    """The first of the steps 0 … last that reaches, by parts; None if the last one does not.

    `reaches` answers for several steps at once, [n] bool. The answer reaches and the step before it does not.
    """

    def missing(steps: list[int]) -> np.ndarray:
        return np.where(reaches(steps), 0.0, np.nan)

    return first_within(missing, last)


def first_within(missing: Callable[[list[int]], np.ndarray], last: int, likely: Sequence[int] = ()) -> int | None:
    """The same, led by how much is missing: `missing` [n] is ≤ 0 where a step reaches, else what it lacks or NaN.

    `likely` are steps, in their order, that are asked for first. Then those that are asked for lie around the place
    where a straight line between the two ends reaches, closer and closer together, and evenly where there is no such
    line, or where the round before came to a jump.
    """
    first = [0, *_some([step for step in likely if 0 < step < last]), last] if last else [0, 0]
    found = missing(first)
    if found[0] <= 0 or not found[-1] <= 0:
        return 0 if found[0] <= 0 else None
    between = _Between(0, last, float(found[0]), float(found[-1])).narrowed(first[1:-1], found[1:-1])
    led = True
    while between.high - between.low > 1:
        inside = _some([step for step in likely if between.low < step < between.high])
        steps = inside or _asked(between, led=led)
        before, between = between, between.narrowed(steps, missing(steps))
        led = bool(inside) or between.gap < before.gap / SHRUNK  # across a jump, which no line leads to, it stays
    return between.high


@dataclass(frozen=True)
class _Between:
    """A step that does not reach and a later one that does, with what the first lacks and the other has less than 0."""

    low: int
    high: int
    lacks: float
    spare: float

    @property
    def gap(self) -> float:
        return self.lacks - self.spare

    def narrowed(self, steps: list[int], found: np.ndarray) -> _Between:
        """By what is missing at steps between the two."""
        good = np.flatnonzero(found <= 0)
        place = int(good[0]) if good.size else len(steps)
        high, spare = (steps[place], float(found[place])) if place < len(steps) else (self.high, self.spare)
        low, lacks = (steps[place - 1], float(found[place - 1])) if place else (self.low, self.lacks)
        return _Between(low, high, lacks, spare)


def _some(steps: list[int]) -> list[int]:
    """At most `SUGGESTED` of them, evenly."""
    most = SUGGESTED
    return steps if len(steps) <= most else [steps[k * len(steps) // most] for k in range(most)]


def _asked(between: _Between, *, led: bool) -> list[int]:
    """Steps between the two, in their order."""
    low, high, gap = between.low, between.high, between.gap
    count = min(BATCH, high - low - 1)
    if not (led and gap > 0 and math.isfinite(gap)) or count < BATCH:
        return [low + (high - low) * (k + 1) // (count + 1) for k in range(count)]
    guess = low + int((high - low) * (between.lacks / gap))
    ratio = (high - low) ** (1 / FANNED)
    away = {int(ratio**k) for k in range(FANNED)}
    even = {low + (high - low) * (k + 1) // EVEN for k in range(EVEN - 1)}
    every = {guess, *even, *(guess + d for d in away), *(guess - d for d in away)}
    return sorted(step for step in every if low < step < high)
