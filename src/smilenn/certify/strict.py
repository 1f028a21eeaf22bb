"""Strict reading of files, JSON and safetensors, with the standard library only: docs/certificate.md, section 6.

`Unreadable` is raised for what is missing or cannot be parsed, `Refused` for what can be parsed and breaks a rule.
Nothing else is raised: every size is compared with the file before anything of that size is made, nesting is bounded
before JSON is parsed, and nothing here recurses on data. For the reference checker only.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any

LARGEST_FILE, LARGEST_JSON, LARGEST_HEADER = 1 << 30, 64 << 20, 16 << 20
LONGEST_NUMBER, DEEPEST = 400, 64
NEEDED = ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")
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


def as_float(value: Any, what: str) -> float:
    """A float, which an integer is not."""
    need(type(value) is float, f"{what} is not a float.")
    return value


def as_hash(value: Any, what: str) -> str:
    """A SHA-256 in hexadecimal."""
    need(isinstance(value, str) and HASH.fullmatch(value) is not None, f"{what} is not a SHA-256.")
    return value


# ---- files ----------------------------------------------------------------------------------------------------------


def listed_files(folder: Path) -> dict[str, bytes]:
    """The four files, after the hashes of all files that the manifest lists have been compared."""
    if not folder.is_dir():
        raise Unreadable("There is no such model folder.")
    manifest = as_object(
        parse_json(_read(folder / "manifest.json", LARGEST_JSON), "manifest.json"), None, "manifest.json"
    )
    body = {key: value for key, value in manifest.items() if key != "digest"}
    try:
        digest = hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    except UnicodeEncodeError:
        raise Refused("manifest.json holds a text that is no Unicode.") from None
    need(manifest.get("digest") == digest, "manifest.json is not the file that was saved: its digest differs.")
    need(manifest.get("format") == "smilenn-model", "manifest.json is not the manifest of a smilenn model.")
    need(manifest.get("version") == 1 and type(manifest["version"]) is int, "The folder has an unknown version.")
    listed = as_object(manifest.get("files"), None, "The list of files in manifest.json")
    kept = {}
    for name, given in listed.items():
        plain = name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\:")
        need(plain, "manifest.json lists a file whose name is no plain file name.")
        entry = as_object(given, {"sha256", "bytes"}, f"The entry of {name!r} in manifest.json")
        size = as_integer(entry["bytes"], 0, LARGEST_FILE, f"The size of {name!r} in manifest.json")
        data = _read(folder / name, LARGEST_JSON if name.endswith(".json") else LARGEST_FILE)
        same = len(data) == size and hashlib.sha256(data).hexdigest() == entry["sha256"]
        need(same, f"{name!r} is not the file that was saved: its hash differs from the manifest's.")
        if name in NEEDED:
            kept[name] = data
    for name in NEEDED:
        if name not in kept:
            raise Unreadable(f"The file {name!r} is missing from the manifest: there is nothing to check.")
    return kept


def _read(path: Path, limit: int) -> bytes:
    """A regular file of at most `limit` bytes; opening never blocks."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
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
    """JSON without duplicate keys, NaN, infinities, long numbers or deep nesting."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            raise ValueError("a key appears twice")
        return out

    def constant(text: str) -> float:
        raise ValueError(f"{text} is no number")

    def short(text: str) -> str:
        if len(text) > LONGEST_NUMBER:
            raise ValueError(f"a number has more than {LONGEST_NUMBER} characters")
        return text

    def real(text: str) -> float:
        value = float(short(text))
        return value if math.isfinite(value) else constant("a number beyond the range of floats")

    try:
        text = data.decode("utf-8")
        depth = 0
        for match in NESTING.finditer(text):
            depth += (match[1] is not None) - (match[2] is not None)
            if depth > DEEPEST:
                raise ValueError(f"it is nested deeper than {DEEPEST}")
        return json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_float=real, parse_int=lambda t: int(short(t))
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
