"""What trees return along a path: a sum of steps, one where a moving input passes a threshold.

    T(p) = Σ values of the leaves whose interval (a, b] holds the position p

Inputs that stay where they are decide their nodes once and for all. A node that asks for a moving one parts the
interval at its threshold, and both parts go on. So a path costs one walk, however many of its places are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.model.encoders.trees import Trees

Position = Callable[[np.ndarray], np.ndarray]  # of values of a moving input, in model units


@dataclass(frozen=True, eq=False)
class Stairs:
    """Sums of trees between the positions `breaks` [k], rising: values [k + 1, sums]."""

    breaks: np.ndarray
    values: np.ndarray

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The sums at positions [n]: [n, sums]."""
        return self.values[np.searchsorted(self.breaks, positions, side="left")]


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of several layers, node by node as `Plan` walks them; a question is an input, or a set of them."""

    asks: np.ndarray
    theta: np.ndarray
    child: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    sums: np.ndarray  # which sum a root belongs to
    bias: np.ndarray
    depth: int
    inputs: int
    sets: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, layers: Sequence[tuple[Trees, Sequence[int]]], inputs: int) -> Forest:
        """Of layers and the inputs, out of so many, that each of them reads."""
        sets = [np.array(columns)[places] for layer, columns in layers for places in layer.sets]
        own, roots, sums, before, at, taken = list[np.ndarray](), [], [], inputs, 0, 0
        for layer, columns in layers:
            plan = layer.plan()
            asks = np.array([*columns, *range(before, before + len(layer.sets))])
            asked = asks[plan.asks.numpy()]  # a tensor of one number would be taken for that number
            own.append(np.stack([asked, plan.theta, plan.child + at, plan.value]))
            roots.append((plan.roots[plan.place] + at).numpy())
            sums.append(taken + np.repeat(np.arange(layer.outputs), layer.trees))
            before, at, taken = before + len(layer.sets), at + len(plan.theta), taken + layer.outputs
        asks, theta, child, value = np.concatenate(own, axis=1)
        bias = np.concatenate([layer.bias.numpy() for layer, _ in layers])
        depth = max(len(layer.plan().active) for layer, _ in layers)
        nodes = asks.astype(np.int64), theta, child.astype(np.int64), value
        return cls(*nodes, np.concatenate(roots), np.concatenate(sums), bias, depth, inputs, tuple(sets))

    def along(self, u: np.ndarray, moving: Mapping[int, tuple[bool, Position]]) -> Stairs | None:
        """From inputs u [m] on; the moving ones rise or fall, and `Position` says where they pass a value.

        None where a set has a member that moves.
        """
        if any(i in moving for places in self.sets for i in places.tolist()):
            return None
        asked = np.concatenate([u, [u[places].max() for places in self.sets]])
        rises = np.zeros(len(asked), dtype=bool)
        cut = np.full(len(self.theta), np.nan)
        for i, (up, position) in moving.items():
            own = np.flatnonzero((self.asks == i) & np.isfinite(self.theta))
            at = position(self.theta[own])
            # z = θ goes left: a rising input is still before its threshold there, a falling one has passed it
            cut[own], rises[i] = at if up else np.nextafter(at, -np.inf), up
        return self._summed(*self._walked(asked, rises, cut))

    def _walked(self, asked: np.ndarray, rises: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, ...]:
        """The leaves that are reached, each with its sum and its interval of positions."""
        node, total = self.roots, self.sums
        low, high = np.full(len(node), -np.inf), np.full(len(node), np.inf)
        for _ in range(self.depth):
            asks, place = self.asks[node], cut[node]
            up = rises[asks]
            beyond = np.where(place <= low, up, ~up)  # of a moving input, at the beginning of the interval
            right = np.where(np.isnan(place), asked[asks] > self.theta[node], beyond)
            parts = np.flatnonzero((low < place) & (place < high))
            after = self.child[node[parts]] + up[parts]
            node, ends = self.child[node] + right, high[parts]
            high[parts] = place[parts]
            node, total = np.concatenate([node, after]), np.concatenate([total, total[parts]])
            low, high = np.concatenate([low, place[parts]]), np.concatenate([high, ends])
        return node, total, low, high

    def _summed(self, node: np.ndarray, total: np.ndarray, low: np.ndarray, high: np.ndarray) -> Stairs:
        breaks = np.unique(low[np.isfinite(low)])
        steps = np.zeros((len(breaks) + 2, len(self.bias)))
        begins, ends = np.isfinite(low), np.isfinite(high)
        np.add.at(steps, (np.where(begins, np.searchsorted(breaks, low) + 1, 0), total), self.value[node])
        np.add.at(steps, (np.searchsorted(breaks, high[ends]) + 1, total[ends]), -self.value[node[ends]])
        return Stairs(breaks, self.bias + np.cumsum(steps[:-1], axis=0))
