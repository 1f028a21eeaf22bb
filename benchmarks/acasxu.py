"""The monotonicity query of VNN-COMP's relational category on all ACAS-Xu networks: CPU seconds until it is decided.

    python -m benchmarks.acasxu FOLDER

FOLDER holds the networks as ACASXU_*_batch_2000.onnx.gz and the query monotonic.vnnlib. Counterexamples are replayed in
exact arithmetic, in float32 from left to right and in onnxruntime.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections import Counter
from pathlib import Path
from time import process_time

from smilenn.auditing.audit import audit_vnnlib


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    seconds, found = [], Counter()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "net.onnx"
        for packed in sorted(folder.glob("ACASXU_*_batch_2000.onnx.gz")):
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            start = process_time()
            result = audit_vnnlib(path, folder / "monotonic.vnnlib", time_limit=10, decide=True)
            seconds.append(process_time() - start)
            (row,) = result.rows
            replayed = result.status == "violated" and min(row.replayed.values()) > 0 and "onnxruntime" in row.replayed
            found[f"{result.status}{', replayed' if replayed else ''}"] += 1
    print(dict(found), f"{max(seconds):.2f} s at most, {sum(seconds):.1f} s in all")


if __name__ == "__main__":
    main()
