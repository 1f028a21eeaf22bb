"""A layer that moves no two inputs apart in the Euclidean norm: ``y − W·(g ∘ relu(Wᵀy + b))``.

    T_j = Σ_l |(WᵀW)_jl|·q_l/q_j,   g_j ≤ 2/T_j   ⇒   ‖f(y') − f(y'')‖₂ ≤ ‖y' − y''‖₂        for any W, b and q > 0

since WᵀW ≤ diag(T) (a symmetric matrix that its row sums dominate), so that with r = Λ·s, s = WᵀΔy, 0 ≤ Λ ≤ 1,

    ‖Δy − W·G·r‖² = ‖Δy‖² − 2·sᵀG·r + ‖W·G·r‖² ≤ ‖Δy‖² − 2·rᵀG·r + 2·rᵀG·r.

Training has W, b and log q free and computes g = 2/T at every step. `settle_` then puts W and q on a grid, so that the
checkers' exact test of the inequality multiplies short whole numbers, and rounds g down.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.model.encoders.layers import Layer
from smilenn.model.profile import in_order
from smilenn.model.spread import WIDER, Spread

GRID = 2.0**-18  # of weights and balance: 0.000004
BALANCE = (2.0**-8, 2.0**8)  # q stays between these: short numbers
BELOW = 1 - 2.0**-40  # of 2/T, which floats compute


class Contract(Layer):
    """``y − weight·(gain ∘ relu(weightᵀ·y + bias))``, weight [i, units]; 1-Lipschitz in the Euclidean norm.

    A fresh layer is settled. `loosen_` makes it ready for training, which needs `settle_` at its end.
    """

    gain: torch.Tensor
    balance: torch.Tensor
    tilt: nn.Parameter | None  # log q, while training
    held: torch.Tensor | None  # g of the weights as they are, for parts of a batch (train/halves.py)

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.inputs, self.units, self.outputs, self.held = inputs, units, inputs, None
        self.register_parameter("tilt", None)
        self.register_load_state_dict_pre_hook(self._expect_tilt)
        self.weight = nn.Parameter(torch.randn(inputs, units, dtype=torch.float64) / math.sqrt(inputs))
        self.bias = nn.Parameter(torch.zeros(units, dtype=torch.float64))
        self.register_buffer("gain", torch.zeros(units, dtype=torch.float64))
        self.register_buffer("balance", torch.ones(units, dtype=torch.float64))
        if self.weight.device.type != "meta":
            self.settle_()

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, i] by matrix products; g follows the weights while they are loose."""
        weight = self.weight.to(y.dtype)
        gain = self.loose_gain(y.dtype) if self.held is None else self.held
        return y - (torch.relu(y @ weight + self.bias.to(y.dtype)) * gain) @ weight.T

    def loose_gain(self, dtype: torch.dtype) -> torch.Tensor:
        """g [units], which follows the weights while they are loose."""
        if self.tilt is None:
            return self.gain.to(dtype)
        return 2 / _sums(self.weight.to(dtype), self.tilt.to(dtype).exp())

    def ordered(self, y: torch.Tensor) -> torch.Tensor:
        """Both sums in one order: the same bits for a row whatever its batch."""
        z = in_order(self.bias, [(y, self.weight.T)])
        c = torch.maximum(z, torch.zeros_like(z)) * self.gain
        return in_order(y, [(c, -self.weight)])

    @torch.no_grad()
    def loosen_(self, dtype: torch.dtype = torch.float64) -> None:
        """Let the balance be trained; what is trained has this type as long."""
        self.tilt = nn.Parameter(self.balance.log().to(dtype))
        self.weight, self.bias = nn.Parameter(self.weight.to(dtype)), nn.Parameter(self.bias.to(dtype))

    @torch.no_grad()
    def settle_(self) -> None:
        """Weights and balance on their grid, the gain below what the test allows."""
        if self.tilt is not None:
            self.balance.copy_(self.tilt.exp())
            self.tilt = None
            self.weight, self.bias = nn.Parameter(self.weight.double()), nn.Parameter(self.bias.double())
        self.weight.copy_(_gridded(self.weight))
        self.balance.copy_(_gridded(self.balance.clamp(*BALANCE)))
        sums = _sums(self.weight, self.balance)
        self.gain.copy_(torch.where(sums > 0, BELOW * 2 / sums.clamp(min=GRID**2), torch.zeros_like(sums)))

    def _expect_tilt(self, module: nn.Module, state_dict: Any, prefix: str, *_: Any) -> None:
        """A checkpoint of training has the balance loose; a deployed layer has it settled."""
        if prefix + "tilt" not in state_dict:
            self.tilt = None
        elif self.tilt is None:  # a layer that is loose keeps its parameters, which an optimiser may know
            self.loosen_(state_dict[prefix + "tilt"].dtype)

    def propagate(self, spread: Spread) -> Spread:
        """No difference exceeds the norm of all of them, no value that of the inputs and of what zero becomes."""
        away = self.weight.double() @ (self.gain * torch.relu(self.bias))
        size = float(np.linalg.norm(np.maximum(np.abs(spread.lo), np.abs(spread.hi))))
        size = (1 + WIDER) * ((size if spread.size is None else spread.size) + float(away.detach().norm()))
        same, room = bool(spread.same.all()), WIDER * (1 + size)
        apart = 0.0 if same else spread.norm * (1 + WIDER) + room
        ends, every = np.full(self.outputs, size), np.full(self.outputs, same)
        far = np.full(self.outputs, apart)
        return Spread(-ends, ends, -far, far, every, every, far, size).settled()

    def describe(self) -> dict[str, Any]:
        """Kind and sizes."""
        return {"kind": "contract", "inputs": self.inputs, "units": self.units}


class _Sums(torch.autograd.Function):
    """T [units] of W [i, units] and q [units]; G = WᵀW has one product on the way back, W·(S + Sᵀ)."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, balance: torch.Tensor) -> torch.Tensor:
        products = weight.T @ weight
        sums = (products.abs() @ balance) / balance
        ctx.save_for_backward(weight, balance, products, sums)
        return sums

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weight, balance, products, sums = ctx.saved_tensors
        each = grad_outputs[0] / balance
        slope = products.sign() * each[:, None] * balance
        return weight @ (slope + slope.T), products.abs().T @ each - each * sums


def _sums(weight: torch.Tensor, balance: torch.Tensor) -> torch.Tensor:
    """T [units]."""
    out = _Sums.apply(weight, balance)
    assert isinstance(out, torch.Tensor)
    return out


def _gridded(values: torch.Tensor) -> torch.Tensor:
    return (values.detach().to(torch.float64) / GRID).round() * GRID
