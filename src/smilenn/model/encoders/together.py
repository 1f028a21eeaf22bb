"""Members of an ensemble that have the same shape, computed at once: the same operations, fewer calls.

    y_g = columns of u,   layer by layer:  ramps, sums in one order, kinks,   g = 1 … G side by side
    trees of members      as one layer of trees

Every number is computed by the operations that the branch alone would use, in their order, so its bits are the same.
What differs is how many numbers an operation is called for: of few rows, calls are what a prediction costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import nn

from smilenn.model.encoders.joined import joined
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Ramps
from smilenn.model.encoders.many_rows import side_by_side
from smilenn.model.encoders.trees import Trees
from smilenn.model.profile import in_order

if TYPE_CHECKING:
    from smilenn.model.encoders.encoder import Branch

Shape = tuple[tuple[object, ...], ...]
# what layers of one kind must share to be computed at once
SHARED: dict[type[nn.Module], tuple[str, ...]] = {
    Ramps: ("source",),
    Linear: ("inputs", "outputs", "base"),
    Kinks: ("outputs", "convex"),
    Trees: ("inputs",),
}
MANY_ROWS = 512  # from which on it pays to go through members tile by tile
MOST_ROWS = 256  # of more rows the members' numbers would not fit into the processor's cache side by side


def deployed(branches: Sequence[Branch], u: torch.Tensor) -> list[torch.Tensor]:
    """What every branch returns for u [B, m], [B, outputs] each, none of them in training."""
    found: dict[int, torch.Tensor] = {}
    for group in [] if torch.is_grad_enabled() else groups(branches):
        outputs = _at_once([branches[k] for k in group], u) if len(group) > 1 else None
        if outputs is not None:
            found |= zip(group, outputs, strict=True)
    return [found[k] if k in found else branch(u) for k, branch in enumerate(branches)]


def _at_once(branches: Sequence[Branch], u: torch.Tensor) -> list[torch.Tensor] | None:
    """The outputs of branches of one shape; None where each by itself is as quick, or must be traced."""
    if len(u) <= MOST_ROWS:
        return _together(branches, u)
    many = len(u) >= MANY_ROWS and u.device.type == "cpu" and not torch.compiler.is_compiling()
    return side_by_side(branches, u) if many else None


def groups(branches: Sequence[Branch]) -> list[list[int]]:
    """Places of branches of one shape."""
    groups: dict[Shape, list[int]] = {}
    for k, branch in enumerate(branches):
        shape = _shape(branch)
        if shape is not None:
            groups.setdefault(shape, []).append(k)
    return list(groups.values())


def _shape(branch: Branch) -> Shape | None:
    """What branches must share; None for one with other layers, or with functions of its own around them."""
    from smilenn.model.encoders.encoder import Branch

    if type(branch) is not Branch:
        return None
    out: list[tuple[object, ...]] = []
    for layer in branch.layers:
        if type(layer) not in SHARED or not _plain(layer) or layer.training:
            return None
        out.append((type(layer), *(_hashable(getattr(layer, name)) for name in SHARED[type(layer)])))
    several_trees = len(out) > 1 and any(kind is Trees for kind, *_ in out)
    if not out or several_trees or not _plain(branch) or branch.training:
        return None
    return (tuple(branch.columns), *out)


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _plain(module: nn.Module) -> bool:
    """Whether calling the module is calling its class's own function."""
    own = module.__dict__
    hooked = own["_forward_hooks"] or own["_forward_pre_hooks"]
    return not hooked and "forward" not in own and "ordered" not in own


def _together(branches: Sequence[Branch], u: torch.Tensor) -> list[torch.Tensor]:
    """The outputs [B, outputs] of branches of one shape."""
    y = u[:, branches[0].columns]  # [B, i], the same for all, until a layer makes it [G, B, i]
    if isinstance(branches[0].layers[0], Trees):
        return _trees([layer for branch in branches for layer in branch.layers if isinstance(layer, Trees)], y)
    base = None
    for number in range(len(branches[0].layers)):
        layers = [branch.layers[number] for branch in branches]
        first = layers[0]
        if isinstance(first, Linear):
            y = _sums([layer for layer in layers if isinstance(layer, Linear)], y, base)
        elif isinstance(first, Ramps):
            y = _ramps([layer for layer in layers if isinstance(layer, Ramps)], y)
        else:
            assert isinstance(first, Layer)
            y = _kinks(first, y)
        base = y if base is None else base
    return list(y.unbind()) if y.dim() == 3 else [y] * len(branches)


def _sums(layers: Sequence[Linear], y: torch.Tensor, base: torch.Tensor | None) -> torch.Tensor:
    if layers[0].base:
        assert base is not None
        y = torch.cat([y, base], dim=-1)
    wide = y if y.dim() == 3 else y.expand(len(layers), *y.shape)
    weight, bias = torch.stack([layer.weight for layer in layers]), torch.stack([layer.bias for layer in layers])
    return in_order(bias, [(wide, weight)])


def _trees(layers: Sequence[Trees], y: torch.Tensor) -> list[torch.Tensor]:
    return list(joined(layers).ordered(y).split([layer.outputs for layer in layers], dim=1))


def _ramps(layers: Sequence[Ramps], y: torch.Tensor) -> torch.Tensor:
    start, rate = (torch.stack([getattr(layer, name) for layer in layers])[:, None] for name in ("start", "rate"))
    r = (y[..., layers[0].source] - start) * rate
    return torch.minimum(torch.maximum(r, torch.zeros_like(r)), torch.ones_like(r))


def _kinks(layer: Layer, y: torch.Tensor) -> torch.Tensor:
    if y.dim() == 2:
        return layer(y)
    return layer(y.reshape(-1, y.shape[-1])).reshape(y.shape)
