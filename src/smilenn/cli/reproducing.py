"""``smile reproduce``: the paper's experiments, resumable."""

from __future__ import annotations

import json as json_module
from pathlib import Path

import typer

from smilenn.cli.guard import INTERRUPTED
from smilenn.experiments.reproduce import STUDIES, reproduce, study
from smilenn.experiments.study import Options
from smilenn.progress import display


def run(
    experiment: str,
    out: Path,
    options: Options,
    *,
    jobs: int,
    only: tuple[str, ...],
    cluster: str | None,
    with_figures: bool,
    finished: bool,
    quiet: bool,
    json: bool = False,
) -> int:
    """Run one experiment or all, print the tables and name the files; as `json`, one object an experiment."""
    names = list(STUDIES) if experiment == "all" else [study(experiment).name]
    for name in names:
        try:
            with display("off" if quiet or json else "auto") as show:
                written = reproduce(
                    name,
                    out,
                    options,
                    jobs=jobs,
                    only=only,
                    cluster=cluster,
                    with_figures=with_figures,
                    finished=finished,
                    callback=show,
                )
        except KeyboardInterrupt:
            typer.echo(
                f"smile: interrupted; finished cells are kept in {out / name}.jsonl: the same command goes on.",
                err=True,
            )
            return INTERRUPTED
        if json:
            typer.echo(json_module.dumps({"experiment": name, "written": [str(place) for place in written]}))
            continue
        if not quiet:
            typer.echo(written[0].read_text(encoding="utf-8"))
        typer.echo("Written: " + ", ".join(str(place) for place in written))
    return 0
