"""The norms of powers.py as Triton kernels, float32: a pass for the maximum, a pass for the powers, nothing stored.

A program computes one tile of the result. Where tiles are too few to keep a GPU busy, sums and maxima are cut into
`parts` that programs of their own compute, and the parts are put together afterwards. How many there are follows from
the shapes alone, so a step gives the same bits every time. Within a part terms are added in their order, whatever the
tile, so tiles and warps change the time and no bit.

Loops take several terms a turn, `AT_ONCE` differences a thread: loads of one term are under way while another is
computed. A thread has 32 results, so that a number it loads serves several. Where tiles cover the tensors without a
rest nothing is masked.

    forward     out[n, b] = ‖x[:, b] − w[:, n]‖_p          x [K, B], w [K, N]
    backward    o[j, k] = Σ_l ((a[k, j] − v[l, k])·s[l, j])^(p−1)·g[l, j],  s = 1/out

The gradients in x and in w are the same sum with the roles exchanged, and stored as x and w are. This file is the one
import of Triton.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from smilenn.model.encoders.powers import Power

LEAST = 64  # terms that a part has at least
AT_ONCE = 128  # differences that a thread computes in one turn of a loop
LANES = 32  # threads of a warp
CELLS = 512  # results that a program puts together


@dataclass(frozen=True)
class Tile:
    """What one program computes, rows × columns, with how many warps, and how many such programs keep a GPU busy.

    Sums are cut in halves until there are as many.
    """

    rows: int
    columns: int
    warps: int
    busy: int = 0


# measured on an H200 (benchmarks/tiles.py)
NORMS, SLOPES = Tile(64, 32, 2, busy=1280), Tile(64, 64, 4, busy=640)


@triton.jit
def _read(start, at, size, whole: tl.constexpr):
    if whole:
        return tl.load(start + at)
    else:
        return tl.load(start + at, mask=at < size, other=0.0)


@triton.jit
def _maxima(
    x,
    w,
    out,
    place,
    N,
    B,
    each,
    largest: tl.constexpr,
    turn: tl.constexpr,
    whole: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    b = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    n = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(2)
    inside = None if whole else (n < N)[:, None] & (b < B)[None, :]
    cells = part * N * B + n[:, None] * B + b[None, :]
    most = tl.load(out + cells, mask=inside)  # zeros, laid out as they are stored
    at = tl.zeros([ROWS, COLUMNS], tl.int32)
    for first in range(part * each, (part + 1) * each, turn):
        for i in tl.static_range(turn):
            k = first + i
            d = _read(x + k * B, b, B, whole)[None, :] - _read(w + k * N, n, N, whole)[:, None]
            if largest:
                at = tl.where(tl.abs(d) > most, tl.where(d < 0, 2 * k + 1, 2 * k), at)
            most = tl.maximum(most, tl.abs(d))
    tl.store(out + cells, most, mask=inside)
    if largest:
        tl.store(place + cells, at, mask=inside)


@triton.jit
def _raised(square, steps: tl.constexpr, three: tl.constexpr):
    e = square
    if three:
        e = square * square * square
    for _ in tl.static_range(steps):
        e = e * e
    return e


@triton.jit
def _powers(
    x,
    w,
    most,
    out,
    N,
    B,
    parts,
    each,
    steps: tl.constexpr,
    three: tl.constexpr,
    turn: tl.constexpr,
    whole: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    b = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    n = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(2)
    inside = None if whole else (n < N)[:, None] & (b < B)[None, :]
    cells = n[:, None] * B + b[None, :]
    largest = tl.load(most + cells, mask=inside)
    for other in range(1, parts):
        largest = tl.maximum(largest, tl.load(most + other * N * B + cells, mask=inside))
    scale = 1.0 / tl.maximum(largest, 1e-30)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(part * each, (part + 1) * each, turn):
        for i in tl.static_range(turn):
            k = first + i
            d = _read(x + k * B, b, B, whole)[None, :] - _read(w + k * N, n, N, whole)[:, None]
            d = d * scale
            square = d * d
            total += _raised(square, steps, three) * square
    tl.store(out + part * N * B + cells, total, mask=inside)


@triton.jit
def _joined(most, sums, out, cells, parts, inverse, SIZE: tl.constexpr):
    """out [cells] from the maxima and sums of all parts, [parts, cells] each."""
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = at < cells
    largest = tl.load(most + at, mask=inside)
    total = tl.load(sums + at, mask=inside)
    for part in range(1, parts):
        largest = tl.maximum(largest, tl.load(most + part * cells + at, mask=inside))
        total += tl.load(sums + part * cells + at, mask=inside)
    value = largest * tl.exp2(tl.log2(tl.maximum(total, 1e-30)) * inverse)
    tl.store(out + at, value, mask=inside)


@triton.jit
def _slopes(
    a,
    v,
    s,
    g,
    out,
    K,
    J,
    each,
    steps: tl.constexpr,
    three: tl.constexpr,
    turn: tl.constexpr,
    whole: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    j = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(2)
    inside = None if whole else (k < K)[:, None] & (j < J)[None, :]
    cells = k[:, None] * J + j[None, :]
    given = tl.load(a + cells, mask=inside)
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(part * each, (part + 1) * each, turn):
        for i in tl.static_range(turn):
            at = first + i
            d = given - _read(v + at * K, k, K, whole)[:, None]
            d = d * _read(s + at * J, j, J, whole)[None, :]
            total += (_raised(d * d, steps, three) * d) * _read(g + at * J, j, J, whole)[None, :]
    tl.store(out + part * K * J + j[None, :] * K + k[:, None], total, mask=inside)


@dataclass(frozen=True)
class _Plan:
    """How a result [rows, columns] of so many terms is shared out: programs, parts, and what a kernel is told."""

    tile: Tile
    rows: int
    columns: int
    terms: int
    parts: int

    @property
    def grid(self) -> tuple[int, int, int]:
        """Programs along columns, rows and parts."""
        tile = self.tile
        return triton.cdiv(self.columns, tile.columns), triton.cdiv(self.rows, tile.rows), self.parts

    def told(self) -> dict[str, Any]:
        """Terms of a part and of a turn, whether tiles cover everything, their sides, their warps."""
        tile, each = self.tile, self.terms // self.parts
        threads = tile.rows * tile.columns // (tile.warps * LANES)
        return {
            "each": each,
            "turn": math.gcd(each, max(1, AT_ONCE // threads)),
            "whole": self.rows % tile.rows == 0 and self.columns % tile.columns == 0,
            "ROWS": tile.rows,
            "COLUMNS": tile.columns,
            "num_warps": tile.warps,
        }


def plan(terms: int, rows: int, columns: int, tile: Tile, parts: int | None = None) -> _Plan:
    """Parts are halved while programs are too few, as long as terms can be halved."""
    count, programs = 1, triton.cdiv(rows, tile.rows) * triton.cdiv(columns, tile.columns)
    while programs * count < tile.busy and terms % (2 * count) == 0 and terms >= 2 * count * LEAST:
        count *= 2
    return _Plan(tile, rows, columns, terms, count if parts is None else parts)


def norms(
    x: torch.Tensor, w: torch.Tensor, power: Power | None, tile: Tile = NORMS, parts: int | None = None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """x [K, B], w [K, N] → ‖·‖ [N, B], and where the maximum lies (2k, or 2k + 1 if d < 0) if no power is given."""
    (k, b), n = x.shape, w.shape[1]
    how = plan(k, n, b, tile, parts)
    most = torch.zeros(how.parts, n, b, device=x.device, dtype=torch.float32)
    place = torch.empty_like(most, dtype=torch.int32) if power is None else most  # not touched otherwise
    first: Any = _maxima
    first[how.grid](x, w, most, place, n, b, largest=power is None, **how.told())
    if power is None:
        value, part = most.max(dim=0)  # the first of equal ones
        return value, place.gather(0, part[None])[0]
    sums, out = torch.empty_like(most), torch.empty_like(most[0])
    second: Any = _powers
    second[how.grid](x, w, most, sums, n, b, how.parts, steps=power.steps, three=power.three, **how.told())
    third: Any = _joined
    third[(triton.cdiv(n * b, CELLS),)](most, sums, out, n * b, how.parts, 1 / power.p, SIZE=CELLS)
    return out, None


def slopes(
    a: torch.Tensor,
    v: torch.Tensor,
    s: torch.Tensor,
    g: torch.Tensor,
    power: Power,
    tile: Tile = SLOPES,
    parts: int | None = None,
) -> torch.Tensor:
    """The sum of `backward` for a [K, J], v [L, K], s and g [L, J], turned: [J, K]."""
    (k, j), terms = a.shape, v.shape[0]
    how = plan(terms, k, j, tile, parts)
    out = torch.empty(how.parts, j, k, device=a.device, dtype=torch.float32)
    kernel: Any = _slopes
    kernel[how.grid](a, v, s, g, out, k, j, steps=power.steps, three=power.three, **how.told())
    return out[0] if how.parts == 1 else out.sum(dim=0)


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
        to_x = slopes(columns, w, scale, g, ctx.power) if wanted else None
        to_w = slopes(weights, x, scale.T.contiguous(), g.T.contiguous(), ctx.power)
        return to_x, to_w, None


def norm(x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
    """‖x_b − w_j‖_p [B, j] for rows x [B, i] and w [j, i]."""
    out = _Norm.apply(x, w, power)
    assert isinstance(out, torch.Tensor)
    return out
