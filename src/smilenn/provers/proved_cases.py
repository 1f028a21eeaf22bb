"""Claims with clauses: which cases to distinguish, and the proof of each (properties/cases.py).

    sample tuples x_j of the case, w_jr = l_r − c_r at x_j         for every clause, by the boxes or by the model itself
    λ = argmin over means of  max_j Σ_r λ_r·w_jr                   a small linear program
    negative: prove the case with λ;  not negative, or not proved: split at the threshold that separates best

A split is judged by what is left if each side chooses one alternative, ``Σ_sides min_r Σ_j max(0, w_jr)``: that of a
decision tree. At a tuple where every w_jr is positive no λ helps; the model is tried around it, and breaks the claim
only if its own outputs break every alternative exactly. Nothing here is trusted by a certificate: it carries the cases,
and the checker proves each of them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import perf_counter

import numpy as np
from scipy.optimize import linprog

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.snapshot import Snapshot
from smilenn.problem import InputClaim, build, digest
from smilenn.problem.region import Region
from smilenn.properties.cases import Case, Cases, Path, Split, Weights, case_claim, equal_weights
from smilenn.properties.claim import Claim
from smilenn.properties.premise import ground
from smilenn.provers.portfolio import combine, prove_problem
from smilenn.provers.prover import FOREVER, Prover
from smilenn.provers.realise import Forward, breaking, raw, violations
from smilenn.provers.tree.tree import Trees
from smilenn.provers.witness import witness
from smilenn.reason import Reason, because
from smilenn.search.oracle import Oracle
from smilenn.verdict import Counterexample, Proved, Unknown, Verdict, Violated

MOST_CASES, MOST_SPLITS = 128, 24  # cases in all, and splits that lead to one
SAMPLES, THRESHOLDS = 512, 9
PARTS = 64  # weights are multiples of 1 / PARTS, so that certificates stay short


@dataclass(frozen=True)
class Search:
    """What a search for cases works on; `forward` is the deployed model, raw x [B, m] → outputs [B, o].

    `until` is when it must end, `room` how many cases there may still be.
    """

    claim: Claim
    snapshot: Snapshot
    domain: Domain
    forward: Forward
    prover: str | Prover
    trees: Trees | None
    until: float
    room: list[int] = field(default_factory=lambda: [MOST_CASES])

    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.until - perf_counter())


def prove_cases(
    claim: Claim,
    snapshot: Snapshot,
    forward: Forward,
    *,
    prover: str | Prover = "auto",
    time_limit: float | None = 60.0,
    trees: Trees | None = None,
) -> Verdict:
    """Prove a claim with clauses by cases; those found are left in `trees`, those that are there are tried first."""
    start = perf_counter()
    domain = snapshot.domain if snapshot.encoding is None else snapshot.encoding.domain
    until = start + (FOREVER if time_limit is None else time_limit)
    search = Search(claim, snapshot, domain, forward, prover, trees, until)
    ground(claim, domain)  # an empty premise is an error, and names its rows
    key = digest(claim, domain)
    first = equal_weights(claim) if trees is None or key not in trees.cases else trees.cases[key]
    cases, verdicts = _solved(search, first)
    if trees is not None:
        trees.cases[key] = cases
    verdict = combine(verdicts, complete=not isinstance(verdicts[-1], Violated))
    if isinstance(verdict, Proved):
        count = "one case" if len(verdicts) == 1 else f"{len(verdicts)} cases"
        verdict = replace(verdict, method=f"{count} by {verdict.method}")
    return replace(verdict, seconds=perf_counter() - start, weights=snapshot.digest, claims=(key,))


def known_cases(claim: Claim, snapshot: Snapshot, forward: Forward, trees: Trees, *, time_limit: float = 30.0) -> Cases:
    """The cases of a claim as `trees` has them, searched for where it has none; of one without clauses a single one."""
    if not claim.either:
        return Case(())
    domain = snapshot.domain if snapshot.encoding is None else snapshot.encoding.domain
    key = digest(claim, domain)
    if key not in trees.cases:
        prove_cases(claim, snapshot, forward, time_limit=time_limit, trees=trees)
    return trees.cases[key]


def _solved(search: Search, cases: Cases, path: Path = ()) -> tuple[Cases, list[Verdict]]:
    """The cases, split further where that is needed, and the verdicts on them; nothing follows a violation."""
    if isinstance(cases, Case):
        verdict = _proved(search, path, cases)
        return (cases, [verdict]) if not isinstance(verdict, Unknown) else _refined(search, cases, path, verdict)
    sides, verdicts = list[Cases](), list[Verdict]()
    for side, part in ((1, cases.below), (-1, cases.above)):
        if verdicts and isinstance(verdicts[-1], Violated):
            return cases, verdicts
        solved, found = _solved(search, part, (*path, (cases.copy, cases.coordinate, cases.at, side)))
        sides.append(solved)
        verdicts += found
    return replace(cases, below=sides[0], above=sides[1]), verdicts


def _refined(search: Search, case: Case, path: Path, verdict: Unknown) -> tuple[Cases, list[Verdict]]:
    """A case that was not proved as it is: a violation, other weights, or two cases."""
    if search.left() <= 0 or verdict.because(Reason.INTERRUPTED):
        return case, [verdict]
    given = _given(search, path)
    u, value = _sampled(search, given)
    example = _broken(search, given, u, value)
    if example is not None:
        return case, [Violated("search", counterexample=example)]
    weights, reach = _weights(value)
    if reach < 0 and weights != case.weights:
        other = _proved(search, path, Case(weights))
        if not isinstance(other, Unknown):
            return Case(weights), [other]
        case, verdict = (Case(weights), other) if other.bound <= verdict.bound else (case, verdict)
    place = _threshold(search, given, path, u, value) if search.room[0] > 1 and len(path) < MOST_SPLITS else None
    if place is None:
        return case, [verdict]
    search.room[0] -= 1
    return _solved(search, Split(*place, case, case), path)


def _broken(search: Search, given: InputClaim, u: np.ndarray, value: Sequence[np.ndarray]) -> Counterexample | None:
    """A tuple at which the model breaks every row of some clause, looked for where the samples do."""
    for clause, w in zip(search.claim.either, value, strict=True):
        if w.min(axis=1).max() > 0:
            worst = u[np.argsort(-w.min(axis=1))[:8]]
            example = breaking(given, clause, float(np.abs(w).max()), worst, search.forward)
            if example is not None:
                return example
    return None


def _proved(search: Search, path: Path, case: Case) -> Verdict:
    """The verdict on a case; a violation of it is none of the claim, whose other alternatives may hold there."""
    problem = build(case_claim(search.claim, path, case, search.domain), search.snapshot)
    verdict = prove_problem(problem, prover=search.prover, time_limit=search.left() / 4, trees=search.trees)
    if isinstance(verdict, Unknown):
        return replace(verdict, why=verdict.why or because(Reason.BOX_OF_A_CASE))
    return verdict


def _given(search: Search, path: Path) -> InputClaim:
    """The claim's premise in one of its cases; its rows are the claim's own."""
    claim = replace(case_claim(search.claim, path, equal_weights(search.claim), search.domain), sentence="")
    premise = ground(claim, search.domain)
    return InputClaim(claim, search.domain, premise, Region.of(premise), search.snapshot.outputs)


def _sampled(search: Search, given: InputClaim) -> tuple[np.ndarray, list[np.ndarray]]:
    """Tuples u [S, k, m] of the premise in model units, and for every clause w [S, R].

    By the boxes where the inputs are theirs; behind an encoder by the outputs of the model.
    """
    u = Oracle(given.region).sample(SAMPLES, np.random.default_rng(0))
    u = given.region.snap(u)
    if search.snapshot.encoding is not None:
        x = raw(given, u)
        return u, [violations(given, clause, x, search.forward) for clause in search.claim.either]
    rows = [row for clause in search.claim.either for row in clause]
    problem = build(replace(given.claim, then=tuple(rows)), search.snapshot)
    by_text = {row.text: row for row in problem.rows}
    # of two mirrored rows one is kept in the problem; its copies exchanged give the other
    columns = [
        problem.value(u, by_text[row.text()])
        if row.text() in by_text
        else violations(given, [row], raw(given, u), search.forward)[:, 0]
        for row in rows
    ]
    out, at = [], 0
    for clause in search.claim.either:
        out.append(np.stack(columns[at : at + len(clause)], axis=1))
        at += len(clause)
    return u, out


def _weights(value: Sequence[np.ndarray]) -> tuple[Weights, float]:
    """λ for every clause by min max_j Σ_r λ_r·w_jr, in multiples of 1/PARTS; and the largest of these minima."""
    out, reach = [], -np.inf
    for w in value:
        size = max(float(np.abs(w).max()), 1e-300)
        r = w.shape[1]
        found = linprog(
            [*np.zeros(r), 1.0],
            A_ub=np.c_[w / size, -np.ones(len(w))],
            b_ub=np.zeros(len(w)),
            A_eq=[[*np.ones(r), 0.0]],
            b_eq=[1.0],
            bounds=[*[(0, 1)] * r, (None, None)],
        )
        share = np.full(r, 1.0 / r) if found.x is None else np.maximum(found.x[:r], 0.0)
        parts = np.floor(share / share.sum() * PARTS + 1e-9).astype(int)
        parts[int(share.argmax())] += PARTS - parts.sum()
        out.append(tuple(Fraction(int(p), PARTS) for p in parts))
        reach = max(reach, float((w @ (parts / PARTS)).max()))
    return tuple(out), reach


def _threshold(
    search: Search, given: InputClaim, path: Path, u: np.ndarray, value: Sequence[np.ndarray]
) -> tuple[int, int, float] | None:
    """Copy, coordinate and threshold (raw units) that separate the alternatives best; None where nothing can be split.

    Both sides must have a witness: a case about nothing cannot be certified.
    """
    region, x = given.region, raw(given, u)
    losses = [np.maximum(w, 0.0) for w in value]
    ends = search.domain.scale(np.stack([search.domain.lo, search.domain.hi]))
    share = (region.hi - region.lo) / np.maximum(ends[1] - ends[0], 1e-300)  # of the domain, [k, m]
    candidates: list[tuple[float, float, int, int, float]] = []
    for c, i in np.argwhere((share > 0) & ~(region.pinned & (np.arange(region.copies) > 0)[:, None])):
        column = x[:, c, i]
        levels = np.quantile(column, np.linspace(0, 1, THRESHOLDS + 2)[1:-1])
        for at in np.unique(np.floor(levels) + 0.5 if search.domain.integral[i] else levels):
            low = column <= at
            if 0 < low.sum() < len(low):
                cost = sum(float(loss[side].sum(axis=0).min()) for loss in losses for side in (low, ~low))
                # between equals the widest coordinate, near its middle
                candidates.append((cost, abs(low.mean() - 0.5) - share[c, i], int(c), int(i), float(at)))
    for _, _, c, i, at in sorted(candidates)[: 4 * THRESHOLDS]:
        if all(_witnessed(search, (*path, (c, i, at, side))) for side in (1, -1)):
            return c, i, at
    return None


def _witnessed(search: Search, path: Path) -> bool:
    try:
        return witness(_given(search, path)) is not None
    except SmileError:  # no tuple satisfies it
        return False
