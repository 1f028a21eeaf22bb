"""Attribute-flip fairness on Compas: accuracy at a proved ε against the same network without any property.

    python -m smilenn.experiments.fairness --out results/fairness.jsonl

80/20 splits, seeds 0–4; bounds and scalers from the training rows only. The network is the paper's (backbone relu 32-32
→ 8, auxiliaries relu 4 → 8, linear head), 50 + 50 epochs, batch 256.

    unconstrained   the backbone and the head alone, 100 epochs, keeping the epoch that is best on a tenth of the rows
    unaware         the same without the protected column
    feasible        flip-free boxes from the feasible start
    faithful        flip-free boxes, the paper's phases without a feasible start
    paper           the paper's free pair of auxiliaries and phases
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sklearn.metrics import accuracy_score, log_loss

from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.split import split
from smilenn.domain import Domain
from smilenn.experiments.command import command
from smilenn.experiments.plain import plain
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.properties.library import Fair
from smilenn.train.config import Config
from smilenn.train.fit import fit

EPS = 0.4
EMBEDDING, HIDDEN, BACKBONE = 8, 4, (32, 32)
BASE = {"pretrain_epochs": 50, "pretrain_patience": None, "epochs": 50, "batch_size": 256}
RECIPES: dict[str, tuple[str, Config]] = {
    "feasible": ("gap", Config().replace(**BASE)),
    "faithful": ("gap", Config.paper(**BASE)),
    "paper": ("paper", Config.paper(**BASE)),
}
MODES = ["unconstrained", "unaware", *RECIPES]


def one(mode: str, eps: float, seed: int) -> dict[str, Any]:
    """One cell: test accuracy, log-loss, largest change of the logit on test rows when race is flipped, verdict."""
    start = time.perf_counter()
    train, test = split(fetch_compas(), seed=seed)
    frame, frame_test = train.frame, test.frame
    if mode == "unaware":
        frame, frame_test = frame.drop(columns="race"), frame_test.drop(columns="race")
    domain = Domain.from_data(frame, margin=0.0)
    x, y = domain.encode(frame), train.target.to_numpy(dtype=np.float64)
    x_test, y_test = domain.encode(frame_test, out_of_bounds="clamp"), test.target.to_numpy(dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(x))
    held, kept = np.split(order, [len(x) // 10])
    torch.manual_seed(seed)
    row: dict[str, Any] = {"model": mode, "eps": eps, "seed": seed}
    if mode in RECIPES:
        boxes, config = RECIPES[mode]
        net = SmileNet(domain, MLP(domain.size, BACKBONE, EMBEDDING), EMBEDDING, hidden=HIDDEN, boxes=boxes)  # type: ignore[arg-type]
        claims = Fair(["race"], eps).lower(domain)
        result = fit(
            net, x[kept], y[kept], claims, loss="bce", config=config, seed=seed, validation=(x[held], y[held])
        )  # fmt: skip
        assert result.verdict is not None
        row |= {"status": result.verdict.status, "verdict": result.verdict.sentence(), "fit_seconds": result.seconds}
        predict = net.predict
    else:
        predict = plain(
            domain, BACKBONE, EMBEDDING, (x[kept], y[kept]), (x[held], y[held]), epochs=100, batch=256, seed=seed
        )
        row |= {"status": "none", "fit_seconds": time.perf_counter() - start}
    logit = predict(x_test)[:, 0]
    variation = 0.0
    if mode != "unaware":
        flipped = x_test.copy()
        flipped[:, domain.indices("race")] = 1.0 - flipped[:, domain.indices("race")]
        variation = float(np.abs(logit - predict(flipped)[:, 0]).max())
    probability = 1 / (1 + np.exp(-logit))
    return row | {
        "accuracy": float(accuracy_score(y_test, logit > 0)),
        "log_loss": float(log_loss(y_test, probability)),
        "constant": float(max(y_test.mean(), 1 - y_test.mean())),
        "variation": variation,
        "seconds": time.perf_counter() - start,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: means over seeds."""
    lines = ["| model | ε | accuracy | log-loss | variation | proved | seconds |", "|---|---|---|---|---|---|---|"]
    for mode in MODES:
        for eps in sorted({r["eps"] for r in rows if r["model"] == mode}):
            group = [r for r in rows if (r["model"], r["eps"]) == (mode, eps)]
            mean = {
                k: float(np.mean([r[k] for r in group])) for k in ("accuracy", "log_loss", "variation", "fit_seconds")
            }
            spread = float(np.std([r["accuracy"] for r in group], ddof=1)) if len(group) > 1 else 0.0
            proved = (
                "–" if group[0]["status"] == "none" else f"{sum(r['status'] == 'proved' for r in group)}/{len(group)}"
            )
            lines.append(
                f"| {mode} | {eps or '–'} | {mean['accuracy']:.4f} ± {spread:.4f} | {mean['log_loss']:.4f} | "
                f"{mean['variation']:.3f} | {proved} | {mean['fit_seconds']:.1f} |"
            )
    lines.append(f"| constant | – | {np.mean([r['constant'] for r in rows]):.4f} | | 0 | – | |")
    return "\n".join(lines)


def cells(seeds: list[int], modes: list[str]) -> list[dict[str, Any]]:
    """All cells of the table."""
    return [{"mode": mode, "eps": EPS if mode in RECIPES else 0.0, "seed": seed} for mode in modes for seed in seeds]


if __name__ == "__main__":
    command(__doc__ or "", one, cells, table, MODES)
