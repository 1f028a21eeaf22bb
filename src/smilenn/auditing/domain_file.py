"""The inputs of a network in a TOML file: one ``[[feature]]`` table each, in the network's order.

[[feature]]
name = "age"
kind = "integer"
lo = 18
hi = 90
values = [25, 60]

`values` are those that the feature takes where it differs between the copies; without them all are compared.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed

KEYS = {"name", "kind", "lo", "hi", "categories", "values", "unit"}
BOUNDED = ("continuous", "integer")


def read_domain(path: Path) -> tuple[Domain, dict[str, list[Any]]]:
    """The domain, and the values of features that have some."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SmileError(f"{str(path)!r} cannot be read: {error.strerror}; check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SmileError(f"{str(path)!r} is not a readable TOML file ({error}).") from None
    entries = content.get("feature")
    if set(content) != {"feature"} or not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise SmileError(f"{str(path)!r} must hold [[feature]] tables and nothing else.")
    features, values = [], {}
    for place, entry in enumerate(entries, 1):
        where = f"{path.name}, feature {place}"
        features.append(_feature(entry, where))
        if "values" in entry:
            if not isinstance(entry["values"], list):
                raise SmileError(f"{where}: values is {entry['values']!r}; give a list of numbers.")
            values[features[-1].name] = entry["values"]
    return Domain(tuple(features)), values


def _feature(entry: dict[str, Any], where: str) -> Feature:
    unknown = sorted(set(entry) - KEYS)
    if unknown or "name" not in entry:
        fault = f"has the unknown keys {listed(unknown)}" if unknown else "has no name"
        raise SmileError(f"{where} {fault}; a feature is described by {listed(sorted(KEYS))}.")
    kind = entry.get("kind", "continuous")
    missing = [key for key in ("lo", "hi") if key not in entry]
    if kind in BOUNDED and missing:
        raise SmileError(f"{where} ({entry['name']!r}) has no {missing[0]}; every number needs finite bounds.")
    categories = entry.get("categories", [])
    if not isinstance(categories, list):  # the letters of a text would be categories too
        raise SmileError(f"{where}: categories is {categories!r}; give a list of names.")
    rest = {key: entry[key] for key in ("lo", "hi", "unit") if key in entry}
    return Feature(entry["name"], kind, categories=tuple(categories), **rest)
