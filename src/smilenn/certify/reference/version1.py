"""Version 1 of the files, which 0.1 wrote: docs/certificate.md, section 7.

    manifest   SHA-256 of the manifest without its digest, as Python's json.dumps(…, sort_keys=True, ensure_ascii=False)
    model      SHA-256 of the canonical JSON of net, and of every tensor, by name: name, a zero byte, data
    claim      SHA-256 of the canonical JSON of the claim, its sentence empty

Python's `json` prints floats through the processor, so the texts are written here. For the reference checker only.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from smilenn.certify.reference.floats import Double, shortest
from smilenn.certify.reference.strict import Refused, as_object, need
from smilenn.certify.reference.version2 import Listed, Tensors, Version, entry_of, same_digest


def python_json(value: Any, comma: str, colon: str, *, escaped: bool) -> str:
    """What Python's `json` writes of a value that `parse_json` has read, keys sorted."""
    if isinstance(value, Double):
        return shortest(value)
    if isinstance(value, list):
        return f"[{comma.join(python_json(item, comma, colon, escaped=escaped) for item in value)}]"
    if isinstance(value, dict):
        pairs = ((json.dumps(key, ensure_ascii=escaped), value[key]) for key in sorted(value))
        entries = (f"{key}{colon}{python_json(item, comma, colon, escaped=escaped)}" for key, item in pairs)
        return f"{{{comma.join(entries)}}}"
    return json.dumps(value, ensure_ascii=escaped)


def canonical(value: Any) -> bytes:
    """Sorted keys, no white space, escaped."""
    return python_json(value, ",", ":", escaped=True).encode("ascii")


def _files(manifest: dict[str, Any]) -> dict[str, Listed]:
    body = {key: value for key, value in manifest.items() if key != "digest"}
    try:
        text = python_json(body, ", ", ": ", escaped=False).encode()
    except UnicodeEncodeError:
        raise Refused("manifest.json holds a text that is not Unicode.") from None
    same_digest(manifest.get("digest"), hashlib.sha256(text).hexdigest())
    listed = as_object(manifest.get("files"), None, "The list of files in manifest.json")
    for name in listed:
        plain = name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\:")
        need(plain, "manifest.json lists a file whose name is not a plain file name.")
    return {name: entry_of(entry, name) for name, entry in listed.items()}


def _model(net: dict[str, Any], table: Any, tensors: Tensors) -> str:
    """The table is not covered."""
    hasher = hashlib.sha256(canonical(net))
    for name in sorted(tensors):
        hasher.update(name.encode() + b"\0" + tensors[name])
    return hasher.hexdigest()


def _claim(claim: dict[str, Any]) -> str:
    return hashlib.sha256(canonical({**claim, "sentence": ""})).hexdigest()


def version_1() -> Version:
    """What 0.1 wrote."""
    return Version(1, "weights", _files, _model, _claim)
