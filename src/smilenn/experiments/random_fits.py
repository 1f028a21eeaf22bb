"""Random fits: random tables, random properties of the library, tiny budgets. How many end certified, at what price?

A table has 60–400 rows, one to five numbers and at most one category; the target is a random smooth function of them
with noise, or which side of its median it lies on. One or two properties are drawn from

    Monotone  Robust  Fair  Lipschitz  Convex  Concave  Symmetric  Dominates  Safe

with random features and strengths; nothing makes the target obey them. Training gets a few epochs and half a minute. Of
each fit: what the checker says, R² or accuracy on fresh rows beside the constant's, and the quality that repair took.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.experiments.measures import Row, r2
from smilenn.experiments.study import outcome
from smilenn.properties.base import Property
from smilenn.properties.custom import Safe
from smilenn.properties.library import Concave, Convex, Dominates, Fair, Lipschitz, Monotone, Robust, Symmetric
from smilenn.train.config import Config

KINDS = ("monotone", "robust", "fair", "lipschitz", "convex", "concave", "symmetric", "dominates", "safe")
TINY: dict[str, Any] = {"pretrain_epochs": 40, "epochs": 30, "posttrain_rounds": 10, "posttrain_seconds": 4.0}
LIMIT = 30.0  # seconds a fit


def table(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A frame, its target without and with noise."""
    rows, numbers = int(rng.integers(60, 401)), int(rng.integers(1, 6))
    frame = pd.DataFrame({f"n{i}": rng.uniform(0, rng.choice([1.0, 10.0]), rows) for i in range(numbers)})
    scaled = frame.to_numpy() / frame.to_numpy().max(axis=0)
    signal = scaled @ rng.normal(size=numbers) + np.sin(scaled @ rng.normal(size=numbers) * 3)
    if rng.random() < 0.5:
        labels = rng.choice(list("abc"), rows)
        frame["group"] = labels
        signal = signal + np.array([{"a": 0.0, "b": 0.3, "c": -0.3}[label] for label in labels])
    return frame, signal, signal + rng.normal(0, 0.2 * signal.std(), rows)


def properties(rng: np.random.Generator, frame: pd.DataFrame, spread: float) -> list[Property]:
    """One or two random properties on the columns of the frame; `spread` of the output, in its units."""
    numbers = [name for name in frame.columns if name != "group"]
    out: list[Property] = []
    for kind in rng.permutation(KINDS)[: int(rng.integers(1, 3))]:
        some = [str(name) for name in rng.permutation(numbers)[: int(rng.integers(1, len(numbers) + 1))]]
        eps = round(float(rng.uniform(0.3, 1.5)) * spread, 4)
        match kind:
            case "monotone":
                split = int(rng.integers(0, len(some) + 1))
                out.append(Monotone(increasing=some[:split], decreasing=some[split:]))
            case "robust":
                out.append(Robust("5%", eps))
            case "fair" if "group" in frame:
                out.append(Fair(["group"], float(rng.choice([0.0, eps]))))
            case "lipschitz":
                out.append(Lipschitz(some[0], round(3 * eps / (float(np.ptp(frame[some[0]])) or 1.0), 4)))
            case "convex":
                out.append(Convex(some[:2]))
            case "concave":
                out.append(Concave(some[:2]))
            case "symmetric" if len(numbers) > 1:
                out.append(Symmetric(numbers[:2], float(rng.choice([0.0, eps]))))
            case "dominates" if len(numbers) > 1:
                out.append(Dominates(numbers[0], numbers[1]))
            case "safe":
                out.append(Safe(when=[], then=[f"{-3 * spread:.4f} <= out <= {3 * spread:.4f}"]))
            case _:
                out.append(Monotone(increasing=some))
    return out


def fit_one(seed: int) -> Row:
    """One random fit, everything from the seed."""
    rng = np.random.default_rng(seed)
    frame, _, noisy = table(rng)
    noisy = noisy - noisy.mean()
    binary = bool(rng.random() < 0.5)
    stated = properties(rng, frame, 1.0 if binary else float(noisy.std()))
    y = (noisy > np.median(noisy)).astype(int) if binary else noisy
    test = np.arange(len(frame)) < len(frame) // 4
    kind = SmileClassifier if binary else SmileRegressor
    estimator = kind(
        properties=stated, config=Config(**TINY), random_state=seed, time_limit=LIMIT, out_of_bounds="clamp"
    )
    start = time.perf_counter()
    row: Row = {"seed": seed, "properties": "; ".join(repr(item) for item in stated), "binary": binary}
    estimator.fit(frame[~test], y[~test])
    output = estimator.outputs(frame[test])
    if binary:
        quality = float(((output > 0) == (y[test] > 0)).mean())
        constant = float(((y[~test].mean() > 0.5) == (y[test] > 0)).mean())
    else:
        quality, constant = r2(y[test], output), r2(y[test], np.full(int(test.sum()), y[~test].mean()))
    repaired = [record for record in estimator.history_ if record["phase"] == "repair"]
    cost = max((record["cost"] for record in repaired), default=0.0)
    return row | outcome(estimator.verdict_) | {
        "quality": quality, "constant": constant, "repair": cost, "words": "; ".join(r["repair"] for r in repaired),
        "seconds": time.perf_counter() - start, "encoder": estimator.net_.encoder is not None,
    }  # fmt: skip


def summary(rows: list[Row]) -> str:
    """How many were certified, beat the constant and were repaired cheaply, and the reasons of the others."""
    certified = sum(row["certified"] for row in rows)
    better = sum(row["quality"] > row["constant"] for row in rows)
    cheap = sum(row["repair"] < 0.02 for row in rows)
    slow = max(row["seconds"] for row in rows)
    lines = [
        f"{len(rows)} fits: {certified} certified, {better} beat the constant on fresh rows, in {cheap} repair cost "
        f"less than .02 of R² or accuracy; the longest took {slow:.0f} s."
    ]
    lines += [f"seed {r['seed']}: {r['properties']}: {r['verdict']}" for r in rows if not r["certified"]]
    return "\n".join(lines)
