"""The command `smile`. This file holds the options; what a command does is in a file of its own.

Nothing slow is imported before a command runs: ``smile --help`` answers without torch.

Exit codes: 0 done (and certified), 1 violated or an altered model, 2 bad input, 3 unknown or never trained, 130
interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from smilenn._version import __version__
from smilenn.cli import auditing, explaining, exporting, guarding, measuring, options, packing, paths, serving
from smilenn.cli.config_file import ConfigFile
from smilenn.cli.guard import Guarded, failed
from smilenn.cli.options import (
    NA,
    PROVERS,
    Json,
    KeepNA,
    Model,
    Outside,
    Quiet,
    check_choice,
    choices,
)
from smilenn.cli.screen import HelpAll
from smilenn.errors import SmileError

app = typer.Typer(
    name="smile",
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"smile {__version__}")
        raise typer.Exit


@app.callback()
def smile(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; works in any position.")] = False,
) -> None:
    """Neural networks that provably obey a rule everywhere: monotone, fair, robust.

    Exit codes: 0 done (and certified), 1 violated or altered, 2 bad input, 3 unknown or never trained, 130 interrupted.
    """


@app.command()
def fit(
    data: options.Rows,
    *,
    target: options.Target,
    increasing: options.Increasing = None,
    decreasing: options.Decreasing = None,
    fair: options.Fair = None,
    robust: options.Robust = None,
    norm: options.NormOption = options.Norm.inf,
    spec: options.Spec = None,
    output: options.Output = None,
    positive: options.Positive = None,
    task: options.TaskOption = options.TaskChoice.auto,
    quantile: options.Quantile = None,
    class_weight: options.ClassWeight = None,
    drop: options.Drop = None,
    id: options.LeftOut = None,
    category: options.Category = None,
    bounds: options.Bounds = None,
    na: NA = None,
    keep_na: KeepNA = None,
    order: options.Order = None,
    missing: options.MissingOption = options.Missing.indicator,
    unknown: options.UnknownOption = options.Unknown.other,
    test: options.Test = 0.2,
    boxes: options.BoxesOption = options.Boxes.gap,
    encoder: options.EncoderOption = options.Encoder.auto,
    seed: options.Seed = 0,
    epochs: options.Epochs = None,
    restarts: options.Restarts = 1,
    threads: options.Threads = 1,
    time_limit: options.TimeLimit = None,
    certify_limit: options.CertifyLimit = 60.0,
    checkpoint: options.Checkpoint = None,
    start: options.From = None,
    cluster: options.TrainingCluster = None,
    config: ConfigFile = None,
    out: options.NewFolder,
    quiet: options.FitQuiet = False,
    json: options.FitJson = False,
    help_all: HelpAll = False,
) -> None:
    """Train on a table, prove and certify the rules, and save the model."""
    begun = perf_counter()  # reading the table is part of a time limit
    from smilenn.cli.fit_request import Request, checked

    request = Request(
        data=data,
        target=tuple(target),
        out=out,
        task=task.value,
        quantiles=options.several(quantile),
        output=output,
        positive=positive,
        increasing=options.several(increasing),
        decreasing=options.several(decreasing),
        fair=options.several(fair),
        robust=options.several(robust),
        norm=norm.value,
        spec=options.several(spec),
        drop=options.several(drop),
        category=options.several(category),
        bounds=options.several(bounds),
        boxes=boxes.value,
        encoder=encoder.value,
        test=test,
        seed=seed,
        epochs=epochs,
        restarts=restarts,
        threads=threads,
        time_limit=time_limit,
        certify_limit=certify_limit,
        checkpoint=checkpoint,
        missing=missing.value,
        unknown=unknown.value,
        order=options.several(order),
        start=start,
        ids=options.several(id),
        na=options.several(na),
        keep_na=options.several(keep_na),
        class_weight=options.several(class_weight),
    )
    source = checked(request)  # options, paths and header, at once
    from smilenn.cli.agreement import check_agreement
    from smilenn.cli.preparing import prepare

    prepared = prepare(request, source)  # rules and rows, without torch
    check_agreement(prepared, task=request.task)
    from smilenn.cli import fitting as command
    from smilenn.clusters.context import cluster_if

    with cluster_if(cluster):
        code = command.run(request, prepared, begun, quiet=quiet, json=json)
    raise typer.Exit(code)


@app.command()
def predict(
    model: Model,
    data: options.NewTables,
    out: options.Predictions,
    id: options.Copied = None,
    na: NA = None,
    keep_na: KeepNA = None,
    out_of_bounds: Annotated[Outside, typer.Option(help="Rows outside the domain; auto does what the model says.")] = (
        Outside.auto
    ),
    chunk: options.Chunk = 50_000,
    cluster: options.Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the rows of a table, however large, or of many Parquet files.

    Columns: prediction[, probability[, certified]], or one for each of several targets, labels or quantiles.

    With --robust or --fair, `certified`: no allowed change flips the label; `accepted`: far enough from a decision.
    With --robust, `radius`: how far a row may move and keep its label (`radius_2`: in the Euclidean norm).
    """
    chosen = (out_of_bounds.value, options.several(id), options.several(na), options.several(keep_na), chunk)
    if cluster is not None or len(data) > 1:
        from smilenn.cli import score_request

        many = score_request.Request(model, tuple(data), out, *chosen, cluster)
        tables = score_request.checked(many)
        from smilenn.cli import scoring

        raise typer.Exit(scoring.run(many, tables, quiet=quiet, json=json))
    from smilenn.cli.predict_request import Request, checked

    request = Request(model, data[0], out, *chosen)
    source = checked(request)
    from smilenn.cli.expecting import check_cells

    check_cells(model, source, ids=request.ids, chunk=chunk, out_of_bounds=request.out_of_bounds)  # without torch
    from smilenn.cli import predicting as command

    raise typer.Exit(command.run(request, source, quiet=quiet, json=json))


@app.command()
def prove(
    model: Model,
    prover: Annotated[
        str, typer.Option(metavar="NAME", help=f"{choices(PROVERS)}; auto takes the cheapest that applies.")
    ] = "auto",
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0.0, help="Time for all: loading, proof (at most half of what is left), certificate."
        ),
    ] = 120.0,
    again: Annotated[
        bool, typer.Option("--again", help="Prove again even if the certificate is already accepted.")
    ] = False,
    cluster: options.Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search for a counterexample and a proof; write verdict and certificate into the model folder."""
    begun = perf_counter()  # loading the model is part of the time limit
    check_choice(prover, PROVERS, "prover")
    paths.check_model(model)
    from smilenn.cli import proving as command
    from smilenn.clusters.context import cluster_if

    with cluster_if(cluster):
        code = command.run(
            model, prover=prover, time_limit=time_limit, begun=begun, again=again, quiet=quiet, json=json
        )
    raise typer.Exit(code)


@app.command()
def check(
    model: Model,
    reference: Annotated[
        bool, typer.Option("--reference", help="Run the slow reference checker too; both must agree.")
    ] = False,
    verified: Annotated[
        bool,
        typer.Option(
            "--verified",
            help="Run the proved checker too, which `make verified` builds; exit code 0 only if it certifies as well.",
        ),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(
            help="Accept only a folder signed by this public key (a PEM file or its 64 hexadecimal digits).",
            show_default="signatures are ignored",
        ),
    ] = None,
    cluster: options.Cluster = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the certificate of a model, an audit or a validation pack in exact arithmetic, from its files alone."""
    if auditing.is_audit(model):
        if key is not None or verified or cluster is not None:  # none of the three knows audits
            raise SmileError(
                "Audits are neither signed, nor read by the proved checker, nor shared out; leave out --key, "
                "--verified and --cluster."
            )
        raise typer.Exit(auditing.check(model, reference=reference, quiet=quiet, json=json))
    files = None
    if packing.is_pack(model):
        files = packing.check(model, key, silent=quiet or json)
        model, key = model / "model", None
    paths.check_certificate(model)
    if key is not None:
        from smilenn.certify.signing import public_key

        public_key(str(key))
    from smilenn.cli import checking as command
    from smilenn.clusters.context import cluster_if

    with cluster_if(cluster):
        code = command.run(model, reference=reference, verified=verified, key=key, quiet=quiet, json=json, pack=files)
    raise typer.Exit(code)


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
            metavar="TABLE",
            help="A table to measure on; if `smile fit` used it, only its held-out rows.",
            show_default="none",
        ),
    ] = None,
    na: NA = None,
    keep_na: KeepNA = None,
    card: Annotated[Path | None, typer.Option(help="A Markdown model card to write.", show_default="none")] = None,
    name: options.Title = None,
    references: options.References = False,
    seconds: options.ReferenceSeconds = 60.0,
    image: Annotated[
        str | None, typer.Option(metavar="ROWSxCOLUMNS", help="Show inputs as images.", show_default="guessed")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a report: rules, verdict, quality, accuracy against guarantee, slices, tightest pairs."""
    from smilenn.cli.report_request import Request, check

    request = Request(
        model, data, out, card, name, references, seconds, image, options.several(na), options.several(keep_na)
    )
    check(request)
    from smilenn.cli.report_table import report_table

    table = report_table(request)  # without torch
    from smilenn.cli import reporting as command

    raise typer.Exit(command.run(request, table, quiet=quiet, json=json))


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option(help="The model folder to write.", show_default="a temporary folder")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a monotone and fair model on embedded data, certify it and write a report, in under three minutes."""
    if out is not None:
        paths.check_new_folder(out)
    from smilenn.cli import demonstration as command

    raise typer.Exit(command.run(out, quiet=quiet, json=json))


app.command()(measuring.bench)
app.command()(measuring.reproduce)
app.command()(auditing.audit)
app.command()(guarding.guard)
app.command()(explaining.explain)
app.command()(exporting.export)
app.command()(packing.pack)
app.command()(serving.serve)


def main() -> None:
    """Entry point of `smile` and of ``python -m smilenn``."""
    try:
        app()
    except Exception as error:  # the last resort: an error nobody foresaw is still one sentence
        sys.exit(failed(error, "--debug" in sys.argv))
