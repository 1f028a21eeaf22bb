"""Minibatch Adam, shared by the torch baselines; the state with the smallest held-out loss is kept.

for each epoch, for each shuffled batch:   θ ← Adam step on  loss(u, y, t)      t = share of all steps done, in [0, 1)

The rate is constant, or falls linearly to 0 from the share `settle` on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.baselines.network import ScaledModule
from smilenn.datasets.base import TaskName
from smilenn.datasets.prepare import Prepared
from smilenn.errors import SmileError

Loss = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]


@dataclass(frozen=True)
class Descent:
    """Constants of the optimisation."""

    epochs: int = 100
    batch: int = 256
    rate: float = 1e-3
    seed: int = 0
    device: str = "cpu"
    settle: float = 1.0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or not self.rate > 0:
            raise SmileError(
                f"A descent needs epochs ≥ 1, batch ≥ 1 and rate > 0, not {self.epochs}, {self.batch} and {self.rate}."
            )
        if not 0 < self.settle <= 1:
            raise SmileError(f"A descent needs settle above 0 and at most 1, not {self.settle}.")

    def start(self) -> None:
        """Seed torch: to be called before the module is built."""
        torch.manual_seed(self.seed)

    def rate_at(self, share: float) -> float:
        """The rate after this share of the training.

        >>> Descent(rate=0.5).rate_at(0.99), Descent(rate=0.5, settle=0.5).rate_at(0.75)
        (0.5, 0.25)
        """
        return self.rate if share <= self.settle else self.rate * (1 - share) / (1 - self.settle)

    def run(
        self,
        net: ScaledModule,
        data: Prepared,
        loss: Loss,
        judge: Loss | None,
        *,
        after_step: Callable[[], None] | None = None,
    ) -> ScaledModule:
        """Train `net` in place on the training rows and return it.

        `loss` and `judge` take model units u [B, k], targets y [B, 1] and the share of the training done; `judge` is
        asked on the held-out rows after every epoch (None, or no held-out rows: the last state is kept).
        """
        net.to(self.device).train()
        u, y = _tensors(net, data.x, data.y)
        u_held, y_held = _tensors(net, data.x_held, data.y_held)
        optimizer = torch.optim.Adam(net.parameters(), lr=self.rate)
        rng = np.random.default_rng(self.seed)
        steps = self.epochs * -(-len(u) // self.batch)
        done, best, kept = 0, float("inf"), None
        for _ in range(self.epochs):
            for index in torch.as_tensor(rng.permutation(len(u)), device=u.device).split(self.batch):
                optimizer.param_groups[0]["lr"] = self.rate_at(done / steps)
                optimizer.zero_grad()
                loss(u[index], y[index], done / steps).backward()
                optimizer.step()
                if after_step is not None:
                    after_step()
                done += 1
            if judge is not None and len(u_held):
                with torch.no_grad():
                    value = float(judge(u_held, y_held, done / steps))
                if value < best:
                    best, kept = value, {k: v.clone() for k, v in net.state_dict().items()}
        if kept is not None:
            net.load_state_dict(kept)
        return net.eval()


def task_loss(net: ScaledModule, task: TaskName) -> Loss:
    """Mean binary cross-entropy of logits, or mean squared error in units of the target's spread."""

    def loss(u: torch.Tensor, y: torch.Tensor, _: float) -> torch.Tensor:
        if task == "binary":
            return F.binary_cross_entropy_with_logits(net.module(u), y)
        return F.mse_loss(net.module(u), (y - net.mean) / net.scale_out)

    return loss


def output_units(task: TaskName, y: np.ndarray) -> tuple[float, float]:
    """Mean and spread of a regression's target; a logit is left as it is."""
    spread = float(y.std())
    return (0.0, 1.0) if task == "binary" else (float(y.mean()), spread if spread > 0 else 1.0)


def _tensors(net: ScaledModule, x: np.ndarray, y: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        u = net.scale(torch.as_tensor(x, device=net.shift.device))
    return u, torch.as_tensor(y, device=u.device).to(u.dtype)[:, None]
