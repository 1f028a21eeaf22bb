"""The verdict on a whole claim, and on several; the paper's time-out doubling.

A claim is *proved* if every row's upper bound is ≤ its tolerance; *violated* only if the model itself, evaluated on
inputs that satisfy Q exactly, breaks a row; anything else, a time-out included, is *unknown* with the proved bound.
Which rule shows a row is said in `rules/table.py`, what happens to one row in `attempt.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from smilenn.deadline import Deadline
from smilenn.errors import SmileError
from smilenn.problem import Problem, Row
from smilenn.provers.attempt import OVER, Attempt, attempts, better
from smilenn.provers.flaw import flaw
from smilenn.provers.prover import FOREVER, Goal, Prover
from smilenn.provers.realise import Forward, realise
from smilenn.provers.rules.table import choose, decider
from smilenn.provers.tree.branch import BranchAndBound
from smilenn.provers.tree.tree import Trees
from smilenn.reason import Reason, Why, Whys, because
from smilenn.verdict import Counterexample, Maximum, Proved, Unknown, Verdict, Violated


def generate(
    problem: Problem,
    row: Row,
    *,
    prover: str | Prover = "auto",
    start: float = 1.0,
    limit: float = 60.0,
    target: float = 0.0,
    goal: Goal = "optimum",
) -> Maximum:
    """The paper's GENERATOR: search with time-outs t, 2t, 4t … ≤ `limit` until a counterexample or a proof is there.

    Each attempt starts afresh (solvers keep no state here); the best bound and point of all attempts are returned.
    Branch-and-bound would only repeat itself and gets the whole time at once.
    """
    one: Prover = decider(problem, row) if prover == "auto" else choose(problem, row, prover).prover
    began, timeout, best = perf_counter(), min(start, limit), None
    timeout = limit if isinstance(one, BranchAndBound) else timeout
    while True:
        found = one.maximise(problem, row, time_limit=timeout, goal=goal, target=target)
        best = found if best is None else better(best, found)
        settled = best.lower > target or best.upper <= target
        if settled or found.complete or found.interrupted or timeout >= limit:
            return replace(best, seconds=perf_counter() - began)
        timeout = min(2 * timeout, limit)


def prove_problem(
    problem: Problem,
    *,
    prover: str | Prover = "auto",
    time_limit: float | None = 60.0,
    forward: Forward | None = None,
    trees: Trees | None = None,
) -> Verdict:
    """Prove one claim: all of its rows, within `time_limit` seconds in all (None: no limit).

    `forward` is the deployed model, raw inputs [B, m] → outputs [B, o]; without it nothing can be *violated*.
    Branch-and-bound takes over the `trees` of earlier searches and leaves its own there.
    """
    start = perf_counter()
    limit = FOREVER * 24 if time_limit is None else time_limit
    why = flaw(problem)
    if why is None:
        until = Deadline(start + limit + OVER)
        verdict = _verdict(problem, list(attempts(problem, prover, limit, trees)), forward, until)
    else:
        verdict = Unknown(why=(why,))
    seconds = perf_counter() - start
    return replace(verdict, seconds=seconds, weights=problem.weights_digest, claims=(problem.claim_digest,))


def _verdict(problem: Problem, made: list[Attempt], forward: Forward | None, until: Deadline) -> Verdict:
    """The verdict that the attempts on the rows allow; after Ctrl-C, or beyond a time limit, some rows have none."""
    method = " and ".join(dict.fromkeys(attempt.prover.title for attempt in made))
    whole = len(made) == len(problem.rows)
    if whole and not _failed(made):
        made = [attempt.challenged(problem, until) for attempt in made]
    bound, failed = max(attempt.found.upper for attempt in made) if whole else float("inf"), _failed(made)
    if whole and not failed:
        return Proved(method, bound, tolerance=max(attempt.within or 0.0 for attempt in made))
    for attempt in failed:
        example = _realised(problem, attempt, forward)
        if example is not None:
            return Violated(attempt.prover.title, bound, counterexample=example)
    return _unknown(problem, method, bound, failed, forward is not None)


def _failed(made: list[Attempt]) -> list[Attempt]:
    """The attempts without a proof, the worst points first."""
    return sorted((attempt for attempt in made if attempt.within is None), key=lambda a: -a.found.lower)


def _realised(problem: Problem, attempt: Attempt, forward: Forward | None) -> Counterexample | None:
    if forward is None or attempt.found.point is None:
        return None
    return realise(problem, attempt.row, [attempt.found.point], forward)


def _unknown(problem: Problem, method: str, bound: float, failed: list[Attempt], tried: bool) -> Unknown:
    """Why the first of the rows that are not proved is not."""
    worst = failed[0]
    stopped = next(((a.found.stopped,) for a in failed if a.found.stopped is not None), ())
    if worst.found.point is None or worst.found.lower <= worst.tolerance:
        return Unknown(method, bound, why=stopped or _short(bound, failed))
    point = None if problem.snapshot.encoding is not None else problem.domain.unscale(worst.found.point)
    why = Why(Reason.BOX_UNUSED if tried else Reason.BOX_UNTRIED)
    return Unknown(method, bound, why=(*stopped, why), point=point)


def _short(bound: float, failed: list[Attempt]) -> Whys:
    """Searches that ran to their end, found no violation and prove nothing."""
    if bound > failed[0].tolerance:
        return because(Reason.TOLERANCE)
    return because(Reason.ROUNDING, f"{max(attempt.found.error for attempt in failed):.1g}")


def prove_all(
    problems: Sequence[Problem],
    *,
    prover: str | Prover = "auto",
    time_limit: float | None = 60.0,
    forward: Forward | None = None,
    trees: Trees | None = None,
) -> Verdict:
    """One verdict on several claims: violated if one is, else unknown if one is, else proved."""
    start, verdicts = perf_counter(), []
    for done, problem in enumerate(problems):
        left = None if time_limit is None else (time_limit - (perf_counter() - start)) / (len(problems) - done)
        verdicts.append(prove_problem(problem, prover=prover, time_limit=left, forward=forward, trees=trees))
        if isinstance(verdicts[-1], Unknown) and verdicts[-1].because(Reason.INTERRUPTED):
            break
    return combine(verdicts, complete=len(verdicts) == len(problems))


def combine(verdicts: Sequence[Verdict], *, complete: bool = True) -> Verdict:
    """The worst of several verdicts, with the largest bound and all methods; no verdicts are an error."""
    if not verdicts:
        raise SmileError("There is nothing to prove: give at least one property.")
    order = {"violated": 0, "unknown": 1, "proved": 2}
    worst = min(verdicts, key=lambda v: (order[v.status], -v.bound))
    bound = max(v.bound for v in verdicts) if complete else float("inf")
    if isinstance(worst, Proved):
        worst = _all_proved(worst, verdicts)
    weights = worst.weights if len({v.weights for v in verdicts}) == 1 else ""
    claims = tuple(claim for v in verdicts for claim in v.claims)
    seconds = sum(v.seconds for v in verdicts)
    return replace(worst, bound=bound, seconds=seconds, weights=weights, claims=claims)


def _all_proved(one: Proved, verdicts: Sequence[Verdict]) -> Proved:
    """One of several proofs, with the methods of all and the largest tolerance."""
    methods = dict.fromkeys(name for v in verdicts for name in v.method.split(" and "))
    tolerance = max(v.tolerance for v in verdicts if isinstance(v, Proved))
    return replace(one, method=" and ".join(methods), tolerance=tolerance)
