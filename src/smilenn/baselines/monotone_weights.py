"""A monotone network by the signs of its weights (after Runje and Shankaranarayana 2023).

    first layer   z = V x + b:   V_ji = |W_ji| if x_i must rise,  −|W_ji| if it must fall,  W_ji if it is free
    later layers  z = |W| y + b
    activation    a third of the units each:  relu(z),  −relu(−z),  and  clip(z, −1, 1)

All activations are non-decreasing and all later weights non-negative, so the output moves with every x_i as asked.
Convex units alone could only make convex functions; the three kinds together can make any monotone one.
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


class MonotoneLayer(nn.Linear):
    """A linear layer with the signs that `signs` [inputs] of −1, 0, 1 ask for."""

    signs: torch.Tensor

    def __init__(self, inputs: int, outputs: int, signs: Sequence[int]) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("signs", torch.tensor(list(signs), dtype=torch.float32), persistent=False)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """[B, inputs] → [B, outputs]."""
        weight = torch.where(self.signs == 0, self.weight, self.weight.abs() * self.signs)
        return F.linear(input, weight, self.bias)


class Split(nn.Module):
    """relu, −relu(−·) and a clip on a third of the units each."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """[B, k] → [B, k]."""
        convex, concave, bounded = z.tensor_split(3, dim=1)
        return torch.cat([convex.clamp(min=0), concave.clamp(max=0), bounded.clamp(-1, 1)], dim=1)


def monotone_net(signs: Sequence[int], sizes: Sequence[int]) -> nn.Sequential:
    """The module: hidden layers of `sizes`, one output."""
    if not set(signs) <= {-1, 0, 1}:
        raise SmileError(f"Signs are −1 (falling), 0 (free) or 1 (rising), not {sorted(set(signs) - {-1, 0, 1})}.")
    layers: list[nn.Module] = []
    inputs, width = list(signs), len(signs)
    for size in sizes:
        layers += [MonotoneLayer(width, size, inputs), Split()]
        inputs, width = [1] * size, size
    return nn.Sequential(*layers, MonotoneLayer(width, 1, inputs))


def fit_monotone_weights(
    data: Prepared,
    signs: Sequence[int],
    *,
    sizes: Sequence[int] = (32, 32),
    task: TaskName = "regression",
    descent: Descent | None = None,
) -> ScaledModule:
    """Train; `signs` holds −1, 0 or 1 per coordinate of the domain."""
    descent = Descent() if descent is None else descent
    descent.start()
    mean, scale = output_units(task, data.y)
    net = ScaledModule(data.domain, monotone_net(signs, sizes), mean=mean, scale=scale)
    loss = task_loss(net, task)
    return descent.run(net, data, loss, loss)
