"""Small random changes of square images while training: a turn, a stretch and a shift of each.

    pixel (r, c) of the new image = old image at A·(r, c) + t,   A = (1 + s)·rotation(a)

with a, s and t uniform, bilinear between pixels, zero outside. What the label does not depend on, the network need not
learn from the few images there are.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.errors import SmileError

TURN, STRETCH, SHIFT = 0.2, 0.1, 1 / 14  # radians; share of the size; share of half the side: one pixel of 28


def augmented(x: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Images x [B, side²], each changed at random; the same shape, type and device."""
    side = math.isqrt(x.shape[1])
    if side * side != x.shape[1]:
        raise SmileError(f"Affine augmentation needs square images; {x.shape[1]} columns are no square.")
    turn, stretch, right, down = (
        torch.as_tensor(rng.uniform(-most, most, len(x)), dtype=torch.float32, device=x.device)
        for most in (TURN, STRETCH, SHIFT, SHIFT)
    )
    cos, sin = turn.cos() * (1 + stretch), turn.sin() * (1 + stretch)
    matrix = torch.stack([torch.stack([cos, -sin, right], dim=1), torch.stack([sin, cos, down], dim=1)], dim=1)
    images = x.reshape(-1, 1, side, side).to(torch.float32)
    grid = F.affine_grid(matrix, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False).reshape(len(x), -1).to(x.dtype)
