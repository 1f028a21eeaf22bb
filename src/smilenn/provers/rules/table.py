"""The one table of rules, cheapest first: which rule proves a row and goes into its certificate is decided here alone.

Proving asks the rules that apply, in this order, until one has a proof or is decisive. Emission takes the first that
writes a certificate (`certifier`). Training asks both: what decides a row, and what its certificate will need. While it
changes weights it also asks the slope rule and the sign rule alone (train/repair.py, train/deploy.py): a tree of slopes
must close where a solver's tolerance would hide a sliver. Such an answer steers weights and is no verdict.
`explain()` says which rule a model's rows get. docs/rules.md prints the table; a test compares it with the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from smilenn.errors import SmileError, listed
from smilenn.problem import Problem, Row
from smilenn.provers.mip.paper import PaperMip
from smilenn.provers.mip.reduced import ReducedMip
from smilenn.provers.prover import Prover
from smilenn.provers.rules.ball import Ball
from smilenn.provers.rules.closed_form import ClosedForm
from smilenn.provers.rules.order import Order
from smilenn.provers.rules.rule import Rule
from smilenn.provers.rules.signs import Signs
from smilenn.provers.rules.slopes import SlopeRule
from smilenn.provers.rules.sweep import Sweep
from smilenn.provers.tree.branch import BranchAndBound

RULES: tuple[Rule, ...] = (
    Order(),
    Signs(),
    Ball(),
    ClosedForm(),
    Sweep(),
    SlopeRule(),
    ReducedMip(),
    BranchAndBound(),
)
NAMED: Mapping[str, Prover] = {one.name: one for one in (*RULES, PaperMip())}
PROVERS: tuple[str, ...] = ("auto", *NAMED)


@dataclass(frozen=True)
class Choice:
    """A prover and one line that says why it was chosen."""

    prover: Prover
    reason: str


def applicable(problem: Problem, row: Row) -> Iterator[Rule]:
    """The rules that the table has for a row, in its order; the last one shows every row."""
    return (rule for rule in RULES if rule.passes(problem, row) is None)


def choose(problem: Problem, row: Row, prover: str | Prover = "auto") -> Choice:
    """The first rule that the table has, or the prover asked for; asking for one that does not apply is an error."""
    if prover == "auto":
        rule = next(applicable(problem, row))
        return Choice(rule, f"{rule.title}: {rule.because}")
    one = named(prover) if isinstance(prover, str) else prover
    why = one.refuses(problem, row)
    if why is not None:
        raise SmileError(f"The prover {one.name!r} does not apply to {row.text!r}: {why} Choose prover='auto'.")
    return Choice(one, f"{one.title}: asked for")


def decider(problem: Problem, row: Row) -> Rule:
    """The first rule whose answer ends the matter: a proof, or the best bound and point it can find."""
    return next(rule for rule in applicable(problem, row) if rule.decisive)


def certifier(problem: Problem, row: Row) -> Rule:
    """The first rule that the checkers know: the one whose proof a certificate of the row carries."""
    return next(rule for rule in applicable(problem, row) if rule.writes(problem, row))


def named(name: str) -> Prover:
    """The prover called `name`."""
    if name not in NAMED:
        raise SmileError(f"There is no prover {name!r}; the provers are {listed(PROVERS)}.")
    return NAMED[name]
