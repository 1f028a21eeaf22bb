"""Modules whose value at a row depends on that row alone: not on its neighbours, its place, the batch or the threads.

Two ways lead there.

    known    Sequences of the layers in `FORMULAS`, computed by operations that IEEE 754 rounds correctly element by
             element: +, −, ·, /, √, comparisons, powers of two. A sum runs over the columns in index order. Each number
             of the result is then one fixed expression of its row, whoever computes it, in whatever company.
    others   One row a call, always in a fresh tensor [1, i], by one thread. The module gets the same bytes for the same
             row, and we assume that it then returns the same bits.

Weights of float32 are taken as they are and computed with in float64, so the result is nearer to the real function
than the module's own. docs/encoders.md has the proof and what it assumes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.encoders.elementary import sigmoid, tanh
from smilenn.model.options import refuse_switched
from smilenn.model.profile import TILE, in_order

SEQUENCES: tuple[type[nn.Module], ...] = (nn.Sequential, MLP)


class RowByRow(nn.Module):
    """A module of [B, i] that itself asks for one row a call; whoever derives from it promises that.

    `foreign` is whether it asks a program of somebody else's, whose bits may depend on options of the process.
    """

    foreign = False


def layers(module: nn.Module) -> list[nn.Module] | None:
    """The layers of a module of [B, i] in order, if every one of them is known; else None.

    Types must be exactly those listed: a subclass, a hook or a parametrisation may compute something else.
    """
    found = _flat(module)
    if found is None:
        return None
    types = {parameter.dtype for parameter in module.parameters()}
    return found if len(types) <= 1 and types <= {torch.float32, torch.float64} else None


def _flat(module: nn.Module) -> list[nn.Module] | None:
    if module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module):
        return None
    if isinstance(module, nn.Sequential) and type(module) in SEQUENCES:
        found: list[nn.Module] = []
        for part in module:
            inner = _flat(part)
            if inner is None:
                return None
            found += inner
        return found
    ordinary = all(type(p) is nn.Parameter for p in module._parameters.values() if p is not None)
    return [module] if ordinary and _known(module) else None


def _known(layer: nn.Module) -> bool:
    """Whether there is a formula for the layer on rows [B, i], with the options it has."""
    if isinstance(layer, nn.Flatten) and layer.start_dim != 1:
        return False
    if isinstance(layer, nn.LayerNorm) and len(layer.normalized_shape) != 1:
        return False
    return type(layer) in FORMULAS


def evaluate(found: list[nn.Module], y: torch.Tensor) -> torch.Tensor:
    """Known layers at rows y [B, i], float64 → [B, j], float64; differentiable.

    Rows go through all layers in tiles that fit the cache. A module of float32 sees its inputs rounded to float32.
    """
    parameter = next((p for layer in found for p in layer.parameters()), None)
    y = y.to(torch.float64 if parameter is None else parameter.dtype).to(torch.float64) + 0.0
    widest = max((layer.out_features for layer in found if isinstance(layer, nn.Linear)), default=y.shape[1])
    parts = []
    for tile in y.split(max(1, TILE // max(1, widest))):
        for layer in found:
            tile = FORMULAS[type(layer)](layer, tile)
        parts.append(tile)
    return parts[0] if len(parts) == 1 else torch.cat([part.T for part in parts], dim=1).T


def one_by_one(module: nn.Module, y: torch.Tensor) -> torch.Tensor:
    """Any module at rows y [B, i] of its own type, one row a call → [B, j]; equal rows are asked for once.

    The caller sees to it that one thread computes. Values are computed without gradients, for which some modules take
    another way; where y asks for them, they are attached to the same values.
    """
    rows = y.detach() + 0.0  # −0 becomes 0: equal numbers are the same bytes
    first: dict[bytes, int] = {}
    found, places = [], []
    for k, key in enumerate(map(bytes, rows.cpu().contiguous().view(torch.uint8).numpy())):
        if key not in first:
            first[key] = len(found)
            found.append(_asked(module, rows[k : k + 1]))
            refuse_switched()  # after every call: another thread may switch an option, and switch it back
        places.append(first[key])
    value = torch.cat(found)[places]
    if torch.is_grad_enabled() and y.requires_grad:
        slope = module(y)
        value = value + torch.nan_to_num(slope - slope.detach())  # 0, also where the slope's own value is not a number
    return value


@torch.no_grad()
def _asked(module: nn.Module, row: torch.Tensor) -> torch.Tensor:
    """What a module says of one row [1, i], [1, j]; a copy, since a module may return the same place every time."""
    z = module(row.clone(memory_format=torch.contiguous_format))
    if z.dim() != 2 or len(z) != 1:
        raise SmileError(f"The pinned encoder returned shape {tuple(z.shape)} for one row; expected one row as well.")
    return z.clone()


# ---- the known layers -----------------------------------------------------------------------------------------------


def _refuse_other_width(layer: nn.Module, y: torch.Tensor, width: int) -> None:
    if y.shape[1] != width:  # a sum over columns would spread one weight over all of them
        raise SmileError(f"The pinned layer {layer} takes {width} inputs, not {y.shape[1]}; change one of the two.")


def _linear(layer: Any, y: torch.Tensor) -> torch.Tensor:
    _refuse_other_width(layer, y, layer.in_features)
    weight = layer.weight.to(torch.float64)
    bias = weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.to(torch.float64)
    return in_order(bias, [(y, weight)])


def _relu(layer: Any, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(y) + 0.0  # the larger of 0 and −0 may be either; their sum with 0 is 0


def _leaky_relu(layer: Any, y: torch.Tensor) -> torch.Tensor:
    return torch.where(y > 0, y, y * layer.negative_slope)


def _layer_norm(layer: Any, y: torch.Tensor) -> torch.Tensor:
    """d / √(mean d² + eps)·weight + bias, d = y − mean y; both sums in index order."""
    _refuse_other_width(layer, y, layer.normalized_shape[0])
    one = y.new_ones((1, y.shape[1]))
    d = y - in_order(y.new_zeros(1), [(y, one)]) / y.shape[1]
    scale = torch.sqrt(in_order(y.new_zeros(1), [(d * d, one)]) / y.shape[1] + layer.eps)
    out = d / scale
    if layer.weight is not None:
        out = out * layer.weight.to(torch.float64)
    return out if layer.bias is None else out + layer.bias.to(torch.float64)


FORMULAS: dict[type[nn.Module], Callable[[Any, torch.Tensor], torch.Tensor]] = {
    nn.Linear: _linear,
    nn.ReLU: _relu,
    nn.LeakyReLU: _leaky_relu,
    nn.Identity: lambda layer, y: y,
    nn.Flatten: lambda layer, y: y,
    nn.Tanh: lambda layer, y: tanh(y),
    nn.Sigmoid: lambda layer, y: sigmoid(y),
    nn.SiLU: lambda layer, y: y * sigmoid(y),
    nn.LayerNorm: _layer_norm,
}
