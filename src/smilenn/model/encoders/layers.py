"""The layers of encoders whose effect on two inputs is known: what differs before and by how much, what differs after.

A layer is a function of y [B, i] to [B, j], float64. `propagate` carries a `Spread` through it: the range of each
coordinate and, for two inputs, the range of its difference Δ = y' − y'' and whether it certainly *rises* (Δ ≥ 0) or
*falls* (Δ ≤ 0), bit for bit. All sums of deployed layers run in one order (`ordered`), so equal inputs give equal bits
and monotone sums stay monotone in floats; training uses matrix products.

    Ramps      r_k = clip((y_i − a_k)·s_k, 0, 1), s_k > 0        Δr ∈ hull(0, s·Δy) ∩ [−1, 1]
    Linear     W y + b, or W [y, base] + b                       Δ ∈ Σ W·Δ, rises if every term does
    Kinks      relu(y) for the first units, −relu(−y) after      Δ ∈ hull(0, Δ)
    Pool       means of squares of pixels                        Δ ∈ mean of Δ
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.profile import in_order
from smilenn.model.spread import WIDER, Spread


class Layer(nn.Module, ABC):
    """A layer of an encoder; `outputs` is the number of coordinates it returns."""

    outputs: int

    def ordered(self, y: torch.Tensor) -> torch.Tensor:
        """The deployed function, [B, i] → [B, outputs]: the same bits for a row whatever its batch."""
        return self(y)

    @abstractmethod
    def propagate(self, spread: Spread) -> Spread:
        """What is known of the outputs."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """JSON-ready, enough to rebuild the layer with fresh weights."""

    def project_(self) -> None:
        """Restore sign constraints after an optimiser step."""


def columns_of(y: torch.Tensor, columns: list[int]) -> torch.Tensor:
    """Columns of y [B, i]; all of them in their order are y itself, since an index is brought to a GPU each time."""
    return y if columns == list(range(y.shape[1])) else y[:, columns]


class Ramps(Layer):
    """Clamped ramps: coordinate k rises from 0 to 1 while input `source[k]` goes from `start[k]` on, at rate `rate[k]`.

    Many ramps between quantiles of a feature let the next layer give it any piecewise-linear shape.
    """

    start: torch.Tensor
    rate: torch.Tensor

    def __init__(self, source: list[int], start: np.ndarray | None = None, rate: np.ndarray | None = None) -> None:
        super().__init__()
        self.source, self.outputs = list(source), len(source)
        zeros = np.zeros(self.outputs)
        self.register_buffer("start", torch.tensor(zeros if start is None else start, dtype=torch.float64))
        self.register_buffer("rate", torch.tensor(zeros + 1 if rate is None else rate, dtype=torch.float64))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, k]; subtract, multiply, clip: each step is non-decreasing in floats too."""
        # few new tensors: of many rows their memory takes longer than their numbers
        r = (columns_of(y, self.source) - self.start.to(y.dtype)).mul_(self.rate.to(y.dtype))
        return torch.minimum(torch.maximum(r, r.new_zeros(())), r.new_ones(()))

    def propagate(self, spread: Spread) -> Spread:
        """Δ is at most rate·Δ and at most 1."""
        s, start, rate = spread.at(self.source), self.start.cpu().numpy(), self.rate.cpu().numpy()
        lo, hi = (np.clip((v - start) * rate, 0.0, 1.0) for v in (s.lo, s.hi))
        known = s.axes is not None and len(set(self.source)) == len(self.source)
        return Spread(lo, hi, s.low * rate, s.high * rate, s.rises, s.falls, s.axes * rate if known else None).settled()

    def describe(self) -> dict[str, Any]:
        """Kind and inputs; positions and rates are tensors."""
        return {"kind": "ramps", "source": self.source}


class Linear(Layer):
    """W y + b. `base` > 0: the outputs of the branch's first layer, so many, are appended to y.

    `signs` [j, i] in {−1, 0, 1} asks for weights of that sign; 0 is free.
    """

    signs: torch.Tensor

    def __init__(self, inputs: int, outputs: int, *, base: int = 0, signs: np.ndarray | None = None) -> None:
        super().__init__()
        self.inputs, self.outputs, self.base = inputs, outputs, base
        width = inputs + base
        self.weight = nn.Parameter(torch.empty(outputs, width, dtype=torch.float64))
        self.bias = nn.Parameter(torch.zeros(outputs, dtype=torch.float64))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        wanted = torch.zeros(outputs, width, dtype=torch.float64)  # by torch: a layer may be built for its shapes alone
        if signs is not None:
            wanted = torch.tensor(np.broadcast_to(signs, (outputs, width)).copy(), dtype=torch.float64)
        self.register_buffer("signs", wanted, persistent=False)
        if signs is None:
            return  # a comparison on the meta device would import torch's compiler, two seconds for every process
        with torch.no_grad():
            self.weight.copy_(torch.where(self.signs == 0, self.weight, self.weight.abs() * self.signs))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, j]."""
        return y @ self.weight.T + self.bias

    def ordered(self, y: torch.Tensor) -> torch.Tensor:
        """((b + w_1 y_1) + w_2 y_2) + …"""
        return in_order(self.bias, [(y, self.weight)])

    def propagate(self, spread: Spread) -> Spread:
        """Interval arithmetic on values and differences."""
        weight, bias = self.weight.detach().cpu().numpy(), self.bias.detach().cpu().numpy()
        up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
        lo, hi = up @ spread.lo + down @ spread.hi + bias, up @ spread.hi + down @ spread.lo + bias
        room = WIDER * (np.abs(weight) @ np.maximum(np.abs(spread.lo), np.abs(spread.hi)) + np.abs(bias))
        low, high = up @ spread.low + down @ spread.high, up @ spread.high + down @ spread.low
        rises = np.all(((weight <= 0) | spread.rises) & ((weight >= 0) | spread.falls), axis=1)
        falls = np.all(((weight <= 0) | spread.falls) & ((weight >= 0) | spread.rises), axis=1)
        return Spread(lo - room, hi + room, low - 2 * room, high + 2 * room, rises, falls).settled()

    @torch.no_grad()
    def project_(self) -> None:
        """Weights of the wrong sign become zero."""
        self.weight.copy_(torch.where(self.weight * self.signs < 0, torch.zeros_like(self.weight), self.weight))

    def describe(self) -> dict[str, Any]:
        """Kind and sizes; which signs were asked for plays no part once the weights are there."""
        return {"kind": "linear", "inputs": self.inputs, "outputs": self.outputs, "base": self.base}


class Kinks(Layer):
    """relu(y) for the first `convex` units, −relu(−y) = min(y, 0) for the others: both non-decreasing."""

    def __init__(self, size: int, convex: int) -> None:
        super().__init__()
        if not 0 <= convex <= size:
            raise SmileError(f"A layer of {size} units cannot have {convex} convex ones.")
        self.outputs, self.convex = size, convex

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, i]."""
        zero = torch.zeros((), dtype=y.dtype, device=y.device)
        return torch.cat([torch.maximum(y[:, : self.convex], zero), torch.minimum(y[:, self.convex :], zero)], dim=1)

    def propagate(self, spread: Spread) -> Spread:
        """Differences only shrink."""
        convex = np.arange(self.outputs) < self.convex
        lo, hi = (np.where(convex, np.maximum(v, 0.0), np.minimum(v, 0.0)) for v in (spread.lo, spread.hi))
        return Spread(lo, hi, spread.low, spread.high, spread.rises, spread.falls, spread.axes).settled()

    def describe(self) -> dict[str, Any]:
        """Kind and sizes."""
        return {"kind": "kinks", "size": self.outputs, "convex": self.convex}


class Pool(Layer):
    """Means of block × block pixels of a square image [side, side], side a multiple of block; 1-Lipschitz in l∞."""

    def __init__(self, side: int, block: int) -> None:
        super().__init__()
        if side % block or block < 1:
            raise SmileError(f"Blocks of {block} do not divide an image of side {side}; choose a divisor.")
        self.side, self.block, self.outputs = side, block, (side // block) ** 2

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, side²] → [B, (side/block)²]."""
        n, b = self.side // self.block, self.block
        parts = y.reshape(-1, n, b, n, b)
        total = torch.zeros_like(parts[:, :, 0, :, 0])
        for r in range(b):
            for c in range(b):
                total = total + parts[:, :, r, :, c]
        return (total / (b * b)).reshape(-1, self.outputs)

    def propagate(self, spread: Spread) -> Spread:
        """Means of ranges and differences."""

        def mean(values: np.ndarray) -> np.ndarray:
            n, b = self.side // self.block, self.block
            return values.reshape(n, b, n, b).mean(axis=(1, 3)).ravel()

        def every(values: np.ndarray) -> np.ndarray:
            n, b = self.side // self.block, self.block
            return values.reshape(n, b, n, b).all(axis=(1, 3)).ravel()

        room = WIDER * mean(np.maximum(np.abs(spread.lo), np.abs(spread.hi)))
        return Spread(
            mean(spread.lo) - room,
            mean(spread.hi) + room,
            mean(spread.low) - 2 * room,
            mean(spread.high) + 2 * room,
            every(spread.rises),
            every(spread.falls),
        ).settled()

    def describe(self) -> dict[str, Any]:
        """Kind and sizes."""
        return {"kind": "pool", "side": self.side, "block": self.block}
