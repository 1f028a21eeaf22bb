"""Claims on single inputs with premises, or more rows than outputs: a free backbone in a box that opens outside them.

A linear program finds the box (train/premised.py).
"""

from __future__ import annotations

import numpy as np

from smilenn.train.averaged import boxed
from smilenn.train.premised import premised
from smilenn.train.recipes.boxed import RATE
from smilenn.train.recipes.task import Recipe, Task, steps

REASONS = (
    "No encoder. A linear program found a box around the outputs that implies the properties wherever their premises "
    "hold and opens elsewhere; the backbone is free inside it."
)


def recipe(task: Task) -> Recipe | None:
    """The network in such a box; None where a claim compares inputs, or no box is found."""
    if not task.settled:
        return None
    o, design = len(task.outputs.names), task.design
    aim = np.zeros((len(task.x), o)) if task.aim is None else task.aim - task.start / task.scale
    box = premised(task.settled, task.domain, task.outputs.names, task.scale, task.start, task.x, aim)
    if box is None:
        return None
    own = design.made_backbone(task.domain.size, 2 * o)
    net = boxed(
        task.domain, box, task.scale, task.start, outputs=task.outputs.names, sizes=design.backbone_sizes, backbone=own
    )
    return Recipe(net, steps(len(task.x), RATE), REASONS, "premised")
