"""What the size of boosted trees is worth: boosters as a default fit has them, without its networks.

    python -m benchmarks.tree_sizes [--only compas] [--splits 5]

A table of `smile reproduce tables` loses its test rows, and a fifth of its training part is kept. Four boosters learn
the rest, each without a tenth that stops it, and the mean of them predicts the fifth. A line a table has, in percent of
the loss with rich trees (`smilenn.train.boosted`) and with the standard error over splits,

    plain     plain trees in all four
    chosen    of each of the four the one that its own tenth prefers, rich or plain
    fine      fine trees in all four

Test rows are never looked at.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from smilenn.datasets.split import split
from smilenn.experiments.peers.task import Rows, categories
from smilenn.experiments.practice import PRACTICE, practice
from smilenn.train.boosted import FINE, MOST, PATIENCE, PLAIN, RATE, RICH, Size, choice

GROUPS, HELD, KEPT = 4, 0.1, 100


def booster(rows: Rows, size: Size, seed: int) -> Any:
    """A booster of scikit-learn as `smilenn.train.boosted` makes them, not yet fitted."""
    leaves, least, drawn = size
    return (HistGradientBoostingClassifier if rows.binary else HistGradientBoostingRegressor)(
        learning_rate=RATE,
        max_leaf_nodes=leaves,
        min_samples_leaf=least,
        l2_regularization=drawn,
        max_features=choice(size, len(rows.signs)),
        max_iter=MOST,
        n_iter_no_change=PATIENCE,
        early_stopping=True,  # pyright: ignore[reportArgumentType]  the stubs know "auto" alone
        categorical_features="from_dtype",
        monotonic_cst=list(rows.signs.values()),
        random_state=seed,
    )


def predicted(rows: Rows, at: Rows, family: Sequence[Size], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What each booster predicts [G, n] at other rows, and its best score on the tenth that was kept from it [G]."""
    x, other = categories(rows.frame, rows.frame), categories(at.frame, rows.frame)
    order, size = np.random.default_rng(seed).permutation(len(x)), HELD * len(x)
    found, scores = [], []
    for g in range(GROUPS):
        held = np.zeros(len(x), dtype=bool)
        held[order[round(g * size) : round((g + 1) * size)]] = True
        model = booster(rows, family[g % len(family)], g)
        model.fit(x[~held], rows.y[~held], X_val=x[held], y_val=rows.y[held])
        best = int(np.argmax(model.validation_score_))
        scores.append(model.validation_score_[best])
        del model._predictors[max(1, best) :]
        found.append(model.decision_function(other) if rows.binary else model.predict(other))
    return np.array(found), np.array(scores)


def compared(name: str, seed: int, folder: Path | None) -> dict[str, float]:
    """Relative changes of the loss on the kept fifth against rich trees."""
    own, kept = split(split(practice(name).table(folder), seed=seed)[0], seed=KEPT + seed)
    rows, at = (Rows.of(part, rule=True, seed=seed) for part in (own, kept))
    (rich, first), (plain, second), (fine, _) = (predicted(rows, at, one, seed) for one in (RICH, PLAIN, FINE))
    chosen = np.where((second > first)[:, None], plain, rich)
    base = at.loss(rich.mean(axis=0))
    tried = {"plain": plain, "chosen": chosen, "fine": fine}
    return {what: at.loss(outputs.mean(axis=0)) / base - 1 for what, outputs in tried.items()}


def line(name: str, found: Sequence[dict[str, float]]) -> str:
    """Means and standard errors in words."""
    parts = []
    for what in found[0]:
        values = 100 * np.array([one[what] for one in found])
        error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}" if len(values) > 1 else ""
        parts.append(f"{what} {values.mean():+.2f}{error} %")
    return f"{name}: {', '.join(parts)} ({len(found)} splits)"


def main(arguments: Sequence[str]) -> None:
    """Print a line for every table."""
    parser = argparse.ArgumentParser(description="what the size of boosted trees is worth on kept training rows")
    parser.add_argument("--only", choices=sorted(PRACTICE), action="append")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in chosen.only or PRACTICE:
            print(line(name, [compared(name, seed, chosen.data) for seed in range(chosen.splits)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
