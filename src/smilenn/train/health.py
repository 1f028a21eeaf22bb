"""What is looked at while a network learns: the width of its box, and whether its auxiliaries are alive."""

from __future__ import annotations

import torch

from smilenn.errors import SmileError
from smilenn.model.net import SmileNet
from smilenn.train.config import Config
from smilenn.train.phases import Training


class DeadAuxiliaries(SmileError):
    """Pretraining left the auxiliaries without information; another seed may do better."""


@torch.no_grad()
def box_statistics(net: SmileNet, x: torch.Tensor, rows: int = 1024) -> dict[str, float]:
    """Mean width Σ|G|(upper − lower) over up to `rows` data rows, and the share of flipped coordinates."""
    if net.collapsed:
        return {"width": 0.0, "flipped": 0.0}
    if net.boxes == "gap" and net.second.kind == "constant":
        rows = 1  # the width is the same everywhere, and encoding many rows would cost a third of an epoch
    lower, upper = net.box(net.encode(net.scale(x[:rows])))
    width = torch.relu(upper - lower) @ (net.head_weight * net.output_scale[:, None]).abs().T
    return {"width": float(width.mean()), "flipped": float((upper < lower).double().mean())}


@torch.no_grad()
def fail_on_dead(net: SmileNet, task: Training, config: Config) -> None:
    """A loud failure where the auxiliaries learned nothing: such a model would be proved happily and predict nothing.

    Judged against the free backbone: on a target that nothing predicts, both are equally poor and nothing is wrong.
    """
    frozen = not any(p.requires_grad for p in net.lower.parameters())
    if net.auxiliaries == "constant" or (frozen and not net.lower.hidden):  # a constant on purpose
        return
    net.eval()
    p = net.pathways(task.x[:8192])
    net.train()
    weight = None if task.weight is None else task.weight[:8192]
    _, on_lower, _, on_free = p.each()
    lower, free = (float(task.loss(f, task.y[:8192], weight)) for f in (on_lower, on_free))
    dead = net.lower.dead(net.encode(net.scale(task.x)))
    if dead.numel() and bool(dead.all()):
        raise DeadAuxiliaries(
            "All hidden units of the lower auxiliary net are dead after pretraining; change the seed."
        )
    if 1 - lower < config.least_quality and 1 - free > max(0.1, 10 * config.least_quality):
        raise DeadAuxiliaries(
            f"The auxiliaries learned nothing in pretraining (they explain {max(0.0, 1 - lower):.1%} where the "
            f"backbone explains {1 - free:.1%}; {int(dead.sum())} of {dead.numel()} units dead); pretrain longer or "
            "with more units."
        )
