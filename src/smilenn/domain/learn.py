"""A feature from its column: what kind it is, its bounds widened by a margin, its model units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Literal, get_args

import numpy as np
import pandas as pd

from smilenn.domain.feature import Feature, Kind
from smilenn.domain.table import is_text, labels, numbers
from smilenn.errors import SmileError

Scaling = Literal["unit", "standard", "none"]


def check_learning(margin: float, scaling: str) -> None:
    """Refuse options that no domain can be learned with."""
    if not isinstance(margin, Real) or not 0 <= margin < math.inf:
        raise SmileError(f"margin is {margin!r}; give a share of the range that is 0 or more, such as 0.05.")
    if scaling not in get_args(Scaling):
        raise SmileError(f"scaling is {scaling!r}; choose 'unit', 'standard' or 'none'.")


def learn(
    name: str,
    series: pd.Series,
    kind: Kind | None,
    bounds: tuple[float, float] | None,
    margin: float,
    scaling: Scaling,
    named: bool,
) -> Feature:
    """One feature from its column."""
    if series.isna().any():
        row = int(np.flatnonzero(series.isna().to_numpy())[0])
        raise SmileError(f"Row {row}, column {name!r} is missing (NaN); drop the row or fill it in.")
    if kind == "category" or (kind in (None, "binary") and _holds_labels(series, kind)):
        if bounds is not None:
            raise SmileError(f"bounds names {name!r}, which holds categories; leave it out there.")
        return _labelled(name, series, kind)
    values = numbers(series, name)
    if kind is None:
        kind = _number_kind(series, values, named, bounded=bounds is not None)
    _refuse_other_kind(name, kind, values)
    if kind == "binary":
        return Feature(name, "binary")
    lo, hi = _observed(kind, values, margin) if bounds is None else _given(name, bounds)
    return _scaled(Feature(name, kind, lo, hi), values, scaling)


def _holds_labels(series: pd.Series, kind: Kind | None) -> bool:
    """Whether an undeclared or binary column holds texts.

    A column in which only some cells are text is a numeric column with a slip, not a category.
    """
    if kind == "binary":
        return is_text(series)
    if isinstance(series.dtype, pd.CategoricalDtype):
        return True
    return is_text(series) and bool(pd.to_numeric(series, errors="coerce").isna().all())


def _labelled(name: str, series: pd.Series, declared: Kind | None) -> Feature:
    """A feature of texts; an explicitly ordered categorical keeps its order, everything else is sorted."""
    dtype, values = series.dtype, sorted(set(labels(series)))
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        present = set(values)
        values = [label for label in labels(pd.Series(dtype.categories)) if label in present]
    if len(values) == 2 and declared != "category":
        return Feature(name, "binary", categories=tuple(values))
    if declared == "binary":
        raise SmileError(f"Column {name!r} is declared binary but has {len(values)} values; declare a category.")
    return Feature(name, "category", categories=tuple(values))


def _number_kind(series: pd.Series, values: np.ndarray, named: bool, *, bounded: bool) -> Kind:
    """What a column of numbers is; whole numbers of an array without names may be rounded measurements."""
    two = pd.api.types.is_bool_dtype(series) or (named and set(np.unique(values)) == {0.0, 1.0})
    if two and not bounded:
        return "binary"
    return "integer" if named and pd.api.types.is_integer_dtype(series) else "continuous"


def _refuse_other_kind(name: str, kind: Kind, values: np.ndarray) -> None:
    if kind == "binary" and not set(np.unique(values)) <= {0.0, 1.0}:
        raise SmileError(f"Column {name!r} is declared binary but holds values other than 0 and 1.")
    broken = np.flatnonzero(values != np.rint(values))
    if kind == "integer" and broken.size:
        row = int(broken[0])
        raise SmileError(f"Row {row}, column {name!r} holds {values[row]:g} but the column is declared integer.")


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
