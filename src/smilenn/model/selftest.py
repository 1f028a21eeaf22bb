"""Self-test vectors: the ends of the box at a few inputs, stored with a model and computed again when it is loaded.

A certificate speaks of float64 arithmetic as IEEE 754 has it. A machine or a build that computes otherwise (an emulated
or shortened type, a compiler that reorders a fixed order) shows here, before it predicts. Under ``fixed-order`` and
``dyadic`` the numbers must agree bit for bit, in a batch and row by row; under ``f64-aux``, whose sums may be taken in
any order, within 1e-9 of the output scale or of what the head adds up, far above its rounding and far below any fault.
An encoder must give a row the same bits in any batch, whatever the profile: a module that looks at others shows here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from smilenn.errors import AlteredError, SmileError

if TYPE_CHECKING:
    import torch

    from smilenn.model.net import SmileNet

NAME = "selftest.json"
ROWS = 16
TOLERANCE = 1e-9


def vectors(net: SmileNet) -> dict[str, Any]:
    """Inputs x [16, m] (both ends of the domain among them) and g∘lower, g∘upper there, each [16, o]; JSON-ready."""
    domain = net.domain
    x = np.vstack([domain.lo, domain.hi, domain.sample(ROWS - 2, np.random.default_rng(0))])
    lower, upper = _ends(net, x)
    weights = net.snapshot().digest
    return {
        "profile": net.profile,
        "weights": weights,
        "inputs": x.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    }


def replay(net: SmileNet, stored: Any, where: str) -> None:
    """Raise unless `net` computes on this machine what it did where it was saved."""
    try:
        weights, x = stored["weights"], np.array(stored["inputs"], dtype=np.float64).reshape(-1, net.domain.size)
        wanted = np.stack([np.array(stored[end], dtype=np.float64) for end in ("lower", "upper")])
        if wanted.shape != (2, len(x), len(net.outputs)) or stored["profile"] != net.profile or len(x) == 0:
            raise ValueError("another shape or profile")
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise SmileError(f"{where} does not hold the self-test of this model; save the model again.") from None
    if weights != net.snapshot().digest:
        raise AlteredError(f"{where} speaks of other weights than the model's; save the model again.")
    if net.encoder is not None and not _steady(net, x):
        raise SmileError(
            f"The encoder of {where} gives a row other bits in another batch, so no certificate of it holds; use "
            "modules that treat every row by itself."
        )
    exact = net.profile != "f64-aux"
    room = 0.0 if exact else TOLERANCE * _sizes(net, x)
    batches = [_ends(net, x), np.concatenate([_ends(net, row[None]) for row in x], axis=1)]
    for found in batches if exact else batches[:1]:
        if not (np.abs(found - wanted) <= room).all():
            raise SmileError(
                f"This machine computes other outputs than {where} records (profile {net.profile}), so no certificate "
                "of this model holds here; run it on a machine or a build of PyTorch with IEEE float64."
            )


def _steady(net: SmileNet, x: np.ndarray) -> bool:
    """Whether rows x [B, m] are encoded to the same bits together, in another order and one by one."""
    import torch

    training = net.training
    net.eval()
    try:
        with torch.no_grad():
            u = net.scale(torch.as_tensor(x, device=net.shift.device))
            together, turned = net.encode(u), net.encode(u.flip(0)).flip(0)
            alone = torch.cat([net.encode(row[None]) for row in u])
    finally:
        net.train(training)
    return torch.equal(together, turned) and torch.equal(together, alone)


def _ends(net: SmileNet, x: np.ndarray) -> np.ndarray:
    """g∘lower and g∘upper at x [B, m], [2, B, o]; a flipped box gives lower."""
    import torch

    with torch.no_grad():
        lower, upper = _box(net, x)
        return torch.stack([net.head(lower), net.head(torch.where(upper > lower, upper, lower))]).cpu().numpy()


def _sizes(net: SmileNet, x: np.ndarray) -> np.ndarray:
    """output_scale + Σ_i |G_oi|·max(|lower_i|, |upper_i|) at x [B, m], [B, o]."""
    import torch

    with torch.no_grad():
        lower, upper = _box(net, x)
        head, _ = net.effective_head()
        return (net.output_scale + torch.maximum(lower.abs(), upper.abs()) @ head.abs().T).cpu().numpy()


def _box(net: SmileNet, x: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """lower and upper as deployed: an encoder in training mode computes faster and otherwise."""
    import torch

    training = net.training
    net.eval()
    try:
        return net.box(net.encode(net.scale(torch.as_tensor(x, device=net.shift.device))))
    finally:
        net.train(training)
