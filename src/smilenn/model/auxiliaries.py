"""The small nets that bound the embedding, float64, on model units u [B, m].

    FreeNet   c + A·u + V·relu(W u + b)                                    lower, and the paper's upper
    GapNet    c + P·(u − u_lo) + N·(u_hi − u) + V·relu(W u + b)            upper − lower, with c, P, N, V ≥ 0

A gap is a sum of products of non-negative floats on the box, and rounding is monotone, so ``lower + gap ≥ lower`` in
floats too: the box can never flip. Constant nets have only c; affine ones A (or P and N); ReLU ones V, W, b.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, Protocol

import torch
import torch.nn.functional as F
from torch import nn

from smilenn.errors import SmileError, listed
from smilenn.model.profile import in_order

AuxiliaryKind = Literal["constant", "affine", "relu"]
KINDS: tuple[AuxiliaryKind, ...] = ("constant", "affine", "relu")


class _Auxiliary(nn.Module, ABC):
    """Shared parts: the constant and the optional hidden layer; m inputs, n outputs, H hidden units."""

    def __init__(self, kind: AuxiliaryKind, inputs: int, size: int, hidden: int) -> None:
        super().__init__()
        if kind not in KINDS:
            raise SmileError(f"There are no auxiliaries of kind {kind!r}; choose one of {listed(KINDS)}.")
        if kind == "relu" and hidden < 1:
            raise SmileError(f"ReLU auxiliaries need at least one hidden unit, not {hidden}.")
        self.kind, self.inputs, self.size = kind, inputs, size
        self.hidden = hidden if kind == "relu" else 0
        self.const = nn.Parameter(torch.zeros(size, dtype=torch.float64))
        if self.hidden:
            self.weight = nn.Parameter(torch.empty(hidden, inputs, dtype=torch.float64))
            self.bias = nn.Parameter(torch.zeros(hidden, dtype=torch.float64))
            self.out = nn.Parameter(torch.empty(size, hidden, dtype=torch.float64))
            nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
            nn.init.uniform_(self.out, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    def _units(self, u: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.linear(u, self.weight, self.bias))

    @abstractmethod
    def _terms(self, u: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Inputs and weights of the last sum, less its hidden units, in the order of `ordered`."""

    def ordered(self, u: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, n], every sum in index order: the profile ``fixed-order``."""
        terms = self._terms(u)
        if self.hidden:
            terms.append((torch.relu(in_order(self.bias, [(u, self.weight)])), self.out))
        return in_order(self.const.expand((*u.shape[:-1], self.size)), terms)

    @torch.no_grad()
    def centre(self, rows: torch.Tensor) -> None:
        """Let the kink of unit j pass through data row j, rows [R, m]: bias −w_j·row_j, so no unit starts dead."""
        if self.hidden:
            index = torch.arange(self.hidden) % len(rows)
            self.bias.copy_(-(self.weight * rows[index].to(self.weight)).sum(dim=1))

    @torch.no_grad()
    def dead(self, u: torch.Tensor) -> torch.Tensor:
        """Which hidden units are inactive on every row of u [B, m]; [H] bool."""
        if not self.hidden:
            return torch.zeros(0, dtype=torch.bool)
        return ~(self._units(u) > 0).any(dim=0)


class Keeper(Protocol):
    """What a `FreeNet` must obey in training."""

    def keep_(self, lower: FreeNet) -> None:
        """Change the weights in place so that they obey it."""


class FreeNet(_Auxiliary):
    """c + A·u + V·relu(W u + b); `skip` gives a ReLU net the affine term too.

    `keep`, where training sets it, restores what the weights must obey after an optimiser step.
    """

    def __init__(self, kind: AuxiliaryKind, inputs: int, size: int, hidden: int = 0, *, skip: bool = False) -> None:
        super().__init__(kind, inputs, size, hidden)
        self.keep: Keeper | None = None
        self.skip = skip or kind == "affine"
        if self.skip:
            self.slope = nn.Parameter(torch.zeros(size, inputs, dtype=torch.float64))
            if kind == "affine":
                nn.init.kaiming_uniform_(self.slope, a=math.sqrt(5))

    def set_skip(self, skip: bool) -> None:
        """Give a ReLU net the affine term, zero at first, or take it away."""
        if skip and not self.skip:
            slope = torch.zeros(self.size, self.inputs, dtype=torch.float64, device=self.const.device)
            self.slope = nn.Parameter(slope)
        elif self.skip and not skip:
            del self.slope
        self.skip = skip

    def project_(self) -> None:
        """Restore what `keep` keeps."""
        if self.keep is not None:
            self.keep.keep_(self)

    def _terms(self, u: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(u, self.slope)] if self.skip else []

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, n]."""
        if not self.hidden:
            return F.linear(u, self.slope, self.const) if self.skip else self.const.expand((*u.shape[:-1], self.size))
        value = F.linear(self._units(u), self.out, self.const)
        return value + u @ self.slope.T if self.skip else value


class GapNet(_Auxiliary):
    """c + P·(u − u_lo) + N·(u_hi − u) + V·relu(W u + b) with c, P, N, V ≥ 0 (kept so by `project_`)."""

    u_lo: torch.Tensor
    u_hi: torch.Tensor

    def __init__(
        self,
        kind: AuxiliaryKind,
        u_lo: torch.Tensor,
        u_hi: torch.Tensor,
        size: int,
        hidden: int = 0,
        *,
        start: float = 0.1,
    ) -> None:
        super().__init__(kind, len(u_lo), size, hidden)
        self.register_buffer("u_lo", u_lo.clone(), persistent=False)
        self.register_buffer("u_hi", u_hi.clone(), persistent=False)
        with torch.no_grad():
            self.const.fill_(start)
            if self.hidden:
                self.out.copy_(self.out.abs())
        if kind == "affine":
            self.rise = nn.Parameter(torch.zeros(size, len(u_lo), dtype=torch.float64))
            self.fall = nn.Parameter(torch.zeros(size, len(u_lo), dtype=torch.float64))

    def _terms(self, u: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        return [(u - self.u_lo, self.rise), (self.u_hi - u, self.fall)] if self.kind == "affine" else []

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, n], non-negative for u in the box."""
        if self.hidden:
            return F.linear(self._units(u), self.out, self.const)
        value = self.const.expand((*u.shape[:-1], self.size))
        if self.kind == "affine":
            value = value + (u - self.u_lo) @ self.rise.T + (self.u_hi - u) @ self.fall.T
        return value

    def _signed(self) -> list[nn.Parameter]:
        signed = [self.const]
        if self.kind == "affine":
            signed += [self.rise, self.fall]
        if self.hidden:
            signed.append(self.out)
        return signed

    @torch.no_grad()
    def project_(self) -> None:
        """Set negative weights to zero; called after every optimiser step."""
        for parameter in self._signed():
            parameter.clamp_(min=0.0)

    @torch.no_grad()
    def scale_(self, factor: float) -> None:
        """Multiply the gap by a factor ≥ 0."""
        for parameter in self._signed():
            parameter.mul_(factor)

    def is_zero(self) -> bool:
        """Whether the gap is identically zero."""
        return not any(bool(parameter.any()) for parameter in self._signed())

    def is_non_negative(self) -> bool:
        """Whether no sign constraint is broken, as it must be before a snapshot is taken; NaN is another matter."""
        return not any(bool((parameter < 0).any()) for parameter in self._signed())
