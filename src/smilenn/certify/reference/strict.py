"""Strict reading of files, JSON and safetensors, with the standard library only: docs/certificate.md, section 6.

`Unreadable` is raised for what is missing or cannot be parsed, `Refused` for what can be parsed and breaks a rule.
Nothing else is raised: every size is compared with the file before anything of that size is made, nesting is bounded
before JSON is parsed, and nothing here recurses on data. For the reference checker only.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path
from typing import Any

from smilenn.certify.reference.floats import Double, parsed

LARGEST_FILE, LARGEST_JSON, LARGEST_HEADER = 1 << 30, 64 << 20, 16 << 20
LONGEST_NUMBER, DEEPEST = 400, 64
# a string (closed, or running to the end of the text) or a bracket; never fails after starting, so it stays linear
NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*\\?(?:"|\Z)|([\[{])|([\]}])', re.DOTALL)
HASH = re.compile(r"[0-9a-f]{64}")


class CheckError(Exception):
    """Why a folder was not accepted, in one sentence."""


class Unreadable(CheckError):
    """Missing, or not parseable."""


class Refused(CheckError):
    """Parseable, but a rule of the specification is broken."""


# ---- types ----------------------------------------------------------------------------------------------------------


def need(condition: bool, reason: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Refused(reason)


def as_object(value: Any, keys: Collection[str] | None, what: str) -> dict[str, Any]:
    """A JSON object, with exactly these keys if any are given."""
    need(isinstance(value, dict), f"{what} is not an object.")
    if keys is not None:
        need(set(value) == set(keys), f"{what} must have exactly the keys {', '.join(sorted(keys))}.")
    return value


def as_list(value: Any, what: str) -> list[Any]:
    """A JSON list."""
    need(isinstance(value, list), f"{what} is not a list.")
    return value


def as_text(value: Any, what: str) -> str:
    """A JSON text."""
    need(isinstance(value, str), f"{what} is not a text.")
    return value


def as_integer(value: Any, low: int, high: int, what: str) -> int:
    """A whole number in a range; `true` is none."""
    need(type(value) is int and low <= value <= high, f"{what} is not a whole number from {low} to {high}.")
    return value


def as_float(value: Any, what: str) -> Fraction:
    """A float, which an integer is not, as the rational that it is."""
    need(isinstance(value, Double), f"{what} is not a float.")
    return value.value


def as_hash(value: Any, what: str) -> str:
    """A SHA-256 in hexadecimal."""
    need(isinstance(value, str) and HASH.fullmatch(value) is not None, f"{what} is not a SHA-256.")
    return value


# ---- files ----------------------------------------------------------------------------------------------------------


def read_file(path: Path, limit: int) -> bytes:
    """A regular file of at most `limit` bytes, which a symbolic link is not; opening never blocks."""
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW"):
        flags |= getattr(os, name, 0)
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise Unreadable(f"{path.name!r} is a symbolic link, not a regular file.")
        descriptor = os.open(path, flags)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable(f"{path.name!r} is not a regular file.")
            if status.st_size > limit:
                raise Unreadable(f"{path.name!r} has more than {limit} bytes.")
            data = file.read(status.st_size + 1)
    except OSError as error:
        raise Unreadable(f"The file {path.name!r} cannot be read: {error.strerror}.") from None
    if len(data) != status.st_size:
        raise Unreadable(f"{path.name!r} changed while it was read.")
    return data


def parse_json(data: bytes, name: str) -> Any:
    """JSON without duplicate keys, NaN, infinities, long numbers or deep nesting; a float becomes a `Double`."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            raise ValueError("a key appears twice")
        return out

    def constant(text: str) -> Double:
        raise ValueError(f"{text} is not a number")

    def short(text: str) -> str:
        if len(text) > LONGEST_NUMBER:
            raise ValueError(f"a number has more than {LONGEST_NUMBER} characters")
        return text

    def whole(text: str) -> int:
        parsed(short(text))  # what is too large for a float is not readable, with a point or without
        return int(text)

    try:
        text = data.decode("utf-8")
        depth = 0
        for match in NESTING.finditer(text):
            depth += (match[1] is not None) - (match[2] is not None)
            if depth > DEEPEST:
                raise ValueError(f"it is nested deeper than {DEEPEST}")
        return json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_float=lambda t: parsed(short(t)),
            parse_int=whole,
        )
    except ValueError as error:
        raise Unreadable(f"{name} is not readable JSON: {error}.") from None


def tensors_of(data: bytes) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Tensors of the certified part: name → (type, shape, data); the file must be covered without gaps or overlaps."""
    what = "weights.safetensors is not a readable safetensors file"
    if len(data) < 8:
        raise Unreadable(f"{what}: it has no header.")
    size = int.from_bytes(data[:8], "little")
    if size > min(LARGEST_HEADER, len(data) - 8):
        raise Unreadable(f"{what}: its header is too long.")
    header = parse_json(data[8 : 8 + size], "The header of weights.safetensors")
    if not isinstance(header, dict):
        raise Unreadable(f"{what}: its header is not an object.")
    total, spans, out = len(data) - 8 - size, [], {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not _is_entry(entry):
            raise Unreadable(f"{what}: the entry of a tensor is malformed.")
        start, stop = entry["data_offsets"]
        spans.append((start, stop))
        if not name.startswith("backbone."):
            out[name] = (entry["dtype"], tuple(entry["shape"]), data[8 + size + start : 8 + size + stop])
    end = 0
    for start, stop in sorted(spans):
        if start != end:
            raise Unreadable(f"{what}: its tensors leave a gap or overlap.")
        end = stop
    if end != total:
        raise Unreadable(f"{what}: it has bytes that belong to no tensor.")
    return out


def _is_entry(entry: Any) -> bool:
    """Whether a header's entry has its three keys: a type, whole dimensions, and a span."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        return False
    shape, span = entry["shape"], entry["data_offsets"]
    if not (isinstance(entry["dtype"], str) and isinstance(shape, list) and isinstance(span, list) and len(span) == 2):
        return False
    return all(type(v) is int and v >= 0 for v in (*shape, *span)) and span[0] <= span[1]
