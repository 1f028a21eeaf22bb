"""What a guarantee costs when training: fit, proof, certificate and check against training without a property.

Compas, fair in race, ε = 0.4. The peer is the backbone (relu 32-32 → 8) with a linear head, trained on the same rows
with the same batches for as many epochs as the recipe took in all its phases. CPU seconds of one thread, proofs in the
same process; the two of a pair are measured one after the other, and ratios are averaged as logarithms.

    default      what an estimator chooses by the property, an encoder: twelve networks
    one of each  the same with ``members=1``: three networks
    no encoder   the paper's network with flip-free boxes and `Config()`
    faithful     the paper's boxes, its sizes and epochs: four pathways in pretraining
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from smilenn.baselines.agnostic import fit_agnostic, mlp
from smilenn.baselines.descent import Descent
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.prepare import prepare
from smilenn.datasets.split import split
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.experiments.cells import Row
from smilenn.properties.library import Fair
from smilenn.train.config import Config

EPS, SIZES, EMBEDDING, BATCH, EPOCHS = 0.4, (32, 32), 8, 256, 50
WANTED = {"default": 2.0, "one of each": 2.0, "no encoder": 2.0, "faithful": 4.0}  # times the peer, at most
RECIPES = tuple(WANTED)
CORES = "LOKY_MAX_CPU_COUNT"  # provers share work out to so many processes


def estimator(recipe: str, seed: int, epochs: int = EPOCHS, **options: Any) -> SmileClassifier:
    """An estimator of one of the recipes."""
    if recipe in ("default", "one of each"):
        members = Network().members if recipe == "default" else 1
        network = Network(backbone_sizes=SIZES, embedding=EMBEDDING, members=members)
        return SmileClassifier(network=network, random_state=seed, **options)
    common = {"pretrain_epochs": epochs, "pretrain_patience": None, "epochs": epochs, "batch_size": BATCH}
    paper = recipe == "faithful"
    network = Network(
        encoder="none", boxes="paper" if paper else "gap", hidden=4, embedding=EMBEDDING, backbone_sizes=SIZES
    )
    config = Config.paper(**common) if paper else Config(**common)
    return SmileClassifier(network=network, config=config, random_state=seed, **options)


def records(
    seeds: int = 3, data_dir: Path | None = None, recipes: Sequence[str] = RECIPES, epochs: int = EPOCHS
) -> Iterator[Row]:
    """One row for every recipe and seed: seconds of both, epochs, their ratio and the verdict."""
    import torch

    data, threads, cores = fetch_compas(data_dir), torch.get_num_threads(), os.environ.get(CORES)
    torch.set_num_threads(1)
    os.environ[CORES] = "1"
    try:
        for seed in range(seeds):
            train, test = split(data, seed=seed)
            parts = prepare(train, test, seed=seed)
            if seed == 0:  # torch loads parts of itself at the first step of an optimiser: charged to neither side
                fit_agnostic(parts, mlp(SIZES), EMBEDDING, task=data.task, descent=Descent(epochs=1, batch=BATCH))
            for recipe in recipes:
                model = estimator(recipe, seed, epochs, properties=[Fair(data.protected, EPS)], domain=parts.domain)
                start = process_time()
                model.fit(train.frame, train.target)
                ours, start = process_time() - start, process_time()
                descent = Descent(epochs=model.n_iter_, batch=BATCH, seed=seed)
                fit_agnostic(parts, mlp(SIZES), EMBEDDING, task=data.task, descent=descent)
                plain = process_time() - start
                yield {
                    "recipe": recipe,
                    "seed": seed,
                    "seconds": ours,
                    "plain": plain,
                    "epochs": model.n_iter_,
                    "ratio": ours / plain,
                    "verdict": model.verdict_.sentence(),
                }
    finally:
        torch.set_num_threads(threads)
        os.environ.pop(CORES)
        if cores is not None:
            os.environ[CORES] = cores


def summary(rows: Sequence[Row]) -> list[Row]:
    """Mean and largest ratio of each recipe beside what is wanted."""
    out = []
    for recipe in dict.fromkeys(row["recipe"] for row in rows):
        found = [row["ratio"] for row in rows if row["recipe"] == recipe]
        mean = math.exp(sum(math.log(ratio) for ratio in found) / len(found))
        out.append({"recipe": recipe, "ratio": mean, "largest": max(found), "wanted": WANTED[recipe]})
    return out
