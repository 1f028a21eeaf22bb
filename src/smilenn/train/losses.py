"""The loss terms of the paper's PretrainLoss and TrainLoss.

    L_s    = MSE / Var(y), BCE / H(mean y), cross-entropy / H(mean y), or pinball loss / the constant's
                                                          task loss, divided by the constant predictor's
    L_box  = mean relu(h − upper) + mean relu(lower − h)   degenerate or too narrow boxes
    L_prop = mean over counterexamples of relu(violation) / unit,   unit = ε, or the output scale where ε = 0

Dividing by the constant predictor's loss and by ε makes λ_box, the dual step and the slack independent of the task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.search.abstraction import Abstraction, violation


@dataclass(frozen=True)
class Quantiles:
    """The pinball loss: output k estimates the quantile of level `levels`[k] of one target,

    max( q·(y − f), (q − 1)·(y − f) ),   smallest in the mean where a share q of the targets lies below f.
    """

    levels: tuple[float, ...]


LossKind = Literal["mse", "bce", "ce"] | Quantiles
Decides = Literal["", "sign", "largest"]
Each = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # (f, t) → losses, all [B, o]


@dataclass(frozen=True)
class TaskLoss:
    """L_s(f [B, o], t [B, o], weight [B] or None): the mean over outputs, and then over rows by their weights.

    `each` are the losses [B, o] or [B, 1]; `back` (f, t, slope [B, o]) takes the slope at them to the one at f.
    """

    each: Each
    back: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor] | None = None

    def __call__(self, f: torch.Tensor, t: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
        """The loss."""
        value = self._rows(f, t)
        return value.mean() if weight is None else (value * weight).sum() / self._sum(weight)

    def slope(
        self, f: torch.Tensor, t: torch.Tensor, weight: torch.Tensor | None, times: float | torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`times` the loss and its slope at f [B, o], to the last bit what torch's backward pass gives."""
        if self.back is None:
            with torch.enable_grad():
                leaf = f.detach().requires_grad_()
                loss = times * self(leaf, t, weight)
            return loss.detach(), torch.autograd.grad(loss, leaf)[0]
        with torch.no_grad():
            value = self._rows(f, t)
            if weight is None:
                loss, per = value.mean(), torch.ones_like(value) * times / len(value)
            else:
                total = self._sum(weight)
                loss, per = (value * weight).sum() / total, times / total * weight
            own = per[:, None] if f.shape[1] == 1 else per[:, None].expand(f.shape) / f.shape[1]
            return times * loss, self.back(f, t, own)

    def _rows(self, f: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        value = self.each(f, t)
        return value.reshape(-1) if value.shape[1] == 1 else value.mean(dim=1)

    @staticmethod
    def _sum(weight: torch.Tensor) -> torch.Tensor:
        return weight.sum().clamp(min=1e-12)


def task_loss(kind: LossKind, y: torch.Tensor, weight: torch.Tensor | None = None, margin: float = 0.0) -> TaskLoss:
    """L_s(f [B, o], y [B, o], weight [B] or None), normalised by the constant predictor's loss on the whole y [N, o].

    ``bce`` is for labels that are each decided by the sign of a logit, ``ce`` for classes of which the largest output
    wins, y being one-hot. `margin` (classification) moves each logit towards the wrong side before the loss: what
    counts is that it passes the decision by that much.
    """
    if kind not in ("mse", "bce", "ce") and not isinstance(kind, Quantiles):
        raise SmileError(f"The loss is 'mse', 'bce', 'ce' or Quantiles(levels), not {kind!r}.")
    w = torch.ones(len(y), dtype=torch.float64, device=y.device) if weight is None else weight
    mean = (y * w[:, None]).sum(dim=0) / w.sum()
    if kind == "mse":
        base = (((y - mean) ** 2) * w[:, None]).sum(dim=0) / w.sum()
        base = torch.where(base > 0, base, torch.ones_like(base))
        return TaskLoss(lambda f, t: (f - t) ** 2 / base, lambda f, t, slope: slope / base * (2 * (f - t)))
    if isinstance(kind, Quantiles):
        q = torch.tensor(kind.levels, dtype=torch.float64, device=y.device)
        base = _pinball(_quantiles(y, w, q), y, q)
        base = (base * w[:, None]).sum(dim=0) / w.sum()
        base = torch.where(base > 0, base, torch.ones_like(base))
        return TaskLoss(lambda f, t: _pinball(f, t, q) / base)
    if kind == "ce":
        p = mean.clamp(min=1e-3)
        entropy = -(p * p.log()).sum()
        return TaskLoss(lambda f, t: -(t * F.log_softmax(f - margin * t, dim=1)).sum(dim=1, keepdim=True) / entropy)
    p = mean.clamp(1e-3, 1 - 1e-3)
    base = -(p * p.log() + (1 - p) * (1 - p).log())

    def shifted(f: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return f - margin * (2 * t - 1) if margin else f

    return TaskLoss(
        lambda f, t: F.binary_cross_entropy_with_logits(shifted(f, t), t, reduction="none") / base,
        lambda f, t, slope: (torch.sigmoid(shifted(f, t)) - t).mul_(slope / base),
    )


def decides(kind: LossKind) -> Decides:
    """How outputs become a decision: by the sign of each, by the largest, or not at all."""
    return "sign" if kind == "bce" else "largest" if kind == "ce" else ""


def _pinball(f: torch.Tensor, t: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return torch.maximum(q * (t - f), (q - 1) * (t - f))


def _quantiles(y: torch.Tensor, w: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Weighted quantiles of each column of y [N, o], the k-th of level q_k, [o]."""
    values, order = y.sort(dim=0)
    share = w[order].cumsum(dim=0) / w.sum()
    place = (share < q).sum(dim=0).clamp(max=len(y) - 1)
    return values.gather(0, place[None])[0]


def box_loss(z: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    """L_box: how far the backbone's embedding z [B, n] leaves its box, mean over rows and coordinates."""
    return (torch.relu(z - upper) + torch.relu(lower - z)).mean()


@dataclass(frozen=True, eq=False)
class Pressure:
    """What the counterexamples of one claim press on the weights with.

    Attributes
    ----------
    abstraction : B counterexamples with their vertices fixed.
    unit : [B] what violations are divided by.
    lift : [n] how much the paper's upper net is raised (`demand.flip_margin`).
    """

    abstraction: Abstraction
    unit: np.ndarray
    lift: np.ndarray

    def __len__(self) -> int:
        return len(self.abstraction)


def violations(net: SmileNet, pressure: Pressure) -> torch.Tensor:
    """violation / unit of each abstracted counterexample, [B], differentiable in auxiliaries and head."""
    device = net.shift.device
    u = torch.as_tensor(pressure.abstraction.u, device=device)
    lower, upper = net.box(u)
    if net.boxes == "paper":
        upper = torch.maximum(lower, upper + torch.as_tensor(pressure.lift, device=device))
    weight, bias = net.effective_head()
    value = violation(pressure.abstraction, lower, upper, weight, bias)
    return value / torch.as_tensor(pressure.unit, device=device)


def property_loss(net: SmileNet, pools: list[Pressure]) -> tuple[torch.Tensor, float]:
    """L_prop over the pools of all claims, and the worst violation / unit among them (−inf for empty pools)."""
    parts = [violations(net, pressure) for pressure in pools if len(pressure)]
    if not parts:
        return torch.zeros((), dtype=torch.float64, device=net.head_bias.device), float("-inf")
    every = torch.cat(parts)
    return torch.relu(every).mean(), float(every.detach().max())
