"""What several layers hold, side by side, kept from one prediction to the next.

    weights of G layers   [G, n, i], in memory [i, G, n]: the order in which sums read them
    trees of G layers     one layer with all outputs, walked at once

A weight can be changed behind a module's back, and a certificate is about what is stored: so what is kept is compared
with the layers, bit by bit, at every use. That takes microseconds where putting it together takes half a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from smilenn.model.encoders.layers import Linear
from smilenn.model.encoders.trees import Trees

WORDS = {8: torch.int64, 4: torch.int32, 2: torch.int16}  # as which numbers of so many bytes are compared
# by the first of the layers: copies of their tensors, and what was made of them; beside the modules, which stay as
# they were certified
_KEPT: WeakKeyDictionary[nn.Module, tuple[list[torch.Tensor], Any]] = WeakKeyDictionary()


def weights_of(layers: Sequence[Linear]) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights [G, n, i] and biases [G, n] of layers of one shape."""
    own = [tensor.detach() for layer in layers for tensor in (layer.weight, layer.bias)]
    found = _kept(layers[0], own)
    if found is None:
        weight = torch.stack(own[::2]).movedim(-1, 0).contiguous().movedim(0, -1)
        found = _keep(layers[0], own, (weight, torch.stack(own[1::2])))
    return found


def joined(layers: Sequence[Trees]) -> Trees:
    """One layer with the outputs of layers that read the same inputs, one after the other."""
    own = [tensor for layer in layers for tensor in (layer.split, layer.number, layer.bias)]
    found = _kept(layers[0], own)
    if found is None:
        trees, sets = ([entry for layer in layers for entry in getattr(layer, name)] for name in ("trees", "sets"))
        found = Trees(layers[0].inputs, trees, sum(layer.nodes for layer in layers), sets).eval()
        found.split, found.number, found.bias = (
            torch.cat(_questions(layers)),
            torch.cat(own[1::3]),
            torch.cat(own[2::3]),
        )
        _keep(layers[0], own, found)
    return found


def _questions(layers: Sequence[Trees]) -> list[torch.Tensor]:
    """What the nodes of every layer ask for, where the sets of all layers are counted one after the other."""
    out, before = [], 0
    for layer in layers:
        out.append(torch.where(layer.split >= layer.inputs, layer.split + before, layer.split))
        before += len(layer.sets)
    return out


def _kept(layer: nn.Module, own: Sequence[torch.Tensor]) -> Any:
    """What was made of these tensors, if they are still the same, bit by bit; else None."""
    copies, made = _KEPT.get(layer, ([], None))
    same = len(copies) == len(own) and all(map(_same, copies, own))
    return made if same else None


def _keep(layer: nn.Module, own: Sequence[torch.Tensor], made: Any) -> Any:
    """Remember what was made of these tensors."""
    _KEPT[layer] = ([tensor.clone() for tensor in own], made)
    return made


def _same(copy: torch.Tensor, now: torch.Tensor) -> bool:
    alike = copy.shape == now.shape and copy.dtype == now.dtype and copy.device == now.device
    return alike and torch.equal(copy.view(WORDS[copy.element_size()]), now.view(WORDS[now.element_size()]))
