"""The rules of ``smile fit``: from options and files to properties."""

from __future__ import annotations

from collections.abc import Sequence

from smilenn.cli.fit_request import Request, fair_parts, robust_parts
from smilenn.properties.base import Property
from smilenn.properties.library import Fair, Monotone, Robust
from smilenn.properties.spec import load_properties

Stated = tuple[tuple[str, Property], ...]  # properties, each with where it was stated


def read_properties(request: Request) -> Stated:
    """All properties that the options and files ask for, each with where it was stated."""
    out: list[tuple[str, Property]] = []
    if request.increasing or request.decreasing:
        said_of = request.output or request.positive
        item = Monotone(increasing=request.increasing, decreasing=request.decreasing, output=said_of)
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


def taken_over(request: Request, properties: Sequence[Property]) -> Stated:
    """The properties of the model of ``--from``, where the options state none."""
    return tuple((f"--from {request.start}", item) for item in properties)
