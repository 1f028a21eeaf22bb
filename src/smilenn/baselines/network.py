"""What a trained torch baseline is: a module on model units, with the scaling of inputs and outputs around it.

    f(x) = mean + scale · module( clamp((x − shift)·mult, u_lo, u_hi)[columns] )

Baselines answer the same calls as a `SmileNet`, `predict(x)` on arrays and `f(x)` on tensors, so that the same metrics
and attacks run on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import nn

from smilenn.domain import Domain


class Predictor(Protocol):
    """Anything with outputs [n] for raw inputs x [n, m]."""

    def predict(self, x: np.ndarray) -> np.ndarray:
        """x [n, m] → outputs [n], float64."""
        ...


class ScaledModule(nn.Module):
    """A module with its scaling.

    Parameters
    ----------
    domain : the input space; rows outside it are clamped.
    module : from model units [B, k] to [B, 1].
    columns : the k coordinates the module sees; all of them by default.
    mean, scale : output units of the module's zero and one.
    """

    shift: torch.Tensor
    mult: torch.Tensor
    u_lo: torch.Tensor
    u_hi: torch.Tensor

    def __init__(
        self,
        domain: Domain,
        module: nn.Module,
        *,
        columns: Sequence[int] | None = None,
        mean: float = 0.0,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.domain, self.module = domain, module
        self.columns = list(range(domain.size)) if columns is None else list(columns)
        self.mean, self.scale_out = float(mean), float(scale)
        parameter = next(module.parameters())
        for name, value in (
            ("shift", domain.shift),
            ("mult", domain.mult),
            ("u_lo", domain.scale(domain.lo)),
            ("u_hi", domain.scale(domain.hi)),
        ):
            self.register_buffer(name, torch.tensor(value, dtype=parameter.dtype), persistent=False)

    def scale(self, x: torch.Tensor) -> torch.Tensor:
        """Raw inputs x [B, m] → what the module sees, [B, k], in the module's precision."""
        u = (x.to(self.shift) - self.shift) * self.mult
        u = torch.minimum(torch.maximum(u, self.u_lo), self.u_hi)
        return u if len(self.columns) == self.domain.size else u[:, self.columns]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Raw inputs x [B, m] → outputs [B, 1] in the target's units."""
        return self.mean + self.scale_out * self.module(self.scale(x))

    @torch.no_grad()
    def predict(self, x: np.ndarray, batch: int = 4096) -> np.ndarray:
        """x [n, m] → outputs [n], float64."""
        device = self.shift.device
        parts = [self(torch.as_tensor(x[i : i + batch], device=device))[:, 0] for i in range(0, len(x), batch)]
        return torch.cat(parts).double().cpu().numpy() if parts else np.zeros(0)
