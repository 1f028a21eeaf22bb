"""Which decisions no allowed change can turn: from a checked bound on the change of a logit to rows of a table.

A certificate of `Robust` or `Fair` bounds |f(a) − f(b)| ≤ B for all pairs of its premise, where B (bound + margin, as
checked) may be below the stated ε, or above it where the claim itself was not certified. With the decision ``f > 0``:

    f(x) > B     every b that the premise relates to x has f(b) ≥ f(x) − B > 0
    f(x) ≤ −B    every such b has f(b) ≤ f(x) + B ≤ 0

B covers both rows of the claim, so it does not matter which of the two copies x is. Rows outside the domain are moved
to its edge; they count only if clamping carries the claim there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from smilenn.certify.verdicts import Certificate, rounded_up
from smilenn.domain import Domain, OutOfBounds
from smilenn.estimators.outside import clamping_carries
from smilenn.properties.claim import Claim


def largest_change(
    certificate: Certificate | None, claims: Sequence[Claim], domain: Domain, outside: OutOfBounds
) -> float:
    """B for the claims (of `Robust` and `Fair` properties) together; infinite where nothing was checked."""
    if certificate is None:
        return math.inf
    changes = [0.0]
    for claim in claims:
        if claim not in certificate.claims or (outside != "raise" and not clamping_carries(claim, domain)):
            return math.inf
        rows = certificate.report.claims[certificate.claims.index(claim)].rows
        changes += [rounded_up(row.bound + row.margin) for row in rows]
    return max(changes)


def steady(logit: np.ndarray, change: float) -> np.ndarray:
    """[n] bool: logits whose sign survives any change by at most `change`; a logit of 0 or less decides against."""
    return (logit > change) | (logit <= -change)
