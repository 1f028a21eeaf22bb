"""A rule: one way to show a row, wherever that is asked. All rules are values of this type, listed in `table.py`.

    refuses    a sentence why the rule cannot show this row, or None              training, proving, emission, explain()
    declines   a sentence why the table leaves this row to a later rule, or None  the same, unless a rule is asked for
    maximise   a bound on the row's violation, in floats                          training, proving
    emit       the proof that a certificate carries                               emission
    checked    the name under which both checkers know the rule; empty: it leaves no certificate
    cost       what an answer takes

A rule's bound is a float's word. Its certificate counts once a checker has accepted it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Self

from smilenn.problem import Problem, Row
from smilenn.provers.proof import RowProof
from smilenn.provers.prover import Prover
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Why


class Cost(Enum):
    """What a rule's answer takes; the value is what the documentation prints."""

    SIGNS = "one look at every weight"
    FORMULA = "the exact maximum, from a formula"
    SEARCH = "a search"


@dataclass(frozen=True)
class Emission:
    """A proof in integers, and why its search stopped short of its aim (None: it did not)."""

    proof: RowProof
    why: Why | None = None


class Rule(Prover):
    """A prover with a place in the table.

    Attributes
    ----------
    shows : what it is for, in a few words.
    checked : the rule's name in certificates and in both checkers, empty without one.
    cost : what an answer takes.
    because : why the table chose it, for `explain`.
    decisive : whether its answer ends the matter; where one that is not has no proof, the next rule is asked.
    """

    shows: ClassVar[str]
    checked: ClassVar[str] = ""
    cost: ClassVar[Cost]
    because: ClassVar[str]
    decisive: ClassVar[bool] = True

    def declines(self, problem: Problem, row: Row) -> str | None:
        """A sentence why a later rule is the better choice though this one applies, or None."""
        return None

    def passes(self, problem: Problem, row: Row) -> str | None:
        """Why the table passes over this rule, or None where it takes it."""
        return self.declines(problem, row) or self.refuses(problem, row)

    def writes(self, problem: Problem, row: Row) -> bool:
        """Whether it has a proof of this row that the checkers know."""
        return bool(self.checked)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """The proof of a row that this rule `writes` and does not refuse, within `time_limit` seconds.

        A search starts from the `trees` of earlier ones.
        """
        raise NotImplementedError(f"The rule {self.name!r} leaves no certificate.")

    def remembering(self, trees: Trees | None) -> Self:
        """The same rule, which takes over the `trees` of earlier searches and leaves its own there."""
        return self
