"""``smile report``: one HTML file on a model, and a Markdown card."""

from __future__ import annotations

import json as json_module
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from smilenn.cli.noted import unseen
from smilenn.cli.report_request import Request, read_image
from smilenn.cli.report_table import ReportTable
from smilenn.cli.rows import held_back_rows
from smilenn.cli.words import judgement_record
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


def run(request: Request, table: ReportTable | None, *, quiet: bool, json: bool) -> int:
    """Write the files; the exit code is 0 whatever the verdict is."""
    estimator = load(request.model)
    given = rows_of(table, estimator)
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


def rows_of(table: ReportTable | None, estimator: SmileRegressor | SmileClassifier) -> ReportRows:
    """The rows to measure on; of the file the model was fitted on, those it has not seen."""
    if table is None:
        return ReportRows()
    targets, frame, fitted_on = list(table.targets), table.frame, table.fitted_on
    if not targets:
        return ReportRows(frame)
    y, X = frame[targets[0]] if len(targets) == 1 else frame[targets], frame.drop(columns=targets)
    if not table.ours:
        return ReportRows(X, y)
    strata = estimator.read_target(y.to_numpy(), targets).strata
    return not_seen(X, y, held_back_rows(strata, fitted_on["test"], fitted_on["seed"]), fitted_on)


def not_seen(X: pd.DataFrame, y: pd.Series | pd.DataFrame, held: np.ndarray, fitted_on: dict[str, Any]) -> ReportRows:
    """The rows that training held out ([n] bool), or all where it held none out."""
    if not held.any():
        return ReportRows(X, y, False, (X, y))
    return ReportRows(X[held], y[held], unseen(fitted_on), (X[~held], y[~held]))
