"""How certified models and peers are compared over tables and splits.

On every split inner folds choose one peer under the rule, the one of the smallest loss there; test rows choose nothing.
Differences of quality are paired by split. Splits share training rows, so their differences are not independent, and
the standard error of a mean over n splits is that of Nadeau and Bengio (2003):

    se² = (1/n + n_test/n_train)·s²,       s² the variance of the differences

To average over tables, qualities are scaled: the constant is 0 and the best peer without a rule is 1 (by its mean).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from smilenn.experiments.cells import Row
from smilenn.experiments.measures import chosen, mean

OURS, CONSTANT = "smilenn", "constant"
FREE = "-free"  # ends the name of a peer without the rule
TEST_SHARE = 0.25  # test rows to training rows, at a split of 80 to 20


@dataclass(frozen=True)
class Comparison:
    """One table: qualities of ours, of the peer that inner folds chose, and of the best one without a rule."""

    data: str
    splits: int
    ours: float
    peer: float
    peers: tuple[str, ...]
    difference: float
    error: float
    constant: float
    free: float
    best: str

    @property
    def level(self) -> bool:
        """Whether ours is not worse by more than two standard errors."""
        return self.difference >= -2 * self.error

    def scaled(self, quality: float) -> float:
        """0 at the constant, 1 at the best peer without a rule."""
        room = self.free - self.constant
        return (quality - self.constant) / room if room > 0 else math.nan


def compared(rows: Sequence[Row], data: str) -> Comparison | None:
    """The comparison on a table, over the splits that have both; None where there are fewer than two."""
    here = chosen(rows, data=data)
    ours = {row["seed"]: row["quality"] for row in chosen(here, model=OURS)}
    peers = {seed: one for seed in ours if (one := _chosen_peer(chosen(here, seed=seed))) is not None}
    if len(peers) < 2:
        return None
    gaps = [ours[seed] - peer["quality"] for seed, peer in sorted(peers.items())]
    free = {row["model"]: mean(chosen(here, model=row["model"]), "quality") for row in here if _is_free(row)}
    best = max(free, key=lambda model: free[model], default="")
    count = len(gaps)
    return Comparison(
        data,
        count,
        statistics.fmean(ours[seed] for seed in peers),
        statistics.fmean(peer["quality"] for peer in peers.values()),
        tuple(peer["model"] for _, peer in sorted(peers.items())),
        statistics.fmean(gaps),
        math.sqrt((1 / count + TEST_SHARE) * statistics.variance(gaps)),
        mean(chosen(here, model=CONSTANT), "quality"),
        free.get(best, math.nan),
        best.removesuffix(FREE),
    )


@dataclass(frozen=True)
class Best:
    """One table: RMSE or accuracy of ours and of the best peer under the rule, by their means over all splits.

    Test rows choose this peer, so nobody could have chosen it in advance: a harder mark than `Comparison.peer`.
    """

    data: str
    metric: str
    model: str
    ours: float
    theirs: float

    @property
    def behind(self) -> float:
        """The share by which ours is worse; negative where it is better."""
        return (1 - self.ours / self.theirs) if self.metric == "accuracy" else (self.ours / self.theirs - 1)


def best_peer(rows: Sequence[Row], data: str) -> Best | None:
    """The comparison with the best peer among those that have every split of ours; None without one."""
    here = chosen(rows, data=data)
    ours = chosen(here, model=OURS)
    seeds = {row["seed"] for row in ours}
    names = dict.fromkeys(row["model"] for row in here if _is_peer(row))
    means = {name: chosen(here, model=name) for name in names}
    whole = {name: own for name, own in means.items() if {row["seed"] for row in own} == seeds}
    if not whole:
        return None
    metric, best = ("accuracy", max) if "accuracy" in ours[0] else ("rmse", min)
    model = best(whole, key=lambda name: mean(whole[name], metric))
    return Best(data, metric, model, mean(ours, metric), mean(whole[model], metric))


def _chosen_peer(rows: Sequence[Row]) -> Row | None:
    """The peer under the rule with the smallest loss on the inner folds."""
    return min(filter(_is_peer, rows), key=lambda row: row["inner"], default=None)


def _is_peer(row: Row) -> bool:
    return row["model"] not in (OURS, CONSTANT) and not _is_free(row)


def _is_free(row: Row) -> bool:
    return row["model"].endswith(FREE)
