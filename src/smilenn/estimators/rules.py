"""The rules that an estimator's parameters state: `properties`, and the short forms for monotone columns.

    increasing=["income"], decreasing=["debt"]      columns by name or position
    monotonic_cst={"income": 1, "debt": -1}         scikit-learn's word for the same: 1 rises, −1 falls, 0 is free
    monotonic_cst=[1, 0, -1]                        one number for each column of X

All of them together are one `Monotone`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from smilenn.errors import SmileError
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.library import Monotone, Robust
from smilenn.properties.output_property import about
from smilenn.properties.spec import as_property

Name = str | int
Stated = Sequence[Property | Claim] | Property | Claim
Names = Sequence[Name] | Name
Directions = Mapping[Any, int] | Sequence[int] | None
IMAGE_STEPS = 100  # of certified radii, where a network of images keeps them for nothing
LOGIT_EPS = 1.0  # ε on a logit is a gauge: scaling the logit scales it


def stated(properties: Any) -> tuple[Any, ...]:
    """The parameter `properties` as a tuple: one property needs no list."""
    if isinstance(properties, (Property, Claim, Mapping, str)):
        return (properties,)
    return tuple(properties)


def all_stated(
    properties: Any, increasing: Names, decreasing: Names, monotonic_cst: Directions, output: str | None
) -> tuple[Property, ...]:
    """The properties, then the `Monotone` of the short forms. Those with a direction that name no output are about
    `output` (None: the only one, or all).
    """
    listed = tuple(about(as_property(item), output) for item in stated(properties))
    rising, falling = directions(monotonic_cst)
    up, down = _joined(increasing, rising), _joined(decreasing, falling)
    if not (up or down):
        return listed
    return (*listed, Monotone(increasing=up, decreasing=down, output=output))


def completed(
    properties: Sequence[Property | Claim], eps: float | None, steps: int | None = None
) -> list[Property | Claim]:
    """The properties, a `Robust` without ε or steps with these; None for ε is for numbers, which have units, so it must
    be given.
    """
    return [_completed(item, eps, steps) if isinstance(item, Robust) else item for item in properties]


def _completed(item: Robust, eps: float | None, steps: int | None) -> Robust:
    whole = _with_eps(item, eps) if item.eps is None else item
    return replace(whole, steps=steps) if whole.steps is None and steps is not None else whole


def _with_eps(item: Robust, eps: float | None) -> Robust:
    if eps is None:
        raise SmileError(
            "Robust needs eps in a regression: the largest change of the output, as in Robust(0.1, eps=2)."
        )
    return item.with_eps(eps)


def directions(monotonic_cst: Directions) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """The columns that rise and those that fall.

    >>> directions({"income": 1, "age": 0, "debt": -1})
    (('income',), ('debt',))
    """
    if monotonic_cst is None:
        return (), ()
    if isinstance(monotonic_cst, str):
        raise SmileError(
            f"monotonic_cst is a dictionary column → 1, 0 or −1, or a list of them, not {monotonic_cst!r}."
        )
    pairs = list(monotonic_cst.items() if isinstance(monotonic_cst, Mapping) else enumerate(monotonic_cst))
    for column, direction in pairs:
        if direction not in (-1, 0, 1):
            raise SmileError(
                f"monotonic_cst: column {column!r} is {direction!r}; write 1 (rising), −1 (falling) or 0 (free)."
            )
    rising = tuple(column for column, direction in pairs if direction == 1)
    return rising, tuple(column for column, direction in pairs if direction == -1)


def check_directions(monotonic_cst: Directions, columns: Sequence[str]) -> None:
    """Directions are 1, 0 and −1, and a list has one for each column of the data, whose names are no other places."""
    directions(monotonic_cst)
    if monotonic_cst is None or isinstance(monotonic_cst, Mapping):
        return
    if len(monotonic_cst) != len(columns):
        raise SmileError(
            f"monotonic_cst has {len(monotonic_cst)} numbers, but X has {len(columns)} columns; give one for each "
            "column, or a dictionary."
        )
    for place, (column, direction) in enumerate(zip(columns, monotonic_cst, strict=True)):
        if (
            direction and column != str(place) and str(place) in columns
        ):  # a whole number is a name before it is a place
            raise SmileError(
                f"monotonic_cst is a list, and X has a column called '{place}' that is not its column {place}; give a "
                "dictionary of names."
            )


def _joined(names: Names, more: tuple[Name, ...]) -> tuple[Name, ...]:
    """Columns that either of two parameters names; a column that both name is named once."""
    given: tuple[Any, ...] = (names,) if isinstance(names, (str, int, np.integer)) else tuple(names)
    return tuple(dict.fromkeys((*given, *more))) if more else given
