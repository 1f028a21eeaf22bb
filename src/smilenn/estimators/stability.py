"""Which decisions no allowed change can flip: from a checked bound on the change of a logit to rows of a table.

A certificate of `Robust` or `Fair` bounds |f(a) − f(b)| ≤ B for all pairs of its premise, where B (bound + margin, as
checked) may be below the stated ε, or above it where the claim itself was not certified. With the decision ``f > 0``:

    f(x) > B     every b that the premise relates to x has f(b) ≥ f(x) − B > 0
    f(x) ≤ −B    every such b has f(b) ≤ f(x) + B ≤ 0

Of several classes the margin of the winner over each other class takes the place of f, and each has a bound of its own.
B covers both rows of a form, so it does not matter which of the two copies x is. Rows outside the domain are moved
to its edge; they count only if clamping carries the claim there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

import numpy as np

from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain, OutOfBounds
from smilenn.errors import SmileError
from smilenn.estimators.outside import clamping_carries
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Unnamed
from smilenn.properties.recognise import meaning
from smilenn.rounding import round_up


def refuse_unbounded(claims: Sequence[Claim], outputs: Outputs, domain: Domain) -> NoReturn:
    """Raise: no claim bounds how far outputs change from every row on. One with premises of its own is named."""
    some = [one for one in claims if one.copies == 2 and isinstance(meaning(one, outputs, domain), Unnamed)]
    if not some:
        raise SmileError("Certified labels need a property that bounds changes; fit with a Robust or Fair one.")
    raise SmileError(
        f"Certified labels need a property that bounds changes from every row, which {some[0].formula()!r} does not; "
        "fit with a Robust or Fair one as well, or without the other premises."
    )


def largest_change(
    certificate: Certificate | None, claims: Sequence[Claim], domain: Domain, outside: OutOfBounds
) -> float:
    """The largest B of all rows of the claims (of `Robust` and `Fair`); infinite where nothing was checked."""
    found = [_checked(certificate, claim, domain, outside) for claim in claims]
    return max((change for changes in found for change in changes), default=0.0)


def largest_changes(
    certificate: Certificate | None, claims: Sequence[Claim], outputs: Outputs, domain: Domain, outside: OutOfBounds
) -> np.ndarray:
    """B for every output [o], or of classes with an output each for every margin f_i − f_j, [o, o].

    It covers all claims together: an output or margin that one of them does not cover is not bounded.
    """
    o = len(outputs.names)
    most = np.zeros((o, o) if len(outputs.classes) == o else o)
    for claim in claims:
        own = np.full(most.shape, -math.inf)
        for row, value in zip(claim.rows, _checked(certificate, claim, domain, outside), strict=True):
            found = _place(row, outputs, margins=own.ndim == 2)
            if found is None:
                continue
            places, size = found
            change = value if size == 1 or math.isinf(value) else round_up(Fraction(value) / size)
            for at in (places, tuple(reversed(places))):
                own[at] = max(own[at], change)
        own[own < 0] = math.inf
        if own.ndim == 2:
            np.fill_diagonal(own, 0.0)
        most = np.maximum(most, own)
    return most


def _place(row: Inequality, outputs: Outputs, *, margins: bool) -> tuple[tuple[int, ...], Fraction] | None:
    """(i,) of a row about ±c·f_i, or (i, j) of one about ±c·(f_i − f_j), and c; None for a row about another form."""
    terms = [term for term in row.terms if term.kind == "out" and term.copy == 0]
    coefficients = [term.coef for term in terms]
    if len(terms) != (2 if margins else 1) or (margins and sum(coefficients)):
        return None
    return tuple(outputs.names.index(term.name) for term in terms), abs(coefficients[0])


def _checked(certificate: Certificate | None, claim: Claim, domain: Domain, outside: OutOfBounds) -> list[float]:
    """B of every row of a claim as it was checked, at least 0; infinite where it was not, or is not carried outside."""
    carried = outside == "raise" or clamping_carries(claim, domain)
    if certificate is None or claim not in certificate.claims or not carried or claim.either:
        return [math.inf] * len(claim.rows)
    rows = certificate.report.claims[certificate.claims.index(claim)].rows
    return [max(0.0, round_up(row.bound + row.margin)) for row in rows]


def stable(logits: np.ndarray, change: float | np.ndarray, *, margins: bool = False) -> np.ndarray:
    """Which decisions survive any change by at most `change`: bool, of the shape of the logits.

    A logit of 0 or less decides against. With `margins` the largest of logits [n, o] wins, and it must lead each other
    one by more than `change` [o, o] allows: [n]. (A difference of floats rounds to more than B only if it is more.)
    """
    if not margins:
        return np.logical_or(logits > change, logits <= -np.asarray(change))
    winner = logits.argmax(axis=1)
    lead = logits[np.arange(len(logits)), winner][:, None] - logits
    allowed = np.asarray(change)[winner]
    allowed[np.arange(len(logits)), winner] = -1.0  # no class has to beat itself
    return np.asarray((lead > allowed).all(axis=1))
