"""``smile fit``: a table and properties in, a model folder and a verdict out."""

from __future__ import annotations

import json as json_module
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import typer

from smilenn.cli import sample
from smilenn.cli.announcing import announce, stated
from smilenn.cli.estimating import unfitted
from smilenn.cli.fit_request import Request
from smilenn.cli.guard import INTERRUPTED, exit_code
from smilenn.cli.noted import TRAINING
from smilenn.cli.option_words import in_options
from smilenn.cli.preparing import Prepared
from smilenn.cli.rows import held_back_rows
from smilenn.cli.source import STANDARD_INPUT
from smilenn.cli.starting import Start
from smilenn.cli.stating import taken_over
from smilenn.cli.words import judgement_record, judgement_text
from smilenn.domain.target_cells import TargetWarning
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.quality import QualityWarning
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import save
from smilenn.estimators.targets import Target
from smilenn.estimators.trend import TrendWarning
from smilenn.model.folder import without_infinities
from smilenn.progress import Progress, display, duration
from smilenn.report.standing import Standing, measured, spaced, steps_of
from smilenn.train.cut import cut_to_json
from smilenn.train.settings import numbered
from smilenn.train.state import CheckpointError

LEAST_SECONDS = 0.01  # of a time limit that reading has used up: nothing is trained, and that is said


def run(request: Request, prepared: Prepared, begun: float, *, quiet: bool, json: bool) -> int:
    """Train, prove, certify, save, say; the exit code is the verdict's, or 3 without a step of training.

    `begun` is when the command was, by `perf_counter`: a time limit counts from there.
    """
    import torch

    torch.set_num_threads(request.threads)
    start = None if request.start is None else Start.read(request.start)
    stated_at = prepared.stated or taken_over(request, () if start is None else start.properties())
    estimator = unfitted(request, prepared, start, stated_at)
    target = prepared.target
    in_test = held_back_rows(target.strata, request.test, request.seed)
    say = typer.echo if not (quiet or json) else (lambda text: None)
    announce(request, prepared, start, estimator, say)
    with limited(estimator, begun):
        trained(request, prepared, start, estimator, in_test, quiet=quiet, say=say)
    measure(estimator, prepared.frame, target, in_test)
    keep(estimator, request, prepared, in_test, None if start is None else start.training)
    try:
        if request.checkpoint is not None and not estimator.interrupted_:
            forget(request.checkpoint, request.restarts)
        report(request, estimator, int(in_test.sum()), quiet=quiet, json=json)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted: the model is saved in {str(request.out)!r}.")
        return INTERRUPTED
    if estimator.interrupted_:
        return INTERRUPTED
    return exit_code(estimator.verdict_, estimator.quality_)


@contextmanager
def limited(estimator: SmileRegressor | SmileClassifier, begun: float) -> Iterator[None]:
    """A block in which the estimator's time limit is what reading the table and loading torch have left of it."""
    limit = estimator.time_limit
    if limit is not None:
        estimator.set_params(time_limit=max(LEAST_SECONDS, limit - (perf_counter() - begun)))
    try:
        yield
    finally:
        estimator.set_params(time_limit=limit)


def trained(
    request: Request,
    prepared: Prepared,
    start: Start | None,
    estimator: SmileRegressor | SmileClassifier,
    in_test: np.ndarray,
    *,
    quiet: bool,
    say: Callable[[str], Any],
) -> None:
    """Fit on the rows that are not held out ([n] bool); after Ctrl-C a network that is there is kept."""
    try:
        with display("off" if quiet else "auto") as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", TrendWarning)  # said before, in the options' words
            warnings.simplefilter("ignore", TargetWarning)  # said before
            warnings.simplefilter("ignore", QualityWarning)  # said beside the verdict, of the rows of --test
            model = None if start is None else start.model
            train(estimator, prepared.frame[~in_test], prepared.y[~in_test], request, model, show, say)
    except KeyboardInterrupt:
        if "net_" not in vars(estimator):
            raise
        estimator.interrupted_ = True


def measure(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, target: Target, in_test: np.ndarray
) -> None:
    """Set the quality on the held-out rows; after Ctrl-C what was measured at the end of training stays."""
    try:
        if in_test.any():
            estimator.quality_ = standing(estimator, frame, target, in_test)
    except KeyboardInterrupt:
        estimator.interrupted_ = True


def standing(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, target: Target, in_test: np.ndarray
) -> Standing:
    """The quality on the rows ([n] bool) that training has not seen; of very many on some, within a time limit."""
    rows = np.flatnonzero(in_test)
    rows = rows if estimator.time_limit is None else rows[spaced(len(rows))]
    output = estimator.outputs(frame.iloc[rows]).reshape(len(rows), -1)
    numbers = measured(target.task, target.outputs.names, target.y[rows], output, target.y[~in_test])
    steps, cut = steps_of(estimator.history_), estimator.cut_short_
    return Standing(len(rows), True, steps, numbers, estimator.time_limit, cut=cut)


def keep(
    estimator: SmileRegressor | SmileClassifier,
    request: Request,
    prepared: Prepared,
    in_test: np.ndarray,
    before: dict[str, Any] | None,
) -> None:
    """Save; Ctrl-C in the middle of it, which leaves no half-written folder, does not lose the model either.

    training.json says which rows of which file were held out, so that a report can measure on them again, and the same
    of the model of ``--from`` (`before`).
    """
    also = {
        TRAINING: {
            "data": request.data.name,
            "sha256": prepared.source.digest(),
            "target": request.target[0] if len(request.target) == 1 else list(request.target),
            "rows": len(in_test),
            "held_out": int(in_test.sum()),
            "test": request.test,
            "seed": request.seed,
            **sample.noted(prepared.source),
            **({"target_units": list(prepared.units)} if prepared.units else {}),
            **({"na": list(request.na)} if request.na else {}),
            **({"keep_na": list(request.keep_na)} if request.keep_na else {}),
            **({} if before is None else {"start": before}),
        }
    }
    try:
        save(estimator, request.out, also=also)
    except KeyboardInterrupt:
        estimator.interrupted_ = True
        save(estimator, request.out, overwrite=request.out.exists(), also=also)


def train(
    estimator: SmileRegressor | SmileClassifier,
    frame: pd.DataFrame,
    y: pd.Series | pd.DataFrame,
    request: Request,
    start: SmileRegressor | SmileClassifier | None,
    show: Callable[[Progress], None],
    say: Callable[[str], Any],
) -> None:
    """Fit with a checkpoint: the user's, or one beside the model folder that outlives only a killed process.

    Giving the same command again continues from the latter; one of another run is thrown away.
    """
    if request.checkpoint is not None:
        estimator.fit(frame, y, callback=show, checkpoint=request.checkpoint, start=start)
        return
    beside = request.out.absolute().with_name(request.out.absolute().name + ".checkpoint")
    if numbered(beside, 0, request.restarts).exists():
        say(f"Continuing the interrupted run from {beside.name!r}.")
    try:
        try:
            estimator.fit(frame, y, callback=show, checkpoint=beside, start=start)
        except CheckpointError:
            say("That checkpoint belongs to another run; starting from the beginning.")
            forget(beside, request.restarts)
            estimator.fit(frame, y, callback=show, checkpoint=beside, start=start)
    finally:
        forget(beside, request.restarts)


def forget(checkpoint: Path, restarts: int) -> None:
    """Remove the checkpoint files of all restarts."""
    for i in range(restarts):
        numbered(checkpoint, i, restarts).unlink(missing_ok=True)


def fit_record(request: Request, estimator: SmileRegressor | SmileClassifier, tested: int) -> dict[str, Any]:
    """What came out, for other programs."""
    return judgement_record(estimator) | {
        "interrupted": estimator.interrupted_,
        "properties": stated(estimator, estimator.domain_, estimator.columns_, estimator.outputs_),
        "task": estimator.task,
        "held_out_rows": tested,
        "quality": {} if estimator.quality_ is None else dict(estimator.quality_.numbers),
        "steps": steps_of(estimator.history_),
        "cut_short": cut_to_json(estimator.cut_short_),
        "training_seconds": estimator.seconds_,
        "model": str(request.out),
    }


def report(
    request: Request,
    estimator: SmileRegressor | SmileClassifier,
    tested: int,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """What came out, as text or as one JSON object."""
    if json:
        record = fit_record(request, estimator, tested)
        typer.echo(json_module.dumps(without_infinities(record), ensure_ascii=False))
        return
    if not quiet and estimator.reasons_:
        typer.echo(in_options(estimator.reasons_))
    typer.echo(judgement_text(estimator))
    if estimator.interrupted_:
        typer.echo(f"Interrupted: the best model so far is saved in {str(request.out)!r}.")
        if request.checkpoint is not None:
            typer.echo("To continue, run the same command with the same checkpoint and another --out.")
        elif estimator.verdict_.exit_code == 3:
            typer.echo(f"To certify it: smile prove {request.out}")
    elif not quiet:
        say_next(request, estimator)


def say_next(request: Request, estimator: SmileRegressor | SmileClassifier) -> None:
    """Where the model is, and what can be done with it."""
    typer.echo(f"Saved in {str(request.out)!r} after {duration(estimator.seconds_)} of training.")
    if estimator.certificate_ is not None:
        typer.echo(f"To check the certificate: smile check {request.out}")
    given = "" if request.data == STANDARD_INPUT else f" --data {request.data}"
    typer.echo(f"To see a report: smile report {request.out}{given} --out report.html")
