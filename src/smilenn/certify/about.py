"""What a certificate's claims are about, in the user's words, and what its word "certified" takes for granted.

The list of assumptions is made here and nowhere else. Statement, report and card print the lines; a terminal prints
the names in one line; the trust page (docs/trust.md) has a row for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from smilenn.domain import Domain
from smilenn.properties.forms import Outputs

HEADING = "Assumed, not checked:"
PAGE = "docs/trust.md"  # where each assumption stands with what guards it


@dataclass(frozen=True)
class Assumption:
    """Something that nobody checks: its name, and a line that says it."""

    name: str
    line: str


PROCESS = Assumption("the process that predicts", "the program runs IEEE float64, rounding to nearest, in one process")
TORCH = Assumption(
    "PyTorch's and NumPy's elementwise arithmetic",
    "PyTorch and NumPy round √ and elementwise operations correctly, add as documented and keep to one thread if told",
)
PINNED = Assumption("pinned modules", "pinned modules give equal rows equal bits")
PERHAPS_PINNED = Assumption("pinned modules, if any", f"{PINNED.line}, where the model has any")
TABLE = Assumption("the way from a table to inputs", "the mapping from table columns to inputs is that of model.json")
ORIGIN = Assumption(
    "who made the folder",
    "the files come from whom you think: no signature was checked (smile check --key checks one)",
)
WORKERS = Assumption("the workers of the cluster", "the machines of the cluster that checked claims ran the checker")
KEY = Assumption("who keeps the key", "nobody but whom you think has the private key of the signature")


def assumptions(*, pinned: bool | None = None) -> tuple[Assumption, ...]:
    """What is assumed and not checked; `pinned`: whether the network has pinned modules, None where nobody knows."""
    modules = {True: (PINNED,), None: (PERHAPS_PINNED,), False: ()}[pinned]
    return (PROCESS, TORCH, *modules, TABLE, ORIGIN)


def once_signed(assumed: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """The same where the folder's signature was checked."""
    return tuple(KEY if item is ORIGIN else item for item in assumed)


def by_workers(assumed: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """The same where claims were checked on a cluster."""
    return (*assumed, WORKERS)


def in_short(assumed: Iterable[Assumption]) -> str:
    """The names in one line, and where to read about them.

    >>> in_short(assumptions(pinned=False)[:2])
    "Assumed, not checked: the process that predicts, PyTorch's and NumPy's elementwise arithmetic (docs/trust.md)."
    """
    return f"{HEADING} {', '.join(item.name for item in assumed)} ({PAGE})."


def describes_pinned(net: Mapping[str, Any]) -> bool:
    """Whether a network as model.json describes it (`net`) has pinned modules."""
    return any(layer["kind"] == "pinned" for branch in net.get("encoder") or () for layer in branch["layers"])


@dataclass(frozen=True)
class About:
    """The outputs and the domain that claims are about (None: not known), and what is assumed."""

    outputs: Outputs | None = None
    domain: Domain | None = None
    assumed: tuple[Assumption, ...] = field(default_factory=assumptions)
