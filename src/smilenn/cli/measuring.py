"""``smile bench`` and ``smile reproduce``: their options; what they do is in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smilenn.cli import options, paths
from smilenn.cli.options import DEVICES, EXPERIMENTS, JOBS, SUBJECTS, Json, Quiet, check_choice, choices


def bench(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help=f"{choices(SUBJECTS)}; all is training and predicting.")
    ] = "all",
    case: Annotated[
        list[str] | None, typer.Option(metavar="CASE", help="A case, such as fair-20x4; repeat.", show_default="all")
    ] = None,
    job: Annotated[
        list[str] | None, typer.Option(metavar="JOB", help=f"{choices(JOBS)}; repeat.", show_default="the first three")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PEER",
            help="A solver to compare with, such as paper-highs; repeat.",
            show_default="all that are installed",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Networks per case or recipe.")] = 3,
    limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Time limit for each solve of a peer.")
    ] = 20.0,
    plot: Annotated[
        Path | None, typer.Option(help="Measure over sizes and draw this figure.", show_default="none")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of the data (training).", show_default="SMILENN_DATA, the cache")
    ] = None,
    json: Json = False,
) -> None:
    """Time training and prediction with a guarantee, or provers against the paper's model."""
    from smilenn.cli import benching as command

    request = command.Request(
        subject, options.several(case), options.several(job), options.several(peer), seeds, limit, plot, data_dir
    )
    raise typer.Exit(command.run(request, json=json))


def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help=f"{choices(EXPERIMENTS)}.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder for cells, rows, tables and figures.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Small data and few epochs: minutes on two cores.")] = False,
    jobs: options.Jobs = 2,
    seed: Annotated[
        list[int] | None, typer.Option(metavar="SEED", min=0, help="A seed; repeat.", show_default="the experiment's")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only cells with this value, such as model=default; repeat."),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of the data files.", show_default="SMILENN_DATA, the cache")
    ] = None,
    device: options.Device = "auto",
    cluster: options.Cluster = None,
    save_models: Annotated[bool, typer.Option("--save-models", help="Keep the models in OUT/models.")] = False,
    reuse_models: Annotated[
        bool, typer.Option("--reuse-models", help="Use models from OUT/models where there are any, and certify them.")
    ] = False,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Tables only; needs no matplotlib.")] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="Run nothing; write the page from the finished cells.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the paper's experiments: every table and figure, with baselines; finished cells are kept."""
    check_choice(experiment, EXPERIMENTS, "experiment")
    check_choice(device, DEVICES, "device")
    paths.check_folder(out, "--out")
    from smilenn.cli import reproducing as command
    from smilenn.experiments.study import Options

    models = out / "models" if save_models or reuse_models else None
    chosen = Options(quick, options.several(seed), data_dir, device, models, reuse_models)
    drawn = {"with_figures": not no_figures, "finished": finished, "quiet": quiet, "json": json}
    raise typer.Exit(
        command.run(experiment, out, chosen, jobs=jobs, only=options.several(only), cluster=cluster, **drawn)
    )
