"""What a change of the default recipe is worth: whole default fits on kept rows of training parts, change by change.

    python -m benchmarks.kept_fits --out fits.jsonl [--only wine] [--splits 0 1 2] [--variant now before] [--jobs 8]
    python -m benchmarks.kept_fits --out fits.jsonl --alone …      networks, no trees or linear functions beside them
    python -m benchmarks.kept_fits --summary fits.jsonl [--base before]

A table of `smile reproduce tables` loses its test rows, a fifth of its training part is kept from the fit, and the
model predicts that fifth. Every fit is one line of JSON, written as it ends: loss (mean square or log loss), accuracy,
seconds of the processor, status. The summary pairs the fits of a variant with those of the base on the same rows, each
difference with its standard error:

    (loss of the variant / loss of the base) − 1       accuracy of the variant − that of the base

and for all tables together the mean of these changes, and of those of the loss as a share of the constant's, with the
error sqrt(Σ_t e_t²) / T from the errors e_t of the T tables. Fits that the file has already are not made again.

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
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks import member_variants as members
from smilenn import SmileClassifier, SmileRegressor
from smilenn.datasets.split import split
from smilenn.estimators.options import Network
from smilenn.experiments.peers.task import Rows
from smilenn.experiments.practice import PRACTICE, practice
from smilenn.model.encoders import monotone
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
"""Names in modules of `smilenn.train`, or from `smilenn` on, and what they are replaced by; names without a dot are
settings of the estimator."""


def kinds(small: Sequence[Any], large: Sequence[Any] = (WIDE,)) -> Callable[[int, int, bool], list[Kind]]:
    """`tabular_kinds` with these kinds: name, multiples of the ramps (0: one ramp), units, pace, decay."""

    def chosen(ramps: int, rows: int, classify: bool) -> list[Kind]:
        own = small if rows <= ensemble.SMALL else large
        return [Kind(name, max(1, times * ramps), *more) for name, times, *more in own]

    return chosen


def no_linear(*given: Any) -> Fitted:
    """`linear_members` without any."""
    return Fitted("linear")


def no_trees(*given: Any) -> Fitted:
    """`boosters` without any."""
    return Fitted("trees")


def with_decay(*decays: float) -> Callable[[int, int, bool], list[Kind]]:
    """Today's kinds with other decays of wide, deep and smooth networks."""
    wide, deep, smooth = ((*kind[:4], decay) for kind, decay in zip((WIDE, DEEP, SMOOTH), decays, strict=True))

    def chosen(ramps: int, rows: int, classify: bool) -> list[Kind]:
        return kinds((wide, deep, smooth), (wide, smooth) if classify else (wide,))(ramps, rows, classify)

    return chosen


def of_units(*units: int) -> Callable[[int, int, bool], list[Kind]]:
    """Today's kinds, wide and smooth networks with these hidden layers."""
    wide, smooth = ((*kind[:2], units, *kind[3:]) for kind in (WIDE, SMOOTH))

    def chosen(ramps: int, rows: int, classify: bool) -> list[Kind]:
        return kinds((wide, DEEP, smooth), (wide, smooth) if classify else (wide,))(ramps, rows, classify)

    return chosen


def quantiles(values: np.ndarray, many: int) -> np.ndarray:
    """`_greedy` as in 0.1: quantiles of all rows, which fall together where many rows share a value."""
    return np.quantile(values, np.linspace(0, 1, many))


def bulk_and_tails(values: np.ndarray, many: int) -> np.ndarray:
    """`_greedy` with knots at the ends of the bulk for smooth networks, which have one ramp otherwise."""
    return np.quantile(values, [0, 0.05, 0.95, 1]) if many == 2 else GREEDY(values, many)


def eight_ramps(plan: ensemble.Plan, task: Any) -> int:
    """`Plan.ramps`, eight at least on tables of any width."""
    return max(8, RAMPS(plan, task))


GREEDY, RAMPS = monotone._greedy, ensemble.Plan.ramps
KNOTS, KINDS = "smilenn.model.encoders.monotone._greedy", "recipes.ensemble.tabular_kinds"
ALONE: Patches = {"run.boosters": no_trees, "run.linear_members": no_linear}
BEFORE: Patches = {
    "run.linear_members": no_linear,
    KINDS: kinds((WIDE, DEEP, SHALLOW, SHARP)),
    "recipes.ensemble.SMALL": 2_000,
    "boosted.FEW": 0,
}
RECIPE: dict[str, Patches] = {
    "now": {},
    "before": BEFORE,
    "without linear": {"run.linear_members": no_linear},
    "narrow choice of columns": {"boosted.FEW": 0},
    "four kinds": {KINDS: kinds((WIDE, DEEP, SHALLOW, SHARP))},
    "smooth on all": {KINDS: kinds((WIDE, DEEP, SMOOTH), (WIDE, SMOOTH))},
    "smooth on small": {KINDS: kinds((WIDE, DEEP, SMOOTH))},
    "small up to 2,000": {"recipes.ensemble.SMALL": 2_000},
    "prior 20": {"mixing.PRIOR": 20.0},
    "slow trees": {"boosted.RATE": 0.05, "boosted.PATIENCE": 40},
    "six members": {"network": Network(members=6), "boosted.GROUPS": ((50_000, 6), (300_000, 2))},
    "one member": {"network": Network(members=1)},
    "two members": {"network": Network(members=2)},
    "no rule": {"properties": ()},
    "no rule, plain network": {"properties": (), "network": Network(encoder="none")},
}
# the six findings about the networks of 0.1, each undone, or gone on with (docs/notes/networks.md)
FINDINGS: dict[str, Patches] = {
    "quantile knots": {KNOTS: quantiles},
    "two ramps": {"recipes.ensemble.MOST": 2},
    "ramps of 0.1": {"recipes.ensemble.FEWEST": 0},
    "eight ramps": {"recipes.ensemble.Plan.ramps": eight_ramps},
    "decay 1": {KINDS: with_decay(1.0, 1.0, 1.0)},
    "decay .02": {KINDS: with_decay(0.02, 0.02, 0.02)},
    "best kind alone": {"mixing.mixture": members.best_alone},
    "equal shares": {"mixing.PRIOR": 1e9},
    "with sharp": {KINDS: kinds((WIDE, DEEP, SMOOTH, SHARP), (WIDE, SMOOTH, SHARP))},
    "rate × 10": {"recipes.ensemble.RATE": 3e-2},
    "rate × 3": {"recipes.ensemble.RATE": 1e-2},
    "rate / 3": {"recipes.ensemble.RATE": 1e-3},
}
COSLOG: Patches = {"encoded._set_rate": members.coslog4, "recipes.ensemble.steps": members.longer(1, 0.6)}
SCALED: Patches = {"ensemble.Stack": members.stacked(members.Scaled), "run.Adam": members.begun()}
SHARED: Patches = {"ensemble.Stack": members.stacked(members.Shared), "run.Adam": members.begun()}
# what RealMLP and TabM do
OTHERS: dict[str, Patches] = {
    "beta2 .95": {"run.Adam": members.begun(0.95)},
    "coslog4": COSLOG,
    "label smoothing .1": {"phases.Training.rows": members.smoothed(0.1)},
    "label smoothing .02": {"phases.Training.rows": members.smoothed(0.02)},
    "dropout": {"backward_members.StackRun": members.Dropped},
    "scaled ramps": SCALED,
    "RealMLP": {**COSLOG, **SCALED, "run.Adam": members.begun(0.95)},
    "shared 16": {**SHARED, **members.each_fold(4)},
    "separate 16": members.each_fold(4),
    "shared 8": {**SHARED, **members.each_fold(2)},
    "separate 8": members.each_fold(2),
    "shared over folds": {**SHARED, "ensemble.Stack": members.stacked(partial(members.Shared, folds=1))},
    "bulk and tails": {KNOTS: bulk_and_tails},
    "larger": {KINDS: of_units(128, 128)},
    "three layers": {KINDS: of_units(64, 64, 64)},
    "twice the epochs": {"recipes.ensemble.steps": members.longer(2)},
}
VARIANTS = RECIPE | FINDINGS | OTHERS


@contextmanager
def changed(patches: Patches) -> Iterator[Patches]:
    """The recipe with these changes; what is left of them for the estimator."""
    with ExitStack() as stack:
        for name, value in patches.items():
            if "." in name:
                whole = name if name.startswith("smilenn.") else f"smilenn.train.{name}"
                stack.enter_context(patch(whole, value))
        yield {name: value for name, value in patches.items() if "." not in name}


def fitted(name: str, seed: int, variant: str, data: Path | None, alone: bool = False) -> dict[str, Any]:
    """The line of one fit, of networks `alone` or not."""
    rule = practice(name)
    own, kept = split(split(rule.table(data), seed=seed)[0], seed=KEPT + seed)
    kind = SmileClassifier if own.task == "binary" else SmileRegressor
    with changed(VARIANTS[variant] | (ALONE if alone else {})) as settings:
        model = kind(**{"properties": rule.properties(), "random_state": seed} | settings)
        begun = time.process_time()
        model.fit(own.frame, own.target)
        took = time.process_time() - begun
    rows = Rows.of(kept, rule=True, seed=seed)
    output = np.asarray(model.outputs(kept.frame), dtype=np.float64).ravel()
    line: dict[str, Any] = {"table": name, "split": seed, "variant": variant, "loss": rows.loss(output)}
    line["constant"] = rows.loss(np.full(len(output), _constant(own)))
    line["accuracy"] = float(((output > 0) == (rows.y > 0.5)).mean()) if rows.binary else None
    line |= {"alone": True} if alone else {}
    return line | {"seconds": round(took, 2), "status": model.verdict_.status, "chosen": model.explain()[:900]}


def _constant(own: Any) -> float:
    """The mean of the target, or its log-odds."""
    mean = float(own.target.to_numpy(dtype=np.float64).mean())
    return float(np.log(mean / (1 - mean))) if own.task == "binary" else mean


def _one(asked: tuple[str, int, str, Path | None, bool]) -> str:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            return json.dumps(fitted(*asked))
    except Exception as error:  # the other fits go on; the line says what happened
        return json.dumps({"table": asked[0], "split": asked[1], "variant": asked[2], "error": repr(error)})


Pairs = list[tuple[dict[str, Any], dict[str, Any]]]


def summary(lines: Sequence[dict[str, Any]], base: str) -> Iterator[str]:
    """A line for every table and variant, and one for every variant and all tables."""
    found = {(line["table"], line["variant"], line["split"]): line for line in lines if "error" not in line}
    tables = list(dict.fromkeys(line["table"] for line in lines))
    for variant in dict.fromkeys(line["variant"] for line in lines):
        if variant == base:
            continue
        every = list[Pairs]()
        for name in tables:
            both = [s for t, v, s in found if (t, v) == (name, variant) and (name, base, s) in found]
            pairs = [(found[name, variant, s], found[name, base, s]) for s in both]
            if pairs:
                every.append(pairs)
                yield f"{name:14}{variant:28}{_changes(pairs)}"
        if len(every) > 1:
            yield f"{len(every)} tables".ljust(14) + f"{variant:28}{_together(every)}"


def _changes(pairs: Pairs) -> str:
    parts = [f"loss {_mean(_relative(pairs), 2)} %"]
    if pairs[0][0]["accuracy"] is not None:
        parts.append(f"accuracy {_mean([one['accuracy'] - base['accuracy'] for one, base in pairs], 4)}")
    return ", ".join([*parts, f"time × {_times(pairs):.2f}", f"{len(pairs)} splits"])


def _together(every: Sequence[Pairs]) -> str:
    """The mean over tables of the changes in percent of the loss, and in percent of the constant's loss."""
    shares = [[100 * (one["loss"] - base["loss"]) / base.get("constant", np.nan) for one, base in t] for t in every]
    relative = [_relative(pairs) for pairs in every]
    times = np.exp(np.mean([np.log(_times(pairs)) for pairs in every]))
    return f"loss {_pooled(relative)} %, {_pooled(shares)} % of the constant's, time × {times:.2f}"


def _relative(pairs: Pairs) -> list[float]:
    return [100 * (one["loss"] / base["loss"] - 1) for one, base in pairs]


def _times(pairs: Pairs) -> float:
    return float(np.exp(np.mean([np.log(one["seconds"] / base["seconds"]) for one, base in pairs])))


def _pooled(tables: Sequence[Sequence[float]]) -> str:
    error = float(np.sqrt(sum(_error(one) ** 2 for one in tables))) / len(tables)
    return f"{np.mean([np.mean(one) for one in tables]):+.3f} ± {error:.3f}"


def _error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _mean(values: Sequence[float], digits: int) -> str:
    return f"{np.mean(values):+.{digits}f} ± {_error(values):.{digits}f}"


def _known(out: Path) -> set[tuple[str, int, str, bool]]:
    """Table, split, variant and `alone` of the fits that a file has."""
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return {(one["table"], one["split"], one["variant"], one.get("alone", False)) for one in lines if "loss" in one}


def main(arguments: Sequence[str]) -> None:
    """Fit and write lines, or print what they say."""
    parser = argparse.ArgumentParser(description="what changes of the default recipe are worth on kept training rows")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--base", choices=sorted(VARIANTS), default="now")
    parser.add_argument("--only", choices=sorted(PRACTICE), nargs="+", default=list(PRACTICE))
    parser.add_argument("--variant", choices=sorted(VARIANTS), nargs="+", default=["now"])
    parser.add_argument("--splits", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--alone", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.summary is not None:
        lines = [json.loads(line) for line in chosen.summary.read_text().splitlines()]
        print("\n".join(summary([one for one in lines if one.get("alone", False) == chosen.alone], chosen.base)))
        return
    known = _known(chosen.out)
    every = [(n, s, v) for s in chosen.splits for v in chosen.variant for n in chosen.only]
    asked = [(*one, chosen.data, chosen.alone) for one in every if (*one, chosen.alone) not in known]
    with (
        multiprocessing.get_context("spawn").Pool(chosen.jobs, maxtasksperchild=16) as pool,
        chosen.out.open("a") as out,
    ):
        for line in pool.imap_unordered(_one, asked):
            out.write(line + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
