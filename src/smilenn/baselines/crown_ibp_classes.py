"""CROWN-IBP of several classes: bounds of every margin f_t − f_j of the true class t inside the loss.

    low_j(x) = β·CROWN + (1 − β)·IBP lower bound of f_t − f_j on B_δ(x),   low_t = 0
    loss     = κ·cross-entropy(f(x)) + (1 − κ)·cross-entropy(−low(x))

Both bounds take the last layer's rows together, (w_t − w_j)·z: bounding the two logits apart would lose what they
share. δ, κ and β move as in crown_ibp.py; an image is verified if the larger of both bounds is positive for every j.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from smilenn.baselines.agnostic import Backbone
from smilenn.baselines.crown import crown_forms
from smilenn.baselines.crown_ibp import Ramp
from smilenn.baselines.descent import Descent
from smilenn.baselines.interval import interval
from smilenn.baselines.layers import layers_of
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError


def fit_class_bounds(
    data: Prepared,
    delta: float,
    backbone: Backbone,
    embedding: int,
    classes: int,
    *,
    ramp: Ramp | None = None,
    descent: Descent | None = None,
) -> ScaledModule:
    """Train a classifier of y ∈ {0, …, classes − 1} whose decisions are robust to changes of inputs by `delta`.

    Of the epochs after the ramp the one with the smallest robust loss on held-out rows is kept.
    """
    if not (np.all(data.domain.shift == 0) and np.all(data.domain.mult == 1)):
        raise SmileError("CROWN-IBP here works on raw inputs; build the domain with scaling='none'.")
    ramp, descent = Ramp() if ramp is None else ramp, Descent() if descent is None else descent
    descent.start()
    module = nn.Sequential(backbone(data.domain.size, embedding), nn.ReLU(), nn.Linear(embedding, classes))
    net = ScaledModule(data.domain, module)

    def loss(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        grown, kappa, beta = ramp.at(share)
        true = y[:, 0].long()
        clean = F.cross_entropy(net.module(u), true)
        if kappa == 1.0:
            return clean
        ibp, back = class_bounds(net, u, true, grown * delta)
        return kappa * clean + (1 - kappa) * F.cross_entropy(-(beta * back + (1 - beta) * ibp), true)

    def judge(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        if share < ramp.ramped:  # bounds at a smaller δ are not comparable
            return torch.tensor(float("inf"))
        parts = [
            torch.maximum(*class_bounds(net, rows, true[:, 0].long(), delta))
            for rows, true in zip(u.split(512), y.split(512), strict=True)
        ]
        return F.cross_entropy(-torch.cat(parts), y[:, 0].long())

    return descent.run(net, data, loss, judge)


def class_bounds(
    net: ScaledModule, x: torch.Tensor, true: torch.Tensor, delta: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """IBP's and CROWN-IBP's lower bounds of f_t − f_j on B_δ(x), each [B, classes], 0 for j = t; `true` [B] long."""
    lower, upper = torch.maximum(x - delta, net.u_lo), torch.minimum(x + delta, net.u_hi)
    layers = layers_of(net.module)
    boxes = interval(layers, lower, upper)
    last = layers[-1]
    assert isinstance(last, nn.Linear)
    one = torch.eye(last.out_features, dtype=x.dtype, device=x.device)
    rows = one[true][:, None] - one  # [B, j, o]: e_t − e_j
    weight, bias = rows @ last.weight, rows @ last.bias
    low, high = (end[:, None] for end in boxes[-2])
    ibp = (weight.clamp(min=0) * low + weight.clamp(max=0) * high).sum(dim=2) + bias
    return ibp, crown_forms(layers, boxes, rows)


@torch.no_grad()
def verify_classes(
    net: ScaledModule, x: np.ndarray, y: np.ndarray, delta: float, batch: int = 256
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows x [n, m] are right, and right under every change of at most `delta` as far as the bounds show."""
    right, verified = [], []
    for i in range(0, len(x), batch):
        rows = torch.as_tensor(x[i : i + batch], device=net.shift.device).to(net.shift.dtype)
        true = torch.as_tensor(y[i : i + batch], device=net.shift.device).long()
        low = torch.maximum(*class_bounds(net, rows, true, delta))
        low.scatter_(1, true[:, None], torch.inf)  # no class has to beat itself
        right.append((net(rows).argmax(dim=1) == true).cpu().numpy())
        verified.append((low > 0).all(dim=1).cpu().numpy())
    return np.concatenate(right), np.concatenate(verified)
