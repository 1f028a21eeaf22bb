"""Norms ‖d‖_p of differences whose powers are products: p = 2 + E, E = 2·2^s or 6·2^s.

    ‖d‖_p = M·(Σ (d_i/M)^p)^(1/p),  M = max|d_i|          (d/M)^p = ((d/M)²)^(E/2)·(d/M)²
    ∂‖d‖_p/∂d_i = (d_i/‖d‖_p)^(p−1)                       (d/‖d‖)^(p−1) = (d/‖d‖)^E·(d/‖d‖), which keeps the sign

Squaring is an order of magnitude quicker than a logarithm and an exponential, on a processor as on a GPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

STEPS = 14  # squarings at most: p up to 98,306


@dataclass(frozen=True)
class Power:
    """p = 2 + E with E/2 = 2^steps, or 3·2^steps."""

    steps: int
    three: bool

    @property
    def p(self) -> int:
        """The power itself."""
        return 2 + 2 * (3 if self.three else 1) * 2**self.steps


def power_near(p: float) -> Power:
    """The nearest power that squarings reach, by ratio.

    >>> power_near(100.0).p, power_near(8.0).p
    (98, 8)
    """
    every = [Power(steps, three) for steps in range(STEPS) for three in (False, True)]
    return min(every, key=lambda power: abs(math.log(power.p / p)))


def raised(square: torch.Tensor, power: Power, out: torch.Tensor | None = None) -> torch.Tensor:
    """(r²)^(E/2) from r², in a new tensor, or in `out` of the same shape."""
    if power.three:
        found, left = torch.mul(square, square, out=out).mul_(square), power.steps
    elif power.steps:
        found, left = torch.mul(square, square, out=out), power.steps - 1
    else:
        found, left = square.clone() if out is None else out.copy_(square), 0
    for _ in range(left):
        found.mul_(found)
    return found


def factors(out: torch.Tensor, grad: torch.Tensor, power: Power | None) -> torch.Tensor:
    """What differences are multiplied by: 1/‖d‖, of a power times the root of g, so that (d·factor)^(p−1) is the slope
    times g and no pass over the differences is needed for g.
    """
    each = out.clamp(min=torch.finfo(out.dtype).tiny).reciprocal_()
    return each if power is None else each.mul_(grad.abs().pow_(1 / (power.p - 1))).mul_(grad.sign())
