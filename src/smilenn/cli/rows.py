"""The rows of ``smile fit``: which columns are features and targets, what the targets are, which rows are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from smilenn.cli.source import Source
from smilenn.cli.table import read_table
from smilenn.datasets.base import Dataset
from smilenn.datasets.split import held_back
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.estimators.targets import class_names

if TYPE_CHECKING:
    from smilenn.cli.fitting import Request

LEAST_TEST = 10  # with fewer rows to test on, none are held out


def read_data(
    request: Request, source: Source, domain: Domain | None = None
) -> tuple[pd.DataFrame, pd.Series | pd.DataFrame]:
    """Features and target(s); columns that the options name must exist, and a target may not be a feature.

    Columns of ``--drop`` and ``--id`` and those that number the rows are not read. Columns that are categories of a
    `domain`, if there is one, are read as names.
    """
    check_columns(request, source)
    left_out = {*request.drop, *request.ids, *source.index_columns(named_columns(request))}
    kept = [name for name in source.header if name not in left_out]
    if not [name for name in kept if name not in request.target]:
        raise SmileError(f"{source.name} has no feature left beside the target {listed(request.target)}.")
    may_lack = [name for name in kept if name not in request.target] if request.missing == "fill" else []
    text = {name: () for name in request.category} | ({} if domain is None else category_names(domain))
    frame = read_table(source, text, only=kept, may_lack=may_lack)
    y = frame[request.target[0]] if len(request.target) == 1 else frame[list(request.target)]
    return frame.drop(columns=list(request.target)), y


def category_names(domain: Domain) -> dict[str, tuple[str, ...]]:
    """The columns of a domain that hold names, with the names it knows."""
    return {f.name: f.categories for f in domain.features if f.categories and not f.columns}


def named_columns(request: Request) -> set[str]:
    """All columns that an option names; such a one is read whatever it is called."""
    fair = (text.rpartition(":")[0] for text in request.fair)
    bounds = (text.rsplit(":", 2)[0] for text in request.bounds)
    return {*request.target, *request.increasing, *request.decreasing, *request.category, *fair, *bounds}


def check_columns(request: Request, source: Source) -> None:
    """The columns that options name are there, and no option takes a target for something else."""
    for option, names in (
        ("--target", request.target), ("--drop", request.drop), ("--id", request.ids), ("--category", request.category),
    ):  # fmt: skip
        unknown = [name for name in names if name not in source.header]
        if unknown:
            raise SmileError(
                f"{option}: {source.name} has no column {listed(unknown)}; it has {listed(source.header, 20)}."
            )
    features = [
        ("--increasing", request.increasing),
        ("--decreasing", request.decreasing),
        ("--fair", tuple(text.rpartition(":")[0] for text in request.fair)),
        ("--drop", request.drop),
        ("--id", request.ids),
        ("--bounds", tuple(text.rsplit(":", 2)[0] for text in request.bounds)),
    ]
    for option, names in features:
        both = [name for name in request.target if name in names]
        if both:
            raise SmileError(f"The target {both[0]!r} is among the features: {option} names it; remove it there.")
    twice = [name for name in request.target if request.target.count(name) > 1]
    if twice:
        raise SmileError(f"--target {twice[0]} was given twice; name each column once.")


def is_classification(request: Request, y: pd.Series | pd.DataFrame, source: Source) -> bool:
    """Whether the target is classes, or several are labels; asked for, or judged by the values."""
    columns = [y[name] for name in y.columns] if isinstance(y, pd.DataFrame) else [y]
    for name, column in zip(request.target, columns, strict=True):
        values = column.unique()
        if len(values) < 2:
            raise SmileError(f"The target {name!r} has one value only, {str(values[0])!r}; there is nothing to learn.")
        text = not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        if text and (request.task == "regression" or request.quantiles):
            raise SmileError(f"The target {name!r} holds texts, so it cannot be a regression.")
        if text and len(columns) > 1:
            raise SmileError(
                f"The target {name!r} holds texts; several targets are numbers, or labels that are 0 or 1."
            )
        if text:
            return True
    if request.quantiles:
        if request.task == "classification":
            raise SmileError("--quantile is for numbers, not for --task classification.")
        return False
    if request.task == "classification" and len(columns) > 1:
        _check_labels(request.target, columns, source)
    if request.task != "auto":
        return request.task == "classification"
    wanted = {0, 1} if len(columns) > 1 else None
    return all(column.nunique() == 2 and (wanted is None or set(column.unique()) <= wanted) for column in columns)


def _check_labels(names: tuple[str, ...], columns: list[pd.Series], source: Source) -> None:
    for name, column in zip(names, columns, strict=True):
        odd = np.flatnonzero(~column.isin([0, 1]).to_numpy())
        if odd.size:
            row = int(odd[0])
            raise SmileError(
                f"Row {source.row_number(row)}, column {name!r} is {column.iloc[row]}; several targets of --task "
                "classification are labels, each 0 or 1."
            )


def class_weight(request: Request, y: pd.Series | pd.DataFrame | None) -> dict[Any, float] | Literal["balanced"]:
    """``--class-weight``: ``balanced``, or class → weight; y holds the classes, None where there are none."""
    if not isinstance(y, pd.Series):
        raise SmileError("--class-weight is for one target of classes; leave it out here.")
    if request.class_weight == ("balanced",):
        return "balanced"
    values = np.unique(y.to_numpy())
    classes = dict(zip(class_names(values), values.tolist(), strict=True))
    out: dict[Any, float] = {}
    for text in request.class_weight:
        name, colon, number = text.rpartition(":")
        if not colon or name not in classes:
            raise SmileError(
                f"--class-weight {text} is neither balanced nor CLASS:WEIGHT with a class of {listed(classes, 12)}."
            )
        try:
            out[classes[name]] = float(number)
        except ValueError:
            raise SmileError(f"--class-weight {text}: {number!r} is not a number; write one such as 2.") from None
    return out


def held_back_rows(strata: np.ndarray, share: float, seed: int) -> np.ndarray:
    """[n] bool: rows that training never sees, of each class in `strata` [n]; none where they would say too little."""
    if share * len(strata) < LEAST_TEST:
        return np.zeros(len(strata), dtype=bool)
    codes = pd.Series(pd.factorize(strata)[0])
    kind = "binary" if codes.nunique() > 1 else "regression"  # stratified, or not
    return held_back(Dataset("data", pd.DataFrame(index=range(len(strata))), codes, kind), seed, share)
