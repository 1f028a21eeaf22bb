"""One step of Adam without what torch does around it.

The networks here are small: a step of ``torch.optim.Adam`` spends more time on hooks, checks and lists than on numbers.
Once every parameter with a gradient has its moments, the kernel is called directly, group by group; until then, and
wherever the kernel does not apply, torch's own step is taken. Both compute the same numbers to the last bit.
"""

from __future__ import annotations

import torch

PLAIN = ("amsgrad", "maximize", "capturable", "differentiable")  # options that the direct call does not know


@torch.no_grad()
def adam_step(optimizer: torch.optim.Optimizer) -> None:
    """Move the parameters by their gradients; those without one stay."""
    groups = optimizer.param_groups
    ready = isinstance(optimizer, torch.optim.Adam) and hasattr(torch, "_fused_adam_")
    if not ready or any(not group.get("fused") or any(group[name] for name in PLAIN) for group in groups):
        optimizer.step()
        return
    moved = [[p for p in group["params"] if p.grad is not None] for group in groups]
    new = any("step" not in optimizer.state.get(p, ()) for own in moved for p in own)
    mixed = any(len({p.dtype for p in own}) > 1 for own in moved)  # a backbone in float32: one call takes one type
    if new or mixed or any(p.device.type != "cpu" for own in moved for p in own):
        optimizer.step()
        return
    for group, own in zip(groups, moved, strict=True):
        if not own:
            continue
        states = [optimizer.state[p] for p in own]
        steps = [state["step"] for state in states]
        torch._foreach_add_(steps, 1)  # pyright: ignore[reportPrivateImportUsage]
        torch._fused_adam_(  # pyright: ignore[reportPrivateImportUsage]
            own, [p.grad for p in own], [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states], [], steps, lr=float(group["lr"]), beta1=group["betas"][0],
            beta2=group["betas"][1], weight_decay=group["weight_decay"], eps=group["eps"], amsgrad=False,
            maximize=False, grad_scale=None, found_inf=None,
        )  # fmt: skip


def forget_gradients(optimizer: torch.optim.Optimizer) -> None:
    """Set all gradients to None."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
