"""A step of training distance nets on a GPU: kernels one by one, recorded, and nets beside each other.

    python -m benchmarks.recorded [--nets 2] [--units 1536] [--steps 60]

Milliseconds a step of 128 images of 784 random pixels, ten classes, at four moments of a training of 100 epochs. The
first epoch of each compiles and records; the second is timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.encoders.robust import robust_encoder
from smilenn.train import distances
from smilenn.train.adam import Adam, fused
from smilenn.train.averaged import averaged
from smilenn.train.losses import task_loss
from smilenn.train.phases import Training
from smilenn.train.recipes.distances import CLASS_CONFIG, start_
from smilenn.train.state import State

PIXELS, CLASSES, BATCH, EPOCHS, MOMENTS = 784, 10, 128, 100, (0, 50, 85, 96)


def one_by_one(branches: list[Callable[[torch.Tensor], torch.Tensor]], u: torch.Tensor) -> list[torch.Tensor]:
    """Branches one after the other."""
    return [branch(u) for branch in branches]


def training(nets: int, units: int, steps: int) -> tuple[State, Training]:
    """Fresh nets on the GPU and random images for so many steps."""
    torch.manual_seed(0)
    domain = Domain.box([0.0] * PIXELS, [1.0] * PIXELS)
    encoder = robust_encoder(domain, np.full(PIXELS, 0.3), units=(units,) * 3, outputs=CLASSES, nets=nets)
    start_(encoder)
    names = tuple(f"class {k}" for k in range(CLASSES))
    slopes = -np.tile(np.eye(CLASSES), nets) / nets
    net = averaged(domain, encoder, 1.0, 0.0, outputs=names, slopes=slopes, sizes=(), width=0.0).cuda().train()
    x = torch.rand(steps * BATCH, PIXELS, dtype=torch.float64, device="cuda")
    y = torch.eye(CLASSES, dtype=torch.float64, device="cuda")[torch.randint(CLASSES, (len(x),), device="cuda")]
    config = CLASS_CONFIG.replace(epochs=EPOCHS, augment="affine", batch_size=BATCH, margin=0.7)
    task = Training(x, y, None, task_loss("ce", y), None, (), config, seed=0, decides="largest")
    optimizer = Adam([p for p in net.parameters() if p.requires_grad], lr=config.rate, fused=fused(net))
    return State(net, optimizer, "", phase="train"), task


def milliseconds(state: State, task: Training, unit: int) -> float:
    """Of a step of this epoch."""
    state.unit = unit
    distances.distance_epoch(state, task)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    distances.distance_epoch(state, task)
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - begun) * BATCH / len(task.x)


def main() -> None:
    """Time three ways of taking the same steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", type=int, default=2)
    parser.add_argument("--units", type=int, default=1536)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a GPU.")
    apart = patch("smilenn.model.encoders.encoder.beside", one_by_one)
    plain = patch("smilenn.train.distances._recorded", lambda state, task: None)
    for name, patches in (("one kernel after the other", (apart, plain)), ("recorded", (apart,)), ("beside", ())):
        for one in patches:
            one.start()
        state, task = training(args.nets, args.units, args.steps)
        print(f"{name:28}", *(f"{milliseconds(state, task, unit):6.2f}" for unit in MOMENTS), flush=True)
        patch.stopall()


if __name__ == "__main__":
    main()
