"""``smile bench``: what a guarantee costs in training and in predicting, in one run; ``proof``: provers side by side.

Times as tables of ratios, or as JSON lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

import typer

from smilenn.cli.options import SUBJECTS, check_choice
from smilenn.errors import SmileError
from smilenn.experiments.proof_cases import CASES, JOBS, LARGE, SCALING, USUAL, Case, Job


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    subject: str = "all"
    case: tuple[str, ...] = ()
    job: tuple[str, ...] = ()
    peer: tuple[str, ...] = ()
    seeds: int = 3
    limit: float = 20.0
    plot: Path | None = None
    data_dir: Path | None = None


def run(request: Request, *, json: bool) -> int:
    """Measure and print; the exit code is 0 whatever the ratios are."""
    subject = request.subject
    check_choice(subject, SUBJECTS, "benchmark")
    for name in request.job:
        check_choice(name, JOBS, "job")
    if subject == "proof":
        return proof(request, json)
    if request.case or request.job or request.peer or request.plot is not None:
        raise SmileError("--case, --job, --peer and --plot belong to smile bench proof; leave them out.")
    if subject in ("all", "train"):
        training(request.seeds, request.data_dir, json)
    if subject in ("all", "predict"):
        prediction(json)
    return 0


def proof(request: Request, json: bool) -> int:
    """Provers side by side on trained networks; a line for each as it ends, then a table of means."""
    chosen, jobs = chosen_cases(request), chosen_jobs(request)
    from smilenn.experiments.proofs import draw, line, records

    rows = []
    for entry in records(chosen, seeds=request.seeds, limit=request.limit, against=request.peer, jobs=jobs):
        rows.append(entry)
        if json:
            typer.echo(line(entry))
        else:
            typer.echo(f"{entry['case']} seed {entry['seed']} {entry['peer']}: {entry['ratio']:.1f}", err=True)
    if not json:
        print_means(rows)
    if request.plot is not None:
        draw(rows, request.plot)
    return 0


def chosen_cases(request: Request) -> list[Case]:
    """The cases that are named, or those that a table or a plot is made of."""
    known = {case.name: case for case in (*CASES, *SCALING, *LARGE)}
    for name in request.case:
        check_choice(name, tuple(known), "case")
    return [known[name] for name in request.case] or list(CASES if request.plot is None else SCALING)


def chosen_jobs(request: Request) -> list[Job]:
    """The jobs that are named, or the usual ones; a plot shows one of them."""
    named: list[Job] = [name for name in JOBS if name in request.job]
    if request.plot is None:
        return named or list(USUAL)
    if not request.plot.absolute().parent.is_dir():
        raise SmileError(f"There is no folder {str(request.plot.absolute().parent)!r} for the plot; make it first.")
    if named and "prove" not in named:
        raise SmileError("The plot shows the job prove; leave --job out, or add --job prove.")
    return named or ["prove"]


def print_means(rows: list[dict[str, Any]]) -> None:
    """A line for each case and peer."""
    from smilenn.experiments.proofs import summary

    heads = ("ours s", "peer s", "ratio", "least", "nodes")
    typer.echo(f"{'case':26s} {'peer':16s} " + " ".join(f"{head:>9s}" for head in heads) + "  finished")
    for s in summary(rows):
        values = (s["ours_s"], s["peer_s"], s["ratio"], s["least"], s["nodes"])
        done = f"{s['ours_done']}/{s['seeds']} against {s['peer_done']}/{s['seeds']}"
        typer.echo(f"{s['case']:26s} {s['peer']:16s} " + " ".join(f"{v:9.4g}" for v in values) + f"  {done}")


def training(seeds: int, data_dir: Path | None, json: bool) -> int:
    """Seconds of a fit with its guarantee and of plain training, and their ratio, for each recipe."""
    from smilenn.experiments import overhead

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


def prediction(json: bool) -> int:
    """Seconds for 1,000 images and their ratios."""
    from smilenn.experiments.prediction import measure, ratios

    seconds = measure()
    parts = (("seconds for 1,000 images", seconds), ("ratio", ratios(seconds)))
    if json:
        typer.echo(dumps({"seconds": seconds, "ratios": parts[1][1]}))
        return 0
    for title, values in parts:
        typer.echo(f"{title}:")
        for name, value in values.items():
            typer.echo(f"  {name:32s} {value:9.4f}")
    return 0
