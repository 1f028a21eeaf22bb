"""What it costs to give a row the same bits in any batch: pinned modules, clamped models, and one thread for the rest.

    python -m benchmarks pinned

Milliseconds of the processor for 4,096 rows, the smallest of several runs, and in brackets the ratio to the blocks of
the same line. Slow ways are timed on fewer rows and scaled up. One thread computes.

    blocks     blocks of 64 rows, as in 0.1: a row's bits depend on its place
    repeated   each row 64 times over in a block of its own: equal bits for equal rows, if a block is computed alike
    a call     each row in a call of its own
    deployed   what `Pinned` does: sums in index order for known layers, a call for each row otherwise

Then the cost of leaving worker threads out: `SmileNet.predict` with two threads allowed, as it is against the same
network without `OneThread`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from time import process_time

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP, ConvNet
from smilenn.model.clamp import parts
from smilenn.model.encoders import Pinned
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.net import SmileNet

ROWS, BLOCK, FEW = 4096, 64, 128


def seconds(work: Callable[[], object], runs: int = 7) -> float:
    work()
    found = []
    for _ in range(runs):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


def tanh_net(dtype: torch.dtype) -> nn.Module:
    layers = [nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)]
    return nn.Sequential(*layers).to(dtype)


def blocks(module: nn.Module, y: torch.Tensor) -> None:
    for block in y.split(BLOCK):
        module(block)


def repeated(module: nn.Module, y: torch.Tensor) -> None:
    for row in y:
        module(row.expand(BLOCK, -1).contiguous())


def a_call(module: nn.Module, y: torch.Tensor) -> None:
    for row in y:
        module(row[None].clone())


def line(name: str, times: dict[str, float]) -> None:
    first = next(iter(times.values()))
    cells = [f"{1e3 * t:9.1f} ({t / first:6.1f})" for t in times.values()]
    print(f"{name:34s} {'  '.join(cells)}", flush=True)


def module_costs() -> None:
    print(f"{'module':34s} {'blocks':>18s}{'repeated':>20s}{'a call':>20s}{'deployed':>20s}")
    float32, float64 = torch.float32, torch.float64
    cases: dict[str, tuple[nn.Module, int, int]] = {
        "MLP 8-32-32-4, float32": (MLP(8, (32, 32), 4), 8, 4),
        "MLP 8-32-32-4, float64": (MLP(8, (32, 32), 4).double(), 8, 4),
        "tanh MLP 8-32-32-4, float32": (tanh_net(float32), 8, 4),
        "tanh MLP 8-32-32-4, float64": (tanh_net(float64), 8, 4),
        "MLP 100-64-64-4, float32": (MLP(100, (64, 64), 4), 100, 4),
        "convolutions 8x8-4-8-16-4, float32": (ConvNet(8, (4, 8), 16, 4), 64, 4),
    }
    for name, (module, inputs, outputs) in cases.items():
        y = torch.rand(ROWS, inputs, dtype=float64)
        typed = y.to(next(module.parameters()).dtype)
        pinned = Pinned(module, outputs)
        few = ROWS if pinned.known else FEW
        with torch.no_grad():
            line(
                name,
                {
                    "blocks": seconds(lambda m=module, t=typed: blocks(m, t)),
                    "repeated": seconds(lambda m=module, t=typed: repeated(m, t[:FEW]), 3) * ROWS / FEW,
                    "a call": seconds(lambda m=module, t=typed: a_call(m, t[:FEW]), 3) * ROWS / FEW,
                    "deployed": seconds(lambda p=pinned, y=y, few=few: p.ordered(y[:few])) * ROWS / few,
                },
            )


def clamp_costs() -> None:
    rng = np.random.default_rng(0)
    features = [Feature(f"x{i}", lo=0, hi=9) for i in range(6)]
    domain = Domain((*features, Feature("sex", "category", categories=("f", "m"))))
    x = domain.sample(ROWS, rng)
    target = 10 * x[:, 0] - 5 * x[:, 1] + 3 * x[:, -1] + rng.normal(0, 0.3, ROWS)
    models = {
        "MLP 33-17": MLPRegressor(hidden_layer_sizes=(33, 17), max_iter=30, tol=10.0),
        "boosting, 100 trees": HistGradientBoostingRegressor(),
    }
    for name, model in models.items():
        model.fit(x[:, :7], target)

        def predict(frame: pd.DataFrame, model=model) -> np.ndarray:
            table = frame.assign(sex=(frame["sex"] == "f").astype(float)).to_numpy(float)
            return model.predict(table)

        _, centre = parts(predict, domain, ["sex"])
        variants = centre.variants

        def in_blocks(rows: np.ndarray, size: int, variants=variants) -> None:
            for at in range(0, len(rows), size):
                block = rows[at : at + size].copy()
                for value in variants.values:
                    block[:, variants.protected] = value
                    variants.ask(block)

        def alone(rows: np.ndarray, variants=variants) -> None:
            for row in rows:
                in_blocks(np.repeat(row[None], BLOCK, axis=0), BLOCK, variants)

        def deployed(rows: np.ndarray, variants=variants) -> None:
            variants.forget()
            variants.answers(rows[:, variants.kept])

        line(
            f"clamp around {name}",
            {
                "blocks": seconds(lambda: in_blocks(x, BLOCK), 2),
                "repeated": seconds(lambda: alone(x[:FEW]), 2) * ROWS / FEW,
                "a call": seconds(lambda: in_blocks(x[:FEW], 1), 2) * ROWS / FEW,
                "deployed": seconds(lambda: deployed(x[:FEW]), 2) * ROWS / FEW,
            },
        )


class Spread(SmileNet):
    """The same network, computed by as many threads as torch likes."""

    def _certified(self, x: torch.Tensor) -> nullcontext[None]:
        return nullcontext()


def thread_costs() -> None:
    print(f"\n{'predict, rows':34s} {'two threads':>18s}{'one thread':>20s}")
    domain = Domain.box([0.0] * 8, [1.0] * 8)
    x = domain.sample(100_000, np.random.default_rng(0))
    torch.manual_seed(0)
    encoder = monotone_encoder(domain, x[:500], increasing=["x0"], members=4)
    cases = {"paper's network, f64-aux": (None, "f64-aux"), "monotone ensemble, fixed-order": (encoder, "fixed-order")}
    torch.set_num_threads(2)
    for name, (given, profile) in cases.items():
        kinds = {}
        for kind, make in (("two", Spread), ("one", SmileNet)):
            torch.manual_seed(0)
            kinds[kind] = make(domain, MLP(8, (32, 32), 8), 8, encoder=given, hidden=16)
            kinds[kind].set_profile(profile)
        for rows in (1, 64, ROWS, len(x)):
            runs = 300 if rows <= BLOCK else 5
            times = {kind: seconds(lambda n=net, rows=rows: n.predict(x[:rows]), runs) for kind, net in kinds.items()}
            cells = [f"{1e3 * t:9.3f} ({t / times['two']:6.2f})" for t in times.values()]
            print(f"{name + ',':31s}{rows:7d} {'  '.join(cells)}", flush=True)


def main() -> int:
    """Print both tables."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    module_costs()
    clamp_costs()
    thread_costs()
    return 0


if __name__ == "__main__":
    sys.exit(main())
