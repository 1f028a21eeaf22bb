"""Which network for which properties: the default that a user gets without choosing, and the reasons in words.

monotone, fair (any ε)        an ensemble of monotone encoders that does not read protected columns; the box has
                              width 0 if a claim is tight on the diagonal, else ε: the backbone may use it
robust only, many columns     an l∞-distance net; ε is what it allows, 2δ in the units of its output
anything else                 the paper's architecture: auxiliaries of the inputs, searched and proved

What the encoder's size and training depend on:

    ramps per number    128 / features, between 8 and 64: one feature is drawn finely, many coarsely
    batch               all rows up to 512, then 256
    epochs              1,500 steps, at least 30 and at most 300 epochs; they end a quarter of that after the best one

The numbers were chosen on held-out rows of training parts of the tables in docs/encoders.md, never on their test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.backbones import MLP
from smilenn.model.encoders import Encoder
from smilenn.model.encoders.monotone import Kind, monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.properties import Fair, Monotone, Robust
from smilenn.properties.base import Property
from smilenn.train.config import Config
from smilenn.train.robust import moves_all, robust_recipe

GROUPS = 4  # members of each kind; they differ in their first weights and in the rows kept from them
LEAST = 20  # rows below which none are kept from training
FEWEST, MOST, SHARED = 8, 64, 128  # ramps of a number: SHARED / features, within FEWEST and MOST
FULL, BATCH, STEPS = 512, 256, 1500
WIDTH_SHARE = 0.98  # of ε that the box takes: the rest is for rounding
MANY = 64  # columns from which a robust claim is met by distances instead of bounded slopes

DISTANCES = (
    "Encoder: an l∞-distance net, whose layers change by at most what their inputs do, whatever the weights; the logit "
    "is scaled to ε and the backbone plays no part."
)


@dataclass(frozen=True)
class Recipe:
    """A network ready to train, the constants of its training, and why it looks as it does."""

    net: SmileNet
    config: Config
    reasons: str


def encoded(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], *, output_scale: float, start: float, classify: bool,
    sizes: Sequence[int] = (64, 64), device: str = "cpu", image: bool = False,
) -> Recipe | None:  # fmt: skip
    """The encoded network for these properties, or None where there is none; x [N, m] raw training rows.

    Properties name features as the domain does (`Property.named`). `start` is the output to begin with (the mean of the
    target), in output units; `sizes` are those of the backbone, a multilayer perceptron. Distance nets are larger if
    the `device` is a GPU, and may average and augment the columns if these are the pixels of a square `image`.
    """
    kinds = {type(p) for p in properties}
    if properties and kinds <= {Monotone, Fair}:
        return _monotone(domain, x, properties, output_scale, start, sizes)
    if classify and kinds == {Robust} and (image or domain.size >= MANY) and moves_all(domain, properties):
        return Recipe(*robust_recipe(domain, properties, len(x), device, image=image), DISTANCES)
    return None


def why_plain(properties: Sequence[Property]) -> str:
    """Why these properties get the paper's architecture."""
    if not properties:
        return "No property was asked for, so no encoder has to keep one."
    kinds = sorted({type(p).__name__ for p in properties})
    return f"No encoder keeps {', '.join(kinds)} by construction as stated here, so training searches and proves."


def steps(rows: int, rate: float) -> Config:
    """Batch, epochs and patience for so many training rows."""
    batch = rows if rows <= FULL else BATCH
    epochs = round(min(300, max(30, STEPS * batch / max(1, rows))))
    return Config(
        epochs=epochs, batch_size=max(1, batch), patience=max(10, epochs // 4), learning_rate=rate,
        train_learning_rate=rate,
    )  # fmt: skip


def _monotone(
    domain: Domain, x: np.ndarray, properties: Sequence[Property], output_scale: float, start: float,
    sizes: Sequence[int],
) -> Recipe | None:  # fmt: skip
    rising = {str(name) for p in properties if isinstance(p, Monotone) for name in p.increasing}
    falling = {str(name) for p in properties if isinstance(p, Monotone) for name in p.decreasing}
    fair = [p for p in properties if isinstance(p, Fair)]
    protected = {str(name) for p in fair for name in p.protected}
    tight = bool(rising | falling) or any(p.eps == 0 for p in fair)
    if (rising & falling) or (protected & (rising | falling)) or protected >= set(domain.slices):
        return None
    if any(p.eps < 0 or p.delta for p in fair):
        return None
    read = sum(name not in protected for name in domain.slices)
    ramps = min(MOST, max(FEWEST, SHARED // read))
    kinds = [Kind("deep", ramps, (32, 32)), Kind("shallow", ramps, (16,)), Kind("sharp", ramps, (16,), 10.0, 0.01)]
    encoder = monotone_encoder(
        domain, domain.scale(x), increasing=sorted(rising), decreasing=sorted(falling), without=sorted(protected),
        kinds=kinds, members=GROUPS,
    )  # fmt: skip
    width = 0.0 if tight or not fair else WIDTH_SHARE * float(min(p.eps for p in fair))
    net = averaged(domain, encoder, output_scale, start, width=width, sizes=sizes)
    words = [f"Encoder: the mean of several small networks over {ramps} quantile ramps a number"]
    if rising | falling:
        words.append("monotone by the signs of their weights, so nothing is searched")
    if protected:
        words.append("which do not read the protected columns")
    words.append(
        f"the backbone moves the output within a box of width {width:.3g}, nearly ε"
        if width
        else "the backbone plays no part, since ε = 0 leaves its box no width"
    )
    return Recipe(net, steps(len(x), 3e-3), "; ".join(words) + ".")


def averaged(
    domain: Domain, encoder: Encoder, output_scale: float, start: float, *, width: float = 0.0,
    slopes: np.ndarray | None = None, sizes: Sequence[int] = (64, 64),
) -> SmileNet:  # fmt: skip
    """f = start + Σ slopes·e, with a box of the given width (output units) around it; encoder and backbone learn.

    Without `slopes` f is the mean of the encoded coordinates, and linear, from zero on, in those that are passed on.
    """
    net = SmileNet(
        domain, MLP(domain.size, tuple(sizes), 1).double(), 1, auxiliaries="affine", encoder=encoder,
        output_scale=output_scale,
    )  # fmt: skip
    scale = float(net.output_scale[0])
    if slopes is None:
        slopes = encoder.encoded / max(1, int(encoder.encoded.sum()))
    with torch.no_grad():
        net.lower.slope.copy_(torch.as_tensor(slopes, dtype=torch.float64)[None])
        net.lower.const.fill_(-width / scale / 2)
        net.gap.const.fill_(width / scale)
        net.head_weight.fill_(1.0)
        net.head_bias.fill_(start / scale)
    for parameter in (*net.lower.parameters(), *net.gap.parameters(), net.head_weight, net.head_bias):
        parameter.requires_grad_(False)
    if not encoder.encoded.all():
        net.lower.slope.requires_grad_(True)
    return net


def kept_rows(y: np.ndarray, net: SmileNet, share: float, classes: bool, rng: np.random.RandomState) -> np.ndarray:
    """[N, G] bool: what each of the G groups of members is judged by instead of learning from it; y [N].

    Each group of an ensemble has rows of its own, so that the mean has learned from all; a backbone that takes part, or
    an encoder that is no ensemble, has the same rows kept from everything. Of few rows none are kept.
    """
    groups = 1 if net.encoder is None else max(1, net.encoder.groups)
    held = np.zeros((len(y), groups), dtype=bool)
    if len(y) < LEAST:
        return held
    for value in np.unique(y) if classes else (None,):
        members = rng.permutation(np.arange(len(y)) if value is None else np.flatnonzero(y == value))
        size = share * len(members)
        for g in range(groups):
            first = g if net.collapsed else 0
            held[members[round(first * size) : round((first + 1) * size)], g] = True
    return held
