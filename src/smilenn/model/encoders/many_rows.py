"""Members of an ensemble that read the same ramps r, computed side by side for many rows: tile by tile, in one pass.

    z_g = ((b_g + W_g·h_g) + C_g·r)        every sum in the order of its columns: first the units, then the ramps

The ramps are computed once for all members, and C·r is one sum [B, G·n] over their columns, in which those of a
category are looked up (model/exclusive.py). A tile's numbers stay in the processor's cache from the first layer to the
last but one. Every number is computed by the operations that the branch alone would use, in their order: its bits are
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from smilenn.model.encoders.layers import Kinks, Linear, Ramps
from smilenn.model.exclusive import Columns
from smilenn.model.profile import in_order

if TYPE_CHECKING:
    from smilenn.model.encoders.encoder import Branch

TILE = 2**17  # sums of a tile


def side_by_side(branches: Sequence[Branch], u: torch.Tensor) -> list[torch.Tensor] | None:
    """The outputs [B, outputs] of branches of one shape at u [B, m], without gradients; None for branches of another
    make, or with ramps of their own.
    """
    if not all(map(_is_network, branches)) or not _share_ramps(branches):
        return None
    first = branches[0].layers[0]
    assert isinstance(first, Ramps)
    ramps = first(u[:, branches[0].columns])
    inner = [_Stacked.of(branches, number) for number in range(1, len(branches[0].layers) - 1)]
    units = max(layer.outputs for layer in inner)
    hidden = u.new_empty((len(branches), len(u), inner[-1].outputs))
    step = max(1, TILE // (len(branches) * units))
    for at in range(0, len(u), step):
        columns, y = Columns(ramps[at : at + step]), None
        for layer in inner:
            y = layer(y, columns, len(ramps[at : at + step]))
        assert y is not None  # a network has two layers at least
        hidden[:, at : at + step] = y
    lasts = [branch.layers[-1] for branch in branches]
    return [
        last.ordered(torch.cat([own, ramps], dim=1))
        for last, own in zip(lasts, hidden.unbind(), strict=True)
        if isinstance(last, Linear)
    ]


class _Stacked:
    """A layer of all members: units [G, B, i] → [G, B, n]."""

    def __init__(self, kinks: Kinks | None, linears: Sequence[Linear]) -> None:
        self.kinks = kinks
        self.outputs = linears[0].outputs if kinks is None else kinks.outputs
        if kinks is not None:
            return
        width = linears[0].inputs if linears[0].base else 0  # the first layer reads ramps alone
        self.bias = torch.stack([layer.bias for layer in linears])  # [G, n]
        self.own = torch.stack([layer.weight[:, :width] for layer in linears])  # [G, n, i]
        self.of_ramps = torch.cat([layer.weight[:, width:] for layer in linears]).T.contiguous()  # [R, G·n]

    @classmethod
    def of(cls, branches: Sequence[Branch], number: int) -> _Stacked:
        layers = [branch.layers[number] for branch in branches]
        first = layers[0]
        return cls(first if isinstance(first, Kinks) else None, [one for one in layers if isinstance(one, Linear)])

    def __call__(self, y: torch.Tensor | None, ramps: Columns, rows: int) -> torch.Tensor:
        if self.kinks is not None:
            assert y is not None
            return self.kinks(y.reshape(-1, y.shape[-1])).reshape(y.shape)
        start = self.bias[:, None].expand(-1, rows, -1) if y is None else in_order(self.bias, [(y, self.own)])
        total = start.transpose(0, 1).reshape(rows, -1).contiguous()  # [B, G·n]
        total = ramps.add_(total.clone() if y is None else total, self.of_ramps)
        return total.reshape(rows, len(self.bias), -1).transpose(0, 1)


def _is_network(branch: Branch) -> bool:
    """Whether the branch is ramps, then sums with kinks between them, all but the first beside the ramps again."""
    kinds = [type(layer) for layer in branch.layers]
    if len(kinds) < 4 or kinds[0] is not Ramps or kinds[1:] != [Linear, Kinks] * ((len(kinds) - 2) // 2) + [Linear]:
        return False
    ramps, sums = branch.layers[0], [layer for layer in branch.layers if isinstance(layer, Linear)]
    assert isinstance(ramps, Ramps)
    return not sums[0].base and all(layer.base == ramps.outputs for layer in sums[1:])


def _share_ramps(branches: Sequence[Branch]) -> bool:
    ramps = [layer for branch in branches for layer in branch.layers[:1] if isinstance(layer, Ramps)]
    first = ramps[0]
    return all(torch.equal(first.start, one.start) and torch.equal(first.rate, one.rate) for one in ramps)
