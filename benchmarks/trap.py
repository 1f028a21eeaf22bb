"""Both rules at once where ε matters: the target is 10 higher for one group, and ε is 20.

    python -m benchmarks.trap [--seeds 3]

Each line: R² on 2,000 new rows, the largest change of the prediction by changing the group alone, and the verdict, of
the model under each rule alone and under both.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

from smilenn import Fair, Monotone, Property, SmileRegressor


def rows(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Income and age raise the target; group "b" has 10 more."""
    frame = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, n).round(1),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(["north", "south", "west"], n),
            "group": rng.choice(["a", "b"], n),
        }
    )
    y = 20 * np.sqrt(frame["income"] / 25) + 0.3 * frame["age"] + 5 * (frame["region"] == "west")
    return frame, (y + 10 * (frame["group"] == "b") + rng.normal(0, 4, n)).rename("score")


def main() -> None:
    """Print a line for every seed and rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    rising, fair = Monotone(increasing=["income", "age"]), Fair(["group"], 20)
    cases: dict[str, list[Property]] = {"monotone": [rising], "fair": [fair], "both": [rising, fair]}
    for seed in range(parser.parse_args().seeds):
        rng = np.random.default_rng(seed)
        (x, y), (new, true) = rows(1000, rng), rows(2000, rng)
        for name, rules in cases.items():
            model = SmileRegressor(properties=rules, random_state=seed).fit(x, y)
            change = np.abs(model.predict(new.assign(group="a")) - model.predict(new.assign(group="b"))).max()
            score = r2_score(true, model.predict(new))
            print(
                f"{seed} {name:9} R² {score:.4f}  largest change {change:6.2f}  {model.verdict_.sentence()}", flush=True
            )


if __name__ == "__main__":
    main()
