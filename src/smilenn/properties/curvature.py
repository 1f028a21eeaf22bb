"""Which way the output bends.

Convex      2·b_P = a_P + c_P, rest equal      ⇒  2·f(b) ≤ f(a) + f(c)
Concave     2·b_P = a_P + c_P, rest equal      ⇒  2·f(b) ≥ f(a) + f(c)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.properties.base import Name, Rename, ordered, quoted, read_names, rename_all, set_fields
from smilenn.properties.claim import Claim, row
from smilenn.properties.forms import Outputs
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.reach import reference


@dataclass(frozen=True, repr=False)
class _Curved(OutputProperty):
    """Copy b lies halfway between a and c: ``sign·(2·f(b) − f(a) − f(c)) ≤ 0``."""

    features: Sequence[Name]
    sign: ClassVar[int]
    directed: ClassVar[bool] = True
    moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, features=read_names(self.features, type(self).__name__))

    def formula(self) -> str:
        halfway = ", ".join(f"2 * {reference(n, 1)} == {reference(n, 0)} + {reference(n, 2)}" for n in self.features)
        op = "<=" if self.sign > 0 else ">="
        return (
            f"∀ a, b, c ∈ X: {halfway}, other features equal ⇒ 2 * {self._out(1)} {op} {self._out(0)} + {self._out(2)}"
        )

    def renamed(self, rename: Rename) -> Self:
        return replace(self, features=rename_all(self.features, rename))

    def sentence_about(self, output: str) -> str:
        side = "at most" if self.sign > 0 else "at least"
        return (
            f"Halfway between two values of {quoted(self.features)}, everything else equal, "
            f"{output} is {side} the mean of its two values there."
        )

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        sign, names = self.sign, [ordered(domain, str(name), type(self).__name__).name for name in self.features]
        when = tuple(row([(2, 1, "in", name), (-1, 0, "in", name), (-1, 2, "in", name)], 0, "==") for name in names)
        then = tuple(
            row([(c * part, copy, "out", o) for c, o in form for copy, part in ((1, 2 * sign), (0, -sign), (2, -sign))])
            for form in self.forms(outputs)
        )
        return (Claim(3, when, then),)


@final
@dataclass(frozen=True, repr=False)
class Convex(_Curved):
    """The output is convex in `features` jointly, the rest equal: at midpoints, hence everywhere (it is continuous)."""

    kind: ClassVar[str] = "convex"
    sign: ClassVar[int] = 1


@final
@dataclass(frozen=True, repr=False)
class Concave(_Curved):
    """The output is concave in `features` jointly, the rest equal."""

    kind: ClassVar[str] = "concave"
    sign: ClassVar[int] = -1
