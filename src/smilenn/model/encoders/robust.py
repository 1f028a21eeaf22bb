"""Robust encoders: l∞-distance nets, whose outputs move by at most the largest scaled change of the inputs.

    y_i = c·u_i / δ_i                    per column, so that every allowed change moves y by at most c (skipped if all
                                         δ_i are equal); c is the largest number that keeps y within a range of one
    e   = far(… far(pool(y)))            pool: means of square blocks of an image, optional; far: distance layers

Two outputs make a logit, e_0 − e_1: at most 2c between neighbours, whatever the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders.distance import Distance
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Layer, Pool, Ramps


def robust_encoder(
    domain: Domain,
    reach: np.ndarray,
    *,
    units: Sequence[int] = (256, 256),
    block: int = 1,
    outputs: int = 2,
    nets: int = 1,
) -> Encoder:
    """One branch ``far`` over all columns, or as many as there are `nets`.

    Parameters
    ----------
    reach : [m] δ of each column in model units, more than 0.
    units : of the hidden distance layers.
    block : side of the squares of pixels that are averaged first; 1 for none.
    """
    if reach.shape != (domain.size,) or not (np.isfinite(reach).all() and (reach > 0).all()):
        bad = [domain.coordinates[i] for i in np.flatnonzero(~(reach > 0))] if reach.shape == (domain.size,) else []
        raise SmileError(
            f"A distance net scales each column by its δ, which must be more than 0; it is not for {bad[:3]}; "
            "use another encoder for columns that stay equal."
        )
    sizes = (*units, outputs)
    branches = [Branch(f"far{k or ''}", range(domain.size), _layers(domain, reach, sizes, block)) for k in range(nets)]
    return Encoder(domain, branches)


def _layers(domain: Domain, reach: np.ndarray, sizes: Sequence[int], block: int) -> list[Layer]:
    width = domain.scale(domain.hi) - domain.scale(domain.lo)
    layers: list[Layer] = []
    if np.ptp(reach) > 0:
        moving = width > 0  # a column of one value is 0 at any rate
        rate = float((reach[moving] / width[moving]).min()) / reach
        layers.append(Ramps(list(range(domain.size)), domain.scale(domain.lo), rate))
    inputs = domain.size
    if block > 1:
        side = math.isqrt(inputs)
        if side * side != inputs:
            raise SmileError(f"Blocks of pixels need a square image; {inputs} columns are no square.")
        layers.append(Pool(side, block))
        inputs = layers[-1].outputs
    for place, size in enumerate(sizes, 1):
        layers.append(Distance(inputs, size, centred=place < len(sizes) or size == 2))
        inputs = size
    return layers
