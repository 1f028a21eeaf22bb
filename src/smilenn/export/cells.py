"""From the columns of a table to inputs [n, m], and which rows can be read.

A graph cannot refuse a row. Where `predict` would (a category it does not know, a fraction of a whole number, a missing
cell that is not filled, a value outside the domain of a model that does not move rows) the graph predicts NaN.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature, OutOfBounds
from smilenn.domain.absent import MISSING, SUFFIX, fill_of, indicators
from smilenn.domain.cells import order_of, read_cells
from smilenn.domain.rare import OTHER
from smilenn.estimators.missing import Fill
from smilenn.export.graph import TREES, Graph


def inputs(graph: Graph, domain: Domain, fill: Fill, outside: OutOfBounds) -> tuple[str, str]:
    """Inputs [n, m] inside the domain, and whether each row can be read, [n, 1] bool."""
    parts, known = [], []
    fill = fill | {name: value for name, (_, value) in indicators(domain.features).items()}
    for feature in domain.features:
        lacking = fill_of(feature) is not None
        part, good = _indicator(graph, feature, domain) if lacking else _feature(graph, feature, fill)
        low, high = (graph.constant([[end] * len(feature.coordinates)]) for end in (feature.lo, feature.hi))
        if outside == "raise":
            below, above = graph.op("Less", part, low), graph.op("Greater", part, high)
            good = _all(graph, [good, *(_none(graph, test, len(feature.coordinates)) for test in (below, above))])
        parts.append(graph.op("Where", graph.op("Less", part, low), low, part))
        parts[-1] = graph.op("Where", graph.op("Greater", parts[-1], high), high, parts[-1])
        known.append(good)
    joined = parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=1)
    return joined, _all(graph, known)


def _all(graph: Graph, tests: list[str]) -> str:
    out = tests[0]
    for test in tests[1:]:
        out = graph.op("And", out, test)
    return out


def _none(graph: Graph, test: str, size: int) -> str:
    """Whether none of the columns of a test [n, size] is true, [n, 1]."""
    if size == 1:
        return str(graph.op("Not", test))
    numbers = graph.op("Cast", test, to=11)
    total = graph.op("ReduceSum", numbers, graph.constant([1], np.int64), keepdims=1)
    return str(graph.op("Equal", total, graph.constant([[0.0]])))


def _feature(graph: Graph, feature: Feature, fill: Fill) -> tuple[str, str]:
    """The coordinates of one feature, and whether its cells can be read."""
    if feature.columns:
        return _one_hot(graph, feature, fill)
    if feature.categories or order_of(feature):
        return _texts(graph, feature, fill)
    kind = "double" if feature.kind == "continuous" or feature.name in fill else "int64"
    cell = graph.input(feature.name, kind)
    value = cell if kind == "double" else graph.op("Cast", cell, to=11)
    if feature.name in fill:
        number = read_cells(feature, pd.Series([fill[feature.name]]))  # of a date its days, of a share its per cent
        value = graph.op("Where", graph.op("IsNaN", value), graph.constant(number[:, None]), value)
    infinite = graph.op("Or", graph.op("IsNaN", value), graph.op("IsInf", value))
    good = graph.op("Not", infinite)
    if feature.kind != "continuous":
        good = graph.op("And", good, graph.op("Equal", value, graph.op("Floor", value)))
    if feature.kind == "binary":
        ends = (graph.op("Equal", value, graph.constant([[float(end)]])) for end in (0, 1))
        good = graph.op("And", good, graph.op("Or", *ends))
    return value, good


def _indicator(graph: Graph, feature: Feature, domain: Domain) -> tuple[str, str]:
    """Whether a number is missing, of its own cells: NaN, or an empty text where ordered names stand for numbers."""
    number = domain.feature(feature.name.removesuffix(SUFFIX))
    if order_of(number):
        keys = {"keys_strings": [""], "values_int64s": [1], "default_int64": 0}
        missing = graph.op("Cast", graph.op("LabelEncoder", number.name, domain=TREES, **keys), to=11)
    else:
        missing = graph.op("Cast", graph.op("IsNaN", number.name), to=11)
    return missing, graph.op("Equal", missing, missing)


def _texts(graph: Graph, feature: Feature, fill: Fill) -> tuple[str, str]:
    """A category, a binary feature or ordered names, which come as texts; an empty text is a missing cell."""
    cell = graph.input(feature.name, "string")
    names = feature.categories or order_of(feature)
    texts, places = list(names), list(range(len(names)))
    if "" not in texts and (empty := _missing_place(names, fill.get(feature.name))) is not None:
        texts, places = [*texts, ""], [*places, empty]
    new = names.index(OTHER) if OTHER in names else -1
    code = graph.op("LabelEncoder", cell, domain=TREES, keys_strings=texts, values_int64s=places, default_int64=new)
    good = graph.op("GreaterOrEqual", code, graph.constant([[0]], np.int64))
    if feature.kind != "category":
        return graph.op("Cast", code, to=11), good
    every = graph.constant([list(range(len(feature.categories)))], np.int64)
    return graph.op("Cast", graph.op("Equal", code, every), to=11), good


def _missing_place(names: tuple[str, ...], filled: float | str | None) -> int | None:
    """The place of a missing cell among names; None where it has none."""
    if MISSING in names:
        return names.index(MISSING)
    return int(filled) if isinstance(filled, float) else None if filled is None else names.index(filled)


def _one_hot(graph: Graph, feature: Feature, fill: Fill) -> tuple[str, str]:
    """A category that comes as columns of 0 and 1, exactly one of them 1."""
    parts = []
    for name in feature.columns:
        value = graph.op("Cast", graph.input(name, "int64"), to=11) if name not in fill else graph.input(name, "double")
        if name in fill:
            value = graph.op("Where", graph.op("IsNaN", value), graph.constant([[float(fill[name])]]), value)
        parts.append(value)
    block = parts[0] if len(parts) == 1 else graph.op("Concat", *parts, axis=1)
    total = graph.op("ReduceSum", block, graph.constant([1], np.int64), keepdims=1)
    squares = graph.op("ReduceSum", graph.op("Mul", block, block), graph.constant([1], np.int64), keepdims=1)
    one = graph.constant([[1.0]])
    return block, str(graph.op("And", graph.op("Equal", total, one), graph.op("Equal", squares, one)))
