"""The rules of ``smile fit``: from options and files to properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smilenn.cli.fit_request import Request, fair_parts, robust_parts
from smilenn.properties.base import Property
from smilenn.properties.forms import class_name
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.properties.output_property import about
from smilenn.properties.spec import load_properties

Stated = tuple[tuple[str, Property], ...]  # properties, each with where it was stated


def read_properties(request: Request) -> Stated:
    """All properties that the options and files ask for, each with where it was stated."""
    out: list[tuple[str, Property]] = []
    if request.increasing or request.decreasing:
        item = Monotone(increasing=request.increasing, decreasing=request.decreasing, output=request.output)
        out.append(("--increasing" if request.increasing else "--decreasing", item))
    for text in request.fair:
        name, eps = fair_parts(text)
        out.append((f"--fair {text}", Fair((name,), eps)))
    for text in request.robust:
        out.append((f"--robust {text}", Robust(*robust_parts(text), norm=2 if request.norm == "2" else "inf")))
    for path in request.spec:
        stated_there = load_properties(path)
        out += [(f"{path}, property {i} ({item.kind})", item) for i, item in enumerate(stated_there, 1)]
    return tuple(out)


def about_class(stated: Stated, positive: Any) -> Stated:
    """The properties, those with a direction that name no class about `positive` (None: as they are)."""
    output = None if positive is None else class_name(positive)
    return tuple((where, about(item, output)) for where, item in stated)


def taken_over(request: Request, properties: Sequence[Property]) -> Stated:
    """The properties of the model of ``--from``, where the options state none."""
    return tuple((f"--from {request.start}", item) for item in properties)
