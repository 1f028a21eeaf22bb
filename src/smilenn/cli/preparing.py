"""The rows and rules of ``smile fit``, read and judged before torch is imported: errors in data need no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from smilenn.cli.fit_request import Request, read_bounds, read_order
from smilenn.cli.noted import MODEL, check_same_rows
from smilenn.cli.rows import is_classification, read_data
from smilenn.cli.source import Source
from smilenn.cli.stating import Stated, read_properties
from smilenn.domain import Domain, Kind
from smilenn.estimators.learned import learned, named_columns
from smilenn.estimators.missing import filled, learn_fill
from smilenn.estimators.options import Columns
from smilenn.model.folder import parse_json, read_folder
from smilenn.properties.base import Property


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was read.

    frame, y : features and target(s); `complete` are the features with missing cells filled, where that was asked for.
    classes : whether the target is classes or labels.
    domain : learned from the rows; None where a start brings one.
    stated : the properties with where they were stated; none where a start's are meant.
    """

    source: Source
    frame: pd.DataFrame
    y: pd.Series | pd.DataFrame
    complete: pd.DataFrame
    classes: bool
    domain: Domain | None
    stated: Stated


def prepare(request: Request, source: Source) -> Prepared:
    """Read the rules and the table."""
    stated = read_properties(request)
    if request.start is not None:
        check_same_rows(request.start, source, seed=request.seed, test=request.test)
    frame, y = read_data(request, source, None if request.start is None else start_domain(request.start))
    classes = is_classification(request, y, source)
    complete = filled(frame, learn_fill(frame)) if request.missing == "fill" else frame
    domain = None
    if request.start is None:
        domain = _learned(request, complete, [item for _, item in stated])
    return Prepared(source, frame, y, complete, classes, domain, stated)


def _learned(request: Request, frame: pd.DataFrame, properties: Sequence[Property]) -> Domain:
    """The domain of the rows, as the options have it."""
    kinds: dict[str, Kind] = {name: "category" for name in request.category}
    options = Columns(kinds=kinds, bounds=read_bounds(request.bounds), order=read_order(request.order))
    named = named_columns(properties, tuple(frame.columns))
    return learned(frame, options, named, missing=request.missing, unknown=request.unknown)  # type: ignore[arg-type]


def start_domain(folder: Path) -> Domain | None:
    """The domain of the model of ``--from``; None where it cannot be read, which loading the model will explain."""
    try:
        return Domain.from_json(parse_json(read_folder(folder)[MODEL], MODEL)["net"]["domain"])
    except (LookupError, TypeError, ValueError):
        return None
