"""The distance net for `Robust` properties: ``f = s·(e_0 − e_1)``, s the largest factor that every ε allows.

Under the premise of property c each e_k moves by at most D_c, known from the layers alone, so f by 2·s·D_c ≤ ε_c:

    s = (1 − tiny)·min_c ε_c / (2·D_c)

Of several classes each has a coordinate of its own, f_i = s·e_i, and each margin f_i − f_j moves by as much.
One net keeps several properties at once: its decision does not depend on s, and an input is verified for δ_c where
|f| > 2·s·D_c.

A `share` ρ of the smallest ε may be left to a backbone, which then moves f within ±w around the distances' value:

    w = ρ·min_c ε_c / 2,      s = (1 − tiny)·min_c (ε_c − 2w) / (2·D_c)

(of classes w is half of that, for a margin has two such boxes). Where |s·(e_0 − e_1)| < w the backbone decides. An
input on whose class both agree is verified if s·|e_0 − e_1| > 2·s·D_c + w: the room costs w of the distance to the
decision. Sizes and constants of training were chosen on 10,000 of MNIST's training images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from torch import nn

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.encoders import Distance, Encoder
from smilenn.model.encoders.robust import robust_encoder
from smilenn.model.net import SmileNet
from smilenn.model.spread import Spread
from smilenn.problem.region import Region
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import ground
from smilenn.properties.spec import lower_all
from smilenn.train.averaged import averaged
from smilenn.train.config import Config
from smilenn.train.distances import THETA

TINY = 1e-9  # of ε, left for rounding
CONFIG = Config(patience=None, batch_size=256, learning_rate=0.02, train_learning_rate=0.02)
# where it is trained: units, largest side of an image whose pixels are not averaged by four, differences |x − w| in all
SIZES = {"cuda": ((256, 256), 64, 1.28e12), "cpu": ((128, 64), 16, 8e9)}
LEAST_EPOCHS, MOST_EPOCHS, AUGMENTED = 3, 300, 8  # few epochs have no time for changed images
LEAST_STEPS, LEAST_BATCH = 8, 16  # an epoch has this many steps, or batches of so many rows
CHANNELS = {"cuda": ((32, 64, 128), 128), "cpu": ((8, 16, 32), 32)}  # of a backbone for images, and its last layer
REACHES, LEAST_THETA = 6.0, 0.1  # images are asked to pass the decision by so many δ, of the inputs' range at least


def robust_recipe(
    domain: Domain, properties: Sequence[Property], rows: int, device: str = "cpu", *, image: bool = False,
    outputs: Outputs | None = None, share: float = 0.0, sizes: Sequence[int] = (64, 64),
) -> tuple[SmileNet, Config]:  # fmt: skip
    """A fresh net and the constants of its training, about two minutes on a GPU and on two cores each.

    `image`: the columns are the pixels of a square image, which may be averaged in blocks and augmented. `share` of ε
    is left to a backbone, convolutional for an image, else a multilayer perceptron of the given `sizes`.
    """
    where = "cuda" if device.startswith("cuda") else "cpu"
    units, side, budget = SIZES[where]
    block = 2 if image and domain.size > side * side and math.isqrt(domain.size) % 2 == 0 else 1
    reach = np.max([reach for reach, _ in _allowed(domain, properties, outputs)], axis=0)
    size = 2 if outputs is None or len(outputs.names) == 1 else len(outputs.names)
    encoder = robust_encoder(domain, reach, units=units, block=block, outputs=size)
    o = 1 if outputs is None else len(outputs.names)
    channels, hidden = CHANNELS[where]
    backbone = ConvNet(math.isqrt(domain.size), channels, hidden, o) if image else MLP(domain.size, sizes, o)
    net = robust_net(domain, properties, encoder, outputs, share, backbone if share else None)
    work = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, Distance))
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * max(1, rows)))))
    batch = min(256, max(LEAST_BATCH, rows // LEAST_STEPS))
    theta = min(THETA, max(LEAST_THETA, REACHES * float(reach.max())))
    augment = "affine" if image and epochs >= AUGMENTED else "none"
    return net, CONFIG.replace(epochs=epochs, augment=augment, batch_size=batch, margin=theta)


def moves_all(domain: Domain, properties: Sequence[Property], outputs: Outputs | None = None) -> bool:
    """Whether each property allows every column to change, and some change of the output."""
    return all(eps > 0 and bool((reach > 0).all()) for reach, eps in _allowed(domain, properties, outputs))


def _allowed(
    domain: Domain, properties: Sequence[Property], outputs: Outputs | None
) -> list[tuple[np.ndarray, float]]:  # fmt: skip
    """δ [m] in model units and ε of every row of the claims."""
    out = []
    for claim in lower_all(properties, domain, outputs or Outputs()):
        region = Region.of(ground(claim, domain))
        reach = np.maximum(np.abs(region.delta_lo), np.abs(region.delta_hi))
        out += [(reach, float(row.rhs)) for row in claim.then]
    return out


def robust_net(
    domain: Domain, properties: Sequence[Property], encoder: Encoder | None = None, outputs: Outputs | None = None,
    share: float = 0.0, backbone: nn.Module | None = None,
) -> SmileNet:  # fmt: skip
    """A fresh net for `Robust` properties with ε > 0 whose δ moves every column.

    `encoder` returns two coordinates, or one for each of several outputs, as those of `robust_encoder` do; None for
    one of 256-256 units. `share` of ε is left to the `backbone` [B, m] → [B, o].
    """
    if not 0 <= share < 1:
        raise SmileError(f"backbone_share is {share!r}; it is a share of ε, from 0 to less than 1.")
    spoken = Outputs() if outputs is None else outputs
    allowed, o = _allowed(domain, properties, spoken), len(spoken.names)
    size = 2 if o == 1 else o
    if encoder is None:
        encoder = robust_encoder(domain, np.max([reach for reach, _ in allowed], axis=0), outputs=size)
    if encoder.size != size:
        what = "the difference of two coordinates" if o == 1 else f"one coordinate for each of {o} outputs"
        raise SmileError(f"A distance net decides by {what}, not by {encoder.size}.")
    frozen, never = encoder.freeze(), np.zeros(domain.size, dtype=bool)
    lo, hi = domain.scale(domain.lo), domain.scale(domain.hi)
    room = share * min(eps for _, eps in allowed)  # what all boxes of a row may add up to
    factors = []
    for reach, eps in allowed:
        out = frozen.propagate(Spread(lo, hi, -reach, reach, never, never))
        most = np.sort(np.maximum(-out.low, out.high))[-2:].sum()  # the two that move most
        factors.append((eps - room) / float(most))
    slopes = (1 - TINY) * min(factors) * (np.array([1.0, -1.0]) if o == 1 else np.eye(o))
    width = (1 - TINY) * room / (1 if o == 1 else 2)
    return averaged(
        domain, encoder, 1.0, 0.0, outputs=spoken.names, slopes=slopes, sizes=(), width=width, backbone=backbone
    )
