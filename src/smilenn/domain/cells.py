"""Cells of a column as numbers: dates, shares and ordered names have a number each, told by the feature's `unit`.

    A < B < C                ordered names: 0, 1, 2
    days since 2020-01-31    dates and times: days and parts of days
    %                        12%: 12
    $, written 1,000         $1,200: 1200, and other ways to write numbers and dates (written.py)
    (other units)            numbers as they are

A cell's number depends on that cell and on the feature, never on other cells. Cells that are numbers already stay what
they are, but for ordered names, which are read as names first.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain.feature import Feature
from smilenn.domain.few import few_and_mixed
from smilenn.domain.table import is_text, labels, numbers, shown
from smilenn.domain.written import (
    DATE_STYLES,
    ISO,
    WRITTEN,
    date_example,
    date_style,
    is_foreign,
    iso,
    number_style,
    plain,
)
from smilenn.errors import SmileError, listed

PERCENT, SINCE, BELOW = "%", "days since ", " < "
DAY = 86_400_000_000  # microseconds: in nanoseconds 300 years would not fit into 64 bits


def order_of(feature: Feature) -> tuple[str, ...]:
    """The names of an ordered feature, lowest first; none of any other.

    >>> order_of(Feature("rating", "integer", 0, 2, unit="A < B < C"))
    ('A', 'B', 'C')
    """
    names = tuple(feature.unit.split(BELOW))
    spans = feature.lo == 0 and feature.hi == len(names) - 1
    return names if feature.kind == "integer" and len(names) > 1 and spans else ()


def origin_of(feature: Feature) -> pd.Timestamp | None:
    """The day that a feature's days are counted from; None where it holds no dates."""
    day, mark, style = feature.unit.removeprefix(SINCE).partition(f", {WRITTEN}")
    if not feature.unit.startswith(SINCE) or (mark and style not in DATE_STYLES):
        return None
    try:
        return pd.Timestamp(date.fromisoformat(day))
    except ValueError:
        return None


def read_cells(feature: Feature, series: pd.Series, first_row: int = 0) -> np.ndarray:
    """The numbers of a column without missing cells, [n]; an error names row and column."""
    if names := order_of(feature):
        return _places(feature.name, names, series, first_row)
    if (origin := origin_of(feature)) is not None:
        style = feature.unit.partition(f", {WRITTEN}")[2]
        series = as_iso(series, style)
        if holds_dates(series):
            return days(series, feature.name, origin, first_row)
        _refuse_no_date(feature.name, style, series, first_row)
    if is_duration(series):
        return series.astype("timedelta64[us]").to_numpy().astype(np.int64) / DAY
    if feature.unit == PERCENT and is_text(series):
        series = series.map(without_sign)
    elif feature.unit and is_text(series):
        _refuse_foreign(feature, series, first_row)
        series = series.map(lambda cell: plain(cell, feature.unit))
    return numbers(series, feature.name, first_row)


def _refuse_foreign(feature: Feature, series: pd.Series, first_row: int) -> None:
    for row, cell in enumerate(series):
        if is_foreign(cell, feature.unit):
            raise SmileError(
                f"Row {first_row + row}, column {feature.name!r} holds the text {cell!r}, but its numbers are written "
                "with a decimal comma, as 0,5; write this one so, too."
            )


def _refuse_no_date(name: str, style: str, series: pd.Series, first_row: int) -> None:
    """Raise at the first text that is no date, unless all cells are numbers of days."""
    if not is_text(series) or pd.to_numeric(series, errors="coerce").notna().all():
        return
    for row, cell in enumerate(series):
        if isinstance(cell, str) and not _is_date(cell):
            raise SmileError(
                f"Row {first_row + row}, column {name!r} holds {shown(cell)!r}, which is no date written as "
                f"{date_example(style)}; correct the cell."
            )


def _places(name: str, names: tuple[str, ...], series: pd.Series, first_row: int) -> np.ndarray:
    """The places of ordered names."""
    missing = np.flatnonzero(series.isna())
    if missing.size:
        raise SmileError(
            f"Row {first_row + int(missing[0])}, column {name!r} is missing (NaN); drop the row or fill it in."
        )
    codes = pd.Index(names, dtype=object).get_indexer(pd.Index(labels(series), dtype=object))
    bad = np.flatnonzero(codes < 0)
    if bad.size:
        raise SmileError(
            f"Row {first_row + int(bad[0])}, column {name!r} holds {str(series.iloc[int(bad[0])])!r}, which has no "
            f"place in the order {listed(names, 20)}; correct it or drop the row."
        )
    return codes.astype(np.float64)


# ---- dates ----------------------------------------------------------------------------------------------------------


def holds_dates(series: pd.Series) -> bool:
    """Whether a column holds dates or times: a type of pandas, Python's own, or texts such as 2020-01-31."""
    if pd.api.types.is_datetime64_any_dtype(series) or isinstance(series.dtype, pd.PeriodDtype):
        return True
    if not is_text(series) or isinstance(series.dtype, pd.CategoricalDtype) or is_duration(series):
        return False
    present = series.dropna()
    return len(present) > 0 and all(map(_is_date, present))  # the first cell that is none ends it


def _is_date(cell: Any) -> bool:
    return isinstance(cell, (date, datetime)) or (isinstance(cell, str) and ISO.fullmatch(cell.strip()) is not None)


def holds_names(series: pd.Series) -> bool:
    """Whether a column holds names: texts, none of which is a number or few of them (few.py), and no dates, shares or
    lengths of time.
    """
    if not is_text(series) or is_duration(series) or holds_dates(series) or holds_shares(series):
        return False
    if written_dates(series) or written_numbers(series):
        return False
    return bool(pd.to_numeric(_distinct(series), errors="coerce").isna().all()) or few_and_mixed(series)


def _distinct(series: pd.Series) -> pd.Series:
    """Every text of a column once: thousands of rows hold a few names. Cells of other types stay, equal or not."""
    texts = pd.api.types.infer_dtype(series, skipna=True) == "string"
    return pd.Series(series.unique(), dtype=series.dtype) if texts else series


def written_numbers(series: pd.Series) -> str:
    """The unit of a column of texts that are numbers as people write them; empty for any other."""
    texts = is_text(series) and not isinstance(series.dtype, pd.CategoricalDtype) and not is_duration(series)
    return number_style(series.dropna()) if texts else ""


def written_dates(series: pd.Series) -> str:
    """How a column of texts writes dates, such as dd/mm/yyyy; empty for any other column."""
    texts = is_text(series) and not isinstance(series.dtype, pd.CategoricalDtype) and not is_duration(series)
    return date_style(series.dropna()) if texts else ""


def as_iso(series: pd.Series, style: str) -> pd.Series:
    """Dates that are written in a style, as 2020-01-31; other cells as they are."""
    return series.map(lambda cell: iso(cell, style)) if style and is_text(series) else series


def is_duration(series: pd.Series) -> bool:
    """Whether a column holds lengths of time."""
    return series.dtype.kind == "m"


def instants(series: pd.Series, name: str, first_row: int = 0) -> pd.Series:
    """Dates in UTC, to the microsecond; one without a zone counts as UTC, and one that is none raises with its row."""
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    try:
        found = _in_utc(series)
    except (ValueError, TypeError, OverflowError) as error:
        raise _no_date(series, name, first_row, error) from None
    return found.dt.tz_localize(None).astype("datetime64[us]")


def _in_utc(series: pd.Series) -> pd.Series:
    # one format for every cell: what a cell means must not depend on the first one
    return pd.to_datetime(series, utc=True, format=None if series.dtype.kind == "M" else "ISO8601")


def _no_date(series: pd.Series, name: str, first_row: int, error: Exception) -> SmileError:
    """The first cell that is no date, in words; all in pandas's words where each cell alone is one."""
    for row in range(len(series)):
        try:
            _in_utc(series.iloc[[row]])
        except (ValueError, TypeError, OverflowError):
            cell = shown(str(series.iloc[row]))
            where = f"Row {first_row + row}, column {name!r} holds {cell!r}"
            return SmileError(f"{where}, which is no date of the calendar; correct the cell.")
    why = " ".join(str(error).split())
    return SmileError(f"Column {name!r} holds a date that cannot be read ({why}); correct it.")


def days(series: pd.Series, name: str, origin: pd.Timestamp, first_row: int = 0) -> np.ndarray:
    """Days since a day, [n]: later dates have larger numbers, or the same one."""
    start = origin.to_datetime64().astype("datetime64[us]").astype(np.int64)
    since = instants(series, name, first_row).to_numpy().astype(np.int64) - start
    return since // DAY + (since % DAY) / DAY


# ---- shares ---------------------------------------------------------------------------------------------------------


def without_sign(cell: Any) -> Any:
    """``12%`` as ``12``.

    >>> without_sign(" 12 %"), without_sign("12"), without_sign(7)
    ('12', '12', 7)
    """
    return cell.strip().removesuffix(PERCENT).rstrip() if isinstance(cell, str) else cell


def holds_shares(series: pd.Series) -> bool:
    """Whether every cell is a number with a sign of per cent."""
    if not is_text(series) or not all(isinstance(cell, str) and cell.rstrip().endswith(PERCENT) for cell in series):
        return False
    return len(series) > 0 and not pd.to_numeric(series.map(without_sign), errors="coerce").isna().any()
