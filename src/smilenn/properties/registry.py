"""Which class reads a property of which kind: those of this package, and those that a program registers.

    properties.json, TOML   {"kind": "monotone", …}  ─▶  class_of("monotone")  ─▶  Monotone.from_json

A file names kinds, never modules: reading one imports nothing, so that a folder cannot make a program run its code.
"""

from __future__ import annotations

import re
from typing import TypeVar

from smilenn.errors import SmileError
from smilenn.properties.alternatives import OneOf
from smilenn.properties.base import Property
from smilenn.properties.change import Fair, Lipschitz, Robust
from smilenn.properties.curvature import Concave, Convex
from smilenn.properties.custom import Custom, Safe
from smilenn.properties.local import LocalRobust
from smilenn.properties.order import Dominates, Monotone
from smilenn.properties.outputs import Bounded, Exclusive, Ordered, SumAtMost
from smilenn.properties.symmetry import Symmetric

P = TypeVar("P", bound=type[Property])
KIND = re.compile(r"[a-z][a-z0-9_.-]{0,63}")

OWN: tuple[type[Property], ...] = (
    Monotone,
    Robust,
    Fair,
    Lipschitz,
    Convex,
    Concave,
    Symmetric,
    Dominates,
    Bounded,
    Ordered,
    Exclusive,
    SumAtMost,
    OneOf,
    LocalRobust,
    Safe,
    Custom,
)
_own: dict[str, type[Property]] = {cls.kind: cls for cls in OWN}
_registered: dict[str, type[Property]] = {}


def register_property(cls: P) -> P:
    """Make a property of your own readable wherever a kind is: in model folders, TOML files and dictionaries.

    Use it as a decorator of the class, or call it. Whoever loads a folder with such a property imports the module that
    registers it first; without it `load` keeps the claims as they were written and says so.

    >>> from dataclasses import dataclass
    >>> from smilenn import Claim, Property, register_property
    >>> from smilenn.properties import property_from_json, row
    >>> @register_property
    ... @dataclass(frozen=True)
    ... class NonNegative(Property):
    ...     kind = "acme.non_negative"
    ...
    ...     def claims(self, domain, outputs):
    ...         return (Claim(1, (), tuple(row([(-1, 0, "out", name)]) for name in outputs.names)),)
    ...
    ...     def sentence_about(self, output):
    ...         return f"{output[0].upper()}{output[1:]} is never negative."
    >>> property_from_json({"kind": "acme.non_negative"}).sentence()
    'The output is never negative.'

    A kind belongs to one class: those of this package are taken, and a class of the same module and name takes the
    place of the one before it, as when a notebook's cell runs again.
    """
    if not isinstance(cls, type) or not issubclass(cls, Property):
        raise SmileError(f"register_property takes a subclass of smilenn.Property, not {cls!r}.")
    who, kind = cls.__name__, getattr(cls, "kind", None)
    if missing := sorted(getattr(cls, "__abstractmethods__", ())):
        raise SmileError(f"{who} cannot be registered: it lacks {', '.join(missing)}.")
    made = vars(cls).get("__dataclass_params__")  # its own: a subclass without the decorator would lose its fields
    if made is None or not made.frozen:
        raise SmileError(f"{who} must be a frozen dataclass; write @dataclass(frozen=True) below @register_property.")
    if not isinstance(kind, str) or not KIND.fullmatch(kind):
        raise SmileError(
            f"{who} has the kind {kind!r}; give it one of small letters, digits, dots and underscores, such as "
            "kind = 'acme.steady'."
        )
    before = class_of(kind)
    if kind in _own or (before is not None and where(before) != where(cls)):
        raise SmileError(f"The kind {kind!r} belongs to {where(before or cls)}; give {who} another one.")
    _registered[kind] = cls
    return cls


def class_of(kind: object) -> type[Property] | None:
    """The class that reads properties of a kind, None where there is none."""
    return (_own.get(kind) or _registered.get(kind)) if isinstance(kind, str) else None


def kinds() -> tuple[str, ...]:
    """All kinds, those of this package first."""
    return (*_own, *_registered)


def is_own(item: Property) -> bool:
    """Whether a property is one of this package's."""
    return type(item) in OWN


def where(cls: type) -> str:
    """``module.Class``, for messages."""
    return f"{cls.__module__}.{cls.__qualname__}"
