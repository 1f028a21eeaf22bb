"""Pairs of inputs with a large left side: random starts, gradient steps, a pool that evolves, then single inputs.

Points are numbers of the network's own type that satisfy the premise exactly; a difference that the premise fixes to
zero is one shared number. Of a category they have one value: its largest coordinate becomes 1, the others 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from smilenn.auditing.evolve import evolve
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row

STARTS, STEPS, CLIMBS = 512, 40, 6
AROUND, FEW = 32, 8  # pairs around a point of an LP, and steps from there


@dataclass(frozen=True, eq=False)
class Found:
    """The best pair so far: x [2, m] and the left side there, exact."""

    value: Fraction
    x: np.ndarray


class Attack:
    """Finds pairs for one row."""

    def __init__(self, net: DeepNet, row: Row, seed: int = 0) -> None:
        self.net, self.row, self.rng = net, row, np.random.default_rng(seed)
        self.box = row.box()
        self.kind = np.dtype(net.dtype)
        self.whole = np.array(row.whole)
        self.groups = [np.array(group) for group in row.groups]
        self.coefficients = row.coefficients()
        self.best: Found | None = None
        self.enough: Fraction | None = None

    def value(self, x: np.ndarray) -> np.ndarray:
        """The left side [n] in float64 of pairs x [n, 2, m]."""
        return np.einsum("nco,co->n", self.net(x), self.coefficients)

    def into_premise(self, first: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Pairs [n, 2, m] near x_1 = first and x_1 − x_2 = gap, in numbers of the network's type."""
        l1, u1, l2, u2, dl, du = self.box
        first, gap = self._one_hot(first, np.clip(gap, dl, du))
        first = np.clip(self._numbers(first), np.maximum(l1, l2 + gap), np.minimum(u1, u2 + gap))
        second = np.where(gap == 0, first, np.clip(self._numbers(first - gap), l2, u2))
        return np.stack([self._numbers(first), self._numbers(second)], axis=1)

    def _one_hot(self, first: np.ndarray, gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x_1 and x_1 − x_2 with one value of every category in either copy."""
        if not self.groups:
            return first, gap
        copies = [first.copy(), first - gap]
        for x in copies:
            for group in self.groups:
                x[:, group] = np.eye(len(group))[x[:, group].argmax(axis=1)]
        grouped = np.isin(np.arange(first.shape[1]), np.concatenate(self.groups))
        return copies[0], np.where(grouped, copies[0] - copies[1], gap)

    def _numbers(self, x: np.ndarray) -> np.ndarray:
        x = np.where(self.whole, np.rint(x), x)
        return x.astype(self.kind).astype(np.float64)

    def offer(self, pairs: np.ndarray) -> None:
        """Keep the best of these pairs if it beats the one known and satisfies the premise exactly."""
        values = self.value(pairs)
        order = np.argsort(-values)[:3]
        for i in order:
            if self.best is not None and values[i] <= float(self.best.value):
                return
            exact = self.row.exact_value(self.net, pairs[i])
            if exact is not None and (self.best is None or exact > self.best.value):
                self.best = Found(exact, pairs[i].copy())

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """d left / d x, [n, 2, m]."""
        net, a, masks = self.net, self.net.scaled(x), []
        for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
            s = a @ w.T + b
            masks.append(s > 0)
            a = np.maximum(s, 0.0)
        g = np.broadcast_to(self.coefficients @ net.weights[-1], (len(x), 2, net.weights[-1].shape[1]))
        for w, mask in zip(net.weights[-2::-1], reversed(masks), strict=True):
            g = (g * mask) @ w
        for step, k in net.scaling:
            g = g * k if step == "mul" else g / k if step == "div" else g
        return g

    def run(self, enough: Fraction | None = None) -> Found | None:
        """Search, until a left side is above `enough`; the best pair, None where no point satisfies the premise."""
        self.enough = enough
        l1, u1, _, _, dl, du = self.box
        shape = (STARTS, len(l1))
        middle = np.stack([(l1 + u1) / 2, l1, u1])
        self.offer(self.into_premise(middle, np.broadcast_to(np.clip(0.0, dl, du), middle.shape)))
        pairs: np.ndarray = self.into_premise(self.rng.uniform(l1, u1, shape), self.rng.uniform(dl, du, shape))
        if not self.done:
            pairs = self._ascend(pairs[:, 0], pairs[:, 0] - pairs[:, 1], STEPS, 0.5)
        if not self.done:
            self.evolve(pairs)
        if not self.done:
            self.climb()
        return self.best

    @property
    def done(self) -> bool:
        """Whether the best pair is as good as was asked for."""
        return self.enough is not None and self.best is not None and self.best.value > self.enough

    def evolve(self, pairs: np.ndarray, effort: float = 1.0) -> None:
        """Improve these pairs [n, 2, m], as many more at random, and the best one known."""
        l1, u1, _, _, dl, du = self.box
        shape = (max(len(pairs), STARTS), len(l1))
        more = self.into_premise(self.rng.uniform(l1, u1, shape), self.rng.uniform(dl, du, shape))
        known = [] if self.best is None else [self.best.x[None]]
        evolve(self, np.concatenate([*known, pairs, more]), self.net.sizes, effort)

    def climb_from(self, x: np.ndarray) -> None:
        """A few steps from pairs around x [2, m]."""
        l1, u1 = self.box[:2]
        shape = (AROUND, x.shape[1])
        first = x[0] + self.rng.normal(size=shape) * (u1 - l1) * self.rng.choice([0.0, 0.01, 0.1], size=(AROUND, 1))
        self._ascend(first, np.broadcast_to(x[0] - x[1], shape), FEW, 0.05)

    def _ascend(self, first: np.ndarray, gap: np.ndarray, steps: int, length: float) -> np.ndarray:
        """Signed gradient steps on x_1 and x_1 − x_2, [n, m] each; half of the inputs move at once. The last pairs."""
        l1, u1, _, _, dl, du = self.box
        pairs = self.into_premise(first, gap)
        for k in range(steps):
            self.offer(pairs)
            if self.done:
                break
            step, g = length * (1 - k / steps) ** 2 + 0.002, self.gradient(pairs)
            moves = self.rng.random(first.shape) < 0.5
            first = np.clip(first + step * (u1 - l1) * np.sign(g.sum(axis=1)) * moves, l1, u1)
            gap = np.clip(gap - step * (du - dl) * np.sign(g[:, 1]), dl, du)
            pairs = self.into_premise(first, gap)
        return pairs

    def climb(self) -> None:
        """Move single inputs of the best pair while that helps."""
        l1, u1 = self.box[:2]
        for _ in range(CLIMBS):
            if self.best is None:
                return
            before, x = self.best.value, self.best.x
            for i in range(len(l1)):
                grid = np.unique(np.concatenate([np.linspace(l1[i], u1[i], 33), x[0, i] + (u1[i] - l1[i]) * GRID]))
                first = np.repeat(x[0][None], len(grid), axis=0)
                first[:, i] = np.clip(grid, l1[i], u1[i])
                if any(i in group for group in self.groups):
                    first[:, i] *= 2  # ahead of the value that the category has, so that it takes this one
                gap = np.repeat((x[0] - x[1])[None], len(grid), axis=0)
                self.offer(self.into_premise(first, gap))
                x = self.best.x
            if self.best.value <= before:
                return


GRID = np.concatenate([sign * 2.0 ** -np.arange(4, 16) for sign in (1.0, -1.0)])
