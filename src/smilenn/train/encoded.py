"""Training of networks with an encoder: the claims hold by construction, so nothing is searched while it learns.

    L = L_s(f) + mean_k L_s(f_k) [+ L_s(g∘h)]

f_k is the network with every member of an ensemble replaced by member k: each learns by itself, as an average of
networks trained together would not. The backbone joins where the box has a width. Signs are restored after each step;
distance layers anneal ‖·‖_p with p = 8·(p_end/8)^t up to t = 1 − `TAIL` of training and take the maximum itself after.
The state with the least held-out loss is kept (of distance nets one that used the maximum).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from smilenn.model.encoders import Branch, Distance, Encoder
from smilenn.model.net import SmileNet
from smilenn.train.phases import Task, finite_step
from smilenn.train.state import State, rngs

P_START, P_END, TAIL = 8.0, 100.0, 0.15
DECAY = 1e-2  # of weights, per unit of the learning rate: AdamW's


def encoded_epoch(state: State, task: Task) -> dict[str, Any]:
    """One epoch; the record for the history."""
    net, config, rng = state.net, task.config, rngs(task.seed, state.phase, state.unit)
    encoder = net.encoder
    assert encoder is not None
    batches, totals = task.batches(rng), np.zeros(2)
    distances = [layer for layer in encoder.modules() if isinstance(layer, Distance)]
    for step, index in enumerate(batches):
        done = (state.unit + step / len(batches)) / max(1, config.epochs)
        rate = config.rate * (
            config.final_rate + (1 - config.final_rate) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        )
        for group in state.optimizer.param_groups:
            group["lr"] = rate
        for layer in distances:
            layer.p = P_START * (P_END / P_START) ** (done / (1 - TAIL)) if done < 1 - TAIL else math.inf
        x, y, w = task.rows(index)
        u = net.scale(x)
        e = net.encode(u)
        parts = [net.lower(member) for member in members(encoder, e)]
        loss = torch.stack([task.loss(net.head(part), y, w) for part in parts]).mean()
        if not net.collapsed:
            lower, upper = net.box(e)
            z = net.embed(u)
            inside = torch.minimum(torch.maximum(z, lower), upper)
            loss = loss + task.loss(net.head(inside), y, w) + task.loss(net.head(z), y, w)
        finite_step(state.optimizer, loss, net)
        with torch.no_grad():
            for parameter in encoder.parameters():
                if parameter.ndim > 1:
                    parameter.mul_(1 - rate * DECAY)
        totals += [float(loss.detach()), 1.0]
    return {"loss": totals[0] / totals[1]}


def members(encoder: Encoder, e: torch.Tensor) -> list[torch.Tensor]:
    """e [B, p] with every branch of layers replaced by the k-th, one for each k; e itself where branches differ."""
    branches = [branch for branch in encoder.branches if isinstance(branch, Branch)]
    layered = [branch for branch in branches if len(branch.layers)]
    if len(layered) < 2 or len({branch.outputs for branch in layered}) > 1:
        return [e]
    parts, at = [], 0
    for branch in branches:
        parts.append(e[:, at : at + branch.outputs])
        at += branch.outputs
    own = [part for part, branch in zip(parts, branches, strict=True) if len(branch.layers)]
    return [
        torch.cat([one if len(branch.layers) else part for part, branch in zip(parts, branches, strict=True)], dim=1)
        for one in own
    ]


def finished(net: SmileNet) -> bool:
    """Whether the network computes now what it will when deployed: no distance layer is relaxed."""
    return all(math.isinf(layer.p) for layer in net.modules() if isinstance(layer, Distance))


@torch.no_grad()
def settle(net: SmileNet, x: torch.Tensor) -> None:
    """Fold running means into biases and fit the encoder's box to the training rows x [N, m] (raw units)."""
    encoder = net.encoder
    assert encoder is not None
    for layer in encoder.modules():
        if isinstance(layer, Distance):
            layer.p = math.inf
            layer.settle_()
    encoder.fit_box_(net.scale(x))
