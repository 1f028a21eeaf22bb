"""Any module of features that a claim pins equal: it sees the same numbers in both copies and returns the same bits.

A matrix product may give a row other bits in another batch, so rows are evaluated in blocks of a fixed size (padded
with copies of the last one), where a row's bits were found not to depend on its place; the self-test of a model repeats
that test wherever it is loaded. Modules with batch statistics or randomness are refused. So is a processor told to take
subnormal numbers for zero: switched on between two predictions, that would give equal rows other bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.backbones import describe
from smilenn.model.encoders.layers import Layer
from smilenn.model.profile import assert_ieee, plain
from smilenn.model.spread import Spread

ROWS = 64  # of a block


class Pinned(Layer):
    """A module from [B, i] to [B, outputs]; what it returns is cut to the encoder's box, so nothing is asked of it."""

    def __init__(self, module: nn.Module, outputs: int) -> None:
        super().__init__()
        for name, part in module.named_modules():
            chance = isinstance(part, nn.RReLU) or "Dropout" in type(part).__name__
            if isinstance(part, nn.modules.batchnorm._BatchNorm) or chance:
                raise SmileError(
                    f"The pinned encoder holds {type(part).__name__} ({name or 'at its top'}), which depends on the "
                    "batch or on chance; use layer normalisation, and weight decay instead of dropout."
                )
        self.module, self.outputs = module, outputs

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, outputs], float64."""
        parameter = next(self.module.parameters(), None)
        z = self.module(y if parameter is None else y.to(parameter.dtype))
        if z.shape != (len(y), self.outputs):
            raise SmileError(f"The pinned encoder returned shape {tuple(z.shape)}; expected {(len(y), self.outputs)}.")
        return plain(z).to(torch.float64)

    def ordered(self, y: torch.Tensor) -> torch.Tensor:
        """The same in blocks of 64 rows. −0 becomes 0 first: equal numbers must be equal bits to a module too."""
        assert_ieee(len(y))
        parts = []
        for block in (y + 0.0).split(ROWS):
            rows = len(block)
            if rows < ROWS:
                block = torch.cat([block, block[-1:].expand(ROWS - rows, -1)])
            parts.append(self(block)[:rows])
            assert_ieee(rows)  # again after each block: the module itself may have switched it on
        return torch.cat(parts) if parts else y.new_zeros((0, self.outputs))

    def propagate(self, spread: Spread) -> Spread:
        """Equal if every input is; otherwise anything."""
        same = np.full(self.outputs, bool(spread.same.all()))
        all_ = np.full(self.outputs, np.inf)
        zero = np.zeros(self.outputs)
        return Spread(-all_, all_, np.where(same, zero, -all_), np.where(same, zero, all_), same, same)

    def describe(self) -> dict[str, Any]:
        """Kind, size and what is known of the module."""
        return {"kind": "pinned", "outputs": self.outputs, "module": describe(self.module)}
