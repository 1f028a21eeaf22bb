"""How long `recourse` takes, and whether what it promises holds.

    python -m benchmarks.recourse MODEL [--applicants 10000] [--at-least 60] [--change income:up --change debt:down]

Applicants are drawn from the model's domain. Each answer is verified by prediction, at the change and at 20 larger
changes of the same kind. Times are of the calls alone, verification not counted: processor time, which a machine shared
with others lengthens less, and the time on the wall.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import smilenn

LARGER = 20


def further(model: Any, found: Any, changes: dict[str, str], rng: np.random.Generator) -> pd.DataFrame:
    """The changed row, and rows with every changed feature there or beyond, inside the domain."""
    rows = pd.concat([found.row] * (LARGER + 1), ignore_index=True)
    for name, way in changes.items():
        feature = model.domain_.feature(name)
        start, end = float(found.row[name].iloc[0]), feature.hi if way == "up" else feature.lo
        values = start + np.array([0.0, 1.0, *rng.uniform(0, 1, LARGER - 1)]) * (end - start)
        rows[name] = np.rint(values).astype(int) if feature.kind == "integer" else values
    return rows


def main() -> None:
    """Ask for every applicant, print one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--applicants", type=int, default=10_000)
    parser.add_argument("--at-least", type=float, default=60.0)
    parser.add_argument("--change", action="append")
    options = parser.parse_args()
    model, rng = smilenn.load(options.model), np.random.default_rng(0)
    changes = dict(entry.split(":") for entry in options.change or ["income:up", "debt:down"])
    people = model.domain_.decode(model.domain_.sample(options.applicants, rng))
    wall, cpu = np.zeros(len(people)), np.zeros(len(people))
    counts = {"already": 0, "reached": 0, "out of reach": 0, "false": 0}
    tried: list[pd.DataFrame] = []
    for k in range(len(people)):
        row = people.iloc[[k]]
        begun, computed = time.perf_counter(), time.process_time()
        found = model.recourse(row, at_least=options.at_least, change=changes)
        wall[k], cpu[k] = time.perf_counter() - begun, time.process_time() - computed
        kind = "out of reach" if not found.reached else "reached" if found.change else "already"
        counts[kind] += 1
        if kind == "reached":
            tried.append(further(model, found, changes, rng))
    if tried:
        reaches = model.predict(pd.concat(tried, ignore_index=True)) >= options.at_least
        counts["false"] = int((~reaches.reshape(len(tried), LARGER + 1).all(axis=1)).sum())
    print(json.dumps({"applicants": len(people)} | counts | {"wall": told(wall), "processor": told(cpu)}))


def told(seconds: np.ndarray) -> dict[str, float]:
    """Milliseconds of half of the calls and of 99 %, and the share within 20 ms."""
    half, most = np.round(np.percentile(seconds * 1000, [50, 99]), 1).tolist()
    return {"p50_ms": half, "p99_ms": most, "within_20_ms": round(float((seconds < 0.02).mean()), 4)}


if __name__ == "__main__":
    main()
