"""Which network for which properties: the default that a user gets without choosing, and the reasons in words.

monotone, fair (any ε)        an ensemble of monotone encoders that does not read protected columns; the box has
                              width 0 if a claim is tight on the diagonal, else ε: the backbone may use it
robust only, many columns     an l∞-distance net; ε is what it allows, 2δ in the units of its output
anything else                 the paper's architecture: auxiliaries of the inputs, searched and proved
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Branch, Distance, Encoder
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.properties import Fair, Monotone, Robust
from smilenn.properties.base import Property

MEMBERS, UNITS, RAMPS = 4, (32, 32), 16
WIDTH_SHARE = 0.98  # of ε that the box takes: the rest is for rounding
MANY = 64  # columns from which a robust claim is met by distances instead of bounded slopes


@dataclass(frozen=True)
class Recipe:
    """A network ready to train, and why it looks as it does."""

    net: SmileNet
    reasons: str


def encoded(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], *, output_scale: float, start: float, classify: bool
) -> Recipe | None:
    """The encoded network for these properties, or None where there is none; x [N, m] raw training rows.

    `start` is the output to begin with (the mean of the target), in output units.
    """
    kinds = {type(p) for p in properties}
    if properties and kinds <= {Monotone, Fair}:
        return _monotone(domain, x, properties, output_scale, start)
    if classify and kinds == {Robust} and domain.size >= MANY and bool(np.ptp(domain.hi - domain.lo) == 0):
        return _distance(domain, properties, output_scale)
    return None


def _monotone(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], output_scale: float, start: float
) -> Recipe | None:
    rising = {str(name) for p in properties if isinstance(p, Monotone) for name in p.increasing}
    falling = {str(name) for p in properties if isinstance(p, Monotone) for name in p.decreasing}
    fair = [p for p in properties if isinstance(p, Fair)]
    protected = {str(name) for p in fair for name in p.protected}
    tight = bool(rising | falling) or any(p.eps == 0 for p in fair)
    named = rising | falling | protected
    if (rising & falling) or (protected & (rising | falling)) or protected >= set(domain.slices):
        return None
    if not named <= set(domain.slices) or any(p.delta for p in fair):
        return None
    encoder = monotone_encoder(
        domain, domain.scale(x), increasing=sorted(rising), decreasing=sorted(falling), without=sorted(protected),
        units=UNITS, ramps=RAMPS, members=MEMBERS,
    )  # fmt: skip
    width = 0.0 if tight or not fair else WIDTH_SHARE * float(min(p.eps for p in fair))
    net = _plain(domain, encoder, np.full(MEMBERS, 1.0 / MEMBERS), output_scale, start, width)
    words = [f"{MEMBERS} networks, averaged, over quantile ramps"]
    if rising | falling:
        words.append("whose signs make them monotone")
    if protected:
        words.append("that do not read the protected columns")
    words.append(
        f"the backbone moves the output by at most ε = {width:.3g}" if width else "the backbone plays no part (ε = 0)"
    )
    return Recipe(net, "; ".join(words) + ".")


def _distance(domain: Domain, properties: Sequence[Property], output_scale: float) -> Recipe:
    layers = [Distance(domain.size, 256), Distance(256, 256), Distance(256, 2)]
    encoder = Encoder(domain, [Branch("far", range(domain.size), layers)])
    net = _plain(domain, encoder, np.array([1.0, -1.0]), output_scale, 0.0, 0.0)
    return Recipe(net, "an l∞-distance net: every layer changes by at most what its inputs do, whatever its weights.")


def _plain(
    domain: Domain, encoder: Encoder, slopes: np.ndarray, output_scale: float, start: float, width: float
) -> SmileNet:
    """f = Σ slopes·e, with a box of the given width (output units) around it; only encoder and backbone learn."""
    net = SmileNet(
        domain, MLP(domain.size, (64, 64), 1).double(), 1, auxiliaries="affine", encoder=encoder,
        output_scale=output_scale,
    )  # fmt: skip
    scale = float(net.output_scale[0])
    with torch.no_grad():
        net.lower.slope.copy_(torch.tensor(slopes)[None])
        net.lower.const.fill_(-width / scale / 2)
        net.gap.const.fill_(width / scale)
        net.head_weight.fill_(1.0)
        net.head_bias.fill_(start / scale)
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    return net
