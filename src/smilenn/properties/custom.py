"""Claims in words: rows of the claim language (language.py), over any copies (`Custom`) or one input (`Safe`).

∀ copies ∈ X : when-rows over inputs ⇒ then-rows over outputs and inputs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.base import Name, Property, Rename, read_names, rename_all, set_fields
from smilenn.properties.claim import COPIES, Claim, Inequality, Others, ball_text, in_quotes
from smilenn.properties.forms import Outputs
from smilenn.properties.language import parse
from smilenn.properties.parsed import Row
from smilenn.properties.premise import EmptyPremise, ground
from smilenn.properties.tokens import ClaimSyntaxError, tidy


@final
@dataclass(frozen=True, repr=False)
class Custom(Property):
    """Any linear claim, in the language of language.py.

    >>> Custom(when=["a.income >= b.income"], then=["a.out >= b.out"]).sentence()
    'Whenever a.income >= b.income, other inputs equal, a.out >= b.out holds.'

    Parameters
    ----------
    then : rows over outputs and inputs; one may offer alternatives, ``a.out.x <= 0 or a.out.y <= 0``.
    when : rows over inputs.
    copies : how many inputs are compared; they are called a, b, c, d.
    others : features that `when` does not name are ``equal`` in all copies, or ``free``.
    equal, free : single features that are pinned, or left free, in spite of that.
    says : a comment of your own; it is shown beside the claim as one that nobody has checked.
    """

    then: Sequence[str]
    when: Sequence[str] = ()
    copies: int = 2
    others: Others = "equal"
    equal: Sequence[Name] = ()
    free: Sequence[Name] = ()
    says: str = ""
    kind: ClassVar[str] = "claim"

    def __post_init__(self) -> None:
        if isinstance(self.copies, bool) or self.copies not in range(1, len(COPIES) + 1):
            raise SmileError(f"A claim has 1 to {len(COPIES)} copies, not {self.copies!r}.")
        if self.others not in ("equal", "free"):
            raise SmileError(f"A claim's others is 'equal' or 'free', not {self.others!r}.")
        if not isinstance(self.says, str):
            raise SmileError(f"A claim's says is a text, not {self.says!r}.")
        set_fields(self, when=read_rows(self.when, "when"), then=read_rows(self.then, "then"))
        for what in ("equal", "free"):
            set_fields(self, **{what: read_names(getattr(self, what), "A claim", what, optional=True)})
        if not self.then:
            raise SmileError("A claim needs at least one row in 'then'.")
        self._rows()

    @classmethod
    def from_claim(cls, claim: Claim) -> Custom:
        """A `Claim` built by hand, as a property."""
        when, then = (tuple(r.text() for r in rows) for rows in (claim.when, claim.then))
        when += (ball_text(claim.ball),) if claim.ball else ()
        then += tuple(" or ".join(r.text() for r in clause) for clause in claim.either)
        return cls(then, when, claim.copies, claim.others, claim.equal, claim.free, claim.sentence)

    def _rows(self) -> tuple[list[Row], list[Row]]:
        when = [parse(text, self.copies, "when") for text in self.when]
        return when, [parse(text, self.copies, "then") for text in self.then]

    def formula(self) -> str:
        parts = [tidy(text) for text in self.when]
        parts += [f"{_called(n)} {word}" for word, names in (("equal", self.equal), ("free", self.free)) for n in names]
        parts += [f"other features {self.others}"] if self.copies > 1 else []
        premise = ", ".join(parts) + " ⇒ " if parts else ""
        return f"∀ {', '.join(COPIES[: self.copies])} ∈ X: {premise}{', '.join(map(tidy, self.then))}"

    def renamed(self, rename: Rename) -> Self:
        return replace(self, equal=rename_all(self.equal, rename), free=rename_all(self.free, rename))

    def sentence_about(self, output: str) -> str:
        start = f"Whenever {' and '.join(map(tidy, self.when))}, " if self.when else "Always, "
        rest = f"other inputs {self.others}, " if self.copies > 1 else ""
        return f"{start}{rest}{' and '.join(map(tidy, self.then))} {'holds' if len(self.then) == 1 else 'hold'}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        when, then = (
            tuple(inequality for parsed in rows for inequality in parsed.on(domain, outputs.names))
            for rows in self._rows()
        )
        either = tuple(clause for parsed in self._rows()[1] for clause in parsed.clauses(domain, outputs.names))
        equal, free = (tuple(str(n) for n in names) for names in (self.equal, self.free))
        balls = [axes for parsed in self._rows()[0] if (axes := parsed.axes(domain))]
        if len(balls) > 1:
            raise SmileError("A claim has one row with norm2; state a property for each norm.")
        claim = Claim(self.copies, when, then, self.others, equal, free, self.says, either, *balls)
        self._refuse_empty(claim, domain)
        return (claim,)

    def _refuse_empty(self, claim: Claim, domain: Domain) -> None:
        """Raise if no inputs satisfy the premise, underlining the first row that leaves none."""
        if not claim.when:
            return
        try:
            ground(claim, domain)
        except EmptyPremise as error:
            when: tuple[Inequality, ...] = ()
            for text, parsed in zip(self.when, self._rows()[0], strict=True):
                when += parsed.on(domain)
                try:
                    ground(replace(claim, when=when), domain)
                except EmptyPremise:
                    raise ClaimSyntaxError(str(error), text, (0, len(text))) from None
            raise


@final
@dataclass(frozen=True, repr=False)
class Safe(Property):
    """Wherever the rows of `when` hold of an input, the rows of `then` hold of it and its output.

    >>> Safe(when=["speed >= 10"], then=["0 <= out <= 5"]).sentence()
    'Whenever speed >= 10, 0 <= out <= 5 holds.'
    """

    when: Sequence[str] = ()
    then: Sequence[str] = ()
    kind: ClassVar[str] = "safe"

    def __post_init__(self) -> None:
        set_fields(self, when=read_rows(self.when, "when"), then=read_rows(self.then, "then"))
        self._custom()

    def _custom(self) -> Custom:
        return Custom(self.then, self.when, copies=1)

    def formula(self) -> str:
        return self._custom().formula()

    def sentence_about(self, output: str) -> str:
        return self._custom().sentence_about(output)

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        return self._custom().claims(domain, outputs)


def _called(name: Name) -> str:
    return in_quotes(name) if isinstance(name, str) else f"column {name}"


def read_rows(value: Any, what: str) -> tuple[str, ...]:
    """Rows of the claim language as users give them: a text or a list of texts."""
    rows = (value,) if isinstance(value, str) else value
    if not isinstance(rows, (list, tuple)):
        raise SmileError(f"'{what}' is {value!r}; give a list of rows such as 'a.income >= b.income'.")
    return tuple(rows)
