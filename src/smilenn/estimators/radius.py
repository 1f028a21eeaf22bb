"""How far a row may move before its label can change: from one checked claim to every multiple of its δ.

A certificate bounds the change of a logit, or of a margin between classes, by B for all pairs whose inputs are δ apart
at most. The domain is a box, so two inputs n·δ apart are joined by n steps of δ within it, each of which changes the
logit by B at most:

    |f(x) − f(b)| ≤ n·B      for ‖x − b‖ ≤ n·δ·(1 − σ)

Inputs are floats. The points of the path, fl(x + k/n·(b − x)), lie between x and b and off the line by half a unit in
the last place, which lengthens a step by no more than σ·δ, σ = ‖2⁻⁵¹·max(|lo|, |hi|)/δ‖ in the norm of the claim. A
single step needs no path and no σ. So the label of x holds within n·δ·(1 − σ) if its lead is more than n·B, and the
largest such n gives the radius. A claim with a small δ has fine steps; one with the δ of interest an exact one.

One step is reported as the number that people write for δ: the claim is about δ = 1/10 exactly, and 0.1 stands for it.
The float 0.1 is larger than that by 6·10⁻¹⁸. Several steps are reported as a float that is not above n·δ·(1 − σ): no
path of n floats, each within δ of the one before, need reach as far as n·δ.

Where each column has a δ of its own, as shares of ranges have, radii are multiples of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.properties.meaning import Changes, Meaning, Near
from smilenn.properties.recognise import meaning
from smilenn.rounding import round_down, round_up

Norm = Literal["inf", 2]
Unit = Literal["raw", "delta"]
COLUMNS: dict[Norm, str] = {"inf": "radius", 2: "radius_2"}  # what radii are called beside predictions
MOST_STEPS = 2**20
LEAST = 2.0**-1000  # far above the distance of subnormal numbers


Sizes = Mapping[str, Fraction]


def check_norm(norm: Any) -> None:
    """Raise if a norm is none of the two there are."""
    if norm not in ("inf", 2) or isinstance(norm, bool):
        raise SmileError(f"norm is {norm!r}; choose 'inf', each column by itself, or 2, all columns together.")


@dataclass(frozen=True)
class Steps:
    """A claim of one δ for every column that moves, and σ.

    once : δ as one step is reported: the float that stands for it, where δ is a decimal that a float is written as.
    delta : δ rounded down, for several steps.
    size : δ itself.
    """

    claim: Claim
    once: float
    delta: float
    slack: float
    size: Fraction


def steps_of(claim: Claim, outputs: Outputs, domain: Domain, norm: Norm, unit: Sizes | None = None) -> Steps | None:
    """What a claim says of steps in this norm; None where it is of another kind, its columns have several δ, or a
    continuous column that can move is not among them. δ counts in units of the columns, or in multiples of `unit`.
    """
    sizes = sizes_of(claim, outputs, domain, norm)
    if not sizes or (unit is not None and set(unit) != set(sizes)):
        return None
    found = {size / (1 if unit is None else unit[name]) for name, size in sizes.items()}
    if len(found) != 1:
        return None
    features = [domain.feature(name) for name in sizes]
    reach = [2.0**-51 * max(abs(f.lo), abs(f.hi), LEAST) / float(sizes[f.name]) for f in features]
    slack = math.sqrt(sum(v * v for v in reach)) if norm == 2 else max(reach)
    delta = found.pop()
    return Steps(claim, as_written(delta), round_down(delta), 2 * slack, delta)  # twice: these numbers are rounded too


def as_written(delta: Fraction) -> float:
    """The float that people write this decimal as, such as 0.1 of a tenth; of another number the float below it."""
    nearest = float(delta)
    return nearest if math.isfinite(nearest) and Fraction(repr(nearest)) == delta else round_down(delta)


def least_radius(delta: Fraction) -> float:
    """The least float that is δ or more, as itself and as the decimal it stands for; of such a decimal its float."""
    once = as_written(delta)
    if Fraction(repr(once)) == delta:
        return once
    above = round_up(delta)
    return above if Fraction(repr(above)) >= delta else math.nextafter(above, math.inf)


def reaching(steps: Sequence[Steps], delta: Fraction) -> list[Steps]:
    """The steps, where one of δ itself is reported as `least_radius` of it: of 1/3 the float below is not enough."""
    return [replace(one, once=least_radius(delta)) if one.size == delta else one for one in steps]


def sizes_of(claim: Claim, outputs: Outputs, domain: Domain, norm: Norm) -> Sizes:
    """δ of each column that can move; empty where the claim is of another kind, or keeps such a column equal."""
    sizes = _sizes(meaning(claim, outputs, domain), norm)
    features = [domain.feature(name) for name in sizes]
    if any(f.kind != "continuous" for f in features):
        return {}
    room = {f.name for f in domain.features if f.kind == "continuous" and f.lo < f.hi}
    moving = {name: size for name, size in sizes.items() if name in room and size > 0}
    # a radius lets every continuous column move, so a claim that keeps one of them equal says nothing of it
    return moving if set(moving) == room else {}


def _sizes(found: Meaning, norm: Norm) -> dict[str, Fraction]:
    """How far each column may move by what a claim means; nothing where it is of another kind."""
    if norm == 2 and isinstance(found, Near):
        return dict(found.axes)
    if norm == "inf" and isinstance(found, Changes) and found.point is None and not found.free:
        sizes = {name: high for name, low, high in found.within if low == -high}
        return sizes if len(sizes) == len(found.within) else {}
    return {}


def radii(logits: np.ndarray, change: np.ndarray, steps: Steps, *, margins: bool) -> np.ndarray:
    """The radius of every row of logits [n], or [n, o] with `margins`, from B of a logit, or of each margin [o, o]."""
    if margins:
        rows = np.arange(len(logits))
        winner = logits.argmax(axis=1)
        lead = logits[rows, winner][:, None] - logits
        allowed = np.asarray(change)[winner]
        lead[rows, winner] = math.inf  # no class has to beat itself
    else:
        lead, allowed = np.abs(logits)[:, None], np.broadcast_to(change, (len(logits), 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.isfinite(allowed), lead / allowed, 0.0)
    count = np.nan_to_num(np.floor(np.minimum(ratio, MOST_STEPS)), nan=0.0).min(axis=1)
    count = np.maximum(count, 0.0)
    # a quotient of floats may round up: one step less where n·B, rounded up, is not below the lead
    needed = np.nextafter(count[:, None] * np.where(np.isfinite(allowed), allowed, 0.0), math.inf)
    count = np.where((lead > needed).all(axis=1), count, np.maximum(count - 1, 0.0))
    share = 1.0 if steps.slack == 0 else max(0.0, 1 - steps.slack)
    far = np.nextafter(count * steps.delta * share, 0.0)
    return np.where(count >= 2, np.maximum(far, steps.once), np.where(count == 1, steps.once, 0.0))


def blocking(claims: Sequence[Claim], outputs: Outputs, domain: Domain, norm: Norm) -> list[str]:
    """Columns of whole numbers that a claim of this norm moves too, which is why it has no steps."""
    moved = (_sizes(meaning(claim, outputs, domain), norm) for claim in claims)
    return next((own for names in moved if (own := [n for n in names if domain.feature(n).kind != "continuous"])), [])


def refuse_blocked(moved: Sequence[str], domain: Domain, norm: Norm) -> None:
    """Raise where a claim would do if it did not move these columns too."""
    what = "a column of whole numbers" if len(moved) == 1 else "columns of whole numbers"
    free = [f.name for f in domain.features if f.kind == "continuous" and f.lo < f.hi]
    own = ", ".join(f"{name!r}: 0.1" for name in free[:3]) + (", …" if len(free) > 3 else "")
    cure = f"fit with one that names these, such as Robust({{{own}}}{', norm=2' * (norm == 2)})"
    pixels = "if the columns are pixels, fit with Network(encoder='image')"
    raise SmileError(
        f"The certified property moves {listed(moved)} too, {what}. A radius is about continuous columns alone; "
        f"{cure if free else pixels}."
    )


def refuse_without_steps(found: list[Steps], norm: Norm, *, several: bool) -> None:
    """Raise where no claim has a δ for all columns in this norm, or one that is the same for all."""
    kind = "Robust(0.1, norm=2)" if norm == 2 else "Robust(0.1)"
    if not found and several:
        raise SmileError(
            "The certified property has a delta of its own for each column; unit='delta' gives radii in multiples of "
            f"these. Radii in the units of the columns need one delta for all, such as {kind}."
        )
    if not found:
        raise SmileError(
            "A radius needs a certified property with one delta for all continuous columns in this norm, such as "
            f"{kind}; fit with one, of a small delta for fine steps."
        )
