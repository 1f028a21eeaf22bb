"""The distance net for `Robust` properties: ``f = s·(e_0 − e_1)``, s the largest factor that every ε allows.

Under the premise of property c each e_k moves by at most D_c, known from the layers alone, so f by 2·s·D_c ≤ ε_c:

    s = (1 − tiny)·min_c ε_c / (2·D_c)

One net keeps several properties at once: its decision does not depend on s, and an input is verified for δ_c where
|f| > 2·s·D_c.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders.robust import robust_encoder
from smilenn.model.net import SmileNet
from smilenn.model.spread import Spread
from smilenn.properties.base import Property
from smilenn.properties.premise import ground
from smilenn.properties.spec import lower_all
from smilenn.region import Region

TINY = 1e-9  # of ε, left for rounding


def robust_net(
    domain: Domain, properties: Sequence[Property], *, units: Sequence[int] = (256, 256), block: int = 1
) -> SmileNet:
    """A fresh net for `Robust` properties with ε > 0 whose δ moves every column; sizes as in `robust_encoder`."""
    allowed = []  # δ [m] in model units and ε of every row
    for claim in lower_all(properties, domain):
        region = Region.of(ground(claim, domain))
        reach = np.maximum(np.abs(region.delta_lo), np.abs(region.delta_hi))
        allowed += [(reach, float(row.rhs)) for row in claim.then]
    encoder = robust_encoder(domain, np.max([reach for reach, _ in allowed], axis=0), units=units, block=block)
    frozen, never = encoder.freeze(), np.zeros(domain.size, dtype=bool)
    lo, hi = domain.scale(domain.lo), domain.scale(domain.hi)
    share = []
    for reach, eps in allowed:
        out = frozen.propagate(Spread(lo, hi, -reach, reach, never, never))
        share.append(eps / float(np.maximum(-out.low, out.high).sum()))
    net = SmileNet(domain, MLP(domain.size, (), 1).double(), 1, auxiliaries="affine", encoder=encoder)
    with torch.no_grad():
        net.lower.slope.copy_((1 - TINY) * min(share) * torch.tensor([[1.0, -1.0]], dtype=torch.float64))
        net.lower.const.zero_()
        net.gap.const.zero_()
        net.head_weight.fill_(1.0)
        net.head_bias.zero_()
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    return net
