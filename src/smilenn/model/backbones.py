"""Backbones h that can be rebuilt from a description: multilayer perceptrons and the paper's convolutional net.

Any other `nn.Module` from [B, m] to [B, n] serves as well, and so does a fitted estimator (fitted_backbone.py); a saved
model then needs it passed in again when loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from smilenn.errors import SmileError

LAYERS = 1024  # of a backbone that is rebuilt from a description: twenty thousand would take a minute


class MLP(nn.Sequential):
    """relu(sizes[0]) → … → linear(n) on [B, m]."""

    def __init__(self, inputs: int, sizes: Sequence[int], embedding: int) -> None:
        layers: list[nn.Module] = []
        width = inputs
        for size in sizes:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        super().__init__(*layers, nn.Linear(width, embedding))
        self.description = {"kind": "mlp", "inputs": inputs, "sizes": list(sizes), "embedding": embedding}


class ConvNet(nn.Module):
    """The paper's image net: 3×3 convolutions of stride 2 with ReLU and "same" padding → relu → linear(n).

    Input [B, side·side] grey values; each convolution maps side s to ⌈s/2⌉.
    """

    def __init__(self, side: int, channels: Sequence[int], hidden: int, embedding: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Unflatten(1, (1, side, side))]
        width, size = 1, side
        for channel in channels:
            # "same" padding for stride 2: the total is 2·(⌈s/2⌉ − 1) + 3 − s, the smaller half first
            total = max(0, 2 * (-(-size // 2) - 1) + 3 - size)
            before = total // 2
            layers += [
                nn.ZeroPad2d((before, total - before, before, total - before)),
                nn.Conv2d(width, channel, 3, stride=2),
                nn.ReLU(),
            ]
            width, size = channel, -(-size // 2)
        layers += [nn.Flatten(), nn.Linear(width * size * size, hidden), nn.ReLU(), nn.Linear(hidden, embedding)]
        self.layers = nn.Sequential(*layers)
        self.description = {
            "kind": "conv",
            "side": side,
            "channels": list(channels),
            "hidden": hidden,
            "embedding": embedding,
        }

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """[B, side²] → [B, n]."""
        return self.layers(u)


def describe(backbone: nn.Module) -> dict[str, Any]:
    """What `rebuild` needs, or ``{"kind": "custom", …}`` for a module of the user's own."""
    from smilenn.model.fitted_backbone import FittedBackbone
    from smilenn.model.given import Given, Middle

    if isinstance(backbone, (MLP, ConvNet, Given, Middle, FittedBackbone)):
        return dict(backbone.description)
    return {"kind": "custom", "type": f"{type(backbone).__module__}.{type(backbone).__qualname__}"}


def takes(backbone: nn.Module) -> tuple[int, int] | None:
    """Inputs and outputs of a backbone of this file; None of another, which may look further."""
    match backbone:
        case MLP(description={"inputs": inputs, "embedding": embedding}):
            return int(inputs), int(embedding)
        case ConvNet(description={"side": side, "embedding": embedding}):
            return int(side) ** 2, int(embedding)
        case _:
            return None


def rebuild(description: Mapping[str, Any]) -> nn.Module:
    """A backbone with fresh weights from its description."""
    from smilenn.model.given import rebuild_given, rebuild_middle

    d = dict(description)
    if any(len(d.get(name, ())) > LAYERS for name in ("sizes", "channels")):
        raise SmileError(f"A backbone has more than {LAYERS} layers; build it and pass backbone=… when loading.")
    match d.get("kind"):
        case "mlp":
            return MLP(int(d["inputs"]), [int(s) for s in d["sizes"]], int(d["embedding"]))
        case "conv":
            return ConvNet(int(d["side"]), [int(c) for c in d["channels"]], int(d["hidden"]), int(d["embedding"]))
        case "given":
            return rebuild_given(d)
        case "middle":
            return rebuild_middle(d)
        case "estimator":
            own = str(d.get("type", "")).rpartition(".")[2]
            raise SmileError(
                f"This model was saved around a fitted {own}, which is not in its folder; load it in Python with "
                "smilenn.load(folder, backbone=…), which takes that estimator."
            )
        case "custom":
            raise SmileError(
                f"This model was saved with a backbone of its own, {d.get('type')}; build it and pass backbone=… "
                "when loading."
            )
        case kind:
            known = "'mlp', 'conv', 'given', 'middle', 'estimator' and 'custom'"
            raise SmileError(f"There is no backbone of kind {kind!r}; this version knows {known}.")
