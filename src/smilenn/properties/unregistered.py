"""Properties of a model folder whose class this process does not know: their claims as the folder states them.

    properties.json   {"properties": […], "claims": […], "claims_of": how many claims each property has,
                       "classes": {kind: where its class is defined}, of kinds that are not this package's}

A certificate is about claims, and the checkers compare it with the claims of properties.json. So what is certified
can be read, used and checked without the class; only that the claims are what the property's name promises, nobody here
can say. The name is therefore treated like a comment: kept, shown, and never relied on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeGuard, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed, printable
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.registry import class_of, is_own, where
from smilenn.properties.spec import numbered, properties_to_json
from smilenn.properties.wording import say


class UnregisteredWarning(UserWarning):
    """A property was read whose class is not registered here: its claims are used as they are written."""


@final
@dataclass(frozen=True, repr=False)
class Unregistered(Property):
    """What is left of a property whose class is not registered: its description as JSON text, and its claims.

    `defined` is where the folder says that its class is.
    """

    description: str
    stated: tuple[Claim, ...]
    defined: str = ""
    kind: ClassVar[str] = "unregistered"  # of no file: it is saved under the kind of its description

    @property
    def stated_kind(self) -> str:
        """The kind that the description names."""
        return printable(str(json.loads(self.description)["kind"]))

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        return self.stated

    def sentence_about(self, output: str) -> str:
        return " ".join(say(claim) for claim in self.stated)

    def formula(self) -> str:
        return "; ".join(claim.formula() for claim in self.stated)

    def to_json(self) -> dict[str, Any]:
        return json.loads(self.description)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        raise SmileError("A property whose class is not registered is read from its model folder only.")

    def __repr__(self) -> str:
        count = "1 claim" if len(self.stated) == 1 else f"{len(self.stated)} claims"
        return f"<property {self.stated_kind!r}, not registered here: {count} as written>"


def properties_document(properties: Sequence[Property], lowered: Sequence[Sequence[Claim]]) -> dict[str, Any]:
    """The content of properties.json for properties and the claims of each."""
    classes = {}
    for item in properties:
        if isinstance(item, Unregistered):
            classes |= {item.stated_kind: item.defined} if item.defined else {}
        elif not is_own(item):
            classes[item.kind] = where(type(item))
    return {
        "properties": properties_to_json(properties),
        "claims": [claim.to_json() for claims in lowered for claim in claims],
        "claims_of": [len(claims) for claims in lowered],
    } | ({"classes": classes} if classes else {})


def stated_properties(document: Mapping[str, Any]) -> tuple[Property, ...]:
    """The properties of a properties.json; those of kinds that are not registered as `Unregistered`."""
    listed_ = document["properties"]
    if not isinstance(listed_, list):
        raise SmileError(f"Properties are a list of descriptions, not {listed_!r}.")
    unknown = [_unknown(item) for item in listed_]
    if not any(unknown):
        return tuple(numbered(item, i) for i, item in enumerate(listed_, 1))
    parts, classes = _parts(document, len(listed_)), classes_of(document)
    out: list[Property] = []
    for i, (item, claims) in enumerate(zip(listed_, parts, strict=True), 1):
        if unknown[i - 1]:
            out.append(Unregistered(json.dumps(item), claims, classes.get(item["kind"], "")))
        else:
            out.append(numbered(item, i))
    return tuple(out)


def _unknown(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("kind"), str) and class_of(item["kind"]) is None


def _parts(document: Mapping[str, Any], count: int) -> list[tuple[Claim, ...]]:
    """The claims of each property. A property without any would promise something that nobody has stated."""
    claims = [Claim.from_json(claim) for claim in document["claims"]]
    sizes = document.get("claims_of", [len(claims)] if count == 1 else None)
    if not _are_sizes(sizes) or len(sizes) != count or sum(sizes) != len(claims):
        raise SmileError(
            f"{unregistered_kinds(document)} and 'claims_of' does not say which claims are theirs; import the module "
            "that registers them first."
        )
    ends = [sum(sizes[:i]) for i in range(count + 1)]
    return [tuple(claims[start:end]) for start, end in pairwise(ends)]


def _are_sizes(sizes: Any) -> TypeGuard[list[int]]:
    """Whether these are positive whole numbers in a list."""
    return isinstance(sizes, list) and all(type(n) is int and n > 0 for n in sizes)


def classes_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Where properties.json says that the classes of its kinds are defined: texts that nobody has checked."""
    found = document.get("classes", {})
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, Mapping) else {}


def unregistered_kinds(document: Mapping[str, Any]) -> str:
    """``Properties of the kinds 'a.b', 'a.c' are not registered here``; empty where all are."""
    names = sorted({printable(item["kind"]) for item in document["properties"] if _unknown(item)})
    return "" if not names else f"Properties of kind {listed(names)} are not registered here"


def unregistered_note(document: Mapping[str, Any]) -> str:
    """The sentence that says which kinds are not known here, what that means and what to do; empty where all are."""
    start = unregistered_kinds(document)
    if not start:
        return ""
    modules = sorted({printable(name.rsplit(".", 1)[0]) for name in classes_of(document).values()})
    named = f" (the folder names {listed(modules)})" if modules else ""
    return (
        f"{start}: their claims are used as written, and the property's name is a comment that nobody checked; import "
        f"the module that registers them{named} first to compare the two."
    )
