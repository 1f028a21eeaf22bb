"""The rows and rules of ``smile fit``, read and judged before torch is imported: errors in data need no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from smilenn.cli.fit_request import Request, read_bounds, read_order
from smilenn.cli.noted import check_same_rows
from smilenn.cli.rows import is_classification, read_data, written_target
from smilenn.cli.source import Source
from smilenn.cli.spelled import with_classes, with_values
from smilenn.cli.start_note import StartNote
from smilenn.cli.stating import Stated, about_class, read_properties
from smilenn.cli.table import rows_of_file
from smilenn.cli.weighing import ClassWeight, class_weight
from smilenn.domain import Domain, Kind
from smilenn.domain.target_cells import warn_of_classes
from smilenn.errors import SmileError
from smilenn.estimators.learned import learned, named_columns
from smilenn.estimators.missing import filled, learn_fill
from smilenn.estimators.options import Columns, Network
from smilenn.estimators.pixels import Likeness, check_pixels, recognised
from smilenn.estimators.start import Known, check_columns
from smilenn.estimators.targets import Target, decisions, numbers, with_positive
from smilenn.properties.base import Property


@dataclass(frozen=True, eq=False)
class Prepared:
    """What was read.

    frame, y : features and target(s); `complete` are the features with missing cells filled, where that was asked for.
    target : y as numbers, and what the outputs are called.
    classes : whether the target is classes or labels.
    domain : learned from the rows, or that of a start.
    stated : the properties with where they were stated; none where a start's are meant.
    class_weight : that of ``--class-weight``; None without it.
    start : what the model of ``--from`` knows; None without one.
    likeness : the images that the columns look like, where nobody has said what they are.
    units : of targets whose numbers are written as texts; none where no target's are.
    """

    source: Source
    frame: pd.DataFrame
    y: pd.Series | pd.DataFrame
    complete: pd.DataFrame
    target: Target
    classes: bool
    domain: Domain
    stated: Stated
    class_weight: ClassWeight | None
    start: Known | None
    likeness: Likeness | None = None
    units: tuple[str, ...] = ()


def prepare(request: Request, source: Source) -> Prepared:
    """Read the rules and the table."""
    rules = read_properties(request)
    start = _start(request, source)
    frame, y = read_data(request, source, None if start is None else start.known.domain)
    given, request = request, with_classes(request, y)
    positive = request.positive or (None if start is None else start.positive)
    stated = about_class(rules if given == request else read_properties(request), positive)
    classified = start is not None and start.task == "classification"
    y, units = (y, ()) if classified else written_target(request, y, source)
    classes = is_classification(request, y, source)
    if classes and isinstance(y, pd.Series) and not set(request.target) & set(request.category):
        warn_of_classes(y.to_numpy(), repr(request.target[0]))
    if start is not None:
        check_columns(start.known, tuple(map(str, frame.columns)))
        classes = start.is_classification(request, classes)
    properties, known = [item for _, item in stated], None if start is None else start.known
    with rows_of_file(source):
        target = _target(request, y, classes, start, positive)
        complete = filled(frame, learn_fill(frame)) if request.missing == "fill" else frame
        seen = _likeness(request, complete, properties) if classes and known is None else None
        domain = _learned(request, complete, properties, seen) if known is None else known.domain
    weight = class_weight(request, y, target)
    return Prepared(source, frame, y, complete, target, classes, domain, stated, weight, known, seen, units)


def _start(request: Request, source: Source) -> StartNote | None:
    if request.start is None:
        return None
    check_same_rows(request.start, source, seed=request.seed, test=request.test)
    return StartNote.read(request.start)


def _columns(request: Request, frame: pd.DataFrame) -> Columns:
    kinds: dict[str, Kind] = {name: "category" for name in request.category if name not in request.target}
    return Columns(kinds=kinds, bounds=read_bounds(request.bounds), order=with_values(read_order(request.order), frame))


def _likeness(request: Request, frame: pd.DataFrame, properties: Sequence[Property]) -> Likeness | None:
    """The images that the rows look like, judged as the estimator judges its own."""
    network = Network(boxes=request.boxes, encoder=request.encoder)  # type: ignore[arg-type]
    return recognised(frame, properties, network, _columns(request, frame))


def _learned(request: Request, frame: pd.DataFrame, properties: Sequence[Property], seen: Likeness | None) -> Domain:
    """The domain of the rows, as the options have it; pixels where these say so or images were seen."""
    image = request.encoder == "image" or seen is not None
    named = named_columns(properties, tuple(frame.columns))
    domain = learned(
        frame,
        _columns(request, frame),
        named,
        missing=request.missing,  # type: ignore[arg-type]
        unknown=request.unknown,  # type: ignore[arg-type]
        image=image,
    )
    if image:
        check_pixels(domain)
    return domain


def _target(
    request: Request, y: pd.Series | pd.DataFrame, classes: bool, start: StartNote | None, positive: Any
) -> Target:
    """The target as the estimator will read it, by the name of its column."""
    quantiles: Any = request.quantiles or (None if start is None else start.quantiles)
    values = y.to_numpy()
    target = decisions(values, request.target) if classes else numbers(values, request.target, quantiles)
    if positive is not None:
        if not classes:
            raise SmileError("--positive names one of two classes; the target is predicted as a number.")
        target = with_positive(positive, target)
    return target.called(request.target[0] if len(request.target) == 1 else "")
