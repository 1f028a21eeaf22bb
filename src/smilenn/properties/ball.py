"""The ball of `Robust(δ, norm=2)`: how far two inputs may lie apart in the Euclidean norm.

    Σ_i ((a_i − b_i)/δ_i)² ≤ 1

One number δ for all features is the ball of that radius. One number for each feature, or a share of each range, makes
an ellipsoid: columns of different scales each count in units of their own δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smilenn.domain import Domain, Feature
from smilenn.domain.cells import order_of
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Name, order_remedy, quoted
from smilenn.properties.rational import number
from smilenn.properties.reach import IF_PIXELS, Delta, Size, negated, only_zeros_and_ones, raw_amount, reference, shown

Axes = tuple[tuple[str, Fraction], ...]


def ball_axes(delta: Delta, domain: Domain, features: Sequence[str] | None) -> Axes:
    """δ of every feature in raw units; `features` of a single number, None for all continuous ones.

    A feature of one value has no room to move. It stays equal, and the ball is over the others.
    """
    if not isinstance(delta, tuple):
        chosen = [f.name for f in domain.features if f.kind == "continuous"] if features is None else features
        delta = tuple((name, negated(delta), delta) for name in chosen)
    axes = tuple(axis for name, _, high in delta for axis in _axis(name, high, domain))
    if not axes:
        raise SmileError(_nothing_moves(domain, [str(name) for name, _, _ in delta]))
    return axes


def _nothing_moves(domain: Domain, chosen: Sequence[str]) -> str:
    """Why no feature of a ball can move, and what to do."""
    start = "Robust: the Euclidean norm needs a continuous feature that may change"
    if chosen:
        each = "holds" if len(chosen) == 1 else "each hold"
        return f"{start}, and {listed(chosen)} {each} one value only; leave the property out, or widen the bounds."
    known = listed(feature.name for feature in domain.features)
    whole = next((feature.name for feature in domain.features if feature.kind == "integer"), None)
    if only_zeros_and_ones(domain):
        return f"{start}, and all hold 0 and 1; {IF_PIXELS}, else leave the property out."
    if whole is None:
        return f"{start}; the features are {known}, so leave norm=2 out."
    return (
        f"{start}; the features are {known}. If they are pixels, fit with Network(encoder='image'); if whole numbers "
        f"are measurements, say so, as in domain=Columns(kinds={{{whole!r}: 'continuous'}}); else leave norm=2 out."
    )


def _axis(name: Name, size: Size, domain: Domain) -> Axes:
    """δ of one feature; nothing for a feature of one value."""
    feature = domain.feature(str(name))
    if feature.kind != "continuous":
        raise SmileError(
            f"Robust: the Euclidean norm needs continuous features, and {name!r} is of kind {feature.kind!r}; "
            f"{_remedy(feature)}."
        )
    if feature.lo == feature.hi:
        return ()
    amount = raw_amount(size, feature)
    if amount <= 0:
        raise SmileError(f"Robust: delta of {name!r} is {shown(size)}; in the Euclidean norm it must be more than 0.")
    return ((feature.name, amount),)


def _remedy(feature: Feature) -> str:
    """What to do with a feature that no norm takes."""
    name, alone = feature.name, "state how it may change in a Robust without norm=2"
    if feature.kind == "integer":
        kinds = f"as in domain=Columns(kinds={{{name!r}: 'continuous'}})"
        return alone if order_of(feature) else f"declare it continuous if it is measured, {kinds}, or {alone}"
    fair = "leave it out, and limit what it changes by a Fair property"
    if feature.kind != "category":
        return fair
    return f"{fair}, or {order_remedy(name, feature.categories)}, and {alone}"


def ball_formula(delta: Delta, features: Sequence[Name]) -> str:
    """For formulas: ``norm2(a - b) <= 0.3``."""
    if not isinstance(delta, tuple):
        over = f" over {', '.join(f'x = {name!r}' for name in features)}" if features else ""
        return f"norm2(a[x] - b[x]) <= {shown(delta)}{over or ' over every continuous x'}"
    parts = [f"({reference(name, 0)} - {reference(name, 1)}) / ({shown(high)})" for name, _, high in delta]
    return f"norm2({', '.join(parts)}) <= 1"


def ball_words(delta: Delta, features: Sequence[Name]) -> str:
    """For sentences: ``all continuous inputs together by at most 0.3 in the Euclidean norm``."""
    if not isinstance(delta, tuple):
        which = quoted(features) if features else "all continuous inputs"
        size = f"{delta} of the ranges" if isinstance(delta, str) else number(delta)
        return f"{which} together by at most {size} in the Euclidean norm"
    scales = ", ".join(f"{quoted([name])} in units of {shown(high)}" for name, _, high in delta)
    return f"{scales}, together by at most 1 in the Euclidean norm"
