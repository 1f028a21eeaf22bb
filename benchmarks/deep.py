"""Boxes with one and two hidden layers: quality on kept rows at the same rules, epochs and seconds for the proof.

    python -m benchmarks.deep --seeds 3 --limit 10

Every model is certified: `fit_deep` raises where the checker does not accept. Quality is accuracy, or R² of a
regression, on the rows that the task's split keeps; mean ± spread over seeds. SMILENN_DATA names the data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from smilenn import Fair, Robust
from smilenn.datasets import fetch_compas, fetch_crime, fetch_law, make_credit, split
from smilenn.deep.model import DeepModel, fit_deep

TASKS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "compas, fair to 0.3": (fetch_compas, lambda d: Fair(list(d.protected), 0.3)),
    "law, fair to 0.3": (fetch_law, lambda d: Fair(list(d.protected), 0.3)),
    "crime, fair to 0.1": (fetch_crime, lambda d: Fair(list(d.protected), 0.1)),
    "credit, fair to 3": (lambda: make_credit(2000, seed=0), lambda d: Fair(list(d.protected), 3)),
    "credit, 2 % change 4": (lambda: make_credit(2000, seed=0), lambda d: Robust(delta="2%", eps=4)),
}
SHAPES = ((16,), (32,), (16, 16))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--limit", type=float, default=10.0)
    options = parser.parse_args()
    print("| task | hidden | quality | width | shrunk to | leaves | CPU s | check s |")
    print("|---" * 8 + "|")
    for name in options.tasks or TASKS:
        fetch, rule = TASKS[name]
        data = fetch()
        for shape in SHAPES:
            report(name, data, rule(data), shape, options)


def report(name: str, data: Any, rule: Any, shape: tuple[int, ...], options: argparse.Namespace) -> None:
    """One line of the table."""
    found = [measured(data, rule, shape, seed, options) for seed in range(options.seeds)]
    quality, width, shrunk, leaves, seconds, check = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    print(
        f"| {name} | {shape} | {quality.mean():.4f} ± {quality.std():.4f} | {width.mean():.3g} | {shrunk.min():.2f} "
        f"| {leaves.mean():.0f} | {seconds.mean():.0f} | {check.mean():.1f} |",
        flush=True,
    )


def measured(data: Any, rule: Any, shape: tuple[int, ...], seed: int, options: argparse.Namespace) -> tuple[float, ...]:
    """Quality, and what the box took."""
    train, test = split(data, seed=seed)
    start = process_time()
    model = fit_deep(
        train.frame,
        train.target,
        rule,
        hidden=shape,
        task=data.task,
        epochs=options.epochs,
        time_limit=options.limit,
        seed=seed,
    )
    seconds, box = process_time() - start, model.box
    assert box is not None and box.report.status == "certified"
    leaves = sum(row.leaves for row in box.report.rows)
    return quality(model, test), box.width, box.shrunk, leaves, seconds, box.check_seconds


def quality(model: DeepModel, test: Any) -> float:
    """Accuracy, or R²."""
    said, y = model.predict(test.frame), test.target.to_numpy(dtype=np.float64)
    if model.task == "binary":
        return float((said == y).mean())
    return float(1 - ((said - y) ** 2).mean() / y.var())


if __name__ == "__main__":
    main()
