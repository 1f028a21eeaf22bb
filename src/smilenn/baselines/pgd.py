"""Projected gradient descent: the attack that robust accuracy is measured with.

    x_0 ∈ B_δ(x) at random,   x_{k+1} = Π( x_k − η·sign ∇ (s·f)(x_k) ),   s = 2y − 1,  Π the clip to B_δ(x) ∩ [lo, hi]

The smallest s·f met on the way counts, the clean input included: accuracy under attack never exceeds clean accuracy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from smilenn.errors import SmileError


def pgd_margin(
    f: Callable[[torch.Tensor], torch.Tensor],
    x: np.ndarray,
    y: np.ndarray,
    delta: float,
    *,
    lo: float = 0.0,
    hi: float = 1.0,
    steps: int = 100,
    restarts: int = 1,
    step: float | None = None,
    batch: int = 1000,
    seed: int = 0,
    device: str = "cpu",
    dtype: torch.dtype = torch.float64,
) -> np.ndarray:
    """The smallest s·f found within δ of each row, [n]; negative where the attack flipped the decision.

    f maps inputs [B, m] to logits [B, 1] and is differentiable; x [n, m], y [n] of 0 and 1. `step` is η, by default
    2.5·δ/steps.
    """
    if steps < 1 or restarts < 1 or not delta >= 0:
        raise SmileError(f"An attack needs steps ≥ 1, restarts ≥ 1 and delta ≥ 0, not {steps}, {restarts}, {delta}.")
    generator = torch.Generator().manual_seed(seed)
    eta = 2.5 * delta / steps if step is None else step
    out = np.empty(len(x))
    for i in range(0, len(x), batch):
        rows = torch.as_tensor(x[i : i + batch], device=device).to(dtype)
        sign = torch.as_tensor(2.0 * np.asarray(y[i : i + batch]) - 1.0, device=device)
        floor, ceiling = (rows - delta).clamp(lo, hi), (rows + delta).clamp(lo, hi)

        def margin(point: torch.Tensor, sign: torch.Tensor = sign) -> torch.Tensor:
            return f(point)[:, 0].double() * sign

        with torch.no_grad():
            worst = margin(rows)
        for _ in range(restarts):
            noise = torch.rand(rows.shape, generator=generator).to(rows)
            point = floor + noise * (ceiling - floor)
            for _ in range(steps):
                point.requires_grad_(True)
                value = margin(point)
                (slope,) = torch.autograd.grad(value.sum(), point)
                worst = torch.minimum(worst, value.detach())
                point = torch.minimum(torch.maximum(point.detach() - eta * slope.sign(), floor), ceiling)
            with torch.no_grad():
                worst = torch.minimum(worst, margin(point))
        out[i : i + batch] = worst.cpu().numpy()
    return out
