"""``smile predict``: predictions for a table of any size, a chunk at a time."""

from __future__ import annotations

import json as json_module
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import typer

from smilenn.cli.noted import check_header
from smilenn.cli.predict_request import Request
from smilenn.cli.rows import category_names, plain_numbers
from smilenn.cli.source import Source
from smilenn.cli.table import FIRST_ROW, read_chunks, refused
from smilenn.domain import OutOfBounds
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.reject import accepted
from smilenn.estimators.stability import stable
from smilenn.estimators.store import load
from smilenn.progress import PLAIN_EVERY, Progress, display
from smilenn.report.write import replaced

LABEL_PARTS = ("probability", "certified")  # what is written of a label beside its prediction


@dataclass
class Moved:
    """Rows outside the domain that were moved to its edge: how many, and the first of them in words."""

    count: int = 0
    first: str = ""

    def sentence(self, rows: int) -> str:
        """For `rows` predictions in all."""
        were = "was" if self.count == 1 else "were"
        return f"{self.first}; {self.count} of {rows} rows {were} moved to the edge of the domain."


def run(request: Request, source: Source, *, quiet: bool, json: bool) -> int:
    """Write the columns of `predictions` for every row; the file appears only when all rows are done."""
    begun = time.perf_counter()
    estimator = load(request.model)
    # the estimator's own way is part of what was certified, and stays as it is
    outside: OutOfBounds = estimator.outside_ if request.out_of_bounds == "auto" else request.out_of_bounds  # type: ignore[assignment]
    check_header(source, estimator.domain_.columns, request.ids)
    change = changes(estimator, outside)
    if change is not None and not np.isfinite(change).all():
        warnings.warn(
            f"No label is certified: {estimator.certificate_note_ or 'no bound carries to all inputs.'}", stacklevel=1
        )
    names = category_names(estimator.domain_) | {name: source.missing for name in request.ids}
    last, shown, moved = FIRST_ROW, 0.0, Moved()
    with (
        display("off" if quiet or json else "auto") as show,
        replaced(request.out) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        wanted, numbers = {*estimator.domain_.columns, *request.ids}, plain_numbers(estimator.domain_)
        for first, frame in read_chunks(source, request.chunk, names, only=wanted, numbers=numbers):
            try:
                x = inside(estimator, frame, first, moved, outside)
            except SmileError as error:
                raise refused(source, error) from None
            predicted = identified(predictions(estimator, estimator.outputs_at(x), change, outside), frame, request.ids)
            predicted.to_csv(file, index=False, header=first == FIRST_ROW, lineterminator="\n")
            last = first + len(frame)
            spent = time.perf_counter() - begun
            if spent - shown > PLAIN_EVERY:
                shown = spent
                show(Progress("predict", last - FIRST_ROW, seconds=spent, message=f"{last - FIRST_ROW} rows"))
        file.flush()
        os.fsync(file.fileno())
    moved.first = source.as_shown(moved.first)
    say(request, estimator, last - FIRST_ROW, moved, warned=outside == "warn", quiet=quiet, json=json)
    return 0


def identified(predicted: pd.DataFrame, frame: pd.DataFrame, ids: Sequence[str]) -> pd.DataFrame:
    """The predictions behind the columns of the file that identify their rows."""
    refuse_taken(predicted, ids)
    for place, name in enumerate(ids):
        predicted.insert(place, name, frame[name].to_numpy())
    return predicted


def refuse_taken(predicted: pd.DataFrame, ids: Sequence[str]) -> None:
    """Columns that identify rows are called otherwise than those of the predictions."""
    taken = [name for name in ids if name in predicted.columns]
    if taken:
        raise SmileError(f"--id {taken[0]} has the name of a column of predictions; rename it in the file.")


def say(
    request: Request,
    estimator: SmileRegressor | SmileClassifier,
    rows: int,
    moved: Moved,
    *,
    warned: bool,
    quiet: bool,
    json: bool,
) -> None:
    """How many rows were predicted, and how many of them were moved into the domain."""
    if json:
        record = {"model": str(request.model), "rows": rows, "moved": moved.count, "out": str(request.out)}
        typer.echo(json_module.dumps(record, ensure_ascii=False))
    elif not quiet:
        binary = isinstance(estimator, SmileClassifier) and estimator.task == "binary"
        whose = f" The probability is of {estimator.positive_class!r}." if binary else ""  # type: ignore[union-attr]
        typer.echo(f"{rows} predictions written to {str(request.out)!r}.{whose}")
    if moved.count and (warned or not quiet):
        typer.echo(f"smile: warning: {moved.sentence(rows)}", err=True)


def inside(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, first: int, moved: Moved, way: OutOfBounds
) -> np.ndarray:
    """The rows of a chunk as the network sees them, [n, m]; rows that are moved into the domain are counted."""
    domain, x = estimator.domain_, estimator.read_rows(frame, first_row=first)
    outside = (x < domain.lo) | (x > domain.hi)
    if not outside.any():
        return x
    mode = "raise" if way == "raise" else "clamp"
    clamped = domain.clamp(x, out_of_bounds=mode, first_row=first)
    if not moved.first:
        row, i = (int(v) for v in np.argwhere(outside)[0])
        span = f"[{domain.lo[i]:g}, {domain.hi[i]:g}]"
        moved.first = f"Row {first + row}, column {domain.coordinates[i]!r}: {x[row, i]:g} lies outside {span}"
    moved.count += int(outside.any(axis=1).sum())
    return clamped


def changes(estimator: SmileRegressor | SmileClassifier, outside: OutOfBounds) -> np.ndarray | None:
    """How far `Robust` and `Fair` properties let a classifier's logits or margins move, as checked; or None."""
    if not isinstance(estimator, SmileClassifier) or not estimator.changing_claims():
        return None
    return estimator.largest_changes(outside)


def _radii(estimator: SmileClassifier, output: np.ndarray, outside: OutOfBounds) -> dict[str, np.ndarray]:
    """How far each row may move before its label can change, for each norm that a rule has."""
    return {name: rule(output) for name, rule in estimator.radius_rules(outside).items()}


def predictions(
    estimator: SmileRegressor | SmileClassifier,
    output: np.ndarray,
    change: np.ndarray | None,
    outside: OutOfBounds = "clamp",
) -> pd.DataFrame:
    """The columns to write for the outputs [n] or [n, o] of one chunk.

    One output: ``prediction``, and of classes ``probability`` (of the positive one of two, or of the predicted one of
    several), ``certified``, ``accepted`` (whether `predict_or_reject` answers) and, where a rule has one δ for all
    columns, ``radius`` or ``radius_2``, else those in multiples of its δ, ``radius_in_deltas`` or
    ``radius_2_in_deltas``. Several: a column for each target or quantile by its name; of labels ``NAME``,
    ``NAME_probability`` and ``NAME_certified``.
    """
    if not isinstance(estimator, SmileClassifier):
        names = estimator.outputs_.names if output.ndim == 2 else ("prediction",)
        return pd.DataFrame(output.reshape(len(output), len(names)), columns=list(names))
    found, sure = estimator.decided(output), estimator.probabilities(output)
    certified = {}
    if change is not None:
        certified = {"certified": stable(output, change, margins=estimator.task == "multiclass")}
        if estimator.task != "multilabel":
            certified["accepted"] = accepted(output, change, margins=estimator.task == "multiclass")
            certified |= _radii(estimator, output, outside)
    if estimator.task == "multilabel":
        return label_columns({"": found, "probability": sure} | certified, estimator.outputs_.names)
    if estimator.task == "binary":
        probability = sure[:, estimator.outputs_.classes.index(estimator.positive_class)]
    else:
        probability = sure.max(axis=1)
    return pd.DataFrame({"prediction": found, "probability": probability} | certified)


def label_columns(parts: Mapping[str, np.ndarray], names: Sequence[str]) -> pd.DataFrame:
    """``NAME`` and ``NAME_part`` of every label, from parts [n, labels]."""
    taken = [f"{name}_{part}" for name in names for part in LABEL_PARTS if f"{name}_{part}" in names]
    if taken:  # a label's own column could pass for the certificate of another
        raise SmileError(f"The label {taken[0]!r} has the name of a column of predictions; rename the label.")
    return pd.DataFrame(
        {
            f"{name}_{part}" if part else name: values.reshape(len(values), -1)[:, k]
            for k, name in enumerate(names)
            for part, values in parts.items()
        }
    )
