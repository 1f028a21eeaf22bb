"""Both rules at once where ε matters: the target is 10 higher for one group, and ε is 20.

    python -m benchmarks.trap [--first 20] [--seeds 5] [--eps 5 10 20] [--lipschitz 0.5]

Each line: R² on 2,000 new rows, the largest change of the prediction by changing the group alone, and the verdict, of
the model under each rule alone and under both; with --eps, of the model under both rules at each ε.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

from smilenn import Fair, Lipschitz, Monotone, Property, SmileRegressor

EPS = 20.0


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


def cases(eps: float, slope: float | None) -> dict[str, list[Property]]:
    """The rules of every line; with `slope`, the output changes by that much at most for a year of age, under all."""
    rising, fair = Monotone(increasing=["income", "age"]), Fair(["group"], eps)
    more: list[Property] = [] if slope is None else [Lipschitz("age", slope)]
    return {"monotone": [rising, *more], "fair": [fair, *more], "both": [rising, fair, *more]}


def line(rules: list[Property], seed: int) -> str:
    """R², largest change and verdict of one model."""
    rng = np.random.default_rng(seed)
    (x, y), (new, true) = rows(1000, rng), rows(2000, rng)
    model = SmileRegressor(properties=rules, random_state=seed).fit(x, y)
    change = np.abs(model.predict(new.assign(group="a")) - model.predict(new.assign(group="b"))).max()
    score = r2_score(true, model.predict(new))
    return f"R² {score:.4f}  largest change {change:6.2f}  {model.verdict_.sentence()}"


def main() -> None:
    """Print a line for every seed and rule, or for every seed and ε."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--eps", type=float, nargs="+", help="both rules, at each of these ε")
    parser.add_argument("--lipschitz", type=float, help="a bound on the slope in the age, beside every rule")
    args = parser.parse_args()
    for seed in range(args.first, args.first + args.seeds):
        for eps in args.eps or ():
            print(f"{seed} ε = {eps:<5g} {line(cases(eps, args.lipschitz)['both'], seed)}", flush=True)
        for name, rules in cases(EPS, args.lipschitz).items() if args.eps is None else ():
            print(f"{seed} {name:9} {line(rules, seed)}", flush=True)


if __name__ == "__main__":
    main()
