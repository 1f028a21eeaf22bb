"""From properties on a domain to rows: boxes and strips of two copies, exact.

A feature that may differ between the copies and takes few values (binary, a category, or given `values`) is taken
apart: one row for every ordered pair of its values, in which both copies have theirs fixed. Rows that only exchange
the copies of an earlier one are left out, and so are pairs of equal inputs where the left side is zero whatever the
network is.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.premise import Premise, ground
from smilenn.properties.rational import exact, number

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
    chosen = {name: _read_values(domain.feature(name), given) for name, given in (values or {}).items()}
    out: list[Row] = []
    for stated in claims:
        for row in _stated_rows(stated, domain, outputs, chosen):
            if not any(_same(row, earlier) for earlier in out):
                out.append(row)
    if not out:
        raise SmileError("Nothing is claimed: give at least one property.")
    return out


def _read_values(feature: Feature, given: Sequence[Any]) -> tuple[Fraction, ...]:
    """The values at which a feature is compared, exactly."""
    numbers, name = tuple(dict.fromkeys(exact(v) for v in given)), feature.name
    bad = [v for v in numbers if not feature.lo <= v <= feature.hi]
    if feature.kind == "category" or len(numbers) < 2 or bad:
        raise SmileError(f"The values {listed(given)} of {name!r} are not two or more numbers within its bounds.")
    if feature.kind != "continuous" and any(v.denominator != 1 for v in numbers):
        raise SmileError(f"The values {listed(given)} of {name!r} are not whole, as the feature is.")
    return numbers


def _stated_rows(
    stated: Property | Claim | Bracket,
    domain: Domain,
    outputs: Sequence[str],
    chosen: Mapping[str, tuple[Fraction, ...]],
) -> Iterator[Row]:
    """The rows of one statement; those of a bracket have no right side."""
    if isinstance(stated, Bracket):
        for row in _stated_rows(stated.of, domain, outputs, chosen):
            yield replace(row, rhs=None)
        return
    claims = (stated,) if isinstance(stated, Claim) else stated.lower(domain, Outputs(tuple(outputs)))
    for claim in claims:
        yield from _claim_rows(claim, domain, outputs, chosen)


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
    moving = [
        (feature, places)
        for feature in premise.domain.features
        if claim.copies == 2 and not premise.pinned[list(places := premise.domain.indices(feature.name))].all()
    ]
    options = filter(None, (_options(feature, places, chosen) for feature, places in moving))
    settings = [dict(ChainMap(*choice)) for choice in product(*options)]
    if len(settings) ** 2 > MOST_PAIRS:
        settings = [{}]
    yield from product(settings, settings)


def _options(
    feature: Feature, places: Sequence[int], chosen: Mapping[str, tuple[Fraction, ...]]
) -> list[dict[int, Fraction]]:
    """What the coordinates of a feature are fixed to, one after the other; nothing where it takes many values."""
    if feature.name in chosen:
        return [{places[0]: v} for v in chosen[feature.name]]
    if feature.kind == "binary":
        return [{places[0]: Fraction(v)} for v in (0, 1)]
    if feature.kind == "category":
        return [{i: Fraction(int(i == j)) for i in places} for j in places]
    return []


def _row(inequality: Inequality, premise: Premise, weights: Any, fixed: tuple[Fixed, Fixed]) -> Row | None:
    """The row with these coordinates fixed; None where that contradicts the premise."""
    copies = (0, premise.copies - 1)  # of a claim on one input both are the same
    lo, hi = ([_exactly(ends[c]) for c in copies] for ends in (premise.lo, premise.hi))
    low, high = _exactly(premise.delta_lo), _exactly(premise.delta_hi)
    pairs = {i: (fixed[0][i], fixed[1][i]) for i in sorted(fixed[0])}
    for i, (a, b) in pairs.items():
        if not (lo[0][i] <= a <= hi[0][i] and lo[1][i] <= b <= hi[1][i] and low[i] <= a - b <= high[i]):
            return None
        lo[0][i] = hi[0][i] = a
        lo[1][i] = hi[1][i] = b
        low[i] = high[i] = a - b
    names = tuple(premise.domain.coordinates)
    said = [f"{names[i]}: a = {number(a)}, b = {number(b)}" for i, (a, b) in pairs.items() if a != b]
    text = "; ".join([inequality.text(), *said])
    whole = tuple(np.asarray(premise.integral, dtype=bool).tolist())
    boxes = ((tuple(lo[0]), tuple(lo[1])), (tuple(hi[0]), tuple(hi[1])))
    return Row(text, names, *boxes, tuple(low), tuple(high), whole, weights, inequality.rhs)


def _exactly(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(v)) for v in values]


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
