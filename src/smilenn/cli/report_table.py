"""The table of ``smile report`` and ``smile pack``, read and judged before torch is imported."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import pandas as pd

from smilenn.cli.expecting import Expected
from smilenn.cli.noted import find_source, read_training
from smilenn.cli.report_request import Request
from smilenn.cli.rows import category_names, noted_target, plain_numbers
from smilenn.cli.source import Source
from smilenn.cli.table import FIRST_ROW, OF_REPORT, read_table, refused
from smilenn.domain.table import with_columns
from smilenn.errors import SmileError


@dataclass(frozen=True, eq=False)
class ReportTable:
    """What was read of ``--data``.

    frame : the columns of the model, and the targets if the table has them.
    targets : the columns that hold the target; none where one is lacking.
    fitted_on : what `smile fit` noted of its data.
    ours : whether this is the very file that it read.
    """

    source: Source
    frame: pd.DataFrame
    targets: tuple[str, ...]
    fitted_on: dict[str, Any]
    ours: bool


def report_table(request: Request) -> ReportTable | None:
    """The rows of ``--data``, every cell in its place; None without the option."""
    if request.data is None:
        return None
    expected, fitted_on = Expected.read(request.model), read_training(request.model)
    source = find_source(request.data, fitted_on, request.na, request.keep_na)
    source = source.keeping([*expected.domain_.columns, *expected.targets])
    lacking = [name for name in expected.targets if name not in source.header or not name]
    targets = () if lacking else expected.targets
    frame = _read(source, expected, targets, fitted_on)
    if lacking:
        _say_lacking(request, source, lacking[0])
    if targets:
        frame = _with_numbers(source, frame, targets, fitted_on)
    ours = fitted_on.get("sha256") == source.digest()
    if request.references and not ours:
        wanted = f", {fitted_on['data']!r}" if "data" in fitted_on else ""
        raise SmileError(f"--references are trained on the rows of `smile fit`; give the file it read{wanted}.")
    return ReportTable(source, frame, targets, fitted_on, ours)


def _say_lacking(request: Request, source: Source, name: str) -> None:
    """A table without its target is measured on by nobody."""
    if request.references:
        raise SmileError(f"{source.name} has no target column {name!r}, which --references needs.")
    warnings.warn(f"{source.name} has no column {name!r}: the report measures no quality.", stacklevel=1)


def _with_numbers(
    source: Source, frame: pd.DataFrame, targets: tuple[str, ...], fitted_on: dict[str, Any]
) -> pd.DataFrame:
    """The frame with targets that are written as texts as the numbers that the fit has read."""
    units = fitted_on.get("target_units", ())
    try:
        found = noted_target(frame[list(targets)], targets, units, FIRST_ROW)
    except SmileError as error:
        raise refused(source, error) from None
    return with_columns(frame, {name: found[name] for name in targets})


def _read(source: Source, expected: Expected, also: tuple[str, ...], fitted_on: dict[str, Any]) -> pd.DataFrame:
    """The columns of the model, and others; an error names the row of the file, not one of the rows chosen later."""
    columns = set(expected.domain_.columns)
    lack = columns if expected.missing != "raise" else ()
    written = [name for name, unit in zip(also, fitted_on.get("target_units", ()), strict=False) if unit]
    names = category_names(expected.domain_) | dict.fromkeys(written, ()) | expected.class_names(also)
    numbers = plain_numbers(expected.domain_)
    frame = read_table(source, names, only={*columns, *also}, may_lack=lack, options=OF_REPORT, numbers=numbers)
    try:
        x = expected.read_rows(frame, first_row=FIRST_ROW)
        expected.domain_.clamp(x, out_of_bounds=expected.outside, first_row=FIRST_ROW)  # type: ignore[arg-type]
    except SmileError as error:
        raise refused(source, error) from None
    return frame
