"""The trap of benchmarks/trap.py for quantiles and for three classes: does a rule of order and fairness use its ε?

    python -m benchmarks.trap_kinds

The target rises with income and age and is 10 higher for one group, plus noise of 4: 1,000 rows to learn from, 2,000
new ones. Two members and 40 epochs keep it short. Prints a line of JSON for every rule: the loss on new rows, the
largest change by the group alone (of an output; for classes, of a margin), whether certified.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import log_loss, mean_pinball_loss

from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor

LEVELS, CUTS = (0.1, 0.5, 0.9), (-np.inf, 20, 32, np.inf)
SHORT: dict[str, Any] = {"config": Config(epochs=40, batch_size=128), "network": Network(members=2), "random_state": 0}


def rows(many: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Income, age, group and the target."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, many).round(1),
            "age": rng.integers(18, 80, many),
            "group": rng.choice(["a", "b"], many),
        }
    )
    score = 0.4 * frame["income"] + 0.2 * frame["age"] + 10 * (frame["group"] == "b")
    return frame, score + rng.normal(0, 4, many)


def moved(model: SmileRegressor | SmileClassifier, frame: pd.DataFrame) -> np.ndarray:
    """By how much the group alone moves every output, [n, o]."""
    sides = (model.outputs(frame.assign(group=group)).reshape(len(frame), -1) for group in "ab")
    first, second = sides
    return first - second


def quantiles(eps: float | None) -> dict[str, Any]:
    """Quantiles under the rule of order and, unless `eps` is None, of fairness."""
    (own, y), (new, truth) = rows(1000, 0), rows(2000, 1)
    fair = [] if eps is None else [Fair(["group"], eps)]
    model = SmileRegressor(properties=[Monotone(increasing=["income"]), *fair], quantiles=LEVELS, **SHORT).fit(own, y)
    found = model.predict(new)
    loss = np.mean([mean_pinball_loss(truth, found[:, k], alpha=q) for k, q in enumerate(LEVELS)])
    change = float(np.abs(moved(model, new)).max())
    return {"target": "quantiles", "eps": eps, "loss": float(loss), "change": change, "status": model.verdict_.status}


def classes(eps: float | None) -> dict[str, Any]:
    """The same with three classes of the target."""
    (own, y), (new, truth) = rows(1000, 0), rows(2000, 1)
    label, wanted = (pd.cut(v, CUTS, labels=list("abc")).astype(str) for v in (y, truth))
    fair = [] if eps is None else [Fair(["group"], eps)]
    rules = [Monotone(increasing=["income"], output="c"), *fair]
    model = SmileClassifier(properties=rules, **SHORT).fit(own, label)
    by = moved(model, new)
    change = max(float(np.abs(by[:, i] - by[:, j]).max()) for i in range(3) for j in range(i))
    found = {"loss": float(log_loss(wanted, model.predict_proba(new))), "accuracy": float(model.score(new, wanted))}
    return {"target": "classes", "eps": eps, **found, "change": change, "status": model.verdict_.status}


def main() -> None:
    """Print a line for every rule."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for eps in (None, 20.0, 6.0):
        print(json.dumps(quantiles(eps)), flush=True)
    for eps in (None, 4.0, 1.0, 0.0):
        print(json.dumps(classes(eps)), flush=True)


if __name__ == "__main__":
    main()
