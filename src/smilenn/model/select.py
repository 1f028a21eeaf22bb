"""The clip of the paper, written so that nothing can escape the box.

    select(z, lo, up) = max(lo, min(up, z)),   a flipped box (up < lo) gives lo, NaN gives lo, ±inf the ends

`torch.clamp` propagates NaN and returns the other end when the bounds cross: never use it here.
"""

from __future__ import annotations

import torch


def select(z: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    """Select z [..., n] inside [lower, upper]; gradients flow to z inside the box and to the bound it is cut at."""
    top = torch.where(upper > lower, upper, lower)
    return torch.where(z > lower, torch.where(z < top, z, top), lower)
