"""Robust claims alone, on many columns or an image: a distance net ``f = s·(e_0 − e_1)``, s as large as every ε allows.

Under the premise of claim c each e_k moves by at most D_c, known from the layers alone, so f by 2·s·D_c ≤ ε_c:

    s = (1 − tiny)·min_c ε_c / (2·D_c)

Of several classes each has a coordinate of its own, f_i = −s·e_i, and each margin f_i − f_j moves by as much. f may be
the mean of several nets, which moves by no more than one of them.
One net keeps several claims at once: its decision does not depend on s, and an input is verified for δ_c where
|f| > 2·s·D_c. Columns that a claim keeps equal, as categories, 0/1 columns and marks of missing cells, move no e_k, so
they are read as well (encoders/robust.py); where most columns stay equal, units with bounded slopes serve better.

A `share` ρ of the smallest ε may be left to a backbone, which then moves f within ±w around the distances' value:

    w = ρ·min_c ε_c / 2,      s = (1 − tiny)·min_c (ε_c − 2w) / (2·D_c)

(of classes w is half of that, for a margin has two such boxes). Where |s·(e_0 − e_1)| < w the backbone decides. An
input on whose class both agree is verified if s·|e_0 − e_1| > 2·s·D_c + w: the room costs w of the distance to the
decision. Sizes and constants of training were chosen on 10,000 of MNIST's training images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.encoders import Distance, Encoder
from smilenn.model.encoders.patches import has_numba
from smilenn.model.encoders.robust import rates, robust_encoder
from smilenn.model.net import SmileNet
from smilenn.model.spread import Spread
from smilenn.problem.region import Region
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Changes
from smilenn.properties.premise import ground
from smilenn.train.averaged import averaged
from smilenn.train.config import Config
from smilenn.train.distances import THETA
from smilenn.train.recipes.roles import MANY, moved
from smilenn.train.recipes.stated import Kind, Stated, read
from smilenn.train.recipes.task import Design, Recipe, Task

TINY = 1e-9  # of ε, left for rounding
CONFIG = Config(patience=None, batch_size=256, learning_rate=0.02, train_learning_rate=0.02)
# where it is trained: units, largest side of an image whose pixels are not averaged by four, differences |x − w| in all
SIZES = {"cuda": ((256, 256), 64, 1.28e12), "cpu": ((128, 64), 16, 8e9)}
# of several classes on a GPU: nets, units of each, differences |x − w| in all
CLASSES = (2, (2560, 2560, 2560), 2e14)
CLASS_CONFIG = Config(patience=None, batch_size=128, learning_rate=0.01, train_learning_rate=0.01)
CLASS_THETA = 0.4  # beyond the largest δ
TABLE = (2, (128, 64), 8e9)  # of several classes of a wide table on a processor: the same
# of several classes of images on a processor, by whether loops are compiled (patches_numba.py): nets, units on each
# patch and of the next layer, differences in all
PATCHES = {True: (2, (64, 64), 3.1e11), False: (2, (32, 64), 9e10)}
PATCHES_OF_TWO = {True: (2, (32, 64), 1.08e11), False: (2, (32, 64), 4.5e10)}  # of two classes: the same
PATCH_CONFIG = Config(patience=None, batch_size=64, learning_rate=0.02, train_learning_rate=0.02)
PATCH_THETA = 0.6
START, SELF = 0.3, -3.0  # deviation of the first weights, and what a unit has at its own place in a square layer
LEAST_EPOCHS, MOST_EPOCHS, AUGMENTED = 3, 300, 8  # few epochs have no time for changed images
LEAST_STEPS, LEAST_BATCH = 8, 16  # an epoch has this many steps, or batches of so many rows
CHANNELS = {"cuda": ((32, 64, 128), 128), "cpu": ((8, 16, 32), 32)}  # of a backbone for images, and its last layer
REACHES, LEAST_THETA = 6.0, 0.1  # images are asked to pass the decision by so many δ, of the inputs' range at least

REASONS = (
    "An l∞-distance net: its layers never change by more than their inputs, whatever the weights. The logit is scaled "
    "to ε, and the backbone "
)
EQUAL = " Columns that stay equal are read too."


def recipe(task: Task) -> Recipe | None:
    """A classifier by distances; None where a claim is not robust, moves few columns, or leaves the output no room."""
    if task.design.backbone is not None or not task.classify or task.kinds != {Kind.ROBUST}:
        return None
    if not (task.design.image or len(task.outputs.names) > 1 or moved(task.domain, task.stated) >= MANY):
        return None
    if not all(_allows(one, task.domain, image=task.design.image) for one in task.stated):
        return None
    net, config = sized_distance_net(task.domain, task.settled, len(task.x), task.outputs, task.design)
    share = task.design.backbone_share
    part = f"moves it in a box of {100 * share:g} % of the smallest ε." if share else "has no influence."
    equal = "" if moved(task.domain, task.stated) == task.domain.size else EQUAL
    return Recipe(net, config, REASONS + part + equal, "distances")


def _allows(one: Stated, domain: Domain, *, image: bool) -> bool:
    """Whether the claim moves half of the features or many columns, all of an image, and outputs, or margins between
    two of them, by some ε > 0.
    """
    change = _change(one, domain)
    moving = change.reach > 0
    features = [bool(moving[span].any()) for span in domain.slices.values()]
    enough = moving.all() if image else 2 * sum(features) >= len(features) or moving.sum() >= MANY
    return change.eps > 0 and bool(enough) and change.size <= 2


@dataclass(frozen=True, eq=False)
class _Change:
    """A robust claim: δ [m] in model units, 0 where columns stay equal, ε, and Σ|v| of its largest form of outputs."""

    reach: np.ndarray
    eps: float
    size: float


def _change(one: Stated, domain: Domain) -> _Change:
    if one.kind != Kind.ROBUST or not isinstance(one.meaning, Changes):
        raise SmileError(f"A distance net keeps Robust properties, not {one.claim.formula()!r}.")
    region = Region.of(ground(one.claim, domain))
    reach = np.maximum(np.abs(region.delta_lo), np.abs(region.delta_hi))
    # a premise cuts δ to a column's range; whole, the δ of several claims keep one ratio, so one scale suits them all
    stated = {name: max(abs(low), abs(high)) for name, low, high in one.meaning.within}
    reach = np.maximum(reach, [float(stated.get(name, 0)) for name in domain.coordinates] * domain.mult)
    reach = np.where(domain.lo == domain.hi, reach.max(), reach)  # a column of one value is no hindrance
    size = max(float(sum(abs(c) for c, _ in form)) for form in one.forms)
    return _Change(reach, float(one.meaning.eps), size)


@dataclass(frozen=True, eq=False)
class _Reach:
    """δ [m] of all claims together, in model units, and the largest δ that training aims at.

    That is in units of the layers, which scale the columns; of images in model units, as their constants were chosen.

    No net of distances certifies rows of two classes within half of every column's range. A claim of that size beside
    smaller ones is kept, but not aimed at.
    """

    widest: np.ndarray
    aim: float

    @classmethod
    def of(cls, domain: Domain, claims: Sequence[Claim], outputs: Outputs, *, image: bool) -> _Reach:
        changes = [_change(one, domain) for one in read(claims, outputs, domain)]
        half, moving = (domain.scale(domain.hi) - domain.scale(domain.lo)) / 2, domain.lo < domain.hi
        widest = np.max([change.reach for change in changes], axis=0)
        useful = [change.reach for change in changes if (change.reach < half)[moving & (change.reach > 0)].any()]
        rate = np.ones(domain.size) if image else rates(domain, widest)
        return cls(widest, float((np.array(useful or [widest]) * rate).max()))


def _coordinates(outputs: Outputs) -> int:
    """How many coordinates decide: two for one output, else one each."""
    return max(2, len(outputs.names))


def sized_distance_net(
    domain: Domain, claims: Sequence[Claim], rows: int, outputs: Outputs | None = None, design: Design | None = None
) -> tuple[SmileNet, Config]:
    """A fresh net and the constants of its training, about two minutes on a GPU and on two cores each.

    An image may be averaged in blocks and augmented. A share of ε is left to a backbone, convolutional for an image,
    else a multilayer perceptron.
    """
    outputs, design = Outputs() if outputs is None else outputs, Design() if design is None else design
    own = own_net_for(domain, claims, rows, outputs, design)
    if own is not None:
        return own
    where, image = "cuda" if design.device.startswith("cuda") else "cpu", design.image
    units, side, budget = SIZES[where]
    block = 2 if image and domain.size > side * side and math.isqrt(domain.size) % 2 == 0 else 1
    reach = _Reach.of(domain, claims, outputs, image=image)
    encoder = robust_encoder(domain, reach.widest, units=units, block=block, outputs=_coordinates(outputs))
    share = design.backbone_share
    net = distance_net(domain, claims, encoder, outputs, share, _backbone(domain, outputs, design) if share else None)
    work = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, Distance))
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * max(1, rows)))))
    batch = min(256, max(LEAST_BATCH, rows // LEAST_STEPS))
    theta = min(THETA, max(LEAST_THETA, REACHES * reach.aim))
    augment = "affine" if image and epochs >= AUGMENTED else "none"
    return net, CONFIG.replace(epochs=epochs, augment=augment, batch_size=batch, margin=theta)


def own_net_for(
    domain: Domain, claims: Sequence[Claim], rows: int, outputs: Outputs, design: Design
) -> tuple[SmileNet, Config] | None:
    """A net for square images on a processor, and for several classes on a GPU or of a wide table; None elsewhere."""
    gpu, several = design.device.startswith("cuda"), len(outputs.classes) > 2
    large = len(outputs.names) == 1 and domain.size > SIZES["cpu"][1] ** 2  # two classes of few pixels have another
    if not gpu and (several or large) and design.image and math.isqrt(domain.size) ** 2 == domain.size:
        return patch_net(domain, claims, rows, outputs, design)
    if not several or design.backbone_share:
        return None
    if gpu:
        return class_net(domain, claims, rows, outputs, design)
    return table_net(domain, claims, rows, outputs) if domain.size >= MANY else None


def class_net(
    domain: Domain, claims: Sequence[Claim], rows: int, outputs: Outputs, design: Design
) -> tuple[SmileNet, Config]:
    """A mean of wide nets for several classes: on MNIST 110 epochs, about five minutes of an H200 for two nets."""
    nets, units, budget = CLASSES
    reach = _Reach.of(domain, claims, outputs, image=design.image)
    encoder = robust_encoder(domain, reach.widest, units=units, outputs=len(outputs.names), nets=nets)
    start_(encoder)
    net = distance_net(domain, claims, encoder, outputs)
    work = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, Distance))
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * max(1, rows)))))
    batch = min(CLASS_CONFIG.batch_size, max(LEAST_BATCH, rows // LEAST_STEPS))
    augment = "affine" if design.image else "none"
    theta = CLASS_THETA + reach.aim
    return net, CLASS_CONFIG.replace(epochs=epochs, augment=augment, batch_size=batch, margin=theta)


def patch_net(
    domain: Domain, claims: Sequence[Claim], rows: int, outputs: Outputs, design: Design
) -> tuple[SmileNet, Config]:
    """A mean of nets on patches of an image, up to three minutes of two cores with compiled loops.

    torch's operations take twice as long for nets half as wide and half as many epochs.
    """
    nets, units, budget = (PATCHES if len(outputs.names) > 1 else PATCHES_OF_TWO)[has_numba()]
    reach = _Reach.of(domain, claims, outputs, image=True)
    encoder = robust_encoder(domain, reach.widest, units=units, outputs=_coordinates(outputs), nets=nets, patches=True)
    share = design.backbone_share
    net = distance_net(domain, claims, encoder, outputs, share, _backbone(domain, outputs, design) if share else None)
    layers = [layer for layer in net.modules() if isinstance(layer, Distance)]
    work = sum(layer.weight.numel() for layer in layers)
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * max(1, rows)))))
    batch = min(PATCH_CONFIG.batch_size, max(LEAST_BATCH, rows // LEAST_STEPS))
    theta = max(PATCH_THETA, 2 * reach.aim)  # what a certified label needs
    return net, PATCH_CONFIG.replace(epochs=epochs, batch_size=batch, margin=theta)


def _backbone(domain: Domain, outputs: Outputs, design: Design) -> nn.Module:
    """What a share of ε is left to: a convolutional net for an image, else a multilayer perceptron."""
    o = len(outputs.names)
    if not design.image:
        return MLP(domain.size, tuple(design.backbone_sizes), o)
    channels, hidden = CHANNELS["cuda" if design.device.startswith("cuda") else "cpu"]
    return ConvNet(math.isqrt(domain.size), channels, hidden, o)


def table_net(
    domain: Domain,
    claims: Sequence[Claim],
    rows: int,
    outputs: Outputs,
    sizes: tuple[int, tuple[int, ...], float] = TABLE,
    rate: float = 0.02,
) -> tuple[SmileNet, Config]:
    """A mean of nets for several classes of a table, two minutes of a processor at most."""
    nets, units, budget = sizes
    reach = _Reach.of(domain, claims, outputs, image=False)
    encoder = robust_encoder(domain, reach.widest, units=units, outputs=len(outputs.names), nets=nets)
    net = distance_net(domain, claims, encoder, outputs)
    work = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, Distance))
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * max(1, rows)))))
    batch = min(CONFIG.batch_size, max(LEAST_BATCH, rows // LEAST_STEPS))
    theta = min(THETA, max(LEAST_THETA, REACHES * reach.aim))
    return net, CONFIG.replace(
        epochs=epochs, batch_size=batch, margin=theta, learning_rate=rate, train_learning_rate=rate
    )


@torch.no_grad()
def start_(encoder: Encoder) -> None:
    """Small first weights; a unit of a square layer starts far from its own place, so that it passes that on."""
    for branch in encoder.learned:
        layers = [layer for layer in branch.layers if isinstance(layer, Distance)]
        for number, layer in enumerate(layers):
            layer.weight.normal_(0, START)
            if 0 < number < len(layers) - 1:
                unit = torch.arange(layer.outputs)
                layer.weight[unit, unit % layer.inputs] = SELF


def distance_net(
    domain: Domain,
    claims: Sequence[Claim],
    encoder: Encoder | None = None,
    outputs: Outputs | None = None,
    share: float = 0.0,
    backbone: nn.Module | None = None,
) -> SmileNet:
    """A fresh net for robust claims with ε > 0 that move some columns; all others stay equal.

    `encoder` returns two coordinates, or one for each of several outputs, as those of `robust_encoder` do; None for
    one of 256-256 units. `share` of ε is left to the `backbone` [B, m] → [B, o].
    """
    if not 0 <= share < 1:
        raise SmileError(f"backbone_share is {share!r}; it is a share of ε, from 0 to less than 1.")
    outputs = Outputs() if outputs is None else outputs
    changes, o = [_change(one, domain) for one in read(claims, outputs, domain)], len(outputs.names)
    if encoder is None:
        widest = np.max([change.reach for change in changes], axis=0)
        encoder = robust_encoder(domain, widest, outputs=_coordinates(outputs))
    nets = len(encoder.learned)
    if encoder.size != nets * _coordinates(outputs):
        what = "the difference of two coordinates" if o == 1 else f"one coordinate for each of {o} outputs"
        raise SmileError(f"A distance net decides by {what}, not by {encoder.size}.")
    room = share * min(change.eps for change in changes)  # what all boxes of a row may add up to
    factor = min(_factor(encoder, domain, change, room) for change in changes)
    directions = np.tile([1.0, -1.0] if o == 1 else -np.eye(o), nets) / nets
    slopes = (1 - TINY) * factor * directions
    width = (1 - TINY) * room / (1 if o == 1 else 2)
    return averaged(
        domain, encoder, 1.0, 0.0, outputs=outputs.names, slopes=slopes, sizes=(), width=width, backbone=backbone
    )


def _factor(encoder: Encoder, domain: Domain, change: _Change, room: float) -> float:
    """(ε − room) / (2·D), D being what the two coordinates that move most do under the claim's premise."""
    lo, hi, never = domain.scale(domain.lo), domain.scale(domain.hi), np.zeros(domain.size, dtype=bool)
    out = encoder.freeze().propagate(Spread(lo, hi, -change.reach, change.reach, never, never))
    return (change.eps - room) / float(np.sort(np.maximum(-out.low, out.high))[-2:].sum())
