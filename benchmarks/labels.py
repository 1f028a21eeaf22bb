"""`smilenn.audit_labels` on given networks: a changed label, and the certified share of the domain without one.

    python -m benchmarks.labels FOLDER [NAME …] --limit 10

FOLDER is as in benchmarks/audit.py. All inputs are whole numbers and the protected one takes all of its values, or its
two ends with --ends. The time limit is one by the clock, or of CPU seconds with --cpu. Seconds in the table are CPU
seconds on one core: until the pair was found and replayed, of the search for the share, of the check.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time

from benchmarks._cpu_clock import use_cpu_seconds
from smilenn import Domain, Feature
from smilenn.auditing.labels import audit_labels
from smilenn.certify import check_deep

HEAD = "| network | changed label s | settled | bytes | search s | check s |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--cpu", action="store_true", help="the limit is one of CPU seconds")
    parser.add_argument("--protected", type=int, help="another protected input")
    parser.add_argument("--ends", action="store_true", help="compare its two ends alone")
    options = parser.parse_args()
    if options.cpu:
        use_cpu_seconds()
    domains = json.loads((options.folder / "domains.json").read_text())
    print(HEAD)
    print("|---" * (HEAD.count("|") - 1) + "|")
    for name in options.names or domains:
        with tempfile.TemporaryDirectory() as place:
            measure(options, name, domains[name], Path(place) / "labels")


def whole_valued(entry: dict) -> Domain:
    """The domain of a network of the folder, all inputs whole numbers."""
    ends = zip(entry["lo"], entry["hi"], strict=True)
    return Domain(tuple(Feature(f"x{i}", "integer", lo, hi) for i, (lo, hi) in enumerate(ends)))


def measure(options: argparse.Namespace, name: str, entry: dict, out: Path) -> None:
    """One network: the pair alone first, then everything."""
    domain = whole_valued(entry)
    place = entry["protected"] if options.protected is None else options.protected
    path, protected = options.folder / f"{name}.onnx", f"x{place}"
    values = {protected: (entry["lo"][place], entry["hi"][place])} if options.ends else None
    start = process_time()
    pair = audit_labels(path, protected, domain, values=values, time_limit=0)
    first = process_time() - start
    start = process_time()
    found = audit_labels(path, protected, domain, values=values, time_limit=options.limit, out=out)
    seconds = process_time() - start
    for each in (pair, found):
        assert each.changed is None or "onnxruntime" in each.outputs
    start = process_time()
    report = check_deep.check_share(out)
    checked = process_time() - start
    assert report.settled == found.settled
    sizes = "-".join(map(str, entry["sizes"][:-1]))
    share, size = found.lines()[-1].split()[1], (out / "proofs.bin").stat().st_size
    label = f"{first:.2f}" if pair.changed is not None else "none"
    print(f"| {name} {sizes} | {label} | {share} % | {size:,} | {seconds:.1f} | {checked:.1f} |", flush=True)


if __name__ == "__main__":
    main()
