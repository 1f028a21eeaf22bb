"""The domain of a table as people have it, learned from its columns, with a warning for everything that is not obvious.

    left out    columns that are empty, constant, repeated, identifiers or row numbers (domain/idle.py)
    pooled      rare categories (domain/rare.py)
    dates       days since the first

A column that a rule or an option names is neither left out nor pooled. The pixels of an image are measurements: all of
them are continuous, whatever their numbers look like, and none is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pandas as pd

from smilenn.domain import Domain, Feature, Kind, idle_columns
from smilenn.domain.absent import SUFFIX, first_gap
from smilenn.domain.arrow import ENUMS
from smilenn.domain.cells import order_of, origin_of, read_cells
from smilenn.domain.few import first_name
from smilenn.domain.idle import constant, perhaps_identifier
from smilenn.domain.rare import OTHER
from smilenn.domain.table import labels
from smilenn.domain.twins import in_other_words
from smilenn.domain.written import THOUSANDS, doubt, style_in
from smilenn.errors import listed
from smilenn.estimators.missing import Missing, Unknown
from smilenn.estimators.options import Columns
from smilenn.properties.base import Name, Property
from smilenn.properties.tokens import ClaimSyntaxError, tokens, unquoted
from smilenn.properties.values import legend

MANY = 50  # categories beyond which a column that a rule names is worth a word


class ColumnWarning(UserWarning):
    """A column was left out, or read otherwise than its cells suggest."""


def named_columns(properties: Sequence[Property], columns: Sequence[str]) -> frozenset[str]:
    """The columns that properties name: by name or by place, or in a row of the claim language."""
    found: set[str] = set()

    def note(name: Name) -> str:
        placed = isinstance(name, int) and str(name) not in columns and 0 <= name < len(columns)
        found.add(columns[int(name)] if placed else str(name))
        return str(name)

    for item in properties:
        item.renamed(note)
        found.update(name for text in _texts(item.to_json()) for name in _names_in(text) if name in columns)
    return frozenset(found)


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON-ready value but comments; keys are words of ours."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([part for key, part in value.items() if key != "says"])
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _names_in(text: str) -> Iterator[str]:
    """What may be names of columns in a row; of a text that is no row, nothing."""
    try:
        pieces = tokens(text)
    except ClaimSyntaxError:
        return
    for piece in pieces:
        name = unquoted(piece.text) if piece.kind == "text" else piece.text
        yield name
        yield name.removesuffix(SUFFIX)


def as_pixels(frame: pd.DataFrame, options: Columns) -> Columns:
    """The options with every column of numbers declared continuous, where nothing else is said of it."""
    numbers = frame.select_dtypes(["number", "bool"]).columns
    others = {name for name in options.named if name not in (options.bounds or {}) or name in (options.kinds or {})}
    pixels: dict[str, Kind] = {str(name): "continuous" for name in numbers if name not in others}
    return options.changed(kinds={**pixels, **(options.kinds or {})})


def learned(
    frame: pd.DataFrame,
    options: Columns,
    named: Collection[str],
    *,
    missing: Missing,
    unknown: Unknown,
    image: bool = False,
) -> Domain:
    """The domain of a data frame; `named` are the columns that rules name, `image` says that columns are pixels."""
    options = as_pixels(frame, options) if image else options
    asked = {*named, *options.named}
    idle = idle_columns(frame, asked)
    for one in idle:
        warnings.warn(f"{one.sentence()} To keep it, declare its kind.", ColumnWarning, stacklevel=4)
    for name in (str(name) for name in frame.columns if name in named):
        if found := constant(frame[name]):
            sentence = f"Column {name!r} {found}, and a rule names it: nothing can be learned of it from these rows."
            warnings.warn(sentence, ColumnWarning, stacklevel=4)
    kept = frame.drop(columns=[one.column for one in idle])
    for name in (str(name) for name in kept.columns if name not in asked):
        if sentence := perhaps_identifier(name, kept[name]):
            warnings.warn(sentence, ColumnWarning, stacklevel=4)
    pool = {str(name) for name in kept.columns if name not in named} if unknown == "other" else set()
    domain = options.learned(kept, missing=missing == "indicator", pool=lambda name: name in pool)
    for first, second in in_other_words(kept, _names(domain)):
        if not {first, second} <= asked:
            warnings.warn(_repeated(first, second), ColumnWarning, stacklevel=4)
    for sentence in notes(kept, domain, options.kinds or {}):
        warnings.warn(sentence, ColumnWarning, stacklevel=4)
    return domain


def notes(frame: pd.DataFrame, domain: Domain, declared: Collection[str] = ()) -> Iterator[str]:
    """What a reader of the table should know of how it is read; a column whose kind is `declared` needs no word."""
    for feature in domain.features:
        if origin_of(feature) is not None:
            yield f"Column {feature.name!r} holds dates; it is read as {feature.unit}."
        elif style_in(feature.unit):
            yield _written(frame[feature.name], feature)
        elif _misread(order_of(feature)):
            yield f"Column {feature.name!r} has an order; rules count its names from 0 on: {legend(order_of(feature))}."
        elif feature.categories and feature.name in frame.columns:
            yield from _categories(frame, feature, feature.name in declared)


def _names(domain: Domain) -> set[str]:
    """The columns that hold names."""
    return {feature.name for feature in domain.features if feature.categories and not feature.columns}


def _repeated(first: str, second: str) -> str:
    return (
        f"Column {second!r} repeats {first!r} in other words: every value of one stands beside one value of the other. "
        "A rule about one of them leaves the other as it is; leave one out."
    )


def _written(column: pd.Series, feature: Feature) -> str:
    """How numbers that are written in another way are read, by the longest cell."""
    cell = max((cell for cell in column.dropna().unique() if isinstance(cell, str)), key=len)
    read = repr(float(read_cells(feature, pd.Series([cell]))[0])).removesuffix(".0")
    sign = feature.unit.removesuffix(style_in(feature.unit)).removesuffix(", ")
    unit = f" in {sign}" if sign else ""
    either = feature.unit == THOUSANDS and cell.count(",") == 1 and "." not in cell
    point = "; if its comma stands before decimals, write a point" if either else ""
    return f"Column {feature.name!r} holds {cell!r}, which is read as the number {read}{unit}{point}."


def _misread(names: tuple[str, ...]) -> bool:
    """Whether ordered names are numbers other than their places: a rule "at least 2" is not about the name 2."""
    try:
        return [float(name) for name in names] != list(range(len(names)))
    except ValueError:
        return False


def _mixed(feature: Feature, name: str) -> str:
    """A category that was told by a name among few numbers."""
    values = ", ".join(map(repr, feature.categories))
    return (
        f"Column {feature.name!r} holds {name!r} among few numbers; it is read as a category of "
        f"{len(feature.categories)} values. Correct the cell to read numbers; if the values have an order, say it, as "
        f"in domain=Columns(order={{{feature.name!r}: [{values}]}}), lowest first."
    )


def _enum(name: str, column: pd.Series) -> str:
    """A category that polars keeps in the order of its declaration."""
    values = ", ".join(map(repr, column.cat.categories))
    return (
        f"Column {name!r} is an Enum of polars and is read as a category without order; if its values have one, say "
        f"it, as in domain=Columns(order={{{name!r}: [{values}]}}), lowest first."
    )


def _gap(name: str, text: str, rows: int) -> str:
    """A text that often stands for a missing cell, among names."""
    cells = f"{rows} cells" if rows > 1 else "one cell"
    return (
        f"Column {name!r} holds {text!r} in {cells}, which is a value like every other here; if it means that the cell "
        f"is missing, write X[{name!r}].replace({text!r}, None)."
    )


def _categories(frame: pd.DataFrame, feature: Feature, declared: bool) -> Iterator[str]:
    present = frame[feature.name].dropna()
    if not declared and feature.name in frame.attrs.get(ENUMS, ()) and isinstance(present.dtype, pd.CategoricalDtype):
        yield _enum(feature.name, present)
    gap = None if declared else first_gap(present)
    if gap is not None:
        yield _gap(feature.name, *gap)
    name = "" if declared else first_name(present)
    if name:
        yield _mixed(feature, name)
    why = "" if declared else doubt(present.unique())
    if OTHER in feature.categories:
        rare = sorted(set(labels(present)) - set(feature.categories))
        values = f"{len(rare)} of {present.nunique()} values"
        verb = "is rare and is" if len(rare) == 1 else "are rare and are"
        hint = f"; {why}" if why else ""
        yield f"Column {feature.name!r}: {values} {verb} read as {OTHER!r} ({listed(rare, 3)}){hint}."
    elif why:
        yield f"Column {feature.name!r} is read as names; {why}."
    if OTHER not in feature.categories and len(feature.categories) > MANY:
        yield (
            f"Column {feature.name!r} has {len(feature.categories)} categories, and each is an input of its own, "
            "because a rule names the column or unknown='refuse'; merge rare ones if training is slow."
        )
