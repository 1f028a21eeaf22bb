"""Both rules at once where ε matters: the target is 10 higher for one group, and ε is 20.

    python -m benchmarks.trap [--first 20] [--seeds 5] [--eps 5 10 20] [--lipschitz 0.5] [--bounds 0 100]

Each line: R² on 2,000 new rows, the largest change of the prediction by changing the group alone, the range of the
predictions, and the verdict, of the model under each rule alone and under both; with --eps, of the model under both
rules at each ε. With --bounds the target is cut to them, and every model must keep them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

from smilenn import Bounded, Fair, Lipschitz, Monotone, Property, SmileRegressor

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


def cases(eps: float, slope: float | None, bounds: Sequence[float] | None) -> dict[str, list[Property]]:
    """The rules of every line. Under all, with `slope` the output changes by that much at most for a year of age, and
    with `bounds` it stays between them.
    """
    rising, fair = Monotone(increasing=["income", "age"]), Fair(["group"], eps)
    more: list[Property] = [] if slope is None else [Lipschitz("age", slope)]
    more += [] if bounds is None else [Bounded(*bounds)]
    return {"monotone": [rising, *more], "fair": [fair, *more], "both": [rising, fair, *more]}


def line(rules: list[Property], seed: int, bounds: Sequence[float] | None) -> str:
    """R², largest change, range of the predictions and verdict of one model."""
    rng = np.random.default_rng(seed)
    (x, y), (new, true) = rows(1000, rng), rows(2000, rng)
    if bounds is not None:
        y, true = y.clip(*bounds), true.clip(*bounds)
    model = SmileRegressor(properties=rules, random_state=seed).fit(x, y)
    sides = np.stack([model.predict(new.assign(group=group)) for group in "ab"])
    score, change = r2_score(true, model.predict(new)), np.abs(sides[0] - sides[1]).max()
    ends = f"from {sides.min():.2f} to {sides.max():.2f}"
    return f"R² {score:.4f}  largest change {change:6.2f}  {ends}  {model.verdict_.sentence()}"


def main() -> None:
    """Print a line for every seed and rule, or for every seed and ε."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--eps", type=float, nargs="+", help="both rules, at each of these ε")
    parser.add_argument("--lipschitz", type=float, help="a bound on the slope in the age, beside every rule")
    parser.add_argument("--bounds", type=float, nargs=2, help="ends of the target and of every model")
    args = parser.parse_args()
    for seed in range(args.first, args.first + args.seeds):
        for eps in args.eps or ():
            rules = cases(eps, args.lipschitz, args.bounds)["both"]
            print(f"{seed} ε = {eps:<5g} {line(rules, seed, args.bounds)}", flush=True)
        for name, rules in cases(EPS, args.lipschitz, args.bounds).items() if args.eps is None else ():
            print(f"{seed} {name:9} {line(rules, seed, args.bounds)}", flush=True)


if __name__ == "__main__":
    main()
