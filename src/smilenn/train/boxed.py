"""Training of a backbone in a fixed box: plain supervised learning, since the box implies every claim.

    L = L_s( g(select(h)) ) + L_s( g(h) )

The first term is the loss of the network itself; where the backbone lies outside its box only the second has a slope.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from smilenn.model.select import select
from smilenn.train.encoded import seen
from smilenn.train.phases import Training, finite_step, in_part
from smilenn.train.state import State, rngs


def boxed_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch, the rate falling along a half cosine; the record for the history."""
    net, config, rng = state.net, task.config, rngs(task.seed, state.phase, state.unit)
    batches, losses = task.batches(rng), list[float]()
    for step, index in enumerate(batches):
        done = (state.unit + step / len(batches)) / max(1, config.epochs)
        falling = 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        for group in state.optimizer.param_groups:
            group["lr"] = config.rate * (config.final_rate + (1 - config.final_rate) * falling)
        x, y, w = task.rows(index)
        own = seen(w, task.held, index, None)
        u = net.scale(x)
        z = net.embed(u)
        loss = task.loss(net.head(select(z, *net.box(u))), y, own) + task.loss(net.head(z), y, own)
        finite_step(state.optimizer, loss, net)
        losses.append(float(loss.detach()) / 2)
        if task.over():
            break
    return {"loss": float(np.mean(losses)), **in_part(len(losses), len(batches))}
