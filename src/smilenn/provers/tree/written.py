"""A tree of the branch-and-bound in integers, as a certificate carries it: the proof by the leaf rule.

    slope t  →  round(t·2^bits),   bits as many as leave the largest slope below 2^31, at most BITS

The slopes of a search that is meant for a certificate are such multiples already (`Growth.writable`); what is rounded
here is what a search without that aim has left. A poor proof is a larger bound, a wrong one is refused by the checkers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from smilenn.errors import SmileError
from smilenn.problem import Problem
from smilenn.provers.proof import (
    ALL_COPIES,
    MULTIPLIER_BITS,
    Flip,
    Group,
    Input,
    Leaf,
    LeafProof,
    Lemma,
    Node,
    Phase,
)
from smilenn.provers.tree.lemma import Lemmas
from smilenn.provers.tree.splitting import raw_threshold
from smilenn.provers.tree.tree import Node as Cell
from smilenn.provers.tree.tree import Tree

BITS = 24
LARGEST = 2**31 - 1


def leaf_proof(problem: Problem, tree: Tree) -> LeafProof:
    """The tree in preorder, slopes as integers of at most 32 bits; all leaves' slopes are rounded in one batch.

    Lemmas that no leaf uses are left out.
    """
    order = _preorder(tree.root)
    leaves = [node for node in order if node.split is None]
    t, tau, nu = _slopes(problem, leaves)
    lemmas, y = _used_lemmas(tree, leaves)
    largest = max(float(np.abs(a).max(initial=0.0)) for a in (t, tau, nu, lemmas.beta, lemmas.slope))
    bits = BITS if largest == 0 else min(BITS, 30 - math.ceil(math.log2(largest)))
    if bits < 0:
        raise SmileError("A slope of the proof is too large for the certificate; rescale the network's weights.")
    used = np.flatnonzero((t != 0).any(axis=(0, 1)))
    flips = _integers(tau, bits) if problem.snapshot.boxes == "paper" else [()] * len(t)
    ends = map(Leaf, flips, _integers(t[:, :, used], bits), _integers(nu, bits), _integers(y, MULTIPLIER_BITS))
    nodes = [next(ends) if node.split is None else _split(problem, node.split) for node in order]
    return LeafProof(bits, tuple(int(j) for j in used), tuple(nodes), _lemmas(lemmas, bits))


def _preorder(root: Cell) -> list[Cell]:
    order, stack = [], [root]
    while stack:
        node = stack.pop()
        stack += reversed(node.children)
        order.append(node)
    return order


def _used_lemmas(tree: Tree, leaves: Sequence[Cell]) -> tuple[Lemmas, np.ndarray]:
    """Lemmas that some leaf uses, and their multipliers [L, lemmas]."""
    y = np.zeros((len(leaves), len(tree.lemmas)))
    for own, leaf in zip(y, leaves, strict=True):
        own[: len(leaf.slopes.lemmas)] = leaf.slopes.lemmas
    kept = np.flatnonzero(y.any(axis=0))
    return tree.lemmas[kept], y[:, kept]


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
