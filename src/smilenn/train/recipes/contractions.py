"""Robust claims in the Euclidean norm: contractions, and outputs ``f_i = v_i·h + c_i`` as steep as every ε allows.

Under the premise of claim c the contractions' result h moves by at most N_c, whatever the weights, so a margin
f_i − f_j moves by at most ‖v_i − v_j‖₂·N_c:

    max_ij ‖v_i − v_j‖₂ = (1 − tiny)·min_c ε_c/N_c        of classes
    max_i ‖v_i‖₂        = (1 − tiny)·min_c ε_c/N_c        of one output, or of labels, which decide by their signs

Columns are first brought to one scale, y_i = r_i·(u_i − lo_i) with r_i·δ_i the same for all that move: one unit of y
then is 1/N_c of the way that a claim allows in any direction. Columns that stay equal are read too, at a range of one.
Sizes and constants of training were chosen on kept training images of MNIST.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.encoders import Branch, Contract, Encoder, Layer, Ramps
from smilenn.model.net import SmileNet
from smilenn.properties.meaning import Near
from smilenn.properties.premise import ground
from smilenn.train.averaged import averaged
from smilenn.train.config import Config
from smilenn.train.contractions import spread
from smilenn.train.halves import pays
from smilenn.train.losses import Decides
from smilenn.train.recipes.stated import Kind, Stated
from smilenn.train.recipes.task import Recipe, Task

TINY = 1e-6  # of ε, left for rounding
RATE = 3e-3
# where it is trained: contractions, their units at most, multiplications in all
SIZES = {"cuda": (24, 1024, 4.8e14), "cpu": (4, 256, 7e12)}
WIDEST = 4  # units for each column at most
BATCH, LEAST_STEPS, LEAST_BATCH = 256, 8, 16
LEAST_EPOCHS, MOST_EPOCHS = 3, 100
BEYOND = 0.02  # images are asked to pass δ by this share of the length of the diagonal

REASONS = (
    "Contractions: layers that never increase the Euclidean distance between two inputs, whatever the weights. The "
    "outputs are scaled to ε, and the backbone has no influence."
)


def recipe(task: Task) -> Recipe | None:
    """A classifier by contractions; None where a claim is of another kind, or leaves the outputs no room."""
    if task.design.backbone is not None or not task.classify or task.kinds != {Kind.EUCLIDEAN}:
        return None
    size = 2 if _decides(task) == "largest" else 1  # margins between two classes, or outputs by themselves
    if not all(_size(one) == size and _eps(one) > 0 for one in task.stated):
        return None
    net, reach = contraction_net(task)
    rows, m = max(1, len(task.x)), task.domain.size
    blocks, units, budget = _sizes(task)
    batch = min(BATCH, max(LEAST_BATCH, rows // LEAST_STEPS))
    work = blocks * m * units * (6 + 3 * units / batch)  # of a row and a step, forward and backward
    epochs = round(min(MOST_EPOCHS, max(LEAST_EPOCHS, budget / (work * rows))))
    margin = reach + BEYOND * math.sqrt(m)
    augment = "affine" if task.design.image else "none"
    config = Config(patience=None, learning_rate=RATE, train_learning_rate=RATE, epochs=epochs, batch_size=batch)
    return Recipe(net, config.replace(margin=margin, augment=augment), REASONS, "contractions")


def _sizes(task: Task) -> tuple[int, int, float]:
    blocks, units, budget = SIZES["cuda" if task.design.device.startswith("cuda") else "cpu"]
    return blocks, min(units, max(LEAST_BATCH, WIDEST * task.domain.size)), budget


def _decides(task: Task) -> Decides:
    return "largest" if task.outputs.classes and len(task.outputs.names) > 1 else "sign"


def _eps(one: Stated) -> float:
    return float(one.meaning.eps) if isinstance(one.meaning, Near) else 0.0


def _size(one: Stated) -> float:
    return max(float(sum(abs(c) for c, _ in form)) for form in one.forms)


def contraction_net(task: Task) -> tuple[SmileNet, float]:
    """A fresh network, its contractions loose, and the largest N of all claims, in units of y."""
    domain, o = task.domain, len(task.outputs.names)
    axes = [_axes(one, domain) for one in task.stated]
    scaling, rate = _scaling(np.max(axes, axis=0), domain)
    blocks, units, _ = _sizes(task)
    contractions = [Contract(domain.size, units) for _ in range(blocks)]
    halved = not task.design.device.startswith("cuda") and pays(contractions, BATCH)
    for layer in contractions:
        layer.loosen_(torch.float32 if halved else torch.float64)
    encoder = Encoder(domain, [Branch("near", range(domain.size), [*scaling, *contractions])])
    slopes = torch.randn(o, domain.size, dtype=torch.float64)
    slopes /= slopes.norm(dim=1, keepdim=True)
    reaches = [float((line * rate).max()) for line in axes]
    steepest = min(_eps(one) / reach for one, reach in zip(task.stated, reaches, strict=True))
    slopes *= (1 - TINY) * steepest / spread(slopes, _decides(task))
    net = averaged(domain, encoder, 1.0, 0.0, outputs=task.outputs.names, slopes=slopes.numpy(), sizes=())
    net.lower.slope.requires_grad_(True)
    net.head_bias.requires_grad_(True)
    return net, max(reaches)


def _axes(one: Stated, domain: Domain) -> np.ndarray:
    """δ [m] of a claim in model units, 0 for columns that stay equal."""
    premise = ground(one.claim, domain)
    assert premise.axes is not None  # of a claim with a norm
    return np.where(premise.pinned, 0.0, premise.axes * domain.mult)


def _scaling(axes: np.ndarray, domain: Domain) -> tuple[list[Layer], np.ndarray]:
    """A layer that brings all columns to one scale, where they are not, and its rates [m]."""
    width = domain.scale(domain.hi) - domain.scale(domain.lo)
    width = np.where(width > 0, width, 1.0)
    moving = axes > 0
    if moving.all() and np.ptp(axes) == 0:
        return [], np.ones(domain.size)
    rate = 1.0 / width
    rate[moving] = float((axes[moving] / width[moving]).min()) / axes[moving]
    return [Ramps(list(range(domain.size)), domain.scale(domain.lo), rate)], rate
