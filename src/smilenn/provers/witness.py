"""A tuple of inputs that satisfies a premise exactly: what shows that a claim is not about nothing."""

from __future__ import annotations

import numpy as np

from smilenn.problem import InputClaim
from smilenn.properties.premise import holds_exactly
from smilenn.provers.realise import onto_premise, raw
from smilenn.search.oracle import Oracle


def witness(given: InputClaim) -> np.ndarray | None:
    """A tuple x [k, m] of raw floats that satisfies the premise in exact arithmetic, or None if none was found.

    Candidates are the middle of the region, points of the diagonal and 32 of the premise, each moved by ulps.
    """
    k, rng = given.claim.copies, np.random.default_rng(0)
    domain, region = given.domain, given.region
    diagonal = domain.unscale(region.snap(np.repeat((region.lo + region.hi)[None] / 2, 1, 0)))
    candidates = [np.repeat(domain.sample(1, rng), k, axis=0) for _ in range(4)]
    candidates += [raw(given, u[None])[0] for u in Oracle(region).sample(32, rng)]
    for x in (diagonal[0], *candidates):
        if holds_exactly(given.claim, domain, x):
            return x
        moved = onto_premise(given, x)
        if moved is not None and holds_exactly(given.claim, domain, moved):
            return moved
    return None
