"""Training of networks of contractions, robust in the Euclidean norm whatever the weights: ``f = V·h(y) + c``.

    m_j = (f_t − f_j)/‖v_t − v_j‖₂                      how far y may move before class j overtakes the true class t
    L   = mean softplus(log Σ_j exp(s·(θ − m_j)))/(s·θ)

h moves no two inputs apart, so m_j is a certified radius of the row against class j: the loss asks for θ, beyond the
radius of interest, and then leaves a row alone. Of outputs that decide by their signs, m_i = ±f_i/‖v_i‖₂. Steps are
Adam's, at a rate that falls along a half cosine, in float32: the deployed network is float64 and its claims do not
depend on how it was trained.

After each step the rows of V get one length, and V as a whole the size that every ε allows (recipes/contractions.py):
the largest ‖v_i − v_j‖₂, of signs the largest ‖v_i‖₂, stays what it was when the network was made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from smilenn.model.encoders import Contract
from smilenn.model.net import SmileNet
from smilenn.train.adam import adam_step, forget_gradients, set_rate
from smilenn.train.apart import Every, apart
from smilenn.train.augment import USUAL, changed, drawn_for
from smilenn.train.config import Config
from smilenn.train.encoded import seen
from smilenn.train.halves import PARTS, halved_backward, pays
from smilenn.train.losses import Decides
from smilenn.train.phases import Training, finite, finite_step, in_part
from smilenn.train.recorded import Recorded
from smilenn.train.state import State, rngs

SHARPNESS = 16.0
THETA = 0.05  # of the length of the diagonal, unless the config's margin says another
BETAS = (0.9, 0.99)
FAR = 1e9  # the radius against a row's own class


def has_contractions(net: SmileNet) -> bool:
    """Whether the encoder has contractions that are still loose, which are trained here."""
    return any(layer.tilt is not None for layer in contractions(net))


def contractions(net: SmileNet) -> list[Contract]:
    """The contractions of the encoder."""
    return [] if net.encoder is None else [layer for layer in net.encoder.modules() if isinstance(layer, Contract)]


Step = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]


def contraction_epoch(state: State, task: Training) -> dict[str, Any]:
    """One epoch; the record for the history."""
    if task.x.is_cuda or not pays(contractions(state.net), task.config.batch_size):
        return _epoch(state, task, _whole_step(state, task))
    with apart(PARTS) as every:
        return _epoch(state, task, _halved_step(state, task, every))


def _epoch(state: State, task: Training, step: Step) -> dict[str, Any]:
    """One epoch of these steps: rows, and how their images change → the loss."""
    net, config, rng = state.net, task.config, rngs(task.seed, state.phase, state.unit)
    batches, size = task.batches(rng), spread(net.lower.slope, task.decides)
    changes = drawn_for(batches, rng, USUAL) if config.augment == "affine" else None
    losses: list[torch.Tensor] = []
    for number, index in enumerate(batches):
        done = (state.unit + number / len(batches)) / max(1, config.epochs)
        for group in state.optimizer.param_groups:
            group.update(betas=BETAS)
            set_rate(group, config.rate * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))
        losses.append(step(index, None if changes is None else changes[number]))
        _resize_(net, size, task.decides)
        if task.over():
            break
    found = [float(one) for one in losses]
    finite(max(found, key=abs))
    return {"loss": float(np.mean(found)), **in_part(len(found), len(batches))}


def _theta(net: SmileNet, config: Config) -> float:
    return config.margin or THETA * math.sqrt(net.domain.size)


def _given(
    task: Training, index: torch.Tensor, by: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Inputs, targets and weights of a batch, its images changed."""
    x, y, w = task.rows(index)
    return x if by is None else changed(x, by), y, seen(w, task.held, index, None)


def _whole_step(state: State, task: Training) -> Step:
    """Steps on whole batches, recorded on a GPU."""
    loss = partial(_loss, state.net, _theta(state.net, task.config), task.decides)
    if task.x.is_cuda and state.recorded is None:
        state.recorded = Recorded(state.optimizer, loss)

    def step(index: torch.Tensor, by: torch.Tensor | None) -> torch.Tensor:
        given = _given(task, index, by)
        with _short_products():
            if state.recorded is not None:
                return state.recorded(None, given)
            found = loss(*given)
            finite_step(state.optimizer, found, state.net)
            return found.detach()

    return step


def _halved_step(state: State, task: Training, every: Every) -> Step:
    """Steps on a processor whose batches are halved (halves.py)."""
    net, theta, layers = state.net, _theta(state.net, task.config), contractions(state.net)
    parameters = [p for group in state.optimizer.param_groups for p in group["params"]]

    def step(index: torch.Tensor, by: torch.Tensor | None) -> torch.Tensor:
        weights = None if task.weight is None else seen(task.weight[index], task.held, index, None)
        total = len(index) if weights is None else weights.sum().clamp(min=1e-12)

        def part(half: slice) -> torch.Tensor:
            x, y, w = _given(task, index[half], None if by is None else by[:, half])
            short = _short(net, theta, task.decides, x, y)
            return (short if w is None else short * w).sum() / total

        forget_gradients(state.optimizer)
        loss = halved_backward(parameters, layers, len(index), part, every)
        finite(float(loss))
        adam_step(state.optimizer)
        net.project_()
        return loss

    return step


def _loss(
    net: SmileNet, theta: float, decides: Decides, x: torch.Tensor, y: torch.Tensor, w: torch.Tensor | None
) -> torch.Tensor:
    """L of rows x, y with weights w."""
    short = _short(net, theta, decides, x, y)
    return short.mean() if w is None else (short * w).sum() / w.sum().clamp(min=1e-12)


def _short(net: SmileNet, theta: float, decides: Decides, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What each row adds to L [B]."""
    m = _radii(net, x, y, decides)
    return F.softplus(torch.logsumexp(SHARPNESS * (theta - m), dim=1)) / (SHARPNESS * theta)


@contextmanager
def _short_products() -> Iterator[None]:
    """Let a GPU multiply with ten bits: three times as quick, and a step of training needs no more."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _radii(net: SmileNet, x: torch.Tensor, y: torch.Tensor, decides: Decides) -> torch.Tensor:
    """m of training rows."""
    assert net.encoder is not None
    h = net.encoder.uncut(net.scale(x).float())
    slope, bias = net.lower.slope.float(), net.head_bias.float()
    return radii(h @ slope.T + bias, slope, y, decides)


def radii(f: torch.Tensor, slope: torch.Tensor, y: torch.Tensor, decides: Decides) -> torch.Tensor:
    """m [B, o]: the radius of each row against each other class, or of each output's own decision."""
    if decides != "largest":
        return (2 * y - 1) * f / slope.norm(dim=1)
    true = y.argmax(dim=1)
    lead = f.gather(1, true[:, None]) - f
    return (lead / distances(slope)[true].to(f.dtype)).scatter(1, true[:, None], FAR)


def distances(slope: torch.Tensor) -> torch.Tensor:
    """‖v_i − v_j‖₂ [o, o], 1 on the diagonal, of the rows of V [o, p]."""
    products = slope @ slope.T
    squares = products.diagonal()[:, None] + products.diagonal() - 2 * products
    return squares.clamp(min=1e-12).sqrt() + torch.eye(len(slope), dtype=slope.dtype, device=slope.device)


def spread(slope: torch.Tensor, decides: Decides) -> float:
    """The largest ‖v_i − v_j‖₂ of the rows of V [o, p] where the largest output decides, else the largest ‖v_i‖₂."""
    slope = slope.detach()
    return float(torch.pdist(slope).max() if decides == "largest" else slope.norm(dim=1).max())


@torch.no_grad()
def _resize_(net: SmileNet, size: float, decides: Decides) -> None:
    """Rows of one length, and their spread as given."""
    slope = net.lower.slope
    slope.div_(slope.norm(dim=1, keepdim=True).clamp(min=1e-30))
    far = (2 - 2 * (slope @ slope.T).min()).sqrt() if decides == "largest" else 1.0
    slope.mul_(size / far)


@torch.no_grad()
def settle(net: SmileNet, size: float, decides: Decides) -> None:
    """Contractions as they are deployed, the outputs' directions of exactly the size that ε allows."""
    for layer in contractions(net):
        layer.settle_()
    slope = net.lower.slope
    slope.mul_(size / spread(slope, decides))
    slope.requires_grad_(False)
    net.head_bias.requires_grad_(False)
