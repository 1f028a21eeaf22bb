"""Rows × 20 columns of Parquet scored on a local cluster: seconds, memory of every worker, bits against `predict`.

    python -m benchmarks.scoring --rows 10000000 --workers 2 --kill

Memory is the peak of the resident set that the kernel noted for each worker process. With --kill the tables are scored
a second time, one worker is killed after a third of the parts, and every part is compared with that of the first time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import tempfile
import threading
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
    import resource

    found = score(job, part)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (job.folder / f".peak.{os.getpid()}").write_text(str(peak))
    return found


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--kill", action="store_true")
    options.add_argument("--place", type=Path, help="a folder on a disk with room for the tables")
    chosen = options.parse_args()
    place = Path(tempfile.mkdtemp(prefix="scoring-", dir=chosen.place))
    try:
        write_tables(place / "data", chosen.rows)
        model(place / "model")
        print(json.dumps(run(place, "out", chosen.rows, chosen.workers)), flush=True)
        if chosen.kill:
            print(json.dumps(killed(place, chosen.rows, chosen.workers)), flush=True)
    finally:
        shutil.rmtree(place)


def write_tables(folder: Path, rows: int) -> None:
    folder.mkdir()
    for start in range(0, rows, FILE_ROWS):
        frame = table(min(FILE_ROWS, rows - start), 1000 + start // FILE_ROWS)
        frame.to_parquet(folder / f"{start // FILE_ROWS:04d}.parquet", row_group_size=GROUP_ROWS, index=False)


def run(place: Path, out: str, rows: int, workers: int) -> dict[str, object]:
    """Score all tables; what it took, and how many rows have the bits of `predict`."""
    tables = tuple(sorted((place / "data").glob("*.parquet")))
    request = Request(place / "model", tables, place / out, cluster=f"local:{workers}")
    finish, peaks = scoring._finish, dict[str, int]()

    def finished(folder, *rest):
        peaks.update({path.name: int(path.read_text()) for path in folder.glob(".peak.*")})
        finish(folder, *rest)

    scoring.score, scoring._finish = measured, finished
    begun = time.perf_counter()
    try:
        assert scoring.run(request, checked(request), quiet=True, json=False) == 0
    finally:
        scoring.score, scoring._finish = score, finish
    seconds = time.perf_counter() - begun
    return {
        "rows": rows,
        "columns": COLUMNS,
        "workers": workers,
        "seconds": round(seconds, 1),
        "rows_per_second": round(rows / seconds),
        "peak_mib": [round(peak / 2**20) for peak in peaks.values()],
        "rows_compared": compared(place, out),
    }


def killed(place: Path, rows: int, workers: int) -> dict[str, object]:
    """The same again, with a worker killed in the middle; how many parts are the same, cell by cell."""
    record = json.loads((place / "out" / "_predictions.json").read_text())
    names = [part["file"] for part in record["parts"]]
    victims: list[int] = []
    watcher = threading.Thread(target=kill_one, args=(place / ".again.parts", len(names) // 3, victims), daemon=True)
    watcher.start()
    found = run(place, "again", rows, workers)
    same = sum(pd.read_parquet(place / "out" / n).equals(pd.read_parquet(place / "again" / n)) for n in names)
    return found | {"workers_killed": len(victims), "parts": len(names), "parts_the_same": same}


def kill_one(folder: Path, parts: int, victims: list[int]) -> None:
    """Once so many parts are written, end the process that wrote the first of them."""
    while len(list(folder.glob("part-*.parquet"))) < max(1, parts):
        time.sleep(0.2)
    victim = int(min(folder.glob(".peak.*")).name.rpartition(".")[2])
    os.kill(victim, signal.SIGKILL)
    victims.append(victim)


def compared(place: Path, out: str) -> int:
    """Rows whose probability and label have the bits that `predict` gives here."""
    fitted, seen = load(place / "model"), 0
    assert isinstance(fitted, SmileClassifier)
    record = json.loads((place / out / "_predictions.json").read_text())
    parts, most = COMPARED
    for part in record["parts"][:: max(1, len(record["parts"]) // parts)]:
        rows = slice(part["first_row"], part["first_row"] + min(part["rows"], most))
        frame = pd.read_parquet(part["table"]).iloc[rows].reset_index(drop=True)
        found = pd.read_parquet(place / out / part["file"]).head(most)
        assert np.array_equal(found["probability"], fitted.predict_proba(frame)[:, 1])
        assert np.array_equal(found["prediction"], fitted.predict(frame))
        seen += len(frame)
    return seen


if __name__ == "__main__":
    main()
