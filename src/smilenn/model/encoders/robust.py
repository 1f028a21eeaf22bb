"""Robust encoders: l∞-distance nets, whose outputs move by at most the largest scaled change of the inputs.

    y_i = c·u_i / δ_i                    per column, so that every allowed change moves y by at most c (skipped if all
                                         δ_i are equal); c is the largest number that keeps y within a range of one
    y_i = EQUAL·u_i / (hi_i − lo_i)      of a column that stays equal, whose δ_i is 0
    e   = far(… far(pool(y)))            pool: means of square blocks of an image, optional; far: distance layers

Two outputs make a logit, e_0 − e_1: at most 2c between neighbours, whatever the weights. A distance moves by no more
than the largest |Δy_i|, and a column that stays equal adds |Δy_i| = 0 to that at any rate: reading it costs nothing of
c. On kept rows ranges from .1 to 1 did equally well; in a range as short as c a category was not learned from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders.distance import Distance
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Layer, Pool, Ramps
from smilenn.model.encoders.patches import squares

START = 0.3  # deviation of the first weights of patches
EQUAL = 0.2  # the range of a column that stays equal, as 0 and 1 of a category


def robust_encoder(
    domain: Domain,
    reach: np.ndarray,
    *,
    units: Sequence[int] = (256, 256),
    block: int = 1,
    outputs: int = 2,
    nets: int = 1,
    patches: bool = False,
) -> Encoder:
    """One branch ``far`` over all columns, or as many as there are `nets`.

    Parameters
    ----------
    reach : [m] δ of each column in model units, 0 of those that stay equal; some of them are more.
    units : of the hidden distance layers.
    block : side of the squares of pixels that are averaged first; 1 for none.
    patches : whether each first unit learns from one square of pixels alone, `units[0]` from each (patches.py).
    """
    if reach.shape != (domain.size,) or not (np.isfinite(reach).all() and (reach >= 0).all()):
        raise SmileError("A distance net scales each column by its δ; give each a finite number from 0 on.")
    if not (reach > 0).any():
        raise SmileError("A distance net needs a column that moves; use another encoder where all columns stay equal.")
    branches = []
    for k in range(nets):
        before = _before(domain, reach, block)
        far = _patched(domain, before, units, outputs) if patches else _far(before, domain.size, (*units, outputs))
        branches.append(Branch(f"far{k or ''}", range(domain.size), [*before, *far]))
    return Encoder(domain, branches)


def rates(domain: Domain, reach: np.ndarray) -> np.ndarray:
    """By what columns are scaled [m]: c/δ_i, and EQUAL/(hi_i − lo_i) where δ_i is 0; 1 where all δ_i are equal."""
    if np.ptp(reach) == 0:
        return np.ones(domain.size)
    width = domain.scale(domain.hi) - domain.scale(domain.lo)
    moving = reach > 0
    wide = moving & (width > 0)  # a column of one value is 0 at any rate
    found = EQUAL / np.where(width > 0, width, 1.0)
    found[moving] = float((reach[wide] / width[wide]).min()) / reach[moving]
    return found


def _before(domain: Domain, reach: np.ndarray, block: int) -> list[Layer]:
    """What scales the columns, and averages blocks of pixels, where that is needed."""
    layers: list[Layer] = []
    if np.ptp(reach) > 0:
        layers.append(Ramps(list(range(domain.size)), domain.scale(domain.lo), rates(domain, reach)))
    if block > 1:
        side = math.isqrt(domain.size)
        if side * side != domain.size:
            raise SmileError(f"Blocks of pixels need a square image; {domain.size} columns are not square.")
        layers.append(Pool(side, block))
    return layers


def _far(before: Sequence[Layer], columns: int, sizes: Sequence[int]) -> list[Layer]:
    """Distance layers of these sizes; one that returns classes learns its bias."""
    inputs = [before[-1].outputs if before else columns, *sizes]
    hidden = [True] * (len(sizes) - 1) + [sizes[-1] == 2]
    return [Distance(i, j, centred=c) for i, j, c in zip(inputs, sizes, hidden, strict=False)]


def _patched(domain: Domain, before: Sequence[Layer], units: Sequence[int], outputs: int) -> list[Layer]:
    """Distance layers of which the first reads patches, and ignores the rest of the image."""
    patches = squares(domain.size)
    y = torch.as_tensor((domain.scale(domain.lo) + domain.scale(domain.hi)) / 2)[None]
    for layer in before:
        y = layer(y)
    inputs = [domain.size, units[0] * len(patches), *units[1:]]
    layers = [
        Distance(i, j, centred=place < len(units))
        for place, (i, j) in enumerate(zip(inputs, [*inputs[1:], outputs], strict=True))
    ]
    for place, layer in enumerate(layers):
        with torch.no_grad():
            layer.weight.mul_(START)
        own, outside = (np.arange(layer.inputs)[None], torch.zeros(layer.inputs)) if place else (patches, y[0])
        layer.read_patches_(own, outside)
    return list(layers)
