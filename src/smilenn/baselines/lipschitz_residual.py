"""A monotone network by a slope bound and a linear residual (after Kitouni, Nolte and Williams 2023).

    f(x) = g(x) + λ Σ_i s_i x_i,        |∂g/∂x_i| ≤ λ for all i        s_i = 1 rising, −1 falling, 0 free
    g: layers of norm ≤ λ^(1/depth):  first  |W_ji| of every entry,  later  Σ_k |W_jk| of every row;  GroupSort between

The first norm makes g Lipschitz from l1 to l∞, the others from l∞ to l∞, and sorting pairs keeps l∞ distances: a step
in x_i changes g by at most λ times it, and the residual makes up for it. Entries and rows are only shrunk where they
exceed the bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

from smilenn.baselines.descent import Descent, output_units, task_loss
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.base import TaskName
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError


class BoundedLinear(nn.Linear):
    """A linear layer within `bound`: entry by entry in the first layer, in the sum of a row's sizes elsewhere."""

    def __init__(self, inputs: int, outputs: int, bound: float, *, first: bool) -> None:
        super().__init__(inputs, outputs)
        self.bound, self.first = bound, first

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """[B, inputs] → [B, outputs]."""
        size = self.weight.abs() if self.first else self.weight.abs().sum(dim=1, keepdim=True)
        return F.linear(input, self.weight / (size / self.bound).clamp(min=1.0), self.bias)


class SortPairs(nn.Module):
    """GroupSort with groups of two: each pair of units becomes (smaller, larger)."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """[B, k], k even → [B, k]."""
        return z.unflatten(1, (-1, 2)).sort(dim=2).values.flatten(1)


class LipschitzResidual(nn.Module):
    """g plus the residual; `signs` of −1, 0, 1 per input, `slope` is λ, `sizes` even widths of the hidden layers."""

    signs: torch.Tensor

    def __init__(self, signs: Sequence[int], sizes: Sequence[int], slope: float) -> None:
        super().__init__()
        if not slope > 0:
            raise SmileError(f"The slope bound must be more than 0, not {slope}.")
        if any(size % 2 for size in sizes):
            raise SmileError(f"Units are sorted in pairs: give even sizes, not {list(sizes)}.")
        bound = slope ** (1.0 / (len(sizes) + 1))
        layers: list[nn.Module] = []
        width = len(signs)
        for size in sizes:
            layers += [BoundedLinear(width, size, bound, first=not layers), SortPairs()]
            width = size
        self.inner = nn.Sequential(*layers, BoundedLinear(width, 1, bound, first=not layers))
        self.slope = slope
        self.register_buffer("signs", torch.tensor(list(signs), dtype=torch.float32), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, 1]."""
        return self.inner(x) + self.slope * (x @ self.signs)[:, None]


def fit_lipschitz_residual(
    data: Prepared,
    signs: Sequence[int],
    slope: float,
    *,
    sizes: Sequence[int] = (32, 32),
    task: TaskName = "regression",
    descent: Descent | None = None,
) -> ScaledModule:
    """Train; `slope` bounds the slope per model unit, in units of the target's spread (a logit: in itself)."""
    descent = Descent() if descent is None else descent
    descent.start()
    mean, scale = output_units(task, data.y)
    net = ScaledModule(data.domain, LipschitzResidual(signs, sizes, slope), mean=mean, scale=scale)
    loss = task_loss(net, task)
    return descent.run(net, data, loss, loss)
