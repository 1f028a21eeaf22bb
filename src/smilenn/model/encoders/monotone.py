"""Monotone encoders: quantile ramps, then layers whose weights on monotone inputs have the right sign.

    r  = ramps of every feature between quantiles of the data (a 0/1 coordinate is its own ramp)
    h₁ = kinks(W₁ r + b₁)                W₁ ≥ 0 on ramps of increasing features, ≤ 0 on those of decreasing ones
    h₂ = kinks(W₂ h₁ + C₂ r + b₂)        W₂ ≥ 0, C₂ signed as W₁: a free function of the other features at every layer
    e  = W₃ h₂ + C₃ r + b₃

Half of the units are convex (relu), half concave (min(·, 0)); with relu alone and non-negative weights only convex
functions could be learned. Several such nets side by side, averaged, are monotone too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Ramps


def monotone_encoder(
    domain: Domain,
    u: np.ndarray,
    *,
    increasing: Sequence[str] = (),
    decreasing: Sequence[str] = (),
    without: Sequence[str] = (),
    ramps: int = 16,
    units: Sequence[int] = (32, 32),
    outputs: int = 1,
    members: int = 1,
) -> Encoder:
    """An encoder of `members` branches with `outputs` coordinates each.

    Parameters
    ----------
    u : data in model units [N, m], for the quantiles.
    increasing, decreasing : features that every output must rise or fall with.
    without : features that the encoder must not read (protected ones).
    ramps : quantile ramps per number; `units` of the hidden layers.
    """
    overlap = (set(increasing) & set(decreasing)) | (set(without) & {*increasing, *decreasing})
    if overlap:
        raise SmileError(f"{sorted(overlap)[0]!r} cannot be two of increasing, decreasing and left out; choose one.")
    sign_of = dict.fromkeys(increasing, 1.0) | dict.fromkeys(decreasing, -1.0)
    for name in sign_of:
        if name not in domain.slices or domain.feature(name).kind == "category":
            raise SmileError(f"{name!r} is not a number of the domain, so nothing can rise or fall with it.")
    columns: list[int] = []
    source, start, rate, signs = [], [], [], []
    for name, span in domain.slices.items():
        if name in without:
            continue
        for i in range(span.start, span.stop):
            knots = _knots(domain, u, i, ramps)
            for a, b in pairwise(knots):
                source.append(len(columns))
                start.append(a)
                rate.append(1.0 / (b - a))
                signs.append(sign_of.get(name, 0.0))
            columns.append(i)
    if not columns:
        raise SmileError("No feature is left for the encoder; leave fewer of them out.")
    base, hidden = len(source), 1.0 if sign_of else 0.0
    branches = []
    for k in range(members):
        layers: list[Layer] = [Ramps(source, np.array(start), np.array(rate))]
        width, own = 0, np.array(signs)
        for size in (*units, outputs):
            first = len(layers) == 1
            wanted = own if first else np.concatenate([np.full(width, hidden), own])
            layers.append(Linear(base if first else width, size, base=0 if first else base, signs=wanted))
            if size is not outputs or len(layers) <= 2 * len(units):
                layers.append(Kinks(size, (size + 1) // 2))
            width = size
        branches.append(Branch(f"core{k}" if members > 1 else "core", columns, layers))
    return Encoder(domain, branches)


def _knots(domain: Domain, u: np.ndarray, i: int, ramps: int) -> np.ndarray:
    """Ends of the ramps of coordinate i: quantiles of the data between the ends of the domain, all different."""
    lo, hi = float(domain.scale(domain.lo)[i]), float(domain.scale(domain.hi)[i])
    if hi <= lo:
        return np.array([lo, lo + 1.0])
    inner = np.quantile(u[:, i], np.linspace(0, 1, ramps + 1)) if len(u) else np.linspace(lo, hi, ramps + 1)
    knots = np.unique(np.clip(np.concatenate([[lo], inner, [hi]]), lo, hi))
    keep = [knots[0]]
    for knot in knots[1:]:
        if knot - keep[-1] >= 1e-3 * (hi - lo):
            keep.append(knot)
    keep[-1] = max(keep[-1], hi) if len(keep) > 1 else hi
    return np.array(keep if len(keep) > 1 else [lo, hi])
