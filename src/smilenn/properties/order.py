"""Which way the output moves.

Monotone    a_P ≤ b_P, rest equal              ⇒  f(a) ≤ f(b)
Dominates   b trades weak for strong           ⇒  f(a) ≤ f(b)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Name, Rename, ordered, quoted, read_names, read_number, rename_all, set_fields
from smilenn.properties.claim import Claim, row
from smilenn.properties.forms import Outputs, change
from smilenn.properties.output_property import OutputProperty
from smilenn.properties.rational import number
from smilenn.properties.reach import reference


@final
@dataclass(frozen=True, repr=False)
class Monotone(OutputProperty):
    """Raising `increasing` and lowering `decreasing`, the rest equal, never lowers the output.

    >>> Monotone(increasing="income").sentence()
    "Raising 'income', everything else equal, never lowers the output."
    """

    increasing: Sequence[Name] = ()
    decreasing: Sequence[Name] = ()
    kind: ClassVar[str] = "monotone"
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        up, down = (
            read_names(value, "Monotone", what, optional=True)
            for value, what in ((self.increasing, "increasing"), (self.decreasing, "decreasing"))
        )
        both = [name for name in up if name in down]
        if both:
            raise SmileError(f"Monotone: {listed(both)} is both increasing and decreasing; keep one of the two.")
        if not up and not down:
            raise SmileError("Monotone needs a feature, as in Monotone(increasing=['income']).")
        set_fields(self, increasing=up, decreasing=down)

    def formula(self) -> str:
        parts = [f"{reference(n, 0)} <= {reference(n, 1)}" for n in self.increasing]
        parts += [f"{reference(n, 0)} >= {reference(n, 1)}" for n in self.decreasing]
        return f"∀ a, b ∈ X: {', '.join(parts)}, other features equal ⇒ {self._out(0)} <= {self._out(1)}"

    def renamed(self, rename: Rename) -> Self:
        return replace(
            self, increasing=rename_all(self.increasing, rename), decreasing=rename_all(self.decreasing, rename)
        )

    def sentence_about(self, output: str) -> str:
        moves = [f"raising {quoted(self.increasing, 'or')}"] if self.increasing else []
        moves += [f"lowering {quoted(self.decreasing, 'or')}"] if self.decreasing else []
        together = ", alone or together" if len(self.increasing) + len(self.decreasing) > 1 else ""
        text = " or ".join(moves) + together
        return f"{text[0].upper()}{text[1:]}, everything else equal, never lowers {output}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        signed = [(str(n), 1) for n in self.increasing] + [(str(n), -1) for n in self.decreasing]
        for name, _ in signed:
            ordered(domain, name, "Monotone")
        when = tuple(row([(sign, 0, "in", name), (-sign, 1, "in", name)]) for name, sign in signed)
        then = tuple(row(change(form)) for form in self.forms(outputs))
        return (Claim(2, when, then),)


@final
@dataclass(frozen=True, repr=False)
class Dominates(OutputProperty):
    """Raising `strong` by t and lowering `weak` by `rate`·t never lowers the output."""

    strong: Name
    weak: Name
    rate: Any = Fraction(1)
    kind: ClassVar[str] = "dominates"
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("strong", "weak"):
            names = read_names(getattr(self, what), "Dominates", what)
            if len(names) != 1:
                raise SmileError(f"Dominates: {what} is one feature, not {len(names)}.")
            set_fields(self, **{what: names[0]})
        if self.strong == self.weak:
            raise SmileError(f"Dominates: {self.strong!r} cannot dominate itself; name two features.")
        set_fields(self, rate=read_number(self.rate, "Dominates", "rate", sign="positive"))

    def formula(self) -> str:
        (a_strong, b_strong), (a_weak, b_weak) = ([reference(n, c) for c in (0, 1)] for n in (self.strong, self.weak))
        factor = "" if self.rate == 1 else f"{number(self.rate)} * "
        trade = f"({b_strong} - {a_strong})" if factor else f"{b_strong} - {a_strong}"
        return (
            f"∀ a, b ∈ X: {a_strong} <= {b_strong}, {a_weak} - {b_weak} == {factor}{trade}, other features equal "
            f"⇒ {self._out(0)} <= {self._out(1)}"
        )

    def renamed(self, rename: Rename) -> Self:
        return replace(self, strong=rename(self.strong), weak=rename(self.weak))

    def sentence_about(self, output: str) -> str:
        loss = "as much" if self.rate == 1 else f"{number(self.rate)} times as much"
        strong, weak = quoted([self.strong]), quoted([self.weak])
        return f"Raising {strong} and lowering {weak} by {loss}, everything else equal, never lowers {output}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        strong, weak = (ordered(domain, str(n), "Dominates").name for n in (self.strong, self.weak))
        rise = row([(1, 0, "in", strong), (-1, 1, "in", strong)])
        trade = [(1, 0, "in", weak), (-1, 1, "in", weak), (self.rate, 0, "in", strong), (-self.rate, 1, "in", strong)]
        then = tuple(row(change(form)) for form in self.forms(outputs))
        return (Claim(2, (rise, row(trade, 0, "==")), then),)
