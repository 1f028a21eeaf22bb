"""Nine synthetic monotonicity tasks, y = x + α sin(ωx) on [−10, 10], against the isotonic limit.

    python -m smilenn.experiments.monotonicity --out results/monotonicity.jsonl

Per task and seed: 1000 training and 1000 test points; a tenth of the training points chooses among up to three restarts
(proved first, then the smaller validation loss). The limit is isotonic regression fitted on the same training draw.
``paper``: the paper's free pair of auxiliaries, 32 hidden units, 100 training epochs. ``default``: flip-free boxes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import r2_score

from smilenn.datasets.synthetic import make_monotone_sine
from smilenn.domain import Domain
from smilenn.experiments.command import command
from smilenn.model.backbones import MLP
from smilenn.model.net import SmileNet
from smilenn.properties.library import Monotone
from smilenn.train.config import Config
from smilenn.train.fit import Fit, fit

TASKS = tuple((alpha, omega) for alpha in (2, 3, 4) for omega in (0.4, 0.6, 0.8))
BACKBONE = (16, 32, 64, 32, 16)
EMBEDDING, RESTARTS, VALIDATION = 8, 3, 0.1
MODES: dict[str, dict[str, Any]] = {
    "paper": {
        "boxes": "paper",
        "hidden": 32,
        "config": Config.paper(pretrain_epochs=1000, pretrain_patience=10, epochs=100, batch_size=64),
    },
    "default": {
        "boxes": "gap",
        "hidden": 64,
        "config": Config(pretrain_epochs=1000, pretrain_patience=10, epochs=300, batch_size=64, dual_step=0.002),
    },
}  # fmt: skip


def one(mode: str, alpha: float, omega: float, seed: int) -> dict[str, Any]:
    """One cell: the chosen restart's R², the isotonic limit, status and seconds."""
    start = time.perf_counter()
    train, test = (make_monotone_sine(alpha, omega, seed=seed, part=part) for part in ("train", "test"))
    column = str(train.frame.columns[0])
    domain = Domain.from_data(train.frame, bounds={column: (-10.0, 10.0)}, scaling="standard")
    x, y = domain.encode(train.frame), train.target.to_numpy(dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(x))
    held, kept = np.split(order, [int(VALIDATION * len(x))])
    claims = Monotone(increasing=[column]).lower(domain)
    options = MODES[mode]
    best: tuple[tuple[bool, float], Fit] | None = None
    for restart in range(RESTARTS):
        torch.manual_seed(1000 * seed + restart)
        net = SmileNet(
            domain, MLP(1, BACKBONE, EMBEDDING), EMBEDDING, hidden=options["hidden"], boxes=options["boxes"],
            output_scale=float(y.std()),
        )  # fmt: skip
        result = fit(
            net, x[kept], y[kept], claims, config=options["config"], seed=1000 * seed + restart,
            validation=(x[held], y[held]),
        )  # fmt: skip
        assert result.verdict is not None
        loss = float(((net.predict(x[held])[:, 0] - y[held]) ** 2).mean())
        rank = (result.verdict.status != "proved", loss)
        if best is None or rank < best[0]:
            best = rank, result
    assert best is not None and best[1].verdict is not None
    chosen = best[1]
    truth, x_test = test.target.to_numpy(dtype=np.float64), domain.encode(test.frame)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(x[:, 0], y)
    r2 = float(r2_score(truth, chosen.net.predict(x_test)[:, 0]))
    limit = float(r2_score(truth, isotonic.predict(x_test[:, 0])))
    assert chosen.verdict is not None
    return {
        "model": mode, "alpha": alpha, "omega": omega, "seed": seed, "r2": r2, "limit": limit, "below": limit - r2,
        "status": chosen.verdict.status, "verdict": chosen.verdict.sentence(),
        "fit_seconds": chosen.seconds, "seconds": time.perf_counter() - start,
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: mean R² over seeds, the limit, and what is missing to it."""
    lines = ["| α, ω | limit | paper mode | below | default | below |", "|---|---|---|---|---|---|"]
    missing: dict[str, list[float]] = {mode: [] for mode in MODES}
    for alpha, omega in TASKS:
        cells = [f"{alpha}, {omega}"]
        for mode in MODES:
            group = [r for r in rows if (r["model"], r["alpha"], r["omega"]) == (mode, alpha, omega)]
            if not group:
                continue
            if len(cells) == 1:
                cells.append(f"{np.mean([r['limit'] for r in group]):.4f}")
            below = float(np.mean([r["below"] for r in group]))
            missing[mode].append(below)
            cells += [f"{np.mean([r['r2'] for r in group]):.4f}", f"{below:.4f}"]
        lines.append("| " + " | ".join(cells) + " |")
    for mode, values in missing.items():
        group = [r for r in rows if r["model"] == mode]
        if group:
            proved = sum(r["status"] == "proved" for r in group)
            seconds = np.mean([r["fit_seconds"] for r in group])
            lines.append(
                f"\n{mode}: {proved} of {len(group)} proved; mean below the limit {np.mean(values):.4f}, largest "
                f"{max(values):.4f}; {seconds:.1f} s a fit on one core."
            )
    return "\n".join(lines)


def cells(seeds: list[int], modes: list[str]) -> list[dict[str, Any]]:
    """All cells of the table."""
    return [
        {"mode": mode, "alpha": alpha, "omega": omega, "seed": seed}
        for mode in modes for alpha, omega in TASKS for seed in seeds
    ]  # fmt: skip


if __name__ == "__main__":
    command(__doc__ or "", one, cells, table, list(MODES))
