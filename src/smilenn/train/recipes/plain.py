"""Everything else: the paper's network, auxiliaries of the inputs that are searched and proved."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.train.config import Config
from smilenn.train.recipes.stated import Kind, Stated
from smilenn.train.recipes.task import Recipe, Task

NORM = " A change in the Euclidean norm is proved here by the change of each column alone."
REST = " State norm2 without other premises, or a bound for each column."


def recipe(task: Task) -> Recipe:
    """A fresh network without an encoder, its head starting at the target's means."""
    design = task.design
    embedding = max(design.embedding, len(task.outputs.names))  # fewer would tie outputs to each other
    backbone = design.made_backbone(task.domain.size, embedding)
    if backbone is None:  # float64: a row's prediction then does not depend visibly on the batch it comes in
        backbone = MLP(task.domain.size, tuple(design.backbone_sizes), embedding).double()
    net = SmileNet(
        task.domain,
        backbone,
        embedding,
        outputs=task.outputs.names,
        auxiliaries=design.auxiliaries,
        hidden=design.hidden,
        boxes=design.boxes,
        output_scale=task.size.tolist(),
    )
    with torch.no_grad():
        net.head_bias.copy_(torch.as_tensor(task.start) / net.output_scale)
    return Recipe(net, Config(), why_plain(task.kinds) + _of_norms(task.stated), "plain")


def why_plain(kinds: Iterable[Kind]) -> str:
    """Why these claims get the paper's architecture."""
    if not kinds:
        return "There are no properties, and the network was chosen: no encoder is needed."
    names = ", ".join(sorted(kinds))
    return f"No encoder keeps {names} by construction here, so training searches for counterexamples and proves."


def _of_norms(stated: Iterable[Stated]) -> str:
    """What becomes of claims in the Euclidean norm, and what to state where other premises stand beside it."""
    kinds = {one.kind for one in stated if one.claim.ball}
    return (NORM if kinds else "") + (REST if Kind.OTHER in kinds else "")
