"""The norms of powers.py as Triton kernels, float32: a pass for the maximum, a pass for the powers, nothing stored.

Loops take `AT_ONCE` terms a turn where the number of terms allows it, in the same order: loads of one term are under
way while another is computed.

    forward     out[n, b] = ‖x[:, b] − w[:, n]‖_p          x [K, B], w [K, N]
    backward    o[k, j] = Σ_l ((a[k, j] − v[l, k])·s[l, j])^(p−1)·g[l, j],  s = 1/out

The gradients in x and in w are the same sum with the roles exchanged. This file is the one import of Triton.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from smilenn.model.encoders.powers import Power

BUSY = 300  # programs that keep a GPU busy: tiles are halved until there are as many
AT_ONCE = 8


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
    TN: tl.constexpr,
    TB: tl.constexpr,
):
    b = tl.program_id(0) * TB + tl.arange(0, TB)
    n = tl.program_id(1) * TN + tl.arange(0, TN)
    inside = (n < N)[:, None] & (b < B)[None, :]
    most = tl.zeros([TN, TB], tl.float32)
    at = tl.zeros([TN, TB], tl.int32)
    for first in range(0, K, turn):
        for i in tl.static_range(turn):
            k = first + i
            row, unit = tl.load(x + k * B + b, mask=b < B, other=0.0), tl.load(w + k * N + n, mask=n < N, other=0.0)
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
                row, unit = tl.load(x + k * B + b, mask=b < B, other=0.0), tl.load(w + k * N + n, mask=n < N, other=0.0)
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
    TK: tl.constexpr,
    TJ: tl.constexpr,
):
    j = tl.program_id(0) * TJ + tl.arange(0, TJ)
    k = tl.program_id(1) * TK + tl.arange(0, TK)
    inside = (k < K)[:, None] & (j < J)[None, :]
    given = tl.load(a + k[:, None] * J + j[None, :], mask=inside, other=0.0)
    total = tl.zeros([TK, TJ], tl.float32)
    for first in range(0, L, turn):
        for i in tl.static_range(turn):
            at = first + i
            d = given - tl.load(v + at * K + k, mask=k < K, other=0.0)[:, None]
            d = d * tl.load(s + at * J + j, mask=j < J, other=0.0)[None, :]
            square = d * d
            e = square
            if three:
                e = square * square * square
            for _ in tl.static_range(steps):
                e = e * e
            total += (e * d) * tl.load(g + at * J + j, mask=j < J, other=0.0)[None, :]
    tl.store(o + k[:, None] * J + j[None, :], total, mask=inside)


def _turn(terms: int) -> int:
    """How many terms a turn of a loop takes."""
    return AT_ONCE if terms % AT_ONCE == 0 else 1


def _tile(rows: int, columns: int) -> tuple[int, int]:
    """The largest tile that still keeps the GPU busy."""
    for tile in (64, 64), (32, 64), (32, 32), (16, 32):
        tile = (16 if rows <= 16 else min(tile[0], 32 if rows <= 32 else 64), min(tile[1], 32 if columns <= 32 else 64))
        if triton.cdiv(rows, tile[0]) * triton.cdiv(columns, tile[1]) >= BUSY:
            break
    return tile


def norms(x: torch.Tensor, w: torch.Tensor, power: Power | None) -> tuple[torch.Tensor, torch.Tensor]:
    """x [K, B], w [K, N] → ‖·‖ [N, B], and where the maximum lies (2k, or 2k + 1 if d < 0) if no power is given."""
    (k, b), n = x.shape, w.shape[1]
    out = torch.empty(n, b, device=x.device, dtype=torch.float32)
    place = torch.empty(n, b, device=x.device, dtype=torch.int32)
    tn, tb = _tile(n, b)
    steps, three, inverse = (0, False, 0.0) if power is None else (power.steps, power.three, 1 / power.p)
    grid = (triton.cdiv(b, tb), triton.cdiv(n, tn))
    kernel: Any = _forward
    kernel[grid](
        x, w, out, place, k, n, b, inverse, steps=steps, three=three, largest=power is None, turn=_turn(k), TN=tn, TB=tb
    )
    return out, place


def slopes(a: torch.Tensor, v: torch.Tensor, s: torch.Tensor, g: torch.Tensor, power: Power) -> torch.Tensor:
    """The sum of `backward` for a [K, J], v [L, K], s and g [L, J]: [K, J]."""
    (k, j), terms = a.shape, v.shape[0]
    o = torch.empty(k, j, device=a.device, dtype=torch.float32)
    tk, tj = _tile(k, j)
    grid = (triton.cdiv(j, tj), triton.cdiv(k, tk))
    kernel: Any = _backward
    kernel[grid](a, v, s, g, o, k, j, terms, steps=power.steps, three=power.three, turn=_turn(terms), TK=tk, TJ=tj)
    return o


class _Norm(torch.autograd.Function):
    """‖x_b − w_j‖_p for rows x [B, i] and w [j, i], float32 on a GPU; no power: the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
        columns, weights = x.T.contiguous(), w.T.contiguous()
        out, place = norms(columns, weights, power)
        ctx.power = power
        ctx.save_for_backward(columns, weights, out, place)
        return out.T

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None]:
        columns, weights, out, place = ctx.saved_tensors
        g = grad_outputs[0].T.contiguous()  # [N, B]
        wanted = ctx.needs_input_grad[0]
        if ctx.power is None:
            signed = g * (1 - 2 * (place & 1)).to(g.dtype)
            at = (place >> 1).long()
            to_x = torch.zeros_like(columns).scatter_add_(0, at, signed).T if wanted else None
            to_w = torch.zeros_like(weights).scatter_add_(0, at.T.contiguous(), -signed.T.contiguous())
            return to_x, to_w.T, None
        scale = 1 / out.clamp(min=1e-30)
        to_x = slopes(columns, weights.T.contiguous(), scale, g, ctx.power).T if wanted else None
        to_w = slopes(weights, columns.T.contiguous(), scale.T.contiguous(), g.T.contiguous(), ctx.power)
        return to_x, to_w.T, None


def norm(x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
    """‖x_b − w_j‖_p [B, j] for rows x [B, i] and w [j, i]."""
    out = _Norm.apply(x, w, power)
    assert isinstance(out, torch.Tensor)
    return out
