"""The input space X: a box of named features in the user's own units.

A *feature* is one thing a person would name: a number, a whole number, a yes/no, a category. The network sees
*coordinates*: one per numeric or binary feature, one per category of a categorical feature (a one-hot group, whose
members are 0 or 1 and sum to one). Two units are used throughout the package:

    x   raw units, the user's columns, float64, shape [n, m]
    u   model units, u = (x − shift) · mult per coordinate, what the auxiliaries and the backbone see

`encode` turns a data frame into x, `scale` turns x into u; `decode` and `unscale` go back.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from smilenn.domain.absent import fill_of, indicators
from smilenn.domain.decode import decode
from smilenn.domain.encode import encode as encode_feature
from smilenn.domain.feature import Feature, Kind
from smilenn.domain.learn import Reading, Scaling, check_learning, learn
from smilenn.domain.rare import places
from smilenn.domain.table import as_frame, is_text, refuse_twice
from smilenn.domain.written import style_in
from smilenn.errors import SmileError, listed

OutOfBounds = Literal["clamp", "raise", "warn"]


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
        _refuse_twice("feature", [f.name for f in self.features])
        _refuse_twice("coordinate", self.coordinates)
        known = {feature.name for feature in self.features}
        shared = [column for f in self.features for column in f.columns if column in known and column != f.name]
        if shared:  # a rule that names it would mean one of the two, and a reader of the table mean the other
            raise SmileError(f"The feature {listed(shared)} has the name of another one's column; rename it.")
        indicators(self.features)

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
        order: Mapping[str, Sequence[str]] | None = None,
        margin: float = 0.05,
        scaling: Scaling = "unit",
        missing: bool = False,
        pool: Callable[[str], bool] = lambda column: False,
    ) -> Domain:
        """Learn the box from a data frame or array [n, m].

        Numbers are continuous, whole-number columns of a data frame integer, columns of only 0 and 1 binary, text
        columns categories (with two values: binary, unless `kinds` says ``category``). `kinds` overrides; `bounds`
        gives bounds in raw units, other numeric bounds are the observed range widened by `margin` of it on each side,
        rounded outward to readable numbers, and not taken below zero if no observed value is. `groups` declares columns
        that are already one-hot encoded. `scaling` chooses model units: ``unit`` maps [lo, hi] to [0, 1], ``standard``
        to mean 0 and standard deviation 1 of the data, ``none`` leaves raw units.

        Ordered categoricals, and columns of `order` with their names from the lowest on, are whole numbers from 0 on;
        dates are days since the first; texts such as ``12%`` are numbers. With `missing` a column with missing cells
        gets an indicator or the category ``missing`` (absent.py), without it is refused. Rare categories of the columns
        that `pool` says yes to share one place (rare.py).
        """
        named = isinstance(data, pd.DataFrame) or hasattr(data, "to_pandas")
        frame = as_frame(data)
        kinds, bounds, groups, units = dict(kinds or {}), dict(bounds or {}), dict(groups or {}), dict(units or {})
        order = {column: tuple(map(str, names)) for column, names in (order or {}).items()}
        member_of = {str(column): name for name, columns in groups.items() for column in columns}
        _refuse_names(frame, member_of, groups, {"kinds": kinds, "bounds": bounds, "units": units, "order": order})
        _refuse_options(frame, margin, scaling)

        most = places(sum(pool(column) and is_text(frame[column]) for column in frame.columns))

        def how(column: str) -> Reading:
            return Reading(
                kind=kinds.get(column),
                bounds=bounds.get(column),
                margin=margin,
                scaling=scaling,
                named=named,
                order=order.get(column, ()),
                missing=missing,
                pool=most if pool(column) else 0,
            )

        features: list[Feature] = []
        seen: set[str] = set()  # groups; a column of the same name is another feature, and refused as such
        for column in frame.columns:
            group = member_of.get(column)
            if group is None:
                features += learn(column, frame[column], how(column))
            elif group not in seen:
                seen.add(group)
                columns = tuple(map(str, groups[group]))
                features.append(Feature(group, "category", categories=columns, columns=columns))
        for name in units:
            _refuse_unit(name, next((f.unit for f in features if f.name == name), ""))
        return cls(tuple(replace(feature, unit=units.get(feature.name, feature.unit)) for feature in features))

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
        read = (feature for feature in self.features if fill_of(feature) is None)
        return tuple(name for feature in read for name in feature.raw_columns)

    @cached_property
    def absent(self) -> tuple[tuple[int, int, float], ...]:
        """Numbers that may be missing: (the coordinate of the number, that of its indicator, the fill)."""
        pairs = indicators(self.features).items()
        return tuple((self.slices[of].start, self.slices[name].start, fill) for of, (name, fill) in pairs)

    @cached_property
    def indicators(self) -> dict[str, str]:
        """{number: its indicator} of the numbers that may be missing."""
        return {of: name for of, (name, _) in indicators(self.features).items()}

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
        return self.clamp(self.read(data, first_row=first_row), out_of_bounds=out_of_bounds, first_row=first_row)

    def read(self, data: Any, *, first_row: int = 0) -> np.ndarray:
        """The same without the last step: values outside [lo, hi] are left where they are."""
        frame = as_frame(data, columns=self.columns)
        self._refuse_columns(frame)
        x = np.empty((len(frame), self.size), dtype=np.float64)
        lacking = {i: (place, fill) for i, place, fill in self.absent}
        for feature in self.features:
            start = self.slices[feature.name].start
            if start in lacking:
                place, fill = lacking[start]
                x[:, [start, place]] = encode_feature(feature, frame, first_row, fill)
            elif fill_of(feature) is None:
                x[:, self.slices[feature.name]] = encode_feature(feature, frame, first_row)
        return x

    def _refuse_columns(self, frame: pd.DataFrame) -> None:
        """A table has every column that is read, once."""
        absent = [column for column in self.columns if column not in frame.columns]
        if absent:
            noun, it = ("column", "it") if len(absent) == 1 else ("columns", "them")
            raise SmileError(
                f"The data lacks the {noun} {listed(absent)}; add or rename {it}: the data has {listed(frame.columns)}."
            )
        refuse_twice(frame, self.columns)

    def decode(self, x: np.ndarray) -> pd.DataFrame:
        """x [n, m] → a data frame with the user's columns and category names."""
        x = np.atleast_2d(np.asarray(x, dtype=np.float64))
        out: dict[str, Any] = {}
        for feature in (f for f in self.features if fill_of(f) is None):
            out |= decode(feature, x[:, self.slices[feature.name]])
        return self._with_gaps(pd.DataFrame(out), x)

    def _with_gaps(self, frame: pd.DataFrame, x: np.ndarray) -> pd.DataFrame:
        """The frame with None where x [n, m] says that a number is missing; in place."""
        for i, place, _ in self.absent:
            missing = x[:, place] > 0.5
            if missing.any():
                frame[self.coordinates[i]] = frame[self.coordinates[i]].astype(object).where(~missing, None)
        return frame

    def scale(self, x: np.ndarray) -> np.ndarray:
        """Raw units → model units, u = (x − shift) · mult, shape kept."""
        return (x - self.shift) * self.mult

    def unscale(self, u: np.ndarray) -> np.ndarray:
        """Model units → raw units, moved into the box; whole-valued coordinates are rounded back to their grid."""
        x = u / self.mult + self.shift
        return self.settled(np.clip(np.where(self.integral, np.rint(x), x), self.lo, self.hi))

    def settled(self, x: np.ndarray) -> np.ndarray:
        """x [..., m] with the fill wherever a number is missing: what a row of a table would be."""
        for i, place, fill in self.absent:
            x[..., i] = np.where(x[..., place] == 1.0, fill, x[..., i])
        return x

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
        """Which rows of x [n, m] lie in X exactly: inside the box, on the grid, one-hot, with the fill of what is
        missing. [n] bool.
        """
        x = np.atleast_2d(x)
        ok = ((x >= self.lo) & (x <= self.hi)).all(axis=1)
        ok &= (~self.integral | (x == np.rint(x))).all(axis=1)
        for group in self.groups:
            ok &= x[:, group].sum(axis=1) == 1.0
        for i, place, fill in self.absent:
            ok &= (x[:, place] != 1.0) | (x[:, i] == fill)
        return ok

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n points of X, raw units [n, m]: uniform per feature, on whole numbers and categories uniform over values."""
        x = np.clip(rng.uniform(self.lo, self.hi, size=(n, self.size)), self.lo, self.hi)  # rounding may leave the box
        for i, feature in ((self.slices[f.name].start, f) for f in self.features):
            if feature.kind in ("integer", "binary"):
                x[:, i] = rng.integers(int(feature.lo), int(feature.hi) + 1, size=n)
        for group in self.groups:
            x[:, group] = np.eye(len(group))[rng.integers(0, len(group), size=n)]
        return self.settled(x)

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


def _refuse_names(
    frame: pd.DataFrame,
    member_of: Mapping[str, str],
    groups: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
) -> None:
    """Options may name columns and groups only."""
    names = set(frame.columns) - set(member_of) | set(groups)
    for what, mapping in options.items():
        if unknown := sorted(set(mapping) - names):
            raise SmileError(
                f"{what} names {listed(unknown)}, which is not a column; columns: {listed(sorted(names))}."
            )
    if absent := [column for column in member_of if column not in frame.columns]:
        raise SmileError(f"groups names {listed(absent)}, which is not a column; columns: {listed(frame.columns)}.")


def _refuse_unit(name: str, learned: str) -> None:
    if style_in(learned):
        raise SmileError(
            f"units names {name!r}, whose cells are {learned!r}; leave it out there: it says how to read them."
        )


def _refuse_options(frame: pd.DataFrame, margin: float, scaling: str) -> None:
    if len(frame) == 0:
        raise SmileError("The data has no rows; give at least one.")
    check_learning(margin, scaling)


def _refuse_twice(kind: str, names: Sequence[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise SmileError(f"The {kind} {listed(twice)} appears twice; give every column a name of its own.")
