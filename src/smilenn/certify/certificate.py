"""How proofs (`provers/proof.py`) are written to ``certificate.json`` and ``certificate.bin``.

The format and the rules are specified in docs/certificate.md. Nothing here judges a proof: that is what the checkers
are for.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from smilenn.provers.proof import (
    BallProof,
    CaseProof,
    CasesProof,
    ClaimProof,
    Empty,
    Flip,
    Group,
    Input,
    Leaf,
    LeafProof,
    MirrorProof,
    Node,
    OrderProof,
    Phase,
    RowProof,
    SignsProof,
    SlopeProof,
    SweepProof,
)

FORMAT, VERSION = "smilenn-certificate", 2
JSON_NAME, BINARY_NAME = "certificate.json", "certificate.bin"


def encoded(value: Any) -> bytes:
    """A JSON value as the bytes that digests are taken of (docs/certificate.md, §6): no float is printed."""
    if value is None or isinstance(value, bool):
        return {None: b"n", True: b"t", False: b"f"}[value]
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, float):
        return b"d" + struct.pack(">d", value).hex().encode()
    if isinstance(value, str):
        data = value.encode()
        return b"s%d:%s" % (len(data), data)
    if isinstance(value, (list, tuple)):
        return b"[%s]" % b"".join(map(encoded, value))
    keys = sorted(value, key=str.encode)
    return b"{%s}" % b"".join(encoded(key) + encoded(value[key]) for key in keys)


def claim_digest(claim: Mapping[str, Any]) -> str:
    """SHA-256 of a claim; its sentence, a comment, does not count."""
    return hashlib.sha256(encoded({key: v for key, v in claim.items() if key != "sentence"})).hexdigest()


def model_digest(net: Mapping[str, Any], tensors: Mapping[str, bytes], table: Mapping[str, Any] | None = None) -> str:
    """SHA-256 of the certified part: `net` of model.json less its backbone, its `table`, and the tensors' raw data."""
    described = {"net": {key: value for key, value in net.items() if key != "backbone"}, "table": table}
    hasher = hashlib.sha256(encoded(described))
    for name in sorted(tensors, key=str.encode):
        hasher.update(b"%sb%d:" % (encoded(name), len(tensors[name])))
        hasher.update(tensors[name])
    return hasher.hexdigest()


def dump(model: str, claims: Sequence[ClaimProof], profile: str = "f64-aux") -> dict[str, bytes]:
    """The two files of a certificate, by name; `model` is the digest of the certified part."""
    binary = bytearray()
    entries = []
    for proof in claims:
        claim = dict(proof.claim)
        body = _proved(proof, binary) if proof.cases is None else {"cases": _cases(proof.cases, binary)}
        rows = sum(2 if row["op"] == "==" else 1 for row in claim["then"])
        room = [str(room) for room in proof.room or (Fraction(0),) * rows]
        entries.append({"claim": claim, "claim_sha256": claim_digest(claim), "room": room, **body})
    content = {
        "format": FORMAT,
        "version": VERSION,
        "profile": profile,
        "model": model,
        "proofs": BINARY_NAME,
        "proofs_sha256": hashlib.sha256(binary).hexdigest(),
        "claims": entries,
    }
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return {JSON_NAME: text.encode(), BINARY_NAME: bytes(binary)}


def _proved(proof: ClaimProof | CaseProof, binary: bytearray) -> dict[str, Any]:
    rows = [_row(row, binary) for row in proof.rows]
    return {"witness": [list(map(float, copy)) for copy in proof.witness], "rows": rows}


def _cases(cases: CasesProof, binary: bytearray) -> dict[str, Any]:
    if isinstance(cases, CaseProof):
        return {"weights": [[str(w) for w in weights] for weights in cases.weights], **_proved(cases, binary)}
    place = {"copy": cases.copy, "coordinate": cases.coordinate, "at": float(cases.at)}
    return {**place, "below": _cases(cases.below, binary), "above": _cases(cases.above, binary)}


def _row(row: RowProof, binary: bytearray) -> dict[str, Any]:
    if isinstance(row, SweepProof):
        return {"rule": "sweep"}
    if isinstance(row, OrderProof):
        return {"rule": "order"}
    if isinstance(row, SignsProof):
        return {"rule": "signs"}
    if isinstance(row, BallProof):
        return {"rule": "ball"}
    if isinstance(row, MirrorProof):
        return {"rule": "mirror", "of": row.of}
    start = len(binary)
    lemmas = row.lemmas if isinstance(row, LeafProof) else ()
    for lemma in lemmas:
        values = (*lemma.beta, *lemma.theta, *lemma.slope)
        binary += struct.pack(f"<H{len(values)}i", lemma.unit, *values)
    for node in row.nodes:
        binary += _node(node)
    place = {"bits": row.bits, "start": start, "length": len(binary) - start}
    if isinstance(row, SlopeProof):
        return {"rule": "slope", **place}
    return {"rule": "leaf", "units": list(row.units), **({"lemmas": len(lemmas)} if lemmas else {}), **place}


def _node(node: Node) -> bytes:
    match node:
        case Leaf(flips, units, rows, lemmas):
            values = (*flips, *units, *rows, *lemmas)
            return struct.pack(f"<B{len(values)}i", 0, *values)
        case Phase(copy, unit):
            return struct.pack("<BBH", 1, copy, unit)
        case Flip(copy, unit):
            return struct.pack("<BBH", 5, copy, unit)
        case Input(copy, coordinate, threshold):
            return struct.pack("<BBHd", 2, copy, coordinate, threshold)
        case Group(copy, group):
            return struct.pack("<BBH", 3, copy, group)
        case Empty(multipliers):
            return struct.pack(f"<B{len(multipliers)}I", 4, *multipliers)
