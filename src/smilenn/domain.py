"""The input space X: a box of named features in the user's own units.

A *feature* is one thing a person would name: a number, a whole number, a yes/no, a category. The network sees
*coordinates*: one per numeric or binary feature, one per category of a categorical feature (a one-hot group, whose
members are 0 or 1 and sum to one). Two units are used throughout the package:

    x   raw units, the user's columns, float64, shape [n, m]
    u   model units, u = (x − shift) · mult per coordinate, what the auxiliaries and the backbone see

`encode` turns a data frame into x, `scale` turns x into u; `decode` and `unscale` go back.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from smilenn.errors import SmileError, listed

Kind = Literal["continuous", "integer", "binary", "category"]
OutOfBounds = Literal["clamp", "raise", "warn"]
Scaling = Literal["unit", "standard", "none"]
KINDS: tuple[Kind, ...] = ("continuous", "integer", "binary", "category")


@dataclass(frozen=True)
class Feature:
    """One named input.

    Parameters
    ----------
    name : the column of the data frame.
    kind : ``continuous``, ``integer``, ``binary`` or ``category``.
    lo, hi : bounds in raw units (0 and 1 for binary features and category members).
    categories : the values of a category, in order; for a binary feature with text values, the texts of 0 and 1.
    columns : for a category that the data frame carries already encoded, its 0/1 columns in the order of `categories`.
    shift, mult : model units of a numeric feature, ``u = (x − shift) · mult``.
    unit : a word for reports ("years", "€").
    """

    name: str
    kind: Kind = "continuous"
    lo: float = 0.0
    hi: float = 1.0
    categories: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    shift: float = 0.0
    mult: float = 1.0
    unit: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SmileError(f"A feature needs a non-empty text as its name, not {self.name!r}.")
        if self.kind not in KINDS:
            raise SmileError(f"Feature {self.name!r} has the kind {self.kind!r}; choose one of {listed(KINDS)}.")
        for label in ("categories", "columns"):
            values = getattr(self, label)
            if isinstance(values, str):
                raise SmileError(f"Feature {self.name!r} has {label} = {values!r}; give a list of texts.")
            object.__setattr__(self, label, tuple(str(value) for value in values))
        for label in ("lo", "hi", "shift", "mult"):
            given = getattr(self, label)
            if not isinstance(given, Real) or isinstance(given, bool) or not math.isfinite(given):
                raise SmileError(f"Feature {self.name!r} has {label} = {given!r}; give a finite number.")
            object.__setattr__(self, label, float(given) + 0.0)  # + 0.0: no negative zero
        if self.lo > self.hi:
            raise SmileError(f"Feature {self.name!r} has lo = {self.lo:g} above hi = {self.hi:g}; swap the two.")
        if self.mult <= 0:
            raise SmileError(f"Feature {self.name!r} has mult = {self.mult:g}; a scale must be positive.")
        if self.kind == "integer" and (self.lo != round(self.lo) or self.hi != round(self.hi)):
            raise SmileError(f"Integer feature {self.name!r} needs whole bounds, not [{self.lo:g}, {self.hi:g}].")
        if self.kind in ("binary", "category"):
            if (self.lo, self.hi, self.shift, self.mult) != (0.0, 1.0, 0.0, 1.0):
                raise SmileError(f"Feature {self.name!r} is {self.kind}: its bounds are 0 and 1 and it is not scaled.")
            if len(set(self.categories)) != len(self.categories):
                raise SmileError(f"Feature {self.name!r} lists a category twice: {listed(self.categories)}.")
        if self.kind == "binary" and len(self.categories) not in (0, 2):
            raise SmileError(f"Binary feature {self.name!r} needs two texts or none, not {len(self.categories)}.")
        if self.kind in ("continuous", "integer") and self.categories:
            raise SmileError(f"Feature {self.name!r} is {self.kind} but lists categories; make it a category.")
        if self.kind == "category" and not self.categories:
            raise SmileError(f"Category {self.name!r} has no categories; list its values.")
        if self.columns and (self.kind != "category" or len(self.columns) != len(self.categories)):
            raise SmileError(f"Feature {self.name!r}: give one encoded column per category.")

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates it becomes: itself, or ``name=category`` for each category."""
        if self.kind != "category":
            return (self.name,)
        return self.columns or tuple(f"{self.name}={category}" for category in self.categories)

    @property
    def raw_columns(self) -> tuple[str, ...]:
        """Columns of the data frame it is read from."""
        return self.columns or (self.name,)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary; `from_json` gives the same feature back."""
        out: dict[str, Any] = {"name": self.name, "kind": self.kind, "lo": self.lo, "hi": self.hi}
        if self.categories:
            out["categories"] = list(self.categories)
        if self.columns:
            out["columns"] = list(self.columns)
        if (self.shift, self.mult) != (0.0, 1.0):
            out |= {"shift": self.shift, "mult": self.mult}
        if self.unit:
            out["unit"] = self.unit
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Feature:
        """Inverse of `to_json`; unknown or missing keys are errors."""
        known = {"name", "kind", "lo", "hi", "categories", "columns", "shift", "mult", "unit"}
        if not isinstance(data, Mapping) or "name" not in data or set(data) - known:
            raise SmileError(f"A feature is described by {listed(sorted(known))}, not by {data!r}.")
        for key in ("categories", "columns"):
            if not isinstance(data.get(key, []), list):
                raise SmileError(f"Feature {data['name']!r} has {key} = {data[key]!r}; give a list of texts.")
        return cls(**data)


@dataclass(frozen=True)
class Domain:
    """The box X with named features; immutable, compared by value.

    >>> domain = Domain((Feature("age", "integer", 18, 90), Feature("race", "category", categories=("a", "b", "c"))))
    >>> domain.coordinates
    ('age', 'race=a', 'race=b', 'race=c')
    >>> domain.encode(pd.DataFrame({"age": [30], "race": ["b"]}))
    array([[30.,  0.,  1.,  0.]])
    """

    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise SmileError("A domain needs at least one feature.")
        for kind, names in (("feature", [f.name for f in self.features]), ("coordinate", list(self.coordinates))):
            twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
            if twice:
                raise SmileError(f"The {kind} {listed(twice)} appears twice; give every column a name of its own.")

    # ---- construction -------------------------------------------------------------------------------------------

    @classmethod
    def box(cls, lo: Sequence[float], hi: Sequence[float], names: Sequence[str] | None = None) -> Domain:
        """Continuous features with given bounds, unscaled; default names ``x0, x1, …``."""
        names = [f"x{i}" for i in range(len(lo))] if names is None else list(names)
        if not len(lo) == len(hi) == len(names):
            raise SmileError(f"Got {len(lo)} lower bounds, {len(hi)} upper bounds and {len(names)} names; match them.")
        return cls(tuple(Feature(n, "continuous", float(a), float(b)) for n, a, b in zip(names, lo, hi, strict=True)))

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        kinds: Mapping[str, Kind] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, str] | None = None,
        margin: float = 0.05,
        scaling: Scaling = "unit",
    ) -> Domain:
        """Learn the box from a data frame or array [n, m].

        Numbers are continuous, whole-number columns of a data frame integer, columns of only 0 and 1 binary, text
        columns categories (with two values: binary, unless `kinds` says ``category``). `kinds` overrides; `bounds`
        gives bounds in raw units, other numeric bounds are the observed range widened by `margin` of it on each side,
        rounded outward to readable numbers, and not taken below zero if no observed value is. `groups` declares columns
        that are already one-hot encoded. `scaling` chooses model units: ``unit`` maps [lo, hi] to [0, 1], ``standard``
        to mean 0 and standard deviation 1 of the data, ``none`` leaves raw units.
        """
        named = isinstance(data, pd.DataFrame) or hasattr(data, "to_pandas")
        frame = as_frame(data)
        kinds, bounds, groups, units = dict(kinds or {}), dict(bounds or {}), dict(groups or {}), dict(units or {})
        member_of = {str(column): name for name, columns in groups.items() for column in columns}
        names = set(frame.columns) - set(member_of) | set(groups)
        for what, mapping in (("kinds", kinds), ("bounds", bounds), ("units", units)):
            unknown = sorted(set(mapping) - names)
            if unknown:
                raise SmileError(
                    f"{what} names {listed(unknown)}, which is not a column; columns: {listed(sorted(names))}."
                )
        absent = [column for column in member_of if column not in frame.columns]
        if absent:
            raise SmileError(f"groups names {listed(absent)}, which is not a column; columns: {listed(frame.columns)}.")
        if len(frame) == 0:
            raise SmileError("The data has no rows; give at least one.")
        if not 0 <= margin < math.inf:
            raise SmileError(f"margin is {margin}; give a share of the range that is 0 or more, such as 0.05.")
        if scaling not in ("unit", "standard", "none"):
            raise SmileError(f"scaling is {scaling!r}; choose 'unit', 'standard' or 'none'.")
        features: list[Feature] = []
        seen: set[str] = set()
        for column in frame.columns:
            group = member_of.get(column)
            if group is None:
                feature = _learn(column, frame[column], kinds.get(column), bounds.get(column), margin, scaling, named)
            elif group not in seen:
                seen.add(group)
                columns = tuple(str(c) for c in groups[group])
                feature = Feature(group, "category", categories=columns, columns=columns)
            else:
                continue
            features.append(replace(feature, unit=units.get(feature.name, "")))
        return cls(tuple(features))

    # ---- coordinates --------------------------------------------------------------------------------------------

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Coordinate names, length m."""
        return tuple(name for feature in self.features for name in feature.coordinates)

    @property
    def size(self) -> int:
        """m, the number of coordinates."""
        return len(self.coordinates)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The data-frame columns that `encode` reads."""
        return tuple(name for feature in self.features for name in feature.raw_columns)

    def _spread(self, value: str) -> np.ndarray:
        return np.array([getattr(f, value) for f in self.features for _ in f.coordinates], dtype=np.float64)

    @cached_property
    def lo(self) -> np.ndarray:
        """Lower bounds, raw units, [m]."""
        return self._spread("lo")

    @cached_property
    def hi(self) -> np.ndarray:
        """Upper bounds, raw units, [m]."""
        return self._spread("hi")

    @cached_property
    def shift(self) -> np.ndarray:
        """Shifts of the model units, [m]."""
        return self._spread("shift")

    @cached_property
    def mult(self) -> np.ndarray:
        """Multipliers of the model units, [m]."""
        return self._spread("mult")

    @cached_property
    def integral(self) -> np.ndarray:
        """Which coordinates take whole values only (integer, binary, one-hot members), [m] bool."""
        return np.array([f.kind != "continuous" for f in self.features for _ in f.coordinates])

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Coordinates of each feature."""
        out, start = {}, 0
        for feature in self.features:
            out[feature.name] = slice(start, start + len(feature.coordinates))
            start += len(feature.coordinates)
        return out

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Coordinate indices of each one-hot group."""
        return tuple(
            tuple(range(self.slices[f.name].start, self.slices[f.name].stop))
            for f in self.features
            if f.kind == "category"
        )

    def feature(self, name: str) -> Feature:
        """The feature called `name`; an unknown name is an error listing the known ones."""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise SmileError(f"There is no feature {name!r}; the features are {listed(f.name for f in self.features)}.")

    def indices(self, name: str) -> tuple[int, ...]:
        """Coordinate indices of a feature, or of one coordinate given by its own name (``race=black``)."""
        if name in self.slices:
            span = self.slices[name]
            return tuple(range(span.start, span.stop))
        if name in self.coordinates:
            return (self.coordinates.index(name),)
        self.feature(name)
        raise AssertionError  # pragma: no cover - feature() has raised

    # ---- data in and out ----------------------------------------------------------------------------------------

    def encode(self, data: Any, *, out_of_bounds: OutOfBounds = "raise", first_row: int = 0) -> np.ndarray:
        """A data frame or array → x, raw units, float64 [n, m].

        Missing values, unknown categories, text in a numeric column and fractions in an integer column always raise;
        values outside [lo, hi] are clamped, raise or warn (and are clamped). `first_row` numbers the first row in
        messages, for files read in chunks.
        """
        frame = as_frame(data, columns=self.columns)
        absent = [column for column in self.columns if column not in frame.columns]
        if absent:
            raise SmileError(f"The data lacks the column {listed(absent)}; it has {listed(frame.columns)}.")
        twice = [column for column in self.columns if list(frame.columns).count(column) > 1]
        if twice:
            raise SmileError(f"The data has the column {listed(twice)} twice; keep one of them.")
        x = np.empty((len(frame), self.size), dtype=np.float64)
        for feature in self.features:
            x[:, self.slices[feature.name]] = _encode(feature, frame, first_row)
        return self.clamp(x, out_of_bounds=out_of_bounds, first_row=first_row)

    def decode(self, x: np.ndarray) -> pd.DataFrame:
        """x [n, m] → a data frame with the user's columns and category names."""
        x = np.atleast_2d(np.asarray(x, dtype=np.float64))
        out: dict[str, Any] = {}
        for feature in self.features:
            block = x[:, self.slices[feature.name]]
            if feature.kind == "category" and not feature.columns:
                out[feature.name] = np.array(feature.categories, dtype=object)[block.argmax(axis=1)]
            elif feature.kind == "category":
                for i, column in enumerate(feature.columns):
                    out[column] = block[:, i]
            elif feature.kind == "binary" and feature.categories:
                out[feature.name] = np.array(feature.categories, dtype=object)[(block[:, 0] > 0.5).astype(int)]
            elif feature.kind == "continuous":
                out[feature.name] = block[:, 0]
            else:
                out[feature.name] = np.rint(block[:, 0]).astype(np.int64)
        return pd.DataFrame(out)

    def scale(self, x: np.ndarray) -> np.ndarray:
        """Raw units → model units, u = (x − shift) · mult, shape kept."""
        return (x - self.shift) * self.mult

    def unscale(self, u: np.ndarray) -> np.ndarray:
        """Model units → raw units, moved into the box; whole-valued coordinates are rounded back to their grid."""
        x = u / self.mult + self.shift
        return np.clip(np.where(self.integral, np.rint(x), x), self.lo, self.hi)

    def clamp(self, x: np.ndarray, *, out_of_bounds: OutOfBounds = "clamp", first_row: int = 0) -> np.ndarray:
        """Move x [n, m] into the box, or raise, or warn and move."""
        if out_of_bounds not in ("clamp", "raise", "warn"):
            raise SmileError(f"out_of_bounds is {out_of_bounds!r}; choose 'clamp', 'raise' or 'warn'.")
        outside = (x < self.lo) | (x > self.hi)
        if not outside.any():
            return x
        row, i = (int(v) for v in np.argwhere(outside)[0])
        if out_of_bounds != "clamp":
            message = (
                f"Row {first_row + row}, column {self.coordinates[i]!r}: {x[row, i]:g} lies outside the domain "
                f"[{self.lo[i]:g}, {self.hi[i]:g}] ({int(outside.any(axis=1).sum())} such rows)"
            )
            if out_of_bounds == "raise":
                raise SmileError(message + "; widen the bounds or choose out_of_bounds='clamp'.")
            warnings.warn(message + "; moved to the nearest bound.", stacklevel=2)
        return np.clip(x, self.lo, self.hi)

    def contains(self, x: np.ndarray) -> np.ndarray:
        """Which rows of x [n, m] lie in X exactly: inside the box, on the grid, one-hot. [n] bool."""
        x = np.atleast_2d(x)
        ok = ((x >= self.lo) & (x <= self.hi)).all(axis=1)
        ok &= (~self.integral | (x == np.rint(x))).all(axis=1)
        for group in self.groups:
            ok &= x[:, group].sum(axis=1) == 1.0
        return ok

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n points of X, raw units [n, m]: uniform per feature, on whole numbers and categories uniform over values."""
        x = np.clip(rng.uniform(self.lo, self.hi, size=(n, self.size)), self.lo, self.hi)  # rounding may leave the box
        for i, feature in ((self.slices[f.name].start, f) for f in self.features):
            if feature.kind in ("integer", "binary"):
                x[:, i] = rng.integers(int(feature.lo), int(feature.hi) + 1, size=n)
        for group in self.groups:
            x[:, group] = np.eye(len(group))[rng.integers(0, len(group), size=n)]
        return x

    # ---- JSON ---------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {"features": [feature.to_json() for feature in self.features]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Domain:
        """Inverse of `to_json`."""
        if not isinstance(data, Mapping) or set(data) != {"features"} or not isinstance(data["features"], list):
            raise SmileError("A domain is described by one key, 'features', holding a list.")
        return cls(tuple(Feature.from_json(feature) for feature in data["features"]))


def as_frame(data: Any, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Any table (pandas, polars, array [n, m]) as a pandas frame with text column names.

    Arrays take their names by position from `columns`, else ``x0, x1, …``.
    """
    if isinstance(data, pd.DataFrame):
        frame = data
    elif hasattr(data, "to_pandas"):
        try:
            frame = data.to_pandas()
        except ModuleNotFoundError:  # polars converts through pyarrow, which need not be there
            frame = pd.DataFrame({name: data[name].to_numpy() for name in data.columns})
    else:
        array = np.asarray(data)
        if array.ndim != 2:
            raise SmileError(f"The data has {array.ndim} dimensions; give a table with rows and columns.")
        if columns is not None and array.shape[1] != len(columns):
            raise SmileError(f"The array has {array.shape[1]} columns; the domain has {len(columns)}.")
        names = [f"x{i}" for i in range(array.shape[1])] if columns is None else list(columns)
        frame = pd.DataFrame(array, columns=names)
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if columns is None and frame.columns.has_duplicates:
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise SmileError(f"The data has the column {listed(twice)} twice; keep one of them.")
    return frame


def _labels(series: pd.Series) -> pd.Series:
    """Category texts; 1.0 and 1 are the same category whatever number type the column has today."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.dtype.categories.dtype)
    if pd.api.types.is_float_dtype(series) and (np.isfinite(series) & (series == np.rint(series))).all():
        series = series.astype(np.int64)
    return series.astype(str)


def _is_text(series: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series)


def _numbers(series: pd.Series, name: str, first_row: int = 0) -> np.ndarray:
    """A numeric column as float64; missing, infinite or text cells raise with their row."""
    if pd.api.types.is_bool_dtype(series):
        series = series.astype(float)
    if pd.api.types.is_datetime64_any_dtype(series) or pd.api.types.is_timedelta64_dtype(series):
        raise SmileError(f"Column {name!r} holds dates or durations; turn it into numbers, such as days, first.")
    values = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row, cell = int(bad[0]), series.iloc[int(bad[0])]
        if pd.isna(cell):
            raise SmileError(f"Row {first_row + row}, column {name!r} is missing; drop the row or fill it in.")
        if isinstance(cell, str):
            raise SmileError(
                f"Row {first_row + row}, column {name!r} holds the text {cell!r} among numbers; correct the cell."
            )
        raise SmileError(f"Row {first_row + row}, column {name!r} is {cell}; give a finite number.")
    return values


def _learn(
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
        raise SmileError(f"Row {row}, column {name!r} is missing; drop the row or fill it in.")
    declared = kind
    if kind is None and isinstance(series.dtype, pd.CategoricalDtype):
        kind = "category"
    elif kind is None and _is_text(series):
        # A column in which only some cells are text is a numeric column with a slip, not a category.
        if pd.to_numeric(series, errors="coerce").isna().all():
            kind = "category"
        else:
            series = pd.Series(_numbers(series, name))
    if kind == "category" or (kind == "binary" and _is_text(series)):
        # an explicitly ordered categorical keeps its order, everything else is sorted
        if bounds is not None:
            raise SmileError(f"bounds names {name!r}, which holds categories; leave it out there.")
        dtype, values = series.dtype, sorted(set(_labels(series)))
        if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
            present = set(values)
            values = [label for label in _labels(pd.Series(dtype.categories)) if label in present]
        if len(values) == 2 and declared != "category":
            return Feature(name, "binary", categories=tuple(values))
        if kind == "binary":
            raise SmileError(f"Column {name!r} is declared binary but has {len(values)} values; declare a category.")
        return Feature(name, "category", categories=tuple(values))
    values = _numbers(series, name)
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


def _encode(feature: Feature, frame: pd.DataFrame, first_row: int) -> np.ndarray:
    """The coordinates of one feature, [n, 1] or [n, categories]."""
    if feature.kind == "category" and feature.columns:
        block = np.stack([_numbers(frame[c], c, first_row) for c in feature.columns], axis=1)
        bad = np.flatnonzero(~(((block == 0) | (block == 1)).all(axis=1) & (block.sum(axis=1) == 1)))
        if bad.size:
            raise SmileError(
                f"Row {first_row + int(bad[0])}: exactly one of the columns {listed(feature.columns)} must be 1."
            )
        return block
    series = frame[feature.name]
    if feature.categories:
        if series.isna().any():
            row = first_row + int(np.flatnonzero(series.isna().to_numpy())[0])
            raise SmileError(f"Row {row}, column {feature.name!r} is missing; drop the row or fill it in.")
        codes = pd.Index(feature.categories).get_indexer(pd.Index(_labels(series)))
        bad = np.flatnonzero(codes < 0)
        if bad.size:
            raise SmileError(
                f"Row {first_row + int(bad[0])}, column {feature.name!r} holds the unknown category "
                f"{str(series.iloc[int(bad[0])])!r}; known: {listed(feature.categories)}."
            )
        if feature.kind == "binary":
            return codes.astype(np.float64)[:, None]
        return np.eye(len(feature.categories))[codes]
    values = _numbers(series, feature.name, first_row)
    if feature.kind in ("integer", "binary"):
        bad = np.flatnonzero(values != np.rint(values))
        if feature.kind == "binary":
            bad = np.flatnonzero((values != 0) & (values != 1))
        if bad.size:
            wanted = "0 or 1" if feature.kind == "binary" else "a whole number"
            raise SmileError(
                f"Row {first_row + int(bad[0])}, column {feature.name!r} holds {values[bad[0]]:g}; it must be {wanted}."
            )
    return values[:, None]
