"""Numeric profiles: what is known of the rounding when the certified part of a network is evaluated.

    f64-aux       float64, sums in any order: every output errs by at most a margin that the checker computes
    fixed-order   float64, every sum  ((b + w_1·y_1) + w_2·y_2) + …  in this order, products rounded before they are
                  added, the same for every row of a batch. Rounding is monotone, so a network that is monotone by the
                  signs of its weights is monotone bit for bit
    dyadic        inputs on a grid of 2^-g and weights that are short multiples of powers of two, so that no operation
                  rounds at all, in whatever order

docs/certificate.md §5 has the rules and their proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from smilenn.errors import SmileError

if TYPE_CHECKING:
    import torch

Profile = Literal["f64-aux", "fixed-order", "dyadic"]
PROFILES: tuple[Profile, ...] = ("f64-aux", "fixed-order", "dyadic")
BLOCK = 2**14  # products computed at once, where rows are few
PARTIAL = 2**15  # partial sums that are kept at once: of few, calls are what a sum costs
TILE = 2**16  # sums of a tile: 512 KiB, and as much again for its products
FEW = 2**11  # sums that are few enough for a call to cost more than its numbers
WIDE = 2**24  # the same on a GPU, where calls are what a sum costs
TINY, HALF = 2.0**-1074, 2.0**-53  # the least positive number; half a unit in the last place of 1


def assert_ieee(rows: int, *, subnormals: bool = True) -> None:
    """Raise unless this thread computes with float64 as IEEE 754 has it: rounding to nearest, subnormal numbers.

    Every profile counts on rounding to nearest. Where two evaluations must be in order, or equal, bit for bit, both
    must also treat subnormal numbers alike (`subnormals`): a processor told in between to take them for zero gives
    other bits. `rows`, how many are evaluated, keeps the sums below from being computed in advance.
    """
    one = 1.0 if rows else 0.0
    if subnormals and one and TINY * one == 0:
        raise SmileError(
            "This process takes subnormal numbers for zero, under which the certificate of this network does not hold; "
            "call torch.set_flush_denormal(False)."
        )
    if one and not (one + HALF == one and one + 1.5 * HALF == one + 2 * HALF and -one - HALF == -one):
        raise SmileError(
            "This process does not round to nearest, so no certificate of this network holds; restore the processor's "
            "rounding mode."
        )


def plain(z: torch.Tensor) -> torch.Tensor:
    """z as a tensor without methods of its own: a subclass could redefine what comes after it."""
    import torch

    return z if torch.compiler.is_compiling() else z.as_subclass(torch.Tensor)  # traced operations are torch's own


def in_order(start: torch.Tensor, terms: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """start [n] or [B, n] + Σ y·wᵀ over terms (y [B, i], w [n, i]), one column after the other; [B, n].

    Elementwise operations are rounded correctly one by one: no row of a batch can see another summation order, which
    a matrix product does not promise. Rows go in tiles whose sums stay in the processor's cache. Products of several
    columns are computed at once, up to `BLOCK` numbers: of few rows, calls are what a sum costs.

    Members of an ensemble may come before all of these axes: start [G, n], y [G, B, i], w [G, n, i] → [G, B, n].
    """
    import torch

    if not any(y.shape[-1] for y, _ in terms):
        return start
    rows = terms[0][0].shape[-2]
    width = max(1, math.prod(terms[0][1].shape[:-1]))
    tile = max(1, (TILE if start.device.type == "cpu" else WIDE) // width)
    whole = start.dim() == terms[0][0].dim() - 1  # the same start for every row
    sums = [
        _columns(
            start[..., None] if whole else start[..., at : at + tile, :].mT,
            [(y[..., at : at + tile, :], w) for y, w in terms],
        )
        for at in range(0, max(1, rows), tile)
    ]
    return (sums[0] if len(sums) == 1 else torch.cat(sums, dim=-1)).mT


def _columns(first: torch.Tensor, terms: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """first [..., n, 1 or B] + the sum of one tile, [..., n, B]: rows lie side by side in memory, so that few outputs
    are as quick as many.
    """
    import torch

    if _is_numpy(first, terms):
        # the same operations: numpy's calls cost a third of torch's
        return torch.from_numpy(_array_sum(first.detach().mT.numpy(), [_arrays(y, w) for y, w in terms])).mT
    # [i, ..., 1, B] and [i, ..., n, 1]
    pairs = [
        (y.movedim(-1, 0).unsqueeze(-2).contiguous(), w.movedim(-1, 0).unsqueeze(-1).contiguous()) for y, w in terms
    ]
    total = None
    for columns, weights in pairs:
        for product in _products(columns, weights):
            total = first + product if total is None else total.add_(product)
    assert total is not None  # the caller has seen to it
    return total


def adds_at_once(terms: torch.Tensor, numbers: int) -> bool:
    """Whether `added_up` may add up so many numbers: not where they are many, or torch must see the steps."""
    import torch

    seen = torch.is_grad_enabled() or torch.compiler.is_compiling() or terms.device.type != "cpu"
    return numbers <= PARTIAL and not seen and terms.dtype == torch.float64


def added_up(start: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
    """((start + terms[0]) + terms[1]) + … in one call; start [n, 1] or [n, B], terms [i, n, B]; [n, B].

    NumPy defines `accumulate` by its steps, r_k = r_{k−1} + a_k, and returns them all: no other order has them.
    """
    import torch

    steps = torch.cat([start.expand(1, *terms.shape[1:]), terms]).numpy()
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.add.accumulate(steps, axis=0, out=steps)[-1].copy())


def _is_numpy(first: torch.Tensor, terms: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> bool:
    """Whether numpy may compute: in the processor's memory, in float64, without gradients, not while torch traces."""
    import torch

    if torch.is_grad_enabled() or torch.compiler.is_compiling():
        return False
    if terms[0][0].shape[-2] * math.prod(terms[0][1].shape[:-1]) > FEW:
        return False
    tensors = (first, *(tensor for pair in terms for tensor in pair))
    return all(
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.device.type == "cpu"
        and tensor.dtype == torch.float64
        for tensor in tensors
    )


def _arrays(y: torch.Tensor, w: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Columns [i, ..., B, 1] and weights [i, ..., 1, n]: of few rows, outputs side by side are the longer stretch."""
    columns, weights = (np.moveaxis(tensor.detach().numpy(), -1, 0) for tensor in (y, w))
    return np.ascontiguousarray(columns)[..., None], np.ascontiguousarray(weights)[..., None, :]


def _array_sum(first: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """first [..., 1 or B, n] + the sum, [..., B, n]; elementwise operations in this thread, rounded one by one."""
    total = None
    with np.errstate(all="ignore"):
        for columns, weights in pairs:
            shape = (*columns.shape[1:-1], weights.shape[-1])
            step = max(1, BLOCK // max(1, math.prod(shape)))
            place = np.empty((min(step, len(columns)), *shape))
            for at in range(0, len(columns), step):
                some = columns[at : at + step]
                for product in np.multiply(some, weights[at : at + step], out=place[: len(some)]):
                    if total is None:
                        total = first + product
                    else:
                        np.add(total, product, out=total)
    assert total is not None  # the caller has seen to it
    return total


def _products(columns: torch.Tensor, weights: torch.Tensor) -> Iterator[torch.Tensor]:
    """Products [..., n, B] of columns [i, ..., 1, B] and weights [i, ..., n, 1], one after the other."""
    import torch

    size = math.prod(columns.shape[1:]) * weights.shape[-2]
    step = BLOCK // max(1, size)
    if step > 1:
        for at in range(0, len(columns), step):
            yield from (columns[at : at + step] * weights[at : at + step]).unbind()
        return
    # without gradients all products take one place in memory: each is added before the next is computed
    place = None if torch.is_grad_enabled() else columns.new_empty((*weights.shape[1:-1], columns.shape[-1]))
    for column, weight in zip(columns.unbind(), weights.unbind(), strict=True):
        yield torch.mul(column, weight, out=place)
