"""Docstrings for the API page: sections that describe parameters in prose, with types from the signatures.

The package writes ``name : what it is``; numpydoc reads the part after the colon as a type. Before they are parsed,
such lines are broken in two, so that the words become the description. Examples get a heading of their own.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:, \w+)*) : (.+(?:\n    .+)*)$", re.MULTILINE)
EXAMPLE = re.compile(r"\n\n(?=>>> )")


def _apart(entry: re.Match[str]) -> str:
    """One entry for each name: names that share a description have types of their own."""
    return "\n".join(f"{name}\n    {entry[2]}" for name in entry[1].split(", "))


class Prose(griffe.Extension):
    """Rewrites every docstring once, when its object is found."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class, function and attribute."""
        if obj.docstring is None:
            return
        text = obj.docstring.value
        match = SECTION.search(text)
        if match:
            text = text[: match.end()] + ENTRY.sub(_apart, text[match.end() :])
        obj.docstring.value = EXAMPLE.sub("\n\nExamples\n--------\n", text, count=1)
