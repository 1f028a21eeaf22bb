"""CROWN-IBP: local robustness around training samples, by bounds inside the loss.

    B_δ(x) = {x' : |x' − x|_∞ ≤ δ} ∩ [0, 1]^m,      s = 2y − 1
    low(x) = β·CROWN + (1 − β)·IBP lower bound of s·f on B_δ(x)
    loss   = κ·softplus(−s f(x)) + (1 − κ)·softplus(−low(x))

δ grows from 0 to its value between the shares `warm` and `ramped` of the training, κ falls from 1 to `kappa` along with
it, and β from 1 to `beta` within the first `faded` of that time. An image is verified if the larger of both lower
bounds is positive: one IBP pass forward and one CROWN pass backward for each image. Inputs must be unscaled (model
units are raw units).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.baselines.agnostic import Backbone, build
from smilenn.baselines.crown import crown
from smilenn.baselines.descent import Descent
from smilenn.baselines.interval import interval
from smilenn.baselines.layers import layers_of
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError


@dataclass(frozen=True)
class Ramp:
    """When δ grows, the last κ and β, and the share of δ's growth after which β is at its last value."""

    warm: float = 0.05
    ramped: float = 0.6
    kappa: float = 0.5
    beta: float = 0.5
    faded: float = 1.0

    def at(self, share: float) -> tuple[float, float, float]:
        """(share of δ, κ, β) after this share of the training.

        >>> Ramp(warm=0.2, ramped=0.7).at(0.1), Ramp(warm=0.2, ramped=0.7).at(0.9)
        ((0.0, 1.0, 1.0), (1.0, 0.5, 0.5))
        """
        grown = min(1.0, max(0.0, (share - self.warm) / max(1e-9, self.ramped - self.warm)))
        faded = min(1.0, grown / self.faded)
        return grown, 1.0 + grown * (self.kappa - 1.0), 1.0 + faded * (self.beta - 1.0)


def fit_crown_ibp(
    data: Prepared,
    delta: float,
    backbone: Backbone,
    embedding: int,
    *,
    ramp: Ramp | None = None,
    descent: Descent | None = None,
) -> ScaledModule:
    """Train a classifier of y ∈ {0, 1} whose decisions are robust to changes of every input by at most `delta`.

    Of the epochs after the ramp the one with the smallest robust loss on held-out rows is kept.
    """
    if not (np.all(data.domain.shift == 0) and np.all(data.domain.mult == 1)):
        raise SmileError("CROWN-IBP works on raw inputs here; build the domain with scaling='none'.")
    if not delta >= 0:
        raise SmileError(f"delta must be 0 or more, not {delta}.")
    ramp, descent = Ramp() if ramp is None else ramp, Descent() if descent is None else descent
    descent.start()
    net = build(data, backbone, embedding, "binary")

    def loss(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        grown, kappa, beta = ramp.at(share)
        clean = F.binary_cross_entropy_with_logits(net.module(u), y)
        if kappa == 1.0:
            return clean
        ibp, back = lower_bounds(net, u, y[:, 0], grown * delta)
        low = beta * back + (1 - beta) * ibp
        return kappa * clean + (1 - kappa) * F.softplus(-low).mean()

    def judge(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        if share < ramp.ramped:  # bounds at a smaller δ are not comparable
            return torch.tensor(float("inf"))
        batches = [
            torch.maximum(*lower_bounds(net, u[i : i + 512], y[i : i + 512, 0], delta)) for i in range(0, len(u), 512)
        ]
        return F.softplus(-torch.cat(batches)).mean()

    return descent.run(net, data, loss, judge)


def lower_bounds(
    net: ScaledModule, x: torch.Tensor, y: torch.Tensor, delta: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """IBP's and CROWN-IBP's lower bound of s·f on B_δ(x), each [B]; x [B, m], y [B] of 0 and 1."""
    lower = torch.maximum(x - delta, net.u_lo)
    upper = torch.minimum(x + delta, net.u_hi)
    layers = layers_of(net.module)
    boxes = interval(layers, lower, upper)
    sign = 2 * y - 1
    low, high = boxes[-1][0][:, 0], boxes[-1][1][:, 0]
    return torch.where(sign > 0, low, -high), crown(layers, boxes, sign)


@torch.no_grad()
def verify(net: ScaledModule, x: np.ndarray, y: np.ndarray, delta: float, batch: int = 256) -> np.ndarray:
    """Which rows keep the right decision under every change of at most `delta`, as far as the bounds show; [n] bool.

    x [n, m] raw, y [n] of 0 and 1. What is not verified need not be wrong.
    """
    device = net.shift.device
    out = np.zeros(len(x), dtype=bool)
    for i in range(0, len(x), batch):
        rows = torch.as_tensor(x[i : i + batch], device=device).to(net.shift.dtype)
        truth = torch.as_tensor(y[i : i + batch], device=device).to(net.shift.dtype)
        out[i : i + batch] = (torch.maximum(*lower_bounds(net, rows, truth, delta)) > 0).cpu().numpy()
    return out
