"""The distance net for `Robust` properties: ``f = s·(e_0 − e_1)``, s the largest factor that every ε allows.

Under the premise of property c each e_k moves by at most D_c, known from the layers alone, so f by 2·s·D_c ≤ ε_c:

    s = (1 − tiny)·min_c ε_c / (2·D_c)

Of several classes each has a coordinate of its own, f_i = s·e_i, and each margin f_i − f_j moves by as much.
One net keeps several properties at once: its decision does not depend on s, and an input is verified for δ_c where
|f| > 2·s·D_c. Sizes and constants of training were chosen on 10,000 of MNIST's training images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders import Distance, Encoder
from smilenn.model.encoders.robust import robust_encoder
from smilenn.model.net import SmileNet
from smilenn.model.spread import Spread
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import ground
from smilenn.properties.spec import lower_all
from smilenn.region import Region
from smilenn.train.averaged import averaged
from smilenn.train.config import Config
from smilenn.train.distances import THETA

TINY = 1e-9  # of ε, left for rounding
CONFIG = Config(patience=None, batch_size=256, learning_rate=0.02, train_learning_rate=0.02)
# where it is trained: units, largest side of an image whose pixels are not averaged by four, differences |x − w| in all
SIZES = {"cuda": ((256, 256), 64, 1.28e12), "cpu": ((128, 64), 16, 8e9)}
LEAST_EPOCHS, MOST_EPOCHS, AUGMENTED = 3, 300, 8  # few epochs have no time for changed images
LEAST_STEPS, LEAST_BATCH = 8, 16  # an epoch has this many steps, or batches of so many rows
REACHES, LEAST_THETA = 6.0, 0.1  # images are asked to pass the decision by so many δ, of the inputs' range at least


def robust_recipe(
    domain: Domain, properties: Sequence[Property], rows: int, device: str = "cpu", *, image: bool = False,
    outputs: Outputs | None = None,
) -> tuple[SmileNet, Config]:  # fmt: skip
    """A fresh net and the constants of its training, about two minutes on a GPU and on two cores each.

    `image`: the columns are the pixels of a square image, which may be averaged in blocks and augmented.
    """
    units, side, budget = SIZES["cuda" if device.startswith("cuda") else "cpu"]
    block = 2 if image and domain.size > side * side and math.isqrt(domain.size) % 2 == 0 else 1
    reach = np.max([reach for reach, _ in _allowed(domain, properties, outputs)], axis=0)
    size = 2 if outputs is None or len(outputs.names) == 1 else len(outputs.names)
    encoder = robust_encoder(domain, reach, units=units, block=block, outputs=size)
    net = robust_net(domain, properties, encoder, outputs)
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
    domain: Domain, properties: Sequence[Property], encoder: Encoder | None = None, outputs: Outputs | None = None
) -> SmileNet:
    """A fresh net for `Robust` properties with ε > 0 whose δ moves every column.

    `encoder` returns two coordinates, or one for each of several outputs, as those of `robust_encoder` do; None for
    one of 256-256 units.
    """
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
    share = []
    for reach, eps in allowed:
        out = frozen.propagate(Spread(lo, hi, -reach, reach, never, never))
        share.append(eps / float(np.sort(np.maximum(-out.low, out.high))[-2:].sum()))  # the two that move most
    slopes = (1 - TINY) * min(share) * (np.array([1.0, -1.0]) if o == 1 else np.eye(o))
    return averaged(domain, encoder, 1.0, 0.0, outputs=spoken.names, slopes=slopes, sizes=())
