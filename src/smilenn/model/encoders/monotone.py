"""Monotone encoders: quantile ramps, then layers whose weights on monotone inputs have the right sign.

    r  = ramps of every feature between quantiles of the data (a 0/1 coordinate is its own ramp)
    h₁ = kinks(W₁ r + b₁)                W₁ ≥ 0 on ramps of increasing features, ≤ 0 on those of decreasing ones
    h₂ = kinks(W₂ h₁ + C₂ r + b₂)        W₂ ≥ 0, C₂ signed as W₁: a free function of the other features at every layer
    e  = W₃ h₂ + C₃ r + b₃

Half of the units are convex (relu), half concave (min(·, 0)); with relu alone and non-negative weights only convex
functions could be learned. Several such nets side by side, averaged, are monotone too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.encoders.encoder import Branch, Encoder
from smilenn.model.encoders.layers import Kinks, Layer, Linear, Ramps

APART = 1e-6  # of a feature's range between two knots: a long tail must not take those of its bulk away


@dataclass(frozen=True)
class Kind:
    """One kind of network in an ensemble: quantile ramps per number, units of the hidden layers, pace and decay of its
    training as in `Branch`.
    """

    name: str
    ramps: int = 16
    units: tuple[int, ...] = (32, 32)
    pace: float = 1.0
    decay: float = 1.0


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
    kinds: Sequence[Kind] = (),
    suffix: str = "",
) -> Encoder:
    """An encoder of `members` branches with `outputs` coordinates each.

    Parameters
    ----------
    u : data in model units [N, m], for the quantiles.
    increasing, decreasing : features that every output must rise or fall with.
    without : features that the encoder must not read (protected ones).
    ramps : quantile ramps per number; `units` of the hidden layers.
    members : networks side by side; more than one are an ensemble, to be averaged.
    kinds : instead of `ramps` and `units`, several kinds of networks with `members` of each.
    suffix : ends the branches' names, where several encoders are put together.
    """
    overlap = (set(increasing) & set(decreasing)) | (set(without) & {*increasing, *decreasing})
    if overlap:
        raise SmileError(f"{sorted(overlap)[0]!r} cannot be two of increasing, decreasing and left out; choose one.")
    sign_of = dict.fromkeys(increasing, 1) | dict.fromkeys(decreasing, -1)
    for name in sign_of:
        if name not in domain.slices or domain.feature(name).kind == "category":
            raise SmileError(f"{name!r} is not a number of the domain, so nothing can rise or fall with it.")
    if all(name in without for name in domain.slices):
        raise SmileError("No feature is left for the encoder; leave fewer of them out.")
    wanted = kinds or [Kind("core", ramps, tuple(units))]
    several = members > 1 or len(wanted) > 1
    branches = [
        _branch(domain, u, kind, f"{kind.name}{k if several else ''}{suffix}", sign_of, set(without), outputs)
        for kind in wanted
        for k in range(members)
    ]
    return Encoder(domain, branches, groups=members if several else 0)


def _branch(
    domain: Domain, u: np.ndarray, kind: Kind, name: str, sign_of: Mapping[str, int], without: set[str], outputs: int
) -> Branch:
    """One network of a kind, its weights fresh."""
    columns: list[int] = []
    source, start, rate, signs = [], [], [], []
    for feature, span in domain.slices.items():
        if feature in without:
            continue
        for i in range(span.start, span.stop):
            for a, b in pairwise(_knots(domain, u, i, kind.ramps)):
                source.append(len(columns))
                start.append(a)
                rate.append(1.0 / (b - a))
                signs.append(float(sign_of.get(feature, 0)))
            columns.append(i)
    own, base, hidden = np.array(signs), len(source), 1.0 if sign_of else 0.0
    layers: list[Layer] = [Ramps(source, np.array(start), np.array(rate))]
    width = 0
    for depth, size in enumerate((*kind.units, outputs)):
        wanted = np.concatenate([np.full(width, hidden), own])
        layers.append(Linear(width or base, size, base=base if width else 0, signs=wanted))
        if depth < len(kind.units):
            layers.append(Kinks(size, (size + 1) // 2))
        width = size
    return Branch(name, columns, layers, pace=kind.pace, decay=kind.decay)


def _knots(domain: Domain, u: np.ndarray, i: int, ramps: int) -> np.ndarray:
    """Ends of the ramps of coordinate i, all different: values that many rows share, quantiles of the other rows, and
    the ends of the domain.
    """
    lo, hi = float(domain.scale(domain.lo)[i]), float(domain.scale(domain.hi)[i])
    if hi <= lo:
        return np.array([lo, lo + 1.0])
    inner = _greedy(u[:, i], ramps + 1) if len(u) else np.linspace(lo, hi, ramps + 1)
    knots = np.unique(np.clip(np.concatenate([[lo], inner, [hi]]), lo, hi))
    keep = [knots[0]]
    for knot in knots[1:]:
        if knot - keep[-1] >= APART * (hi - lo):
            keep.append(knot)
    keep[-1] = max(keep[-1], hi) if len(keep) > 1 else hi
    return np.array(keep if len(keep) > 1 else [lo, hi])


def _greedy(values: np.ndarray, many: int) -> np.ndarray:
    """Up to `many` knots: quantiles, but a value that holds the share of a whole ramp gets a knot of its own, and what
    is left of the knots goes to the quantiles of the other rows. (Quantiles alone would all fall on such a value.)
    """
    found, counts = np.unique(values, return_counts=True)
    if len(found) <= many:
        return found
    own = np.zeros(len(found), dtype=bool)
    while True:
        left = many - int(own.sum())
        heavy = ~own & (counts * max(1, left - 1) >= counts[~own].sum())
        if not heavy.any() or left <= 2:
            break
        own |= heavy
    rest = np.repeat(found[~own], counts[~own])
    quantiles = np.quantile(rest, np.linspace(0, 1, max(2, left))) if len(rest) else rest
    return np.concatenate([found[own], quantiles])
