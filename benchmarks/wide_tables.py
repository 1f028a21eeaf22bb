"""Robust classifiers of several classes on wide tables without a GPU: one distance net, or a mean of several?

    python -m benchmarks.wide_tables [OPTION …] [--seeds 0 1]

Each option learns from the same rows for the same number of differences |x − w|, and is judged on rows kept from them:
the share of right labels, and of those that no change by δ turns (by margins: they lead by more than ε). Tables:

    digits     8 × 8 digits, columns in an order at random, so that nothing is an image; δ = 0.1 of pixels in [0, 1]
    made       scikit-learn's make_classification, 100 columns, five classes; δ = 0.02 of columns in [0, 1]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from sklearn.datasets import load_digits, make_classification

from smilenn import Robust, SmileClassifier
from smilenn.domain import Domain
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.train.recipes import distances
from smilenn.train.recipes.task import Design

# nets, units of each, learning rate; the first is one net as of two classes
OPTIONS: dict[str, tuple[int, tuple[int, ...], float] | None] = {
    "one": None,
    "one-wide": (1, (256, 128), 0.02),
    "two": (2, (128, 64), 0.02),
    "four": (4, (128, 64), 0.02),
    "two-wide": (2, (256, 64), 0.02),
    "four-small": (4, (64, 64), 0.02),
    "two-slow": (2, (128, 64), 0.01),
}
Table = tuple[np.ndarray, np.ndarray, float]
Chosen = Callable[[Domain, Sequence[Claim], int, Outputs, Design], Any]


def tables() -> dict[str, Table]:
    """Rows, labels and δ; the last quarter of the rows is kept from training."""
    pixels, digit = (np.asarray(part) for part in load_digits(return_X_y=True))
    rng = np.random.default_rng(0)
    order, columns = rng.permutation(len(pixels))[:1200], rng.permutation(64)
    x, y = make_classification(
        1600, 100, n_informative=30, n_redundant=20, n_classes=5, n_clusters_per_class=1, random_state=0
    )
    x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    return {"digits": (pixels[order][:, columns] / 16, digit[order], 0.1), "made": (x, y, 0.02)}


def several_nets(nets: int, units: tuple[int, ...], rate: float) -> Chosen:
    """What stands for `class_net_for` in the recipe."""
    sizes = nets, units, distances.SIZES["cpu"][2]

    def chosen(domain: Domain, claims: Sequence[Claim], rows: int, outputs: Outputs, _: Design) -> Any:
        return distances.table_net(domain, claims, rows, outputs, sizes, rate)

    return chosen


def judged(name: str, table: Table, seed: int) -> str:
    """One option on one table."""
    x, y, delta = table
    kept = 3 * len(x) // 4
    option = OPTIONS[name]
    instead = several_nets(*option) if option is not None else lambda *_: None
    model = SmileClassifier(properties=Robust(delta), certify_limit=0, random_state=seed, validation_fraction=0.0)
    begun = time.process_time()
    with patch.object(distances, "class_net_for", instead), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x[:kept], y[:kept])
    took = time.process_time() - begun
    f, true = model.outputs(x[kept:]), y[kept:]
    right = model.classes_[f.argmax(axis=1)] == true
    ordered = np.sort(f, axis=1)
    certified = right & (ordered[:, -1] - ordered[:, -2] > 1.0)
    return f"{took:.0f} CPU s, clean {right.mean():.2%}, certified at {delta:g} {certified.mean():.2%}"


def main() -> None:
    """A line for each table, option and seed."""
    parser = argparse.ArgumentParser(description="Wide tables.")
    parser.add_argument("options", nargs="*", default=list(OPTIONS))
    parser.add_argument("--tables", nargs="*", default=list(tables()))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for seed in asked.seeds:
        for name in asked.tables:
            table = tables()[name]
            for option in asked.options:
                print(f"{name}, {option}, seed {seed}: {judged(option, table, seed)}", flush=True)


if __name__ == "__main__":
    main()
