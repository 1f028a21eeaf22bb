"""Which network a measured quality is of: a digest of all of it, the backbone included.

    digest = SHA-256 of the backbone's description and of every tensor as it is stored, by name, type and shape

A certificate leaves the backbone out, since it holds for any. A quality does not: it was measured on one. So it names
the network by this digest, which is the same in memory and in the folder's files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from smilenn.model.net import SmileNet


def whole_digest(net: SmileNet) -> str:
    """The digest of a network in memory, its head in the user's output units as files have it."""
    import torch

    from smilenn.model.backbones import describe

    state = net.state_dict()  # a module of the user's own may keep what is no tensor, which no folder stores
    tensors = {name: value.detach().cpu() for name, value in state.items() if isinstance(value, torch.Tensor)}
    scale = net.output_scale.detach().cpu()
    tensors |= {"head_weight": tensors["head_weight"] * scale[:, None], "head_bias": tensors["head_bias"] * scale}
    return stored_digest(describe(net.backbone), tensors)


def stored_digest(backbone: Any, tensors: Mapping[str, torch.Tensor]) -> str:
    """The digest of a network by its backbone's description in model.json and its tensors as they are stored."""
    import torch

    hasher = hashlib.sha256(json.dumps(backbone, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        hasher.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        hasher.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return hasher.hexdigest()
