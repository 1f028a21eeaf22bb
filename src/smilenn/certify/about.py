"""What a certificate's claims speak of in the user's words, and what its word "certified" takes for granted."""

from __future__ import annotations

from dataclasses import dataclass, field

from smilenn.domain import Domain
from smilenn.properties.forms import Outputs

UNSIGNED = "unsigned"
PINNED = "pinned modules give equal rows equal bits"


def assumptions(*, pinned: bool | None = None, manifest: str = UNSIGNED) -> tuple[str, ...]:
    """What is assumed and not checked, one short line each.

    `pinned` says whether the network has pinned modules, None where nobody knows; `manifest` is ``unsigned`` or
    ``signed by KEY``.
    """
    modules = {True: (PINNED,), None: (f"{PINNED}, where the model has any",), False: ()}[pinned]
    return (
        "the program runs IEEE float64, rounding to nearest, in one process",
        "PyTorch's elementwise operations and sums are as documented",
        *modules,
        "the mapping from table columns to inputs is that of model.json",
        f"the manifest is {manifest}",
    )


@dataclass(frozen=True)
class About:
    """The outputs and the domain that claims speak of (None: not known), and what is assumed."""

    outputs: Outputs | None = None
    domain: Domain | None = None
    assumed: tuple[str, ...] = field(default_factory=assumptions)
