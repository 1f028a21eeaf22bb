"""Own slopes of many units in many boxes at once, for two networks: the same as in bounds.py, in a third of the time.

An octagon that is closed has six corners; relu bends on the axes, which it meets in four more points, and at 0. What
slopes leave is the largest value at these eleven. Arrays are [boxes B, specifications S, units J].
"""

from __future__ import annotations

import numpy as np

from smilenn.auditing.bounds import candidates, middle

Pair = tuple[np.ndarray, np.ndarray]


def corners(r: np.ndarray) -> Pair:
    """s_1 and s_2 at the corners of closed octagons r [6, ...], with those on the axes: [11, ...] each."""
    l1, u1, l2, u2, dl, du = r
    zero = np.zeros_like(l1)
    p, q = np.clip(zero, l1, u1), np.clip(zero, l2, u2)
    low, high = np.maximum(l2, p - du), np.minimum(u2, p - dl)
    first = [l1, u1, l1, np.maximum(l1, u2 + dl), u1, np.minimum(u1, l2 + du), p, p, p]
    second = [l2, u2, np.minimum(u2, l1 - dl), u2, np.maximum(l2, u1 - du), l2, low, high, np.clip(q, low, high)]
    first += [np.maximum(l1, q + dl), np.minimum(u1, q + du)]
    return np.stack(first), np.stack([*second, q, q])


def own(first: np.ndarray, second: np.ndarray, r: np.ndarray, points: Pair) -> tuple[np.ndarray, ...]:
    """Slopes t_1, t_2 and what they leave: of three pairs the one that is least in the octagon's middle."""
    pairs = candidates(first, second, r)
    left = _left(first, second, pairs, points)
    m1, m2 = middle(r)
    values = [rest + t1 * m1 + t2 * m2 for rest, (t1, t2) in zip(left, pairs, strict=True)]
    best, value = (pairs[0][0], pairs[0][1], left[0]), values[0]
    together = (first != 0) & (second != 0)  # as in a checker: a copy without a coefficient has no slope
    for k in (1, 2):
        better = (values[k] < value) & together
        value = np.where(better, values[k], value)
        best = tuple(np.where(better, a, b) for a, b in zip((*pairs[k], left[k]), best, strict=True))
    return best


def _left(first: np.ndarray, second: np.ndarray, pairs: tuple[Pair, ...], points: Pair) -> list[np.ndarray]:
    """max over the corners of κ_1·relu(s_1) + κ_2·relu(s_2) − t_1·s_1 − t_2·s_2, for every pair of slopes."""
    out: list[np.ndarray] = [np.full(first.shape, -np.inf) for _ in pairs]
    value, term, total = (np.empty(first.shape) for _ in range(3))
    for p, q in zip(*points, strict=True):
        np.multiply(first, np.maximum(p, 0.0), out=value)
        value += np.multiply(second, np.maximum(q, 0.0), out=term)
        for most, (t1, t2) in zip(out, pairs, strict=True):
            np.subtract(value, np.multiply(t1, p, out=term), out=total)
            total -= np.multiply(t2, q, out=term)
            np.maximum(most, total, out=most)
    return out
