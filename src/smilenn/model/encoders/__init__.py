"""Property-preserving encoders: what the auxiliaries see instead of x, with known differences between two inputs."""

from smilenn.model.encoders.contract import Contract
from smilenn.model.encoders.distance import Distance
from smilenn.model.encoders.encoder import Branch, Encoder, rebuild_encoder
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Pool, Ramps
from smilenn.model.encoders.pinned import Pinned
from smilenn.model.encoders.trees import Trees

__all__ = [
    "Branch",
    "Contract",
    "Distance",
    "Encoder",
    "Kinks",
    "Layer",
    "Linear",
    "Pinned",
    "Pool",
    "Ramps",
    "Trees",
    "rebuild_encoder",
]
