"""Claims on every single input and no others (bounds, order, sums, pairs of outputs): a free backbone in a fixed box.

In the coordinates of train/coordinates.py the claims are the ends of a box, so they hold whatever the backbone learns.
"""

from __future__ import annotations

from smilenn.train.averaged import boxed
from smilenn.train.coordinates import unconditional
from smilenn.train.recipes.task import Recipe, Task, steps

REASONS = (
    "No encoder. In coordinates such as the steps from one output to the next, or their sum, the properties are the "
    "ends of a fixed box; the backbone is free inside it."
)
RATE = 3e-3


def recipe(task: Task) -> Recipe | None:
    """The network in a fixed box; None where a claim has a premise, or no such box implies them all."""
    if task.box is None or not all(unconditional(claim) for claim in task.settled):
        return None
    o, design = len(task.outputs.names), task.design
    own = design.made_backbone(task.domain.size, o)
    net = boxed(
        task.domain,
        task.box,
        task.scale,
        task.start,
        outputs=task.outputs.names,
        sizes=design.backbone_sizes,
        backbone=own,
    )
    return Recipe(net, steps(len(task.x), RATE), REASONS, "boxed")
