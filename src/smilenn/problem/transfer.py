"""A claim about inputs x becomes a claim about encoded inputs e = E(x) that implies it.

If Q(x_1..x_k) then Q̃(E(x_1)..E(x_k)), where Q̃ says of every coordinate of e what the layers leave of Q: pinned where
nothing that it reads may differ, δ_lo ≤ e_1 − e_2 ≤ δ_hi for two copies, and nothing otherwise. Rows of Q over
coordinates that the encoder passes on unchanged stay as they are; all others are dropped, which only enlarges Q̃. So a
proof on e-space is a proof of the claim.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.spread import Encoding, Spread
from smilenn.problem.region import Region
from smilenn.properties.claim import Claim, Inequality, Term
from smilenn.properties.premise import Premise


def transfer(claim: Claim, premise: Premise, encoding: Encoding, space: Domain) -> Claim:
    """The claim on e-space; `premise` is that of `claim` on the encoder's own domain."""
    spread = encoding.of(start(premise))
    passed = _passed(encoding, space)
    _refuse_hidden(claim, passed)
    when = [row for row in claim.when if all(term.name in passed for term in row.terms)]
    equal = _equal(premise, encoding, space, spread) if claim.copies > 1 else []
    free = [name for name in space.slices if name not in equal]
    for name in free if claim.copies == 2 else ():
        first = space.indices(name)[0]
        when += _strip(name, spread.low[first], spread.high[first]) if encoding.encoded[first] else []
    for name, delta in claim.ball:  # of a ball its strips are left
        when += _within(name, delta) if name in passed else []
    return replace(claim, when=tuple(when), others="free", equal=tuple(equal), free=tuple(free), ball=())


def _passed(encoding: Encoding, space: Domain) -> set[str]:
    """Names of coordinates, and of whole features, that the encoder passes on unchanged."""
    whole = {name for name in space.slices if all(not encoding.encoded[i] for i in space.indices(name))}
    return whole.union(space.coordinates[i] for i in np.flatnonzero(~encoding.encoded))


def _equal(premise: Premise, encoding: Encoding, space: Domain, spread: Spread) -> list[str]:
    """What is equal in all copies: a feature that is passed on where it is pinned, another where all it reads is."""
    equal = []
    for name in space.slices:
        first = space.indices(name)[0]
        if encoding.encoded[first]:
            same = spread.same[first]
        else:
            same = premise.pinned[list(encoding.domain.indices(name))].all()
        equal += [name] if same else []
    return equal


def _refuse_hidden(claim: Claim, passed: set[str]) -> None:
    """A conclusion about a column that the encoder does not pass on."""
    for row in claim.then:
        for term in row.terms:
            if term.kind == "in" and term.name not in passed:
                raise SmileError(
                    f"{row.text()!r} compares an output with the column {term.name!r} itself, which the encoder "
                    "replaces by features of its own; use no encoder, or one that also passes this column on as it is."
                )


def start(premise: Premise) -> Spread:
    """What the premise says of each coordinate of u."""
    region = Region.of(premise)
    lo, hi = region.lo.min(axis=0), region.hi.max(axis=0)
    if region.copies == 2:
        low, high = region.delta_lo, region.delta_hi
    else:
        low, high = np.where(region.pinned, 0.0, lo - hi), np.where(region.pinned, 0.0, hi - lo)
    rises, falls = region.pinned | (low >= 0), region.pinned | (high <= 0)
    return Spread(lo, hi, low, high, rises, falls, axes(premise))


def axes(premise: Premise) -> np.ndarray | None:
    """The axes of a ball in model units, 0 for pinned coordinates; None where something else may move too."""
    if premise.axes is None:
        return None
    given = np.where(premise.pinned, 0.0, premise.axes * premise.domain.mult)
    return given if np.isfinite(given).all() else None


def _strip(name: str, low: float, high: float) -> list[Inequality]:
    """low ≤ e_1 − e_2 ≤ high, bounds that are infinite left out."""
    rows = []
    for bound, sign in ((high, 1), (low, -1)):
        if np.isfinite(bound):
            terms = (Term(Fraction(sign), 0, "in", name), Term(Fraction(-sign), 1, "in", name))
            rows.append(Inequality(terms, sign * Fraction(float(bound))))
    return rows


def _within(name: str, delta: Fraction) -> list[Inequality]:
    """|x_1 − x_2| ≤ δ of a column that is passed on."""
    return [
        Inequality((Term(Fraction(sign), 0, "in", name), Term(Fraction(-sign), 1, "in", name)), delta)
        for sign in (1, -1)
    ]
