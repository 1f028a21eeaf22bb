"""Symbolic bounds: every neuron lies between two affine functions of the input, on a box of inputs.

    L(x) = A x + a  ≤  z(x)  ≤  U(x) = C x + c            [min L, max L], [min U, max U] over the box
    affine           L' = W⁺L + W⁻U + b,   U' = W⁺U + W⁻L + b
    ReLU, always on  (min L ≥ 0)   both stay;      always off (max U ≤ 0)   both 0
    ReLU, undecided                U' = U if min U ≥ 0 else  max U·(U − min U)/(max U − min U)
                                   L' = 0 if max L ≤ 0 else  L·max L/(max L − min L)

U' is above relu(U) ≥ relu(z) because the line joins the ends of a convex function; L' is below relu(z) because
relu(z) ≥ α z ≥ α L for 0 ≤ α ≤ 1. Sound in real arithmetic; no allowance for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from smilenn.errors import SmileError

TINY = 1e-12


def symbolic(
    layers: Sequence[nn.Module], lower: torch.Tensor, upper: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Bounds of the outputs over the boxes [lower, upper], each [B, o]; lower and upper are [B, m]."""
    batch, size = lower.shape
    weight = torch.eye(size, dtype=lower.dtype, device=lower.device).expand(batch, size, size)
    low_weight = high_weight = weight
    low_bias = high_bias = lower.new_zeros(batch, size)
    box = lower, upper
    for layer in layers:
        if isinstance(layer, nn.Linear):
            w, b = layer.weight, 0.0 if layer.bias is None else layer.bias
            plus, minus = w.clamp(min=0), w.clamp(max=0)
            low_weight, high_weight = plus @ low_weight + minus @ high_weight, plus @ high_weight + minus @ low_weight
            low_bias, high_bias = (
                low_bias @ plus.T + high_bias @ minus.T + b,
                high_bias @ plus.T + low_bias @ minus.T + b,
            )
        elif isinstance(layer, nn.ReLU):
            least, most = _range(low_weight, low_bias, *box)
            alpha = torch.where(least >= 0, torch.ones_like(most), _share(most, least))
            low_weight, low_bias = alpha[..., None] * low_weight, alpha * low_bias
            least, most = _range(high_weight, high_bias, *box)
            slope = torch.where(least >= 0, torch.ones_like(most), _share(most, least))
            shift = torch.where(least >= 0, torch.zeros_like(least), least)
            high_weight, high_bias = slope[..., None] * high_weight, slope * (high_bias - shift)
        else:
            raise SmileError(f"Symbolic bounds know linear and ReLU layers, not {type(layer).__name__}.")
    return _range(low_weight, low_bias, *box)[0], _range(high_weight, high_bias, *box)[1]


def _range(
    weight: torch.Tensor, bias: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimum and maximum of W x + b over the box; weight [B, k, m], bias [B, k], lower and upper [B, m]."""
    plus, minus = weight.clamp(min=0), weight.clamp(max=0)
    lo, up = lower[..., None], upper[..., None]
    return (plus @ lo + minus @ up)[..., 0] + bias, (plus @ up + minus @ lo)[..., 0] + bias


def _share(most: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    """most⁺/(most − least) for least < 0: 0 where the function is never positive."""
    return most.clamp(min=0) / (most.clamp(min=0) - least.clamp(max=0)).clamp(min=TINY)
