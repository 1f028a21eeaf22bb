"""What a guarantee costs when predicting: times of networks side by side, in one run, on images of 28 × 28 pixels.

    certified / plain       predicting labels together with which of them are certified, against labels alone
    affine / backbone       the paper's network with affine auxiliaries, against its bare convolutional backbone
    distance / backbone     the distance net of a GPU (256-256), against the same backbone
    image / backbone        the one that encoder="image" takes on a CPU (a mean of two on patches), against it
    CROWN-IBP / certified   verifying 1,000 images one by one with bounds, against predicting them with certificates

Weights do not matter for times, so the networks are fresh; all are evaluated in batches of one size, in turn, and the
median over rounds is taken. Ratios are those of medians in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from smilenn.baselines.crown_ibp import verify
from smilenn.baselines.network import ScaledModule
from smilenn.domain import Domain
from smilenn.estimators.stability import stable
from smilenn.experiments.robustness import EMBEDDING, backbone
from smilenn.model.net import SmileNet
from smilenn.properties.library import Robust
from smilenn.train.recipes.distances import distance_net, sized_distance_net
from smilenn.train.recipes.task import Design

SIDE, IMAGES, BATCH, DELTA, ROUNDS = 28, 1000, 1000, 0.1, 9
RATIOS = (
    ("certified / plain, affine", "affine, certified", "affine"),
    ("certified / plain, distance", "distance, certified", "distance"),
    ("affine / backbone", "affine", "backbone"),
    ("certified / plain, image", "image, certified", "image"),
    ("distance / backbone", "distance", "backbone"),
    ("image / backbone", "image", "backbone"),
    ("CROWN-IBP / affine, certified", "CROWN-IBP", "affine, certified"),
    ("CROWN-IBP / distance, certified", "CROWN-IBP", "distance, certified"),
    ("CROWN-IBP / image, certified", "CROWN-IBP", "image, certified"),
)


def subjects(seed: int = 0, device: str = "cpu") -> dict[str, Callable[[], Any]]:
    """What is timed, by name: each call treats `IMAGES` images."""
    torch.manual_seed(seed)
    size = SIDE * SIDE
    domain = Domain.box([0.0] * size, [1.0] * size)
    x = np.random.default_rng(seed).uniform(size=(IMAGES, size))
    truth = np.zeros(IMAGES)
    bare = ScaledModule(domain, torch.nn.Sequential(backbone(size, EMBEDDING), torch.nn.Linear(EMBEDDING, 1))).to(
        device
    )
    affine = SmileNet(domain, backbone(size, EMBEDDING), EMBEDDING, auxiliaries="affine", boxes="paper").to(device)
    claims = Robust(DELTA, 1).lower(domain)
    distance = distance_net(domain, claims).to(device)
    image = sized_distance_net(domain, claims, 60_000, design=Design("image"))[0].to(device)

    def predict(net: SmileNet | ScaledModule) -> np.ndarray:
        logit = net.predict(x, batch=BATCH)
        return (logit if logit.ndim == 1 else logit[:, 0]) > 0

    def certified(net: SmileNet) -> tuple[np.ndarray, np.ndarray]:
        logit = net.predict(x, batch=BATCH)[:, 0]
        return logit > 0, stable(logit, 1.0)

    return {
        "backbone": lambda: predict(bare.eval()),
        "affine": lambda: predict(affine),
        "affine, certified": lambda: certified(affine),
        "distance": lambda: predict(distance),
        "distance, certified": lambda: certified(distance),
        "image": lambda: predict(image),
        "image, certified": lambda: certified(image),
        "CROWN-IBP": lambda: (predict(bare.eval()), verify(bare, x, truth, DELTA, batch=BATCH)),
    }


def measure(rounds: int = ROUNDS, device: str = "cpu", seed: int = 0) -> dict[str, float]:
    """Median seconds of every subject, taken in turn; one round to warm up."""
    works = subjects(seed, device)
    times: dict[str, list[float]] = {name: [] for name in works}
    for round_number in range(rounds + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if round_number:
                times[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in times.items()}


def ratios(seconds: dict[str, float]) -> dict[str, float]:
    """The ratios of the table above."""
    return {title: seconds[over] / seconds[under] for title, over, under in RATIOS}
