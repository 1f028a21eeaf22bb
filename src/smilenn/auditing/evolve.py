"""Pairs that improve by chance: every pair of a pool has children nearby, and the best of them takes its place.

    child = parent + length·normal, on some inputs          now and then an input jumps to an end or anywhere

Lengths shrink from a third of a box to a thousandth, and every so often the worse half of the pool is dropped.
Gradients say little about networks whose left side is 0 or flat on most of the box: after half a second this had found
up to four times as much as gradient steps.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np

POOL, CHILDREN, GENERATIONS = 128, 16, 200
LEAST = 16  # pairs of a pool that is never made smaller
EFFORT = 4e9  # multiplications of one run; pools of large networks are smaller
LONGEST, HALVINGS = 0.3, 8  # of steps, in boxes; how often the length is halved
DROPPED = 40  # generations after which the worse half goes
SHARES = (0.1, 0.3, 0.7)  # of inputs that move
JUMPS = 0.03


class Premise(Protocol):
    """What evolves: `Attack`."""

    box: np.ndarray
    rng: np.random.Generator

    @property
    def done(self) -> bool:
        """Whether nothing better is asked for."""
        ...

    def value(self, x: np.ndarray) -> np.ndarray:
        """The left side [n] of pairs [n, 2, m]."""
        ...

    def into_premise(self, first: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Pairs near x_1 and x_1 − x_2."""
        ...

    def offer(self, pairs: np.ndarray) -> None:
        """Keep the best."""
        ...


def evolve(attack: Premise, pairs: np.ndarray, sizes: tuple[int, ...], effort: float = 1.0) -> None:
    """Improve pairs [n, 2, m] of a network of these sizes, and offer the best; `effort` 1 is a run of full length."""
    work = 2 * CHILDREN * GENERATIONS * sum(a * b for a, b in pairwise(sizes))
    most = int(np.clip(effort * EFFORT / work, LEAST, POOL))
    pool, values = _best(pairs, attack.value(pairs), most)
    for k in range(GENERATIONS):
        pool, values = _next(attack, pool, values, LONGEST * 0.5 ** (HALVINGS * k / GENERATIONS))
        if k % DROPPED == DROPPED - 1:
            attack.offer(pool)
            pool, values = _best(pool, values, max(LEAST // 2, len(pool) // 2))
        if attack.done:
            break
    attack.offer(pool)


def _best(pairs: np.ndarray, values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-values, kind="stable")[:count]
    return pairs[order], values[order]


def _next(attack: Premise, pool: np.ndarray, values: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Each pair or the best of its children."""
    l1, u1, _, _, dl, du = attack.box
    parents = np.repeat(pool, CHILDREN, axis=0)
    first = _moved(attack.rng, parents[:, 0], l1, u1, length)
    gap = _moved(attack.rng, parents[:, 0] - parents[:, 1], dl, du, length)
    children = attack.into_premise(first, gap).reshape(len(pool), CHILDREN, *pool.shape[1:])
    reached = attack.value(children.reshape(parents.shape)).reshape(len(pool), CHILDREN)
    best = reached.argmax(axis=1)
    rows = np.arange(len(pool))
    better = reached[rows, best] > values
    kept = np.where(better[:, None, None], children[rows, best], pool)
    return kept, np.where(better, reached[rows, best], values)


def _moved(rng: np.random.Generator, x: np.ndarray, low: np.ndarray, high: np.ndarray, length: float) -> np.ndarray:
    """Points [n, m] with some coordinates moved, within low and high."""
    moves = rng.random(x.shape) < rng.choice(SHARES, size=(len(x), 1))
    out = x + rng.normal(size=x.shape) * moves * length * (high - low)
    jumps, ends = rng.random((2, *x.shape))
    anywhere = low + (high - low) * np.where(ends < 0.4, 0.0, np.where(ends < 0.8, 1.0, (ends - 0.8) * 5))
    return np.clip(np.where(jumps < JUMPS, anywhere, out), low, high)
