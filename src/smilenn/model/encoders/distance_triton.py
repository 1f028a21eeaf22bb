"""The norms of powers.py as Triton kernels, float32: a pass for the maximum, a pass for the powers, nothing stored.

Loops take several terms a turn, `AT_ONCE` differences a thread, in the same order: loads of one term are under way
while another is computed. Where tiles cover the tensors without a rest nothing is masked. Sums run through the
terms in their order whatever the tile, so tiles and warps change the time and no bit.

    forward     out[n, b] = ‖x[:, b] − w[:, n]‖_p          x [K, B], w [K, N]
    backward    o[k, j] = Σ_l ((a[k, j] − v[l, k])·s[l, j])^(p−1)·g[l, j],  s = 1/out

The gradients in x and in w are the same sum with the roles exchanged. This file is the one import of Triton.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from smilenn.model.encoders.powers import Power

BUSY = 300  # programs that keep a GPU busy: tiles are halved until there are as many
AT_ONCE = 128  # differences that a thread computes in one turn of a loop
LANES = 32  # threads of a warp


@dataclass(frozen=True)
class Tile:
    """What one program computes, rows × columns, and with how many warps."""

    rows: int
    columns: int
    warps: int


TILES = (Tile(64, 32, 2), Tile(32, 32, 4), Tile(16, 32, 4))  # the largest first; measured on an H200


@triton.jit
def _read(start, at, size, whole: tl.constexpr):
    if whole:
        return tl.load(start + at)
    else:
        return tl.load(start + at, mask=at < size, other=0.0)


@triton.jit
def _forward(
    x,
    w,
    out,
    place,
    K,
    N,
    B,
    inverse,
    steps: tl.constexpr,
    three: tl.constexpr,
    largest: tl.constexpr,
    turn: tl.constexpr,
    whole: tl.constexpr,
    TN: tl.constexpr,
    TB: tl.constexpr,
):
    b = tl.program_id(0) * TB + tl.arange(0, TB)
    n = tl.program_id(1) * TN + tl.arange(0, TN)
    inside = None if whole else (n < N)[:, None] & (b < B)[None, :]
    most = tl.load(out + n[:, None] * B + b[None, :], mask=inside)  # zeros, laid out as they are stored
    at = tl.zeros([TN, TB], tl.int32)
    for first in range(0, K, turn):
        for i in tl.static_range(turn):
            k = first + i
            row, unit = _read(x + k * B, b, B, whole), _read(w + k * N, n, N, whole)
            d = row[None, :] - unit[:, None]
            if largest:
                more = tl.abs(d) > most
                at = tl.where(more, tl.where(d < 0, 2 * k + 1, 2 * k), at)
            most = tl.maximum(most, tl.abs(d))
    value = most
    if largest:
        tl.store(place + n[:, None] * B + b[None, :], at, mask=inside)
    else:
        scale = 1.0 / tl.maximum(most, 1e-30)
        total = tl.zeros([TN, TB], tl.float32)
        for first in range(0, K, turn):
            for i in tl.static_range(turn):
                k = first + i
                row, unit = _read(x + k * B, b, B, whole), _read(w + k * N, n, N, whole)
                d = (row[None, :] - unit[:, None]) * scale
                square = d * d
                e = square
                if three:
                    e = square * square * square
                for _ in tl.static_range(steps):
                    e = e * e
                total += e * square
        value = most * tl.exp2(tl.log2(tl.maximum(total, 1e-30)) * inverse)
    tl.store(out + n[:, None] * B + b[None, :], value, mask=inside)


@triton.jit
def _backward(
    a,
    v,
    s,
    g,
    o,
    K,
    J,
    L,
    steps: tl.constexpr,
    three: tl.constexpr,
    turn: tl.constexpr,
    whole: tl.constexpr,
    TK: tl.constexpr,
    TJ: tl.constexpr,
):
    j = tl.program_id(0) * TJ + tl.arange(0, TJ)
    k = tl.program_id(1) * TK + tl.arange(0, TK)
    inside = None if whole else (k < K)[:, None] & (j < J)[None, :]
    given = tl.load(a + k[:, None] * J + j[None, :], mask=inside)
    total = tl.zeros([TK, TJ], tl.float32)
    for first in range(0, L, turn):
        for i in tl.static_range(turn):
            at = first + i
            d = given - _read(v + at * K, k, K, whole)[:, None]
            d = d * _read(s + at * J, j, J, whole)[None, :]
            square = d * d
            e = square
            if three:
                e = square * square * square
            for _ in tl.static_range(steps):
                e = e * e
            total += (e * d) * _read(g + at * J, j, J, whole)[None, :]
    tl.store(o + k[:, None] * J + j[None, :], total, mask=inside)


def tile_for(rows: int, columns: int) -> Tile:
    """The largest tile that still keeps the GPU busy."""
    busy = (one for one in TILES if triton.cdiv(rows, one.rows) * triton.cdiv(columns, one.columns) >= BUSY)
    return next(busy, TILES[-1])


def norms(
    x: torch.Tensor, w: torch.Tensor, power: Power | None, tile: Tile | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """x [K, B], w [K, N] → ‖·‖ [N, B], and where the maximum lies (2k, or 2k + 1 if d < 0) if no power is given."""
    (k, b), n = x.shape, w.shape[1]
    out = torch.zeros(n, b, device=x.device, dtype=torch.float32)
    place = torch.empty(n, b, device=x.device, dtype=torch.int32)
    tile = tile or tile_for(n, b)
    steps, three, inverse = (0, False, 0.0) if power is None else (power.steps, power.three, 1 / power.p)
    kernel: Any = _forward
    kernel[(triton.cdiv(b, tile.columns), triton.cdiv(n, tile.rows))](
        *(x, w, out, place, k, n, b, inverse),
        steps=steps,
        three=three,
        largest=power is None,
        **_shape(tile, k, n, b, "TN", "TB"),
    )
    return out, place


def slopes(
    a: torch.Tensor, v: torch.Tensor, s: torch.Tensor, g: torch.Tensor, power: Power, tile: Tile | None = None
) -> torch.Tensor:
    """The sum of `backward` for a [K, J], v [L, K], s and g [L, J]: [K, J]."""
    (k, j), terms = a.shape, v.shape[0]
    o = torch.empty(k, j, device=a.device, dtype=torch.float32)
    tile = tile or tile_for(k, j)
    kernel: Any = _backward
    kernel[(triton.cdiv(j, tile.columns), triton.cdiv(k, tile.rows))](
        *(a, v, s, g, o, k, j, terms),
        steps=power.steps,
        three=power.three,
        **_shape(tile, terms, k, j, "TK", "TJ"),
    )
    return o


def _shape(tile: Tile, terms: int, rows: int, columns: int, *names: str) -> dict[str, Any]:
    """What a kernel is told of its tile: terms a turn, whether tiles cover everything, their sides, their warps."""
    each = tile.rows * tile.columns // (tile.warps * LANES)
    return {
        "turn": math.gcd(terms, max(1, AT_ONCE // each)),
        "whole": rows % tile.rows == 0 and columns % tile.columns == 0,
        names[0]: tile.rows,
        names[1]: tile.columns,
        "num_warps": tile.warps,
    }


class _Norm(torch.autograd.Function):
    """‖x_b − w_j‖_p for rows x [B, i] and w [j, i], float32 on a GPU; no power: the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
        columns, weights = x.T.contiguous(), w.T.contiguous()
        out, place = norms(columns, weights, power)
        ctx.power = power
        ctx.save_for_backward(x.contiguous(), columns, w.contiguous(), weights, out, place)
        return out.T

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None]:
        x, columns, w, weights, out, place = ctx.saved_tensors
        g = grad_outputs[0].T.contiguous()  # [N, B]
        wanted = ctx.needs_input_grad[0]
        if ctx.power is None:
            signed = g * (1 - 2 * (place & 1)).to(g.dtype)
            at = (place >> 1).long()
            to_x = torch.zeros_like(columns).scatter_add_(0, at, signed).T if wanted else None
            to_w = torch.zeros_like(weights).scatter_add_(0, at.T.contiguous(), -signed.T.contiguous())
            return to_x, to_w.T, None
        scale = 1 / out.clamp(min=1e-30)
        to_x = slopes(columns, w, scale, g, ctx.power).T if wanted else None
        to_w = slopes(weights, x, scale.T.contiguous(), g.T.contiguous(), ctx.power)
        return to_x, to_w.T, None


def norm(x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
    """‖x_b − w_j‖_p [B, j] for rows x [B, i] and w [j, i]."""
    out = _Norm.apply(x, w, power)
    assert isinstance(out, torch.Tensor)
    return out
