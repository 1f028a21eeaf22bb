"""Interval bound propagation (IBP): a box in front of each layer, from the box of the inputs.

    affine   c' = W c + b,   r' = |W| r          c = (l + u)/2 centre, r = (u − l)/2 radius
    ReLU     l' = l⁺,  u' = u⁺

Sound in real arithmetic; floats are rounded to nearest, no allowance is added.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

Box = tuple[torch.Tensor, torch.Tensor]


def interval(layers: Sequence[nn.Module], lower: torch.Tensor, upper: torch.Tensor) -> list[Box]:
    """The box in front of every layer, and of the output last; lower and upper are [B, …]."""
    boxes: list[Box] = [(lower, upper)]
    for layer in layers:
        boxes.append(_through(layer, *boxes[-1]))
    return boxes


def _through(layer: nn.Module, lower: torch.Tensor, upper: torch.Tensor) -> Box:
    if isinstance(layer, nn.ReLU):
        return F.relu(lower), F.relu(upper)
    if not isinstance(layer, (nn.Linear, nn.Conv2d)):
        return layer(lower), layer(upper)  # moves entries about, or pads both with zeros
    centre, radius = (lower + upper) / 2, (upper - lower) / 2
    centre = layer(centre)
    if isinstance(layer, nn.Linear):
        radius = F.linear(radius, layer.weight.abs())
    else:
        radius = F.conv2d(radius, layer.weight.abs(), None, layer.stride, layer.padding, layer.dilation)  # type: ignore[arg-type]
    return centre - radius, centre + radius
