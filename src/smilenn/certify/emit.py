"""From a network and its claims to a certificate: which rule proves each row, and the proof in integers.

    monotone by signs, fixed order    order: nothing to write, the checker looks at the signs
    convex, dominating, symmetric     signs: nothing to write either
    one input                         sweep: nothing to write, the checker computes the maximum
    tight on the diagonal, zero gap   slope rule: the tree over phases at one point
    otherwise                         leaf rule: the branch-and-bound's tree, slopes rounded to multiples of 2^-bits
    second of two mirrored rows       a reference to the first
    clauses, of whose rows one holds  a tree of cases, each proved as above (cases.py)

Nothing emitted here counts until a checker has accepted it: a poor proof is a larger bound, a wrong one is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smilenn.certify.certificate import (
    ALL_COPIES,
    MULTIPLIER_BITS,
    CaseProof,
    CasesProof,
    ClaimProof,
    Empty,
    Flip,
    Group,
    Input,
    Leaf,
    LeafProof,
    Lemma,
    MirrorProof,
    Node,
    OrderProof,
    Phase,
    RowProof,
    SignsProof,
    SlopeProof,
    SplitProof,
    SweepProof,
)
from smilenn.errors import SmileError
from smilenn.problem import Problem, Row
from smilenn.properties.cases import Case, Cases
from smilenn.properties.claim import Claim, Inequality
from smilenn.prove.rules.order import ordered
from smilenn.prove.rules.signs import Signs
from smilenn.prove.rules.slopes import SlopeNode, applies, slope_tree
from smilenn.prove.tree.branch import Branch, raw_threshold
from smilenn.prove.tree.branch import Node as Cell
from smilenn.prove.tree.lemma import Lemmas
from smilenn.prove.tree.tree import Tree, Trees, tree_key
from smilenn.prove.witness import witness

BITS = 24
INTERRUPTED = ": interrupted"  # how the note on a row ends whose search was cut off by Ctrl-C
LARGEST = 2**31 - 1
ROOM = 1e-8  # of the output scale: how far below the right side the branch-and-bound aims, for rounding and margin


@dataclass(frozen=True)
class Emitted:
    """The proof of one claim, and whether every row's search reached its aim; `notes` says where one did not."""

    proof: ClaimProof
    complete: bool
    notes: tuple[str, ...]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C cut a search off; what it had found by then is in the proof."""
        return any(note.endswith(INTERRUPTED) for note in self.notes)


def emit(problem: Problem, *, time_limit: float = 60.0, trees: Trees | None = None) -> Emitted:
    """Prove every row of a claim in the form a certificate carries, within `time_limit` seconds a row.

    Searches start from the `trees` of earlier ones; what is emitted is proved again on this problem.
    """
    proofs: list[RowProof] = []
    notes: list[str] = []
    rows = {row.text: row for row in problem.rows}
    inequalities, twins = problem.claim.rows, mirrored(problem)
    for r, inequality in enumerate(inequalities):
        twin = twins[r]
        if twin is not None:
            proofs.append(MirrorProof(twin))
            continue
        row = rows[inequality.text()]
        cut_off = bool(notes) and notes[-1].endswith(INTERRUPTED)
        proof, note = _row(problem, row, 0.0 if cut_off else time_limit, trees)
        proofs.append(proof)
        notes += [f"{row.text}: {note}"] if note else []
    claim = problem.given.claim.to_json()
    return Emitted(ClaimProof(claim, _witness(problem), proofs), not notes, tuple(notes))


def emit_claim(
    claim: Claim, cases: Cases, problems: Sequence[Problem], *, time_limit: float, trees: Trees | None = None
) -> Emitted:
    """Prove a claim with clauses in its cases, whose `problems` come in their order, `time_limit` seconds a row."""
    emitted: list[Emitted] = []

    def proved(node: Cases) -> CasesProof:
        if isinstance(node, Case):
            cut_off = any(entry.interrupted for entry in emitted)
            found = emit(problems[len(emitted)], time_limit=0.0 if cut_off else time_limit, trees=trees)
            emitted.append(found)
            return CaseProof(node.weights, found.proof.witness, found.proof.rows)
        return SplitProof(node.copy, node.coordinate, node.at, proved(node.below), proved(node.above))

    proof = ClaimProof(claim.to_json(), cases=proved(cases))
    notes = tuple(note for entry in emitted for note in entry.notes)
    return Emitted(proof, not notes, notes)


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
    for r, row in enumerate(rows):
        out.append(next((q for q in range(r) if out[q] is None and _mirrors(problem, row, rows[q])), None))
    return out


def _mirrors(problem: Problem, row: Inequality, other: Inequality) -> bool:
    """Whether the premise is symmetric and `row` is `other` with the copies exchanged."""
    if not problem.premise.symmetric or row.rhs != other.rhs:
        return False
    return {(1 - t.copy, t.kind, t.name): t.coef for t in row.terms} == {
        (t.copy, t.kind, t.name): t.coef for t in other.terms
    }


def _row(problem: Problem, row: Row, time_limit: float, trees: Trees | None) -> tuple[RowProof, str]:
    region = problem.region
    if problem.snapshot.profile == "fixed-order" and ordered(problem, row):
        return OrderProof(), ""
    if (problem.copies > 2 or region.has_rows) and Signs().refuses(problem, row) is None:
        return SignsProof(), ""
    if region.size == 1 and problem.copies <= 2 and not region.has_rows:
        return SweepProof(), ""
    if row.rhs <= 0 and applies(problem, row) is None:
        tree = slope_tree(problem, row, time_limit=time_limit)
        if tree.complete:
            return _slope_proof(tree.root), ""
        # the leaf rule cannot prove ε = 0 on the diagonal, but its root bounds the violation
        found = Branch().search(problem, row, time_limit=time_limit, most=1)
        return leaf_proof(problem, found), f"the proof by slopes stopped, {tree.note}"
    like = None if trees is None else trees.get(tree_key(problem, row))
    found = Branch().search(problem, row, time_limit=time_limit, target=-ROOM * row.scale, like=like)
    proof = leaf_proof(problem, found)
    return proof, "" if found.complete and found.bound <= 0 else found.note or "the box allows a violation"


def _slope_proof(root: SlopeNode) -> SlopeProof:
    """Multipliers are scaled so that the largest of a leaf has BITS bits; only their ratios matter."""
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if node.split is not None:
            kind, index, threshold = node.split
            nodes.append(
                Phase(ALL_COPIES, index) if kind == "phase"
                else Group(ALL_COPIES, index) if kind == "group"
                else Input(ALL_COPIES, index, threshold)
            )  # fmt: skip
            stack += reversed(node.children)
        elif node.empty is not None:
            scale = 2**BITS / max(float(node.empty.max()), 1e-300)
            nodes.append(Empty(tuple(round(v * scale) for v in node.empty)))
        else:
            nodes.append(Leaf())
    return SlopeProof(BITS, tuple(nodes))


def leaf_proof(problem: Problem, tree: Tree) -> LeafProof:
    """The tree in preorder, slopes as integers of at most 32 bits; all leaves' slopes are rounded in one batch.

    Lemmas that no leaf uses are left out.
    """
    order, stack = [], [tree.root]
    while stack:
        node = stack.pop()
        stack += reversed(node.children)
        order.append(node)
    leaves = [node for node in order if node.split is None]
    t, tau, nu = _slopes(problem, leaves)
    y = np.zeros((len(leaves), len(tree.lemmas)))
    for own, leaf in zip(y, leaves, strict=True):
        own[: len(leaf.slopes.lemmas)] = leaf.slopes.lemmas
    kept = np.flatnonzero(y.any(axis=0))
    lemmas, y = tree.lemmas[kept], y[:, kept]
    largest = max(float(np.abs(a).max(initial=0.0)) for a in (t, tau, nu, lemmas.beta, lemmas.slope))
    bits = BITS if largest == 0 else min(BITS, 30 - math.ceil(math.log2(largest)))
    if bits < 0:
        raise SmileError("A slope of the proof is too large for the certificate; rescale the network's weights.")
    used = np.flatnonzero((t != 0).any(axis=(0, 1)))
    flips = _integers(tau, bits) if problem.snapshot.boxes == "paper" else [()] * len(t)
    ends = map(Leaf, flips, _integers(t[:, :, used], bits), _integers(nu, bits), _integers(y, MULTIPLIER_BITS))
    nodes = [next(ends) if node.split is None else _split(problem, node.split) for node in order]
    return LeafProof(bits, tuple(int(j) for j in used), tuple(nodes), _lemmas(lemmas, bits))


def _lemmas(lemmas: Lemmas, bits: int) -> tuple[Lemma, ...]:
    """In integers; of θ what a certificate gives: by subsets of copies with β > 0, in them the copies with β < 0."""
    out = []
    beta, theta, slope = (_integers(a, bits) for a in (lemmas.beta, lemmas.theta, lemmas.slope))
    for unit, own, each, line in zip(lemmas.unit.tolist(), beta, theta, slope, strict=True):
        k = len(own)
        on = [c for c in range(k) if own[c] > 0]
        subsets = (sum((p >> i & 1) << c for i, c in enumerate(on)) for p in range(2 ** len(on)))
        given = tuple(each[p * k + c] for p in subsets for c in range(k) if own[c] < 0)
        out.append(Lemma(unit, own, given, line))
    return tuple(out)


def _slopes(problem: Problem, leaves: Sequence[Cell]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """t [L, k, H], τ [L, k, n] and ν [L, R]; the multipliers are those of the claim's own rows, before they were made
    floats.
    """
    t, tau, rows = (np.stack([getattr(leaf.slopes, part) for leaf in leaves]) for part in ("unit", "flip", "rows"))
    origin, factor = problem.region.origin, problem.region.factor
    nu = np.zeros((len(leaves), int(origin.max(initial=-1)) + 1))
    for own, (to, by) in enumerate(zip(origin.tolist(), factor.tolist(), strict=True)):
        nu[:, to] += by * rows[:, own]
    return t, tau, nu


def _integers(values: np.ndarray, bits: int) -> list[tuple[int, ...]]:
    """Slopes of all leaves [L, …] as integers times 2^-bits, a tuple for every leaf."""
    whole = np.clip(np.rint(values * 2.0**bits), -LARGEST, LARGEST).astype(np.int64)
    return [tuple(own) for own in whole.reshape(len(values), math.prod(values.shape[1:])).tolist()]


def _split(problem: Problem, split: tuple[str, int, int, float]) -> Node:
    kind, copy, index, threshold = split
    copy = ALL_COPIES if copy < 0 else copy
    if kind in ("phase", "flip"):
        return Phase(copy, index) if kind == "phase" else Flip(copy, index)
    if kind == "group":
        return Group(copy, index)
    return Input(copy, index, raw_threshold(problem, index, threshold))
