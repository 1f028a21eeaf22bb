"""A network that is a fixed sum of what its encoder returns: ``f = start + Σ slopes·e``, with a box around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Encoder
from smilenn.model.net import SmileNet


def averaged(
    domain: Domain, encoder: Encoder | None, output_scale: float, start: float, *, width: float = 0.0,
    slopes: np.ndarray | None = None, sizes: Sequence[int] = (64, 64),
) -> SmileNet:  # fmt: skip
    """f = start + Σ slopes·e, with a box of the given width (output units) around it; encoder and backbone learn.

    Without `slopes` f is the mean of the encoded coordinates, and linear, from zero on, in those that are passed on.
    Without an encoder only the constant is left of it.
    """
    net = SmileNet(
        domain, MLP(domain.size, tuple(sizes), 1).double(), 1, encoder=encoder, output_scale=output_scale,
        auxiliaries="affine",
    )  # fmt: skip
    scale = float(net.output_scale[0])
    if slopes is None:
        inside = np.zeros(domain.size) if encoder is None else encoder.encoded
        slopes = inside / max(1, int(inside.sum()))
    with torch.no_grad():
        net.gap.scale_(0.0)
        net.lower.slope.copy_(torch.as_tensor(slopes, dtype=torch.float64)[None])
        net.lower.const.fill_(-width / scale / 2)
        net.gap.const.fill_(width / scale)
        net.head_weight.fill_(1.0)
        net.head_bias.fill_(start / scale)
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    if encoder is not None and not encoder.encoded.all():
        net.lower.slope.requires_grad_(True)
    return net
