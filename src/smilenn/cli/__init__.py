"""The command `smile`. This file holds the options; what a command does is in a file of its own.

Nothing slow is imported before a command runs: ``smile --help`` answers without torch.

Exit codes: 0 done (and certified), 1 violated or an altered model, 2 bad input, 3 unknown, 130 interrupted.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from smilenn._version import __version__
from smilenn.cli.guard import Guarded, failed

app = typer.Typer(
    name="smile",
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Task(StrEnum):
    """What the target is."""

    auto = "auto"
    regression = "regression"
    classification = "classification"


class Boxes(StrEnum):
    """The network's boxes: flip-free, or the paper's free pair."""

    gap = "gap"
    paper = "paper"


class Missing(StrEnum):
    """What to do with missing cells."""

    error = "raise"
    fill = "fill"


class Outside(StrEnum):
    """What to do with rows outside the domain."""

    auto = "auto"
    clamp = "clamp"
    warn = "warn"
    error = "raise"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no explanations.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Model = Annotated[Path, typer.Argument(help="A model folder.", show_default=False)]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"smile {__version__}")
        raise typer.Exit


@app.callback()
def smile(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")] = False,
) -> None:
    """Neural networks that provably obey a rule everywhere: monotone, fair, robust.

    Exit codes: 0 done (and certified), 1 violated or an altered model, 2 bad input, 3 unknown (the checked bound is
    printed), 130 interrupted.
    """


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="A CSV file with a header.", show_default=False)],
    target: Annotated[
        list[str], typer.Option(help="The column to predict; repeat for several targets or labels.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The model folder to write; must not exist.", show_default=False)],
    task: Annotated[
        Task, typer.Option(help="auto: texts and two values are classes, other numbers a regression.")
    ] = Task.auto,
    quantile: Annotated[
        list[float] | None, typer.Option(metavar="LEVEL", help="Predict this quantile of the target; repeat.")
    ] = None,
    increasing: Annotated[list[str] | None, typer.Option(help="Predictions must rise in this column; repeat.")] = None,
    decreasing: Annotated[list[str] | None, typer.Option(help="Predictions must fall in this column; repeat.")] = None,
    output: Annotated[
        str | None,
        typer.Option(
            help="The class, label or target that --increasing and --decreasing speak of.", show_default="all"
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The class of two whose log-odds --increasing and --decreasing speak of.",
            show_default="the last in sorted order",
        ),
    ] = None,
    fair: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN:EPS", help="Changing this column alone changes the output by at most EPS."),
    ] = None,
    robust: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DELTA[:EPS]",
            help="Changing all numbers by at most DELTA (or a share of their range, 5%) changes the output by at most "
            "EPS (classification: default 1, on the logit).",
        ),
    ] = None,
    spec: Annotated[list[Path] | None, typer.Option(help="A TOML file with further properties.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="A column of numbers to read as names; repeat.")] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN:LO:HI", help="The range of a column; default: the data's + 5 %.")
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Missing cells: refuse them, or fill in the median or most frequent text.")
    ] = Missing.error,
    boxes: Annotated[Boxes, typer.Option(help="Flip-free boxes, or the paper's.")] = Boxes.gap,
    test: Annotated[float, typer.Option(help="Share of the rows held out to measure the quality.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Same seed, same model (on the same machine and versions).")] = 0,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of pretraining and of training, each.", show_default="the recipe's")
    ] = None,
    restarts: Annotated[int, typer.Option(help="Train this many networks and keep the best proved one.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads for training; the result depends on it.")] = 1,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop training after so long.", show_default="none")
    ] = None,
    certify_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.0, help="Search so long for a certificate afterwards; 0: none.")
    ] = 60.0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file to continue from, written while training.", show_default="none")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Begin with the weights of this model folder, on its domain; its properties, unless some are stated.",
            show_default="none",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train on a CSV file, prove and certify the properties and save the model."""
    from smilenn.cli import fitting as command

    request = command.Request(
        data=data,
        target=tuple(target),
        out=out,
        task=task.value,
        quantiles=tuple(quantile or ()),
        output=output,
        positive=positive,
        increasing=tuple(increasing or ()),
        decreasing=tuple(decreasing or ()),
        fair=tuple(fair or ()),
        robust=tuple(robust or ()),
        spec=tuple(spec or ()),
        drop=tuple(drop or ()),
        category=tuple(category or ()),
        bounds=tuple(bounds or ()),
        boxes=boxes.value,
        test=test,
        seed=seed,
        epochs=epochs,
        restarts=restarts,
        threads=threads,
        time_limit=time_limit,
        certify_limit=certify_limit,
        checkpoint=checkpoint,
        missing=missing.value,
        start=start,
    )
    raise typer.Exit(command.run(request, quiet=quiet, json=json))


@app.command()
def predict(
    model: Model,
    data: Annotated[Path, typer.Argument(help="A CSV file with the model's columns.", show_default=False)],
    out: Annotated[
        Path,
        typer.Option(
            help="The CSV file to write: prediction[, probability[, certified]], or one column for each "
            "of several targets, labels or quantiles.",
            show_default=False,
        ),
    ],
    out_of_bounds: Annotated[Outside, typer.Option(help="Rows outside the domain; auto: the model's way.")] = (
        Outside.auto
    ),
    chunk: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 50_000,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the rows of a CSV file, however large.

    For classifiers with --robust or --fair the column `certified` says which labels no such change can turn.
    """
    from smilenn.cli import predicting as command

    raise typer.Exit(
        command.run(model, data, out, out_of_bounds=out_of_bounds.value, chunk=chunk, quiet=quiet, json=json)
    )


@app.command()
def prove(
    model: Model,
    prover: Annotated[
        str, typer.Option(help="auto, or one by name: closed-form, sweep, branch, mip, paper-mip.")
    ] = "auto",
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.0, help="For the prover, and as much for the certificate.")
    ] = 60.0,
    again: Annotated[bool, typer.Option("--again", help="Also if the folder holds an accepted certificate.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search for a counterexample, prove and certify, from the files; write the verdict and the certificate."""
    from smilenn.cli import proving as command

    raise typer.Exit(command.run(model, prover=prover, time_limit=time_limit, again=again, quiet=quiet, json=json))


@app.command()
def check(
    model: Model,
    reference: Annotated[
        bool, typer.Option("--reference", help="Run the slow reference checker too; both must agree.")
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(
            help="Accept only a folder signed by this public key (a PEM file or its 64 hexadecimal digits).",
            show_default="signatures are not looked at",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the certificate of a model in exact arithmetic, from the files; nothing is searched."""
    from smilenn.cli import checking as command

    raise typer.Exit(command.run(model, reference=reference, key=key, quiet=quiet, json=json))


@app.command()
def sign(
    model: Annotated[Path | None, typer.Argument(help="A model folder.", show_default=False)] = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key to sign with, a PEM file (Ed25519).", show_default=False)
    ] = None,
    new_key: Annotated[
        Path | None, typer.Option("--new-key", help="Write a new private key to this file.", show_default=False)
    ] = None,
) -> None:
    """Sign a model folder, so that `smile check --key` shows who made it."""
    from smilenn.cli import signing as command

    raise typer.Exit(command.run(model, key=key, create=new_key))


@app.command()
def report(
    model: Model,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file to write, one file that works offline.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file to measure on; of the file of `smile fit` the held-out rows.", show_default="none"
        ),
    ] = None,
    card: Annotated[Path | None, typer.Option(help="A Markdown model card to write.", show_default="none")] = None,
    name: Annotated[str | None, typer.Option(help="The title.", show_default="the folder's name")] = None,
    references: Annotated[
        bool, typer.Option("--references", help="Train references: no rules, unaware, other ε. Takes its time.")
    ] = False,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", min=1.0, help="For all references together.")] = 60.0,
    image: Annotated[
        str | None, typer.Option(metavar="ROWSxCOLUMNS", help="Show inputs as images.", show_default="guessed")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a report: rules and verdict, quality, accuracy against guarantee, slices, the tightest pairs."""
    from smilenn.cli import reporting as command

    request = command.Request(model, data, out, card, name, references, seconds, image)
    raise typer.Exit(command.run(request, quiet=quiet, json=json))


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option(help="The model folder to write.", show_default="a temporary folder")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Embedded data, a monotone and fair model, its certificate and a report to look at, in less than three minutes."""
    from smilenn.cli import demonstration as command

    raise typer.Exit(command.run(out, quiet=quiet, json=json))


@app.command()
def bench(
    subject: Annotated[str, typer.Argument(help="train, predict, both (all), or proof.")] = "all",
    case: Annotated[list[str] | None, typer.Option(help="A case, fair-20x4; repeat.", show_default="all")] = None,
    job: Annotated[
        list[str] | None, typer.Option(help="opt, prove, find or match; repeat.", show_default="the first three")
    ] = None,
    peer: Annotated[
        list[str] | None, typer.Option(help="A peer, paper-highs; repeat.", show_default="all that are installed")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Networks per case or recipe.")] = 3,
    limit: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="For each solve of a peer.")] = 20.0,
    plot: Annotated[
        Path | None, typer.Option(help="Measure over sizes and draw this figure.", show_default="none")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of the data (training).", show_default="SMILENN_DATA, the cache")
    ] = None,
    json: Json = False,
) -> None:
    """Times in one run: training and predicting with a guarantee; or provers against the paper's model."""
    from smilenn.cli import benching as command

    raise typer.Exit(
        command.run(
            subject, case=case or (), job=job or (), peer=peer or (), seeds=seeds, limit=limit, plot=plot,
            data_dir=data_dir, json=json,
        )
    )  # fmt: skip


@app.command()
def reproduce(
    experiment: Annotated[
        str, typer.Argument(help="monotonicity, robustness, fairness, tabular, random, or all.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder for cells, rows, tables and figures.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Small data and few epochs: minutes on two cores.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Cells that run at the same time, one thread each.")] = 2,
    seed: Annotated[
        list[int] | None, typer.Option(min=0, help="A seed; repeat.", show_default="the experiment's")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only cells with this value, model=default; repeat.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="The folder of the data files.", show_default="SMILENN_DATA, the cache")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda; auto takes a GPU where there is one.")] = "auto",
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A dask scheduler's address, or local.", show_default="this machine"),
    ] = None,
    save_models: Annotated[bool, typer.Option("--save-models", help="Keep the models in OUT/models.")] = False,
    reuse_models: Annotated[
        bool, typer.Option("--reuse-models", help="Take models from OUT/models, certifying them, where there are any.")
    ] = False,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Tables only; needs no matplotlib.")] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="Run nothing: write the page of the cells that are finished.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the paper's experiments: every table and figure, with baselines; finished cells are kept."""
    from smilenn.cli import reproducing as command
    from smilenn.experiments.study import Options

    models = out / "models" if save_models or reuse_models else None
    options = Options(quick, tuple(seed or ()), data_dir, device, models, reuse_models)
    raise typer.Exit(
        command.run(
            experiment, out, options, jobs=jobs, only=tuple(only or ()), cluster=cluster, with_figures=not no_figures,
            finished=finished, quiet=quiet, json=json,
        )
    )  # fmt: skip


def main() -> None:
    """Entry point of `smile` and of ``python -m smilenn``."""
    try:
        app()
    except Exception as error:  # the last resort: an error nobody foresaw is still one sentence
        sys.exit(failed(error, "--debug" in sys.argv))
