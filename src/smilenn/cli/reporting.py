"""``smile report``: one HTML file on a model, and a Markdown card."""

from __future__ import annotations

import json as json_module
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from smilenn.cli.noted import find_source, read_training, unseen
from smilenn.cli.report_request import Request, read_image
from smilenn.cli.rows import category_names, held_back_rows
from smilenn.cli.source import Source
from smilenn.cli.table import FIRST_ROW, read_table
from smilenn.cli.words import judgement_record
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.progress import display
from smilenn.report.write import write_report


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Rows to measure on, if any: a table, its target if it has one, what they are to the model, rows to train on."""

    X: pd.DataFrame | None = None
    y: pd.Series | pd.DataFrame | None = None
    held_out: bool | None = None
    train: tuple[pd.DataFrame, pd.Series | pd.DataFrame] | None = None


def run(request: Request, *, quiet: bool, json: bool) -> int:
    """Write the files; the exit code is 0 whatever the verdict is."""
    estimator = load(request.model)
    given = ReportRows() if request.data is None else read_rows(request, estimator)
    with display("off" if quiet or json else "auto") as show:
        write_report(
            estimator,
            request.out,
            given.X,
            given.y,
            card_path=request.card,
            name=request.name or request.model.absolute().name,
            held_out=given.held_out,
            train=given.train if request.references else None,
            seconds=request.seconds,
            image=read_image(request.image),
            folder=request.model,
            callback=show,
        )
    if json:
        record: dict[str, Any] = {
            "model": str(request.model),
            "report": _path(request.out),
            "card": _path(request.card),
            "rows": 0 if given.X is None else len(given.X),
        }
        typer.echo(json_module.dumps(record | judgement_record(estimator), ensure_ascii=False))
    elif not quiet:
        typer.echo("Written: " + ", ".join(str(place) for place in (request.out, request.card) if place is not None))
    return 0


def _path(place: Path | None) -> str | None:
    return None if place is None else str(place)


def read_rows(request: Request, estimator: SmileRegressor | SmileClassifier) -> ReportRows:
    """The rows of ``--data``; of the file the model was fitted on, those it has not seen."""
    assert request.data is not None
    fitted_on = read_training(request.model)
    source = find_source(request.data, fitted_on, request.na, request.keep_na)
    targets = target_columns(estimator)
    source = source.keeping([*estimator.domain_.columns, *targets])
    lacking = [name for name in targets if name not in source.header or not name]
    frame = read_features(source, estimator, also=() if lacking else targets)
    if lacking and request.references:
        raise SmileError(f"{source.name} has no target column {lacking[0]!r}, which --references needs.")
    if lacking:
        warnings.warn(f"{source.name} has no column {lacking[0]!r}: the report measures no quality.", stacklevel=1)
        return ReportRows(frame)
    y, X = frame[targets[0]] if len(targets) == 1 else frame[targets], frame.drop(columns=targets)
    if fitted_on.get("sha256") == source.digest():
        strata = estimator.read_target(y.to_numpy(), targets).strata
        return not_seen(X, y, held_back_rows(strata, fitted_on["test"], fitted_on["seed"]), fitted_on)
    if request.references:
        wanted = f", {fitted_on['data']!r}" if "data" in fitted_on else ""
        raise SmileError(f"--references are trained on the rows of `smile fit`; give the file it read{wanted}.")
    return ReportRows(X, y)


def target_columns(estimator: SmileRegressor | SmileClassifier) -> list[str]:
    """The columns that hold the target."""
    several = estimator.task in ("regression", "multilabel") and len(estimator.outputs_.names) > 1
    return list(estimator.outputs_.names) if several else [estimator.target_name_]


def read_features(source: Source, estimator: SmileRegressor | SmileClassifier, also: Collection[str]) -> pd.DataFrame:
    """The columns of the model, and others; an error names the row of the file, not one of the rows chosen later."""
    columns = set(estimator.domain_.columns)
    lack = columns if estimator.missing != "raise" else ()
    frame = read_table(source, category_names(estimator.domain_), only={*columns, *also}, may_lack=lack)
    try:
        x = estimator.read_rows(frame, first_row=FIRST_ROW)
        estimator.domain_.clamp(x, out_of_bounds=estimator.outside_, first_row=FIRST_ROW)
    except SmileError as error:
        raise SmileError(source.as_shown(str(error))) from None
    return frame


def not_seen(X: pd.DataFrame, y: pd.Series | pd.DataFrame, held: np.ndarray, fitted_on: dict[str, Any]) -> ReportRows:
    """The rows that training held out ([n] bool), or all where it held none out."""
    if not held.any():
        return ReportRows(X, y, False, (X, y))
    return ReportRows(X[held], y[held], unseen(fitted_on), (X[~held], y[~held]))
