"""The trees of several layers as one layer with all outputs, walked at once and kept from one prediction to the next.

A weight can be changed behind a module's back, and a certificate is about what is stored: so what is kept is compared
with the layers, bit by bit, at every use. That takes microseconds where putting it together takes half a millisecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from weakref import WeakKeyDictionary

import torch
from torch import nn

from smilenn.model.encoders.trees import Trees

WORDS = {8: torch.int64, 4: torch.int32, 2: torch.int16}  # as which numbers of so many bytes are compared
Built = tuple[int, int, list[int], list[list[int]]]  # inputs, nodes, trees, sets
# by the first of the layers: copies of their tensors, and what was made of them; beside the modules, which stay as
# they were certified
_KEPT: WeakKeyDictionary[nn.Module, tuple[list[torch.Tensor], list[Built], Trees]] = WeakKeyDictionary()


def joined(layers: Sequence[Trees]) -> Trees:
    """One layer with the outputs of layers that read the same inputs, one after the other."""
    own = [tensor for layer in layers for tensor in (layer.split, layer.number, layer.bias)]
    built = [(layer.inputs, layer.nodes, layer.trees, layer.sets) for layer in layers]
    found = _kept(layers[0], own, built)
    if found is None:
        found = _joined(layers, own)
        _KEPT[layers[0]] = [tensor.clone() for tensor in own], deepcopy(built), found
    return found


def _joined(layers: Sequence[Trees], own: list[torch.Tensor]) -> Trees:
    trees, sets = ([entry for layer in layers for entry in getattr(layer, name)] for name in ("trees", "sets"))
    found = Trees(layers[0].inputs, trees, sum(layer.nodes for layer in layers), sets).eval()
    found.split, found.number, found.bias = torch.cat(_questions(layers)), torch.cat(own[1::3]), torch.cat(own[2::3])
    return found


def _questions(layers: Sequence[Trees]) -> list[torch.Tensor]:
    """What the nodes of every layer ask for, where the sets of all layers are counted one after the other."""
    out, before = [], 0
    for layer in layers:
        out.append(torch.where(layer.split >= layer.inputs, layer.split + before, layer.split))
        before += len(layer.sets)
    return out


def _kept(layer: nn.Module, own: Sequence[torch.Tensor], built: list[Built]) -> Trees | None:
    """What was made of the layers, if they are built as they were and hold the same numbers, bit by bit; else None."""
    copies, before, made = _KEPT.get(layer, ([], [], None))
    same = len(copies) == len(own) and before == built and all(map(_same, copies, own))
    return made if same else None


def _same(copy: torch.Tensor, now: torch.Tensor) -> bool:
    alike = copy.shape == now.shape and copy.dtype == now.dtype and copy.device == now.device
    return alike and torch.equal(copy.view(WORDS[copy.element_size()]), now.view(WORDS[now.element_size()]))
