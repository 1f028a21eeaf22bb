"""A pair of inputs whose decisions differ: f(a) > 0 ≥ f(b) or the other way round, a network of one output.

    score(a, b) = |f(a) + f(b)| − |f(a) − f(b)|        below 0 exactly where the signs differ

Random pairs of the premise come first. Those of the lowest scores then move along single inputs, always to the lowest
score; between two values of an input with f(a) + f(b) on either side of 0 the crossing is halved down. A pair counts
once its decisions differ in exact arithmetic, in the network's own type from left to right, and in its runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np

from smilenn.auditing.attack import Attack
from smilenn.auditing.network import DeepNet
from smilenn.auditing.replay import computed
from smilenn.auditing.rows import Row

STARTS, KEPT, ROUNDS, GRID = 4096, 24, 12, 17
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Flip:
    """Inputs x [2, m] of one row of a claim whose decisions differ; `outputs` of both by what computed them."""

    row: Row
    x: np.ndarray
    outputs: Mapping[str, tuple[float, float]]


class FlipSearch:
    """Looks for a changed label in the premise of one row."""

    def __init__(self, net: DeepNet, model: Any, row: Row, seed: int = 0) -> None:
        self.net, self.model, self.row = net, model, row
        self.attack = Attack(net, row, seed)
        self.rng = np.random.default_rng(seed)

    def run(self, until: float) -> Flip | None:
        """Search until that time (`perf_counter`) or a pair is found."""
        l1, u1, _, _, dl, du = self.attack.box
        while perf_counter() < until:
            shape = (STARTS, len(l1))
            pairs = self.attack.into_premise(self.rng.uniform(l1, u1, shape), self.rng.uniform(dl, du, shape))
            found = self._best(pairs) or self._descend(pairs[np.argsort(self.score(pairs))[:KEPT]], until)
            if found is not None:
                return found
        return None

    def both(self, pairs: np.ndarray) -> np.ndarray:
        """f at pairs [n, 2, m] in float64, [n, 2]."""
        return self.net(pairs)[..., 0]

    def score(self, pairs: np.ndarray) -> np.ndarray:
        """Negative where the signs differ, [n]."""
        f = self.both(pairs)
        return np.abs(f.sum(axis=1)) - np.abs(f[:, 0] - f[:, 1])

    def _best(self, pairs: np.ndarray) -> Flip | None:
        """The pair that is farthest from agreeing, if it holds everywhere."""
        scores = self.score(pairs)
        order = np.argsort(scores)[:3]
        for i in order[scores[order] < 0]:
            if (found := self._replayed(pairs[i])) is not None:
                return found
        return None

    def _replayed(self, x: np.ndarray) -> Flip | None:
        points = [[Fraction(float(v)) for v in copy] for copy in x]
        if not self.row.holds_at(points):
            return None
        exact = [self.net.exactly(point) for point in points]
        outputs = {name: (a[0], b[0]) for name, (a, b) in {"exact": exact, **computed(self.net, self.model, x)}.items()}
        if not all((a > 0) != (b > 0) for a, b in outputs.values()):
            return None
        return Flip(self.row, x.copy(), {name: (float(a), float(b)) for name, (a, b) in outputs.items()})

    def _descend(self, pairs: np.ndarray, until: float) -> Flip | None:
        """Move single inputs of pairs [n, 2, m], each to the lowest score of a grid, until one flips."""
        for _ in range(ROUNDS):
            moving = np.flatnonzero(self.attack.box[1] > self.attack.box[0])
            for i in self.rng.permutation(moving):
                tried = self._along(pairs, int(i))
                scores = self.score(tried.reshape(-1, *pairs.shape[1:])).reshape(tried.shape[:2])
                pairs = tried[np.arange(len(tried)), scores.argmin(axis=1)]
                found = self._best(pairs) if scores.min() < 0 else None
                if found is not None or perf_counter() > until:
                    return found
        return None

    def _along(self, pairs: np.ndarray, i: int) -> np.ndarray:
        """Pairs [n, k, 2, m] with other values of input i: a grid over its range, and where f(a) + f(b) crosses 0."""
        l1, u1 = self.attack.box[0][i], self.attack.box[1][i]
        grid = np.concatenate([pairs[:, :1, i], np.broadcast_to(np.linspace(l1, u1, GRID), (len(pairs), GRID))], axis=1)
        tried = self._moved(pairs, i, grid)
        f = self.both(tried.reshape(-1, *pairs.shape[1:])).sum(axis=1).reshape(grid.shape)[:, 1:]
        crossing = np.argmax((f[:, :-1] > 0) != (f[:, 1:] > 0), axis=1)
        every = np.arange(len(pairs))
        low, high = grid[every, crossing + 1], grid[every, crossing + 2]
        positive = f[every, crossing] > 0
        for _ in range(HALVINGS if not self.attack.whole[i] else 12):
            middle = (low + high) / 2
            same = (self.both(self._moved(pairs, i, middle[:, None])[:, 0]).sum(axis=1) > 0) == positive
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return np.concatenate([tried, self._moved(pairs, i, np.stack([low, high], axis=1))], axis=1)

    def _moved(self, pairs: np.ndarray, i: int, values: np.ndarray) -> np.ndarray:
        """Pairs [n, k, 2, m] with input i at values [n, k], inside the premise."""
        n, k = values.shape
        first = np.repeat(pairs[:, 0], k, axis=0)
        gap = np.repeat(pairs[:, 0] - pairs[:, 1], k, axis=0)
        first[:, i] = values.reshape(-1) * (2 if any(i in group for group in self.attack.groups) else 1)
        return self.attack.into_premise(first, gap).reshape(n, k, 2, -1)
