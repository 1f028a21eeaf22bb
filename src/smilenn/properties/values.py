"""What the values of a feature are called in a sentence: by the cells of the user's table, never by their places.

    binary texts      'smoker' is 'yes'               ordered names     'rating' is at least 'B'
    categories        'race' is 'black'               anything else     'income' is at least 30

A rule counts ordered names from 0 on and dates in days. Names may be numbers themselves: of the ratings 1, 2, 3 the
place 2 is the name 3. So a sentence says the name, and `values_note` tells what the places of a formula stand for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

from smilenn.domain import Domain, Feature
from smilenn.domain.cells import order_of, origin_of
from smilenn.domain.written import words_of
from smilenn.properties.alike import names_of, told_apart
from smilenn.properties.claim import Claim
from smilenn.properties.naming import cell_words, joined
from smilenn.properties.thresholds import reached

MOST_VALUES = 8  # categories that a sentence lists


def value_words(name: str, value: Fraction, domain: Domain | None, verb: str = "=") -> str:
    """``'income' = 30``, ``'race' = 'black'``."""
    for feature in () if domain is None else domain.features:
        if feature.name == name and (called := _called(feature, value)) is not None:
            return f"{name!r} {verb} {called!r}"
        if feature.kind == "category" and feature.name != name and name in feature.coordinates and value == 1:
            return f"{feature.name!r} {verb} {feature.values[feature.coordinates.index(name)]!r}"
    return f"{name!r} {verb} {cell_words(value)}"


def _called(feature: Feature, value: Fraction) -> str | None:
    """The text that a whole number of a feature stands for; None where it is a number."""
    names = _places(feature)
    return names[int(value)] if value in range(len(names)) else None


def _places(feature: Feature) -> tuple[str, ...]:
    """The texts that the whole numbers of a feature stand for, from 0 on; none where they are numbers."""
    return order_of(feature) or (feature.categories if feature.kind == "binary" else ())


def reach_words(name: str, low: Fraction | None, high: Fraction | None, domain: Domain | None) -> str:
    """``'speed' is at least 10``, ``'rating' lies between 'B' and 'D'``: one end at least is given."""
    names = () if domain is None or name not in domain.slices else _places(domain.feature(name))
    first = 0 if low is None else max(math.ceil(low), 0)
    last = len(names) - 1 if high is None else min(math.floor(high), len(names) - 1)
    if names and first <= last:
        return f"{name!r} {_between(names[first], names[last], low is None, high is None)}"
    if low == high and low is not None:
        return value_words(name, low, domain, "is")
    return f"{name!r} {_cells_between(low, high)}"


def _between(first: str, last: str, below: bool, above: bool) -> str:
    """Between which ordered names a cell lies; `below` and `above` tell that there is no such end."""
    if first == last:
        return f"is {first!r}"
    if below or above:
        return f"is at most {last!r}" if below else f"is at least {first!r}"
    return f"lies between {first!r} and {last!r}"


def _cells_between(low: Fraction | None, high: Fraction | None) -> str:
    """Between which cells an input lies; one that reads as the threshold and does not satisfy it is left out."""
    ends = [] if low is None else [f"{'at least' if reached(low, True) else 'above'} {cell_words(low)}"]
    ends += [] if high is None else [f"{'at most' if reached(high, False) else 'below'} {cell_words(high)}"]
    if low is not None and high is not None and reached(low, True) and reached(high, False):
        return f"lies between {cell_words(low)} and {cell_words(high)}"
    return f"is {joined(ends)}"


def values_note(claim: Claim, domain: Domain) -> str:
    """The user's own values of the columns that a claim changes or compares: ``'smoker': 0 is 'no', 1 is 'yes'``.

    Empty where numbers are all there is.
    """
    named = _named(claim) - {name for name in domain.indicators.values() if _fixed(claim, name)}
    parts = [part for feature in domain.features for part in _noted(feature, feature.name in claim.free, named)]
    return told_apart("; ".join(parts), names_of(None, None, domain))


def _named(claim: Claim) -> frozenset[str]:
    """The features that a claim names but does not free."""
    rows = chain(claim.then, *claim.either)
    return claim.named.union(term.name for row in rows for term in row.terms if term.kind == "in")


def _fixed(claim: Claim, name: str) -> bool:
    """Whether premises give an input one value and no conclusion reads it: "where 'income' is known" says it all."""
    rows = [row for row in claim.when if any(term.name == name for term in row.terms)]
    read = any(
        term.name == name and term.kind == "in" for row in chain(claim.then, *claim.either) for term in row.terms
    )
    return not read and all(len(row.terms) == 1 and row.op == "==" for row in rows)


def _noted(feature: Feature, free: bool, named: frozenset[str]) -> Iterator[str]:
    """The note on one feature, if there is one."""
    if feature.categories and free:
        values = [repr(value) for value in feature.values[:MOST_VALUES]]
        more = len(feature.categories) - len(values)
        yield f"{feature.name!r}: {joined([*values, f'{more} further ones'] if more else values, 'or')}"
    elif feature.name in named:
        if places := _places(feature):
            yield f"{feature.name!r}: {legend(places)}"
        elif origin_of(feature) is not None:
            yield f"{feature.name!r} counts {feature.unit}"
        elif read := words_of(feature.unit):
            yield f"{feature.name!r} {read}"


def legend(names: tuple[str, ...]) -> str:
    """``0 is 'low', 1 is 'high'``; of many names the first and the last, in whose order the domain has the others."""
    said = [f"{place} is {name!r}" for place, name in enumerate(names)]
    return ", ".join(said if len(said) <= MOST_VALUES else [*said[: MOST_VALUES - 2], "…", said[-1]])
