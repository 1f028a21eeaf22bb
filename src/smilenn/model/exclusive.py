"""Sums in one order over columns of which a row has at most one that is not zero, as those of a category are.

    ((s + w_1·y_1) + w_2·y_2) + …  =  s + w_c·y_c        if y_k = 0 for all k ≠ c

Adding a product that is zero changes no number: at most −0 becomes 0, and the two are equal. So the columns of a run
cost one sum and a look-up of w_c, and every number is the one that the whole sum has. Runs are found in the rows
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

LEAST_COLUMNS = 4  # of a run: fewer take no longer one by one
LEAST_ROWS, LEAST_SUMS = 512, 16  # with fewer, looking for runs takes as long as they save
FIRST = 64  # rows in which a run must show before all are looked at
TILE = 2**16  # sums that stay in the processor's cache

Run = tuple[int, int]
"""The first column and the one after the last."""


def summed(start: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> torch.Tensor | None:
    """start [n] or [B, n] + Σ y·wᵀ over the columns of y [B, i] and w [n, i] in their order, [B, n]; None where columns
    one by one are as quick, or torch must see every step.
    """
    import torch

    seen = torch.is_grad_enabled() or torch.compiler.is_compiling() or y.device.type != "cpu" or y.dim() != 2
    if seen or len(y) < LEAST_ROWS or len(w) < LEAST_SUMS or not _long(_runs(y[:FIRST].T.numpy())):
        return None
    weights, step = w.T.contiguous(), max(1, TILE // len(w))
    out = y.new_empty((len(y), len(w)))
    for at in range(0, len(y), step):
        total, columns = out[at : at + step], y[at : at + step].T.contiguous()
        total.copy_(start if start.dim() == 1 else start[at : at + step])
        for product in _products(columns, weights):
            total += product
    return out


def _products(columns: torch.Tensor, weights: torch.Tensor) -> Iterator[torch.Tensor]:
    """What is added to the rows of one tile, [B, n] each: columns [i, B] times weights [i, n], a run at once."""
    import torch

    product, at = columns.new_empty((columns.shape[1], weights.shape[1])), 0
    each, alone = columns[:, :, None].unbind(), weights.unbind()
    for first, last in [*_long(_runs(columns.numpy())), (len(columns), len(columns))]:
        for k in range(at, first):
            yield torch.mul(each[k], alone[k], out=product)
        at = last
        if first < last:
            yield _looked_up(columns[first:last], weights[first:last], product)


def _looked_up(run: torch.Tensor, weights: torch.Tensor, product: torch.Tensor) -> torch.Tensor:
    """The products [B, n] of the one number of each row in a run [k, B], and its weights of [k, n].

    Where a row has none, the first stands for it: its product is zero too.
    """
    import torch

    place = torch.as_tensor((run.numpy() != 0).argmax(axis=0))
    value = run.gather(0, place[None])[0]
    torch.index_select(weights, 0, place, out=product)
    return product if bool((value == 1).all()) else product.mul_(value[:, None])


def _runs(columns: np.ndarray) -> list[Run]:
    """The columns [i, B] cut into runs, each as long as it can be after those before it: no row has two numbers in one
    of them that are not zero.
    """
    starts, taken = list[int](), 0
    for k, bits in enumerate(np.packbits(columns != 0, axis=1)):
        own = int.from_bytes(bits.tobytes(), "big")  # a bit a row
        if not starts or taken & own:
            starts.append(k)
            taken = 0
        taken |= own
    return list(zip(starts, [*starts[1:], len(columns)], strict=True))


def _long(found: list[Run]) -> list[Run]:
    return [run for run in found if run[1] - run[0] >= LEAST_COLUMNS]
