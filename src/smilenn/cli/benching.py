"""``smile bench``: what a guarantee costs in training and in predicting, in one run; ``proof``: provers side by side.

Times as tables of ratios, or as JSON lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from pathlib import Path

import typer

from smilenn.cli.options import SUBJECTS, check_choice
from smilenn.errors import SmileError
from smilenn.experiments import overhead, prediction
from smilenn.experiments.proofs import CASES, JOBS, LARGE, SCALING, USUAL, Job, draw, line, records, summary

LONG = {"training": "train", "prediction": "predict"}  # what subjects were called once


def run(
    subject: str, *, case: Sequence[str], job: Sequence[str], peer: Sequence[str], seeds: int, limit: float,
    plot: Path | None, data_dir: Path | None, json: bool,
) -> int:  # fmt: skip
    """Measure and print; the exit code is 0 whatever the ratios are."""
    subject = LONG.get(subject, subject)
    check_choice(subject, SUBJECTS, "benchmark")
    for name in job:
        check_choice(name, JOBS, "job")
    if subject != "proof":
        if case or job or peer or plot is not None:
            raise SmileError("--case, --job, --peer and --plot belong to smile bench proof; leave them out.")
        if subject in ("all", "train"):
            training(seeds, data_dir, json)
        if subject in ("all", "predict"):
            _prediction(json)
        return 0
    known = {c.name: c for c in (*CASES, *SCALING, *LARGE)}
    for name in case:
        check_choice(name, tuple(known), "case")
    chosen = [known[name] for name in case] or list(SCALING if plot else CASES)
    jobs: Sequence[Job] = [name for name in JOBS if name in job] or (["prove"] if plot else list(USUAL))
    if plot is not None and not plot.absolute().parent.is_dir():
        raise SmileError(f"There is no folder {str(plot.absolute().parent)!r} for the plot; make it first.")
    if plot is not None and "prove" not in jobs:
        raise SmileError("The plot shows the job prove; leave --job out, or add --job prove.")
    rows = []
    for entry in records(chosen, seeds=seeds, limit=limit, against=peer, jobs=jobs):
        rows.append(entry)
        if json:
            typer.echo(line(entry))
        else:
            typer.echo(f"{entry['case']} seed {entry['seed']} {entry['peer']}: {entry['ratio']:.1f}", err=True)
    if not json:
        heads = ("ours s", "peer s", "ratio", "least", "nodes")
        typer.echo(f"{'case':26s} {'peer':16s} " + " ".join(f"{head:>9s}" for head in heads) + "  finished")
        for s in summary(rows):
            values = (s["ours_s"], s["peer_s"], s["ratio"], s["least"], s["nodes"])
            done = f"{s['ours_done']}/{s['seeds']} against {s['peer_done']}/{s['seeds']}"
            typer.echo(f"{s['case']:26s} {s['peer']:16s} " + " ".join(f"{v:9.4g}" for v in values) + f"  {done}")
    if plot is not None:
        draw(rows, plot)
    return 0


def training(seeds: int, data_dir: Path | None, json: bool) -> int:
    """Seconds of a fit with its guarantee and of plain training, and their ratio, for each recipe."""
    rows = []
    if not json:
        typer.echo(f"{'recipe':12s} {'seed':>4s} {'seconds':>8s} {'epochs':>6s} {'plain s':>8s} {'ratio':>6s}  verdict")
    for row in overhead.records(seeds, data_dir):
        rows.append(row)
        values = f"{row['seconds']:8.2f} {row['epochs']:6d} {row['plain']:8.2f} {row['ratio']:6.2f}"
        words = f"{row['recipe']:12s} {row['seed']:4d} {values}  {row['verdict'][:60]}"
        typer.echo(dumps(row) if json else words)
    for s in overhead.summary(rows) if not json else ():
        typer.echo(
            f"{s['recipe']:12s} mean {s['ratio']:.2f}, largest {s['largest']:.2f}, wanted at most {s['wanted']:g}"
        )
    return 0


def _prediction(json: bool) -> int:
    """Seconds for 1,000 images and their ratios."""
    seconds = prediction.measure()
    parts = (("seconds for 1,000 images", seconds), ("ratio", prediction.ratios(seconds)))
    if json:
        typer.echo(dumps({"seconds": seconds, "ratios": parts[1][1]}))
        return 0
    for title, values in parts:
        typer.echo(f"{title}:")
        for name, value in values.items():
            typer.echo(f"  {name:32s} {value:9.4f}")
    return 0
