"""The deep rule in float64: upper bounds of Σ_c κ_c·relu(s_c) + const on a cell, for any slopes t.

    Σ_c κ_cj·relu(s_c) ≤ Σ_c t_cj·s_c + r_j      r_j = max over S_j of Σ_c κ_cj·relu(s_c) − t_cj·s_c
    s_c = W·a_c + b      so      κ_c := t_c·W,  const += Σ r + Σ t·b      one layer down, and so on to the inputs

where the affine remainder is maximised over box and strip. *Own slopes* are those a checker finds by itself.
*Lemmas* are the rule applied to ±s_c and ±(s_1 − s_2) of one unit. Arrays have the shape [specifications, units].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.auditing import octagon
from smilenn.auditing.network import DeepNet

AT_ONCE = 4096  # numbers of a layer and all specifications, up to which corners are taken all at once
Cut = tuple[int, int, int, int]  # layer, unit, copy, +1 (s ≥ 0) or −1 (s ≤ 0)


@dataclass(frozen=True, eq=False)
class Cell:
    """Ranges of the scaled inputs [6, m] and of every hidden layer [6, n]."""

    inputs: np.ndarray
    layers: tuple[np.ndarray, ...]

    @property
    def empty(self) -> bool:
        """Whether no pair of inputs is left, beyond rounding."""
        return any(octagon.empty(r) for r in (self.inputs, *self.layers))

    def mended(self) -> Cell:
        """Without ends that rounding has exchanged."""
        return Cell(octagon.mended(self.inputs), tuple(map(octagon.mended, self.layers)))


def spread(net: DeepNet, inputs: np.ndarray, known: Cell | None = None, cuts: Sequence[Cut] = (), lemmas: bool = False):
    """The cell of these inputs: intervals with differences, cut by phases, within what is `known`."""
    layers: list[np.ndarray] = []
    for layer, (w, b) in enumerate(zip(net.weights[:-1], net.biases[:-1], strict=True)):
        r = octagon.through(w, b, octagon.after_relu(layers[-1]) if layer else inputs)
        if known is not None:
            r = octagon.meet(r, known.layers[layer])
        r = octagon.close(_cut(r, [cut for cut in cuts if cut[0] == layer]))
        if lemmas and layer and not octagon.empty(r):
            tighter = octagon.close(octagon.meet(r, _lemmas(net, layer, Cell(inputs, tuple(layers)))))
            r = np.where((r[1] > 0) | (r[3] > 0), tighter, r)  # as in a checker: no lemmas about units that are off
        if octagon.empty(r):
            return None
        layers.append(octagon.mended(r))
    return Cell(inputs, tuple(layers))


def _cut(r: np.ndarray, cuts: Sequence[Cut]) -> np.ndarray:
    """Ranges of a layer with the signs of some units; in place."""
    for _, j, c, sign in cuts:
        at = 2 * c + (sign < 0)
        r[at, j] = max(r[at, j], 0.0) if sign > 0 else min(r[at, j], 0.0)
    return r


def _lemmas(net: DeepNet, layer: int, below: Cell) -> np.ndarray:
    """Ranges of layer layer by the rule with own slopes."""
    w, b = net.weights[layer], net.biases[layer]
    none = np.zeros_like(w)
    first = np.concatenate([-w, w, none, none, -w, w])
    second = np.concatenate([none, none, -w, w, w, -w])
    const = np.concatenate([-b, b, -b, b, 0 * b, 0 * b])
    bound = back(net, first, second, const, layer - 1, below)[0].reshape(6, -1)
    return np.stack([-bound[0], bound[1], -bound[2], bound[3], -bound[4], bound[5]])


def back(
    net: DeepNet,
    first: np.ndarray,
    second: np.ndarray,
    const: np.ndarray,
    top: int,
    cell: Cell,
    slopes: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds [S] of first·relu(s_1) + second·relu(s_2) + const of layer `top`, and where the inputs reach them."""
    for layer in range(top, -1, -1):
        points = octagon.corners(cell.layers[layer])
        if slopes is None:
            t1, t2, r = own(first, second, cell.layers[layer], points)
        else:
            t1, t2 = _given(first, second, cell.layers[layer], slopes[layer])
            r = rest(first, second, t1, t2, points)
        const = const + r.sum(axis=-1) + (t1 + t2) @ net.biases[layer]
        first, second = t1 @ net.weights[layer], t2 @ net.weights[layer]
    points = octagon.ends(cell.inputs)  # [8, m, 2]
    value = first[None] * points[:, None, :, 0] + second[None] * points[:, None, :, 1]
    best = value.argmax(axis=0)  # [S, m]
    at = np.take_along_axis(points[:, None], best[None, :, :, None], axis=0)[0]  # [S, m, 2]
    return const + value.max(axis=0).sum(axis=-1), at


def _given(
    first: np.ndarray, second: np.ndarray, r: np.ndarray, slopes: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes as given; NaN stands for those of a settled unit, κ where it is on and 0 where it is off."""
    t1, t2 = slopes
    return np.where(np.isnan(t1), first * (r[0] >= 0), t1), np.where(np.isnan(t2), second * (r[2] >= 0), t2)


def rest(first: np.ndarray, second: np.ndarray, t1: np.ndarray, t2: np.ndarray, points: np.ndarray) -> np.ndarray:
    """r [S, n]; points [15, n, 2]."""
    if first.size <= AT_ONCE:  # many cells have few numbers, and calls take longer than sums
        p, q = points[:, None, ..., 0], points[:, None, ..., 1]
        return (first * np.maximum(p, 0.0) + second * np.maximum(q, 0.0) - t1 * p - t2 * q).max(axis=0)
    out = np.full(first.shape, -np.inf)
    for p, q in np.moveaxis(points, -1, 1):
        out = np.maximum(out, first * np.maximum(p, 0.0) + second * np.maximum(q, 0.0) - t1 * p - t2 * q)
    return out


def candidates(first: np.ndarray, second: np.ndarray, r: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Three pairs of slopes: each copy alone; one and the difference, either way."""
    l1, u1, l2, u2, dl, du = r
    both = first + second
    from_second, from_first = moved(second, -du, -dl, r), moved(first, dl, du, r)
    return (
        (alone(first, l1, u1), alone(second, l2, u2)),
        (alone(both, l1, u1) - from_second, from_second),
        (from_first, alone(both, l2, u2) - from_first),
    )


def middle(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The middle of octagons r [6, ...], s_1 and s_2."""
    l1, u1, l2, u2, dl, du = r
    shift = np.clip((l1 + u1 - l2 - u2) / 2, dl, du) - (l1 + u1 - l2 - u2) / 2
    return (l1 + u1 + shift) / 2, (l2 + u2 - shift) / 2


def own(
    first: np.ndarray, second: np.ndarray, r: np.ndarray, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best of three pairs of slopes, judged in the octagon's middle: each copy alone; one and the difference."""
    pairs = candidates(first, second, r)
    m1, m2 = middle(r)
    best = None
    for t1, t2 in pairs:
        left = rest(first, second, t1, t2, points)
        value = left + t1 * m1 + t2 * m2
        if best is None:
            best = (value, t1, t2, left)
        else:
            better = value < best[0]
            best = tuple(np.where(better, a, b) for a, b in zip((value, t1, t2, left), best, strict=True))
    assert best is not None
    return best[1], best[2], best[3]


def alone(k: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The slope of κ·relu(s) from above on [low, high]: the chord for κ > 0, 0 or κ below."""
    chord = high / np.maximum(high - low, 1e-300)
    slope = np.where(k > 0, chord, (high > -low) * 1.0)
    return k * np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, slope))


def moved(k: np.ndarray, low: np.ndarray, high: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The slope in e of κ·(relu(s + e) − relu(s)) from above, e in [low, high]."""
    wide = np.maximum(high - low, 1e-300)
    up = np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, high / wide))
    down = np.where(low >= 0, 0.0, np.where(high <= 0, 1.0, -low / wide))
    return k * np.where((r[0] >= 0) & (r[2] >= 0), 1.0, np.where(k > 0, up, down))
