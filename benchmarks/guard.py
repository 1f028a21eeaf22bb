"""`smilenn.guard` on given networks: certified, and how much of each is left.

    python -m benchmarks.guard FOLDER [NAME …] --eps 0.5 --rows 10000

FOLDER is as in benchmarks/audit.py. All inputs are whole numbers; the protected one takes all of its values. Rows are
drawn uniformly; the original is computed by onnxruntime in float32. Seconds are CPU seconds on one core.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.labels import whole_valued
from smilenn import Fair, Guard, guard
from smilenn.certify import check
from smilenn.certify.reference.check import check_folder

HEAD = "| network | fair rows | same label | same output | farthest move | guard s | check s | reference s |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--eps", type=float, default=0.5)
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    domains = json.loads((options.folder / "domains.json").read_text())
    print(HEAD)
    print("|---" * (HEAD.count("|") - 1) + "|")
    for name in options.names or domains:
        with tempfile.TemporaryDirectory() as place:
            measure(options, name, domains[name], Path(place) / "model")


def measure(options: argparse.Namespace, name: str, entry: dict, out: Path) -> None:
    """Guard one network and check its folder by both checkers."""
    domain = whole_valued(entry)
    rows = domain.decode(domain.sample(options.rows, np.random.default_rng(1)))
    start = process_time()
    rule = Fair([f"x{entry['protected']}"], options.eps)
    made: Guard = guard(options.folder / f"{name}.onnx", rule, domain, rows=rows, out=out)
    seconds, found = process_time() - start, made.agreement
    times = [timed(checker, out) for checker in (check.check_folder, check_folder)]
    sizes = "-".join(map(str, entry["sizes"][:-1]))
    print(
        f"| {name} {sizes} | {found.fair:.2%} | {found.same_label:.2%} | {found.unmoved:.2%} | {found.farthest:.3g} "
        f"| {seconds:.1f} | {times[0]:.2f} | {times[1]:.2f} |",
        flush=True,
    )


def timed(checker, folder: Path) -> float:
    """CPU seconds of a check, which must accept."""
    start = process_time()
    report = checker(folder)
    assert report.status == "certified", report
    return process_time() - start


if __name__ == "__main__":
    main()
