"""Steps of contractions on a processor in two threads: half of the rows each, and half of the layers.

    g_l                                half of the layers each      the gain, from sums over WᵀW: no row takes part
    ∂L/∂(W, b, V, c, g)                half of the rows each
    ∂L/∂(W, q) += ∂L/∂g·∂g/∂(W, q)     half of the layers each

torch by itself splits every product between its threads, which wait for each other after each one. Halves wait three
times a step, so a core that is busy elsewhere delays them less, and what is done beside the products is halved too.
The parts are the same with one thread and with two, and so are the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from smilenn.model.encoders import Contract
from smilenn.train.apart import Every

PARTS = 2
LEAST = 1 << 24  # multiplications of a product from which halves pay
Slopes = tuple[torch.Tensor | None, ...]


def pays(layers: Sequence[Contract], rows: int) -> bool:
    """Whether the products of a batch are large enough for two threads."""
    return min(rows * layer.weight.numel() for layer in layers) >= LEAST


def halved_backward(
    parameters: Sequence[torch.Tensor],
    layers: Sequence[Contract],
    rows: int,
    loss: Callable[[slice], torch.Tensor],
    every: Every,
) -> torch.Tensor:
    """Set the gradients of parameters that learn, those of the layers among them; the loss of a batch of `rows` rows.

    `loss` returns what a part of the rows adds to it.
    """
    turns = [layers[first::PARTS] for first in range(PARTS)]
    gains = every([partial(_gains, turn) for turn in turns])
    through = {id(layer.tilt) for layer in layers}  # they count by the gains alone
    own = [p for p in parameters if p.requires_grad and id(p) not in through]
    try:
        for turn, found in zip(turns, gains, strict=True):
            for layer, gain in zip(turn, found, strict=True):
                layer.held = gain.detach().requires_grad_()
        held = [[layer.held for layer in turn if layer.held is not None] for turn in turns]
        wanted = [*own, *(one for turn in held for one in turn)]
        middle = (rows + 1) // PARTS
        halves = every([partial(_slopes, loss, half, wanted) for half in (slice(0, middle), slice(middle, rows))])
    finally:
        for layer in layers:
            layer.held = None
    (first, slopes), (second, others) = halves
    sums = [a if a is None or b is None else a.add_(b) for a, b in zip(slopes, others, strict=True)]
    for parameter, slope in zip(own, sums, strict=False):
        parameter.grad = slope  # None for one that takes no part
    to_gains = iter(sums[len(own) :])
    parts = [(turn, found, [next(to_gains) for _ in found]) for turn, found in zip(turns, gains, strict=True)]
    every([partial(_through, *part) for part in parts])
    return first + second


def _gains(layers: Sequence[Contract]) -> list[torch.Tensor]:
    return [layer.loose_gain(torch.float32) for layer in layers]


def _slopes(
    loss: Callable[[slice], torch.Tensor], half: slice, wanted: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, Slopes]:
    """A part's loss and its gradients."""
    found = loss(half)
    return found.detach(), torch.autograd.grad(found, wanted, allow_unused=True)


def _through(layers: Sequence[Contract], gains: Sequence[torch.Tensor], slopes: Sequence[torch.Tensor | None]) -> None:
    """Add what the gains of these layers pass on to their weights and balances."""
    for layer, gain, slope in zip(layers, gains, slopes, strict=True):
        assert layer.tilt is not None and layer.weight.grad is not None
        by_weight, layer.tilt.grad = torch.autograd.grad(gain, (layer.weight, layer.tilt), slope)
        layer.weight.grad.add_(by_weight)
