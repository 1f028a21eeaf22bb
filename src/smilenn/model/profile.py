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

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from smilenn.errors import SmileError

if TYPE_CHECKING:
    import torch

Profile = Literal["f64-aux", "fixed-order", "dyadic"]
PROFILES: tuple[Profile, ...] = ("f64-aux", "fixed-order", "dyadic")
BLOCK = 2**14  # products computed at once, where rows are few
TILE = 2**16  # sums of a tile: 512 KiB, and as much again for its products
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
    """
    import torch

    if not any(y.shape[1] for y, _ in terms):
        return start
    rows = len(terms[0][0])
    tile = max(1, (TILE if start.device.type == "cpu" else WIDE) // max(1, len(terms[0][1])))
    if rows <= tile:
        return _columns(start, terms).T
    sums = [
        _columns(start if start.dim() == 1 else start[at : at + tile], [(y[at : at + tile], w) for y, w in terms])
        for at in range(0, rows, tile)
    ]
    return torch.cat(sums, dim=1).T


def _columns(start: torch.Tensor, terms: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The sum of one tile, [n, B]: rows lie side by side in memory, so that few outputs are as quick as many."""
    first = start[:, None] if start.dim() == 1 else start.T
    total = None
    for y, w in terms:
        columns, weights = y.T.contiguous()[:, None, :], w.T.contiguous()[:, :, None]  # [i, 1, B], [i, n, 1]
        for product in _products(columns, weights):
            total = first + product if total is None else total.add_(product)
    assert total is not None  # the caller has seen to it
    return total


def _products(columns: torch.Tensor, weights: torch.Tensor) -> Iterator[torch.Tensor]:
    """Products [n, B] of columns [i, 1, B] and weights [i, n, 1], one after the other."""
    import torch

    size = columns.shape[2] * weights.shape[1]
    step = BLOCK // max(1, size)
    if step > 1:
        for at in range(0, len(columns), step):
            yield from (columns[at : at + step] * weights[at : at + step]).unbind()
        return
    # without gradients all products take one place in memory: each is added before the next is computed
    place = None if torch.is_grad_enabled() else columns.new_empty((weights.shape[1], columns.shape[2]))
    for column, weight in zip(columns.unbind(), weights.unbind(), strict=True):
        yield torch.mul(column, weight, out=place)
