"""What a property is: something a person can name that becomes claims on a domain.

A property is a frozen value that knows feature names but neither domain nor network. `lower` turns it into exact
claims (claim.py); it also prints itself as one English sentence and as a formula, and is saved as JSON under its
`kind`. `Property` is abstract, those of library.py and custom.py are final. Others subclass it (docs/extending.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from fractions import Fraction
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

from smilenn.domain import Domain, Feature
from smilenn.domain.written import doubt
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim, Inequality, plain, row
from smilenn.properties.forms import Form, Outputs, change
from smilenn.properties.known import explicit
from smilenn.properties.rational import exact, number
from smilenn.properties.thresholds import on_cells
from smilenn.properties.wording import say

Name = str | int  # a feature by its name, or by the position of its column
SHOWN = 6  # values of a category in a message
Rename = Callable[[Name], str]
HOOKS = {"_claims": "claims", "_renamed": "renamed", "_sentence": "sentence_about"}  # as they were called in 0.1


class Property(ABC):
    """Base of all properties: a frozen dataclass with a `kind`, which two hooks turn into claims and words.

    >>> from dataclasses import dataclass
    >>> from smilenn import Claim, Domain, Property
    >>> from smilenn.properties import row
    >>> @dataclass(frozen=True)
    ... class AtMost(Property):
    ...     feature: str
    ...     kind = "at_most"
    ...
    ...     def claims(self, domain, outputs):
    ...         terms = [(1, 0, "out", outputs.names[0]), (-1, 0, "in", self.feature)]
    ...         return (Claim(1, (), (row(terms),)),)
    ...
    ...     def sentence_about(self, output):
    ...         return f"{output[0].upper()}{output[1:]} is never above {self.feature!r}."
    >>> AtMost("income").lower(Domain.box([0], [9], names=["income"]))[0].formula()
    '∀ a ∈ X: a.out - a["income"] <= 0'

    `smilenn.register_property` makes it readable from files; `smilenn.testing.PropertyContract` tests it.

    Attributes
    ----------
    kind : the word for it in JSON and TOML.
    moves : whether it only moves the numbers that it names. A number that may be missing is then missing in all copies
        or in none; in other properties it is known wherever a row names it (known.py).
    """

    kind: ClassVar[str]
    moves: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for old in HOOKS.keys() & vars(cls).keys():
            raise SmileError(f"{cls.__name__} defines {old}, which is called {HOOKS[old]} now; rename it.")
        if "lower" in vars(cls):  # it is what makes claims plain and compares their names with the domain's
            raise SmileError(f"{cls.__name__} defines lower, which every property inherits; define claims instead.")

    # ---- what a property brings -------------------------------------------------------------------------------------

    @abstractmethod
    def claims(self, domain: Domain, outputs: Outputs) -> Sequence[Claim]:
        """The claims on a domain, of a network with these outputs; every name is a feature of the domain by now.

        Depends on nothing but its arguments: a saved model is translated again wherever it is loaded or checked.
        """

    @abstractmethod
    def sentence_about(self, output: str) -> str:
        """The property as one English sentence, with the words for the output: ``the predicted 'price'``, ``'low'``."""

    def renamed(self, rename: Rename) -> Self:
        """The same property with `rename(name)` in place of every feature that it takes by name or position.

        A property without features is itself. Others put the new names in:
        ``replace(self, feature=rename(self.feature))``.
        """
        return self

    def formula(self) -> str:
        """The property as ``∀ copies ∈ X: premise ⇒ conclusion``; as it is constructed, where it brings no formula.

        The claims' own formulas (`Claim.formula`) are the exact ones.
        """
        return repr(self)

    @property
    def speaks_of(self) -> str | None:
        """The output that it names; None for all of them."""
        return None

    # ---- what everybody else calls ----------------------------------------------------------------------------------

    def lower(
        self, domain: Domain, outputs: Outputs | Sequence[str] = ("",), columns: Sequence[str] | None = None
    ) -> tuple[Claim, ...]:
        """The claims it makes on a domain, of a network with these outputs (a scalar network's is called '').

        A feature named by position is the one at that place of `columns`, by default the domain's own. The claims'
        sentences are made from their rows (wording.py), unless the property brings a text of the user's.
        """
        known, who = Outputs.of(outputs), type(self).__name__
        if not known.names:
            raise SmileError(f"{who}: the network has no outputs.")
        given = tuple(self.named(domain, columns).claims(domain, known))
        _refuse_no_claims(given, who)
        claims = tuple(map(plain, given))  # what is certified, saved and said is one and the same
        for claim in claims:
            _refuse_unknown_names(claim, domain, known, who)
        claims = tuple(on_cells(explicit(claim, domain, moves=self.moves), domain) for claim in claims)
        return tuple(replace(claim, sentence=claim.sentence or say(claim, known, domain)) for claim in claims)

    def named(self, domain: Domain, columns: Sequence[str] | None = None) -> Self:
        """The same property with every feature called by its name in the domain, positions resolved as in `lower`."""
        places = domain.columns if columns is None else columns
        return self.renamed(lambda name: _feature_name(domain, name, type(self).__name__, places))

    def sentence(self, target: str = "") -> str:
        """The property as one English sentence about the predicted `target`.

        A property does not know what will be predicted: without a name it says "the output". The sentences of its
        claims (`lower`) name what the model predicts: a number, the log-odds of a class, a margin.
        """
        called = f"the predicted {target!r}" if target else "the output"
        return self.sentence_about(called if self.speaks_of is None else repr(self.speaks_of))

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
        cls._refuse_keys(data)
        if data.get("kind", cls.kind) != cls.kind:
            raise SmileError(f"A property of kind {data['kind']!r} was given where {cls.kind!r} is read.")
        return cls(**{key: value for key, value in data.items() if key != "kind"})

    @classmethod
    def _refuse_keys(cls, data: Mapping[str, Any]) -> None:
        known = {f.name: f for f in cls._arguments()}
        unknown = sorted(str(key) for key in set(data) - set(known) - {"kind"})
        if unknown:
            raise SmileError(
                f"A property of kind {cls.kind!r} has no key {listed(unknown)}; its keys: {listed(known)}."
            )
        missing = [n for n, f in known.items() if n not in data and f.default is MISSING]
        if missing:
            raise SmileError(f"A property of kind {cls.kind!r} needs the key {listed(missing)}.")

    def __repr__(self) -> str:
        parts = []
        for f in self._arguments():
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default:
                plain = isinstance(value, Fraction) and exact(float(value)) == value
                shown = _to_json(value)
                parts.append(f"{f.name}={shown if plain else repr(shown)}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _refuse_no_claims(claims: tuple[object, ...], who: str) -> None:
    """Raise unless the hook `claims` gave claims, one at least: a property that claims nothing would always hold."""
    if not claims:
        raise SmileError(f"{who} makes no claim on this domain, so nothing would be proved; leave it out.")
    odd = [type(claim).__name__ for claim in claims if not isinstance(claim, Claim)]
    if odd:
        raise SmileError(f"{who}.claims gives {odd[0]} where a Claim is wanted; give a tuple of claims.")


def _refuse_unknown_names(claim: Claim, domain: Domain, outputs: Outputs, who: str) -> None:
    """Raise where a claim names a feature or an output that is not there: `renamed` or `claims` left it as it was."""
    inputs = _names_in(claim, "in").union(claim.equal, claim.free, dict(claim.ball))
    unknown = sorted(map(str, inputs - set(domain.slices) - set(domain.coordinates)))
    if unknown:
        known = listed(feature.name for feature in domain.features)
        raise SmileError(f"{who} names {listed(unknown)}, which is not a feature; the features are {known}.")
    missing = sorted(_names_in(claim, "out") - set(outputs.names))
    if missing:
        raise SmileError(f"{who} names the output {listed(missing)}; there are {listed(outputs.names, 20)}.")


def _names_in(claim: Claim, kind: Literal["in", "out"]) -> set[str]:
    """Inputs or outputs that the rows of a claim name."""
    rows = chain(claim.when, claim.then, *claim.either)
    return {term.name for inequality in rows for term in inequality.terms if term.kind == kind}


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
    names = tuple(_read_name(item, who, what) for item in _items(value, who, what))
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise SmileError(f"{who}: {what} names {listed(twice)} twice; name it once.")
    if not names and not optional:
        raise SmileError(f"{who}: {what} is empty; name at least one feature.")
    return names


def _items(value: Any, who: str, what: str) -> Iterable[Any]:
    """One name as a list of one; a set in the order of its names."""
    if isinstance(value, (str, Integral)):
        return [value]
    if not isinstance(value, Iterable):
        raise SmileError(f"{who}: {what} is {value!r}; give a list of feature names.")
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else value


def _read_name(item: Any, who: str, what: str) -> Name:
    if isinstance(item, bool) or not isinstance(item, (str, Integral)):
        raise SmileError(f"{who}: {what} holds {item!r}, which is not a feature name.")
    return item if isinstance(item, str) else int(item)


Sign = Literal["any", "not negative", "positive"]


def read_number(value: Any, who: str, what: str, *, sign: Sign = "not negative", unit: str = "") -> Fraction:
    """An exact number of the wanted sign; `unit` follows it in messages."""
    try:
        result = exact(value)
    except SmileError as error:
        raise SmileError(f"{who}: {what}: {error}") from None
    if sign != "any" and (result < 0 or (sign == "positive" and result == 0)):
        wanted = "more than 0" if sign == "positive" else "0 or more"
        raise SmileError(f"{who}: {what} is {number(result)}{unit}; it must be {wanted}.")
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
            f"{who}: {name!r} is a category and its values have no order; {order_remedy(name, feature.categories)}."
        )
    return feature


def order_remedy(name: str, values: tuple[str, ...]) -> str:
    """How to say the order of a category's values; of many a few, and what cells that look like numbers may need."""
    if why := doubt(values):
        return why
    more = len(values) - SHOWN
    told = f"[{', '.join(map(repr, values[:SHOWN]))}, …]" if more > 0 else repr(list(values))
    count = f" with all {len(values)} values" if more > 0 else ""
    return f"say their order, as in domain=Columns(order={{{name!r}: {told}}}){count}, lowest first"


def ordered(domain: Domain, name: str, who: str) -> Feature:
    """The feature, which must be a number whose order means something: not two names read as 0 and 1."""
    feature = numeric(domain, name, who)
    if feature.categories:
        raise SmileError(
            f"{who}: {name!r} holds the names {listed(feature.categories)}, which have no order; say it, as in "
            f"domain=Columns(order={{{name!r}: {list(feature.categories)!r}}}), lowest first."
        )
    return feature


def bounded_change(forms: Iterable[Form], eps: Fraction) -> tuple[Inequality, ...]:
    """``−eps ≤ form(a) − form(b) ≤ eps`` for every form, two rows each."""
    return tuple(row(change(form, sign), eps) for form in forms for sign in (1, -1))
