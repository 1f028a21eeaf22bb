"""Branches beside each other on a GPU: the kernels of one alone leave most of it idle.

Each branch has a stream of its own, which waits for what came before and is waited for afterwards; torch runs the
gradients of an operation on the operation's stream. The numbers are those of one branch after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch


def beside(branches: Sequence[Callable[[torch.Tensor], torch.Tensor]], u: torch.Tensor) -> list[torch.Tensor]:
    """What each branch makes of u [B, m]."""
    if not u.is_cuda or len(branches) < 2:
        return [branch(u) for branch in branches]
    now = torch.cuda.current_stream(u.device)
    streams = _streams(len(branches), u.device)
    out = []
    for branch, stream in zip(branches, streams, strict=True):
        stream.wait_stream(now)
        with torch.cuda.stream(stream):
            out.append(branch(u))
    for stream in streams:
        now.wait_stream(stream)
    return out


@lru_cache(maxsize=8)
def _streams(count: int, device: torch.device) -> tuple[torch.cuda.Stream, ...]:
    return tuple(torch.cuda.Stream(device) for _ in range(count))
