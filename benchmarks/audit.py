"""Brackets of `smilenn.audit` on given networks, with CPU seconds on one core.

    python -m benchmarks.audit FOLDER [NAME …] --limit 10

FOLDER holds NAME.onnx files and domains.json: for every name `lo`, `hi` and `protected`, the input whose two ends are
compared while the others are equal and continuous, or whole numbers with --whole. Each sign is searched for --limit
seconds by the clock, or of the processor with --cpu.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time

from benchmarks._cpu_clock import use_cpu_seconds
from smilenn import Bracket, Domain, Fair
from smilenn.auditing.audit import Audit, audit
from smilenn.certify import check_deep
from smilenn.certify.reference import deep

HEAD = "| network | found | real | gap | computed | leaves | search s | bytes | check s | reference s |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--cpu", action="store_true", help="the limit is one of CPU seconds")
    parser.add_argument("--no-reference", action="store_true")
    parser.add_argument("--whole", action="store_true", help="inputs are whole numbers")
    options = parser.parse_args()
    if options.cpu:
        use_cpu_seconds()
    domains = json.loads((options.folder / "domains.json").read_text())
    print(HEAD)
    print("|---" * (HEAD.count("|") - 1) + "|")
    for name in options.names or domains:
        entry = domains[name]
        with tempfile.TemporaryDirectory() as place:
            measure(options, name, entry, Path(place) / "audit")


def measure(options: argparse.Namespace, name: str, entry: dict, out: Path) -> None:
    """One network, both signs: the seconds are those of both together."""
    protected = f"x{entry['protected']}"
    ends = (entry["lo"][entry["protected"]], entry["hi"][entry["protected"]])
    domain = Domain.box(entry["lo"], entry["hi"])
    if options.whole:
        domain = Domain(tuple(replace(feature, kind="integer") for feature in domain.features))
    claim, start = Bracket(Fair([protected], 0)), process_time()
    path, limit = options.folder / f"{name}.onnx", 2 * options.limit
    result: Audit = audit(path, claim, domain, values={protected: ends}, time_limit=limit, out=out)
    seconds, fast = process_time() - start, timed(check_deep, out)
    slow = float("nan") if options.no_reference else timed(deep, out)
    for row in result.rows:
        gap = float((row.real - row.found) / abs(row.found)) if row.found else float("nan")
        print(
            f"| {name} {row.row[-14:]} | {float(row.found):.6g} | {float(row.real):.6g} | {gap:.1e} "
            f"| {float(row.proved):.6g} | {row.leaves} | {seconds:.1f} | {result.size} | {fast:.2f} | {slow:.1f} |",
            flush=True,
        )


def timed(checker, folder: Path) -> float:
    """CPU seconds of a check, which must succeed."""
    start = process_time()
    report = checker.check_folder(folder)
    assert report.rows, report.reason
    return process_time() - start


if __name__ == "__main__":
    main()
