"""A row of the claim language as it was read, and what it means on a domain: names checked, categories as members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Literal, NoReturn

from smilenn.domain import Domain, Feature
from smilenn.domain.cells import order_of
from smilenn.errors import listed
from smilenn.properties.claim import Clause, Inequality, Term, row
from smilenn.properties.tokens import ClaimSyntaxError, Span

Where = Literal["when", "then"]
MAX_CLAUSES = 64  # that a row with "or" may mean


@dataclass(frozen=True)
class Member:
    """``copy.name == "value"``: a category, a binary feature with texts or an ordered one takes one value."""

    copy: int
    name: str
    value: str
    name_span: Span
    value_span: Span


@dataclass(frozen=True)
class Ball:
    """``norm2(…) <= radius``: δ by feature; none by name for all continuous features."""

    axes: tuple[tuple[str, Fraction], ...]
    radius: Fraction


@dataclass(frozen=True)
class Row:
    """A row as read, before it meets a domain: its comparisons, and where each name stands in the text.

    `others` are the comparisons of further chains, joined to the first by "or".
    """

    text: str
    where: Where
    relations: tuple[Inequality | Member, ...]
    spans: dict[tuple[str, str], Span] = field(compare=False)
    others: tuple[tuple[Inequality | Member, ...], ...] = ()
    ball: Ball | None = None

    def axes(self, domain: Domain) -> tuple[tuple[str, Fraction], ...]:
        """What a norm says on a domain: δ of every feature that moves; nothing for any other row."""
        if self.ball is None:
            return ()
        for name, _ in self.ball.axes:
            kind = self._feature(name, domain, self.spans["in", name]).kind
            if kind != "continuous":
                why = f"norm2 is over continuous features, and this is of kind {kind!r}; {_instead(kind)}."
                self._fail(why, self.spans["in", name])
        every = tuple((f.name, self.ball.radius) for f in domain.features if f.kind == "continuous" and f.lo < f.hi)
        if not every and not self.ball.axes:
            self._fail("norm2: the domain has no continuous feature that may change.", (0, len(self.text)))
        return self.ball.axes or every

    def on(self, domain: Domain, outputs: Sequence[str] = ("",)) -> tuple[Inequality, ...]:
        """The row on a domain: names checked, categories turned into their members; nothing of a row with "or"."""
        out: list[Inequality] = []
        for relation in () if self.others else self.relations:
            if isinstance(relation, Member):
                out.append(self._member(relation, domain))
            else:
                out += self._linear(relation, domain, outputs)
        return tuple(out)

    def clauses(self, domain: Domain, outputs: Sequence[str] = ("",)) -> tuple[Clause, ...]:
        """The clauses of a row with "or": of the chains A_1, A_2 or B_1, B_2 all four A_i or B_j; none without "or"."""
        if not self.others:
            return ()
        chains = [
            [
                half
                for relation in chain
                if isinstance(relation, Inequality)  # texts are not compared in conclusions
                for whole in self._linear(relation, domain, outputs)
                for half in whole.halves()
            ]
            for chain in (self.relations, *self.others)
        ]
        if math.prod(map(len, chains)) > MAX_CLAUSES:
            self._fail(f"This means more than {MAX_CLAUSES} clauses; split it into several rows.", (0, len(self.text)))
        return tuple(product(*chains))

    def _fail(self, sentence: str, span: Span) -> NoReturn:
        raise ClaimSyntaxError(sentence, self.text, span)

    def _feature(self, name: str, domain: Domain, span: Span) -> Feature:
        if name not in domain.slices:
            self._fail_unknown(name, domain, span)
        return domain.feature(name)

    def _fail_unknown(self, name: str, domain: Domain, span: Span) -> NoReturn:
        known = listed(f.name for f in domain.features)
        self._fail(f"There is no feature {name!r}; the features are {known}.", span)

    def _linear(self, relation: Inequality, domain: Domain, outputs: Sequence[str]) -> list[Inequality]:
        terms = []
        for term in relation.terms:
            span = self.spans[term.kind, term.name]
            if term.kind == "out":
                terms.append((term.coef, term.copy, "out", self._output(term.name, outputs, span)))
                continue
            if term.name not in domain.slices and term.name not in domain.coordinates:
                self._fail_unknown(term.name, domain, span)
            if term.name in domain.slices and domain.feature(term.name).kind == "category":
                return self._same(relation, domain, term, span)
            terms.append((term.coef, term.copy, "in", term.name))
        return [row(terms, relation.rhs, relation.op)]

    def _same(self, relation: Inequality, domain: Domain, term: Term, span: Span) -> list[Inequality]:
        """``a.race == b.race``: every member of the group is equal."""
        first, second = relation.terms if len(relation.terms) == 2 else (term, term)
        opposite = first.name == second.name and first.coef == -second.coef and first.copy != second.copy
        if self.where == "then" or relation.op != "==" or relation.rhs or not opposite:
            value = domain.feature(term.name).categories[0]
            self._fail(
                f"{term.name!r} is a category, not a number; in 'when' compare it whole (a.NAME == b.NAME) "
                f'or with a value (a.NAME == "{value}").',
                span,
            )
        members = domain.feature(term.name).coordinates
        return [row([(1, first.copy, "in", m), (-1, second.copy, "in", m)], 0, "==") for m in members]

    def _output(self, name: str, outputs: Sequence[str], span: Span) -> str:
        if name in outputs:
            return name
        if not name and len(outputs) == 1:
            return outputs[0]
        if not name:
            self._fail(f"The network has several outputs; name one of {listed(outputs)}, as in a.out.NAME.", span)
        known = listed(o for o in outputs if o) or "none by name: write a.out"
        self._fail(f"There is no output {name!r}; the outputs are {known}.", span)

    def _member(self, member: Member, domain: Domain) -> Inequality:
        feature = self._feature(member.name, domain, member.name_span)
        names = feature.categories or order_of(feature)
        if not names:
            self._fail(f"{member.name!r} holds numbers; compare it with a number.", member.value_span)
        if member.value not in names:
            known = listed(names)
            self._fail(f"{member.name!r} has no value {member.value!r}; its values are {known}.", member.value_span)
        place = names.index(member.value)
        if feature.kind != "category":
            return row([(1, member.copy, "in", feature.name)], place, "==")
        return row([(1, member.copy, "in", feature.coordinates[place])], 1, "==")


def _instead(kind: str) -> str:
    """What to do with a feature that no norm takes."""
    if kind == "integer":
        return "bound it in a row of its own, such as a.x <= b.x + 1, or declare it continuous if it is measured"
    return "leave it out, and it is equal in both copies"
