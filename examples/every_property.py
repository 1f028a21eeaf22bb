"""Every property on one invented table: a certified model, what it costs, and attacks on it and on a free network.

Run: python examples/every_property.py [NAME …] [--epochs N]

For each property (`RULES`) one model is trained with it and one without, and the table of docs/properties.md printed:
score on held-out rows, the share of the attacked inputs at which each breaks the rule by more than 1e-9, seconds of
`fit` and the verdict. The data break every rule on purpose.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from smilenn import (
    Bounded,
    Concave,
    Config,
    Convex,
    Custom,
    Dominates,
    Exclusive,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    OneOf,
    Ordered,
    Robust,
    Safe,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
    Symmetric,
)
from smilenn.experiments.trace import attack

Case = tuple[Any, Any, list[Any]]  # target, kind of estimator, rules
ROWS, TEST = 900, 300


def table() -> pd.DataFrame:
    """Two numbers, a whole number and a category."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "x": rng.uniform(0, 4, ROWS),
            "y": rng.uniform(0, 4, ROWS),
            "n": rng.integers(0, 6, ROWS),
            "g": rng.choice(["u", "v", "w"], ROWS),
        }
    )


X = table()
WAVE = np.sin(2 * X["x"]) + 0.5 * np.cos(3 * X["y"]) + 0.8 * (X["n"] >= 3) + 0.7 * (X["g"] == "u")
Y = WAVE.to_numpy() + 0.1 * np.random.default_rng(1).normal(size=ROWS)
TWO = pd.DataFrame({"p": Y, "q": Y[::-1] * 0.2 + 0.8 * np.cos(2 * X["x"])})
LABELS = (TWO > 0.3).astype(int)
GENRE = np.array(["a", "b", "c"])[np.digitize(Y, [0.0, 0.8])]


def scalar(*rules: Any) -> Case:
    """One number."""
    return Y, SmileRegressor, list(rules)


RULES: dict[str, Callable[[], Case]] = {
    "Monotone": lambda: scalar(Monotone(["x"])),
    "Robust": lambda: scalar(Robust({"x": 0.2, "y": 0.1}, 0.3)),
    "LocalRobust": lambda: scalar(LocalRobust(X.head(3), {"x": 0.3, "y": 0.2}, 0.2)),
    "Fair": lambda: scalar(Fair(["g"], 0.2)),
    "Lipschitz": lambda: scalar(Lipschitz(["x"], 0.5)),
    "Convex": lambda: scalar(Convex(["x"])),
    "Concave": lambda: scalar(Concave(["y"])),
    "Symmetric": lambda: scalar(Symmetric(["x", "y"], 0.2)),
    "Dominates": lambda: scalar(Dominates("x", "y", rate=2)),
    "Bounded": lambda: scalar(Bounded(0, 1)),
    "Safe on a polytope": lambda: scalar(Safe(["x + y <= 3", "x - 2 * y <= 1"], ["0 <= out <= 0.5"])),
    "Safe, functional": lambda: scalar(Safe((), ["out <= 0.3 * x + 0.1 * y"])),
    "if-then on a category": lambda: scalar(Safe(['g == "u"', "n <= 2"], ["out <= 0"])),
    "steps of a whole number": lambda: scalar(Custom(["a.out - b.out <= 0.1"], ["a.n - b.n == 1"])),
    "Ordered": lambda: (TWO, SmileRegressor, [Ordered(["p", "q"])]),
    "SumAtMost": lambda: (TWO, SmileRegressor, [SumAtMost(["p", "q"], "0.5 * y")]),
    "Exclusive": lambda: (LABELS, SmileClassifier, [Exclusive("p", "q")]),
    "OneOf": lambda: (GENRE, SmileClassifier, [OneOf(["a", "b"], when=["x <= 2"])]),
}


def run(name: str, epochs: int | None = None) -> dict[str, Any]:
    """Both models of one property."""
    target, kind, rules = RULES[name]()
    train, test = slice(TEST, None), slice(0, TEST)
    config = None if epochs is None else Config(epochs=epochs, batch_size=128)
    begun = time.perf_counter()
    ruled = kind(properties=rules, random_state=0, config=config, time_limit=60).fit(X[train], target[train])
    seconds = time.perf_counter() - begun
    free = kind(random_state=0, domain=ruled.domain_, config=config).fit(X[train], target[train])
    x = np.concatenate([ruled.encoded(X[test])[:150], ruled.domain_.sample(350, np.random.default_rng(0))])
    return {
        "name": name,
        "ruled": ruled.score(X[test], target[test]),
        "free": free.score(X[test], target[test]),
        "ruled_broken": attack(ruled, ruled, x)["broken"],
        "free_broken": attack(free, ruled, x)["broken"],
        "seconds": seconds,
        "verdict": ruled.verdict_,
        "bound": ruled.violation_bound_,
    }


def main() -> None:
    """The table as Markdown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=None)
    asked = parser.parse_args()
    print("| property | score | without | broken | without | certified | seconds |\n|---|---|---|---|---|---|---|")
    for name in asked.names or RULES:
        f = run(name, asked.epochs)
        proved = "yes" if f["verdict"].status == "proved" else f"**no**: {f['verdict'].sentence()}"
        if proved == "yes" and f["bound"]:
            proved = f"up to {f['bound']:.1g}"
        print(
            f"| {f['name']} | {f['ruled']:.3f} | {f['free']:.3f} | {f['ruled_broken']:.1%} | {f['free_broken']:.0%} | "
            f"{proved} | {f['seconds']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
