"""Robustness at given points, not everywhere: one claim for each point p.

    eps       a within δ of p, rest equal   ⇒  |f(a) − f(p)| ≤ ε           two copies, the second is p
    labels    a within δ of p, rest equal   ⇒  f_label(a) ≥ f_other(a)     one copy: the decision stays

A network that obeys `Robust` obeys the first at every point; where that asks too much, this asks it of the rows that
matter. Numbers of a point are the float64 that a table of it would hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain, Feature
from smilenn.domain.absent import KNOWN
from smilenn.domain.table import label
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Name, Rename, bounded_change, read_number, set_fields
from smilenn.properties.claim import Claim, Inequality, row
from smilenn.properties.forms import Outputs, read_output
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.rational import exact, number
from smilenn.properties.reach import delta_formula, delta_json, delta_renamed, delta_words, read_delta, strip_rows

Point = tuple[tuple[Name, Any], ...]


@final
@dataclass(frozen=True, repr=False)
class LocalRobust(OutputProperty):
    """Around each of `points`, inputs within `delta` change the output by at most `eps`, or keep the decision.

    >>> LocalRobust([{"income": 30, "debt": 5}], delta=0.5, eps=0.1).sentence("price")
    "Around the given point, changing each numeric input by at most 0.5 changes the predicted 'price' by at most 0.1."

    Parameters
    ----------
    points : rows, as a data frame or as dictionaries feature → value; every feature has a value.
    delta : as in `Robust`.
    eps : in units of the output.
    labels : instead of `eps`, the class that each point keeps, of a classifier.
    """

    points: Any
    delta: Any
    eps: Any = None
    labels: Any = None
    kind: ClassVar[str] = "local_robust"

    def __post_init__(self) -> None:
        super().__post_init__()
        points = _read_points(self.points)
        if (self.eps is None) == (self.labels is None):
            raise SmileError("LocalRobust needs eps, the largest change, or labels, what each point stays.")
        labels = None
        if self.labels is not None:
            if isinstance(self.labels, str) or len(list(self.labels)) != len(points):
                raise SmileError(f"LocalRobust: labels must name one class for each of the {len(points)} points.")
            labels = tuple(read_output(label, "LocalRobust") for label in self.labels)
            if self.output is not None:
                raise SmileError("LocalRobust: labels already say which class is meant; leave 'output' out.")
        eps = None if self.eps is None else read_number(self.eps, "LocalRobust", "eps")
        set_fields(self, points=points, delta=read_delta(self.delta, "LocalRobust"), eps=eps, labels=labels)

    def formula(self) -> str:
        where = f"∀ a ∈ X, b of {len(self.points)} points: {delta_formula(self.delta, ())}, other features equal ⇒ "
        kept = "no other class of a is ahead of b's label"
        return where + (kept if self.eps is None else self._change(number(self.eps)))

    def to_json(self) -> dict[str, Any]:
        points = [[list(entry) for entry in point] for point in self.points]
        return super().to_json() | {"points": points, "delta": delta_json(self.delta)}

    def renamed(self, rename: Rename) -> Self:
        points = tuple(tuple((rename(name), value) for name, value in point) for point in self.points)
        return replace(self, points=points, delta=delta_renamed(self.delta, rename))

    def sentence_about(self, output: str) -> str:
        where = "the given point" if len(self.points) == 1 else f"each of {len(self.points)} given points"
        moves = f"Around {where}, changing {delta_words(self.delta, ())}"
        if self.eps is not None:
            return f"{moves} changes {output} by at most {number(self.eps)}."
        return f"{moves} puts no other class ahead of its label."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        numeric = [f.name for f in domain.features if f.kind in ("continuous", "integer")]
        strips = strip_rows(self.delta, domain, numeric, "LocalRobust")
        points = [_placed(point, domain, i) for i, point in enumerate(self.points)]
        if self.eps is not None:
            return self._changes(strips, points, domain, outputs)
        if not outputs.classes:
            raise SmileError("LocalRobust: labels are classes of a classifier; give eps for numbers and labels.")
        return tuple(_decided(at, wanted, strips, outputs) for at, wanted in zip(points, self.labels, strict=True))

    def _changes(
        self, strips: Sequence[Inequality], points: Sequence[Mapping[str, Fraction]], domain: Domain, outputs: Outputs
    ) -> tuple[Claim, ...]:
        """``|f(a) − f(b)| ≤ ε`` with b at each of the points."""
        moving = {term.name for strip in strips for term in strip.terms}
        equal = tuple(f.name for f in domain.features if f.name not in moving)
        then = bounded_change(self.forms(outputs), self.eps)
        fixed = [tuple(row([(1, 1, "in", name)], value, "==") for name, value in at.items()) for at in points]
        return tuple(Claim(2, (*strips, *rows), then, equal=equal) for rows in fixed)


def _decided(at: Mapping[str, Fraction], wanted: str, strips: Sequence[Inequality], outputs: Outputs) -> Claim:
    """Around one point no other class is ahead of the wanted one."""
    when = [_around(strip, at) for strip in strips]
    moving = {term.name for inequality in when for term in inequality.terms}
    when += [row([(1, 0, "in", name)], value, "==") for name, value in at.items() if name not in moving]
    forms = outputs.forms(wanted, "LocalRobust", directed=True)
    then = tuple(row([(-c, 0, "out", name) for c, name in form]) for form in forms)
    return Claim(1, tuple(when), then)


def _around(strip: Inequality, at: Mapping[str, Fraction]) -> Inequality:
    """``sign·(a.x − b.x) ≤ δ`` with b the point: ``sign·a.x ≤ δ + sign·value``."""
    first = next(term for term in strip.terms if term.copy == 0)
    return row([(first.coef, 0, "in", first.name)], strip.rhs + first.coef * at[first.name])


def _read_points(value: Any) -> tuple[Point, ...]:
    rows = value.to_dict("records") if hasattr(value, "to_dict") and not isinstance(value, Mapping) else value
    if isinstance(rows, Mapping):
        rows = [rows]
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise SmileError("LocalRobust: points are rows, as a data frame or as dictionaries feature → value.")
    return tuple(_read_point(point, i) for i, point in enumerate(rows, 1))


def _read_point(point: Any, i: int) -> Point:
    entries = list(point.items()) if isinstance(point, Mapping) else point
    pairs = isinstance(entries, Sequence) and all(isinstance(e, Sequence) and len(e) == 2 for e in entries)
    if isinstance(entries, str) or not pairs or not entries:
        raise SmileError(f"LocalRobust: point {i} is {point!r}; give a dictionary feature → value.")
    return tuple((_name(name, i), _value(v, name, i)) for name, v in entries)


def _name(name: Any, i: int) -> Name:
    if isinstance(name, bool) or not isinstance(name, (str, Integral)):
        raise SmileError(f"LocalRobust: point {i} names {name!r}, which is not a feature.")
    return name if isinstance(name, str) else int(name)


def _value(value: Any, name: Any, i: int) -> float | str:
    if isinstance(value, str):
        return value
    if not isinstance(value, (Real, Fraction)) or not abs(float(value)) < float("inf"):
        raise SmileError(f"LocalRobust: point {i} has {value!r} for {name!r}; give a finite number or a text.")
    return float(value)


def _placed(point: Point, domain: Domain, i: int) -> dict[str, Fraction]:
    """The coordinates of a point, of a category only the one that is 1."""
    known = dict.fromkeys(domain.indicators.values(), KNOWN)
    given = known | {str(name): value for name, value in point}
    missing = [f.name for f in domain.features if f.name not in given]
    if missing or len(given.keys() - known) != sum(str(name) not in known for name, _ in point):
        raise SmileError(f"LocalRobust: point {i + 1} needs one value for every feature; {listed(missing)} is missing.")
    return dict(_coordinate(feature, given[feature.name], i) for feature in domain.features)


def _coordinate(feature: Feature, value: float | str, i: int) -> tuple[str, Fraction]:
    """The coordinate that a value sets, and to what."""
    if feature.categories:
        text = value if isinstance(value, str) else label(value)
        if text not in feature.categories:
            raise SmileError(
                f"LocalRobust: point {i + 1} has {text!r} for {feature.name!r}, whose values are "
                f"{listed(feature.categories)}."
            )
        place = feature.categories.index(text)
        return (
            (feature.coordinates[place], Fraction(1)) if feature.kind == "category" else (feature.name, Fraction(place))
        )
    found = _number(value, feature, i)
    if not exact(feature.lo) <= found <= exact(feature.hi):
        raise SmileError(
            f"LocalRobust: point {i + 1} has {number(found)} for {feature.name!r}, outside of the domain's "
            f"[{feature.lo:g}, {feature.hi:g}]."
        )
    return feature.name, found


def _number(value: float | str, feature: Feature, i: int) -> Fraction:
    try:
        return Fraction(float(exact(value)) if isinstance(value, str) else value)
    except SmileError:
        raise SmileError(f"LocalRobust: point {i + 1} has {value!r} for {feature.name!r}, which is a number.") from None
