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
    declared = kind
    if kind is None and isinstance(series.dtype, pd.CategoricalDtype):
        kind = "category"
    elif kind is None and is_text(series):
        # A column in which only some cells are text is a numeric column with a slip, not a category.
        if pd.to_numeric(series, errors="coerce").isna().all():
            kind = "category"
        else:
            series = pd.Series(numbers(series, name))
    if kind == "category" or (kind == "binary" and is_text(series)):
        # an explicitly ordered categorical keeps its order, everything else is sorted
        if bounds is not None:
            raise SmileError(f"bounds names {name!r}, which holds categories; leave it out there.")
        dtype, values = series.dtype, sorted(set(labels(series)))
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            present = set(values)
            values = [label for label in labels(pd.Series(dtype.categories)) if label in present]
        if len(values) == 2 and declared != "category":
            return Feature(name, "binary", categories=tuple(values))
        if kind == "binary":
            raise SmileError(f"Column {name!r} is declared binary but has {len(values)} values; declare a category.")
        return Feature(name, "category", categories=tuple(values))
    values = numbers(series, name)
    if kind is None:
        if bounds is None and (pd.api.types.is_bool_dtype(series) or (named and set(np.unique(values)) == {0.0, 1.0})):
            kind = "binary"
        elif named and pd.api.types.is_integer_dtype(series):
            kind = "integer"
        else:
            kind = "continuous"
    if kind == "binary":
        if not set(np.unique(values)) <= {0.0, 1.0}:
            raise SmileError(f"Column {name!r} is declared binary but holds values other than 0 and 1.")
        return Feature(name, "binary")
    if kind == "integer" and (values != np.rint(values)).any():
        row = int(np.flatnonzero(values != np.rint(values))[0])
        raise SmileError(f"Row {row}, column {name!r} holds {values[row]:g} but the column is declared integer.")
    if bounds is None:
        lo, hi = _widen(float(values.min()), float(values.max()), margin)
        if kind == "integer":
            lo, hi = float(math.floor(lo)), float(math.ceil(hi))
    else:
        if isinstance(bounds, str) or not isinstance(bounds, Sequence) or len(bounds) != 2:
            raise SmileError(f"bounds gives {bounds!r} for {name!r}; give a pair (lo, hi).")
        lo, hi = bounds
    feature = Feature(name, kind, lo, hi)
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
