"""Properties that say the same of every output, of every margin between classes, or of the one that `output` names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from smilenn.properties.base import Property, set_fields
from smilenn.properties.claim import Term
from smilenn.properties.forms import Form, Outputs, read_output


@dataclass(frozen=True, repr=False)
class OutputProperty(Property):
    """Base of properties that say the same of every output, margin or of the one `output`.

    `directed` ones say which way it may move; of several classes they must name one.
    """

    output: Any = field(default=None, kw_only=True)
    directed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        set_fields(self, output=read_output(self.output, type(self).__name__))

    @property
    def speaks_of(self) -> str | None:
        """The output that it names; None for all of them."""
        return self.output

    def forms(self, outputs: Outputs) -> tuple[Form, ...]:
        """The linear forms of a network's outputs that it is about."""
        return outputs.forms(self.output, type(self).__name__, directed=self.directed)

    def _out(self, copy: int) -> str:
        """The output of a copy in a formula."""
        return Term(Fraction(1), copy, "out", self.output or "").reference()

    def _change(self, most: str) -> str:
        return f"|{self._out(0)} - {self._out(1)}| <= {most}"


def about(item: Property, output: str | None) -> Property:
    """A rule with a direction that names no output as the same rule about `output`; every other one as it is.

    A claim or formula is never turned around: it says itself which way its outputs move.
    """
    if output is None or not isinstance(item, OutputProperty) or not item.directed or item.output is not None:
        return item
    return replace(item, output=output)
