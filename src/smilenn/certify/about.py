"""What a certificate's claims speak of in the user's words, and what its word "certified" takes for granted."""

from __future__ import annotations

from dataclasses import dataclass, field

from smilenn.domain import Domain
from smilenn.properties.forms import Outputs

PINNED = "pinned modules give equal rows equal bits"


def assumptions(*, pinned: bool | None = None) -> tuple[str, ...]:
    """What is assumed and not checked, one short line each.

    `pinned` says whether the network has pinned modules, None where nobody knows.
    """
    modules = {True: (PINNED,), None: (f"{PINNED}, where the model has any",), False: ()}[pinned]
    return (
        "the program runs IEEE float64, rounding to nearest, in one process",
        "PyTorch's elementwise operations and sums are as documented",
        *modules,
        "the mapping from table columns to inputs is that of model.json",
        "the files come from whom you think: no signature was checked (smile check --key checks one)",
    )


@dataclass(frozen=True)
class About:
    """The outputs and the domain that claims speak of (None: not known), and what is assumed."""

    outputs: Outputs | None = None
    domain: Domain | None = None
    assumed: tuple[str, ...] = field(default_factory=assumptions)
