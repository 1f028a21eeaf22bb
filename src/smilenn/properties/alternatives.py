"""Which classes may be predicted where: a conclusion with alternatives, proved by cases (cases.py).

    OneOf({d_1, …}, when Q)      Q(x) ⇒ for every other class c:  f_c ≤ f_d1 − lead  or  f_c ≤ f_d2 − lead  or …

The class with the largest output wins. If every other class is behind *one* of the allowed ones, whichever that is at
x, then the largest output is that of an allowed class; the lead decides ties. Of two classes the sign of the logit
decides, and there is nothing to choose between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, final

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property, quoted, read_number, set_fields
from smilenn.properties.claim import Claim, Clause, in_quotes, row
from smilenn.properties.custom import read_rows
from smilenn.properties.forms import Outputs
from smilenn.properties.language import parse
from smilenn.properties.tokens import tidy


def _class_names(classes: Any) -> tuple[str, ...]:
    """Classes as texts: one at least, and each once."""
    given = (classes,) if isinstance(classes, (str, Integral)) else classes
    if not isinstance(given, Iterable) or not all(
        isinstance(c, (str, Integral)) and not isinstance(c, bool) for c in given
    ):
        raise SmileError(f"OneOf: classes is {classes!r}; give a list of classes.")
    names = tuple(str(c) for c in given)
    if not names or len(set(names)) < len(names):
        raise SmileError(f"OneOf: classes is {classes!r}; name one class at least, and each once.")
    return names


@final
@dataclass(frozen=True, repr=False)
class OneOf(Property):
    """Wherever the rows of `when` hold of an input, one of `classes` is predicted, with the given lead.

    >>> OneOf(["rock", "pop"], when=["tempo >= 120"]).sentence()
    "Whenever tempo >= 120, the class is 'rock' or 'pop'."

    Parameters
    ----------
    classes : those that may be predicted; not all there are.
    when : rows over inputs; none for all inputs.
    lead : by how much, in units of the logits, one of them is ahead of every other class.
    """

    classes: Sequence[str]
    when: Sequence[str] = ()
    lead: Any = 1e-6
    kind: ClassVar[str] = "one_of"

    def __post_init__(self) -> None:
        set_fields(self, classes=_class_names(self.classes), when=read_rows(self.when, "when"))
        set_fields(self, lead=read_number(self.lead, "OneOf", "lead", sign="positive"))
        for text in self.when:
            parse(text, 1, "when")

    def formula(self) -> str:
        premise = f"{', '.join(map(tidy, self.when))} ⇒ " if self.when else ""
        return f"∀ a ∈ X: {premise}argmax a.out ∈ {{{', '.join(map(in_quotes, self.classes))}}}"

    def sentence_about(self, output: str) -> str:
        start = f"Whenever {' and '.join(map(tidy, self.when))}, the" if self.when else "The"
        return f"{start} class is {quoted(self.classes, 'or')}."

    def claims(self, domain: Domain, outputs: Outputs) -> tuple[Claim, ...]:
        self._refuse(outputs.classes)
        known = outputs.classes
        when = tuple(inequality for text in self.when for inequality in parse(text, 1, "when").on(domain))
        if len(outputs.names) == 1:  # two classes, one logit
            sign = -1 if self.classes[0] == known[1] else 1
            return (Claim(1, when, (row([(sign, 0, "out", outputs.names[0])], -self.lead),)),)
        clauses = [self._behind(c) for c in known if c not in self.classes]
        if len(self.classes) == 1:
            return (Claim(1, when, tuple(clause[0] for clause in clauses)),)
        return (Claim(1, when, (), either=tuple(clauses)),)

    def _behind(self, loser: str) -> Clause:
        """One of the classes is ahead of the loser, by the lead."""
        return tuple(row([(1, 0, "out", loser), (-1, 0, "out", c)], -self.lead) for c in self.classes)

    def _refuse(self, known: tuple[str, ...]) -> None:
        if not known:
            raise SmileError("OneOf is about classes; the outputs are numbers or labels.")
        unknown = [c for c in self.classes if c not in known]
        if unknown:
            raise SmileError(f"OneOf names the class {listed(unknown)}; there are {listed(known, 20)}.")
        if len(self.classes) == len(known):
            raise SmileError("OneOf names every class there is: nothing would be claimed.")
