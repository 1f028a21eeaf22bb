"""The l∞-distance layer: ``y_j = max_i |x_i − w_ji| + b_j``, 1-Lipschitz in the maximum norm for any weights.

    |y_j(x') − y_j(x'')| ≤ max_i |x'_i − x''_i|         (reverse triangle inequality of the norm)

so a whole net of such layers keeps |x' − x''|∞ ≤ δ, with nothing to constrain. Its gradient is a single coordinate,
too sparse to learn from: training relaxes max|d| to ‖d‖_p = M·(Σ (|d_i|/M)^p)^(1/p), M = max|d|, with p rising, and
ends with the maximum itself. In this form no power overflows, and

    ∂‖d‖_p/∂d_i = sign(d_i)·(|d_i|/‖d‖_p)^(p−1),

p being one of those that squarings reach (powers.py).

Outputs are centred by their running mean in training (a net of distances drifts otherwise); `settle_` folds the mean
into the bias. Differences [B, j, i] are formed for blocks of units only, forward and backward, within a memory budget.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import nn

from smilenn.model.encoders.layers import Layer
from smilenn.model.encoders.patches import patch_norm
from smilenn.model.encoders.powers import Power, power_near, raised
from smilenn.model.spread import WIDER, Spread

BUDGET = 1 << 24  # elements of a block of differences: 128 MiB of float64


class _Norm(torch.autograd.Function):
    """‖x_b − w_j‖_p for rows x [B, i] and w [j, i]; without a power the maximum."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
        out = torch.cdist(x, w, p=math.inf)  # one rounded difference each, whatever the order: the same bits everywhere
        if power is not None:
            parts = []
            for block, most in zip(w.split(_block(x, w)), out.split(_block(x, w), dim=1), strict=True):
                d = x[:, None, :] - block[None]
                d.div_(most.clamp(min=torch.finfo(d.dtype).tiny)[:, :, None])
                square = d.mul_(d)
                parts.append(most * raised(square, power).mul_(square).sum(dim=2).pow_(1 / power.p))
            out = torch.cat(parts, dim=1)
        ctx.save_for_backward(x, w, out)
        ctx.power = power
        return out

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor, None]:
        (grad,) = grad_outputs
        x, w, out = ctx.saved_tensors
        wanted = ctx.needs_input_grad[0]
        grad_x, grads, size = torch.zeros_like(x), [], _block(x, w)
        for block, value, g in zip(w.split(size), out.split(size, dim=1), grad.split(size, dim=1), strict=True):
            d = x[:, None, :] - block[None]
            d.div_(value.clamp(min=torch.finfo(d.dtype).tiny)[:, :, None])
            slope = _largest(d) if ctx.power is None else raised(d * d, ctx.power).mul_(d)
            slope.mul_(g[:, :, None])
            if wanted:
                grad_x += slope.sum(dim=1)
            grads.append(-slope.sum(dim=0))
        return grad_x if wanted else None, torch.cat(grads), None


def _largest(ratio: torch.Tensor) -> torch.Tensor:
    """The slope of a maximum |d|, from d/max: the sign where it is reached, shared among ties."""
    reached = (ratio.abs() >= 1).to(ratio.dtype)
    return reached.div_(reached.sum(dim=2, keepdim=True).clamp(min=1)).mul_(ratio.sign())


@lru_cache(maxsize=1)
def _has_triton() -> bool:
    return find_spec("triton") is not None


def norm(x: torch.Tensor, w: torch.Tensor, power: Power | None) -> torch.Tensor:
    """‖x_b − w_j‖ [B, j] by Triton's kernels on a GPU that has them, in blocks of torch's operations otherwise."""
    if x.is_cuda and x.dtype == torch.float32 and _has_triton():
        from smilenn.model.encoders.distance_triton import norm as quick

        return quick(x, w, power)
    out = _Norm.apply(x, w, power)
    assert isinstance(out, torch.Tensor)
    return out


def _block(x: torch.Tensor, w: torch.Tensor) -> int:
    return max(1, BUDGET // max(1, x.shape[0] * w.shape[1]))


class Distance(Layer):
    """``max_i |x_i − w_ji| + b_j``; in training mode ‖·‖_p with the `p` that is set, centred. Weights start normal.

    `read_patches_` lets each part of the units learn from some inputs alone (patches.py), until `read_all_`.
    """

    mean: torch.Tensor | None  # of the distances, while training
    patches: torch.Tensor | None  # [g, k], while units learn from them: weight is [g, k, n] then
    outside: torch.Tensor | None  # [i], what units then have for weights elsewhere

    def __init__(self, inputs: int, outputs: int, *, centred: bool = True) -> None:
        super().__init__()
        self.centred = centred  # in training; a layer of outputs learns its bias
        self.inputs, self.outputs = inputs, outputs
        self.register_buffer("mean", None)
        self.register_buffer("patches", None, persistent=False)
        self.register_buffer("outside", None, persistent=False)
        self.register_load_state_dict_pre_hook(self._expect_mean)
        self.weight = nn.Parameter(torch.randn(outputs, inputs, dtype=torch.float64))
        self.bias = nn.Parameter(torch.zeros(outputs, dtype=torch.float64))
        self.p = math.inf

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """[B, i] → [B, j]; the relaxation in training mode, the maximum otherwise."""
        value = self.distances(y)
        if self.training and self.centred:
            mean = value.mean(dim=0)
            latest = mean.detach().to(self.bias.dtype)
            self.mean = latest.clone() if self.mean is None else self.mean.mul_(0.9).add_(0.1 * latest)
            return value - mean + self.bias.to(y.dtype)
        return value + (self.bias if self.mean is None else self.bias - self.mean).to(y.dtype)

    def distances(self, y: torch.Tensor) -> torch.Tensor:
        """The same without mean and bias."""
        power = power_near(self.p) if self.training and not math.isinf(self.p) else None
        if self.training and self.patches is not None:
            return patch_norm(y, self.weight.to(y.dtype), self.patches, power)
        return norm(y, self.whole().to(y.dtype), power)

    def whole(self) -> torch.Tensor:
        """The weights [j, i] of all inputs."""
        if self.patches is None or self.outside is None:
            return self.weight
        own = self.weight.transpose(1, 2).to(self.outside.dtype)
        places = self.patches[:, None].expand(own.shape)
        return self.outside.repeat(*own.shape[:2], 1).scatter(2, places, own).flatten(0, 1)

    @torch.no_grad()
    def read_patches_(self, patches: np.ndarray, outside: torch.Tensor) -> None:
        """Let each g-th part of the units learn from its inputs alone, patches [g, k]; `outside` [i] for the others.

        Weights and biases are float32 then, as long as they learn, and lie as patches.py reads them.
        """
        self.patches, self.outside = torch.as_tensor(patches), outside.to(self.weight.dtype)
        units = self.weight.reshape(len(patches), -1, self.inputs)
        own = units.gather(2, self.patches[:, None].expand(-1, units.shape[1], -1))
        self.weight = nn.Parameter(own.transpose(1, 2).float().contiguous())
        self.bias = nn.Parameter(self.bias.float())

    @torch.no_grad()
    def read_all_(self) -> None:
        """A layer as it is deployed, whose units read all inputs."""
        if self.patches is None:
            return
        self.weight, self.bias = nn.Parameter(self.whole().double()), nn.Parameter(self.bias.double())
        self.mean = None if self.mean is None else self.mean.double()
        self.patches = self.outside = None

    @torch.no_grad()
    def settle_(self) -> None:
        """Fold the running mean into the bias: from now on the layer is what its formula says."""
        if self.mean is not None:
            self.bias.sub_(self.mean)
            self.mean = None

    def _expect_mean(self, module: nn.Module, state_dict: Any, prefix: str, *_: Any) -> None:
        """A checkpoint of training has the running mean; a deployed layer has none."""
        self.mean = torch.zeros_like(self.bias) if prefix + "mean" in state_dict else None

    def propagate(self, spread: Spread) -> Spread:
        """Every difference is at most the largest one before."""
        weight, bias = (each.detach().double().cpu().numpy() for each in (self.whole(), self.bias))
        far = np.maximum(np.abs(spread.lo - weight), np.abs(spread.hi - weight)).max(axis=1)
        near = np.maximum(0.0, np.maximum(spread.lo - weight, weight - spread.hi)).max(axis=1)
        room = WIDER * (far + np.abs(bias))
        most = max(float(np.abs(spread.low).max()), float(np.abs(spread.high).max()))
        most = most if spread.axes is None else min(most, spread.norm)
        same = np.full(self.outputs, bool(spread.same.all()))
        return Spread(
            near + bias - room,
            far + bias + room,
            np.full(self.outputs, -most) - 2 * room,
            np.full(self.outputs, most) + 2 * room,
            same,
            same,
        ).settled()

    def describe(self) -> dict[str, Any]:
        """Kind and sizes."""
        return {"kind": "distance", "inputs": self.inputs, "outputs": self.outputs}
