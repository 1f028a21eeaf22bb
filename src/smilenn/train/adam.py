"""One step of Adam without what torch does around it.

The networks here are small: a step of ``torch.optim.Adam`` spends more time on hooks, checks and lists than on numbers.
Once every parameter with a gradient has its moments, the kernel is called directly, group by group; until then, and
wherever the kernel does not apply, torch's own step is taken. Both compute the same numbers to the last bit.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

PLAIN = ("amsgrad", "maximize", "capturable", "differentiable")  # options that the direct call does not know


class Adam(torch.optim.Adam):
    """torch's Adam, less the wrappers around two methods that import its compiler: a second of every first fit."""

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """A group of parameters, as torch adds it."""
        inspect.unwrap(torch.optim.Optimizer.add_param_group)(self, param_group)

    def state_dict(self) -> dict[str, Any]:
        """The moments, as torch writes them."""
        return inspect.unwrap(torch.optim.Optimizer.state_dict)(self)


@torch.no_grad()
def adam_step(optimizer: torch.optim.Optimizer) -> None:
    """Move the parameters by their gradients; those without one stay."""
    groups = optimizer.param_groups
    moved = [[p for p in group["params"] if p.grad is not None] for group in groups]
    _begin_(optimizer, moved)
    if not _direct(optimizer, moved):
        optimizer.step()
        return
    for group, own in zip(groups, moved, strict=True):
        if not own:
            continue
        states = [optimizer.state[p] for p in own]
        steps = [state["step"] for state in states]
        torch._foreach_add_(steps, 1)  # pyright: ignore[reportPrivateImportUsage]
        first, second = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq"))
        _kernel(group, own, [p.grad for p in own if p.grad is not None], first, second, steps)


def _begin_(optimizer: torch.optim.Optimizer, moved: Sequence[Sequence[torch.Tensor]]) -> None:
    """Moments of zero, as torch's first step makes them, for parameters that the kernel is called for."""
    for group, own in zip(optimizer.param_groups, moved, strict=True):
        for p in own if isinstance(optimizer, Adam) and _is_plain(group) else ():
            if not optimizer.state[p] and p.device.type == "cpu":
                optimizer.state[p] |= {
                    "step": torch.zeros((), dtype=torch.float32),
                    "exp_avg": torch.zeros_like(p),
                    "exp_avg_sq": torch.zeros_like(p),
                }


def _direct(optimizer: torch.optim.Optimizer, moved: Sequence[Sequence[torch.Tensor]]) -> bool:
    """Whether the kernel may be called for these parameters of every group."""
    if not isinstance(optimizer, torch.optim.Adam) or not hasattr(torch, "_fused_adam_"):
        return False
    if not all(map(_is_plain, optimizer.param_groups)):
        return False
    every = [p for own in moved for p in own]
    begun = all("step" in optimizer.state.get(p, ()) and p.device.type in ("cpu", "cuda") for p in every)
    # a backbone in float32: one call takes one type, on one device
    mixed = any(len({(p.dtype, p.device) for p in own}) > 1 for own in moved)
    return begun and not mixed


def _is_plain(group: dict[str, Any]) -> bool:
    return bool(group.get("fused")) and not any(group[name] for name in PLAIN)


def _kernel(
    group: dict[str, Any],
    own: list[torch.Tensor],
    slopes: list[torch.Tensor],
    first: list[torch.Tensor],
    second: list[torch.Tensor],
    steps: list[torch.Tensor],
) -> None:
    torch._fused_adam_(  # pyright: ignore[reportPrivateImportUsage]
        own,
        slopes,
        first,
        second,
        [],
        steps,
        lr=group["lr"] if isinstance(group["lr"], torch.Tensor) else float(group["lr"]),
        beta1=group["betas"][0],
        beta2=group["betas"][1],
        weight_decay=group["weight_decay"],
        eps=group["eps"],
        amsgrad=False,
        maximize=False,
        grad_scale=None,
        found_inf=None,
    )


def set_rate(group: dict[str, Any], rate: float) -> None:
    """The learning rate of a group; in place where it lies on a GPU, for steps that are recorded (recorded.py)."""
    if isinstance(group["lr"], torch.Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def forget_gradients(optimizer: torch.optim.Optimizer) -> None:
    """Set all gradients to None."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


class Moves:
    """Steps of Adam with gradients that are handed over, for parameters whose moments exist.

    Lists are made once and the counters of all parameters lie in one tensor, so a step is two calls a group. The
    optimiser's own state is what moves: `adam_step` may come in between.
    """

    def __init__(self, optimizer: torch.optim.Adam, parameters: Sequence[Sequence[torch.Tensor]]) -> None:
        self.groups = []
        for group, own in zip(optimizer.param_groups, parameters, strict=True):
            if not own:
                continue
            states = [optimizer.state[p] for p in own]
            counts = torch.stack([state["step"] for state in states])
            for state, count in zip(states, counts.unbind(), strict=True):
                state["step"] = count
            moments = [[state[name] for state in states] for name in ("exp_avg", "exp_avg_sq")]
            self.groups.append((group, list(own), *moments, counts, list(counts.unbind())))

    @classmethod
    def of(cls, optimizer: torch.optim.Optimizer, parameters: Sequence[Sequence[torch.Tensor]]) -> Moves | None:
        """For these parameters of every group, all with a gradient; None where torch has to take the step."""
        if not isinstance(optimizer, torch.optim.Adam) or not _direct(optimizer, parameters):
            return None
        return cls(optimizer, parameters)

    @torch.no_grad()
    def step(self, gradients: Sequence[list[torch.Tensor]]) -> None:
        """Move the parameters by their gradients, in the order in which both were given."""
        given = [slopes for slopes in gradients if slopes]
        for (group, own, first, second, counts, each), slopes in zip(self.groups, given, strict=True):
            counts.add_(1)
            _kernel(group, own, slopes, first, second, each)


def fused(net: nn.Module) -> bool | None:
    """One kernel for all tensors of a step: they are small, and calls are what a step on them costs."""
    fits = all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in net.parameters())
    return True if fits else None
