"""One order for the rows of a claim, so that training does not depend on how a claim is written.

A bound on a change is two rows, r and −r. A chain ``-0.1 <= a.out - b.out <= 0.1`` puts −r first, ``|a.out - b.out|``
in a named property r. Training looks at r first, the row in which the first copy's output that is written first is
positive; all other rows stay where they are.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import replace

from smilenn.properties.claim import Claim, Inequality


def in_order(claim: Claim) -> Claim:
    """The same claim with the rows of every such pair in that order."""
    if claim.copies == 1:
        return claim
    rows = list(claim.then)
    places: dict[frozenset[tuple[object, ...]], list[int]] = {}  # by terms, rising: hundreds of classes have many rows
    for i, row in enumerate(rows):
        places.setdefault(_terms(row), []).append(i)
    for i, row in enumerate(rows):
        if _positive(row):
            continue
        own, others = places[_terms(row)], places.get(_terms(row, -1), [])
        after = bisect_right(others, i)
        if after < len(others):
            partner = others[after]
            rows[i], rows[partner] = rows[partner], row
            own.remove(i)
            insort(own, partner)
            others.remove(partner)
            insort(others, i)
    return replace(claim, then=tuple(rows))


def _terms(row: Inequality, sign: int = 1) -> frozenset[tuple[object, ...]]:
    return frozenset((row.op, sign * term.coef, term.copy, term.kind, term.name) for term in row.terms)


def _positive(row: Inequality) -> bool:
    """Whether the first copy's output that is written first has a positive coefficient."""
    return next((term.coef > 0 for term in row.terms if term.kind == "out" and term.copy == 0), True)
