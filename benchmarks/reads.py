"""What it costs to ask a fitted model whether it is certified, beside a prediction of one row; one thread.

    python -m benchmarks reads

Three models, hardly trained, since weights do not matter here: the ensemble behind an encoder that ``auto`` chooses for
the credit table, a backbone of nine million weights in the paper's network, and one of 784 inputs with `Robust`. Every
figure is the median of many calls, in milliseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch

from smilenn import Config, Fair, Monotone, Network, Robust, SmileClassifier
from smilenn.datasets import make_credit

CONFIG = Config(pretrain_epochs=1, epochs=1, posttrain_rounds=1, least_quality=0.0)
REPEATS, LEAST_SECONDS = 15, 0.5


def milliseconds(function: Callable[[], Any]) -> float:
    """The median time of a call, over half a second or 15 calls, whichever is more."""
    function()
    times: list[float] = []
    while len(times) < REPEATS or sum(times) < LEAST_SECONDS:
        begun = perf_counter()
        function()
        times.append(perf_counter() - begun)
    return 1e3 * median(times)


def credit(**options: Any) -> tuple[SmileClassifier, pd.DataFrame]:
    """A classifier of credit applicants, monotone and fair, and one row."""
    data = make_credit(400, seed=0)
    rules = [Monotone(increasing=["income"], decreasing=["debt"]), Fair(["race"], 2)]
    model = SmileClassifier(properties=rules, config=CONFIG, random_state=0, **options)
    return model.fit(data.frame, data.target > data.target.median()), data.frame.head(1)


def image() -> tuple[SmileClassifier, np.ndarray]:
    """A classifier of 784 pixels, robust, and one row."""
    rng = np.random.default_rng(0)
    x = rng.random((300, 784))
    model = SmileClassifier(properties=[Robust(0.01)], network=Network(encoder="none"), config=CONFIG, random_state=0)
    return model.fit(x, x[:, :392].mean(axis=1) > x[:, 392:].mean(axis=1)), x[:1]


def main() -> int:
    """Print the table."""
    torch.set_num_threads(1)
    models = {
        "ensemble": credit(),
        "9M backbone": credit(network=Network(encoder="none", backbone_sizes=(3000, 3000))),
        "784 inputs": image(),
    }
    heads = ("weights", "certified", "verdict_", "certificate_", "predict", "predict_certified")
    print(f"{'model':12s} " + " ".join(f"{head:>12s}" for head in heads), flush=True)
    for name, (model, row) in models.items():
        every = sum(p.numel() for p in model.net_.parameters())
        own = every - sum(p.numel() for p in model.net_.backbone.parameters())
        calls = (
            lambda model=model: model.verdict_,
            lambda model=model: model.certificate_,
            lambda model=model, row=row: model.predict(row),
            lambda model=model, row=row: model.predict_certified(row),
        )
        figures = " ".join(f"{milliseconds(call):12.3f}" for call in calls)
        print(f"{name:12s} {every:12,d} {own:12,d} {figures}  {model.verdict_.status}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
