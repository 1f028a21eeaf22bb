"""Agnostic: backbone and linear head without boxes or property, f = g∘h; trained on the task alone.

min_θ  mean loss(g(h(u)), y)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import nn

from smilenn.baselines.descent import Descent, output_units, task_loss
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.base import TaskName
from smilenn.datasets.prepare import Prepared
from smilenn.model.backbones import MLP

Backbone = Callable[[int, int], nn.Module]


def mlp(sizes: Sequence[int]) -> Backbone:
    """The builder of a multilayer perceptron: (inputs, embedding) → module."""
    return lambda inputs, embedding: MLP(inputs, tuple(sizes), embedding)


def build(
    data: Prepared, backbone: Backbone, embedding: int, task: TaskName, columns: Sequence[int] | None = None
) -> ScaledModule:
    """Backbone and head with fresh weights; call `Descent.start` before."""
    mean, scale = output_units(task, data.y)
    inputs = data.domain.size if columns is None else len(columns)
    module = nn.Sequential(backbone(inputs, embedding), nn.Linear(embedding, 1))
    return ScaledModule(data.domain, module, columns=columns, mean=mean, scale=scale)


def fit_agnostic(
    data: Prepared, backbone: Backbone, embedding: int, *, task: TaskName, descent: Descent | None = None
) -> ScaledModule:
    """Train backbone and head; the epoch with the smallest held-out loss is kept."""
    descent = Descent() if descent is None else descent
    descent.start()
    net = build(data, backbone, embedding, task)
    loss = task_loss(net, task)
    return descent.run(net, data, loss, loss)
