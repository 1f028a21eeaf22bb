"""A `Robust` whose delta is below the step between the values of a column: pixels of 0 to 255 and a delta of 0.1.

Of whole numbers v_1 < v_2 < … in a continuous column the step is min (v_{k+1} − v_k). A smaller delta relates no two
values of the table, so the rule is easily kept and says little. Mostly the delta was meant as a share of the range. Of
one delta for many columns nothing is said unless it is below the step of most of them: a pixel that is rarely grey may
have few values.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from smilenn.domain import Domain
from smilenn.errors import listed
from smilenn.properties.base import Property
from smilenn.properties.library import Robust
from smilenn.properties.reach import raw_amount

MOST_ROWS = 20_000  # of more, whole numbers are taken to be 1 apart


class DeltaWarning(UserWarning):
    """A delta is smaller than the step between the values of a column."""


@dataclass(frozen=True)
class Spacing:
    """The least step between the values of a column, and their range."""

    step: float
    span: float


def warn_of_small_deltas(properties: Sequence[Property], domain: Domain, x: np.ndarray) -> None:
    """One warning for each `Robust` whose delta is below the step of columns of rows x [n, m]."""
    robust = [item for item in properties if isinstance(item, Robust)]
    known = _spacings(domain, x) if robust else {}
    for item in robust:
        if small := _small(item, domain, known):
            warnings.warn(_sentence(item, small, known), DeltaWarning, stacklevel=3)


def _small(item: Robust, domain: Domain, known: dict[str, Spacing]) -> dict[str, Fraction]:
    """The columns whose delta is below their step; of one delta for all columns none, unless these are most of them."""
    deltas = _deltas(item, domain)
    small = {name: delta for name, delta in deltas.items() if name in known and delta < known[name].step}
    room = sum(domain.feature(name).lo < domain.feature(name).hi for name in deltas)
    return small if isinstance(item.delta, tuple) or 2 * len(small) > room else {}


def _spacings(domain: Domain, x: np.ndarray) -> dict[str, Spacing]:
    """Those of the continuous columns that hold whole numbers."""
    whole, places = (x == np.rint(x)).all(axis=0) & (np.ptp(x, axis=0) > 0), domain.slices
    names = [f.name for f in domain.features if f.kind == "continuous" and whole[places[f.name].start]]
    return {name: _spacing(x[:, places[name].start]) for name in names}


def _spacing(values: np.ndarray) -> Spacing:
    few = len(values) <= MOST_ROWS
    return Spacing(float(np.diff(np.unique(values)).min()) if few else 1.0, float(np.ptp(values)))


def _sizes(item: Robust, domain: Domain) -> dict[str, Any]:
    """The delta of each feature as it is stated."""
    if isinstance(item.delta, tuple):
        return {str(name): high for name, _, high in item.delta}
    chosen = [f.name for f in domain.features] if item.features is None else item.features
    return {str(name): item.delta for name in chosen}


def _deltas(item: Robust, domain: Domain) -> dict[str, Fraction]:
    """How far a rule moves each continuous feature, in raw units."""
    sizes = _sizes(item, domain)
    moved = [f for f in domain.features if f.name in sizes and f.kind == "continuous"]
    return {f.name: found for f in moved if (found := raw_amount(sizes[f.name], f)) > 0}


def _sentence(item: Robust, small: dict[str, Fraction], known: dict[str, Spacing]) -> str:
    """What is small, and what may have been meant."""
    delta, step = float(max(small.values())), min(known[name].step for name in small)
    span = max(known[name].span for name in small)
    whose = "its" if len(small) == 1 else "their"
    start = f"Robust lets {listed(small, 3)} change by {delta:g}, less than the step between {whose} values, which are "
    start += f"whole numbers at least {step:g} apart"
    share = not isinstance(item.delta, (str, tuple)) and delta < 1 and delta * span >= step
    return f"{start}; did you mean {delta * span:g} of {span:g}?" if share else f"{start}; give a larger delta."
