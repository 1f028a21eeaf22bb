"""From properties on a domain to rows: boxes and strips of two copies, exact.

A feature that may differ between the copies and takes few values (binary, a category, or given `values`) is taken
apart: one row for every ordered pair of its values, in which both copies have theirs fixed. Rows that only exchange
the copies of an earlier one are left out, and so are pairs of equal inputs where the left side is zero whatever the
network is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim, Inequality, exact, number
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import Premise, ground

MOST_PAIRS = 30  # ordered pairs of values of the features that differ
Fixed = Mapping[int, Fraction]


@dataclass(frozen=True)
class Bracket:
    """Asks how large the left side of a property can be, whatever the property allows."""

    of: Property


def rows_of(
    claims: Sequence[Property | Claim | Bracket],
    domain: Domain,
    net: DeepNet,
    outputs: Sequence[str],
    values: Mapping[str, Sequence[Any]] | None = None,
) -> list[Row]:
    """All rows, those that are the mirror image of an earlier one left out."""
    if domain.size != net.sizes[0]:
        have = f"the domain has {domain.size} ({listed(domain.coordinates, 4)})"
        raise SmileError(f"The network reads {net.sizes[0]} inputs, but {have}; give them in the network's order.")
    chosen = _chosen(domain, values or {})
    out: list[Row] = []
    for stated in claims:
        bracket = isinstance(stated, Bracket)
        for claim in _claims(stated.of if isinstance(stated, Bracket) else stated, domain, outputs):
            for row in _claim_rows(claim, domain, outputs, chosen):
                row = replace(row, rhs=None) if bracket else row
                if not any(_same(row, earlier) for earlier in out):
                    out.append(row)
    if not out:
        raise SmileError("Nothing is claimed: give at least one property.")
    return out


def _chosen(domain: Domain, values: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Fraction, ...]]:
    out = {}
    for name, given in values.items():
        feature = domain.feature(name)
        numbers = tuple(dict.fromkeys(exact(v) for v in given))
        bad = [v for v in numbers if not feature.lo <= v <= feature.hi]
        if feature.kind == "category" or len(numbers) < 2 or bad:
            raise SmileError(f"The values {listed(given)} of {name!r} are not two or more numbers within its bounds.")
        if feature.kind != "continuous" and any(v.denominator != 1 for v in numbers):
            raise SmileError(f"The values {listed(given)} of {name!r} are not whole, as the feature is.")
        out[name] = numbers
    return out


def _claims(stated: Property | Claim, domain: Domain, outputs: Sequence[str]) -> Sequence[Claim]:
    if isinstance(stated, Claim):
        return (stated,)
    return stated.lower(domain, Outputs(tuple(outputs)))


def _claim_rows(
    claim: Claim, domain: Domain, outputs: Sequence[str], chosen: Mapping[str, tuple[Fraction, ...]]
) -> Iterator[Row]:
    if claim.either or claim.copies > 2:
        raise SmileError(f"{claim.formula()!r} has alternatives or more than two copies, which audits do not cover.")
    if claim.ball:  # its strips alone would let pairs in that the claim is not about
        raise SmileError(f"{claim.formula()!r} has a Euclidean norm in its premise, which audits do not cover.")
    premise = ground(claim, domain)  # a premise without any inputs is an error
    if premise.has_rows:
        raise SmileError(f"{claim.formula()!r} relates several inputs in its premise, which audits do not cover.")
    for inequality in claim.rows:
        weights = _weights(inequality, outputs)
        for first, second in _cases(claim, premise, chosen):
            row = _row(inequality, premise, weights, (first, second))
            if row is not None and not _trivial(row):
                yield row


def _weights(inequality: Inequality, outputs: Sequence[str]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    out = [[Fraction(0)] * len(outputs) for _ in range(2)]
    for term in inequality.terms:
        if term.kind == "in":
            raise SmileError(f"{inequality.text()!r} relates outputs to inputs, which audits do not cover.")
        if term.name not in outputs:
            raise SmileError(f"There is no output {term.name!r}; the outputs are {listed(outputs)}.")
        out[term.copy][list(outputs).index(term.name)] += term.coef
    return tuple(out[0]), tuple(out[1])


def _cases(claim: Claim, premise: Premise, chosen: Mapping[str, tuple[Fraction, ...]]) -> Iterator[tuple[Fixed, Fixed]]:
    """Which coordinates are fixed to what in either copy."""
    domain, options = premise.domain, []
    if claim.copies == 2:
        for feature in domain.features:
            span = range(*domain.slices[feature.name].indices(domain.size))
            if premise.pinned[span.start] and premise.pinned[list(span)].all():
                continue
            if feature.name in chosen:
                options.append([{span.start: v} for v in chosen[feature.name]])
            elif feature.kind == "binary":
                options.append([{span.start: Fraction(v)} for v in (0, 1)])
            elif feature.kind == "category":
                options.append([{i: Fraction(int(i == j)) for i in span} for j in span])
    settings = [{k: v for part in choice for k, v in part.items()} for choice in product(*options)]
    if len(settings) ** 2 > MOST_PAIRS:
        settings = [{}]
    yield from product(settings, settings)


def _row(inequality: Inequality, premise: Premise, weights: Any, fixed: tuple[Fixed, Fixed]) -> Row | None:
    """The row with these coordinates fixed; None where that contradicts the premise."""
    m, two = premise.domain.size, premise.copies == 2
    lo = [[Fraction(float(v)) for v in premise.lo[c if two else 0]] for c in range(2)]
    hi = [[Fraction(float(v)) for v in premise.hi[c if two else 0]] for c in range(2)]
    low = [Fraction(float(v)) if two else Fraction(0) for v in premise.delta_lo]
    high = [Fraction(float(v)) if two else Fraction(0) for v in premise.delta_hi]
    said = []
    for i in sorted(fixed[0]):
        a, b = fixed[0][i], fixed[1][i]
        if not (lo[0][i] <= a <= hi[0][i] and lo[1][i] <= b <= hi[1][i] and low[i] <= a - b <= high[i]):
            return None
        lo[0][i] = hi[0][i] = a
        lo[1][i] = hi[1][i] = b
        low[i] = high[i] = a - b
        if a != b:
            said.append(f"{premise.domain.coordinates[i]}: a = {number(a)}, b = {number(b)}")
    text = "; ".join([inequality.text(), *said])
    whole = tuple(bool(v) for v in np.asarray(premise.integral))
    boxes = ((tuple(lo[0]), tuple(lo[1])), (tuple(hi[0]), tuple(hi[1])))
    names = tuple(premise.domain.coordinates)
    assert len(names) == m
    return Row(text, names, *boxes, tuple(low), tuple(high), whole, weights, inequality.rhs)


def _trivial(row: Row) -> bool:
    """Whether the copies are equal and the left side cancels: 0 ≤ rhs."""
    equal = not any(row.low) and not any(row.high)
    cancels = all(a == -b for a, b in zip(*row.weights, strict=True))
    return equal and cancels and row.rhs is not None and row.rhs >= 0


def _same(row: Row, other: Row) -> bool:
    """Whether two rows say the same, the copies exchanged or not."""
    mirrored = replace(
        row,
        lo=row.lo[::-1],
        hi=row.hi[::-1],
        weights=row.weights[::-1],
        low=tuple(-v for v in row.high),
        high=tuple(-v for v in row.low),
    )
    return any(replace(side, text=other.text) == other for side in (row, mirrored))
