"""``smile predict``: predictions for a CSV file of any size, a chunk at a time."""

from __future__ import annotations

import json as json_module
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import typer

from smilenn.cli.table import FIRST_ROW, read_chunks
from smilenn.errors import SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.steady import steady
from smilenn.estimators.store import load
from smilenn.progress import PLAIN_EVERY, Progress, display
from smilenn.properties.library import Fair, Robust
from smilenn.report.write import replaced


def run(model: Path, data: Path, out: Path, *, out_of_bounds: str, chunk: int, quiet: bool, json: bool) -> int:
    """Write the columns of `predictions` for every row; the file appears only when all rows are done."""
    begun = time.perf_counter()
    estimator = load(model)
    if out_of_bounds != "auto":
        estimator.outside_ = out_of_bounds  # type: ignore[assignment]
    if out.exists() and data.exists() and out.samefile(data):
        raise SmileError(f"--out {str(out)!r} is the file that is read; name another one.")
    change = changes(estimator)
    if change is not None and not np.isfinite(change).all():
        warnings.warn(
            f"No label is certified: {estimator.certificate_note_ or 'no bound carries to all inputs.'}", stacklevel=1
        )
    names = [f.name for f in estimator.domain_.features if f.categories and not f.columns]
    last, shown = FIRST_ROW, 0.0
    with (
        display("off" if quiet or json else "auto") as show,
        replaced(out) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        for first, frame in read_chunks(data, chunk, text=names):
            try:
                predicted = predictions(estimator, frame, first, change)
            except SmileError as error:
                raise SmileError(f"{str(data)!r}: {error}") from None
            predicted.to_csv(file, index=False, header=first == FIRST_ROW, lineterminator="\n")
            last = first + len(frame)
            spent = time.perf_counter() - begun
            if spent - shown > PLAIN_EVERY:
                shown = spent
                show(Progress("predict", last - FIRST_ROW, seconds=spent, message=f"{last - FIRST_ROW} rows"))
        file.flush()
        os.fsync(file.fileno())
    if json:
        record = {"model": str(model), "rows": last - FIRST_ROW, "out": str(out)}
        typer.echo(json_module.dumps(record, ensure_ascii=False))
    elif not quiet:
        binary = isinstance(estimator, SmileClassifier) and estimator.task == "binary"
        whose = f" The probability is that of {estimator.positive_class!r}." if binary else ""  # type: ignore[union-attr]
        typer.echo(f"{last - FIRST_ROW} predictions written to {str(out)!r}.{whose}")
    return 0


def changes(estimator: SmileRegressor | SmileClassifier) -> np.ndarray | None:
    """How far `Robust` and `Fair` properties let a classifier's logits or margins move, as checked; or None."""
    stated = any(isinstance(item, (Robust, Fair)) for item in estimator.all_properties())
    return estimator.largest_changes() if isinstance(estimator, SmileClassifier) and stated else None


def predictions(
    estimator: SmileRegressor | SmileClassifier, frame: pd.DataFrame, first: int, change: np.ndarray | None
) -> pd.DataFrame:
    """The output columns for one chunk whose first row has the number `first`.

    One output: ``prediction``, and of classes ``probability`` (of the positive one of two, or of the predicted one of
    several) and ``certified``. Several: a column for each target or quantile by its name; of labels ``NAME``,
    ``NAME_probability`` and ``NAME_certified``.
    """
    output = estimator.outputs(frame, first_row=first)
    if not isinstance(estimator, SmileClassifier):
        names = estimator.outputs_.names if output.ndim == 2 else ("prediction",)
        return pd.DataFrame(output.reshape(len(output), len(names)), columns=list(names))
    found, sure = estimator.decided(output), estimator.probabilities(output)
    certified = None if change is None else steady(output, change, margins=estimator.task == "multiclass")
    if estimator.task != "multilabel":
        place = estimator.outputs_.classes.index(estimator.positive_class) if estimator.task == "binary" else 0
        probability = sure[:, place] if estimator.task == "binary" else sure.max(axis=1)
        columns = {"prediction": found, "probability": probability}
        return pd.DataFrame(columns if certified is None else columns | {"certified": certified})
    labels: dict[str, np.ndarray] = {}
    parts = {"": found, "_probability": sure} | ({} if certified is None else {"_certified": certified})
    names = estimator.outputs_.names
    taken = [f"{name}{end}" for name in names for end in ("_probability", "_certified") if f"{name}{end}" in names]
    if taken:  # a label's own column could pass for the certificate of another
        raise SmileError(f"The label {taken[0]!r} has the name of a column of predictions; rename the label.")
    for k, name in enumerate(estimator.outputs_.names):
        labels |= {f"{name}{end}": values.reshape(len(frame), -1)[:, k] for end, values in parts.items()}
    return pd.DataFrame(labels)
