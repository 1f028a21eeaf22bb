"""The roles of the features in an ensemble that keeps claims by construction.

A claim on a form v·f of the outputs, such as a margin, is one on Σ_t (v·G)_t·z_t of the network's coordinates z. It
holds if each of these terms keeps it. Each coordinate then has features it rises or falls with, features it must not
read, and features that are *passed on* past the encoder: to curved units, or to an affine term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from smilenn.domain import Domain
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Changes, Curved, Permuted, Rises, Slope, Traded
from smilenn.properties.premise import ground
from smilenn.train.coordinates import unconditional
from smilenn.train.recipes.shapes import Shape, shapes
from smilenn.train.recipes.stated import Entry, Kind, Stated, coefficients, entries

WIDTH_SHARE = 0.98  # of ε that the box takes: the rest is for rounding
WIDE = 0.75  # of the output's size: an ε from which a box serves `Symmetric` better than units that read sums
MANY = 64  # columns that robust claims move, from which on distances serve instead of bounded slopes
UNKEPT = {Kind.OTHER, Kind.FAIR_NEARBY, Kind.EUCLIDEAN}  # left to other files; norms are asked for once more as strips


@dataclass(frozen=True)
class Reading:
    """What an encoder's coordinate reads: it rises or falls with features, and never sees those it is `without`."""

    rising: frozenset[str]
    falling: frozenset[str]
    without: frozenset[str]


@dataclass(frozen=True, eq=False)
class Roles:
    """What all coordinates read; features that are passed on unchanged, those of them in which the outputs are linear
    and those that curved units read; the shapes that these units keep; the widths [o] that all claims leave the box,
    in outputs divided by their scale.
    """

    readings: tuple[Reading, ...]
    passed: frozenset[str]
    linear: frozenset[str]
    curved: tuple[str, ...]
    shapes: tuple[Shape, ...]
    width: np.ndarray


@dataclass(frozen=True, eq=False)
class _Found:
    """Roles while claims are read one after the other; of n coordinates."""

    rising: list[set[str]]
    falling: list[set[str]]
    without: list[set[str]]
    passed: set[str]
    curved: set[str]
    width: np.ndarray

    @classmethod
    def nothing(cls, n: int) -> _Found:
        rising, falling, without = ([set[str]() for _ in range(n)] for _ in range(3))
        return cls(rising, falling, without, set(), set(), np.full(n, np.inf))

    def narrow(self, entry: Entry, eps: float) -> None:
        """Leave the coordinate's box its share of ε at most."""
        self.width[entry.coordinate] = min(self.width[entry.coordinate], eps / entry.size)


def roles(
    domain: Domain,
    stated: Sequence[Stated],
    outputs: Outputs | None = None,
    head: np.ndarray | None = None,
    slopes: np.ndarray | None = None,
    classify: bool = False,
) -> Roles | None:
    """The roles of the features, or None where a claim leaves this file without an answer.

    `head` [o, o] are the outputs, in their units, of the network's coordinates (None: they are the outputs). With
    `slopes` [o, m], those of a box of coordinates, claims on every single input hold by that box; features that the box
    leans on are passed on and may be read, unless a slope has the wrong sign.
    """
    outputs = Outputs() if outputs is None else outputs
    head = np.eye(len(outputs.names)) if head is None else head
    open_ = [one for one in stated if slopes is None or not unconditional(one.claim)]
    if any(one.kind in UNKEPT for one in open_):
        return None
    near = partial(_near, domain=domain, many=moved(domain, stated) >= MANY)
    found = _collected(open_, outputs, head, near, wide=_wide(stated, outputs, head))
    if not found.passed <= set(domain.slices):
        return None
    _hide(found)
    wanted = tuple(shapes(domain, stated, outputs, head, budgets=not classify))
    linear = _linear(domain, found.curved, wanted)
    curved = found.curved - linear
    leaning = frozenset[str]() if slopes is None else _leaning(domain, found, slopes)
    if leaning is None:
        return None
    order = tuple(name for name in domain.slices if name in curved)
    passed = frozenset(found.passed | leaning)
    return Roles(_readings(found), passed, frozenset(linear), order, wanted, _width(found, bool(curved)))


def moved(domain: Domain, stated: Iterable[Stated]) -> int:
    """How many columns the robust claims together let move, as they are stated: whole numbers by less than 1, too. One
    of a single value counts, for it is no hindrance.
    """
    near = [one.meaning for one in stated if one.kind == Kind.ROBUST]
    names = {name for found in near if isinstance(found, Changes) for name, low, high in found.within if low or high}
    return sum(name in names or lo == hi for name, lo, hi in zip(domain.coordinates, domain.lo, domain.hi, strict=True))


# ---- what each claim adds ------------------------------------------------------------------------------------------

Reader = Callable[["_Found", Stated, Entry], None]


def _collected(stated: Iterable[Stated], outputs: Outputs, head: np.ndarray, near: Reader, *, wide: bool) -> _Found:
    """What all the claims together ask of features and boxes."""
    found = _Found.nothing(head.shape[1])
    readers: dict[Kind, Reader] = {
        Kind.MONOTONE: _rise,
        Kind.FAIR: _leave_out,
        Kind.SYMMETRIC: _unread_pair if wide else _curved_pair,
        Kind.DOMINATES: _curved,
        Kind.CONVEX: _curved,
        Kind.CONCAVE: _curved,
        Kind.LIPSCHITZ: _bounded,
        Kind.ROBUST: near,
        Kind.LOCAL: _tight,
    }
    for one in stated:
        if one.kind == Kind.SINGLE:
            _single(found, one.claim)
            continue
        for entry in entries(one.forms, outputs, head):
            readers[one.kind](found, one, entry)
    return found


def _tight(found: _Found, one: Stated, entry: Entry) -> None:
    found.narrow(entry, 0.0)


def _rise(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, Rises)
    for names, sign in ((one.meaning.up, entry.sign), (one.meaning.down, -entry.sign)):
        (found.rising if sign > 0 else found.falling)[entry.coordinate].update(names)
    found.narrow(entry, 0.0)


def _leave_out(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, Changes)
    found.without[entry.coordinate].update(one.meaning.free)
    found.narrow(entry, float(one.meaning.eps))


def _unread_pair(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, Permuted)
    found.without[entry.coordinate].update(name for cycle in one.meaning.cycles for name in cycle)
    found.narrow(entry, float(one.meaning.eps))


def _curved_pair(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, Permuted)
    found.curved.update(name for cycle in one.meaning.cycles for name in cycle)
    found.narrow(entry, float(one.meaning.eps))


def _curved(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, (Curved, Traded))
    own = one.meaning.features if isinstance(one.meaning, Curved) else (one.meaning.strong, one.meaning.weak)
    found.curved.update(own)
    found.narrow(entry, 0.0)


def _bounded(found: _Found, one: Stated, entry: Entry) -> None:
    assert isinstance(one.meaning, Slope)
    found.passed.add(one.meaning.feature)
    found.narrow(entry, 0.0)


def _near(found: _Found, one: Stated, entry: Entry, domain: Domain, *, many: bool) -> None:
    if not many:  # too many units otherwise
        pinned = ground(one.claim, domain).pinned
        found.curved.update(name for name in domain.slices if not all(pinned[i] for i in domain.indices(name)))
    found.narrow(entry, 0.0)


def _single(found: _Found, claim: Claim) -> None:
    """A rule on single inputs: what it reads is passed on; without premise and inputs it is left to the proof."""
    read = {term.name for row in claim.then for term in row.terms if term.kind == "in"}
    if read or claim.when:
        found.passed.update(read)
        found.width[:] = 0.0


# ---- what follows from all of them ---------------------------------------------------------------------------------


def _wide(stated: Sequence[Stated], outputs: Outputs, head: np.ndarray) -> bool:
    """Whether a box of width ε is what `Symmetric` is best kept by: ε is large and no other claim is tight."""
    for one in stated:
        found = one.meaning
        if one.kind not in (Kind.FAIR, Kind.SYMMETRIC) or not isinstance(found, (Changes, Permuted)):
            return False
        size = max(float(np.abs(coefficients(form, outputs, head)).sum()) for form in one.forms)
        if float(found.eps) <= (WIDE * size if one.kind == Kind.SYMMETRIC else 0.0):
            return False
    return True


def _hide(found: _Found) -> None:
    """Let no coordinate read what one of them must not; the rest of what units read is passed on."""
    found.curved.update(found.passed)
    hidden = found.curved & set[str]().union(*found.without)
    for never in found.without:
        never |= hidden
    found.curved.difference_update(hidden)
    found.passed.update(found.curved)


def _linear(domain: Domain, curved: Iterable[str], wanted: Sequence[Shape]) -> set[str]:
    """Features in which a coordinate must be convex and concave: it may not read them otherwise."""
    return {
        name
        for name in curved
        for shape in wanted
        for i in domain.indices(name)
        if i in (shape.convex & shape.concave) - shape.tied
    }


def _leaning(domain: Domain, found: _Found, slopes: np.ndarray) -> frozenset[str] | None:
    """Features that a box of coordinates leans on; None where one of its slopes breaks a claim."""
    leaning = set()
    for name, span in domain.slices.items():
        if slopes[:, span].any():
            leaning.add(name)
        if any(_wrong(name, own, found, t) for t, own in enumerate(slopes[:, span])):
            return None
    return frozenset(leaning)


def _wrong(name: str, own: np.ndarray, found: _Found, t: int) -> bool:
    """Whether coordinate t must not lean on the feature by these slopes."""
    if (name in found.rising[t] and (own < 0).any()) or (name in found.falling[t] and (own > 0).any()):
        return True
    return bool(own.any()) and (name in found.without[t] or name in found.passed)


def _readings(found: _Found) -> tuple[Reading, ...]:
    out = []
    for up, down, without in zip(found.rising, found.falling, found.without, strict=True):
        never = without | found.passed | (up & down)
        out.append(Reading(frozenset(up - never), frozenset(down - never), frozenset(never)))
    return tuple(out)


def _width(found: _Found, curved: bool) -> np.ndarray:
    """A tight claim needs a box of no width in its own coordinates, and the rule of signs one of none at all."""
    some = np.isfinite(found.width).all() and found.width.all()
    return WIDTH_SHARE * found.width if some and not curved else np.zeros(len(found.width))
