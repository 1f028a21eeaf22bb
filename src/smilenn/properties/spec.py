"""Properties in files: JSON dictionaries and TOML, one ``[[property]]`` table each, told apart by ``kind``.

[[property]]
kind = "monotone"
increasing = ["income"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.custom import Custom
from smilenn.properties.forms import Outputs
from smilenn.properties.rational import exact
from smilenn.properties.registry import class_of, kinds

FORMER = {"one-of": "one_of"}  # kinds as they were spelled once


def property_from_json(data: Mapping[str, Any]) -> Property:
    """The property that `Property.to_json` described.

    >>> property_from_json({"kind": "fair", "protected": ["race"], "eps": "0.2"})
    Fair(protected=['race'], eps=0.2)
    """
    if not isinstance(data, Mapping) or "kind" not in data:
        raise SmileError(f"A property needs a key 'kind'; the kinds are {listed(kinds(), 20)}.")
    cls = class_of(data["kind"])
    if cls is None:
        if isinstance(data["kind"], str) and data["kind"] in FORMER:
            raise SmileError(f"There is no property of kind {data['kind']!r}; write {FORMER[data['kind']]!r}.")
        raise SmileError(
            f"There is no property of kind {data['kind']!r}; the kinds are {listed(kinds(), 20)}. For one of your own, "
            "import the module that registers it first."
        )
    return cls.from_json(data)


def properties_to_json(properties: Iterable[Property]) -> list[dict[str, Any]]:
    """JSON-ready descriptions of several properties."""
    return [item.to_json() for item in properties]


def properties_from_json(data: Any) -> tuple[Property, ...]:
    """Inverse of `properties_to_json`; an error names the number of the property, from 1."""
    if not isinstance(data, list):
        raise SmileError(f"Properties are a list of descriptions, not {data!r}.")
    return tuple(numbered(item, i) for i, item in enumerate(data, 1))


def as_property(value: Any) -> Property:
    """A property as users give it: one of the library, a `Claim`, or a dictionary with a 'kind'."""
    if isinstance(value, Property):
        return value
    if isinstance(value, Claim):
        return Custom.from_claim(value)
    if isinstance(value, Mapping):
        return property_from_json(value)
    raise SmileError(f"{value!r} is not a property; give one such as Monotone(increasing=['income']) or a Claim.")


def lower_all(
    properties: Iterable[Any],
    domain: Domain,
    outputs: Outputs | Sequence[str] = ("",),
    columns: Sequence[str] | None = None,
) -> tuple[Claim, ...]:
    """The claims of several properties (or raw claims) on a domain, in order; arguments as in `Property.lower`."""
    return tuple(claim for item in properties for claim in as_property(item).lower(domain, outputs, columns))


def read_toml(text: str, source: str = "the property file") -> tuple[Property, ...]:
    """The properties of a TOML text; errors name `source` and the number of the property, from 1."""
    try:
        data = tomllib.loads(text, parse_float=exact)
    except tomllib.TOMLDecodeError as error:
        raise SmileError(f"{source} is not valid TOML: {error}.") from None
    except (SmileError, RecursionError) as error:
        raise SmileError(f"{source} cannot be read: {error}") from None
    unknown = sorted(set(data) - {"property"})
    if unknown:
        raise SmileError(f"{source} has the key {listed(unknown)}; it holds [[property]] tables only.")
    tables = data.get("property", [])
    if not isinstance(tables, list) or not tables:
        raise SmileError(f"{source} states no property; add a [[property]] table with a 'kind'.")
    return tuple(numbered(table, i, f"{source}, ") for i, table in enumerate(tables, 1))


def load_properties(path: str | Path) -> tuple[Property, ...]:
    """The properties of a TOML file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SmileError(f"{str(path)!r} cannot be read: {error.strerror or error}; check the path.") from None
    except UnicodeDecodeError:
        raise SmileError(f"{str(path)!r} is not a text file in UTF-8; save it as UTF-8.") from None
    return read_toml(text, str(path))


def numbered(data: Any, i: int, prefix: str = "") -> Property:
    """A property as it was described, the i-th of a list: errors say so."""
    try:
        return property_from_json(data)
    except SmileError as error:
        raise SmileError(f"{prefix}property {i}: {error}") from None


def __getattr__(name: str) -> Any:
    if name == "KINDS":
        raise ImportError(  # `from … import KINDS` would replace the words of an AttributeError
            "smilenn.properties.spec.KINDS is gone: smilenn.register_property adds a kind, and "
            "smilenn.properties.registry.kinds() lists them"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
