"""The loss terms of the paper's PretrainLoss and TrainLoss.

    L_s    = MSE / Var(y)   or   BCE / H(mean y)          task loss, divided by the constant predictor's
    L_box  = mean relu(h − upper) + mean relu(lower − h)   degenerate or too narrow boxes
    L_prop = mean over counterexamples of relu(violation) / unit,   unit = ε, or the output scale where ε = 0

Dividing by the constant predictor's loss and by ε makes λ_box, the dual step and the slack independent of the task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F

from smilenn.model.net import Pathways, SmileNet

LossKind = Literal["mse", "bce"]
TaskLoss = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


def task_loss(kind: LossKind, y: torch.Tensor, weight: torch.Tensor | None = None, margin: float = 0.0) -> TaskLoss:
    """L_s(f [B, o], y [B, o], weight [B] or None), normalised by the constant predictor's loss on the whole y [N, o].

    `margin` (classification) moves each logit towards the wrong side before the loss: what counts is that it passes
    the decision by that much.
    """
    w = torch.ones(len(y), dtype=torch.float64, device=y.device) if weight is None else weight
    mean = (y * w[:, None]).sum(dim=0) / w.sum()
    if kind == "mse":
        base = (((y - mean) ** 2) * w[:, None]).sum(dim=0) / w.sum()
        base = torch.where(base > 0, base, torch.ones_like(base))

        def each(f: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            return (f - t) ** 2 / base
    else:
        p = mean.clamp(1e-3, 1 - 1e-3)
        base = -(p * p.log() + (1 - p) * (1 - p).log())

        def each(f: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
            shifted = f - margin * (2 * t - 1) if margin else f
            return F.binary_cross_entropy_with_logits(shifted, t, reduction="none") / base

    def loss(f: torch.Tensor, t: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        value = each(f, t).mean(dim=1)
        return value.mean() if weight is None else (value * weight).sum() / weight.sum().clamp(min=1e-12)

    return loss


def box_loss(p: Pathways) -> torch.Tensor:
    """L_box: how far the backbone's embedding leaves its box, mean over rows and coordinates."""
    return torch.relu(p.z - p.z_upper).mean() + torch.relu(p.z_lower - p.z).mean()


@dataclass(frozen=True)
class Abstracted:
    """Counterexamples of one claim with their vertices fixed, P of them.

    Attributes
    ----------
    u : [P, k, m] model units.
    upper : [P, k, n] bool, which bound each coordinate of the embedding takes (CEProp).
    outputs : [P, k, o] coefficients on the outputs.
    offset : [P] the claim's input terms minus its right side.
    unit : [P] what violations are divided by.
    lift : [n] how much the paper's upper net is raised (`demand.flip_margin`).
    """

    u: torch.Tensor
    upper: torch.Tensor
    outputs: torch.Tensor
    offset: torch.Tensor
    unit: torch.Tensor
    lift: torch.Tensor

    def __len__(self) -> int:
        return len(self.u)


def violations(net: SmileNet, ce: Abstracted) -> torch.Tensor:
    """violation / unit of each abstracted counterexample, [P], differentiable in auxiliaries and head.

    Each embedding is the stored vertex of its *current* box, so a counterexample can be resolved only by moving the box
    or the head, never by a small shift that leaves a stored embedding outside (the paper's abstraction step).
    """
    p, k, m = ce.u.shape
    lower, upper = net.box(ce.u.reshape(p * k, m))
    if net.boxes == "paper":
        upper = torch.maximum(lower, upper + ce.lift)
    z = torch.where(ce.upper.reshape(p * k, -1), upper, lower)
    y = net.head(z).reshape(p, k, -1)
    return ((ce.outputs * y).sum(dim=(1, 2)) + ce.offset) / ce.unit


def property_loss(net: SmileNet, pools: list[Abstracted]) -> tuple[torch.Tensor, float]:
    """L_prop over the pools of all claims, and the worst violation / unit among them (−inf for empty pools)."""
    parts = [violations(net, ce) for ce in pools if len(ce)]
    if not parts:
        return torch.zeros((), dtype=torch.float64, device=net.head_bias.device), float("-inf")
    every = torch.cat(parts)
    return torch.relu(every).mean(), float(every.detach().max())
