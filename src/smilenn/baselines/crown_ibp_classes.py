"""CROWN-IBP of several classes: bounds of every margin f_t − f_j of the true class t inside the loss.

    low_j(x) = β·CROWN + (1 − β)·IBP lower bound of f_t − f_j on B_δ(x),   low_t = 0
    loss     = κ·cross-entropy(f(x)) + (1 − κ)·cross-entropy(−low(x))

Both bounds take the last layer's rows together, (w_t − w_j)·z: bounding the two logits apart would lose what they
share. δ, κ and β move as in crown_ibp.py; CROWN, several times the cost of the rest, is computed while β > 0. An image
is verified if IBP's bounds are positive for every j ≠ t, or the larger of both are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from smilenn.baselines.agnostic import Backbone
from smilenn.baselines.crown import crown_forms
from smilenn.baselines.crown_ibp import Ramp
from smilenn.baselines.descent import Descent
from smilenn.baselines.interval import Box, interval
from smilenn.baselines.layers import layers_of
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError

HELD = 512  # held-out rows that are bounded at once


def convolutions(first: int, second: int) -> Backbone:
    """Two convolutions of 4 × 4 pixels and stride 2, then a linear layer, as in the authors' small networks.

    Weights start as N(0, 2π/n²), n the inputs of a unit: an affine layer then doubles the radius of a box on average,
    and a ReLU halves it, so that boxes keep their size from layer to layer (Shi et al., arXiv 2103.17268).
    """

    def build(inputs: int, embedding: int) -> nn.Sequential:
        side = round(inputs**0.5)
        layers = nn.Sequential(
            nn.Unflatten(1, (1, side, side)),
            nn.Conv2d(1, first, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, second, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(second * (side // 4) ** 2, embedding),
        )
        for layer in layers:
            if isinstance(layer, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(layer.weight, 0.0, math.sqrt(2 * math.pi) / layer.weight[0].numel())
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        return layers

    return build


def fit_class_bounds(
    data: Prepared,
    delta: float,
    backbone: Backbone,
    embedding: int,
    classes: int,
    *,
    trained: float | None = None,
    ramp: Ramp | None = None,
    descent: Descent | None = None,
) -> ScaledModule:
    """Train a classifier of y ∈ {0, …, classes − 1} whose decisions are robust to changes of inputs by `delta`.

    δ grows up to `trained`, `delta` itself by default; a larger one may verify more at `delta`. Of the epochs after the
    ramp the one with the smallest robust loss at `delta` on held-out rows is kept.
    """
    if not (np.all(data.domain.shift == 0) and np.all(data.domain.mult == 1)):
        raise SmileError("CROWN-IBP here works on raw inputs; build the domain with scaling='none'.")
    ramp, descent = Ramp() if ramp is None else ramp, Descent() if descent is None else descent
    final = delta if trained is None else trained
    descent.start()
    module = nn.Sequential(backbone(data.domain.size, embedding), nn.ReLU(), nn.Linear(embedding, classes))
    net = ScaledModule(data.domain, module)

    def loss(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        grown, kappa, beta = ramp.at(share)
        true = y[:, 0].long()
        if kappa == 1.0:
            return F.cross_entropy(net.module(u), true)
        robust = F.cross_entropy(-_mixed(net, u, true, grown * final, beta), true)
        return robust if kappa == 0.0 else kappa * F.cross_entropy(net.module(u), true) + (1 - kappa) * robust

    def judge(u: torch.Tensor, y: torch.Tensor, share: float) -> torch.Tensor:
        if share < ramp.ramped:  # bounds at a smaller δ are not comparable
            return torch.tensor(float("inf"))
        parts = [
            _best(net, rows, true[:, 0].long(), delta, crown=ramp.beta > 0)
            for rows, true in zip(u.split(HELD), y.split(HELD), strict=True)
        ]
        return F.cross_entropy(-torch.cat(parts), y[:, 0].long())

    return descent.run(net, data, loss, judge)


def _mixed(net: ScaledModule, x: torch.Tensor, true: torch.Tensor, delta: float, beta: float) -> torch.Tensor:
    """β·CROWN + (1 − β)·IBP, [B, classes], without the bound that does not count."""
    boxes = ball(net, x, delta)
    if beta == 0.0:
        return interval_margins(net, boxes, true)
    back = crown_margins(net, boxes, true)
    return back if beta == 1.0 else beta * back + (1 - beta) * interval_margins(net, boxes, true)


def _best(net: ScaledModule, x: torch.Tensor, true: torch.Tensor, delta: float, *, crown: bool) -> torch.Tensor:
    """IBP's bounds, or the larger of both, [B, classes]."""
    boxes = ball(net, x, delta)
    low = interval_margins(net, boxes, true)
    return torch.maximum(low, crown_margins(net, boxes, true)) if crown else low


def ball(net: ScaledModule, x: torch.Tensor, delta: float) -> list[Box]:
    """IBP's boxes on B_δ(x) in front of every layer, and of the logits last; x [B, m] raw."""
    return interval(layers_of(net.module), torch.maximum(x - delta, net.u_lo), torch.minimum(x + delta, net.u_hi))


def interval_margins(net: ScaledModule, boxes: Sequence[Box], true: torch.Tensor) -> torch.Tensor:
    """IBP's lower bounds of f_t − f_j, [B, classes], 0 for j = t; `boxes` of `ball`, `true` [B] long."""
    last = layers_of(net.module)[-1]
    assert isinstance(last, nn.Linear)
    forms, others = _forms(last.out_features, true, last.weight)
    weight, (low, high) = forms @ last.weight, (end[:, :, None] for end in boxes[-2])
    bound = F.relu(weight) @ low - F.relu(-weight) @ high
    return _filled(bound[:, :, 0] + forms @ last.bias, others)


def crown_margins(net: ScaledModule, boxes: Sequence[Box], true: torch.Tensor) -> torch.Tensor:
    """The same bounds by one CROWN pass backward for all classes."""
    forms, others = _forms(boxes[-1][0].shape[1], true, boxes[-1][0])
    return _filled(crown_forms(layers_of(net.module), boxes, forms), others)


def _forms(classes: int, true: torch.Tensor, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """e_t − e_j for the other classes j, [B, classes − 1, classes], and those j, [B, classes − 1]."""
    one = torch.eye(classes, dtype=like.dtype, device=like.device)
    step = torch.arange(1, classes, device=like.device)
    others = (true[:, None] + step) % classes
    return one[true][:, None] - one[others], others


def _filled(bounds: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Bounds [B, classes − 1] of the other classes at their places, 0 for the true one."""
    return bounds.new_zeros(len(bounds), bounds.shape[1] + 1).scatter(1, others, bounds)


@torch.no_grad()
def verify_classes(
    net: ScaledModule, x: np.ndarray, y: np.ndarray, delta: float, batch: int = 256
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows x [n, m] are right, and right under every change of at most `delta` as far as the bounds show."""
    right, verified = [], []
    for i in range(0, len(x), batch):
        rows = torch.as_tensor(x[i : i + batch], device=net.shift.device).to(net.shift.dtype)
        true = torch.as_tensor(y[i : i + batch], device=net.shift.device).long()
        right.append((net(rows).argmax(dim=1) == true).cpu().numpy())
        verified.append(_leads(net, rows, true, delta).cpu().numpy())
    return np.concatenate(right), np.concatenate(verified)


def _leads(net: ScaledModule, x: torch.Tensor, true: torch.Tensor, delta: float) -> torch.Tensor:
    """Where the true class leads all others on B_δ(x), [B] bool; CROWN is asked where IBP does not show it."""
    boxes = ball(net, x, delta)
    low = interval_margins(net, boxes, true)
    open_ = ~_positive(low, true)
    if open_.any():
        left = [(lower[open_], upper[open_]) for lower, upper in boxes]
        low[open_] = torch.maximum(low[open_], crown_margins(net, left, true[open_]))
    return _positive(low, true)


def _positive(low: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Rows of [B, classes] that are positive but for the true class, which need not beat itself."""
    return (low.scatter(1, true[:, None], torch.inf) > 0).all(dim=1)
