"""Rows × 20 columns of Parquet scored on a local cluster: seconds, memory of every worker, bits against `predict`.

    python -m benchmarks.scoring --rows 10000000 --workers 2

Memory is the peak of the resident set that the kernel noted for each worker process.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from smilenn import Config, SmileClassifier, load
from smilenn.cli import scoring
from smilenn.cli.parts import score
from smilenn.cli.score_request import Request, checked

COLUMNS = 20
FILE_ROWS, GROUP_ROWS = 1_000_000, 100_000
COMPARED = 3, 10_000  # parts, and rows of each, that are predicted again, here


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = {f"x{i}": rng.normal(size=rows) for i in range(COLUMNS - 2)}
    return pd.DataFrame(frame | {"n": rng.integers(0, 30, rows), "g": rng.choice(["a", "b", "c"], rows)})


def model(folder: Path) -> None:
    frame = table(2_000, 1)
    labels = (frame["x0"] + frame["x1"] * frame["x2"] + 0.1 * frame["n"] > 1.5).astype(int)
    SmileClassifier(increasing=["x0"], config=Config(epochs=10), random_state=0).fit(frame, labels).save(folder)


def measured(job, part):
    """`score`, with the worker's process and its peak."""
    import os
    import resource

    found = score(job, part)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (job.folder / f".peak.{os.getpid()}").write_text(str(peak))
    return found


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=2)
    chosen = options.parse_args()
    place = Path(tempfile.mkdtemp(prefix="scoring-"))
    try:
        print(json.dumps(run(place, chosen.rows, chosen.workers)))
    finally:
        shutil.rmtree(place)


def run(place: Path, rows: int, workers: int) -> dict[str, object]:
    (place / "data").mkdir()
    for start in range(0, rows, FILE_ROWS):
        frame = table(min(FILE_ROWS, rows - start), 1000 + start // FILE_ROWS)
        frame.to_parquet(place / "data" / f"{start // FILE_ROWS:04d}.parquet", row_group_size=GROUP_ROWS, index=False)
    model(place / "model")
    tables = tuple(sorted((place / "data").glob("*.parquet")))
    request = Request(place / "model", tables, place / "out", cluster=f"local:{workers}")
    scoring.score, finish, peaks = measured, scoring._finish, {}

    def finished(folder, *rest):
        peaks.update({path.name: int(path.read_text()) for path in folder.glob(".peak.*")})
        finish(folder, *rest)

    scoring._finish = finished
    begun = time.perf_counter()
    assert scoring.run(request, checked(request), quiet=True, json=False) == 0
    seconds = time.perf_counter() - begun
    return {
        "rows": rows,
        "columns": COLUMNS,
        "workers": workers,
        "seconds": round(seconds, 1),
        "rows_per_second": round(rows / seconds),
        "peak_mib": [round(peak / 2**20) for peak in peaks.values()],
        "rows_compared": compared(place, tables),
    }


def compared(place: Path, tables: tuple[Path, ...]) -> int:
    """Rows whose probability and label have the bits that `predict` gives here."""
    fitted, seen = load(place / "model"), 0
    assert isinstance(fitted, SmileClassifier)
    record = json.loads((place / "out" / "_predictions.json").read_text())
    parts, most = COMPARED
    for part in record["parts"][:: max(1, len(record["parts"]) // parts)]:
        rows = slice(part["first_row"], part["first_row"] + min(part["rows"], most))
        frame = pd.read_parquet(part["table"]).iloc[rows].reset_index(drop=True)
        found = pd.read_parquet(place / "out" / part["file"]).head(most)
        assert np.array_equal(found["probability"], fitted.predict_proba(frame)[:, 1])
        assert np.array_equal(found["prediction"], fitted.predict(frame))
        seen += len(frame)
    return seen


if __name__ == "__main__":
    main()
