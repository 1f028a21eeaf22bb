"""What a careful forger writes: files of a model folder with parts replaced and every hash made to fit again.

forged(files, net={…}, tensors={…}, claim={…}, rows=[…], binary=b"…", certificate={…})     parts of the folder
manifest(files, **changes)                                                                 its manifest, or a wrong one
safetensors(header, data)                                                                  a weights file
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from smilenn.certify import certificate as c
from trust import forge2

Files = dict[str, bytes]


def unpacked(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and data of a safetensors file."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def safetensors(header: Any, data: bytes) -> bytes:
    """A safetensors file, its header given as JSON or as bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def packed(nodes: Sequence[c.Node]) -> bytes:
    """Nodes as certificate.bin holds them."""
    return b"".join(c._node(node) for node in nodes)


def forged(
    files: Mapping[str, bytes],
    *,
    net: Mapping[str, Any] | None = None,
    tensors: Mapping[str, Sequence[float]] | None = None,
    certificate: Mapping[str, Any] | None = None,
    claim: Mapping[str, Any] | None = None,
    entry: Mapping[str, Any] | None = None,
    rows: Sequence[Mapping[str, Any]] | None = None,
    binary: bytes | None = None,
    rehash: bool = True,
) -> Files:
    """Replace parts: of model.json's `net`, tensors, keys of the certificate, of its first claim, of the claim's entry,
    of the rows' proofs, or the binary file. `certificate` comes last, so it can break a hash again.
    """
    out = dict(files)
    model, content = json.loads(files["model.json"]), json.loads(files["certificate.json"])
    header, data = unpacked(files["weights.safetensors"])
    model["net"] |= net or {}
    body = bytearray(data)
    for name, values in (tensors or {}).items():
        start, stop = header[name]["data_offsets"]
        body[start:stop] = struct.pack(f"<{(stop - start) // 8}d", *values)
    out["weights.safetensors"] = safetensors(header, bytes(body))
    out["model.json"] = json.dumps(model).encode()
    if binary is not None:
        out["certificate.bin"] = binary
    first = content["claims"][0]
    first["claim"] |= claim or {}
    with contextlib.suppress(KeyError, TypeError):  # of a malformed conclusion there are no rows to count
        old = first["room"]
        count = forge2.row_count(first["claim"])
        first["room"] = old if count == len(old) else ["0"] * count
    if rows is not None:
        first["rows"] = [old | new for old, new in zip(first["rows"], rows, strict=True)]
    first |= entry or {}
    out["certificate.json"] = json.dumps(content).encode()
    if rehash:
        out = forge2.rehashed(out)
    content = json.loads(out["certificate.json"]) | dict(certificate or {})
    return out | {"certificate.json": json.dumps(content).encode()}


def with_tree(files: Mapping[str, bytes], nodes: Sequence[c.Node], row: int = 0) -> Files:
    """The proof of one row of the first claim replaced by other nodes, the others moved along."""
    rows = json.loads(files["certificate.json"])["claims"][0]["rows"]
    pieces = [
        packed(nodes)
        if r == row
        else files["certificate.bin"][p["start"] : p["start"] + p["length"]]
        if "start" in p
        else b""
        for r, p in enumerate(rows)
    ]
    changes, end = [], 0
    for proof, piece in zip(rows, pieces, strict=True):
        changes.append({"start": end, "length": len(piece)} if "start" in proof else {})
        end += len(piece)
    return forged(files, binary=b"".join(pieces), rows=changes)


def manifest(files: Mapping[str, bytes], /, *, digest: str | None = None, drop: str = "", **changes: Any) -> Files:
    """The files with a manifest: keys replaced by `changes`, one left out, a digest that fits unless given."""
    body: dict[str, Any] = {"format": "smilenn-model", "version": 2, "library": "0", "files": forge2.listed(files)}
    body |= changes
    body.pop(drop, None)
    right = forge2.manifest_digest(body.get("files"))
    return dict(files) | {
        "manifest.json": json.dumps(body | {"digest": digest or right}).encode("utf-8", "surrogatepass")
    }
