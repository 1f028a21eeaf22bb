"""Several outputs and several rules at once: certified models, what they cost, and attacks on them.

Run: python examples/outputs.py [law] [expenses] [quantiles] [labels] [iris] [wine] [digits] [--seeds 3]

Each task trains a certified model and an unconstrained one on the same rows and prints, for held-out rows, the score of
both (accuracy; R² for the expenses; the saved share of a constant's pinball loss for the quantiles), the verdict, the
seconds of `fit`, and the share of the attacked inputs at which each of them breaks a rule. The attack draws tuples of
the premise around held-out rows and random inputs and climbs by gradient steps (`smilenn.report.probe`).
Law needs the file of `smilenn.datasets.fetch_law` (SMILENN_DATA).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from smilenn import (
    Bounded,
    Columns,
    Exclusive,
    Fair,
    Lipschitz,
    Monotone,
    Robust,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
)
from smilenn.experiments.trace_tasks import households
from smilenn.report.probe import probe

Data = tuple[pd.DataFrame, Any]
ATTACKED, DRAWN = 300, 700  # held-out rows around which rules are attacked, and inputs drawn from the whole domain


def law() -> tuple[Data, Any, Any]:
    """Bar passage: lsat and ugpa never lower the logit, race moves it by ε at most, lsat by K per point, all in ±6."""
    from smilenn.datasets import fetch_law

    rules = [Monotone(["lsat", "ugpa"]), Fair(["race"], 0.2), Lipschitz(["lsat"], 0.2), Bounded(-6, 6)]
    return fetch_law(return_X_y=True), SmileClassifier(properties=rules), SmileClassifier()


def expenses(rows: int = 2000) -> tuple[Data, Any, Any]:
    """Invented households: five expenses that never add up to more than the income, going out to 5 % of it at most."""
    frame, table = households(np.random.default_rng(0), rows)
    rules = [SumAtMost(None, "income"), SumAtMost(["going_out"], "0.05 * income")]
    return (frame, table), SmileRegressor(properties=rules), SmileRegressor()


def quantiles(rows: int = 600) -> tuple[Data, Any, Any]:
    """Nineteen quantiles of a price whose spread grows, few rows, columns that say nothing: they never cross."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(20, 200, rows), "age": rng.uniform(0, 60, rows)})
    mean = 2 * frame["size"] - frame["age"] + 30 * np.sin(frame["age"] / 9)
    price = (mean + (5 + frame["size"] / 6) * rng.standard_t(4, rows)).rename("price")
    frame = frame.join(pd.DataFrame(rng.normal(size=(rows, 4)), columns=["n1", "n2", "n3", "n4"]))
    levels = [round(0.05 * k, 2) for k in range(1, 20)]
    return (frame, price), SmileRegressor(quantiles=levels), Unordered(quantiles=levels)


class Unordered(SmileRegressor):
    """Quantiles that may cross."""

    def all_properties(self) -> tuple[Any, ...]:
        """None at all."""
        return ()


def labels(rows: int = 2000) -> tuple[Data, Any, Any]:
    """Three labels of which two exclude each other."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (rows, 6)), columns=list("abcdef"))
    cat, dog = (frame[name] + 0.5 * rng.normal(size=rows) for name in "ab")
    table = pd.DataFrame({"cat": (cat > 0) & (cat > dog), "dog": (dog > 0) & (dog >= cat), "night": frame["c"] > 0})
    return (frame, table.astype(int)), SmileClassifier(properties=[Exclusive("cat", "dog")]), SmileClassifier()


def iris() -> tuple[Data, Any, Any]:
    """Longer petals never speak against virginica."""
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    rules = [Monotone(["petal length (cm)", "petal width (cm)"], output="virginica")]
    target = data.target_names[data.target]
    return (data.data, target), SmileClassifier(properties=rules), SmileClassifier()


def wine() -> tuple[Data, Any, Any]:
    """Measurements off by 2 % of their range move no margin by more than 1."""
    from sklearn.datasets import load_wine

    data = load_wine(as_frame=True)
    return (data.data, data.target), SmileClassifier(properties=[Robust("2%", 1)]), SmileClassifier()


def digits() -> tuple[Data, Any, Any]:
    """Ten digits of 8×8 pixels: every pixel off by .1 moves no margin by more than .4."""
    from sklearn.datasets import load_digits

    data = load_digits()
    frame = pd.DataFrame(data.data / 16, columns=[f"p{i}" for i in range(64)])
    bounds = {name: (0.0, 1.0) for name in frame.columns}
    columns = Columns(bounds=bounds, kinds=dict.fromkeys(frame, "continuous"))
    robust = SmileClassifier(properties=Robust(0.1, 0.4), domain=columns)
    return (frame, data.target), robust, SmileClassifier(domain=columns)


TASKS: dict[str, Callable[[], tuple[Data, Any, Any]]] = {
    "law": law,
    "expenses": expenses,
    "quantiles": quantiles,
    "labels": labels,
    "iris": iris,
    "wine": wine,
    "digits": digits,
}


def broken(model: Any, claims: Any, x: np.ndarray) -> float:
    """The share of rows x [n, m] around which the attack finds a tuple that breaks a claim by more than 1e-9."""
    found = [probe(model.net_, claim, x) for claim in claims]
    bad = {int(row) for one in found for row, value in zip(one.rows, one.value, strict=True) if value > 1e-9}
    return len(bad) / len(x)


def run(name: str, seed: int) -> dict[str, Any]:
    """One task, one split: both models, their scores and what the attack finds."""
    (frame, target), ruled, free = TASKS[name]()
    X, X_test, y, y_test = train_test_split(frame, target, test_size=0.3, random_state=seed)
    begun = time.perf_counter()
    ruled.set_params(random_state=seed).fit(X, y)
    seconds = time.perf_counter() - begun
    free.set_params(random_state=seed, domain=ruled.domain_).fit(X, y)
    x = np.concatenate([ruled.encoded(X_test)[:ATTACKED], ruled.domain_.sample(DRAWN, np.random.default_rng(seed))])
    out = {
        "task": name,
        "seed": seed,
        "ruled": ruled.score(X_test, y_test),
        "free": free.score(X_test, y_test),
        "verdict": ruled.verdict_.sentence(),
        "seconds": seconds,
        "ruled_broken": broken(ruled, ruled.claims_, x),
        "free_broken": broken(free, ruled.claims_, x),
    }
    if name in ("wine", "digits"):
        label, certified = ruled.predict_certified(X_test)
        out["certified"] = float(np.mean(certified & (label == y_test)))
    return out


def main() -> None:
    """Print one line a task and seed, and the means."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    for name in asked.tasks or TASKS:
        for seed in range(asked.seeds):
            found = run(name, seed)
            more = f", certified and right {found['certified']:.3f}" if "certified" in found else ""
            print(
                f"{name} seed {seed}: score {found['ruled']:.4f} (no rules {found['free']:.4f}){more}; rules broken at "
                f"{found['ruled_broken']:.1%} of rows (no rules {found['free_broken']:.1%}); {found['seconds']:.1f} s; "
                f"{found['verdict']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
