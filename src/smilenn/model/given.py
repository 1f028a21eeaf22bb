"""A ReLU network that somebody else trained, as parts of a guard that a model folder can hold.

    Given    f(x) = W_L·a_{L−1} + b_L,  a_l = relu(W_l·a_{l−1} + b_l),  a_0 = scaling(x)
    Middle   c(x) = ½·(max_v f(x with protected values v) + min_v f(…)),  from the other columns alone

Both are computed in float64 by operations that IEEE 754 rounds element by element, every sum in index order: the value
at a row is one expression of that row, whatever the batch, the place or the threads (docs/encoders.md). Inputs are
first rounded to the network's own type, as it would read them. Weights are buffers: nothing trains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError, listed
from smilenn.model.encoders.rowwise import RowByRow
from smilenn.model.profile import in_order

LAYERS = 1024  # also of the scaling: a description asks for as many as it likes
KINDS = {"float32": torch.float32, "float64": torch.float64}
STEPS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
}


class Given(nn.Module):
    """The network on raw inputs [B, m]; `set_` gives it its numbers.

    Parameters
    ----------
    sizes : inputs, hidden units of every layer, outputs.
    kind : the type that the network reads its inputs in, ``float32`` or ``float64``.
    steps : kinds of the scaling's steps, in their order.
    """

    def __init__(self, sizes: Sequence[int], kind: str, steps: Sequence[str] = ()) -> None:
        super().__init__()
        if kind not in KINDS or not set(steps) <= set(STEPS):
            raise SmileError(f"A network of the type {kind!r} with the steps {listed(steps)}; both must be known.")
        if not (2 <= len(sizes) <= LAYERS and len(steps) <= LAYERS and min(sizes) > 0):
            raise SmileError(f"A given network has up to {LAYERS} layers of one unit or more, not {listed(sizes)}.")
        self.description = {"kind": "given", "sizes": list(sizes), "type": kind, "steps": list(steps)}
        for at in range(len(steps)):
            self.register_buffer(f"step{at}", torch.zeros(sizes[0], dtype=torch.float64))
        for at, (inputs, outputs) in enumerate(pairwise(sizes)):
            self.register_buffer(f"weight{at}", torch.zeros(outputs, inputs, dtype=torch.float64))
            self.register_buffer(f"bias{at}", torch.zeros(outputs, dtype=torch.float64))

    @property
    def layers(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Weights [n, i] and biases [n] of every layer."""
        count = len(self.description["sizes"]) - 1
        return [(getattr(self, f"weight{at}"), getattr(self, f"bias{at}")) for at in range(count)]

    @property
    def scaling(self) -> list[tuple[str, torch.Tensor]]:
        """The scaling's steps with their constants [m]."""
        return [(step, getattr(self, f"step{at}")) for at, step in enumerate(self.description["steps"])]

    @torch.no_grad()
    def set_(
        self, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], constants: Sequence[np.ndarray]
    ) -> Given:
        """Take the numbers of a network of these sizes."""
        every = [(layer, pair) for layer, pair in zip(self.layers, zip(weights, biases, strict=True), strict=True)]
        places = [place for layer, _ in every for place in layer] + [place for _, place in self.scaling]
        values = [value for _, pair in every for value in pair] + list(constants)
        for place, value in zip(places, values, strict=True):
            place.copy_(torch.tensor(np.asarray(value, dtype=np.float64)))
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, o], float64."""
        a = x.to(KINDS[self.description["type"]]).to(torch.float64) + 0.0
        for step, constants in self.scaling:
            a = STEPS[step](a, constants)
        *hidden, (weight, bias) = self.layers
        for w, b in hidden:
            a = torch.relu(in_order(b, [(a, w)])) + 0.0  # the larger of 0 and −0 may be either
        return in_order(bias, [(a, weight)]) + 0.0

    @torch.no_grad()
    def reach(self, lo: np.ndarray, hi: np.ndarray) -> float:
        """A bound on the size of every output over the box [lo, hi], by intervals; generous to rounding."""
        low, high = torch.tensor(lo), torch.tensor(hi)
        for step, constants in self.scaling:
            ends = torch.stack([STEPS[step](end, constants) for end in (low, high)])
            low, high = ends.amin(dim=0), ends.amax(dim=0)
        for at, (w, b) in enumerate(self.layers):
            up, down = w.clamp(min=0.0), w.clamp(max=0.0)
            low, high = low if at == 0 else low.relu(), high if at == 0 else high.relu()
            low, high = up @ low + down @ high + b, up @ high + down @ low + b
        return float(torch.maximum(low.abs(), high.abs()).max()) * (1 + 2.0**-10) + 1.0


class Middle(RowByRow):
    """c(x) of a given network from the unprotected columns [B, i].

    Parameters
    ----------
    network : `Given` on m inputs.
    protected : which inputs are protected.
    count : how many combinations of protected values there are; `values` [count, protected] holds them.
    """

    values: torch.Tensor

    def __init__(self, network: Given, protected: Sequence[int], count: int) -> None:
        super().__init__()
        size = network.description["sizes"][0]
        self.network, self.kept = network, [i for i in range(size) if i not in protected]
        if not (self.kept and protected and count > 0 and len(self.kept) + len(protected) == size):
            raise SmileError(f"{listed(protected)} are not some of the {size} inputs of the given network.")
        self.description = {
            "kind": "middle",
            "network": network.description,
            "protected": list(protected),
            "count": count,
        }
        self.register_buffer("values", torch.zeros(count, len(protected), dtype=torch.float64))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, o]."""
        every = self.answers(y)
        least = most = next(every)
        for found in every:
            least, most = torch.minimum(least, found), torch.maximum(most, found)
        return (least + most) / 2

    def answers(self, y: torch.Tensor) -> Iterator[torch.Tensor]:
        """What the network says of unprotected parts y [B, i] with each of the values, [B, o] one after the other."""
        size, protected = self.network.description["sizes"][0], self.description["protected"]
        if y.shape[1] != len(self.kept):
            raise SmileError(f"The given network has {len(self.kept)} unprotected inputs, not {y.shape[1]}.")
        for value in self.values:
            x = y.new_zeros((len(y), size), dtype=torch.float64)
            x[:, self.kept] = y.to(torch.float64)
            x[:, protected] = value
            yield self.network(x)


def rebuild_given(d: Mapping[str, Any]) -> Given:
    """A given network of zeros from its description."""
    return Given([int(size) for size in d["sizes"]], str(d["type"]), [str(step) for step in d["steps"]])


def rebuild_middle(d: Mapping[str, Any]) -> Middle:
    """The middle of a given network of zeros from its description."""
    return Middle(rebuild_given(d["network"]), [int(i) for i in d["protected"]], int(d["count"]))
