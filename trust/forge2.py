"""A writer of model folders of both versions, straight from docs/certificate.md; it shares no code with the package.

as_version_2(files, rooms=…, table=…, properties=…)     files of a folder of either version as ones of version 2
as_version_1(files)                                     and as ones of version 1
rehashed(files)                                         every digest in the certificate made to fit again
put(folder, files, changes)                             a folder with the manifest of the certificate's version
small_files(*claims, …)                                 f(x) = x on [0, 1], digests left out; claims by `small_claim`
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Files = dict[str, bytes]
CERTIFICATE, MODEL, WEIGHTS, BINARY = "certificate.json", "model.json", "weights.safetensors", "certificate.bin"


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def encoding(value: Any) -> bytes:
    """E of section 6, of a value of Python's json."""
    match value:
        case None:
            return b"n"
        case True | False:
            return b"t" if value else b"f"
        case int():
            return b"i" + str(value).encode() + b";"
        case float():
            return b"d" + struct.pack(">d", value).hex().encode()
        case str():
            data = value.encode()
            return b"s" + str(len(data)).encode() + b":" + data
        case list() | tuple():
            return b"[" + b"".join(map(encoding, value)) + b"]"
        case _:
            entries = sorted((key.encode(), encoding(key) + encoding(item)) for key, item in value.items())
            return b"{" + b"".join(entry for _, entry in entries) + b"}"


def canonical(value: Any) -> bytes:
    """Of section 7."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def pinned_modules(encoder: Any) -> list[str]:
    """What the names of pinned modules' tensors begin with; whatever else is described wrongly."""
    out = []
    for b, branch in enumerate(encoder if isinstance(encoder, list) else ()):
        layers = branch.get("layers") if isinstance(branch, dict) else ()
        for at, layer in enumerate(layers if isinstance(layers, list) else ()):
            if isinstance(layer, dict) and layer.get("kind") == "pinned":
                out.append(f"encoder.branches.{b}.layers.{at}.module.")
    return out


def tensors(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The data of all tensors but the backbone's and those of pinned modules."""
    data = files[WEIGHTS]
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    ignored = ("backbone.", *pinned_modules(json.loads(files[MODEL])["net"].get("encoder")))
    return {
        name: data[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]]
        for name, entry in header.items()
        if name != "__metadata__" and not name.startswith(ignored)
    }


def model_digest(files: Mapping[str, bytes], version: int) -> str:
    """`model` of version 2, `weights` of version 1."""
    model, found = json.loads(files[MODEL]), tensors(files)
    net = {key: value for key, value in model["net"].items() if key != "backbone"}
    if version == 1:
        return sha256(canonical(net) + b"".join(name.encode() + b"\0" + found[name] for name in sorted(found)))
    parts = [encoding({"net": net, "table": model.get("table")})]
    for name in sorted(found):
        parts += [encoding(name), b"b", str(len(found[name])).encode(), b":", found[name]]
    return sha256(b"".join(parts))


def claim_digest(claim: Mapping[str, Any], version: int) -> str:
    """`claim_sha256`."""
    if version == 1:
        return sha256(canonical({**claim, "sentence": ""}))
    return sha256(encoding({key: value for key, value in claim.items() if key != "sentence"}))


def row_count(claim: Mapping[str, Any]) -> int:
    """Rows of the conclusion that come from `then`."""
    return sum(2 if row["op"] == "==" else 1 for row in claim["then"])


def rehashed(files: Mapping[str, bytes]) -> Files:
    """The digests of model, proofs and claims in the certificate, as the files are now."""
    content = json.loads(files[CERTIFICATE])
    version = content["version"]
    content["weights" if version == 1 else "model"] = model_digest(files, version)
    content["proofs_sha256"] = sha256(files[BINARY])
    for entry in content["claims"]:
        entry["claim_sha256"] = claim_digest(entry["claim"], version)
    return dict(files) | {CERTIFICATE: json.dumps(content).encode()}


def as_version_2(
    files: Mapping[str, bytes],
    *,
    rooms: Sequence[Sequence[str]] | None = None,
    table: Any = None,
    properties: bool = False,
) -> Files:
    """The same network, claims and proofs; rooms of zero unless given, `table` and properties.json if asked for."""
    out, content = dict(files), json.loads(files[CERTIFICATE])
    content.pop("weights", None)
    content |= {"version": 2, "model": ""}
    for at, entry in enumerate(content["claims"]):
        entry["room"] = ["0"] * row_count(entry["claim"]) if rooms is None else list(rooms[at])
    if table is not None:
        out[MODEL] = json.dumps(json.loads(files[MODEL]) | {"table": table}).encode()
    if properties:
        claims = [entry["claim"] | {"sentence": "Another one."} for entry in content["claims"]]
        out["properties.json"] = json.dumps({"claims": claims, "properties": []}).encode()
    return rehashed(out | {CERTIFICATE: json.dumps(content).encode()})


def as_version_1(files: Mapping[str, bytes]) -> Files:
    """The same network, claims and proofs; rooms are dropped."""
    content = json.loads(files[CERTIFICATE])
    content.pop("model", None)
    content |= {"version": 1, "weights": ""}
    for entry in content["claims"]:
        entry.pop("room", None)
    return rehashed(dict(files) | {CERTIFICATE: json.dumps(content).encode()})


def listed(files: Mapping[str, bytes]) -> dict[str, Any]:
    """`files` of a manifest."""
    return {name: {"sha256": sha256(data), "bytes": len(data)} for name, data in files.items()}


def manifest_digest(entries: Any) -> str:
    """`digest` of a manifest of version 2; also where its list of files is none, or an entry not one of a file."""
    lines = ["smilenn-model 2"]
    for name, entry in sorted(entries.items()) if isinstance(entries, dict) else ():
        good = isinstance(entry, dict) and {"sha256", "bytes"} <= set(entry)
        lines.append(f"{entry['sha256']} {entry['bytes']} {name}" if good else name)
    return sha256("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))


def manifest(files: Mapping[str, bytes], version: int = 2, changes: Mapping[str, Any] | None = None) -> bytes:
    """manifest.json, with keys changed and a digest that fits unless given."""
    body = {"format": "smilenn-model", "version": version, "library": "0", "files": listed(files)} | dict(changes or {})
    if "digest" not in body:
        old = sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()) if version == 1 else ""
        body["digest"] = old or manifest_digest(body["files"])
    return json.dumps(body).encode()


def put(folder: Path, files: Mapping[str, bytes], changes: Mapping[str, Any] | None = None) -> Path:
    """Write a folder; `changes` are those of its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    version = json.loads(files[CERTIFICATE])["version"]
    for name, data in {**files, "manifest.json": manifest(files, version, changes)}.items():
        (folder / name).write_bytes(data)
    return folder


def read(folder: Path) -> Files:
    """The files that the manifest of a folder lists."""
    return {name: (folder / name).read_bytes() for name in json.loads((folder / "manifest.json").read_bytes())["files"]}


def edited(files: Mapping[str, bytes], name: str, change: Callable[[Any], Any]) -> Files:
    """A JSON file changed in place by a function; no digest is made to fit."""
    content = json.loads(files[name])
    change(content)
    return dict(files) | {name: json.dumps(content).encode()}


# ---- a small network ------------------------------------------------------------------------------------------------

SWEEP = {"rule": "sweep"}
TENSORS = {
    "lower.const": [0.0],
    "lower.slope": [[1.0]],
    "second.const": [0.0],
    "second.rise": [[0.0]],
    "second.fall": [[0.0]],
    "head_weight": [[1.0]],
    "head_bias": [0.0],
}

Terms = Sequence[tuple[Any, int, str]]
"""Coefficient, copy and name."""
Given = tuple[Terms, str, Any]
"""Terms, relation, right side."""


def small_rows(given: Sequence[Given]) -> list[dict[str, Any]]:
    """Rows of a claim; names that begin with x are inputs."""
    return [
        {
            "terms": [[str(a), copy, "in" if name.startswith("x") else "out", name] for a, copy, name in terms],
            "op": op,
            "rhs": str(rhs),
        }
        for terms, op, rhs in given
    ]


def small_claim(
    *then: Given, copies: int = 1, when: Sequence[Given] = (), either: Sequence[Sequence[Given]] = ()
) -> dict[str, Any]:
    """A claim about the small network."""
    claim = {
        "copies": copies,
        "when": small_rows(when),
        "then": small_rows(then),
        "others": "equal",
        "equal": [],
        "free": [],
        "sentence": "All is well.",
    }
    return claim | ({"either": [small_rows(clause) for clause in either]} if either else {})


def small_weights(tensors: Mapping[str, Any]) -> bytes:
    """weights.safetensors of a network whose tensors are given as lists."""
    header, data = {}, b""
    for name, values in (TENSORS | dict(tensors)).items():
        rows = values if isinstance(values[0], list) else [values]
        raw = b"".join(struct.pack("<d", value) for row in rows for value in row)
        shape = [len(values), *([len(rows[0])] if rows is values else [])]
        header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def small_files(
    *claims: Mapping[str, Any],
    net: Mapping[str, Any] | None = None,
    tensors: Mapping[str, Any] | None = None,
    feature: Mapping[str, Any] | None = None,
    proofs: Sequence[Mapping[str, Any]] | None = None,
    witness: float = 0.5,
) -> Files:
    """f(x) = x for x in [0, 1], its output called y; rows are proved by the sweep rule unless `proofs` are given."""
    described = {
        "domain": {"features": [{"name": "x", "kind": "continuous", "lo": 0.0, "hi": 1.0} | dict(feature or {})]},
        "backbone": {},
        "embedding": 1,
        "outputs": ["y"],
        "auxiliaries": "affine",
        "hidden": 0,
        "boxes": "gap",
        "skip": False,
        "output_scale": [1.0],
        "profile": "f64-aux",
        "grid": 0,
    } | dict(net or {})
    entries = []
    for at, claim in enumerate(claims or [small_claim(([(1, 0, "y")], "<=", 2))]):
        swept = {"witness": [[witness]] * claim["copies"], "rows": [SWEEP] * row_count(claim)}
        entries.append({"claim": claim} | dict(proofs[at] if proofs else swept))
    certificate = {
        "format": "smilenn-certificate",
        "profile": described["profile"],
        "proofs": BINARY,
        "claims": entries,
    }
    return {
        MODEL: json.dumps({"net": described}).encode(),
        WEIGHTS: small_weights(tensors or {}),
        CERTIFICATE: json.dumps(certificate).encode(),
        BINARY: b"",
    }
