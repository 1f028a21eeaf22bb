"""One named input, and the coordinates it becomes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from smilenn.errors import SmileError, listed

Kind = Literal["continuous", "integer", "binary", "category"]
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
            self._read_texts(label)
        for label in ("lo", "hi", "shift", "mult"):
            self._read_number(label)
        self._check_range()
        if self.kind in ("binary", "category"):
            self._check_labels()
        elif self.categories:
            raise SmileError(f"Feature {self.name!r} is {self.kind} but lists categories; make it a category.")
        self._check_columns()

    def _check_columns(self) -> None:
        if self.columns and (self.kind != "category" or len(self.columns) != len(self.categories)):
            raise SmileError(f"Feature {self.name!r}: give one encoded column per category.")

    def _read_texts(self, label: str) -> None:
        values = getattr(self, label)
        if isinstance(values, str):
            raise SmileError(f"Feature {self.name!r} has {label} = {values!r}; give a list of strings.")
        object.__setattr__(self, label, tuple(str(value) for value in values))

    def _read_number(self, label: str) -> None:
        given = getattr(self, label)
        if not isinstance(given, Real) or isinstance(given, bool) or not math.isfinite(given):
            raise SmileError(f"Feature {self.name!r} has {label} = {given!r}; give a finite number.")
        object.__setattr__(self, label, float(given) + 0.0)  # + 0.0: no negative zero

    def _check_range(self) -> None:
        if self.lo > self.hi:
            raise SmileError(f"Feature {self.name!r} has lo = {self.lo:g} above hi = {self.hi:g}; swap the two.")
        if self.mult <= 0:
            raise SmileError(f"Feature {self.name!r} has mult = {self.mult:g}; a scale must be positive.")
        if self.kind == "integer" and (self.lo != round(self.lo) or self.hi != round(self.hi)):
            raise SmileError(f"Integer feature {self.name!r} needs whole bounds, not [{self.lo:g}, {self.hi:g}].")

    def _check_labels(self) -> None:
        """Of a binary feature or a category: bounds 0 and 1, and texts that fit its kind."""
        if (self.lo, self.hi, self.shift, self.mult) != (0.0, 1.0, 0.0, 1.0):
            raise SmileError(f"Feature {self.name!r} is {self.kind}: its bounds are 0 and 1 and it is not scaled.")
        if len(set(self.categories)) != len(self.categories):
            raise SmileError(f"Feature {self.name!r} lists a category twice: {listed(self.categories)}.")
        if self.kind == "binary" and len(self.categories) not in (0, 2):
            raise SmileError(f"Binary feature {self.name!r} needs two strings or none, not {len(self.categories)}.")
        if self.kind == "category" and not self.categories:
            raise SmileError(f"Category {self.name!r} has no categories; list its values.")

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

    @property
    def values(self) -> tuple[str, ...]:
        """What its categories are called in sentences: the columns that carry them where there are such, since what is
        certified is about the columns; else themselves.
        """
        return self.columns or self.categories

    @property
    def range_words(self) -> str:
        """Bounds as reports show them, to the last digit: rounded, they would be those of a larger domain.

        >>> Feature("income", lo=0, hi=1234567.89).range_words
        '0 to 1234567.89'
        """
        return " to ".join(repr(end).removesuffix(".0") for end in (self.lo, self.hi))

    @property
    def unit_words(self) -> str:
        """The unit as reports show it: a word as it is, all else in quotes, so that it passes for no sentence."""
        word = self.unit.isprintable() and not any(c in " '\"" for c in self.unit)
        return self.unit if word else repr(self.unit)

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
                raise SmileError(f"Feature {data['name']!r} has {key} = {data[key]!r}; give a list of strings.")
        return cls(**data)
