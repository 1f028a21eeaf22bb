"""Networks whose enforcement part is fixed: a mean of what an encoder returns, or a box around a free backbone.

averaged    f = start + scale·G·(Σ slopes·e), with a box of some width around it; encoder and backbone learn
boxed       f = start + scale·G·z,  lo(u) ≤ z ≤ hi(u): the backbone alone learns, free inside a fixed box
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Encoder
from smilenn.model.net import SmileNet
from smilenn.train.coordinates import Coordinates
from smilenn.train.premised import Premised, premised_net, units

Numbers = np.ndarray | float


def averaged(
    domain: Domain,
    encoder: Encoder | None,
    output_scale: Numbers,
    start: Numbers,
    *,
    outputs: Sequence[str] = ("",),
    width: Numbers = 0.0,
    slopes: np.ndarray | None = None,
    head: np.ndarray | None = None,
    sizes: Sequence[int] = (64, 64),
    hidden: int = 0,
    backbone: nn.Module | None = None,
) -> SmileNet:
    """The mean of encoded coordinates, with a box of the given width (outputs divided by their scale) around it.

    Without `slopes` ([p], or [o, p] for o outputs) a scalar f is the mean of the encoded coordinates, and linear, from
    zero on, in those that are passed on. Without an encoder only the constant is left of it. `head` is G [o, o];
    `hidden` units, zero at first, come on top.
    """
    o = len(outputs)
    g = np.eye(o) if head is None else head
    net = _fixed(domain, output_scale, start, outputs, g, sizes, encoder, backbone, hidden)
    if slopes is None:
        inside = np.zeros(domain.size) if encoder is None else encoder.encoded
        slopes = inside / max(1, int(inside.sum()))
    with torch.no_grad():
        net.lower.slope.copy_(torch.as_tensor(np.atleast_2d(slopes), dtype=torch.float64))
        half = torch.as_tensor(np.broadcast_to(width, (o,)) / 2)
        net.lower.const.copy_(-half)
        net.gap.const.copy_(2 * half)
    if encoder is not None and not encoder.encoded.all():
        net.lower.slope.requires_grad_(True)
    return net


def boxed(
    domain: Domain,
    box: Coordinates | Premised,
    output_scale: Numbers,
    start: Numbers,
    *,
    outputs: Sequence[str],
    sizes: Sequence[int] = (64, 64),
    backbone: nn.Module | None = None,
) -> SmileNet:
    """A backbone that is free inside the box of the coordinates, which implies every claim they were made for.

    It is a multilayer perceptron of the given sizes, or the `backbone` [B, m] → [B, o].
    """
    if isinstance(box, Premised):
        head = np.hstack([box.head, -box.head])
        net = _fixed(domain, output_scale, start, outputs, head, sizes, None, backbone, units(box))
        premised_net(net, box)
        return net
    net = _fixed(domain, output_scale, start, outputs, box.head, sizes, None, backbone)
    u_lo, u_hi = domain.scale(domain.lo), domain.scale(domain.hi)
    slope = box.high_slope - box.low_slope
    rise, fall = np.maximum(slope, 0.0), np.maximum(-slope, 0.0)
    with torch.no_grad():
        for tensor, values in (
            (net.lower.const, box.low),
            (net.lower.slope, box.low_slope),
            (net.gap.const, box.high - box.low + rise @ u_lo - fall @ u_hi),
            (net.gap.rise, rise),
            (net.gap.fall, fall),
        ):
            tensor.copy_(torch.as_tensor(values))
    return net


def _fixed(
    domain: Domain,
    output_scale: Numbers,
    start: Numbers,
    outputs: Sequence[str],
    head: np.ndarray,
    sizes: Sequence[int],
    encoder: Encoder | None,
    backbone: nn.Module | None = None,
    hidden: int = 0,
) -> SmileNet:
    """A network of head.shape[1] coordinates, its auxiliaries zero and frozen, its head G [o, n] frozen."""
    o, n = head.shape
    scale = np.broadcast_to(np.asarray(output_scale, dtype=np.float64), (o,))
    net = SmileNet(
        domain,
        MLP(domain.size, tuple(sizes), n).double() if backbone is None else backbone,
        n,
        encoder=encoder,
        output_scale=list(scale),
        auxiliaries="relu" if hidden else "affine",
        hidden=hidden,
        skip=bool(hidden),
        outputs=outputs,
    )
    with torch.no_grad():
        net.gap.scale_(0.0)
        net.lower.slope.zero_()
        net.lower.const.zero_()
        net.head_weight.copy_(torch.as_tensor(head))
        net.head_bias.copy_(torch.as_tensor(np.broadcast_to(start, (o,)).copy()) / net.output_scale)
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    return net
