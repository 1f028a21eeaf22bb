"""What a property is: something a person can name that becomes claims on a domain.

A property is a frozen value that knows feature names but neither domain nor network. `lower` turns it into exact
claims (claim.py); it also prints itself as one English sentence and as a formula, and is saved as JSON under its
`kind`. `Property` is abstract, those of library.py and custom.py are final.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim, Inequality, exact, number, row
from smilenn.properties.forms import Form, Outputs, change
from smilenn.properties.wording import say

Name = str | int  # a feature by its name, or by the position of its column
Rename = Callable[[Name], str]


class Property(ABC):
    """Base of all properties.

    Attributes
    ----------
    kind : the word for it in JSON and TOML.
    """

    kind: ClassVar[str]

    def lower(
        self, domain: Domain, outputs: Outputs | Sequence[str] = ("",), columns: Sequence[str] | None = None
    ) -> tuple[Claim, ...]:
        """The claims it makes on a domain, of a network with these outputs (a scalar network's is called '').

        A feature named by position is the one at that place of `columns`, by default the domain's own. The claims'
        sentences are made from their rows (wording.py), unless the property brings a text of the user's.
        """
        spoken = Outputs.of(outputs)
        if not spoken.names:
            raise SmileError(f"{type(self).__name__}: the network has no outputs to speak of.")
        named = self.named(domain, columns)
        claims = named._claims(domain, spoken)
        return tuple(replace(claim, sentence=claim.sentence or say(claim, spoken, domain)) for claim in claims)

    @property
    def speaks_of(self) -> str | None:
        """The output that it names; None for all of them."""
        return None

    def named(self, domain: Domain, columns: Sequence[str] | None = None) -> Self:
        """The same property with every feature called by its name in the domain, positions resolved as in `lower`."""
        places = domain.columns if columns is None else columns
        return self._renamed(lambda name: _feature_name(domain, name, type(self).__name__, places))

    def sentence(self, target: str = "") -> str:
        """The property as one English sentence about the predicted `target`.

        A property does not know what will be predicted: without a name it speaks of "the output". The sentences of its
        claims (`lower`) name what the model predicts: a number, the log-odds of a class, a margin.
        """
        called = f"the predicted {target!r}" if target else "the output"
        return self._sentence(called if self.speaks_of is None else repr(self.speaks_of))

    @abstractmethod
    def formula(self) -> str:
        """The property as ``∀ copies ∈ X: premise ⇒ conclusion``."""

    @abstractmethod
    def _renamed(self, rename: Rename) -> Self:
        """The same property with every feature name replaced."""

    @abstractmethod
    def _sentence(self, output: str) -> str:
        """The sentence, with the words for the output."""

    @abstractmethod
    def _claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        """The claims; every name is a feature of the domain by now."""

    @classmethod
    def _arguments(cls) -> list[Field[Any]]:
        """The constructor's arguments, those given by name only last."""
        return sorted(fields(cls), key=lambda f: bool(f.kw_only))  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary: the kind and the constructor's arguments, rationals as text."""
        return {"kind": self.kind} | {f.name: _to_json(getattr(self, f.name)) for f in self._arguments()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`; an unknown or missing key is an error that names the known ones."""
        known = {f.name: f for f in cls._arguments()}
        unknown = sorted(str(key) for key in set(data) - set(known) - {"kind"})
        if unknown:
            raise SmileError(
                f"A property of kind {cls.kind!r} has no key {listed(unknown)}; its keys: {listed(known)}."
            )
        missing = [n for n, f in known.items() if n not in data and f.default is MISSING]
        if missing:
            raise SmileError(f"A property of kind {cls.kind!r} needs the key {listed(missing)}.")
        if data.get("kind", cls.kind) != cls.kind:
            raise SmileError(f"A property of kind {data['kind']!r} was given where {cls.kind!r} is read.")
        return cls(**{key: value for key, value in data.items() if key != "kind"})

    def __repr__(self) -> str:
        parts = []
        for f in self._arguments():
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default:
                plain = isinstance(value, Fraction) and exact(float(value)) == value
                shown = _to_json(value)
                parts.append(f"{f.name}={shown if plain else repr(shown)}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _feature_name(domain: Domain, name: Name, who: str, columns: Sequence[str]) -> str:
    """The feature a property names; a whole number is the position of a column."""
    known = [feature.name for feature in domain.features]
    if str(name) in known:
        return str(name)
    if isinstance(name, int) and 0 <= name < len(columns) and columns[name] in domain.columns:
        return next(f.name for f in domain.features if columns[name] in f.raw_columns)
    raise SmileError(f"{who} names {name!r}, which is not a feature; the features are {listed(known)}.")


def _to_json(value: Any) -> Any:
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, tuple):
        return [_to_json(v) for v in value]
    if isinstance(value, Mapping):
        return {key: _to_json(v) for key, v in value.items()}
    return value


def set_fields(instance: object, **values: Any) -> None:
    """Store normalised arguments on a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def rename_all(names: Sequence[Name], rename: Rename) -> tuple[str, ...]:
    """Every name replaced."""
    return tuple(rename(name) for name in names)


# ---- reading constructor arguments ----------------------------------------------------------------------------------


def read_names(value: Any, who: str, what: str = "features", *, optional: bool = False) -> tuple[Name, ...]:
    """Feature names as a tuple; one text stands for itself, an empty list or a repetition is an error."""
    single = isinstance(value, (str, Integral))
    if not single and not isinstance(value, Iterable):
        raise SmileError(f"{who}: {what} is {value!r}; give a list of feature names.")
    items = [value] if single else sorted(value, key=str) if isinstance(value, (set, frozenset)) else list(value)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (str, Integral)):
            raise SmileError(f"{who}: {what} holds {item!r}, which is not a feature name.")
    names = tuple(item if isinstance(item, str) else int(item) for item in items)
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise SmileError(f"{who}: {what} names {listed(twice)} twice; name it once.")
    if not names and not optional:
        raise SmileError(f"{who}: {what} is empty; name at least one feature.")
    return names


def read_number(
    value: Any, who: str, what: str, *, sign: Literal["any", "not negative", "positive"] = "not negative"
) -> Fraction:
    """An exact number of the wanted sign."""
    try:
        result = exact(value)
    except SmileError as error:
        raise SmileError(f"{who}: {what}: {error}") from None
    if sign != "any" and (result < 0 or (sign == "positive" and result == 0)):
        wanted = "more than 0" if sign == "positive" else "0 or more"
        raise SmileError(f"{who}: {what} is {number(result)}; it must be {wanted}.")
    return result


def quoted(names: Iterable[Name], last: str = "and") -> str:
    """Names in a sentence: ``'a', 'b' and 'c'``, escaped as Python does; positions read ``column 3``."""
    items = [repr(name) if isinstance(name, str) else f"column {name}" for name in names]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


# ---- rows the properties share --------------------------------------------------------------------------------------


def numeric(domain: Domain, name: str, who: str) -> Feature:
    """The feature, which must be a number (continuous, integer or binary)."""
    feature = domain.feature(name)
    if feature.kind == "category":
        raise SmileError(
            f"{who}: {name!r} is a category and its values have no order; give it integer codes, or state the order "
            f'of its values with claims such as a.{name} == "{feature.categories[0]}".'
        )
    return feature


def ordered(domain: Domain, name: str, who: str) -> Feature:
    """The feature, which must be a number whose order means something: not two names read as 0 and 1."""
    feature = numeric(domain, name, who)
    if feature.categories:
        raise SmileError(
            f"{who}: {name!r} holds the names {listed(feature.categories)}, which have no order; give it the numbers 0 "
            "and 1 instead."
        )
    return feature


def bounded_change(forms: Iterable[Form], eps: Fraction) -> tuple[Inequality, ...]:
    """``−eps ≤ form(a) − form(b) ≤ eps`` for every form, two rows each."""
    return tuple(row(change(form, sign), eps) for form in forms for sign in (1, -1))
