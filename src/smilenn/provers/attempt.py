"""One row: the rules of the table one after the other, until one has a proof or is decisive.

Solvers have been caught with bounds below points that exist. Before a solver's bounds become a verdict, a short search
tries to beat each of them; one that is beaten proves nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import numpy as np

from smilenn.deadline import NEVER, Deadline
from smilenn.errors import SmileError
from smilenn.problem import Problem, Row
from smilenn.provers.prover import Prover
from smilenn.provers.rules.rule import Cost, Rule
from smilenn.provers.rules.table import applicable, choose, decider
from smilenn.provers.screen import Screen, screened
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, Why
from smilenn.search.gradient import search
from smilenn.search.polish import polish
from smilenn.verdict import Maximum

logger = logging.getLogger(__name__)

OVER = 1.0  # seconds beyond a limit in which rows may still be looked at: most need no search, and are shown at once
LOOSE = 1e-6  # relative to Row.scale: float64 methods whose error allowance exceeds their tolerance may still say this


@dataclass(frozen=True, eq=False)
class Attempt:
    """What the last prover that was asked learned of a row."""

    row: Row
    prover: Prover
    found: Maximum

    @property
    def tolerance(self) -> float:
        """The prover's, in output units."""
        return self.prover.tolerance * self.row.scale

    @cached_property
    def within(self) -> float | None:
        """The tolerance (output units) within which the row is proved, or None."""
        found, tolerance = self.found, self.tolerance
        # a solver to which the numbers are that ill-conditioned errs by more than its tolerances say: no slack helps
        if found.upper <= tolerance and found.error <= tolerance:
            return max(tolerance, found.upper + found.error)
        # float64 methods add an error allowance to a maximum they know exactly: say the coarser tolerance instead
        loose = found.complete and found.lower <= tolerance and found.upper + found.error <= LOOSE * self.row.scale
        return LOOSE * self.row.scale if loose else None

    def challenged(self, problem: Problem, until: Deadline = NEVER) -> Attempt:
        """After a short search for a point above a solver's bound; a refuted bound is no bound, nor is one that no time
        is left to challenge.
        """
        if not self.prover.challenged:
            return self
        row, found, title = self.row, self.found, self.prover.title
        if not until.left():
            return replace(self, found=replace(found, upper=np.inf, stopped=Why(Reason.TIME)))
        try:
            start = search(problem, row, rng=np.random.default_rng(0))
            climbed = [polish(problem, row, u) for u in start.u[:2]]
        except (ArithmeticError, SmileError, np.linalg.LinAlgError) as error:  # a failed search refutes nothing
            logger.info("The search that checks %s on %r failed: %s", title, row.text, error)
            return self
        point, value = max(climbed, key=lambda pair: pair[1], default=(None, -np.inf))
        if value <= found.upper + found.error + self.tolerance:
            return self
        why = Why.of(Reason.REFUTED, f"{found.upper:.6g}", title, f"{value:.6g}")
        logger.warning("%s: %s", row.text, why)
        return replace(self, found=replace(found, upper=np.inf, lower=float(value), point=point, stopped=why))


def attempts(problem: Problem, prover: str | Prover, limit: float, trees: Trees | None) -> Iterator[Attempt]:
    """All rows, within `limit` seconds in all; nothing follows one that was interrupted or came late."""
    start = perf_counter()
    screen = _screen(problem) if prover == "auto" else {}
    made: Attempt | None = None
    for done, row in enumerate(problem.rows):
        left = limit - (perf_counter() - start)
        if made is not None and left < -OVER:
            yield Attempt(row, made.prover, Maximum(np.inf, stopped=Why(Reason.TIME)))
            return
        share = max(0.0, left / (len(problem.rows) - done))
        made = screen[done] if done in screen else _attempt(problem, row, prover, share, trees)
        yield made
        if made.found.interrupted:
            return


def _attempt(problem: Problem, row: Row, prover: str | Prover, limit: float, trees: Trees | None) -> Attempt:
    """Ask the rules that apply, or the prover asked for; Ctrl-C ends it with what is known by then."""
    if prover != "auto":
        asked = choose(problem, row, prover).prover
        return Attempt(row, asked, _maximum(asked, problem, row, limit, trees))
    made: Attempt | None = None
    for rule in applicable(problem, row):
        found = _maximum(rule, problem, row, limit if rule.decisive else limit / 2, trees)
        made = Attempt(row, rule, found if made is None else better(made.found, found))
        if rule.decisive or found.interrupted or made.within is not None:
            break
        limit = max(0.0, limit - found.seconds)
    assert made is not None, "the last rule of the table applies to every row"
    return made


def _maximum(one: Prover, problem: Problem, row: Row, limit: float, trees: Trees | None) -> Maximum:
    """Try to prove; if a violation turns up instead, use the time that is left for the best bound on it."""
    target = one.tolerance * row.scale
    one = one.remembering(trees) if isinstance(one, Rule) else one
    try:
        found = one.maximise(problem, row, time_limit=limit, goal="prove", target=target)
        left = limit - found.seconds
        if found.complete and left > 0 and target < found.lower < found.upper - LOOSE * row.scale:
            found = better(found, one.maximise(problem, row, time_limit=left, goal="optimum", target=target))
        return found
    except KeyboardInterrupt:
        return Maximum(np.inf, stopped=Why(Reason.INTERRUPTED))


def better(first: Maximum, second: Maximum) -> Maximum:
    """Two results on the same row put together: the lower upper bound, the higher point."""
    top = first if first.lower >= second.lower else second
    return replace(
        second,
        upper=max(min(first.upper, second.upper), top.lower),
        lower=top.lower,
        point=top.point,
        seconds=first.seconds + second.seconds,
        nodes=first.nodes + second.nodes,
    )


def _screen(problem: Problem) -> dict[int, Attempt]:
    """What bound propagation proves of the rows that would need a search, all of them in one batch."""
    hard = [r for r, row in enumerate(problem.rows) if decider(problem, row).cost is Cost.SEARCH]
    start = perf_counter()
    bounds = screened(problem, [problem.rows[r] for r in hard]) if hard else np.zeros(0)
    seconds = (perf_counter() - start) / max(1, len(hard))
    found = (Maximum(float(bound), note=Screen().title, seconds=seconds) for bound in bounds)
    return {r: Attempt(problem.rows[r], Screen(), one) for r, one in zip(hard, found, strict=True) if one.upper <= 0}
