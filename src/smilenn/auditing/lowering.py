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

from smilenn.auditing.cells import NUMBERS, as_read, claim_as_read
from smilenn.auditing.network import DeepNet, Dtype
from smilenn.auditing.rows import Row
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim, Inequality, in_quotes
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
    chosen = chosen_values(domain, values or {}, net.dtype)
    out: list[Row] = []
    for stated in claims:
        bracket = isinstance(stated, Bracket)
        for claim in _claims(stated.of if isinstance(stated, Bracket) else stated, domain, outputs, net.dtype):
            for row in _claim_rows(claim, domain, outputs, chosen, bracket):
                if not any(_same(row, earlier) for earlier in out):
                    out.append(row)
    if not out:
        raise SmileError("Nothing is claimed: give at least one property.")
    return out


def chosen_values(domain: Domain, values: Mapping[str, Sequence[Any]], dtype: Dtype) -> dict[str, tuple[Fraction, ...]]:
    """The values that were given for features, as the network reads them; others than numbers within bounds raise."""
    out = {}
    for name, given in values.items():
        feature = domain.feature(name)
        numbers = [exact(v) for v in given]
        if feature.kind in NUMBERS:
            numbers = [as_read(v, dtype) for v in numbers]
        numbers = tuple(dict.fromkeys(numbers))
        bad = [v for v in numbers if not feature.lo <= v <= feature.hi]
        if feature.kind == "category" or len(numbers) < 2 or bad:
            raise SmileError(f"The values {listed(given)} of {name!r} are not two or more numbers within its bounds.")
        if feature.kind != "continuous" and any(v.denominator != 1 for v in numbers):
            raise SmileError(f"The values {listed(given)} of {name!r} are not whole, as the feature is.")
        out[name] = numbers
    return out


def compared_words(names: Sequence[str], chosen: Mapping[str, tuple[Fraction, ...]]) -> str:
    """Which values of these features are compared, as the end of a sentence: of others nothing is said.

    >>> compared_words(["age", "sex"], {"age": (Fraction(25), Fraction(60))})
    ' between the values 25, 60 of "age"'
    """
    given = [f"{', '.join(map(number, chosen[name]))} of {in_quotes(name)}" for name in names if name in chosen]
    return f" between the values {' and '.join(given)}" if given else ""


def _claims(stated: Property | Claim, domain: Domain, outputs: Sequence[str], dtype: Dtype) -> Sequence[Claim]:
    """The claims of a property, its thresholds as the network reads them; one that was given is exact already."""
    if isinstance(stated, Claim):
        return (stated,)
    return [claim_as_read(claim, domain, dtype) for claim in stated.lower(domain, Outputs(tuple(outputs)))]


def _claim_rows(
    claim: Claim, domain: Domain, outputs: Sequence[str], chosen: Mapping[str, tuple[Fraction, ...]], bracket: bool
) -> Iterator[Row]:
    premise = _premise(claim, domain)
    for inequality in claim.rows:
        weights = _weights(inequality, outputs)
        text = _text(claim, inequality, bracket)
        found = [_row(text, inequality, premise, weights, fixed) for fixed in _cases(claim, premise, chosen)]
        rows = [row for row in found if row is not None]
        if not rows:  # leaving the claim out would look as if it held
            raise SmileError(f"No given value satisfies the premise of {claim.formula()!r}; give others.")
        for row in rows:
            if not _trivial(row):
                yield replace(row, rhs=None) if bracket else row


def _premise(claim: Claim, domain: Domain) -> Premise:
    """Boxes and strips of a claim; what audits do not cover is named, and a premise without any inputs is an error."""
    if claim.either or claim.copies > 2:
        raise SmileError(f"{claim.formula()!r} has alternatives or more than two copies, which audits do not cover.")
    if claim.ball:  # its strips alone would let pairs in that the claim is not about
        raise SmileError(f"{claim.formula()!r} has a Euclidean norm in its premise, which audits do not cover.")
    premise = ground(claim, domain)
    if premise.has_rows:
        raise SmileError(f"{claim.formula()!r} relates several inputs in its premise, which audits do not cover.")
    return premise


def _text(claim: Claim, inequality: Inequality, bracket: bool) -> str:
    """The row with its premise; of a bracket the left side alone, since nothing is said to be its limit."""
    text = replace(claim, then=(inequality,)).formula()
    return text.removesuffix(f" {inequality.op} {number(inequality.rhs)}") if bracket else text


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
        _refuse_given([feature.name for feature, _ in moving if feature.name in chosen])
        settings = [{}]
    yield from product(settings, settings)


def _refuse_given(names: Sequence[str]) -> None:
    """Comparing all values instead would find pairs, and changed labels, that nobody asked about."""
    if names:
        raise SmileError(
            f"The values given for {listed(names)} make more than {MOST_PAIRS} pairs to compare; give fewer, or leave "
            "them out to compare all."
        )


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


def _row(text: str, inequality: Inequality, premise: Premise, weights: Any, fixed: tuple[Fixed, Fixed]) -> Row | None:
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
            said.append(f"{in_quotes(premise.domain.coordinates[i])}: a = {number(a)}, b = {number(b)}")
    text = "; ".join([text, *said])
    whole = tuple(bool(v) for v in np.asarray(premise.integral))
    boxes = ((tuple(lo[0]), tuple(lo[1])), (tuple(hi[0]), tuple(hi[1])))
    names = tuple(premise.domain.coordinates)
    assert len(names) == m
    groups = tuple(tuple(int(i) for i in group) for group in premise.domain.groups)
    return Row(text, names, *boxes, tuple(low), tuple(high), whole, weights, inequality.rhs, groups)


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
