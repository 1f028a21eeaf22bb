"""One backward CROWN pass: a linear lower bound of s·f over a box, carried from the output to the input.

    s·f(x) ≥ A·z + c  at layer after layer, backwards;  a ReLU with pre-activation bounds [l, u], l < 0 < u, obeys
        relu(z) ≥ α z,                   α = 1 if u > −l else 0          used where A ≥ 0
        relu(z) ≤ u (z − l)/(u − l)                                       used where A < 0
    at the input   min over [x_l, x_u]  of  A·x + c  =  A⁺·x_l + A⁻·x_u + c

The pre-activation bounds come from `interval`: IBP forward, CROWN backward. Sound in real arithmetic; floats are
rounded to nearest, no allowance is added.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

from smilenn.baselines.interval import Box

TINY = 1e-12  # a ReLU whose pre-activation is 0 up to this is treated as off


def crown(layers: Sequence[nn.Module], boxes: Sequence[Box], sign: torch.Tensor) -> torch.Tensor:
    """Lower bounds of sign·f over the input boxes, [B].

    `boxes` are those of `interval`, the input's first; `sign` is [B], +1 or −1, of one output, or a form [B, o] of
    several.
    """
    return crown_forms(layers, boxes, sign.reshape(len(sign), 1, -1))[:, 0]


def crown_forms(layers: Sequence[nn.Module], boxes: Sequence[Box], forms: torch.Tensor) -> torch.Tensor:
    """Lower bounds of k forms [B, k, o] of the outputs over the input boxes, [B, k], all in one pass."""
    a = forms.to(boxes[-1][0])
    constant = torch.zeros_like(a[:, :, 0])
    for layer, (lower, upper) in zip(reversed(layers), reversed(boxes[:-1]), strict=True):
        if isinstance(layer, nn.ReLU):
            a, extra = _relu(a, lower[:, None], upper[:, None])
        else:
            a, extra = _affine(layer, a, lower)
        constant = constant + extra
    lower, upper = boxes[0]
    return constant + _least(a.flatten(2), lower.flatten(1), upper.flatten(1))


def _least(a: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    """min a·x over the box, [B, k]: two products of matrices instead of sums over a's signs; a [B, k, m]."""
    centre, radius = (lower + upper) / 2, (upper - lower) / 2
    return (a @ centre[:, :, None] - a.abs() @ radius[:, :, None])[:, :, 0]


def _relu(a: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A·relu(z) ≥ A'·z + extra; a [B, k, …], lower and upper [B, 1, …]."""
    up, low = upper.clamp(min=0), lower.clamp(max=0)
    slope = up / (up - low).clamp(min=TINY)  # 1 if always on, 0 if always off
    alpha = ((upper > -lower) & (upper > 0)).to(a.dtype)
    positive = F.relu(a)  # its gradient is computed faster than that of a clamp
    extra = (positive - a).flatten(2) @ (slope * low).flatten(1)[:, :, None]
    return torch.addcmul(a * slope, positive, alpha - slope), extra[:, :, 0]


def _affine(layer: nn.Module, a: torch.Tensor, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A·layer(z) = A'·z + extra; a [B, k, …], `inputs` [B, …] has the layer's input shape."""
    nothing = a.new_zeros(a.shape[:2])
    if isinstance(layer, nn.Linear):
        return a @ layer.weight, nothing if layer.bias is None else a @ layer.bias
    if isinstance(layer, nn.Conv2d):
        back = _transposed(layer, a.flatten(0, 1), inputs.shape[-2:]).unflatten(0, a.shape[:2])
        return back, nothing if layer.bias is None else (a.sum(dim=(3, 4)) @ layer.bias)
    if isinstance(layer, nn.ZeroPad2d):
        left, right, top, bottom = layer.padding
        return a[..., top : a.shape[-2] - bottom, left : a.shape[-1] - right], nothing
    return a.reshape(*a.shape[:2], *inputs.shape[1:]), nothing  # Flatten, Unflatten


def _transposed(layer: nn.Conv2d, a: torch.Tensor, size: torch.Size) -> torch.Tensor:
    """The adjoint of a convolution, with the input's size restored: rows the stride never reached get 0."""
    whole = F.conv_transpose2d(a, layer.weight, None, layer.stride, layer.padding, dilation=layer.dilation)  # type: ignore[arg-type]
    return F.pad(whole, (0, size[1] - whole.shape[-1], 0, size[0] - whole.shape[-2]))
