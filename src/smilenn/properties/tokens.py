r"""The tokens of a row of the claim language, and names in quotes.

In quotes ``\"``, ``\\``, ``\n``, ``\t``, ``\r`` and ``\u00e9`` stand for one character.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from smilenn.errors import SmileError
from smilenn.properties.claim import PLAIN_NAME, in_quotes

Span = tuple[int, int]

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<name>{PLAIN_NAME.pattern})
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<compare><=|>=|==|!=|<>|=<|=>|≤|≥|≠|=|<|>)
    | (?P<mark>[-+*/().,\[\]])
    | (?P<stray>.)""",
    re.VERBOSE | re.DOTALL,
)


class ClaimSyntaxError(SmileError):
    """A row that cannot be read: one sentence, then the row, then a line underlining the token at fault."""

    def __init__(self, sentence: str, text: str, span: Span) -> None:
        start, end = span
        shown = re.sub(r"\s", " ", text)
        super().__init__(f"{sentence}\n    {shown}\n    {' ' * start}{'^' * max(1, end - start)}")
        self.sentence, self.text, self.span = sentence, text, span


@dataclass(frozen=True)
class Token:
    """A piece of a row; `kind` is number, name, text, compare, mark or end."""

    kind: str
    text: str
    span: Span


def tokens(text: str) -> list[Token]:
    """The tokens of a row, the last of kind ``end``; a character without meaning is an error that underlines it."""
    out = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "stray", match.group()
        if kind == "stray":
            if token in "\"'":
                raise ClaimSyntaxError("The quotation mark is never closed.", text, (match.start(), len(text)))
            raise ClaimSyntaxError(f"The character {token!r} has no meaning here.", text, match.span())
        if kind == "compare" and token not in ("<=", ">=", "=="):
            raise ClaimSyntaxError(f"The operator {token!r} does not exist; use <=, >= or ==.", text, match.span())
        if kind != "space":
            out.append(Token(kind, token, match.span()))
    return [*out, Token("end", "", (len(text), len(text)))]


_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_WHITE = {"n": "\n", "t": "\t", "r": "\r"}


def unquoted(text: str) -> str:
    r"""What a text in quotes stands for, the inverse of `in_quotes`.

    >>> unquoted(r'"a \"b\" \u00e9"')
    'a "b" é'
    """

    def meant(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) > 1:
            point = int(code[1:], 16)
            return chr(point) if point <= sys.maxunicode else match[0]
        return _WHITE.get(code, code)

    return _ESCAPE.sub(meant, text[1:-1])


def tidy(text: str) -> str:
    """A row as its author wrote it, on one line: what cannot be printed in a quoted name is escaped."""
    out = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "space":
            token = " "
        elif not token.isprintable():
            token = in_quotes(unquoted(token)) if match.lastgroup == "text" else in_quotes(token)[1:-1]
        out.append(token)
    return "".join(out).strip()
