"""What a change of the default recipe is worth: whole default fits on kept rows of training parts, change by change.

    python -m benchmarks.kept_fits --out fits.jsonl [--only wine] [--splits 0 1 2] [--variant now before] [--jobs 8]
    python -m benchmarks.kept_fits --summary fits.jsonl [--base before]

A table of `smile reproduce tables` loses its test rows, a fifth of its training part is kept from the fit, and the
model predicts that fifth. Every fit is one line of JSON, written as it ends: loss (mean square or log loss), accuracy,
seconds of the processor, status. The summary pairs the fits of a variant with those of the base on the same rows, each
difference with its standard error:

    (loss of the variant / loss of the base) − 1       accuracy of the variant − that of the base

Test rows are never looked at.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from smilenn import SmileClassifier, SmileRegressor
from smilenn.datasets.split import split
from smilenn.estimators.options import Network
from smilenn.experiments.peers.task import Rows
from smilenn.experiments.practice import PRACTICE, practice
from smilenn.model.encoders.monotone import Kind
from smilenn.train.fitted import Fitted
from smilenn.train.recipes import ensemble

KEPT = 100  # added to the number of a split: the seed of the rows that are kept from its training part
WIDE, DEEP, SMOOTH = (
    ("wide", 2, (64, 64), 1.0, 0.02),
    ("deep", 1, (32, 32), 1.0, 1.0),
    ("smooth", 0, (64, 64), 1.0, 0.1),
)
SHALLOW, SHARP = ("shallow", 1, (16,), 1.0, 1.0), ("sharp", 1, (16,), 10.0, 0.01)

Patches = dict[str, Any]
"""Names in modules of `smilenn.train`, and what they are replaced by; names without a dot are settings."""


def kinds(small: Sequence[Any], large: Sequence[Any] = (WIDE,)) -> Callable[[int, int, bool], list[Kind]]:
    """`tabular_kinds` with these kinds: name, multiples of the ramps (0: one ramp), units, pace, decay."""

    def chosen(ramps: int, rows: int, classify: bool) -> list[Kind]:
        own = small if rows <= ensemble.SMALL else large
        return [Kind(name, max(1, times * ramps), *more) for name, times, *more in own]

    return chosen


def no_linear(*given: Any) -> Fitted:
    """`linear_members` without any."""
    return Fitted("linear")


BEFORE: Patches = {
    "run.linear_members": no_linear,
    "recipes.ensemble.tabular_kinds": kinds((WIDE, DEEP, SHALLOW, SHARP)),
    "recipes.ensemble.SMALL": 2_000,
    "boosted.FEW": 0,
}
VARIANTS: dict[str, Patches] = {
    "now": {},
    "before": BEFORE,
    "without linear": {"run.linear_members": no_linear},
    "narrow choice of columns": {"boosted.FEW": 0},
    "four kinds": {"recipes.ensemble.tabular_kinds": kinds((WIDE, DEEP, SHALLOW, SHARP))},
    "smooth on all": {"recipes.ensemble.tabular_kinds": kinds((WIDE, DEEP, SMOOTH), (WIDE, SMOOTH))},
    "smooth on small": {"recipes.ensemble.tabular_kinds": kinds((WIDE, DEEP, SMOOTH))},
    "small up to 2,000": {"recipes.ensemble.SMALL": 2_000},
    "prior 20": {"mixing.PRIOR": 20.0},
    "slow trees": {"boosted.RATE": 0.05, "boosted.PATIENCE": 40},
    "six members": {"network": Network(members=6), "boosted.GROUPS": ((50_000, 6), (300_000, 2))},
    "no rule": {"properties": ()},
    "no rule, plain network": {"properties": (), "network": Network(encoder="none")},
}


@contextmanager
def changed(patches: Patches) -> Iterator[Patches]:
    """The recipe with these changes; what is left of them for the estimator."""
    with ExitStack() as stack:
        for name, value in patches.items():
            if "." in name:
                stack.enter_context(patch(f"smilenn.train.{name}", value))
        yield {name: value for name, value in patches.items() if "." not in name}


def fitted(name: str, seed: int, variant: str, data: Path | None) -> dict[str, Any]:
    """The line of one fit."""
    rule = practice(name)
    own, kept = split(split(rule.table(data), seed=seed)[0], seed=KEPT + seed)
    kind = SmileClassifier if own.task == "binary" else SmileRegressor
    with changed(VARIANTS[variant]) as settings:
        model = kind(**{"properties": rule.properties(), "random_state": seed} | settings)
        begun = time.process_time()
        model.fit(own.frame, own.target)
        took = time.process_time() - begun
    rows = Rows.of(kept, rule=True, seed=seed)
    output = np.asarray(model.outputs(kept.frame), dtype=np.float64).ravel()
    line: dict[str, Any] = {"table": name, "split": seed, "variant": variant, "loss": rows.loss(output)}
    line["accuracy"] = float(((output > 0) == (rows.y > 0.5)).mean()) if rows.binary else None
    return line | {"seconds": round(took, 2), "status": model.verdict_.status, "chosen": model.explain()[:900]}


def _one(asked: tuple[str, int, str, Path | None]) -> str:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return json.dumps(fitted(*asked))
    except Exception as error:  # the other fits go on; the line says what happened
        return json.dumps({"table": asked[0], "split": asked[1], "variant": asked[2], "error": repr(error)})


def summary(lines: Sequence[dict[str, Any]], base: str) -> Iterator[str]:
    """A line for every table and variant."""
    found = {(line["table"], line["variant"], line["split"]): line for line in lines if "error" not in line}
    for name in dict.fromkeys(line["table"] for line in lines):
        for variant in dict.fromkeys(line["variant"] for line in lines):
            both = [s for t, v, s in found if (t, v) == (name, variant) and (name, base, s) in found]
            if variant != base and both:
                pairs = [(found[name, variant, s], found[name, base, s]) for s in both]
                yield f"{name:14}{variant:28}{_changes(pairs)}"


def _changes(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    loss = [100 * (one["loss"] / base["loss"] - 1) for one, base in pairs]
    parts = [f"loss {_mean(loss, 2)} %"]
    if pairs[0][0]["accuracy"] is not None:
        parts.append(f"accuracy {_mean([one['accuracy'] - base['accuracy'] for one, base in pairs], 4)}")
    times = np.exp(np.mean([np.log(one["seconds"] / base["seconds"]) for one, base in pairs]))
    return ", ".join([*parts, f"time × {times:.2f}", f"{len(pairs)} splits"])


def _mean(values: Sequence[float], digits: int) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):+.{digits}f} ± {error:.{digits}f}"


def main(arguments: Sequence[str]) -> None:
    """Fit and write lines, or print what they say."""
    parser = argparse.ArgumentParser(description="what changes of the default recipe are worth on kept training rows")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--base", choices=sorted(VARIANTS), default="before")
    parser.add_argument("--only", choices=sorted(PRACTICE), nargs="+", default=list(PRACTICE))
    parser.add_argument("--variant", choices=sorted(VARIANTS), nargs="+", default=["before", "now"])
    parser.add_argument("--splits", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args(arguments)
    if chosen.summary is not None:
        lines = [json.loads(line) for line in chosen.summary.read_text().splitlines()]
        print("\n".join(summary(lines, chosen.base)))
        return
    asked = [(n, s, v, chosen.data) for s in chosen.splits for n in chosen.only for v in chosen.variant]
    with (
        multiprocessing.get_context("spawn").Pool(chosen.jobs, maxtasksperchild=8) as pool,
        chosen.out.open("a") as out,
    ):
        for line in pool.imap_unordered(_one, asked):
            out.write(line + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
