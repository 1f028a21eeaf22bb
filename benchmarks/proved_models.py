"""Small models of the acceptance list and of the guides, judged by check.py and by the proved checker.

    python -m benchmarks.proved_models                      trains them all, prints a table, a row a model
    python -m benchmarks.proved_models --only sine demo     those whose names contain one of these
    python -m benchmarks.proved_models FOLDER …             judges model folders that are there

Training is that of the experiments with few epochs or rows: what counts here is what kind of certificate a model ends
in. Seconds are those of the processor, the best of three runs; check.py's without the start of Python. The bound shown
is bound + margin of the row that comes nearest to its right side; "=" means that both have the same bounds and margins.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from trust.proved import number

from benchmarks import attack_models
from benchmarks.certificates import best_of
from smilenn.certify import check, verified
from smilenn.cli import demonstration
from smilenn.datasets.mnist import fetch_mnist
from smilenn.domain import Domain
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.estimators.regressor import SmileRegressor
from smilenn.experiments import fairness, robustness
from smilenn.experiments.recipe import store
from smilenn.experiments.study import Options
from smilenn.properties.library import Convex, Robust
from smilenn.train.config import Config

UNCOVERED = "not covered by the proof: "
QUICK = Config(pretrain_epochs=10, epochs=10)


@dataclass(frozen=True)
class Judged:
    """What one checker says of a folder: status, rules, (bound, margin, right side) a row, seconds."""

    status: str
    rules: str
    rows: list[tuple[Fraction, Fraction, Fraction]]
    seconds: float

    @property
    def bound(self) -> str:
        """bound + margin against its right side, of the row that comes nearest to it."""
        if not self.rows:
            return "–"
        bound, margin, right = max(self.rows, key=lambda row: sum(row[:2]) - row[2])
        return f"{float(bound + margin):.6g} ≤ {float(right):.6g}"


def by_python(folder: Path) -> Judged:
    """check.py, in this process."""
    seconds, report = best_of(lambda: check.check_folder(folder), 3)
    rows = [row for claim in report.claims for row in claim.rows]
    rules = ", ".join(dict.fromkeys(row.rule for row in rows))
    numbers = [(row.bound, row.margin, row.rhs) for row in rows]
    return Judged(report.status, f"{rules}; {report.profile}", numbers, seconds)


def by_proof(folder: Path) -> Judged:
    """The proved checker, a process of its own."""
    seconds, said = [], {}
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([str(verified.program()), "--json", str(folder)], capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        said = json.loads(done.stdout)
    rows = [row for claim in said["claims"] for row in claim["rows"]]
    status = said["reason"] if said["reason"].startswith(UNCOVERED) else said["status"]
    numbers = [(number(row["bound"]), number(row["margin"]), number(row["rhs"])) for row in rows]
    return Judged(status, ", ".join(dict.fromkeys(row["rule"] for row in rows)), numbers, min(seconds))


def line(folder: Path) -> str:
    """A row of the table."""
    known, own = by_python(folder), by_proof(folder)
    same = "=" if known.rows == own.rows else own.bound
    times = f"{known.seconds:.3g} | {own.seconds:.3g}"
    return f"| {folder.name} | {known.rules} | {known.status} | {own.status} | {known.bound} | {same} | {times} |"


# ---- models that are no part of the acceptance list -----------------------------------------------------------------


def guides(models: Path) -> list[tuple[str, Callable[[], object]]]:
    """Models of the guides and tutorials, by name."""
    options = Options(quick=True, models=models)
    return [
        ("demo", lambda: _demo(models / "demo")),
        ("diabetes-monotone", lambda: _table(models, "diabetes-monotone", "diabetes", increasing=["bmi", "bp"])),
        ("cancer-monotone", lambda: _table(models, "cancer-monotone", "cancer", increasing=["mean radius"])),
        ("diabetes-robust", lambda: _robust(models)),
        ("diabetes-convex", lambda: _table(models, "diabetes-convex", "diabetes", properties=[Convex(["bmi"])])),
        ("law-default", lambda: fairness.compute("default", "law", 0, True, 0.1, options=options)),
        ("crime-default", lambda: fairness.compute("default", "crime", 0, True, 0.1, options=options)),
        ("ten-digits", lambda: robustness.compute("ten-distances", 0, True, 0.1, options=options)),
        ("mnist-distances", lambda: _distances(models)),
    ]


def _demo(folder: Path) -> None:
    with contextlib.redirect_stdout(sys.stderr):
        demonstration.run(folder, quiet=True)


def _data(name: str) -> tuple[pd.DataFrame, pd.Series]:
    from sklearn.datasets import load_breast_cancer, load_diabetes

    read = {"diabetes": load_diabetes, "cancer": load_breast_cancer}[name]
    return read(as_frame=True, return_X_y=True)


def _table(models: Path, name: str, data: str, **options: Any) -> None:
    """The default of an estimator on a table of scikit-learn."""
    kind = SmileClassifier if data == "cancer" else SmileRegressor
    kind(random_state=0, config=QUICK, **options).fit(*_data(data)).save(models / name)


def _robust(models: Path) -> None:
    """Gap boxes without an encoder: a tree of the leaf rule under f64-aux."""
    frame, target = _data("diabetes")
    network = Network(encoder="none", hidden=4, embedding=2, backbone_sizes=(8,))
    model = SmileRegressor(properties=[Robust(0.01, 200.0)], network=network, config=QUICK, random_state=0)
    model.fit(frame[["bmi", "bp", "s5"]], target).save(models / "diabetes-robust")


def _distances(models: Path, rows: int = 1_000) -> None:
    """Zero or not on MNIST by a distance net, an epoch long."""
    data = fetch_mnist("train").zero_or_not()
    size = data.frame.shape[1]
    domain = Domain.box([0.0] * size, [1.0] * size, [f"p{i}" for i in range(size)])
    model = SmileClassifier(properties=[Robust(0.05, 0.2)], domain=domain, config=Config(epochs=1), random_state=0)
    store(model.fit(data.frame[:rows], np.asarray(data.target[:rows])), models, "mnist-distances")


def train(models: Path, only: Sequence[str]) -> None:
    """All models, or those whose names contain one of `only`."""
    chosen = [model for model in guides(models) if not only or any(text in model[0] for text in only)]
    with contextlib.redirect_stdout(sys.stderr):
        attack_models.train(models, only)
        for name, compute in chosen:
            start = time.process_time()
            compute()
            print(f"trained {name} in {time.process_time() - start:.0f} s", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="small models by check.py and by the proved checker")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--models", type=Path, help="keep the trained models here")
    chosen = parser.parse_args(arguments)
    if verified.program() is None:
        raise SystemExit("The proved checker is not built; run `make verified`.")
    with tempfile.TemporaryDirectory() as place:
        folders = chosen.folders
        if not folders:
            models = chosen.models or Path(place)
            train(models, chosen.only)
            folders = sorted(folder for folder in models.iterdir() if folder.is_dir())
        heads = (
            "model",
            "rules; profile",
            "check.py",
            "smilecheck",
            "bound",
            "smilecheck's",
            "check.py, s",
            "smilecheck, s",
        )
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for folder in folders:
            print(line(folder), flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
