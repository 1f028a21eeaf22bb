"""The ends of a box as one network of two outputs, and rows about a boxed model as rows about the ends.

    centre(x) = V·relu(… relu(W_1·u + b_1) …) + c        u = (x − shift)·mult
    lower = centre − w/2      upper = centre + w/2      f(x) = min(max(h(x), lower(x)), upper(x))

Whatever the backbone h computes, lower ≤ f ≤ upper, so for every row of a claim

    Σ_c a_c·f(x_c)  ≤  Σ_c a_c⁺·upper(x_c) + a_c⁻·lower(x_c)

The right side is linear in the outputs of the ends at two inputs: a row that an audit certifies
(docs/audit-certificate.md). One more row says lower ≤ upper, without which f might leave the box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from smilenn.auditing.lowering import rows_of
from smilenn.auditing.network import DeepNet, Step
from smilenn.auditing.rows import Row, Vector
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.properties.base import Property

OUTPUTS = ("lower", "upper")
ZERO, ONE = Fraction(0), Fraction(1)


def ends_of(layers: Sequence[tuple[np.ndarray, np.ndarray]], width: float, domain: Domain) -> DeepNet:
    """The network (lower, upper) from the centre's layers (W [n, i], b [n]) on model units."""
    *hidden, (weight, bias) = layers
    last = np.repeat(weight, 2, axis=0), np.concatenate([bias - width / 2, bias + width / 2])
    return _network([*hidden, last], domain)


def ends_from(sizes: Sequence[int], numbers: np.ndarray, domain: Domain) -> DeepNet:
    """The same from the numbers of a file: W row by row, then b, layer by layer."""
    every, at = [], 0
    for before, after in pairwise(sizes):
        middle, end = at + before * after, at + before * after + after
        every.append((numbers[at:middle].reshape(after, before), numbers[middle:end]))
        at = end
    return _network(every, domain)


def _network(every: Sequence[tuple[np.ndarray, np.ndarray]], domain: Domain) -> DeepNet:
    scaling: tuple[tuple[Step, np.ndarray], ...] = (("sub", domain.shift), ("mul", domain.mult))
    return DeepNet(tuple(w for w, _ in every), tuple(b for _, b in every), "float64", scaling, "ends of a box")


def claimed_rows(properties: Sequence[Property], domain: Domain) -> list[Row]:
    """What the properties say of the one output of a model, as rows; those that leave no room are refused."""
    shape = DeepNet((np.zeros((1, domain.size)), np.zeros((1, 1))), (np.zeros(1), np.zeros(1)), "float64")
    rows = rows_of(properties, domain, shape, [""])
    for row in rows:
        if row.rhs is None:
            raise SmileError("A bracket asks a question; give properties that a model is to have.")
        equal = not sum(a for copy in row.weights for a in copy)
        if equal and row.rhs <= 0:
            raise SmileError(
                f"{row.text!r} allows no change at all, and a box around a deep network needs some room. "
                "Give a limit above 0, or use SmileRegressor or SmileClassifier, which keep such rules by construction."
            )
    return rows


def boxed_row(row: Row) -> Row:
    """A row about f as a row about the ends."""
    (a,), (b,) = row.weights
    return replace(row, weights=(_of_ends(a), _of_ends(b)))


def _of_ends(a: Fraction) -> Vector:
    return (min(a, ZERO), max(a, ZERO))


def order_row(domain: Domain) -> Row:
    """lower − upper ≤ 0 on the whole domain."""
    lo, hi = (tuple(Fraction(float(v)) for v in end) for end in (domain.lo, domain.hi))
    none = (ZERO,) * domain.size
    whole = tuple(bool(v) for v in domain.integral)
    groups = tuple(tuple(int(i) for i in group) for group in domain.groups)
    weights = ((ONE, -ONE), (ZERO, ZERO))
    names = tuple(domain.coordinates)
    return Row("lower <= upper", names, (lo, lo), (hi, hi), none, none, whole, weights, ZERO, groups)
