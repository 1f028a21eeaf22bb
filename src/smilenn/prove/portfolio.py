"""Cheapest prover first, the paper's time-out doubling, and the verdict on a whole claim.

    signs (rows over several features or copies)  →  closed form  →  one-input sweep  →  bound propagation for all rows
    at once  →  LP branch-and-bound  →  reduced MIP (claims tight on the diagonal, three copies)

Crossovers are measured (docs/performance.md): in the mean branch-and-bound was ahead of the reduced MIP on HiGHS on
every two-copy shape where both finished. Its joint bounds do not cover three copies, and a claim with ε = 0 is met on
the diagonal only within a tolerance, which the MIP has.

A claim is *proved* if every row's upper bound is ≤ its tolerance; *violated* only if the model itself, evaluated on
inputs that satisfy Q exactly, breaks a row; anything else, a time-out included, is *unknown* with the proved bound.

Solvers have been caught with bounds below points that exist. Before a solver's bounds become a verdict, a short search
tries to beat each of them; one that is beaten proves nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from smilenn.errors import SmileError, listed
from smilenn.problem import Problem, Row
from smilenn.prove.mip.reduced import ReducedMip
from smilenn.prove.prover import FOREVER, Goal, Prover
from smilenn.prove.realise import Forward, realise
from smilenn.prove.rules.closed_form import ClosedForm
from smilenn.prove.rules.signs import Signs
from smilenn.prove.rules.sweep import Sweep
from smilenn.prove.screen import Screen, screened
from smilenn.prove.tree.branch import Branch
from smilenn.prove.tree.tree import Trees
from smilenn.search.gradient import search
from smilenn.search.polish import polish
from smilenn.verdict import Maximum, Proved, Unknown, Verdict, Violated

logger = logging.getLogger(__name__)

PROVERS: tuple[str, ...] = ("auto", "closed-form", "sweep", "signs", "branch", "mip", "paper-mip")
MEANINGLESS = 1e100  # left sides of this size overflow or drown everything else
LOOSE = 1e-6  # relative to Row.scale: float64 methods whose error allowance exceeds their tolerance may still say this


@dataclass(frozen=True)
class Choice:
    """A prover and one line that says why it was chosen."""

    prover: Prover
    reason: str


def named(name: str) -> Prover:
    """The prover called `name`."""
    if name == "closed-form":
        return ClosedForm()
    if name == "sweep":
        return Sweep()
    if name == "signs":
        return Signs()
    if name == "branch":
        return Branch()
    if name == "mip":
        return ReducedMip()
    if name == "paper-mip":
        from smilenn.prove.mip.paper import PaperMip

        return PaperMip()
    raise SmileError(f"There is no prover {name!r}; the provers are {listed(PROVERS)}.")


def choose(problem: Problem, row: Row, prover: str | Prover = "auto") -> Choice:
    """The cheapest prover that applies, or the one asked for; asking for one that does not apply is an error."""
    if prover != "auto":
        one = named(prover) if isinstance(prover, str) else prover
        why = one.refuses(problem, row)
        if why is not None:
            raise SmileError(f"The prover {one.name!r} does not apply to {row.text!r}: {why} Choose prover='auto'.")
        return Choice(one, f"{one.title}: asked for")
    closed, sweep, signs = ClosedForm(), Sweep(), Signs()
    if (problem.copies > 2 or problem.region.has_rows) and signs.refuses(problem, row) is None:
        return Choice(signs, f"{signs.title}: every unit is convex or in order")
    why = closed.refuses(problem, row)
    if why is None:
        return Choice(closed, f"{closed.title}: the row separates over the inputs")
    if sweep.refuses(problem, row) is None:
        return Choice(sweep, f"{sweep.title}: there is one input")
    if problem.copies <= 2 and not problem.tight:
        branch = Branch()
        return Choice(branch, f"{branch.title}: {why[0].lower()}{why[1:].rstrip('.')}")
    mip = ReducedMip()
    special = "the claim is tight on the diagonal" if problem.copies <= 2 else f"there are {problem.copies} copies"
    return Choice(mip, f"{mip.title}: {special}")


def generate(
    problem: Problem, row: Row, *, prover: str | Prover = "auto", start: float = 1.0, limit: float = 60.0,
    target: float = 0.0, goal: Goal = "optimum",
) -> Maximum:  # fmt: skip
    """The paper's GENERATOR: search with time-outs t, 2t, 4t … ≤ `limit` until a counterexample or a proof is there.

    Each attempt starts afresh (solvers keep no state here); the best bound and point of all attempts are returned.
    Branch-and-bound would only repeat itself and gets the whole time at once.
    """
    one, began, timeout, best = choose(problem, row, prover).prover, perf_counter(), min(start, limit), None
    timeout = limit if isinstance(one, Branch) else timeout
    while True:
        found = one.maximise(problem, row, time_limit=timeout, goal=goal, target=target)
        best = found if best is None else better(best, found)
        interrupted = not found.complete and "interrupted" in found.note
        if best.lower > target or best.upper <= target or found.complete or interrupted or timeout >= limit:
            return replace(best, seconds=perf_counter() - began)
        timeout = min(2 * timeout, limit)


def better(first: Maximum, second: Maximum) -> Maximum:
    """Two results on the same row put together: the lower upper bound, the higher point."""
    top = first if first.lower >= second.lower else second
    return replace(second, upper=max(min(first.upper, second.upper), top.lower), lower=top.lower, point=top.point,
                   seconds=first.seconds + second.seconds, nodes=first.nodes + second.nodes)  # fmt: skip


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
    verdict = _prove(problem, prover, time_limit, forward, trees)
    return replace(verdict, weights=problem.weights_digest, claims=(problem.claim_digest,))


def _prove(
    problem: Problem, prover: str | Prover, time_limit: float | None, forward: Forward | None, trees: Trees | None
) -> Verdict:
    """`prove_problem` without the digests."""
    start = perf_counter()
    limit = FOREVER * 24 if time_limit is None else time_limit
    flaw = _flipping_gap(problem) or _unbounded(problem)
    if flaw is not None:
        return Unknown("", float("inf"), perf_counter() - start, flaw)
    titles: list[str] = []
    results: list[tuple[Row, Prover, Maximum]] = []
    screen = _screen(problem) if prover == "auto" else {}
    for done, row in enumerate(problem.rows):
        share = (limit - (perf_counter() - start)) / (len(problem.rows) - done)
        try:
            one = choose(problem, row, prover).prover
            if isinstance(one, Branch) and trees is not None:
                one = replace(one, trees=trees)
            if done in screen:
                one, found = Screen(), screen[done]
            else:
                found = _maximum(one, problem, row, max(0.0, share))
            titles.append(one.title)
        except KeyboardInterrupt:
            one, found = ReducedMip(), Maximum(np.inf, complete=False, note="interrupted")
        results.append((row, one, found))
        if not found.complete and "interrupted" in found.note:
            break
    method = " and ".join(dict.fromkeys(titles))
    within = [_proved_within(row, one, found) for row, one, found in results]
    if len(results) == len(problem.rows) and all(w is not None for w in within):
        results = [(row, one, _challenged(problem, row, one, found)) for row, one, found in results]
        within = [_proved_within(row, one, found) for row, one, found in results]
    bound = max(found.upper for _, _, found in results) if len(results) == len(problem.rows) else float("inf")
    if len(results) == len(problem.rows) and all(w is not None for w in within):
        tolerance = max(w for w in within if w is not None)
        return Proved(method, bound, perf_counter() - start, tolerance)
    open_ = [(row, one, found) for (row, one, found), w in zip(results, within, strict=True) if w is None]
    open_.sort(key=lambda entry: -entry[2].lower)
    if forward is not None:
        for row, one, found in open_:
            if found.point is None:
                continue
            example = realise(problem, row, [found.point], forward)
            if example is not None:
                return Violated(one.title, bound, perf_counter() - start, example)
    return _unknown(problem, method, bound, perf_counter() - start, open_, forward is not None)


def _screen(problem: Problem) -> dict[int, Maximum]:
    """What bound propagation proves of the rows that would need a search, all of them in one batch."""
    hard = [r for r, row in enumerate(problem.rows) if isinstance(choose(problem, row).prover, Branch | ReducedMip)]
    start = perf_counter()
    bounds = screened(problem, [problem.rows[r] for r in hard]) if hard else np.zeros(0)
    seconds = (perf_counter() - start) / max(1, len(hard))
    found = (Maximum(float(bound), complete=True, note=Screen().title, seconds=seconds) for bound in bounds)
    return {r: one for r, one in zip(hard, found, strict=True) if one.upper <= 0}


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
        if isinstance(verdicts[-1], Unknown) and verdicts[-1].reason.startswith("interrupted"):
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
        methods = dict.fromkeys(name for v in verdicts for name in v.method.split(" and "))
        tolerance = max(v.tolerance for v in verdicts if isinstance(v, Proved))
        worst = replace(worst, method=" and ".join(methods), tolerance=tolerance)
    weights = worst.weights if len({v.weights for v in verdicts}) == 1 else ""
    claims = tuple(claim for v in verdicts for claim in v.claims)
    seconds = sum(v.seconds for v in verdicts)
    return replace(worst, bound=bound, seconds=seconds, weights=weights, claims=claims)


def _maximum(one: Prover, problem: Problem, row: Row, limit: float) -> Maximum:
    """Try to prove; if a violation turns up instead, use the time that is left for the best bound on it."""
    target = one.tolerance * row.scale
    found = one.maximise(problem, row, time_limit=limit, goal="prove", target=target)
    if found.lower > target and found.upper > found.lower + LOOSE * row.scale and found.complete:
        left = limit - found.seconds
        if left > 0:
            found = better(found, one.maximise(problem, row, time_limit=left, goal="optimum", target=target))
    return found


def _proved_within(row: Row, one: Prover, found: Maximum) -> float | None:
    """The tolerance (output units) within which the row is proved, or None."""
    tolerance = one.tolerance * row.scale
    # a solver to which the numbers are that ill-conditioned errs by more than its tolerances say: no slack helps
    if found.upper <= tolerance and found.error <= tolerance:
        return max(tolerance, found.upper + found.error)
    # float64 methods add an error allowance to a maximum they know exactly: say the coarser tolerance instead
    loose = found.complete and found.lower <= tolerance and found.upper + found.error <= LOOSE * row.scale
    return LOOSE * row.scale if loose else None


def _challenged(problem: Problem, row: Row, one: Prover, found: Maximum) -> Maximum:
    """A solver's result after a short search for a point above its bound; a refuted bound is no bound."""
    if not one.challenged:
        return found
    try:
        start = search(problem, row, rng=np.random.default_rng(0))
        climbed = [polish(problem, row, u) for u in start.u[:2]]
    except (ArithmeticError, SmileError, np.linalg.LinAlgError) as error:  # a failed search refutes nothing
        logger.info("The search that checks %s on %r failed: %s", one.title, row.text, error)
        return found
    point, value = max(climbed, key=lambda pair: pair[1], default=(None, -np.inf))
    if value <= found.upper + found.error + one.tolerance * row.scale:
        return found
    note = f"the bound {found.upper:.6g} of {one.title} is refuted by a point with the value {value:.6g}"
    logger.warning("%s: %s", row.text, note)
    return replace(found, upper=np.inf, lower=float(value), point=point, complete=False, note=note)


def _unbounded(problem: Problem) -> str | None:
    """Which row has no bound that a float could hold, and the feature to blame; None where all have one.

    Features have finite bounds, so in real numbers every left side has a maximum. It is at most
    |const| + Σ_cj |κ_cj|·|b_j| + Σ_ci (|q_ci| + Σ_j |κ_cj|·|w_ji|)·max|u_ci|, flip units taken as they enter.
    """
    s, region, f = problem.snapshot, problem.region, problem.flips
    with np.errstate(over="ignore", invalid="ignore"):
        largest = region.largest
        for row in problem.rows:
            unit = np.abs(row.unit) + row.flip @ np.abs(f.unit)
            slope = np.abs(row.slope) + row.flip @ np.abs(f.slope) + unit @ np.abs(s.hidden_weight)
            terms = (slope * largest).max(axis=0)  # [m]
            rest = abs(row.const) + float((unit @ np.abs(s.hidden_bias)).sum() + (row.flip @ np.abs(f.const)).sum())
            if not terms.sum() + rest < MEANINGLESS:
                worst = int(np.nan_to_num(terms, nan=np.inf, posinf=np.inf).argmax())
                name, most = problem.domain.coordinates[worst], float(largest[:, worst].max())
                return (
                    f"{row.text!r} is unbounded for all that floats can tell: {name!r} goes up to {most:.3g} in model "
                    "units; give tighter bounds or smaller weights"
                )
    return None


def _flipping_gap(problem: Problem) -> str | None:
    """The reduction of flip-free boxes needs gap ≥ 0 on X: checked on the box of X, not taken on trust."""
    s = problem.snapshot
    if s.boxes != "gap":
        return None
    domain = s.domain
    lo, hi = domain.scale(domain.lo), domain.scale(domain.hi)
    floor = s.second_const + np.minimum(s.second_slope * lo, s.second_slope * hi).sum(axis=1)
    size = np.abs(s.second_const) + (np.abs(s.second_slope) * np.maximum(np.abs(lo), np.abs(hi))).sum(axis=1)
    if (s.second_out < 0).any() or (floor < -1e-12 * size).any():
        return "the gap of a flip-free box may be negative; its output weights must be ≥ 0 and its affine part ≥ 0 on X"
    return None


def _unknown(
    problem: Problem, method: str, bound: float, seconds: float, open_: list[tuple[Row, Prover, Maximum]], tried: bool
) -> Unknown:
    row, one, found = open_[0]
    stopped = next((f.note for _, _, f in open_ if not f.complete), None)
    point = None
    if found.point is not None and found.lower > one.tolerance * row.scale:
        point = None if problem.snapshot.encoding is not None else problem.domain.unscale(found.point)
        reason = (
            "the box allows a violation, but the model was not found to use it" if tried
            else "the box allows a violation; no model was given to evaluate it"
        )  # fmt: skip
        if stopped is not None:
            reason = f"{stopped}; {reason}"
    else:
        slack = max(f.error for _, _, f in open_)
        reason = stopped or (
            "the bound is above the tolerance" if bound > one.tolerance * row.scale
            else f"rounding and the solver's tolerances may hide {slack:.1g}; scale inputs and weights nearer to one"
        )  # fmt: skip
    return Unknown(method, bound, seconds, reason, point)
