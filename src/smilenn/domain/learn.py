"""A feature from its column: what kind it is, its bounds widened by a margin, its model units.

A column of numbers with missing cells becomes two features, the number and its indicator (absent.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, get_args

import numpy as np
import pandas as pd

from smilenn.domain.absent import MISSING, indicator, is_missing, known_before
from smilenn.domain.cells import (
    BELOW,
    PERCENT,
    SINCE,
    as_iso,
    holds_dates,
    holds_names,
    holds_shares,
    instants,
    is_duration,
    read_cells,
    written_dates,
    written_numbers,
)
from smilenn.domain.feature import Feature, Kind
from smilenn.domain.rare import pooled
from smilenn.domain.stray import refuse_stray
from smilenn.domain.table import is_text, labels
from smilenn.domain.written import WRITTEN
from smilenn.errors import SmileError

TINY = 1e-307  # a span whose inverse is finite
Scaling = Literal["unit", "standard", "none"]


def check_learning(margin: float, scaling: str) -> None:
    """Refuse options that no domain can be learned with."""
    if not isinstance(margin, Real) or not 0 <= margin < math.inf:
        raise SmileError(f"margin is {margin!r}; give a share of the range that is 0 or more, such as 0.05.")
    if scaling not in get_args(Scaling):
        raise SmileError(f"scaling is {scaling!r}; choose 'unit', 'standard' or 'none'.")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How one column is read.

    kind, bounds : as declared; None where the cells decide.
    margin, scaling, named : as in `Domain.from_data`; whether the data brought names.
    order : names of an ordered column, lowest first.
    missing : whether missing cells become inputs; if not, they are errors.
    pool : how many categories keep a place of their own where rare ones and those of later rows share one; 0 where none
        are shared.
    """

    kind: Kind | None = None
    bounds: tuple[float, float] | None = None
    margin: float = 0.05
    scaling: Scaling = "unit"
    named: bool = True
    order: tuple[str, ...] = ()
    missing: bool = False
    pool: int = 0


def learn(name: str, series: pd.Series, how: Reading) -> tuple[Feature, ...]:
    """The features of one column: itself, and the indicator of its missing cells where it is a number."""
    if how.kind not in ("binary", "category") and not how.order:
        refuse_stray(name, series)
    absent = _absent(name, series, how)
    present = series[~absent]
    if not how.order and (how.kind == "category" or (how.kind in (None, "binary") and _holds_labels(present, how))):
        if how.bounds is not None:
            raise SmileError(f"bounds names {name!r}, which holds categories; leave it out there.")
        return (_labelled(name, present, how, lacks=bool(absent.any())),)
    feature, values = _number(name, series, absent, how)
    if not absent.any():
        return (feature,)
    middle = float(np.quantile(values, 0.5, method="lower"))
    return feature, indicator(name, min(max(middle, feature.lo), feature.hi))


def _absent(name: str, series: pd.Series, how: Reading) -> np.ndarray:
    """The missing cells, [n] bool; texts such as ``?`` are missing where all others are numbers, dates or shares."""
    empty = series.isna().to_numpy(dtype=bool)
    if how.missing and how.kind != "category" and is_text(series):
        empty = _with_codes(series, empty, how)
    if empty.any() and not how.missing:
        row = int(np.flatnonzero(empty)[0])
        raise SmileError(f"Row {row}, column {name!r} is missing (NaN); drop the row or fill it in.")
    if empty.all():
        raise SmileError(f"Column {name!r} has no cell that is not missing; drop the column.")
    return empty


def _with_codes(series: pd.Series, empty: np.ndarray, how: Reading) -> np.ndarray:
    """The cells that are missing or hold a text for it, if the others are no names; else those that are missing."""
    coded = is_missing(series)
    return empty if coded.all() or _holds_labels(series[~coded], how) else coded


def _number(name: str, series: pd.Series, absent: np.ndarray, how: Reading) -> tuple[Feature, np.ndarray]:
    """A feature that is a number, with the numbers of the cells that are not `absent`."""
    start, series = known_before(series, absent)
    known = ~absent[start:]
    if order := _order(series, how):
        return _ordered(name, series, start, known, order, how)
    unit = _unit(name, series, start)
    values = read_cells(Feature(name, unit=unit), series, start)
    kind = how.kind
    if kind is None:
        kind = _number_kind(series, values, how, unit)
    _refuse_other_kind(name, kind, values, start)
    values = values[known]
    if kind == "binary":
        return Feature(name, "binary"), values
    lo, hi = _observed(kind, values, how.margin) if how.bounds is None else _given(name, how.bounds)
    return _scaled(Feature(name, kind, lo, hi, unit=unit), values, how.scaling), values


def _unit(name: str, series: pd.Series, first_row: int) -> str:
    """What a column's numbers count, where cells.py has to know; empty for plain numbers."""
    if holds_dates(series):
        return SINCE + str(instants(series, name, first_row).min().date())
    if is_duration(series):
        return "days"
    if style := written_dates(series):
        return f"{SINCE}{instants(as_iso(series, style), name, first_row).min().date()}, {WRITTEN}{style}"
    return PERCENT if holds_shares(series) else written_numbers(series)


def _order(series: pd.Series, how: Reading) -> tuple[str, ...]:
    """The order that was given, or that of an ordered categorical."""
    dtype = series.dtype
    if how.order or how.kind == "category" or not isinstance(dtype, pd.CategoricalDtype) or not dtype.ordered:
        return how.order
    return tuple(labels(pd.Series(dtype.categories)))


def _ordered(
    name: str, series: pd.Series, start: int, known: np.ndarray, order: tuple[str, ...], how: Reading
) -> tuple[Feature, np.ndarray]:
    """Ordered names are whole numbers from 0 on; those of the cells that are `known`."""
    if how.bounds is not None or how.kind not in (None, "integer"):
        raise SmileError(f"The order of {name!r} is given by its names; leave it out of bounds and kinds.")
    if len(set(order)) != len(order) or any(BELOW in text or not text for text in order) or len(order) < 2:
        raise SmileError(f"order: {name!r} needs two or more different names without '<', not {list(order)}.")
    feature = Feature(name, "integer", 0.0, float(len(order) - 1), unit=BELOW.join(order))
    values = read_cells(feature, series, start)[known]
    return _scaled(feature, values, how.scaling), values


def _holds_labels(series: pd.Series, how: Reading) -> bool:
    """Whether an undeclared or binary column holds texts.

    A column in which only some cells are text is a numeric column with a slip, not a category.
    """
    if how.kind == "binary":
        return is_text(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return not series.dtype.ordered
    return holds_names(series)


def _labelled(name: str, series: pd.Series, how: Reading, *, lacks: bool) -> Feature:
    """A feature of texts; `lacks` tells of missing cells."""
    cells = labels(series)
    values = sorted(set(cells))
    if len(values) == 2 and how.kind != "category" and not lacks:
        return Feature(name, "binary", categories=tuple(values))
    if how.kind == "binary":
        known = "missing cells" if lacks else f"{len(values)} values"
        raise SmileError(f"Column {name!r} is declared binary but has {known}; declare a category.")
    if how.pool:
        values = pooled(cells, how.pool)
    return Feature(name, "category", categories=tuple(dict.fromkeys([*values, MISSING] if lacks else values)))


def _number_kind(series: pd.Series, values: np.ndarray, how: Reading, unit: str) -> Kind:
    """What a column of numbers is; whole numbers of an array without names may be rounded measurements."""
    if unit.startswith(SINCE):
        return "integer" if bool((values == np.rint(values)).all()) else "continuous"
    two = pd.api.types.is_bool_dtype(series) or (how.named and set(np.unique(values)) == {0.0, 1.0})
    if two and how.bounds is None:
        return "binary"
    return "integer" if how.named and pd.api.types.is_integer_dtype(series) else "continuous"


def _refuse_other_kind(name: str, kind: Kind, values: np.ndarray, first_row: int) -> None:
    if kind == "binary" and not set(np.unique(values)) <= {0.0, 1.0}:
        raise SmileError(f"Column {name!r} is declared binary but holds values other than 0 and 1.")
    broken = np.flatnonzero(values != np.rint(values))
    if kind == "integer" and broken.size:
        row = int(broken[0])
        where = f"Row {first_row + row}, column {name!r}"
        raise SmileError(f"{where} holds {values[row]:g} but the column is declared integer.")


def _observed(kind: Kind, values: np.ndarray, margin: float) -> tuple[float, float]:
    """The observed range, widened."""
    lo, hi = _widen(float(values.min()), float(values.max()), margin)
    return (float(math.floor(lo)), float(math.ceil(hi))) if kind == "integer" else (lo, hi)


def _given(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise SmileError(f"bounds gives {bounds!r} for {name!r}; give a pair (lo, hi).")
    return bounds


def _scaled(feature: Feature, values: np.ndarray, scaling: Scaling) -> Feature:
    """The feature with its model units."""
    lo, hi = feature.lo, feature.hi
    if 0 < hi - lo < TINY and scaling != "none":
        raise SmileError(
            f"Column {feature.name!r} has values that differ by {hi - lo:g} at most, too little for float64 to scale; "
            "use smaller units, such as 1e-300 of this one, or drop the column."
        )
    if scaling == "unit" and hi > lo:
        return replace(feature, shift=lo, mult=1.0 / (hi - lo))
    if scaling == "standard" and values.std() > 0:
        return replace(feature, shift=float(values.mean()), mult=float(1.0 / values.std()))
    return feature


def _widen(lo: float, hi: float, margin: float) -> tuple[float, float]:
    """Add a margin on both sides and round outward to a hundredth of the range's power of ten."""
    if hi == lo:
        return lo, hi
    span = hi - lo
    step = 10.0 ** (math.floor(math.log10(span)) - 2) if math.isfinite(span) else 0.0
    if step == 0:  # a span at the edge of float64: nothing sensible to round to
        return lo, hi
    new_lo = math.floor((lo - margin * span) / step) * step if margin else lo
    new_hi = math.ceil((hi + margin * span) / step) * step if margin else hi
    if lo >= 0 > new_lo:
        new_lo = 0.0
    # the products above may round inward by an ulp: never exclude an observed value
    digits = max(0, -math.floor(math.log10(step)))
    return min(lo, round(new_lo, digits)), max(hi, round(new_hi, digits))
