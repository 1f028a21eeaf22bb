"""A quick estimate of a network's outputs along a path: it tells the search where to look, and nothing else.

The same layers as the network's, by matrix products instead of sums in one order, the members of an ensemble side by
side, and trees as stairs (stairs.py). It differs from the network in the last bits, and nobody trusts it: whatever it
suggests is asked of the network itself. Networks with other layers have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import torch

from smilenn.model.encoders import Branch
from smilenn.model.encoders.layers import Kinks, Linear, Ramps
from smilenn.model.encoders.trees import Trees
from smilenn.model.net import SmileNet
from smilenn.model.select import select
from smilenn.recourse.path import Path, first_within
from smilenn.recourse.stairs import Forest, Stairs

MOST_WHOLE = 1000  # whole numbers on a path that are looked at one by one
NEAR = (-1, 0, 1)  # steps around the estimate that the network is asked about; a step of several features is a long one
FAR = (-256, -64, -16, -4, -1, 0, 1, 4, 16, 64, 256)
Numbers = Callable[[np.ndarray, np.ndarray], np.ndarray]  # y and the first layer's outputs, each [G, n, i] → [G, n, j]

_KEPT: WeakKeyDictionary[SmileNet, Guide | None] = WeakKeyDictionary()


def likely(net: SmileNet, path: Path, missing: Callable[[np.ndarray], np.ndarray]) -> list[int]:
    """Steps around the first one whose outputs, by the estimate, lack nothing; `missing` [n] of outputs [n, o]."""
    if net not in _KEPT:
        _KEPT[net] = Guide.of(net)
    guide = _KEPT[net]
    along = None if guide is None else guide.along(net, path)
    if along is None:
        return []
    step = first_within(lambda steps: missing(along.outputs(steps)), path.steps, along.jumps())
    away = NEAR if len(path.places) > 1 else FAR
    return [] if not step else [step + d for d in away if 0 < step + d < path.steps]


@dataclass(frozen=True, eq=False)
class Members:
    """Branches of one shape with the columns that they read, of the inputs or of the trees' sums, and their layers."""

    branches: tuple[int, ...]
    columns: list[int]
    after_trees: bool
    layers: tuple[Numbers, ...]


@dataclass(frozen=True, eq=False)
class Guide:
    """The layers of a network as arrays, put together once; what was changed since makes a worse estimate."""

    forest: Forest | None
    members: tuple[Members, ...]
    branches: int
    collapsed: bool

    @classmethod
    def of(cls, net: SmileNet) -> Guide | None:
        """None for a network without an encoder, or with layers that have no estimate."""
        branches = [] if net.encoder is None else [b for b in net.encoder.branches if isinstance(b, Branch)]
        if not branches or not all(map(_is_known, branches)) or net.shift.device.type != "cpu":
            return None
        trees = [(layer, branch.columns) for branch in branches if isinstance(layer := _first(branch), Trees)]
        forest = Forest.of(trees, len(net.domain.lo)) if trees else None
        return cls(forest, tuple(_members(branches)), len(branches), net.collapsed)

    def along(self, net: SmileNet, path: Path) -> Along | None:
        """The estimate on a path; None where trees ask for sets of inputs that move."""
        shift, mult = net.shift.numpy(), net.mult.numpy()
        moving = {
            i: (end > path.x[i], lambda u, k=k, i=i: path.position_of(k, u / mult[i] + shift[i]))
            for k, (i, end) in enumerate(zip(path.places, path.ends, strict=True))
            if end != path.x[i]
        }
        start = _scaled(net, path.x[None])[0]
        stairs = None if self.forest is None else self.forest.along(start, moving)
        return None if stairs is None and self.forest is not None else Along(self, net, path, stairs)


@dataclass(frozen=True, eq=False)
class Along:
    """The estimate on one path."""

    guide: Guide
    net: SmileNet
    path: Path
    stairs: Stairs | None

    def jumps(self) -> list[int]:
        """Steps before and after every place where trees, or inputs that are whole numbers, jump."""
        places = [] if self.stairs is None else [self.stairs.breaks]
        found = {self.path.near(float(p)) for p in np.concatenate([*places, *self._whole()])}
        return sorted({step + d for step in found for d in (0, 1) if 0 < step + d < self.path.steps})

    def _whole(self) -> list[np.ndarray]:
        path = self.path
        out = [np.zeros(0)]
        for k, (i, end, whole) in enumerate(zip(path.places, path.ends, path.whole, strict=True)):
            if whole and 0 < abs(end - path.x[i]) <= MOST_WHOLE:
                out.append(path.position_of(k, np.arange(min(end, path.x[i]), max(end, path.x[i]))))
        return out

    @torch.no_grad()
    def outputs(self, steps: list[int]) -> np.ndarray:
        """Estimated outputs at these steps, [n, o]."""
        net, encoder = self.net, self.net.encoder
        assert encoder is not None  # of a guide
        u = _scaled(net, self.path.at(steps))
        e = encoder.cut(torch.from_numpy(self._encoded(u, steps)))
        z = lower = net.lower(e)
        if not self.guide.collapsed:
            second = net.second(e)
            upper = lower + second if net.boxes == "gap" else second
            x = torch.from_numpy(self.path.at(steps))
            z = select(net.inner(x, torch.from_numpy(u), lower, upper), lower, upper)
        return ((z @ net.head_weight.T + net.head_bias) * net.output_scale).numpy()

    def _encoded(self, u: np.ndarray, steps: list[int]) -> np.ndarray:
        """What the branches return for inputs u [n, m] at these steps: [n, p]."""
        sums = u if self.stairs is None else self.stairs.at(self.path.positions(steps))
        parts: list[np.ndarray] = [u] * self.guide.branches
        for members in self.guide.members:
            y = first = (sums if members.after_trees else u)[None, :, members.columns]
            for number, layer in enumerate(members.layers):
                y = layer(y, first)
                first = y if number == 0 and not members.after_trees else first
            for branch, own in zip(
                members.branches, np.broadcast_to(y, (len(members.branches), *y.shape[1:])), strict=True
            ):
                parts[branch] = own
        return np.concatenate(parts, axis=1)


def _scaled(net: SmileNet, x: np.ndarray) -> np.ndarray:
    return net.scale(torch.from_numpy(x)).numpy()


def _first(branch: Branch) -> object:
    return branch.layers[0] if len(branch.layers) else None


def _is_known(branch: Branch) -> bool:
    rest = list(branch.layers)[1:] if isinstance(_first(branch), Trees) else list(branch.layers)
    return all(type(layer) in (Ramps, Linear, Kinks) for layer in rest)


def _members(branches: Sequence[Branch]) -> list[Members]:
    """Branches of one shape together, each after a layer of trees by itself."""
    groups: dict[str, list[int]] = {}
    before, sums = 0, dict[int, list[int]]()
    for k, branch in enumerate(branches):
        first = _first(branch)
        if isinstance(first, Trees):
            sums[k] = list(range(before, before + first.outputs))
            before += first.outputs
        shape = [(type(x).__name__, x.describe()) for x in branch.layers if isinstance(x, (Ramps, Linear, Kinks))]
        groups.setdefault(repr((branch.columns, shape, sums.get(k))), []).append(k)
    out = []
    for group in groups.values():
        own = [list(branches[k].layers)[int(group[0] in sums) :] for k in group]
        layers = tuple(_together(layers) for layers in zip(*own, strict=True))
        out.append(Members(tuple(group), sums.get(group[0], branches[group[0]].columns), group[0] in sums, layers))
    return out


def _together(layers: Sequence[object]) -> Numbers:
    """Layers of one shape as a function of arrays."""
    first = layers[0]
    if isinstance(first, Ramps):
        own = [layer for layer in layers if isinstance(layer, Ramps)]
        start, rate = (np.stack([getattr(layer, name).numpy() for layer in own])[:, None] for name in ("start", "rate"))
        return lambda y, _: np.minimum(np.maximum((y[..., first.source] - start) * rate, 0.0), 1.0)
    if isinstance(first, Linear):
        every = [layer for layer in layers if isinstance(layer, Linear)]
        weight = np.stack([layer.weight.detach().numpy().T for layer in every])
        bias = np.stack([layer.bias.detach().numpy() for layer in every])[:, None]
        return lambda y, base: np.matmul(_beside(y, base) if first.base else y, weight) + bias
    assert isinstance(first, Kinks)
    convex = np.arange(first.outputs) < first.convex
    return lambda y, _: np.where(convex, np.maximum(y, 0.0), np.minimum(y, 0.0))


def _beside(y: np.ndarray, base: np.ndarray) -> np.ndarray:
    return np.concatenate([y, np.broadcast_to(base, (len(y), *base.shape[1:]))], axis=-1)
