"""The norms of patches.py as loops that numba compiles for the processor, float32: no differences are stored.

    forward     out[b, g, j] = ‖x[b, patch g] − w[g, :, j]‖_p                     x [B, i], w [g, k, j], patches [g, k]
    backward    s = ((x[b, patches[g, k]] − w[g, k, j])·f[b, g, j])^(p−1)
                grad_w[g, k, j] = −Σ_b s,   grad_x[b, patches[g, k]] = Σ_gj s

f = |grad|^(1/(p−1))·sign(grad)/out makes s the slope times the gradient (powers.py). The inner loops run over units j,
which lie side by side, and become vector instructions. Each power has kernels of its own, whose squarings are known
when they are compiled; that takes a second a power, once a process.

Powers below 2^−90 of the largest are raised to that. They add nothing to a sum of float32, and their products would be
too small to be normal numbers, which a processor multiplies many times as slowly.

The loops run without Python's lock, so nets learn in threads of their own (train/apart.py). They are for training
alone: a deployed network computes as distance.py says. This file is the one import of numba.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
import torch

from smilenn.model.encoders.powers import STEPS, Power, factors

Kernel = Callable[..., None]
LEAST = 2.0**-90  # of a power
TINY, ZERO, ONE = np.float32(1e-30), np.float32(0), np.float32(1)
ROWS, WEIGHTS, NORMS, PLACES, PATCHES = "f4[:, ::1]", "f4[:, :, ::1]", "f4[:, :, ::1]", "i4[:, :, ::1]", "i8[:, ::1]"
_inlined: Any = numba.njit(fastmath=True)
_COMPILING = threading.Lock()


def _compiled(*types: str) -> Callable[[Kernel], Kernel]:
    # fast: sums in any order, since vector instructions add several terms at a time
    return numba.njit(f"void({', '.join(types)})", nogil=True, fastmath=True, error_model="numpy")


@_inlined
def _more(a: Any, b: Any) -> Any:
    return a if a > b else b


def kernels(power: Power | None) -> tuple[Kernel, Kernel]:
    """Forward and backward of a power, or of the maximum, compiled once: a second net waits for the first."""
    with _COMPILING:
        return _largest() if power is None else _powers(power)


@lru_cache(maxsize=2 * STEPS)
def _powers(power: Power) -> tuple[Kernel, Kernel]:
    """`forward(x, w, patches, out)` and `backward(x, w, patches, f, grad_w, grad_x)` of a power, as on top.

    Forward takes four terms a turn: the sums so far then go to memory and back a quarter as often. An empty grad_x is
    not wanted.
    """
    steps, three, inverse = power.steps, power.three, np.float32(1 / power.p)
    floor = np.float32(LEAST ** (2 / power.p))

    @_inlined
    def raised(square: Any) -> Any:
        e = square * square * square if three else square
        for _ in range(steps):
            e = e * e
        return e

    @_inlined
    def term(r: Any) -> Any:
        square = _more(r * r, floor)
        return raised(square) * square

    @_compiled(ROWS, WEIGHTS, PATCHES, NORMS)
    def forward(x: Any, w: Any, patches: Any, out: Any) -> None:
        groups, terms, units = w.shape
        fours = terms - terms % 4
        scale, total = np.empty(units, np.float32), np.empty(units, np.float32)
        for g in range(groups):
            own = patches[g]
            for b in range(len(x)):
                most = out[b, g]
                for j in range(units):
                    most[j], total[j] = TINY, ZERO
                for k in range(0, fours, 4):
                    v0, v1, v2, v3 = x[b, own[k]], x[b, own[k + 1]], x[b, own[k + 2]], x[b, own[k + 3]]
                    for j in range(units):
                        first = _more(abs(v0 - w[g, k, j]), abs(v1 - w[g, k + 1, j]))
                        second = _more(abs(v2 - w[g, k + 2, j]), abs(v3 - w[g, k + 3, j]))
                        most[j] = _more(most[j], _more(first, second))
                for k in range(fours, terms):
                    value = x[b, own[k]]
                    for j in range(units):
                        most[j] = _more(most[j], abs(value - w[g, k, j]))
                for j in range(units):
                    scale[j] = ONE / most[j]
                for k in range(0, fours, 4):
                    v0, v1, v2, v3 = x[b, own[k]], x[b, own[k + 1]], x[b, own[k + 2]], x[b, own[k + 3]]
                    for j in range(units):
                        s = scale[j]
                        first = term((v0 - w[g, k, j]) * s) + term((v1 - w[g, k + 1, j]) * s)
                        second = term((v2 - w[g, k + 2, j]) * s) + term((v3 - w[g, k + 3, j]) * s)
                        total[j] += first + second
                for k in range(fours, terms):
                    value = x[b, own[k]]
                    for j in range(units):
                        total[j] += term((value - w[g, k, j]) * scale[j])
                for j in range(units):
                    most[j] *= total[j] ** inverse

    @_compiled(ROWS, WEIGHTS, PATCHES, NORMS, WEIGHTS, ROWS)
    def backward(x: Any, w: Any, patches: Any, f: Any, grad_w: Any, grad_x: Any) -> None:
        groups, terms, units = w.shape
        wanted = len(grad_x) > 0
        for g in range(groups):
            for b in range(len(x)):
                for k in range(terms):
                    value, found = x[b, patches[g, k]], ZERO
                    for j in range(units):
                        r = (value - w[g, k, j]) * f[b, g, j]
                        slope = raised(_more(r * r, floor)) * r
                        grad_w[g, k, j] -= slope
                        found += slope
                    if wanted:
                        grad_x[b, patches[g, k]] += found

    return forward, backward


@lru_cache(maxsize=1)
def _largest() -> tuple[Kernel, Kernel]:
    """The same of the maximum: `forward(x, w, patches, out, place)`, `backward(place, patches, grad, grad_w, grad_x)`.

    place [B, g, j] says which term is the largest: 2k, or 2k + 1 if the difference is negative.
    """

    @_compiled(ROWS, WEIGHTS, PATCHES, NORMS, PLACES)
    def forward(x: Any, w: Any, patches: Any, out: Any, place: Any) -> None:
        groups, terms, units = w.shape
        for g in range(groups):
            for b in range(len(x)):
                most, at = out[b, g], place[b, g]
                for k in range(terms):
                    value = x[b, patches[g, k]]
                    for j in range(units):
                        d = value - w[g, k, j]
                        more = abs(d) > most[j]
                        at[j] = np.int32(2 * k + (d < ZERO)) if more else at[j]
                        most[j] = abs(d) if more else most[j]

    @_compiled(PLACES, PATCHES, NORMS, WEIGHTS, ROWS)
    def backward(place: Any, patches: Any, grad: Any, grad_w: Any, grad_x: Any) -> None:
        rows, groups, units = grad.shape
        wanted = len(grad_x) > 0
        for g in range(groups):
            for b in range(rows):
                for j in range(units):
                    k, negative = divmod(place[b, g, j], 2)
                    slope = -grad[b, g, j] if negative else grad[b, g, j]
                    grad_w[g, k, j] -= slope
                    if wanted:
                        grad_x[b, patches[g, k]] += slope

    return forward, backward


class _PatchNorm(torch.autograd.Function):
    """The norms [B, g, j] on top, and their gradients; without a power the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, patches: torch.Tensor, power: Power | None) -> torch.Tensor:
        x, w = x.contiguous(), w.contiguous()
        given, shape = (x.numpy(), w.numpy(), patches.numpy()), (len(x), w.shape[0], w.shape[2])
        out = kept = torch.zeros(shape)
        if power is None:
            kept = torch.zeros(shape, dtype=torch.int32)
            kernels(None)[0](*given, out.numpy(), kept.numpy())
        else:
            kernels(power)[0](*given, out.numpy())
        ctx.save_for_backward(x, w, patches, kept)
        ctx.power = power
        return out

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None, None]:
        grad, (x, w, patches, kept) = grad_outputs[0].contiguous(), ctx.saved_tensors
        wanted = ctx.needs_input_grad[0]
        grad_w, grad_x = torch.zeros_like(w), torch.zeros_like(x) if wanted else x.new_empty(0, x.shape[1])
        found = grad_w.numpy(), grad_x.numpy()
        if ctx.power is None:
            kernels(None)[1](kept.numpy(), patches.numpy(), grad.numpy(), *found)
        else:
            each = factors(kept, grad, ctx.power).numpy()
            kernels(ctx.power)[1](x.numpy(), w.numpy(), patches.numpy(), each, *found)
        return grad_x if wanted else None, grad_w, None, None


def patch_norm(x: torch.Tensor, w: torch.Tensor, patches: torch.Tensor, power: Power | None) -> torch.Tensor:
    """The norms [B, g, j] of x [B, i], w [g, k, j] and patches [g, k], float32 on a processor."""
    out = _PatchNorm.apply(x, w, patches, power)
    assert isinstance(out, torch.Tensor)
    return out
