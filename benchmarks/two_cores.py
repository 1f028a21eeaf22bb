"""What the defaults of ten classes take on two cores without a GPU, from reading the images to an accepted certificate.

    python -m benchmarks.two_cores --data DATA --seeds 0 1 2 [--models DIR]
    python -m benchmarks.two_cores --quick          8 × 8 digits, one seed, a minute

Each network has a process of its own, so that nothing is compiled or read in advance. It reads the images, fits with
the default on all 60,000 training images, which ends with the certificate and its check, saves the model, loads it and
judges what it has loaded on all test images. Then the reference checker reads the folder. With `--models` the folders
stay, as robustness-MODEL-δ-SEED, for `benchmarks.attack_robust`. A line of JSON for each network is printed and added
to `--out`:

    clock           seconds from the start of the process to the accepted certificate; the aim is 180
    cpu             CPU seconds of the process up to there, and of what it started
    epochs, trained epochs, and seconds up to the end of the last
    load            of the machine before and after, the mean of a minute; near 0 and 2 where nothing else runs
    judged          seconds for saving, loading and judging
    …               clean and certified accuracy, the least of a class, status
    reference       what the reference checker says, and its seconds by the clock; not part of `clock`
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import torch

from smilenn import load
from smilenn.certify.reference.check import check_folder
from smilenn.estimators.classifier import SmileClassifier
from smilenn.experiments import ten_classes
from smilenn.experiments.cells import Row, append, machine
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Options
from smilenn.progress import Progress

NETWORKS = ("ten-distances:0.3", "ten-contractions:0.3")
THREADS = 2


def fitted(
    network: str, seed: int, options: Options, begun: float, out: Path | None, models: Path | None = None
) -> None:
    """One network in this process, which began at this time; prints its line. `models` keeps its folder."""
    torch.set_num_threads(THREADS)
    before = os.getloadavg()[0]
    model, text = network.split(":")
    delta, epochs, trained = float(text), 0, 0.0

    def told(progress: Progress) -> None:
        nonlocal epochs, trained
        if progress.phase == "train":
            epochs, trained = progress.step, time.time() - begun

    (x, y), test = ten_classes.images(options.quick, options)
    fresh = ten_classes.fresh(model, delta, seed, options.quick, "cpu")
    fresh.fit(x, y, callback=told)
    clock, cpu = time.time() - begun, sum(os.times()[:4])
    row: Row = {"model": model, "delta": delta, "seed": seed, "clock": round(clock, 1), "cpu": round(cpu, 1)}
    row |= {"epochs": epochs, "trained": round(trained, 1), "load": [before, os.getloadavg()[0]]}
    with tempfile.TemporaryDirectory() as temporary:
        folder, name = models or Path(temporary), ten_classes.name_of(model, delta, seed)
        store(fresh, folder, name)
        again = load(folder / name)
        assert isinstance(again, SmileClassifier)
        row |= ten_classes.judged(again, model, again.outputs(test[0]), test[1])
        row |= {"judged": round(time.time() - begun - clock, 1), "numba": find_spec("numba") is not None}
        row |= referred(folder / name)
    row |= {"threads": THREADS, "machine": machine()}
    append(out, row)
    print(json.dumps(row), flush=True)


def referred(folder: Path) -> Row:
    """What the reference checker says of a model folder, and how long it takes."""
    begun = time.perf_counter()
    status = check_folder(folder).status
    return {"reference": status, "reference_seconds": round(time.perf_counter() - begun, 1)}


def main() -> int:
    """Fit the networks one after the other; the exit code says whether all of them came to their line."""
    parser = argparse.ArgumentParser(description="Ten classes on two cores.")
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), help="MODEL:δ")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--models", type=Path, help="keep the model folders here")
    asked = parser.parse_args()
    options, failed = Options(asked.quick, data_dir=asked.data, device="cpu"), 0
    context = multiprocessing.get_context("spawn")
    for seed in asked.seeds:
        for network in asked.networks:
            job = context.Process(target=fitted, args=(network, seed, options, time.time(), asked.out, asked.models))
            job.start()
            job.join()
            failed += bool(job.exitcode)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
