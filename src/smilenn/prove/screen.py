"""Root bounds of many networks at once, without a linear program: the leaf rule's dual by subgradients, in one batch.

For networks b on one premise, slopes t_b [k, H] give the leaf rule's bound

    D_b(t) = const + t·bias + Σ_j max_v (Σ_c κ_c·relu(v_c) − t_c·v_c) + max_x (q + t·W)·x

which is convex in t; s(x*) − v*, the pre-activations at the maximiser less the maximising corners, is a subgradient.
Polyak's step towards a level below the best bound so far, in units scaled by the size of their range:

    t ← t − (D(t) − level)/Σ(g/size)² · g/size²,    level = max(target, best − gap)

where the gap is halved whenever some steps in a row did not help.

Any slopes are sound, so every step's bound counts and the best one is kept. It is a screen: where it falls below the
target nothing else is needed; where it does not, branch-and-bound decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.errors import SmileError
from smilenn.problem import Problem
from smilenn.prove.leaf import Rounding, Slopes, polygon
from smilenn.prove.prover import allowance

PATIENCE = 4  # steps without success before the gap is halved


@dataclass(frozen=True, eq=False)
class Screened:
    """Upper bounds [B] on the violation of one row in each problem, rounding included, and their slopes [B, k, H]."""

    upper: np.ndarray
    slopes: np.ndarray


def screen(problems: Sequence[Problem], row: int = 0, *, target: float = 0.0, steps: int = 60) -> Screened:
    """Bound row number `row` of problems that share their region and number of units.

    Problems as `build(claim, snapshot, like=…)` makes them for many snapshots; flip-free boxes and one or two copies.
    """
    if not problems:
        return Screened(np.zeros(0), np.zeros((0, 0, 0)))
    region, k = problems[0].region, problems[0].copies
    shapes = {(p.copies, p.snapshot.hidden_weight.shape, p.snapshot.boxes) for p in problems}
    if len(shapes) > 1 or k > 2 or problems[0].snapshot.boxes != "gap" or any(p.region is not region for p in problems):
        raise SmileError(
            "Screening needs problems on one region (build(..., like=…)), flip-free, of one or two copies."
        )
    rows = [p.rows[row] for p in problems]
    weight = np.stack([p.snapshot.hidden_weight for p in problems])  # [B, H, m]
    bias = np.stack([p.snapshot.hidden_bias for p in problems])  # [B, H]
    kappa, slope = np.stack([r.unit for r in rows]), np.stack([r.slope for r in rows])  # [B, k, H], [B, k, m]
    const = np.array([r.const - r.rhs for r in rows])
    many, h = bias.shape
    flat = weight.reshape(many * h, -1)
    low, high = region.unit_ranges(flat, bias.ravel())  # [k, B·H]
    if k == 2:
        at, inside = polygon(low, high, *region.difference_ranges(flat))  # [B·H, P, 2]
    else:
        at = np.stack([low[0], high[0], np.clip(0.0, low[0], high[0])], axis=-1)[..., None]
        inside = np.ones(at.shape[:2], dtype=bool)
    at, inside = at.reshape(many, h, -1, k), inside.reshape(many, h, -1)
    low, high = (a.reshape(k, many, h).transpose(1, 0, 2) for a in (low, high))  # [B, k, H]
    gain = np.where(inside, (np.maximum(at, 0.0) * kappa.transpose(0, 2, 1)[:, :, None]).sum(axis=-1), -np.inf)
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1e-300)
    t = _start(kappa, low, high)
    best, kept, stalled = np.full(many, np.inf), t, np.zeros(many)
    gap = (np.abs(kappa) * size).sum(axis=(1, 2)) / 8
    for _ in range(max(1, steps)):
        value = gain - np.einsum("bhpk,bkh->bhp", at, t)
        chosen = value.argmax(axis=2)  # [B, H]
        corner = np.take_along_axis(at, chosen[:, :, None, None], axis=2)[:, :, 0].transpose(0, 2, 1)  # [B, k, H]
        q = slope + np.einsum("bkh,bhm->bkm", t, weight)
        x = region.argmax(q)
        bound = const + np.einsum("bkh,bh->b", t, bias) + np.einsum("bkm,bkm->b", q, x)
        bound += np.take_along_axis(value, chosen[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        better = bound < best
        best, kept = np.where(better, bound, best), np.where(better[:, None, None], t, kept)
        if (best <= target).all():
            break
        stalled = np.where(better, 0, stalled + 1)
        gap, stalled = np.where(stalled >= PATIENCE, gap / 2, gap), np.where(stalled >= PATIENCE, 0, stalled)
        level = np.maximum(target, best - gap)
        g = np.einsum("bkm,bhm->bkh", x, weight) + bias[:, None] - corner
        length = ((g / size) ** 2).sum(axis=(1, 2))
        step = np.maximum(bound - level, 0.0) / np.maximum(length, 1e-300)
        t = t - step[:, None, None] * g / size**2
    nothing = np.zeros(len(region.rhs))  # extra rows of the premise are not used
    for b, (p, r) in enumerate(zip(problems, rows, strict=True)):
        best[b] += Rounding(p, r).error(Slopes(kept[b], np.zeros(r.flip.shape), nothing)) + allowance(p, r)
    return Screened(best, kept)


def _start(kappa: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Chords for open units with κ > 0, the larger phase for κ < 0, and what decided units ask for."""
    chord = kappa * np.maximum(high, 0.0) / np.maximum(np.maximum(high, 0.0) - np.minimum(low, 0.0), 1e-300)
    line = kappa * (high > -low)
    return np.where(low >= 0, kappa, np.where(high <= 0, 0.0, np.where(kappa > 0, chord, line)))
