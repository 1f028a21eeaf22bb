"""Does a time limit hold where a rule has many rows, or a table many columns, outputs or categories?

    python -m benchmarks.limited fair-30 fair-60 --time-limit 10

Fits invented tables of 600 rows by the command `smile fit`, and prints a line of JSON for each: seconds of a clock from
the start of the process to its end, those of the processor, steps of training, what was certified.

With `--processor` the limit is one of processor seconds: the command reads the processor's clock, as if nobody else
ran anything, and has the checker in its own process, where it cannot be ended before it is done.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROWS = 600
QUIET = """
import time
time.perf_counter = time.process_time
from smilenn.certify import process
process.interpreter = str  # no program: the checker runs here
from smilenn.cli import main
main()
"""


@dataclass(frozen=True)
class Case:
    """A table with its targets, and the options of `smile fit` that state its rules; `spec` are properties in TOML."""

    table: pd.DataFrame
    options: tuple[str, ...]
    spec: str = ""


def numbers(columns: int, rng: np.random.Generator) -> pd.DataFrame:
    """Columns of numbers, x0, x1, …, and a group of three."""
    frame = pd.DataFrame({f"x{i}": rng.normal(size=ROWS).round(3) for i in range(columns)})
    return frame.assign(group=rng.choice(["a", "b", "c"], ROWS))


def signal(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """A score that rises with the first columns, [n]."""
    return frame["x0"] + 0.5 * frame["x1"] + 0.3 * (frame["group"] == "a") + rng.normal(0, 0.5, len(frame))


def classes(count: int, rule: str) -> Case:
    """As many classes, bands of the score, and a rule about every margin, or about all margins of one class."""
    rng = np.random.default_rng(count)
    frame = numbers(6, rng)
    bands = pd.qcut(signal(frame, rng), count, labels=[f"c{i:03}" for i in range(count)])
    options = {
        "fair": ("--fair", "group:0.5"),
        "robust": ("--robust", "2%:1"),
        "monotone": ("--increasing", "x0", "--output", f"c{count - 1:03}"),
    }
    return Case(frame.assign(y=bands.astype(str)), ("--target", "y", *options[rule]))


def every(count: int) -> Case:
    """A `Monotone` for each of as many classes: all margins of all of them."""
    case = classes(count, "monotone")
    rules = [f'[[property]]\nkind = "monotone"\nincreasing = ["x{i % 6}"]\noutput = "c{i:03}"\n' for i in range(count)]
    return Case(case.table, ("--target", "y"), "\n".join(rules))


def outputs(count: int) -> Case:
    """A regression of many outputs, rising and fair."""
    rng = np.random.default_rng(count)
    frame = numbers(6, rng)
    score = signal(frame, rng)
    targets = {f"y{o}": score * (1 + o / count) + rng.normal(0, 0.3, ROWS) for o in range(count)}
    named = [part for name in targets for part in ("--target", name)]
    return Case(frame.assign(**targets), (*named, "--increasing", "x0", "--fair", "group:1"))


def quantiles(count: int) -> Case:
    """Many quantiles of one number, rising."""
    rng = np.random.default_rng(count)
    frame = numbers(6, rng)
    levels = [part for q in range(count) for part in ("--quantile", f"{(q + 1) / (count + 1):.4f}")]
    return Case(frame.assign(y=signal(frame, rng)), ("--target", "y", "--increasing", "x0", *levels))


def properties(monotone: int, fair: int, columns: int) -> Case:
    """Many properties on many columns, each stated by itself."""
    rng = np.random.default_rng(columns)
    frame = numbers(columns, rng)
    groups = pd.DataFrame({f"g{i}": rng.choice(["a", "b"], ROWS) for i in range(fair)})
    rules = [f'[[property]]\nkind = "monotone"\nincreasing = ["x{i}"]\n' for i in range(monotone)]
    rules += [f'[[property]]\nkind = "fair"\nprotected = ["g{i}"]\neps = 1\n' for i in range(fair)]
    return Case(frame.join(groups).assign(y=signal(frame, rng)), ("--target", "y"), "\n".join(rules))


def categories(count: int) -> Case:
    """A column of so many categories, which a rule names, beside numbers."""
    rng = np.random.default_rng(count)
    frame = numbers(4, rng).assign(place=[f"p{i:03}" for i in rng.permutation(np.arange(ROWS) % count)])
    return Case(frame.assign(y=signal(frame, rng)), ("--target", "y", "--increasing", "x0", "--fair", "place:1"))


CASES: dict[str, Callable[[], Case]] = {
    **{
        f"{rule}-{n}": (lambda n=n, rule=rule: classes(n, rule))
        for rule in ("fair", "robust", "monotone")
        for n in (10, 30, 60, 150)
    },
    **{f"every-{n}": (lambda n=n: every(n)) for n in (10, 30, 60)},
    **{f"outputs-{n}": (lambda n=n: outputs(n)) for n in (10, 40)},
    **{f"quantiles-{n}": (lambda n=n: quantiles(n)) for n in (19, 99)},
    "rules-40": lambda: properties(30, 10, 100),
    "columns-200": lambda: properties(1, 1, 200),
    "categories-300": lambda: categories(300),
}


def measured(case: Case, limit: float, place: Path, *, processor: bool) -> dict[str, Any]:
    """Seconds and verdict of one fit."""
    case.table.to_csv(place / "table.csv", index=False)
    program = ["-c", QUIET] if processor else ["-m", "smilenn"]
    command = [sys.executable, *program, "fit", str(place / "table.csv"), *case.options]
    if case.spec:
        (place / "rules.toml").write_text(case.spec)
        command += ["--spec", str(place / "rules.toml")]
    command += ["--time-limit", f"{limit:g}", "--json", "--out", str(place / "model")]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    out = {"seconds": round(seconds, 1), "processor": round(cpu, 1), "exit_code": done.returncode}
    if not done.stdout.strip():
        return out | {"error": done.stderr[-400:]}
    told = json.loads(done.stdout)
    quality = {key: value for key, value in told["quality"].items() if key in ("accuracy", "r2", "pinball_loss")}
    return out | {key: told[key] for key in ("status", "steps", "note")} | quality


def main() -> None:
    """A line of JSON for every case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds")
    parser.add_argument("--processor", action="store_true", help="count the processor's seconds")
    options = parser.parse_args()
    for name in options.cases:
        with tempfile.TemporaryDirectory(prefix="limited-") as place:
            load = round(os.getloadavg()[0], 1)
            found = measured(CASES[name](), options.time_limit, Path(place), processor=options.processor)
            print(json.dumps({"case": name, "limit": options.time_limit, "load": load, **found}), flush=True)


if __name__ == "__main__":
    main()
