"""End to end on Compas: training, proof, certificate and check against training without any property, in one run.

Fair in race, ε = 0.4. The peer is the backbone (relu 32-32 → 8) with a linear head, trained on the same rows with the
same batches for as many epochs as the recipe took in all its phases. CPU seconds of one thread; ratios are means over
the seeds, the two of a pair measured one after the other.

    default      what an estimator chooses by the property, an encoder
    no encoder   the paper's network with flip-free boxes and `Config()`
    faithful     the paper's boxes, its sizes and epochs: four pathways in pretraining

    python -m benchmarks.training [seeds] [data folder]
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from time import process_time

import torch

from smilenn.baselines.agnostic import fit_agnostic, mlp
from smilenn.baselines.descent import Descent
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.prepare import prepare
from smilenn.datasets.split import split
from smilenn.estimators.classifier import SmileClassifier
from smilenn.properties.library import Fair
from smilenn.train.config import Config

EPS, SIZES, EMBEDDING, BATCH, EPOCHS = 0.4, (32, 32), 8, 256, 50
RECIPES = ("default", "no encoder", "faithful")
WANTED = {"default": 2.0, "no encoder": 2.0, "faithful": 4.0}


def estimator(recipe: str, seed: int, **options) -> SmileClassifier:
    """An estimator of one of the recipes."""
    if recipe == "default":
        return SmileClassifier(backbone_sizes=SIZES, embedding=EMBEDDING, random_state=seed, **options)
    common = {"pretrain_epochs": EPOCHS, "pretrain_patience": None, "epochs": EPOCHS, "batch_size": BATCH}
    paper = recipe == "faithful"
    return SmileClassifier(
        encoder="none", boxes="paper" if paper else "gap", hidden=4, embedding=EMBEDDING, backbone_sizes=SIZES,
        config=Config.paper(**common) if paper else Config(**common), random_state=seed, **options,
    )  # fmt: skip


def main() -> int:
    """Print the table."""
    torch.set_num_threads(1)
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # proofs too
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    data = fetch_compas(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    ratios: dict[str, list[float]] = {name: [] for name in RECIPES}
    print(f"{'recipe':12s} {'seed':>4s} {'seconds':>8s} {'epochs':>6s} {'plain s':>8s} {'ratio':>6s}  verdict")
    for seed in range(seeds):
        train, test = split(data, seed=seed)
        parts = prepare(train, test, seed=seed)
        for recipe in RECIPES:
            model = estimator(recipe, seed, properties=[Fair(data.protected, EPS)], domain=parts.domain)
            start = process_time()
            model.fit(train.frame, train.target)
            ours = process_time() - start
            start = process_time()
            descent = Descent(epochs=model.n_iter_, batch=BATCH, seed=seed)
            fit_agnostic(parts, mlp(SIZES), EMBEDDING, task=data.task, descent=descent)
            plain = process_time() - start
            ratios[recipe].append(ours / plain)
            verdict = model.verdict_.sentence()[:60]
            print(f"{recipe:12s} {seed:4d} {ours:8.2f} {model.n_iter_:6d} {plain:8.2f} {ours / plain:6.2f}  {verdict}")
    for recipe, values in ratios.items():
        mean = math.exp(sum(math.log(v) for v in values) / len(values))
        print(f"{recipe:12s} mean {mean:.2f}, largest {max(values):.2f}, wanted at most {WANTED[recipe]:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
