"""Bounds of two networks of equal widths at the same input, unit by unit, for many boxes of inputs at once.

    s_1 − s_2 = ½(W_1 + W_2)·(a_1 − a_2) + ½(W_1 − W_2)·(a_1 + a_2) + b_1 − b_2

so differences of paired units stay small where the networks are close. Octagons, own slopes and lemmas are those of one
network twice (bounds.py), with weights of its own for either copy. Arrays are [boxes B, specifications S, units n];
ranges [6, B, n]. This is float64 and only guides the search: docs/audit-certificate.md §8 is what a checker computes.

ε, what rounding in the network may add to a unit, is part of it, small as it is: own slopes jump where a range is as
far below 0 as above. A search without ε took slopes on one side of a jump where the checker took those on the other,
and bounds of 0.009 and 0.14 came of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smilenn.auditing import octagon
from smilenn.auditing.network import DeepNet, scaled
from smilenn.auditing.paired_slopes import corners, own

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}  # half the gap of numbers at 1
GRID = 2.0**-40  # of a checker's ranges
ORDERED = ((np.minimum, -1.0), (np.maximum, 1.0))
WIDER = np.array([1.0, 1.0, 2.0])[:, None, None]  # ε of either copy, of their difference


@dataclass(frozen=True, eq=False)
class State:
    """A layer in B boxes: which copies are on [B, 1, n], ε [B, n], units open in some box, their octagons, corners."""

    on: tuple[np.ndarray, np.ndarray]
    noise: np.ndarray
    open: np.ndarray
    ranges: np.ndarray  # [6, B, 1, J]
    points: tuple[np.ndarray, np.ndarray]  # s_1 and s_2, [11, B, 1, J]

    @classmethod
    def of(cls, r: np.ndarray, noise: np.ndarray) -> State:
        """From ranges [6, B, n] and ε [B, n]."""
        j = np.flatnonzero(~octagon.settled(r).all(axis=0))
        some = r[:, :, None, j]
        on = ((r[0] >= 0)[:, None] * 1.0, (r[2] >= 0)[:, None] * 1.0)
        return cls(on, noise, j, some, corners(some))

    def moved(self, t: np.ndarray) -> np.ndarray:
        """Σ_j t_j·ε_j [B, S] for sizes of slopes t [B, S, n]."""
        return np.matmul(t, self.noise[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class Bounded:
    """What is known of B boxes: ranges of every hidden layer, their states, bounds [B, S], and slopes at the inputs."""

    layers: list[np.ndarray]
    states: list[State]
    bounds: np.ndarray


class Twins:
    """Two networks, and rows Σ_o a_o·(f_o(x) − g_o(x)), a [S, o]."""

    def __init__(self, first: DeepNet, second: DeepNet, weights: np.ndarray) -> None:
        self.nets = (first, second)
        self.depth = len(first.weights) - 1
        self.kappa = weights @ first.weights[-1], -weights @ second.weights[-1]
        self.const = weights @ (first.biases[-1] - second.biases[-1])
        pairs = list(zip(first.weights, second.weights, strict=True))
        self.half = [((v + w) / 2, (v - w) / 2) for v, w in pairs]
        self.unit = UNIT[first.dtype]
        terms = [(width + 5) * self.unit for width in first.sizes[:-1]]
        self.gamma = [n / (1 - n) for n in terms]
        ends = np.tile([[-np.inf], [np.inf]], (3, 1))
        self.unknown = [np.tile(ends, (1, n)) for n in first.sizes[1:-1]]  # ranges [6, n] that say nothing
        self.absolute = np.abs(weights)

    def inputs(self, lo: np.ndarray, hi: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes [B, m] of raw inputs after the scaling, each step of it rounded.

        A proof halves the inputs of the first copy alone, so those of the second, ends `root` [2, m], count for the
        largest number that is rounded.
        """
        ends = np.stack([lo, hi, *np.broadcast_to(root[:, None], (2, *lo.shape))])
        for step in self.nets[0].scaling:
            ends = scaled(step, ends)
            e = np.abs(ends).max(axis=0) * self.unit
            ends = np.stack([f(*pair) + s * e for pair in (ends[:2], ends[2:]) for f, s in ORDERED])
        return ends[0], ends[1]

    def bounded(self, lo: np.ndarray, hi: np.ndarray, known: list[np.ndarray] | None, joint: bool) -> Bounded:
        """Ranges, states and bounds in boxes [B, m] of scaled inputs, within what is known of boxes around them.

        With `joint`, lemmas are about differences of paired units too: tighter, and several times the work.
        """
        none = np.zeros_like(lo)
        below, layers, states = np.stack([lo, hi, lo, hi, none, none]), [], []
        for layer in range(self.depth):
            noise = self._noise(layer, below)
            r = self._through(layer, below, noise)
            if known is not None:
                r = octagon.meet(r, known[layer])
            r = octagon.mended(octagon.close(r))
            if layer:
                r = self._lemmas(layer, r, noise, states, lo, hi, joint)
            layers.append(r)
            states.append(State.of(r, noise))
            below = octagon.after_relu(r)
        shape = (len(lo), *self.kappa[0].shape)
        kappa = (np.broadcast_to(self.kappa[0], shape), np.broadcast_to(self.kappa[1], shape))
        bounds = self._back(kappa, self.const, self.depth - 1, states, lo, hi)
        return Bounded(layers, states, bounds + 2 * self._noise(self.depth, below) @ self.absolute.T)

    def _noise(self, layer: int, a: np.ndarray) -> np.ndarray:
        """ε [B, n] of a layer: the larger one of both networks."""
        largest = np.maximum(np.abs(a[:4]).max(axis=0), 0.0)
        sums = [largest @ np.abs(net.weights[layer]).T + np.abs(net.biases[layer]) for net in self.nets]
        return self.gamma[layer] * np.maximum(*sums) + GRID

    def _through(self, layer: int, a: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Ranges of a layer by intervals with differences, from those of what it reads [6, B, n]."""
        out = np.empty((6, a.shape[1], len(self.nets[0].biases[layer])))
        for c, net in enumerate(self.nets):
            ends = _interval(net.weights[layer], a[2 * c], a[2 * c + 1])
            out[2 * c], out[2 * c + 1] = (end + net.biases[layer] for end in ends)
        (half, apart), shift = self.half[layer], self.nets[0].biases[layer] - self.nets[1].biases[layer]
        moved, drift = _interval(half, a[4], a[5]), _interval(apart, a[0] + a[2], a[1] + a[3])
        out[4], out[5] = (p + q + shift for p, q in zip(moved, drift, strict=True))
        out[octagon.LOWER, :] -= noise * WIDER
        out[octagon.UPPER, :] += noise * WIDER
        return out

    def _lemmas(
        self,
        layer: int,
        r: np.ndarray,
        noise: np.ndarray,
        states: list[State],
        lo: np.ndarray,
        hi: np.ndarray,
        joint: bool,
    ) -> np.ndarray:
        """Ranges of units that are not settled, met with what the rule says of them."""
        unsettled = ~octagon.settled(r)
        j = np.flatnonzero(unsettled.any(axis=0))
        if not len(j):
            return r
        (w, v), (b, c) = ([part[layer][j] for part in parts] for parts in zip(*map(_parts, self.nets), strict=True))
        alone = [self._one(copy, [k, -k], [d, -d], layer - 1, states, lo, hi) for copy, k, d in ((0, w, b), (1, v, c))]
        if joint:
            shape = (len(lo), 2 * len(j), w.shape[1])
            kappa = (np.broadcast_to(np.concatenate(k), shape) for k in ([w, -w], [-v, v]))
            alone.append(self._back(tuple(kappa), np.concatenate([b - c, c - b]), layer - 1, states, lo, hi))
        wider = np.tile(noise[:, j], 2)
        most = [np.split(part + k * wider, 2, axis=1) for part, k in zip(alone, (1, 1, 2), strict=False)]
        found = r[:, :, j].copy()
        found[: 2 * len(most)] = [end for up, down in most for end in (-down, up)]
        some = octagon.mended(octagon.close(octagon.meet(r[:, :, j], found)))
        out = r.copy()
        out[:, :, j] = np.where(unsettled[:, j], some, r[:, :, j])
        return out

    def _one(
        self,
        copy: int,
        kappa: list[np.ndarray],
        const: list[np.ndarray],
        top: int,
        states: list[State],
        lo: np.ndarray,
        hi: np.ndarray,
    ) -> np.ndarray:
        """Bounds [B, S] of κ·relu(s) + const of one copy alone."""
        k = np.broadcast_to(np.concatenate(kappa), (len(lo), sum(map(len, kappa)), kappa[0].shape[1]))
        bound: np.ndarray = np.concatenate(const)
        for layer in range(top, -1, -1):
            state, net = states[layer], self.nets[copy]
            t = k * state.on[copy]
            low, high = state.ranges[2 * copy], state.ranges[2 * copy + 1]
            some = k[..., state.open]
            slope = some * np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, _tilt(some, low, high)))
            left = np.maximum(some * np.maximum(low, 0) - slope * low, some * np.maximum(high, 0) - slope * high)
            left = np.where((low < 0) & (high > 0), np.maximum(left, 0.0), left)
            t[..., state.open] = slope
            bound = bound + left.sum(axis=-1) + t @ net.biases[layer] + state.moved(np.abs(t))
            k = t @ net.weights[layer]
        return bound + _most(k, lo, hi)

    def _back(
        self,
        kappa: tuple[np.ndarray, ...],
        const: np.ndarray,
        top: int,
        states: list[State],
        lo: np.ndarray,
        hi: np.ndarray,
    ) -> np.ndarray:
        """Bounds [B, S] of κ_1·relu(s_1) + κ_2·relu(s_2) + const."""
        first, second = kappa
        for layer in range(top, -1, -1):
            state, j = states[layer], states[layer].open
            t1, t2 = first * state.on[0], second * state.on[1]
            if len(j):
                t1[..., j], t2[..., j], left = own(first[..., j], second[..., j], state.ranges, state.points)
                const = const + left.sum(axis=-1)
            const = const + t1 @ self.nets[0].biases[layer] + t2 @ self.nets[1].biases[layer]
            const = const + state.moved(np.abs(t1) + np.abs(t2))
            first, second = t1 @ self.nets[0].weights[layer], t2 @ self.nets[1].weights[layer]
        return const + _most(first + second, lo, hi)

    def widths(self, found: Bounded, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """How much of the unsettled units' ranges each input makes, [B, m]: where a split settles most."""
        net, out = self.nets[0], np.zeros_like(lo)
        map_: np.ndarray = np.broadcast_to(net.weights[0], (len(lo), *net.weights[0].shape))
        for layer, state in enumerate(found.states):
            low, high = state.ranges[0, :, 0], state.ranges[1, :, 0]  # [B, J]
            wide = np.maximum(high - low, 1e-12)
            unsure = np.maximum(np.minimum(-low, high), 0.0) / wide**2
            out += np.einsum("bjm,bj->bm", np.abs(map_[:, state.open]), unsure) * (hi - lo)
            if layer + 1 < self.depth:
                gate = state.on[0][:, 0].copy()
                mixed = (low < 0) & (high > 0)
                gate[:, state.open] = np.where(mixed, high / wide, gate[:, state.open])
                map_ = np.matmul(net.weights[layer + 1], gate[:, :, None] * map_)
        return out


def _parts(net: DeepNet) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    return net.weights, net.biases


def _interval(w: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range of W·a, a in [low, high], each [B, n]."""
    middle, half = (low + high) @ w.T / 2, (high - low) @ np.abs(w).T / 2
    return middle - half, middle + half


def _tilt(k: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The share of κ that a slope from above has on an interval with 0 inside."""
    return np.where(k > 0, high / np.maximum(high - low, 1e-300), (high > -low) * 1.0)


def _most(k: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """max k·x over boxes [B, m], k [B, S, m]."""
    return np.maximum(k * lo[:, None], k * hi[:, None]).sum(axis=-1)
