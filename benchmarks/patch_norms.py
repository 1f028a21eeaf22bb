"""Norms of patches and their gradients on one core: torch's operations beside loops that numba compiles.

    python -m benchmarks.patch_norms        half a minute

The three layers of a net on patches of 28 × 28 pixels and a batch of 64 images, at several powers and at the maximum:
milliseconds of a step, forward and backward, the least of many, and the seconds that compiling a power takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from smilenn.model.encoders import patches
from smilenn.model.encoders.patches import patch_norm, squares
from smilenn.model.encoders.powers import Power, power_near

ROWS, TURNS = 64, 30
POWERS = (8.0, 34.0, 130.0, None)
Layer = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # rows, weights [g, k, n], patches [g, k]


def layers(units: int) -> list[Layer]:
    """Random rows and weights of the three layers; the images themselves need no gradient."""
    torch.manual_seed(0)
    sizes = [(784, units, torch.as_tensor(squares(784)))]
    sizes += [(i, n, torch.arange(i)[None]) for i, n in ((9 * units, 64), (64, 10))]
    return [
        (torch.rand(ROWS, i, requires_grad=i != 784), (0.3 * torch.randn(*own.shape, n)).requires_grad_(), own)
        for i, n, own in sizes
    ]


def step(each: list[Layer], power: Power | None) -> None:
    """Forward and backward through every layer."""
    for y, w, own in each:
        patch_norm(y, w, own, power).sum().backward()


def least(work: Callable[[], None]) -> float:
    """Milliseconds of the quickest turn."""
    found = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return 1e3 * min(found)


def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)
    compiled = patches.has_numba()
    for units in (32, 64):
        each = layers(units)
        for p in POWERS:
            power = None if p is None else power_near(p)
            begun = time.process_time()
            step(each, power)
            first = time.process_time() - begun
            loops = least(lambda power=power, each=each: step(each, power)) if compiled else float("nan")
            patches.has_numba = lambda: False
            torchs = least(lambda power=power, each=each: step(each, power))
            patches.has_numba = lambda: compiled
            words = f"{units} units, p = {p or 'maximum'}: torch {torchs:.2f} ms, loops {loops:.2f} ms"
            print(words + f", the first time {first:.2f} s")


if __name__ == "__main__":
    main()
