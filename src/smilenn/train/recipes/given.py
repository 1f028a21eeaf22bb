"""An encoder that the user brings: its coordinates are averaged."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch

from smilenn.errors import SmileError, listed
from smilenn.model.encoders import Branch, Encoder, Pinned
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground
from smilenn.train.averaged import averaged
from smilenn.train.recipes.task import Recipe, Task, steps

RATE = 1e-2


def recipe(task: Task) -> Recipe | None:
    """The mean of what the user's encoder returns; None where there is none."""
    own = task.design.encoder
    if isinstance(own, str) and own in ("auto", "none"):
        return None
    made = own(task.domain, task.domain.scale(task.x)) if callable(own) and not isinstance(own, Encoder) else own
    if not isinstance(made, Encoder):
        raise SmileError(
            "encoder must be 'auto', 'image', 'none', an Encoder or a function (domain, u) that returns one."
        )
    if made.domain != task.domain:
        raise SmileError("The encoder was made for another domain; pass that domain as well (domain=encoder.domain).")
    refuse_unpinned(made, task.claims)
    if len(task.outputs.names) > 1:
        raise SmileError("Your own encoder is averaged to one output, but the target has several.")
    net = averaged(task.domain, copy.deepcopy(made), task.size, task.start, sizes=task.design.backbone_sizes)
    reasons = "The encoder that was given; its coordinates are averaged."
    return Recipe(net, steps(len(task.x), RATE), reasons, "given")


def refuse_unpinned(encoder: Encoder, claims: Sequence[Claim]) -> None:
    """Raise if a pinned module reads a column that a claim lets differ, or if one returns other numbers for the same
    inputs: nothing would be known of what it returns.
    """
    _refuse_chance(encoder)
    for branch in encoder.branches:
        if not isinstance(branch, Branch) or not any(isinstance(layer, Pinned) for layer in branch.layers):
            continue
        for claim in claims:
            pinned = ground(claim, encoder.domain).pinned
            moving = [encoder.domain.coordinates[i] for i in branch.columns if not pinned[i]]
            if moving and claim.copies > 1:
                raise SmileError(
                    f"The encoder's branch {branch.name!r} holds a module that reads {listed(moving)}, which "
                    f"{claim.formula()!r} does not keep equal; leave that column to another branch."
                )


def _refuse_chance(encoder: Encoder) -> None:
    u = torch.as_tensor(encoder.domain.scale(encoder.domain.sample(8, np.random.default_rng(0))))
    training = encoder.training
    encoder.eval()
    with torch.no_grad():
        for branch in encoder.branches:
            one, two = branch(u), branch(u)
            if not torch.equal(torch.nan_to_num(one), torch.nan_to_num(two)):
                raise SmileError(
                    f"The encoder's branch {branch.name!r} gives other numbers when it is asked again: it depends on "
                    "chance, so nothing can be certified of it; leave random layers out."
                )
    encoder.train(training)
