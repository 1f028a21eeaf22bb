"""Unaware: the agnostic network without the protected coordinates, f(x) = g(h(u without P)).

Flipping a protected feature cannot change the output; other features may still stand in for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from smilenn.baselines.agnostic import Backbone, build
from smilenn.baselines.descent import Descent, task_loss
from smilenn.baselines.network import ScaledModule
from smilenn.datasets.base import TaskName
from smilenn.datasets.prepare import Prepared


def fit_unaware(
    data: Prepared,
    protected: Sequence[str],
    backbone: Backbone,
    embedding: int,
    *,
    task: TaskName,
    descent: Descent | None = None,
) -> ScaledModule:
    """Train on the coordinates of all features but `protected`."""
    descent = Descent() if descent is None else descent
    dropped = {index for name in protected for index in data.domain.indices(name)}
    columns = [index for index in range(data.domain.size) if index not in dropped]
    descent.start()
    net = build(data, backbone, embedding, task, columns)
    loss = task_loss(net, task)
    return descent.run(net, data, loss, loss)
