"""Proofs as values: what a rule of `provers/rules` emits, and what a certificate carries.

A proof of a row is nothing (order, signs, ball, sweep: the checker computes all of it), a list of nodes in preorder
(leaf and slope rule), or a reference to a mirrored row. Slopes and multipliers are integers, to be read times 2^-bits,
those of lemmas times 2^-MULTIPLIER_BITS. docs/certificate.md specifies the rules; `certify/certificate.py` writes the
files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

ALL_COPIES = 255
MULTIPLIER_BITS = 24


@dataclass(frozen=True)
class Leaf:
    """Slopes of a leaf, flattened: flips [k·n] (paper boxes only), units [k·U] copy by copy, rows [extra rows].

    Then multipliers of the proof's lemmas, [lemmas], to be read times 2^-MULTIPLIER_BITS.
    """

    flips: tuple[int, ...] = ()
    units: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    lemmas: tuple[int, ...] = ()


@dataclass(frozen=True)
class Phase:
    """Children: s ≤ 0, then s ≥ 0 of a hidden unit in one copy (ALL_COPIES in the slope rule)."""

    copy: int
    unit: int


@dataclass(frozen=True)
class Flip:
    """Children: d ≤ 0, then d ≥ 0 of a flip unit of the paper's boxes in one copy."""

    copy: int
    unit: int


@dataclass(frozen=True)
class Input:
    """Children: x ≤ threshold, then x ≥ threshold (whole values: ≤ floor, ≥ floor + 1); raw units."""

    copy: int
    coordinate: int
    threshold: float


@dataclass(frozen=True)
class Group:
    """One child per category of a one-hot group."""

    copy: int
    group: int


@dataclass(frozen=True)
class Empty:
    """A leaf of the slope rule that holds no point, by multipliers of the phase splits on its path."""

    multipliers: tuple[int, ...]


Node = Leaf | Phase | Flip | Input | Group | Empty


@dataclass(frozen=True)
class Lemma:
    """Σ_c β_c·relu(s_j(x_c)) ≤ Σ_c h_c·u(x_c) + r on the premise, for hidden unit j; a checker computes r.

    `beta` [k]; `theta` [2^a · b], a the number of copies with β_c > 0 and b that of copies with β_c < 0: subset by
    subset of the former, bit i of a subset's number for the i-th of them, and in it copy by copy; `slope` [k·m] is h,
    copy by copy.
    """

    unit: int
    beta: tuple[int, ...]
    theta: tuple[int, ...]
    slope: tuple[int, ...]


@dataclass(frozen=True)
class LeafProof:
    """Leaf rule: nodes in preorder; `units` lists the hidden units that have slopes; lemmas hold on the premise."""

    bits: int
    units: tuple[int, ...]
    nodes: tuple[Node, ...]
    lemmas: tuple[Lemma, ...] = ()


@dataclass(frozen=True)
class SweepProof:
    """Sweep rule: one input, the checker computes the maximum."""


@dataclass(frozen=True)
class SlopeProof:
    """Slope rule: nodes in preorder over one point."""

    bits: int
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class MirrorProof:
    """The row is row `of` with its two copies exchanged, and the premise is symmetric."""

    of: int


@dataclass(frozen=True)
class OrderProof:
    """Order rule: monotone by the signs of the weights, under the profile ``fixed-order``."""


@dataclass(frozen=True)
class SignsProof:
    """Signs rule: one copy against a mean of others, every unit by itself; convex, dominating, symmetric networks."""


@dataclass(frozen=True)
class BallProof:
    """Ball rule: a difference in the Euclidean norm; the checker computes the bound."""


RowProof = LeafProof | SweepProof | SlopeProof | MirrorProof | OrderProof | SignsProof | BallProof


@dataclass(frozen=True)
class ClaimProof:
    """A claim (JSON form), a witness that its premise is not empty (k rows of m raw floats), a proof per row.

    A claim with clauses has no rows of its own, but `cases`. `room` is granted to the rows of `then` for rounding, one
    number each (an ``==`` has two rows); empty: none.
    """

    claim: Mapping[str, Any]
    witness: Sequence[Sequence[float]] = ()
    rows: Sequence[RowProof] = ()
    cases: CasesProof | None = None
    room: Sequence[Fraction] = ()


@dataclass(frozen=True)
class CaseProof:
    """A case of a claim with clauses: weights for every clause, a witness, a proof per row."""

    weights: Sequence[Sequence[Fraction]]
    witness: Sequence[Sequence[float]]
    rows: Sequence[RowProof]


@dataclass(frozen=True)
class SplitProof:
    """Cases below and above a threshold of an input, raw units."""

    copy: int
    coordinate: int
    at: float
    below: CasesProof
    above: CasesProof


CasesProof = CaseProof | SplitProof
