"""From a network and its claims to proofs: each row by the first rule of the table that writes one.

    a row                             the first rule of `provers/rules/table.py` that applies and that checkers know
    second of two mirrored rows       a reference to the first
    clauses, of whose rows one holds  a tree of cases, each proved as above (cases.py)

Nothing emitted here counts until a checker has accepted it: a poor proof is a larger bound, a wrong one is refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from smilenn.deadline import NEVER, Deadline
from smilenn.errors import SmileError
from smilenn.problem import Problem
from smilenn.properties.cases import Case, Cases
from smilenn.properties.claim import Claim, Inequality
from smilenn.provers.proof import CaseProof, CasesProof, ClaimProof, MirrorProof, RowProof, SplitProof
from smilenn.provers.rules.table import certifier
from smilenn.provers.tree.tree import Trees
from smilenn.provers.witness import witness
from smilenn.reason import Reason, Whys, has


@dataclass(frozen=True)
class Emitted:
    """The proof of one claim; `notes` says which rows' searches did not reach their aim, and why."""

    proof: ClaimProof
    notes: Whys

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C cut a search off; what it had found by then is in the proof."""
        return has(self.notes, Reason.INTERRUPTED)


def emit(problem: Problem, *, time_limit: float = 60.0, until: Deadline = NEVER, trees: Trees | None = None) -> Emitted:
    """Prove every row of a claim in the form a certificate carries, within `time_limit` seconds a row and all `until`.

    Searches start from the `trees` of earlier ones; what is emitted is proved again on this problem.
    """
    proofs: list[RowProof] = []
    notes: Whys = ()
    rows = {row.text: row for row in problem.rows}
    inequalities, twins = problem.claim.rows, mirrored(problem)
    for r, inequality in enumerate(inequalities):
        twin = twins[r]
        if twin is not None:
            proofs.append(MirrorProof(twin))
            continue
        until.keep()
        row = rows[inequality.text()]
        left = 0.0 if has(notes, Reason.INTERRUPTED) else time_limit
        emitted = certifier(problem, row).emit(problem, row, time_limit=left, trees=trees)
        proofs.append(emitted.proof)
        notes += () if emitted.why is None else (replace(emitted.why, where=row.text),)
    claim = problem.given.claim.to_json()
    return Emitted(ClaimProof(claim, _witness(problem), proofs), notes)


def emit_claim(
    claim: Claim,
    cases: Cases,
    problems: Sequence[Problem],
    *,
    time_limit: float,
    until: Deadline = NEVER,
    trees: Trees | None = None,
) -> Emitted:
    """Prove a claim with clauses in its cases, whose `problems` come in their order, `time_limit` seconds a row."""
    emitted: list[Emitted] = []

    def proved(node: Cases) -> CasesProof:
        if isinstance(node, Case):
            cut_off = any(entry.interrupted for entry in emitted)
            limit = 0.0 if cut_off else time_limit
            found = emit(problems[len(emitted)], time_limit=limit, until=until, trees=trees)
            emitted.append(found)
            return CaseProof(node.weights, found.proof.witness, found.proof.rows)
        return SplitProof(node.copy, node.coordinate, node.at, proved(node.below), proved(node.above))

    proof = ClaimProof(claim.to_json(), cases=proved(cases))
    return Emitted(proof, tuple(note for entry in emitted for note in entry.notes))


def _witness(problem: Problem) -> list[list[float]]:
    found = witness(problem.given)
    if found is None:
        raise SmileError(
            f"No inputs were found that satisfy the premise of {problem.given.claim.formula()!r} exactly; "
            "a certificate needs one, so loosen an equality or use numbers that floats can represent."
        )
    return found.tolist()


def mirrored(problem: Problem) -> list[int | None]:
    """For every row of the claim an earlier one that it mirrors and that mirrors none; None where it needs a proof."""
    rows, out = problem.claim.rows, list[int | None]()
    if not problem.premise.symmetric:
        return [None] * len(rows)
    first: dict[Hashable, int] = {}  # rows that need a proof, by what they say
    for r, row in enumerate(rows):
        twin = first.get(_said(row, exchanged=True))
        out.append(twin)
        if twin is None:
            first.setdefault(_said(row), r)
    return out


def _said(row: Inequality, *, exchanged: bool = False) -> Hashable:
    """A row as a key, also with its two copies exchanged."""
    terms = {(1 - t.copy if exchanged else t.copy, t.kind, t.name): t.coef for t in row.terms}
    return row.rhs, frozenset(terms.items())
