"""A network at one input, without rounding: docs/audit-certificate.md, section 2. For the reference checker only."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.certify.reference.deep_files import Network, StoredRow, Vector
from smilenn.certify.reference.deep_octagon import ZERO
from smilenn.certify.reference.deep_sums import over
from smilenn.certify.reference.deep_work import Budget, thickness


def left_at(nets: tuple[Network, Network], row: StoredRow, budget: Budget) -> Fraction:
    """The left side at the witness."""
    for net, weights in zip(nets, row.weights, strict=True):
        budget.spend(128 * len(weights) * len(net.weights[-1][0]) * thickness(weights) ** 2)
    outputs = [value_at(net, x, budget) for net, x in zip(nets, row.witness, strict=True)]
    return sum((over(a) * over(f) for a, f in zip(row.weights, outputs, strict=True)), ZERO)


def value_at(net: Network, x: Vector, budget: Budget) -> list[Fraction]:
    """f(x)."""
    a = list(x)
    for kind, constants in net.scaling:
        a = [step(kind, v, k) for v, k in zip(a, constants, strict=True)]
    for depth, (weights, biases) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        budget.spend(len(weights) * (1024 + 16 * len(a) * thickness(a) ** 2))
        values = over(a)
        s = [over(w) * values + b for w, b in zip(weights, biases, strict=True)]
        a = s if depth == len(net.weights) else [max(v, ZERO) for v in s]
    return a


def step(kind: str, value: Fraction, constant: Fraction) -> Fraction:
    """One step of the scaling."""
    match kind:
        case "add":
            return value + constant
        case "sub":
            return value - constant
        case "mul":
            return value * constant
    return value / constant


def in_premise(row: StoredRow) -> bool:
    """Whether the witness is within bounds and strips, and whole where asked."""
    a, b = row.witness
    for i, whole in enumerate(row.whole):
        if any(not row.lo[c][i] <= x[i] <= row.hi[c][i] for c, x in enumerate(row.witness)):
            return False
        if not row.low[i] <= a[i] - b[i] <= row.high[i] or (whole and (a[i].denominator, b[i].denominator) != (1, 1)):
            return False
    return True


def groups(rows: Sequence[StoredRow]) -> list[list[StoredRow]]:
    """Rows that share a proof."""
    out: list[list[StoredRow]] = []
    for row in rows:
        if row.proof is None:
            out[-1].append(row)
        else:
            out.append([row])
    return out
