"""Any module of features that a claim pins equal: it sees the same numbers in both copies and returns the same bits.

A matrix product gives a row other bits at another place of a batch, so a deployed module is evaluated row by row
(rowwise.py): known layers by formulas that are the same for every row, any other module in one call for each row. One
thread computes, since worker threads may round otherwise. The self-test of a model looks whether that worked.
Modules with batch statistics or randomness are refused. So is a processor told to take subnormal numbers for zero:
switched on between two predictions, that would give equal rows other bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.errors import SmileError
from smilenn.model.backbones import describe
from smilenn.model.encoders.layers import Layer
from smilenn.model.encoders.rowwise import RowByRow, evaluate, layers, one_by_one
from smilenn.model.options import SameOptions
from smilenn.model.profile import plain
from smilenn.model.spread import Spread
from smilenn.model.threads import OneThread


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
        return self._checked(self.module(self._typed(y)), len(y))

    def ordered(self, y: torch.Tensor) -> torch.Tensor:
        """The same row by row. −0 becomes 0 first: equal numbers must be equal bits to a module too.

        A traced program gets the module as it is: another runtime computes it, of whose bits nothing is promised.
        """
        if torch.compiler.is_compiling():
            return self(y + 0.0)
        if not len(y):
            return y.new_zeros((0, self.outputs), dtype=torch.float64)
        y, found = y + 0.0, layers(self.module)
        with OneThread(len(y)):
            if found is not None:
                z = evaluate(found, y)
            elif isinstance(self.module, RowByRow) and not self.module.foreign:
                z = self.module(self._typed(y))
            else:
                with SameOptions():
                    alone = isinstance(self.module, RowByRow)
                    z = self.module(self._typed(y)) if alone else one_by_one(self.module, self._typed(y))
        return self._checked(z, len(y))

    @property
    def known(self) -> bool:
        """Whether the module is evaluated by formulas, many rows at a time; any other takes a call for every row."""
        return layers(self.module) is not None

    @torch.no_grad()
    def differs(self, y: torch.Tensor) -> bool:
        """Whether rows y [B, i] get other values from the module as it was trained, in a batch, than as it is used.

        Beyond rounding, that is: √eps of the module's type, of the largest value.
        """
        trained, used = self(y.clone()), self.ordered(y)
        kind = self._typed(y).dtype
        room = math.sqrt(torch.finfo(kind).eps) * max(1.0, float(torch.nan_to_num(used).abs().max()))
        return bool(((trained - used).abs() > room).any())

    def _typed(self, y: torch.Tensor) -> torch.Tensor:
        """The rows in the type of the module's parameters."""
        parameter = next(self.module.parameters(), None)
        return y if parameter is None else y.to(parameter.dtype)

    def _checked(self, z: torch.Tensor, rows: int) -> torch.Tensor:
        if z.shape != (rows, self.outputs):
            raise SmileError(f"The pinned encoder returned shape {tuple(z.shape)}; expected {(rows, self.outputs)}.")
        return plain(z).to(torch.float64)

    def propagate(self, spread: Spread) -> Spread:
        """Equal if every input is; otherwise anything."""
        same = np.full(self.outputs, bool(spread.same.all()))
        all_ = np.full(self.outputs, np.inf)
        zero = np.zeros(self.outputs)
        return Spread(-all_, all_, np.where(same, zero, -all_), np.where(same, zero, all_), same, same)

    def describe(self) -> dict[str, Any]:
        """Kind, size and what is known of the module."""
        return {"kind": "pinned", "outputs": self.outputs, "module": describe(self.module)}
