"""What trees and linear functions are worth to classes and quantiles under a directed rule.

    python -m benchmarks.directed --out fits.jsonl [--only "wine classes" …] [--splits 0 1 2]
    python -m benchmarks.directed --summary fits.jsonl

A table loses its test rows, and a fifth of its training part is kept from a default fit. Numbers are cut into thirds
where they are to be classes, and the rule of the table is one about the highest third. The networks of a fit are mixed
twice: alone, as they were before classes under a directed rule and quantiles had other members, and with all members.
Both mixtures predict the kept fifth. Log loss, or the pinball loss as a share of the constant quantiles'.

Test rows are never looked at.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import torch

from smilenn import Monotone, SmileClassifier, SmileRegressor
from smilenn.datasets.base import Dataset
from smilenn.datasets.split import split
from smilenn.experiments.practice import practice
from smilenn.train import run
from smilenn.train.losses import Quantiles, task_loss

KEPT = 100  # added to the number of a split: the seed of the rows that are kept from its training part
MOST_ROWS = 2_000  # of a training part
LEVELS = (0.1, 0.5, 0.9)
CLASSES = ("wine", "diabetes", "concrete", "california")
TABLES = (*(f"{name} classes" for name in CLASSES), *(f"{name} quantiles" for name in CLASSES[1:]))


def tables(name: str, seed: int) -> tuple[Dataset[pd.DataFrame], Dataset[pd.DataFrame], list[Monotone]]:
    """The rows of a fit, the fifth that is kept from it, and the rule."""
    base, task = name.split()
    table, output = practice(base).table(None), None
    if base == "wine":
        from sklearn.datasets import load_wine

        bunch: Any = load_wine()
        own, kept = (_with(part, bunch.target[part.frame.index]) for part in _parts(table, seed))
        output = "0"
    else:
        own, kept = _parts(table, seed)
    if task == "classes" and base != "wine":
        ends = np.quantile(own.target, [1 / 3, 2 / 3])
        own, kept = (_with(part, np.digitize(part.target, ends)) for part in (own, kept))
        output = "2"
    return own, kept, [Monotone(list(table.increasing), decreasing=list(table.decreasing), output=output)]


def _parts(table: Dataset[pd.DataFrame], seed: int) -> tuple[Dataset[pd.DataFrame], Dataset[pd.DataFrame]]:
    train = split(table, seed=seed)[0]
    if len(train) > MOST_ROWS:
        train = split(train, seed=seed, test=MOST_ROWS / len(train))[1]
    return split(train, seed=KEPT + seed)


def _with(part: Dataset[pd.DataFrame], target: np.ndarray) -> Dataset[pd.DataFrame]:
    changed = copy.copy(part)
    object.__setattr__(changed, "target", pd.Series(target, index=part.frame.index))
    return changed


def fitted(name: str, seed: int) -> dict[str, Any]:
    """The line of one fit."""
    own, kept, rule = tables(name, seed)
    quantiles = name.endswith("quantiles")
    model: Any = SmileRegressor(quantiles=LEVELS) if quantiles else SmileClassifier()
    model.set_params(properties=rule, random_state=seed)
    seen, mix, boost = dict[str, Any](), run.mix, run.Run.boost

    def both(net: Any, task: Any, given: Any, *more: Any) -> Any:
        seen["alone"] = copy.deepcopy(net)
        mix(seen["alone"], task, (), *more)
        seen["alone"].encoder.fit_box_(net.scale(task.outline()), run.ROOM)
        return mix(net, task, given, *more)

    def timed(self: run.Run, *given: Any) -> None:
        begun = time.process_time()
        boost(self, *given)
        seen["members"] = time.process_time() - begun

    begun = time.process_time()
    with patch.object(run, "mix", both), patch.object(run.Run, "boost", timed):
        model.fit(own.frame, own.target)
    took = time.process_time() - begun
    x = torch.as_tensor(model.domain_.encode(kept.frame, out_of_bounds="clamp"))
    losses = [_loss(model, net, x, own.target, kept.target, quantiles) for net in (seen["alone"], model.net_)]
    told = model.explain().partition("Mixture chosen on held-out rows: ")[2].partition("\n")[0]
    line = {"table": name, "split": seed, "rows": len(own), "networks": losses[0], "all": losses[1], "chosen": told}
    seconds = {"seconds": round(took, 2), "members": round(seen["members"], 2)}
    return line | seconds | {"status": model.verdict_.status, "certificate": model.verdict_.certificate is not None}


@torch.no_grad()
def _loss(model: Any, net: Any, x: torch.Tensor, own: pd.Series, y: pd.Series, quantiles: bool) -> float:
    f = net.eval()(x)
    if quantiles:
        columns = [torch.as_tensor(v.to_numpy(float))[:, None].repeat(1, len(LEVELS)) for v in (own, y)]
        return float(task_loss(Quantiles(LEVELS), columns[0])(f, columns[1]))
    places = torch.as_tensor(np.searchsorted(model.classes_, y.to_numpy()))
    return float(torch.nn.functional.cross_entropy(f, places))


def summary(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for every table."""
    for name in dict.fromkeys(line["table"] for line in lines):
        own = [line for line in lines if line["table"] == name]
        alone, every = (np.array([line[key] for line in own]) for key in ("networks", "all"))
        change, many = every - alone, max(1.0, np.sqrt(len(own)))
        error = np.std(change, ddof=1) / many if len(own) > 1 else np.nan
        seconds, members = (np.mean([line[key] for line in own]) for key in ("seconds", "members"))
        yield (
            f"{name:22}{own[0]['rows']:6} rows, {len(own)} splits: {alone.mean():.4f} → {every.mean():.4f}, "
            f"{change.mean():+.4f} ± {error:.4f}; {seconds:.1f} s, members {members:.1f} s; "
            f"{sum(line['certificate'] for line in own)} certified"
        )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--only", nargs="*", default=TABLES)
    parser.add_argument("--splits", nargs="*", type=int, default=[0, 1, 2])
    given = parser.parse_args()
    if given.summary:
        print(*summary([json.loads(line) for line in given.summary.read_text().splitlines()]), sep="\n")
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for seed in given.splits:
        for name in given.only:
            with given.out.open("a") as file:
                print(json.dumps(fitted(name, seed)), file=file, flush=True)


if __name__ == "__main__":
    main()
