"""`smile fit` on a Parquet file that grows: how long it takes, and the peak of its memory.

    python -m benchmarks.large [--rows 5000000] [--place FOLDER] [--time-limit 60]

Makes a table of 20 columns, fits a model in a process of its own and prints what that process held at most. Of a file
with more than a million rows a part is read, and what is held does not grow with the file. Seconds are those of a
clock, from the start of the process to its end, and those of the processor.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.scoring import GROUP_ROWS, table

PIECE = 1_000_000


def write(path: Path, rows: int) -> None:
    """A table with a target, a piece at a time."""
    import pyarrow
    from pyarrow import parquet

    writer = None
    for start in range(0, rows, PIECE):
        frame = table(min(PIECE, rows - start), start // PIECE)
        rng = np.random.default_rng([start, 1])  # of its own: the columns begin with seed 0 too
        frame["y"] = frame["x0"] + frame["x1"] * frame["x2"] + 0.1 * frame["n"] + rng.normal(0, 0.5, len(frame))
        piece = pyarrow.Table.from_pandas(frame, preserve_index=False)
        writer = parquet.ParquetWriter(path, piece.schema) if writer is None else writer
        writer.write_table(piece, row_group_size=GROUP_ROWS)
    assert writer is not None
    writer.close()


def main() -> None:
    """Write, fit, print a line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--place", type=Path)
    parser.add_argument("--time-limit", type=int, default=60, help="seconds, 0 for no limit")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="large-", dir=options.place))
    try:
        write(place / "large.parquet", options.rows)
        command = [sys.executable, "-m", "smilenn", "fit", str(place / "large.parquet"), "--target", "y"]
        command += ["--increasing", "x0", "--json", "--out", str(place / "model")]
        command += ["--time-limit", str(options.time_limit)] if options.time_limit else []
        begun = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begun
        print(done.stderr[-400:], file=sys.stderr)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = json.loads(done.stdout)
        size = (place / "large.parquet").stat().st_size / 2**20
        found = {"rows": options.rows, "file_mib": round(size), "exit_code": done.returncode}
        found |= {key: told[key] for key in ("status", "quality", "steps")}
        took = {"seconds": round(seconds, 1), "processor": round(used.ru_utime + used.ru_stime, 1)}
        print(json.dumps(found | took | {"peak_mib": round(used.ru_maxrss / 1024)}))
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
