"""Sums in one order over columns of which a row has at most one that is not zero, as those of a category are.

    ((s + w_1·y_1) + w_2·y_2) + …  =  s + w_c·y_c        if y_k = 0 for all k ≠ c

Adding a product that is zero changes no number: at most −0 becomes 0, and the two are equal. So the columns of a run
cost one sum and a look-up of w_c, and every number is the one that the whole sum has. Runs are found in the rows
themselves.
"""

from __future__ import annotations

import numpy as np
import torch

LEAST_COLUMNS = 4  # of a run: fewer take no longer one by one

Run = tuple[int, int]
"""The first column and the one after the last."""


class Columns:
    """The columns of rows y [B, i], to be multiplied with several matrices, without gradients."""

    def __init__(self, y: torch.Tensor) -> None:
        self.columns = y.T.contiguous()  # [i, B]
        self.each = self.columns[:, :, None].unbind()
        self.runs = [run for run in runs(self.columns.numpy()) if run[1] - run[0] >= LEAST_COLUMNS]
        self.looked_up = [_places(self.columns[first:last]) for first, last in self.runs]

    def add_(self, total: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """total [B, n] + the products with weights [i, n], one column after the other; in its place."""
        product, alone, at = torch.empty_like(total), weights.unbind(), 0
        for (first, last), (place, value) in zip(self.runs, self.looked_up, strict=True):
            for k in range(at, first):
                total += torch.mul(self.each[k], alone[k], out=product)
            torch.index_select(weights[first:last], 0, place, out=product)
            total += product if value is None else product.mul_(value)
            at = last
        for k in range(at, len(self.each)):
            total += torch.mul(self.each[k], alone[k], out=product)
        return total


def runs(columns: np.ndarray) -> list[Run]:
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


def _places(run: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Which column of a run [k, B] is not zero in each row, [B], and its numbers [B, 1]; None where all are 1.

    Where a row has none, the first stands for it: its product is zero too.
    """
    place = torch.as_tensor((run.numpy() != 0).argmax(axis=0))
    value = run.gather(0, place[None])[0]
    return place, None if bool((value == 1).all()) else value[:, None]
