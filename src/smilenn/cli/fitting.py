"""``smile fit``: a table and properties in, a model folder and a verdict out."""

from __future__ import annotations

import json as json_module
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from smilenn.certify.statement import claim_lines
from smilenn.cli.guard import INTERRUPTED, exit_code
from smilenn.cli.rows import class_weight, held_back_rows, is_classification, named_columns, read_data
from smilenn.cli.source import STANDARD_INPUT, Source
from smilenn.cli.starting import TRAINING, Start
from smilenn.cli.table import FIRST_ROW
from smilenn.cli.words import domain_text, judgement_record, judgement_text, logit_words
from smilenn.domain import Domain, OutOfBounds
from smilenn.errors import SmileError, listed
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.missing import filled, learn_fill
from smilenn.estimators.outside import all_carried
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.start import check_columns
from smilenn.estimators.store import save
from smilenn.estimators.targets import Target
from smilenn.estimators.trend import Contradiction, TrendWarning, contradictions
from smilenn.model.folder import without_infinities
from smilenn.progress import Progress, display, duration
from smilenn.properties.base import Property
from smilenn.properties.forms import Outputs
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.properties.premise import ground
from smilenn.properties.recognise import bounded_change
from smilenn.properties.spec import load_properties
from smilenn.report.standing import Standing, measured, steps_of
from smilenn.train.config import Config
from smilenn.train.settings import numbered
from smilenn.train.state import CheckpointError


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    data: Path
    target: tuple[str, ...]
    out: Path
    task: str = "auto"
    quantiles: tuple[float, ...] = ()
    output: str | None = None
    positive: str | None = None
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()
    fair: tuple[str, ...] = ()
    robust: tuple[str, ...] = ()
    spec: tuple[Path, ...] = ()
    drop: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    boxes: str = "gap"
    test: float = 0.2
    seed: int = 0
    epochs: int | None = None
    restarts: int = 1
    threads: int = 1
    time_limit: float | None = None
    certify_limit: float = 60.0
    checkpoint: Path | None = None
    missing: str = "raise"
    start: Path | None = None
    ids: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()
    class_weight: tuple[str, ...] = ()


def run(request: Request, *, quiet: bool, json: bool) -> int:
    """Train, prove, certify, save, say; the exit code is the verdict's, or 3 without a step of training."""
    import torch

    if not 0 <= request.seed < 2**32:
        raise SmileError(f"--seed {request.seed} is not a seed; write a whole number from 0 to 2³² − 1.")
    if not 0.0 <= request.test < 1.0:
        raise SmileError(f"--test {request.test} is not a share; write one such as 0.2, or 0 for none.")
    torch.set_num_threads(request.threads)
    source = Source.find(request.data, na=request.na, keep_na=request.keep_na)
    start = None if request.start is None else Start.read(request, request.start, source)
    source = source if start is None else source.keeping(start.model.domain_.columns)
    stated_at = read_properties(request, start)
    properties = tuple(item for _, item in stated_at)
    frame, y = read_data(request, source, None if start is None else start.model.domain_)
    kind = SmileClassifier if is_classification(request, y, source) else SmileRegressor
    complete = filled(frame, learn_fill(frame)) if request.missing == "fill" else frame
    if start is None:
        domain = Domain.from_data(
            complete, kinds={name: "category" for name in request.category}, bounds=read_bounds(request.bounds)
        )
    else:
        domain = check_columns(start.model, tuple(frame.columns))
        kind = start.kind(kind, request)
    # None leaves the constants to the recipe, which chooses them by the number of rows
    config = None if request.epochs is None else Config(pretrain_epochs=request.epochs, epochs=request.epochs)
    own: dict[str, Any] = {"boxes": request.boxes} if start is None else start.parameters()
    if request.quantiles:
        own["quantiles"] = request.quantiles
    if request.positive is not None:
        own["positive"] = positive_class(request, kind)
    if request.class_weight:
        own["class_weight"] = class_weight(request, y if kind is SmileClassifier else None)
    estimator = kind(
        **own,
        properties=properties,
        domain=domain,
        config=config,
        random_state=request.seed,
        restarts=request.restarts,
        time_limit=request.time_limit,
        certify_time_limit=request.certify_limit,
        missing=request.missing,  # type: ignore[arg-type]
    )
    only = request.target[0] if len(request.target) == 1 else ""
    target = estimator.read_target(y.to_numpy(), request.target).called(only)
    check_properties(estimator, stated_at, frame, target.outputs)
    check_rows(estimator, complete, target.outputs, source)
    in_test = held_back_rows(target.strata, request.test, request.seed)
    say = typer.echo if not (quiet or json) else (lambda text: None)
    for name in source.index_columns(named_columns(request)):
        say(f"Left out: {name!r}, a column without a name that numbers the rows.")
    for name in source.trimmed():
        say(f"The column {name!r} is read as {name.strip()!r}, without the blanks.")
    say(f"{len(frame)} rows, {len(domain.features)} features; predicting {listed(request.target, 12)} ({target.task}).")
    if start is not None:
        say(start.sentence(request, source))
    say(f"The domain: {domain_text(domain)}.")
    for sentence in rows_outside(complete, request.bounds):
        warnings.warn(sentence, stacklevel=1)
    say("Properties to hold for every input of the domain:")
    for sentence in stated(estimator, domain, tuple(frame.columns), target.outputs):
        say(f"  - {sentence}")
    for found in trends(estimator, complete, target) if start is None else ():
        warnings.warn(found.sentence(options=True), TrendWarning, stacklevel=1)
    try:
        with display("off" if quiet else "auto") as show, warnings.catch_warnings():
            warnings.simplefilter("ignore", TrendWarning)  # said above, in the options' words
            model = None if start is None else start.model
            train(estimator, frame[~in_test], y[~in_test], request, model, show, say)
    except KeyboardInterrupt:
        if "net_" not in vars(estimator):
            raise
        estimator.interrupted_ = True  # there is a network already: it is kept
    try:
        if in_test.any():
            estimator.quality_ = standing(estimator, frame, target, in_test)
    except KeyboardInterrupt:
        estimator.interrupted_ = True  # what was measured at the end of training stays
    keep(estimator, request, source, in_test, None if start is None else start.training)
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


def standing(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, target: Target, in_test: np.ndarray
) -> Standing:
    """The quality on the rows ([n] bool) that training has not seen."""
    output = estimator.outputs(frame[in_test]).reshape(int(in_test.sum()), -1)
    numbers = measured(target.task, target.outputs.names, target.y[in_test], output, target.y[~in_test])
    return Standing(int(in_test.sum()), True, steps_of(estimator.history_), numbers)


def trends(estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, target: Target) -> list[Contradiction]:
    """Where the data's own trend contradicts a rule."""
    domain = estimator.domain
    assert domain is not None
    claims = estimator.lower_on(estimator.all_properties(), domain, tuple(frame.columns), target.outputs)
    return contradictions(claims, domain, domain.encode(frame, out_of_bounds="clamp"), target)


def positive_class(request: Request, kind: type) -> str:
    """The class of ``--positive``, which is for two classes."""
    if kind is not SmileClassifier:
        raise SmileError("--positive names one of two classes; the target is predicted as a number.")
    assert request.positive is not None
    return request.positive


def keep(
    estimator: SmileRegressor | SmileClassifier,
    request: Request,
    source: Source,
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
            "sha256": source.digest(),
            "target": request.target[0] if len(request.target) == 1 else list(request.target),
            "rows": len(in_test),
            "held_out": int(in_test.sum()),
            "test": request.test,
            "seed": request.seed,
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
        say(f"Continuing the run that was cut off, from {beside.name!r}.")
    try:
        try:
            estimator.fit(frame, y, callback=show, checkpoint=beside, start=start)
        except CheckpointError:
            say("That run was another one; starting from the beginning.")
            forget(beside, request.restarts)
            estimator.fit(frame, y, callback=show, checkpoint=beside, start=start)
    finally:
        forget(beside, request.restarts)


def forget(checkpoint: Path, restarts: int) -> None:
    """Remove the checkpoint files of all restarts."""
    for i in range(restarts):
        numbered(checkpoint, i, restarts).unlink(missing_ok=True)


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
        record: dict[str, Any] = judgement_record(estimator) | {
            "interrupted": estimator.interrupted_,
            "properties": stated(estimator, estimator.domain_, estimator.columns_, estimator.outputs_),
            "task": estimator.task,
            "held_out_rows": tested,
            "quality": {} if estimator.quality_ is None else dict(estimator.quality_.numbers),
            "steps": steps_of(estimator.history_),
            "training_seconds": estimator.seconds_,
            "model": str(request.out),
        }
        typer.echo(json_module.dumps(without_infinities(record), ensure_ascii=False))
        return
    if not quiet and estimator.reasons_:
        typer.echo(estimator.reasons_)
    typer.echo(judgement_text(estimator))
    if estimator.interrupted_:
        typer.echo(f"Interrupted: the best model so far is saved in {str(request.out)!r}.")
        if request.checkpoint is not None:
            typer.echo("To go on from there, give the same command and checkpoint with another --out.")
        elif estimator.verdict_.exit_code == 3:
            typer.echo(f"To certify it: smile prove {request.out}")
    elif not quiet:
        typer.echo(f"Saved in {str(request.out)!r} after {duration(estimator.seconds_)} of training.")
        if estimator.certificate_ is not None:
            typer.echo(f"To check the certificate from the files: smile check {request.out}")
        given = "" if request.data == STANDARD_INPUT else f" --data {request.data}"
        typer.echo(f"To look at it: smile report {request.out}{given} --out report.html")


# ---- options --------------------------------------------------------------------------------------------------------


def read_properties(request: Request, start: Start | None = None) -> tuple[tuple[str, Property], ...]:
    """All properties the options ask for, each with where it was stated; else the start's, and none is an error."""
    out: list[tuple[str, Property]] = []
    if request.increasing or request.decreasing:
        if request.output is not None and request.positive is not None:
            raise SmileError("--output and --positive both say which class is meant; give one of them.")
        spoken = request.output or request.positive
        item = Monotone(increasing=request.increasing, decreasing=request.decreasing, output=spoken)
        out.append(("--increasing" if request.increasing else "--decreasing", item))
    for text in request.fair:
        name, colon, eps = text.rpartition(":")
        if not colon or not name:
            raise SmileError(f"--fair {text} lacks its ε; write COLUMN:EPS, such as --fair race:0.2.")
        out.append((f"--fair {text}", Fair((name,), _number(eps, f"--fair {text}"))))
    for text in request.robust:
        delta, colon, eps = text.partition(":")
        share = delta.endswith("%")
        _number(delta.removesuffix("%"), f"--robust {text}")
        item = Robust(delta if share else delta.strip(), _number(eps, f"--robust {text}") if colon else None)
        out.append((f"--robust {text}", item))
    for path in request.spec:
        stated_there = load_properties(path)
        out += [(f"{path}, property {i} ({item.kind})", item) for i, item in enumerate(stated_there, 1)]
    if request.output is not None and not (request.increasing or request.decreasing):
        raise SmileError("--output says what --increasing and --decreasing speak of; add one of them.")
    if not out and start is not None:
        return tuple((f"--from {request.start}", item) for item in start.properties())
    if not out and not request.quantiles:
        raise SmileError("No property was asked for; add --increasing, --decreasing, --fair, --robust or --spec.")
    return tuple(out)


def check_properties(
    estimator: SmileRegressor | SmileClassifier,
    stated_at: tuple[tuple[str, Property], ...],
    frame: pd.DataFrame,
    outputs: Outputs,
) -> None:
    """Each property on the domain of the data, before any training: an error says where the property was stated."""
    assert estimator.domain is not None
    for where, item in stated_at:
        try:
            for claim in estimator.lower_on([item], estimator.domain, tuple(frame.columns), outputs):
                ground(claim, estimator.domain)
        except SmileError as error:
            raise SmileError(f"{where}: {error}") from None


def check_rows(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, outputs: Outputs, source: Source
) -> None:
    """Every row on the domain, before any training: an error names the row of the file, not one of the chosen rows."""
    domain = estimator.domain
    assert domain is not None
    claims = estimator.lower_on(estimator.all_properties(), domain, tuple(frame.columns), outputs)
    outside: OutOfBounds = "clamp" if all_carried(claims, domain) else "raise"
    try:
        domain.encode(frame, out_of_bounds=outside, first_row=FIRST_ROW)
    except SmileError as error:
        raise SmileError(f"{source.name}: {source.as_shown(str(error))}") from None


def read_bounds(texts: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """``COLUMN:LO:HI`` options."""
    out = {}
    for text in texts:
        parts = text.rsplit(":", 2)
        if len(parts) != 3 or not parts[0]:
            raise SmileError(f"--bounds {text} is not COLUMN:LO:HI; write, for example, --bounds age:18:90.")
        out[parts[0]] = (float(_number(parts[1], f"--bounds {text}")), float(_number(parts[2], f"--bounds {text}")))
    return out


def rows_outside(frame: pd.DataFrame, texts: tuple[str, ...]) -> list[str]:
    """One sentence for every ``--bounds`` that leaves rows of the data outside."""
    out = []
    for name, (lo, hi) in read_bounds(texts).items():
        column = frame[name].to_numpy(dtype=np.float64)
        count = int(((column < lo) | (column > hi)).sum())
        if count:
            rows = "1 row lies" if count == 1 else f"{count} rows lie"
            out.append(
                f"{rows} outside --bounds {name}:{lo:g}:{hi:g}; they move to the edge, unless the bounds are widened."
            )
    return out


def _number(text: str, where: str) -> str:
    """A number as the user wrote it (it is read exactly later on)."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise SmileError(f"{where}: {text!r} is not a number; write one such as 0.2.")
    return text.strip()


def stated(
    estimator: SmileRegressor | SmileClassifier, domain: Domain, columns: tuple[str, ...], outputs: Outputs
) -> list[str]:
    """Every property as a sentence about these outputs; for two classes ε on the logit is explained."""
    out = []
    for item in estimator.complete(estimator.all_properties()):
        assert isinstance(item, Property)
        claims = item.named(domain, columns).lower(domain, outputs)
        sentence = " ".join(line for claim in claims for line in claim_lines(claim, outputs, domain))
        found = [bounded_change(claim, outputs, domain) for claim in claims]
        if len(outputs.names) == 1 and outputs.classes and found[0] is not None:
            sentence = f"{sentence} (On the log-odds: {logit_words(float(found[0].eps))}.)"
        out.append(sentence)
    return out
