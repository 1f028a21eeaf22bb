"""Global robustness of "is it a zero?": digits of 8×8 pixels (bundled) and MNIST, affine auxiliaries.

    python -m smilenn.experiments.robustness --out results/robustness.jsonl --save results/models

Claim: |x' − x''|_∞ ≤ δ ⇒ |f(x') − f(x'')| ≤ ε on the logit, ε = 1, for *all* images. An image counts as verified if
its prediction is right and |f(x)| > ε: no allowed change of it flips the decision. The backbone is the paper's
convolutional net; training asks every logit to pass its decision by 1.5 ε (``margin``; chosen, with the weight 3 of
zeros, on a tenth of the training images). A GPU is used where there is one. Networks saved
with ``--save`` load with `smilenn.model.bundle.load_net` and can be proved again anywhere.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from smilenn.datasets.base import Dataset
from smilenn.datasets.digits import load_digits_zero
from smilenn.datasets.mnist import fetch_mnist
from smilenn.domain import Domain
from smilenn.experiments.command import command
from smilenn.model.backbones import ConvNet
from smilenn.model.bundle import save_net
from smilenn.model.net import SmileNet
from smilenn.properties.library import Robust
from smilenn.train.config import Config
from smilenn.train.fit import fit

EPS, EMBEDDING, ZERO_WEIGHT = 1.0, 8, 3.0
MODES = ["digits", "mnist", "mnist-paper"]
DELTA = {"digits": 0.05, "mnist": 0.1, "mnist-paper": 0.1}
CONFIG = {
    "digits": Config(pretrain_epochs=30, epochs=60, batch_size=64, margin=1.5 * EPS),
    "mnist": Config(pretrain_epochs=4, epochs=20, batch_size=256, margin=1.5 * EPS, slack=0.005),
    "mnist-paper": Config.paper(pretrain_epochs=20, epochs=20, batch_size=256, margin=1.5 * EPS, slack=0.005),
}


def one(mode: str, delta: float, seed: int, save: Path | None = None) -> dict[str, Any]:
    """One cell: clean, verified and balanced verified accuracy on the test images, the constant beside them."""
    start = time.perf_counter()
    train, test = _data(mode)
    side = round(train.frame.shape[1] ** 0.5)
    domain = Domain.box([0.0] * side**2, [1.0] * side**2, [f"p{i}" for i in range(side**2)])
    x, y = np.asarray(train.frame, dtype=np.float64), train.target.to_numpy(dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(x))
    held, kept = np.split(order, [len(x) // 10])
    torch.manual_seed(seed)
    channels = (8, 8, 16, 16, 32, 32) if side == 28 else (8, 16, 32)
    boxes = "paper" if mode.endswith("paper") else "gap"
    net = SmileNet(domain, ConvNet(side, channels, 32, EMBEDDING), EMBEDDING, auxiliaries="affine", boxes=boxes)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net.to(device)
    result = fit(
        net, x[kept], y[kept], Robust(delta, EPS).lower(domain), loss="bce", config=CONFIG[mode], seed=seed,
        validation=(x[held], y[held]), sample_weight=np.where(y[kept] > 0, ZERO_WEIGHT, 1.0),
    )  # fmt: skip
    assert result.verdict is not None
    if save is not None:
        documents = {"properties.json": [Robust(delta, EPS).to_json()], "verdict.json": result.verdict.to_json()}
        save_net(save / f"{mode}-{seed}", net, documents=documents, overwrite=True)
    row: dict[str, Any] = {
        "model": mode, "delta": delta, "eps": EPS, "seed": seed,
        "status": result.verdict.status, "verdict": result.verdict.sentence(),
        "fit_seconds": result.seconds, "device": device.type,
    }  # fmt: skip
    x_test, y_test = np.asarray(test.frame, dtype=np.float64), test.target.to_numpy() > 0
    logit = net.predict(x_test)[:, 0]
    for name, part in (("", slice(None)), ("_first_1000", slice(0, 1000))):
        row |= {k + name: v for k, v in measures(logit[part], y_test[part]).items()}
    return row | {"seconds": time.perf_counter() - start}


def measures(logit: np.ndarray, truth: np.ndarray, eps: float = EPS) -> dict[str, float]:
    """Clean accuracy, verified accuracy, verified accuracy averaged over the two classes, and the constant's."""
    right = (logit > 0) == truth
    verified = right & (np.abs(logit) > eps)
    return {
        "clean": float(right.mean()),
        "verified": float(verified.mean()),
        "balanced_verified": float((verified[truth].mean() + verified[~truth].mean()) / 2),
        "constant": float(max(truth.mean(), 1 - truth.mean())),
    }


def _data(mode: str) -> tuple[Dataset[np.ndarray], Dataset[np.ndarray]]:
    if mode == "digits":
        return load_digits_zero("train"), load_digits_zero("test")
    return fetch_mnist("train").zero_or_not(), fetch_mnist("test").zero_or_not()


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: means over seeds."""
    names = ("clean", "verified", "balanced_verified", "constant", "verified_first_1000", "fit_seconds")
    lines = ["| model | δ | " + " | ".join(names) + " | proved |", "|---|---|" + "---|" * len(names) + "---|"]
    for mode in MODES:
        group = [r for r in rows if r["model"] == mode]
        if group:
            means = [float(np.mean([r[name] for r in group])) for name in names]
            cells = [f"{100 * v:.2f}" for v in means[:-1]] + [f"{means[-1]:.1f}"]
            proved = sum(r["status"] == "proved" for r in group)
            lines.append(f"| {mode} | {DELTA[mode]} | " + " | ".join(cells) + f" | {proved}/{len(group)} |")
    return "\n".join(lines)


def cells(seeds: list[int], modes: list[str]) -> list[dict[str, Any]]:
    """All cells of the table."""
    return [{"mode": mode, "delta": DELTA[mode], "seed": seed} for mode in modes for seed in seeds]


if __name__ == "__main__":
    command(__doc__ or "", one, cells, table, MODES)
