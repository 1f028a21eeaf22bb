"""``smile report``: one HTML file on a model, and a Markdown card."""

from __future__ import annotations

import json as json_module
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from smilenn.cli.rows import category_names, held_back_rows
from smilenn.cli.starting import find_source, read_training, unseen
from smilenn.cli.table import FIRST_ROW, read_table
from smilenn.cli.words import judgement_record
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.progress import display
from smilenn.report.write import write_report


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    model: Path
    data: Path | None = None
    out: Path | None = None
    card: Path | None = None
    name: str | None = None
    references: bool = False
    seconds: float = 60.0
    image: str | None = None
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Given:
    """Rows to measure on: a table, its target if the file has it, what they are to the model, rows to train on."""

    X: pd.DataFrame
    y: pd.Series | pd.DataFrame | None = None
    held_out: bool | None = None
    train: tuple[pd.DataFrame, pd.Series | pd.DataFrame] | None = None


def run(request: Request, *, quiet: bool, json: bool) -> int:
    """Write the files; the exit code is 0 whatever the verdict is."""
    if request.out is None and request.card is None:
        raise SmileError("No file to write was named; add --out report.html, --card card.md, or both.")
    if request.references and request.data is None:
        raise SmileError("--references needs the file that the model was fitted on; add --data FILE.csv.")
    image = read_image(request.image)
    estimator = load(request.model)
    given = None if request.data is None else read_rows(request, estimator)
    with display("off" if quiet or json else "auto") as show:
        write_report(
            estimator,
            request.out,
            None if given is None else given.X,
            None if given is None else given.y,
            card_path=request.card,
            name=request.name or request.model.absolute().name,
            held_out=None if given is None else given.held_out,
            train=given.train if given is not None and request.references else None,
            seconds=request.seconds,
            image=image,
            callback=show,
        )
    if json:
        record: dict[str, Any] = {
            "model": str(request.model),
            "report": None if request.out is None else str(request.out),
            "card": None if request.card is None else str(request.card),
            "rows": 0 if given is None else len(given.X),
        }
        typer.echo(json_module.dumps(record | judgement_record(estimator), ensure_ascii=False))
    elif not quiet:
        typer.echo("Written: " + ", ".join(str(place) for place in (request.out, request.card) if place is not None))
    return 0


def read_image(text: str | None) -> tuple[int, int] | None:
    """``28x28`` as (28, 28)."""
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) > 0 and int(columns) > 0):
        raise SmileError(f"--image {text} is not ROWSxCOLUMNS; write, for example, --image 28x28.")
    return int(rows), int(columns)


def read_rows(request: Request, estimator: SmileRegressor | SmileClassifier) -> Given:
    """The rows of ``--data``; of the file the model was fitted on, those it has not seen."""
    assert request.data is not None
    fitted_on = read_training(request.model)
    targets = [estimator.target_name_]
    if estimator.task in ("regression", "multilabel") and len(estimator.outputs_.names) > 1:
        targets = list(estimator.outputs_.names)
    source = find_source(request.data, fitted_on, request.na, request.keep_na)
    source = source.keeping([*estimator.domain_.columns, *targets])
    lacking = [name for name in targets if name not in source.header or not name]
    columns = set(estimator.domain_.columns)
    text = category_names(estimator.domain_)
    frame = read_table(
        source, text, only={*columns, *(() if lacking else targets)}, may_lack=columns if estimator.fill_ else ()
    )
    try:  # an error names the row of the file, not one of the chosen rows
        estimator.encoded(frame, first_row=FIRST_ROW)
    except SmileError as error:
        raise SmileError(source.as_shown(str(error))) from None
    if lacking:
        if request.references:
            raise SmileError(f"{source.name} has no target column {lacking[0]!r}, which --references needs.")
        warnings.warn(f"{source.name} has no column {lacking[0]!r}: the report measures no quality.", stacklevel=1)
        return Given(frame)
    y, X = frame[targets[0]] if len(targets) == 1 else frame[targets], frame.drop(columns=targets)
    if fitted_on.get("sha256") != source.digest():
        if request.references:
            wanted = f", {fitted_on['data']!r}" if "data" in fitted_on else ""
            raise SmileError(f"--references are trained on the rows of `smile fit`; give the file it read{wanted}.")
        return Given(X, y)
    strata = estimator.read_target(y.to_numpy(), targets).strata
    held = held_back_rows(strata, fitted_on["test"], fitted_on["seed"])
    if not held.any():
        return Given(X, y, False, (X, y))
    return Given(X[held], y[held], unseen(fitted_on), (X[~held], y[~held]))
