"""Distances to patches: each unit reads one group of columns, ``y_gj = ‖x_g − w_gj‖_p``, in training only.

A deployed unit reads every column, and so it needs nothing that a distance layer does not have. The columns outside its
patch get the middle of their range as weights: they then stay within half a range of it,

    max_i |x_i − w_ji| = max(max over the patch, max outside ≤ ½),

and a unit whose patch is never closer than that ignores them. A unit that is closer is another function, as robust as
any distance.

Only the weights of its patch learn, [g, k, n] for n units on each of g patches. powers.py has the formulas, and
patches_numba.py the same as compiled loops. Here differences [b, g, j, k] are formed for a few rows at a time, so that
they stay in a processor's cache. Rows without a gradient, whose label is certain, cost nothing on the way back.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.model.encoders.powers import Power, factors, raised

CACHED = 1 << 18  # elements of a block of differences: 1 MiB of float32


def squares(inputs: int) -> np.ndarray:
    """Pixels of overlapping squares [g, k], half the side of the image long and a quarter apart: 9 where 4 divides it.

    >>> squares(64).shape, squares(784).shape
    ((9, 16), (9, 196))
    """
    side = math.isqrt(inputs)
    if side * side != inputs:
        raise SmileError(f"Patches need a square image; {inputs} columns are not square.")
    size, step = (side + 1) // 2, max(1, side // 4)
    starts = sorted({*range(0, side - size, step), side - size})
    pixels = np.arange(inputs).reshape(side, side)
    return np.stack([pixels[r : r + size, c : c + size].ravel() for r in starts for c in starts])


class _PatchNorm(torch.autograd.Function):
    """‖x_bg − w_gj‖_p [B, g, j] of x [B, g, k] and w [g, j, k]; without a power the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
        out, tiny = x.new_empty(len(x), *w.shape[:2]), torch.finfo(x.dtype).tiny
        rows = min(len(x), _rows(w))
        # two blocks for all rows: a fresh one for each operation would cost more than the operation
        first, second = x.new_empty(rows, *w.shape), x.new_empty(rows, *w.shape)
        for part, most in zip(x.split(rows), out.split(rows), strict=True):
            d, e = first[: len(part)], second[: len(part)]
            torch.sub(part[:, :, None, :], w, out=d)
            if power is None:
                torch.amax(d.abs_(), dim=3, out=most)
                continue
            torch.amax(d.mul_(d), dim=3, out=most)
            square = d.mul_(most.clamp(min=tiny).reciprocal_()[..., None])
            most.sqrt_().mul_(raised(square, power, e).mul_(square).sum(dim=3).pow_(1 / power.p))
        ctx.save_for_backward(x, w, out)
        ctx.power = power
        return out

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None]:
        (grad,) = grad_outputs
        x, w, out = ctx.saved_tensors
        moving = grad.flatten(1).any(dim=1).nonzero()[:, 0]
        grad_x, grad_w = torch.zeros_like(x) if ctx.needs_input_grad[0] else None, torch.zeros_like(w)
        rows = min(len(x), _rows(w))
        first, second, third = (x.new_empty(rows, *w.shape) for _ in range(3))
        for some in moving.split(rows):
            d, square, e = first[: len(some)], second[: len(some)], third[: len(some)]
            torch.sub(x[some][:, :, None, :], w, out=d)
            d.mul_(factors(out[some], grad[some], ctx.power)[..., None])
            if ctx.power is None:
                slope = _largest(d).mul_(grad[some][..., None])
            else:
                slope = raised(torch.mul(d, d, out=square), ctx.power, e).mul_(d)
            if grad_x is not None:
                grad_x[some] = slope.sum(dim=2)
            grad_w -= slope.sum(dim=0)
        return grad_x, grad_w, None


def _rows(w: torch.Tensor) -> int:
    return max(1, CACHED // w.numel())


def _largest(ratio: torch.Tensor) -> torch.Tensor:
    """The slope of a maximum |d|, from d/max: the sign at the place where it is reached."""
    place = ratio.abs().argmax(dim=3, keepdim=True)
    return torch.zeros_like(ratio).scatter_(3, place, ratio.gather(3, place).sign())


def patch_norm(y: torch.Tensor, w: torch.Tensor, patches: torch.Tensor, power: Power | None) -> torch.Tensor:
    """[B, g·n] from y [B, i], w [g, k, n] and patches [g, k]: n units on each of the patches.

    By compiled loops in float32 on a processor that has numba, by torch's operations otherwise.
    """
    if y.device.type == "cpu" and y.dtype == torch.float32 and has_numba():
        from smilenn.model.encoders.patches_numba import patch_norm as quick

        return quick(y, w, patches, power).flatten(1)
    out = _PatchNorm.apply(y[:, patches], w.transpose(1, 2).contiguous(), power)
    assert isinstance(out, torch.Tensor)
    return out.flatten(1)


@lru_cache(maxsize=1)
def has_numba() -> bool:
    """Whether numba is installed, which the extra `fast` brings."""
    return find_spec("numba") is not None
