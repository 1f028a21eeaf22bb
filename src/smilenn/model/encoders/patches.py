"""Distances to patches: each unit reads one group of columns, ``y_gj = ‖x_g − w_gj‖_p``, in training only.

A deployed unit reads every column, and so it needs nothing that a distance layer does not have. The columns outside its
patch get the middle of their range as weights: they then stay within half a range of it,

    max_i |x_i − w_ji| = max(max over the patch, max outside ≤ ½),

and a unit whose patch is never closer than that ignores them. A unit that is closer is another function, as robust as
any distance.

Differences [b, g, j, k] are formed for a few rows at a time, so that they stay in a processor's cache; powers.py has
the formulas. Rows without a gradient, whose label is certain, cost nothing on the way back.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.encoders.powers import Power, raised

CACHED = 1 << 18  # elements of a block of differences: 1 MiB of float32


def squares(inputs: int) -> np.ndarray:
    """Pixels of overlapping squares [g, k], half the side of the image long and a quarter apart: 9 where 4 divides it.

    >>> squares(64).shape, squares(784).shape
    ((9, 16), (9, 196))
    """
    side = math.isqrt(inputs)
    if side * side != inputs:
        raise SmileError(f"Patches need a square image; {inputs} columns are no square.")
    size, step = (side + 1) // 2, max(1, side // 4)
    starts = sorted({*range(0, side - size, step), side - size})
    pixels = np.arange(inputs).reshape(side, side)
    return np.stack([pixels[r : r + size, c : c + size].ravel() for r in starts for c in starts])


class _PatchNorm(torch.autograd.Function):
    """‖x_bg − w_gj‖_p [B, g, j] of x [B, g, k] and w [g, j, k]; without a power the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
        out = x.new_empty(len(x), *w.shape[:2])
        for rows in torch.arange(len(x)).split(_rows(w)):
            at = slice(int(rows[0]), int(rows[-1]) + 1)
            d = x[at, :, None, :] - w
            most = torch.maximum(d.amax(dim=3), -d.amin(dim=3))
            if power is not None:
                d.mul_(most.clamp(min=torch.finfo(d.dtype).tiny).reciprocal_()[..., None])
                square = d.mul_(d)
                most.mul_(raised(square, power).mul_(square).sum(dim=3).pow_(1 / power.p))
            out[at] = most
        ctx.save_for_backward(x, w, out)
        ctx.power = power
        return out

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None]:
        (grad,) = grad_outputs
        x, w, out = ctx.saved_tensors
        grad_x, grad_w = torch.zeros_like(x) if ctx.needs_input_grad[0] else None, torch.zeros_like(w)
        moving = grad.flatten(1).any(dim=1).nonzero()[:, 0]
        for rows in moving.split(_rows(w)):
            d = x[rows][:, :, None, :] - w
            d.mul_(out[rows].clamp(min=torch.finfo(d.dtype).tiny).reciprocal_()[..., None])
            slope = _largest(d) if ctx.power is None else raised(d * d, ctx.power).mul_(d)
            slope.mul_(grad[rows][..., None])
            if grad_x is not None:
                grad_x[rows] = slope.sum(dim=2)
            grad_w -= slope.sum(dim=0)
        return grad_x, grad_w, None


def _rows(w: torch.Tensor) -> int:
    return max(1, CACHED // w.numel())


def _largest(ratio: torch.Tensor) -> torch.Tensor:
    """The slope of a maximum |d|, from d/max: the sign at the place where it is reached."""
    place = ratio.abs().argmax(dim=3, keepdim=True)
    return torch.zeros_like(ratio).scatter_(3, place, ratio.gather(3, place).sign())


def patch_norm(y: torch.Tensor, weight: torch.Tensor, patches: torch.Tensor, power: Power | None) -> torch.Tensor:
    """[B, g·n] from y [B, i] and weight [g·n, i]: n units on each of the `patches` [g, k]."""
    g, k = patches.shape
    units = weight.reshape(g, -1, weight.shape[1])
    whole = g == 1 and k == weight.shape[1]
    x = y[:, None] if whole else y[:, patches]
    w = units if whole else units.gather(2, patches[:, None].expand(-1, units.shape[1], -1))
    out = _PatchNorm.apply(x, w, power)
    assert isinstance(out, torch.Tensor)
    return out.flatten(1)
