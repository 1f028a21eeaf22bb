"""Cells of ten classes (`smile reproduce robustness`) on a GPU that never waits: one trains, those before are checked.

    python -m benchmarks.ten_classes --out DIR --data DATA --device cuda ten-distances:0.1:1 ten-contractions:0.3:0
    python -m benchmarks.ten_classes --quick        8 × 8 digits on a processor, a minute

A cell is MODEL:δ:SEED, and cells train in the order given. Each is a process of its own, which loads the images and
waits for its turn on the GPU. It gives the turn on when its last epochs begin, and then settles, certifies and judges
the network, saves it, compares what it loads again with it (bit for bit on a processor), and asks both checkers.
`--beside` names cells of CROWN-IBP that train on processor cores meanwhile. A cell that would not end within
`--seconds` is not begun.

    DIR/margins.jsonl       what margins say of each network as soon as it is trained, before its certificate
    DIR/robustness.jsonl    a line for each finished cell, as `smile reproduce` writes it
    DIR/checks.jsonl        what both checkers say of each network, and their seconds
    DIR/models/             the model folders
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from dataclasses import dataclass
from multiprocessing.synchronize import Lock, Semaphore
from pathlib import Path

import numpy as np
import torch

from smilenn import load
from smilenn.certify.process import check_apart
from smilenn.certify.reference.check import check_folder
from smilenn.estimators.classifier import SmileClassifier
from smilenn.experiments import ten_classes
from smilenn.experiments.cells import Cell, Row, append, key_of, machine, read_cells
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Options
from smilenn.progress import Progress

COMPARED = 500  # images that the saved network is asked about
NEAR = 1e-9  # between outputs of a processor and of a GPU, both in float64
EARLY = 3  # epochs before the end: the next cell begins to prepare its rows
NEEDED = {"ten-distances": 640.0, "ten-contractions": 180.0, ten_classes.LOCAL: 240.0}  # seconds of a cell to its end


@dataclass(frozen=True)
class Shared:
    """What the processes share: the turn on the GPU, who may load images, the results file, and when to end."""

    gpu: Semaphore
    loading: Semaphore
    file: Lock
    until: float


class Turn:
    """A cell's turn on the GPU, taken and given on once."""

    def __init__(self, shared: Shared) -> None:
        self.shared, self.waits, self.holds = shared, True, False

    def take(self, needed: float) -> bool:
        """Wait for the turn and let the next cell get ready; whether there is time for this one."""
        self.shared.gpu.acquire()
        self.holds = True
        self.ready()
        return time.time() + needed <= self.shared.until

    def ready(self) -> None:
        """Let the next cell load its images."""
        if self.waits:
            self.waits = False
            self.shared.loading.release()

    def give(self) -> None:
        """Give the GPU to the next cell."""
        if self.holds:
            self.holds = False
            self.shared.gpu.release()


def cell_of(text: str, quick: bool) -> Cell:
    """MODEL:δ:SEED as a cell."""
    model, delta, seed = text.split(":")
    return {"model": model, "delta": float(delta), "seed": int(seed), "quick": quick}


def run(cell: Cell, options: Options, shared: Shared, out: Path, threads: int, beside: bool) -> None:
    """A cell in a process of its own; whatever happens, the next one gets its turn."""
    torch.set_num_threads(threads)
    turn = Turn(shared)
    if beside:
        turn.waits = False
        os.nice(5)
    try:
        if cell["model"] == ten_classes.LOCAL:
            verified_one_by_one(cell, options, None if beside else turn, shared, out)
        else:
            train_and_judge(cell, options, turn, shared, out)
    finally:
        turn.give()
        turn.ready()


def train_and_judge(cell: Cell, options: Options, turn: Turn, shared: Shared, out: Path) -> None:
    """One cell from its images to what both checkers say; the results are written as they come."""
    quick, model, delta, seed = (cell[name] for name in ("quick", "model", "delta", "seed"))
    (x, y), test = ten_classes.images(quick, options)
    fresh, name = ten_classes.fresh(model, delta, seed, quick, options.device), ten_classes.name_of(model, delta, seed)
    if not turn.take(NEEDED[model]):
        say(f"{name}: no time left")
        return
    begun, trained = time.perf_counter(), 0.0

    def told(progress: Progress) -> None:
        nonlocal trained
        if progress.phase == "train":
            trained = time.perf_counter() - begun
            if progress.step >= progress.steps - EARLY:
                turn.give()

    say(f"{name}: begins")
    limit, fresh.certify_limit = fresh.certify_limit, 0.0
    fresh.fit(x, y, callback=told)
    logits = fresh.outputs(test[0])
    early = by_margin(logits, test[1], max(ten_classes.TRAINED[model][1][delta]))
    with shared.file:
        append(out / "margins.jsonl", {"model": name, "trained_seconds": trained, **early})
    say(f"{name}: trained {trained:.0f} s, by margins {json.dumps(early)}")
    fresh.certify_limit = limit
    fresh.certify()
    seconds = time.perf_counter() - begun
    say(f"{name}: certified after {seconds:.0f} s: {fresh.verdict_.sentence()}")
    row: Row = {"model": model, "seed": seed, "delta": delta, "data": "digits" if quick else "mnist"}
    row |= {"device": options.device, "seconds": seconds, "trained_seconds": trained}
    written(cell, [row | ten_classes.judged(fresh, model, logits, test[1])], shared, out)
    assert options.models is not None
    store(fresh, options.models, name)
    again = load(options.models / name)
    assert isinstance(again, SmileClassifier) and again.verdict_.status == fresh.verdict_.status
    # these certificates hold for sums in any order, and a GPU adds in an order of its own
    apart = np.abs(again.outputs(test[0][:COMPARED]) - logits[:COMPARED]).max()
    assert apart == 0 if options.device == "cpu" else apart <= NEAR, f"{name}: {apart} between fitted and loaded"
    checked(options.models / name, shared, out)


def by_margin(logits: np.ndarray, y: np.ndarray, delta: float) -> Row:
    """Clean accuracy and, at multiples of δ, the share whose lead is more than that multiple of ε = 1.

    It is what a certificate will say of a distance net, and no more than what it will say of contractions.
    """
    two = np.sort(logits, axis=1)[:, -2:]
    right, lead = logits.argmax(axis=1) == y, two[:, 1] - two[:, 0]
    shares = {f"{part * delta:.4g}": float((right & (lead > part)).mean()) for part in (1 / 3, 2 / 3, 1.0, 2.0, 3.0)}
    return {"clean": float(right.mean()), "certified_by_margin": shares}


def written(cell: Cell, rows: list[Row], shared: Shared, out: Path) -> None:
    """The line of a finished cell."""
    with shared.file:
        append(out / "robustness.jsonl", {"cell": cell, "rows": rows, "machine": machine()})
    say(json.dumps(rows[0]))


def checked(folder: Path, shared: Shared, out: Path) -> None:
    """Both checkers on a model folder: status, CPU seconds, and the range of the bounds they find."""
    for name, check in (("fast", check_apart), ("reference", check_folder)):
        begun, before = time.perf_counter(), sum(os.times()[:4])
        report = check(folder)
        bounds = [float(row.bound) for claim in report.claims for row in claim.rows]
        found = {
            "model": folder.name,
            "checker": name,
            "status": report.status,
            "holds": bool(bounds) and all(row.holds for claim in report.claims for row in claim.rows),
            "bounds": [min(bounds), max(bounds)] if bounds else [],
            "seconds": time.perf_counter() - begun,
            "cpu_seconds": sum(os.times()[:4]) - before,
        }
        with shared.file:
            append(out / "checks.jsonl", found)
        say(json.dumps(found))


def verified_one_by_one(cell: Cell, options: Options, turn: Turn | None, shared: Shared, out: Path) -> None:
    """A cell of CROWN-IBP; beside the others it needs no turn."""
    if turn is not None and not turn.take(NEEDED[ten_classes.LOCAL]):
        say(f"{key_of(cell)}: no time left")
        return
    say(f"{key_of(cell)}: begins")
    written(cell, ten_classes.compute(**cell, options=options), shared, out)


def say(text: str) -> None:
    """A line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def main() -> int:
    """Run the cells; the exit code says whether all of them are finished."""
    parser = argparse.ArgumentParser(description="Cells of ten classes, one GPU never waiting.")
    parser.add_argument("cells", nargs="*", default=["ten-distances:0.1:0", "ten-contractions:0.3:0"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--beside", nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=Path("results/ten-classes"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=86400.0)
    parser.add_argument("--threads", type=int, default=4)
    asked = parser.parse_args()
    quick = asked.quick
    asked.out.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    shared = Shared(context.Semaphore(1), context.Semaphore(1), context.Lock(), time.time() + asked.seconds)
    options = Options(quick, data_dir=asked.data, device=asked.device, models=asked.out / "models").resolved()
    done, jobs = read_cells(asked.out / "robustness.jsonl"), []

    def start(text: str, where: Options, beside: bool) -> None:
        cell = cell_of(text, quick)
        if key_of(cell) in done:
            return
        if not beside:
            shared.loading.acquire()  # until the cell before has its turn
        arguments = (cell, where, shared, asked.out, asked.threads, beside)
        jobs.append(context.Process(target=run, args=arguments, name=text))
        jobs[-1].start()

    for text in asked.beside:
        start(text, Options(quick, data_dir=asked.data), True)
    for text in asked.cells:
        start(text, options, False)
    for job in jobs:
        job.join()
    failed = [job.name for job in jobs if job.exitcode]
    say(f"{len(jobs) - len(failed)} cells, {len(failed)} failed {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
