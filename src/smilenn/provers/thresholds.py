"""Pairs of inputs that differ in one input, on both sides of thresholds: where trees break a rule, if they do.

    a, b = x with x_i at two neighbouring levels;   levels of i: one between any two thresholds of the trees

Between thresholds a sum of trees is constant in x_i, so one that is not monotone along a line steps the wrong way at a
threshold. Gradients see nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from smilenn.model.encoders.encoder import Branch
from smilenn.model.encoders.layers import Linear
from smilenn.model.encoders.trees import Trees
from smilenn.model.net import SmileNet
from smilenn.problem import InputClaim
from smilenn.problem.region import Region
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground
from smilenn.provers.realise import Forward, breaking, violations
from smilenn.verdict import Counterexample

ROWS, LEVELS, BEST = 128, 96, 32  # lines, levels of a line, pairs that are looked at exactly


def threshold_example(
    net: SmileNet, claim: Claim, x: np.ndarray, *, over: Callable[[], bool] = bool, seed: int = 0
) -> Counterexample | None:
    """Two inputs that break a claim, on lines through rows x [n, m] (raw units); None where none was found.

    `net` reads trees over raw units. Claims on one input, or on more than two, are left to others.
    """
    if claim.copies != 2 or claim.either:
        return None
    premise = ground(claim, net.domain)
    given = InputClaim(claim, net.domain, premise, Region.of(premise), net.outputs)
    rng = np.random.default_rng(seed)
    rows = x[rng.permutation(len(x))[:ROWS]]
    levels = _levels(net)
    for i in np.flatnonzero(~premise.pinned).tolist():
        if over():
            return None
        found = _along(given, rows, i, _chosen(levels.get(i, np.zeros(0)), rng), net.predict)
        if found is not None:
            return found
    return None


def _levels(net: SmileNet) -> dict[int, np.ndarray]:
    """{coordinate: a level below, between and above the thresholds that are asked of it} within the domain."""
    asked = dict[int, list[np.ndarray]]()
    for branch in () if net.encoder is None else net.encoder.learned:
        for trees in (layer for layer in branch.layers if isinstance(layer, Trees)):
            for place, i in _sources(branch):
                asked.setdefault(i, []).append(trees.number[trees.split == place].cpu().numpy())
    return {i: _between(net, i, np.unique(np.concatenate(own))) for i, own in asked.items()}


def _sources(branch: Branch) -> Iterator[tuple[int, int]]:
    """(place, coordinate) of what trees read: a column, or the number that a layer before them passes on with its gaps
    moved away, whose weight is 1.
    """
    first = next(iter(branch.layers))
    if not isinstance(first, Linear):
        yield from enumerate(branch.columns)
        return
    for place, weights in enumerate(first.weight.detach().cpu().numpy()):
        ones = np.flatnonzero(weights == 1)
        if len(ones):
            yield place, branch.columns[int(ones[0])]


def _between(net: SmileNet, i: int, theta: np.ndarray) -> np.ndarray:
    lo, hi = float(net.domain.lo[i]), float(net.domain.hi[i])
    theta = theta[(theta >= lo) & (theta < hi)]
    if net.domain.integral[i]:
        return np.unique(np.concatenate([np.floor(theta), np.floor(theta) + 1]))
    ends = np.array([lo, *theta.tolist(), hi])
    return np.array([lo, *((ends[1:-2] + ends[2:-1]) / 2).tolist(), hi]) if len(theta) else np.zeros(0)


def _chosen(levels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All levels, or a random part of many, in order."""
    return levels if len(levels) <= LEVELS else np.sort(rng.choice(levels, LEVELS, replace=False))


def _along(given: InputClaim, rows: np.ndarray, i: int, levels: np.ndarray, forward: Forward) -> Counterexample | None:
    """A pair of neighbouring levels of coordinate i that breaks a row of the claim."""
    for row in given.claim.rows:
        worst: list[tuple[float, np.ndarray]] = []
        for low, high in pairwise(levels.tolist()):
            pairs = np.repeat(rows[None, :, None], 2, axis=0).repeat(2, axis=2)  # both orders, [2, n, 2, m]
            pairs[0, :, :, i], pairs[1, :, :, i] = (low, high), (high, low)
            pairs = pairs.reshape(-1, 2, rows.shape[1])
            value = violations(given, (row,), pairs, forward)[:, 0]
            value[~given.region.contains(given.domain.scale(pairs))] = -np.inf
            at = int(np.argmax(value))
            worst.append((float(value[at]), pairs[at]))
        best = [pair for value, pair in sorted(worst, key=lambda one: -one[0])[:BEST] if value > 0]
        if best:
            scale = 1e-300  # the violation is exact: the model's own outputs are compared
            found = breaking(given, (row,), scale, given.domain.scale(np.stack(best)), forward, batch=8, rounds=1)
            if found is not None:
                return found
    return None
