"""Errors a person can act on: one sentence that says what was wrong, where, and what to do.

`SmileError` is bad input (exit code 2 on the command line); `AlteredError` is a model folder whose files
do not match their manifest (exit code 1).
"""

from __future__ import annotations


class SmileError(ValueError):
    """Bad input: the message is one sentence naming the column, row, file or token and the remedy."""


class AlteredError(SmileError):
    """A file of a model folder is not the file that was saved there."""


def printable(text: str) -> str:
    """A text of a file on one line: it can neither break lines nor move a terminal's cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def listed(names: object, limit: int = 8) -> str:
    """Join names for a message, cutting long lists: ``'a', 'b' and 3 more``.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    items = [repr(str(name)) for name in names]  # type: ignore[attr-defined]
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
