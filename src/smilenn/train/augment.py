"""Small random changes of square images while training: a turn, a stretch and a shift of each.

    pixel (r, c) of the new image = old image at A·(r, c) + t,   A = rotation(a)·diag(1 + s_r, 1 + s_c)

with a, s and t uniform, bilinear between pixels, zero outside; s_r = s_c unless the sides stretch apart. What the label
does not depend on, the network need not learn from the few images there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.errors import SmileError


class Most(NamedTuple):
    """The largest changes."""

    turn: float  # radians
    stretch: float  # share of the size
    shift: float = 1 / 14  # share of half the side: one pixel of 28
    apart: bool = False  # each side is stretched by itself


USUAL = Most(0.2, 0.1)
GENTLE = Most(0.15, 0.08, apart=True)  # for networks that hardly fit their own rows


def drawn(rng: np.random.Generator, rows: int, most: Most = USUAL) -> np.ndarray:
    """The changes of so many images at random, [4, rows]; [5, rows] if their sides stretch apart."""
    sizes = (most.turn, most.stretch, most.shift, most.shift, *([most.stretch] if most.apart else []))
    return np.stack([rng.uniform(-size, size, rows) for size in sizes])


def drawn_for(batches: Sequence[torch.Tensor], rng: np.random.Generator, most: Most) -> list[torch.Tensor]:
    """The changes of each batch's images, brought to their device at once: a copy a step would stop a GPU each time."""
    numbers = np.concatenate([drawn(rng, len(batch), most) for batch in batches], axis=1)
    whole = torch.as_tensor(numbers, dtype=torch.float32, device=batches[0].device)
    return list(whole.split([len(batch) for batch in batches], dim=1))


def augmented(x: torch.Tensor, rng: np.random.Generator, most: Most = USUAL) -> torch.Tensor:
    """Images x [B, side²], each changed at random; the same shape, type and device."""
    return changed(x, torch.as_tensor(drawn(rng, len(x), most), dtype=torch.float32, device=x.device))


def changed(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """Images x [B, side²] changed by what was drawn, [4, B] or [5, B]; the same shape, type and device."""
    side = math.isqrt(x.shape[1])
    if side * side != x.shape[1]:
        raise SmileError(f"Affine augmentation needs square images; {x.shape[1]} columns are not square.")
    turn, tall, right, down, *wide = by
    first, second = (1 + s for s in (tall, wide[0] if wide else tall))
    cos, sin = turn.cos(), turn.sin()
    rows = [torch.stack(row, dim=1) for row in ([cos * first, -sin * second, right], [sin * first, cos * second, down])]
    images = x.reshape(-1, 1, side, side).to(torch.float32)
    grid = F.affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False).reshape(len(x), -1).to(x.dtype)
