"""What claims ask of a network, read from their rows: the same for a named property and for a claim written by hand.

A claim's meaning (properties/recognise.py) decides its kind. A claim of several rows that has no meaning as a whole is
read row by row, for all of its rows must hold. One with a norm beside other premises is read as if it had the norm
alone, where that asks for more. Kinds are called as the properties that people know them by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim, Inequality
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import (
    Changes,
    Curved,
    Linear,
    Meaning,
    Near,
    Permuted,
    Rises,
    Slope,
    Traded,
    Unnamed,
)
from smilenn.properties.premise import ground
from smilenn.properties.recognise import meaning

TINY = 1e-12  # of a form's largest coefficient: below this a coordinate plays no part in it


class Kind(StrEnum):
    """What a claim asks for; the value is what a person calls it."""

    MONOTONE = "Monotone"
    FAIR = "Fair"
    FAIR_NEARBY = "Fair with delta"
    ROBUST = "Robust"
    EUCLIDEAN = "Robust in the Euclidean norm"
    LOCAL = "LocalRobust"
    LIPSCHITZ = "Lipschitz"
    CONVEX = "Convex"
    CONCAVE = "Concave"
    SYMMETRIC = "Symmetric"
    DOMINATES = "Dominates"
    SINGLE = "rules on single inputs"
    OTHER = "claims of another form"


@dataclass(frozen=True)
class Stated:
    """A claim, what it means or is implied by, and its kind."""

    claim: Claim
    meaning: Meaning
    kind: Kind

    @property
    def forms(self) -> tuple[Linear, ...]:
        """The linear forms of the outputs that it compares between inputs; none for a rule on single inputs."""
        if isinstance(self.meaning, (Rises, Changes, Near, Slope, Curved, Permuted, Traded)):
            return self.meaning.forms
        return ()


@dataclass(frozen=True)
class Entry:
    """A coordinate of the network in a form: with which sign, and the size Σ|v| of the whole form."""

    coordinate: int
    sign: int
    size: float


def read(claims: Iterable[Claim], outputs: Outputs, domain: Domain) -> tuple[Stated, ...]:
    """What each claim, or each of its rows, asks for; the claims have no alternatives."""
    return tuple(one for claim in claims for one in _read(claim, outputs, domain))


def _read(claim: Claim, outputs: Outputs, domain: Domain) -> list[Stated]:
    whole = _stated(claim, outputs, domain)
    if whole.kind != Kind.OTHER or not isinstance(whole.meaning, Unnamed) or len(claim.rows) < 2:
        return [whole]
    alone = [_stated(replace(claim, then=(row,)), outputs, domain) for row in claim.rows]
    rest: list[Inequality] = [one.claim.then[0] for one in alone if isinstance(one.meaning, Unnamed)]
    known = [one for one in alone if not isinstance(one.meaning, Unnamed)]
    return [*known, _stated(replace(claim, then=tuple(rest)), outputs, domain)] if rest else known


def _stated(claim: Claim, outputs: Outputs, domain: Domain) -> Stated:
    found = meaning(claim, outputs, domain)
    if claim.ball and isinstance(found, Unnamed):
        found = _by_norm(claim, outputs, domain)
    return Stated(claim, found, Kind.SINGLE if claim.copies == 1 else _kind(found))


def _by_norm(claim: Claim, outputs: Outputs, domain: Domain) -> Meaning:
    """What a claim with a norm would mean if its other premises were left out.

    That asks for more, as long as nothing may move that stayed equal before: a row of `when` sets its features free.
    """
    alone = replace(claim, when=(), equal=(), free=(), others="equal")
    moving = ~ground(claim, domain).pinned
    return meaning(alone, outputs, domain) if not (moving & ground(alone, domain).pinned).any() else Unnamed()


def _kind(found: Meaning) -> Kind:
    match found:
        case Rises(slack=0):
            return Kind.MONOTONE
        case Curved(slack=0):
            return Kind.CONVEX if found.sign > 0 else Kind.CONCAVE
        case Traded(slack=0):
            return Kind.DOMINATES
        case Slope():
            return Kind.LIPSCHITZ
        case Permuted():
            return Kind.SYMMETRIC
        case Changes():
            return _kind_of_change(found)
        case Near():
            return Kind.EUCLIDEAN
    return Kind.OTHER


def _kind_of_change(found: Changes) -> Kind:
    if found.point is not None:
        return Kind.LOCAL
    if not found.free:
        return Kind.ROBUST
    return Kind.FAIR_NEARBY if found.within else Kind.FAIR


def coefficients(form: Linear, outputs: Outputs, head: np.ndarray) -> np.ndarray:
    """v [n]: the form as Σ_t v_t·z_t of the network's coordinates, head [o, n] in output units."""
    return sum((float(c) * head[outputs.names.index(name)] for c, name in form), np.zeros(head.shape[1]))


def entries(forms: Sequence[Linear], outputs: Outputs, head: np.ndarray) -> list[Entry]:
    """Every coordinate of every form."""
    out = []
    for form in forms:
        v = coefficients(form, outputs, head)
        used = np.flatnonzero(np.abs(v) > TINY * np.abs(v).max())
        out += [Entry(int(t), int(np.sign(v[t])), float(np.abs(v).sum())) for t in used]
    return out
