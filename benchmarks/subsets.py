"""What fewer networks, boosters or kinds would lose: one default fit, its mixture made anew from parts of it.

    python -m benchmarks.subsets [--only concrete] [--split 0]

A table of `smile reproduce tables` loses its test rows, and a fifth of its training part is kept from the fit. Every
network and booster of the fit predicts those rows and the ones it was kept from itself; the latter choose the shares of
any part of the ensemble, as in `smilenn.train.mixing`, and the former say what it loses:

    (loss of the part / loss of the whole) − 1

Linear functions, which small tables have beside them, are left out of the whole and of all parts. Test rows are never
looked at. Times are seconds of the processor: what boosting, training and the whole fit took.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from smilenn import SmileClassifier, SmileRegressor
from smilenn.datasets.split import split
from smilenn.experiments.practice import PRACTICE, practice
from smilenn.train import run
from smilenn.train.encoded import centres, encoder_outputs
from smilenn.train.losses import TaskLoss
from smilenn.train.mixing import mixture
from smilenn.train.recipes import ensemble

ALL = slice(None)
KEPT = 100  # added to the number of a split: the seed of the rows that are kept from its training part


@dataclass(frozen=True, eq=False)
class Parts:
    """Predictions of networks [K, G, n] and boosters [F, n], of rows that were kept from some of them and of others."""

    kinds: list[str]
    held: np.ndarray
    y: np.ndarray
    networks: np.ndarray
    boosters: np.ndarray
    new_y: np.ndarray
    new_networks: np.ndarray
    new_boosters: np.ndarray
    loss: TaskLoss

    def loses(self, kinds: Sequence[int], groups: slice, boosters: slice) -> float:
        """The loss on new rows of the mixture of these kinds, groups of networks and boosters."""
        chosen = [(self.networks[k], self.new_networks[k], groups) for k in kinds]
        chosen += [(self.boosters, self.new_boosters, boosters)] if len(self.boosters[boosters]) else []
        rows = np.all([self.held[:, own].any(axis=1) for _, _, own in chosen], axis=0)
        each = np.stack([_honest(known[own][:, rows], self.held[rows][:, own].T) for known, _, own in chosen])
        y, new_y = (torch.tensor(values)[:, None] for values in (self.y[rows], self.new_y))
        shares = mixture(torch.tensor(each)[..., None], y, None, self.loss).shares
        mean = sum(share * new[own].mean(axis=0) for share, (_, new, own) in zip(shares, chosen, strict=True))
        return float(self.loss(torch.tensor(mean)[:, None], new_y))


def _honest(found: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Predictions [n] by the mean over the members [g, n] that did not learn from a row."""
    return (found * kept).sum(axis=0) / kept.sum(axis=0)


def fitted(name: str, seed: int) -> tuple[Parts, dict[str, float]]:
    """The parts of a default fit, as many networks as boosters, and its times."""
    rule = practice(name)
    own, kept = split(split(rule.table(None), seed=seed)[0], seed=KEPT + seed)
    model = (SmileClassifier if own.task == "binary" else SmileRegressor)(
        properties=rule.properties(), random_state=seed
    )
    took: dict[str, float] = {}
    seen: list[Any] = []
    before = run.mix, run.Run.boost, run.Run._encoded_unit, ensemble.networks

    def mix(net: Any, task: Any, fitted: Any, *more: Any) -> Any:
        seen.append((copy.deepcopy(net), task, fitted[0]))
        return before[0](net, task, fitted, *more)

    run.mix = mix
    run.Run.boost, run.Run._encoded_unit = _timed(before[1], took, "trees"), _timed(before[2], took, "networks")
    ensemble.networks = lambda members, rows: members
    try:
        _timed(model.fit, took, "fit")(own.frame, own.target)
    finally:
        run.mix, run.Run.boost, run.Run._encoded_unit, ensemble.networks = before
    (net, task, trees), x = seen[0], torch.as_tensor(model.encoded(kept.frame), dtype=torch.float64)
    rows = torch.nonzero(task.folds.any(dim=1))[:, 0]
    named = [branch.name.rstrip("0123456789") for branch in net.encoder.learned]
    parts = Parts(
        list(dict.fromkeys(named)),
        task.folds[rows].numpy(),
        task.y[rows, 0].numpy(),
        *_predicted(net, trees, task.x[rows]),
        kept.target.to_numpy(dtype=np.float64),
        *_predicted(net, trees, x),
        task.loss,
    )
    return parts, took


def _timed(call: Callable[..., Any], took: dict[str, float], name: str) -> Callable[..., Any]:
    def timed(*given: Any) -> Any:
        begun = time.process_time()
        try:
            return call(*given)
        finally:
            took[name] = took.get(name, 0.0) + time.process_time() - begun

    return timed


@torch.no_grad()
def _predicted(net: Any, trees: Any, x: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    found = torch.cat(
        [centres(net, encoder_outputs(net.encoder, net.scale(part)))[..., 0] for part in x.split(4096)], 1
    )
    own = [net.head(trees.outputs(g, net.scale(x)))[:, 0].numpy() for g in range(len(trees.groups))]
    return found.reshape(-1, net.encoder.groups, len(x)).numpy(), np.stack(own)


def choices(kinds: Sequence[str]) -> dict[str, tuple[list[int], slice, slice]]:
    """Parts of an ensemble by name: kinds, groups of networks, boosters."""
    every = list(range(len(kinds)))
    out = {
        "2 networks, 4 boosters": (every, slice(2), ALL),
        "1 network, 4 boosters": (every, slice(1), ALL),
        "4 networks, 2 boosters": (every, ALL, slice(2)),
        "4 networks, the other 2": (every, ALL, slice(2, 4)),
        "2 networks, 2 boosters": (every, slice(2), slice(2)),
        "1 network, 1 booster": (every, slice(1), slice(1)),
        "boosters alone": ([], ALL, ALL),
        "networks alone": (every, ALL, slice(0)),
    }
    for k, name in enumerate(kinds if len(kinds) > 1 else ()):
        out[f"without {name}"] = ([j for j in every if j != k], ALL, ALL)
    return out


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON for every table."""
    parser = argparse.ArgumentParser(description="what parts of a default ensemble lose")
    parser.add_argument("--only", choices=sorted(PRACTICE), action="append")
    parser.add_argument("--split", type=int, default=0)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for name in chosen.only or PRACTICE:
            parts, took = fitted(name, chosen.split)
            every = list(range(len(parts.kinds)))
            whole = parts.loses(every, ALL, ALL)
            line: dict[str, Any] = {"table": name, "split": chosen.split, "loss": round(whole, 4)}
            line |= {part: f"{parts.loses(*how) / whole - 1:+.2%}" for part, how in choices(parts.kinds).items()}
            print(json.dumps(line | {part: round(seconds, 1) for part, seconds in took.items()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
