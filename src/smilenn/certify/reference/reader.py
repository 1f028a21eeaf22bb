"""Reading a model folder: docs/certificate.md, sections 1 and 6.

    read_folder(path) -> Folder      the network's certified part and the certificate, every shape and type checked

Files and their hashes are read by folder.py, JSON by strict.py, the network by net.py, claims by
claims.py, proofs here. For the reference checker only.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from smilenn.certify.reference.claims import Claim, Row, Term, read_claim, read_rooms, shared_rational
from smilenn.certify.reference.folder import PROPERTIES, listed_files, version_of
from smilenn.certify.reference.net import NET_KEYS, ZERO, Net, read_net
from smilenn.certify.reference.strict import (
    as_float,
    as_hash,
    as_integer,
    as_list,
    as_object,
    as_text,
    need,
    parse_json,
)
from smilenn.certify.reference.version2 import Version, without_sentence

MOST_NODES, MOST_WORK, MOST_SLOPES = 1 << 24, 1 << 31, 1 << 22
CERTIFICATE_KEYS = {"format", "version", "profile", "proofs", "proofs_sha256", "claims"}
PLACE_KEYS = {"rule", "bits", "start", "length"}


@dataclass(frozen=True)
class Lemma:
    """A lemma about a hidden unit, numbers to be read times 2^-bits of its proof.

    `beta` [k]; `theta` by the number of the subset of the copies with β_c > 0, in it one for every copy with β_c < 0;
    `slope` [k·m] as the file has it.
    """

    unit: int
    beta: tuple[int, ...]
    theta: tuple[tuple[int, ...], ...]
    slope: bytes


@dataclass(frozen=True)
class Proof:
    """The proof of one row: `nodes` is its tree in the binary file, `of` the row a mirror refers to."""

    rule: str
    bits: int = 0
    units: tuple[int, ...] = ()
    nodes: bytes = b""
    of: int = 0
    lemmas: tuple[Lemma, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A claim with its witness (k rows of m numbers), the proofs of its rows and their rooms.

    Of a claim with clauses the entry has no proofs, but `cases`: entries of the same claim with `weights` for every
    clause, whose means they prove. `common` is the least common multiple of the claim's denominators, of a case also of
    its weights'.
    """

    claim: Claim
    witness: tuple[tuple[Fraction, ...], ...] = ()
    proofs: tuple[Proof, ...] = ()
    cases: tuple[Entry, ...] = ()
    rooms: tuple[Fraction, ...] = ()
    common: int = 1
    weights: Sequence[Sequence[Fraction]] = ()


@dataclass(frozen=True)
class Folder:
    """Everything a checker needs; `meaning` has a text per output or none, `certificate` is the file's SHA-256."""

    net: Net
    entries: tuple[Entry, ...]
    version: int
    meaning: tuple[str, ...]
    certificate: str


def read_folder(path: str | os.PathLike[str]) -> Folder:
    """Read model.json, weights.safetensors and the certificate of a model folder."""
    number, files = listed_files(Path(path))
    version = version_of(number)
    model = as_object(parse_json(files["model.json"], "model.json"), None, "model.json")
    description = as_object(model.get("net"), None, "The object 'net' of model.json")
    as_object(description, NET_KEYS | ({"encoder"} & set(description)), "The object 'net' of model.json")
    net, raw = read_net(description, files["weights.safetensors"])
    need(
        version.current or not net.pinned, "Version 1 does not cover a pinned module: certify and save the model again."
    )
    meaning = _meaning(model, net) if version.current else ()
    own = {key: value for key, value in description.items() if key != "backbone"}
    digest = version.model(own, model.get("table"), raw)
    content, entries = _certificate(files["certificate.json"], files["certificate.bin"], net, version, digest)
    if version.current and PROPERTIES in files:
        _same_claims(files[PROPERTIES], content["claims"])
    name = hashlib.sha256(files["certificate.json"]).hexdigest()
    return Folder(net, entries, version.number, meaning, name)


# ---- what a person reads --------------------------------------------------------------------------------------------


def _meaning(model: dict[str, Any], net: Net) -> tuple[str, ...]:
    """What the outputs mean, one text each, in the object `table`; nothing if that is not there."""
    if "table" not in model:
        return ()
    table = as_object(model["table"], None, "The object 'table' of model.json")
    if "meaning" not in table:
        return ()
    texts = tuple(as_text(item, "A meaning") for item in as_list(table["meaning"], "'meaning' of model.json"))
    need(len(texts) == len(net.outputs), "'meaning' of model.json does not have one text per output.")
    return texts


def _same_claims(data: bytes, entries: list[Any]) -> None:
    """Refuse unless properties.json has the certificate's claims in the same order, but for their sentences."""
    content = as_object(parse_json(data, PROPERTIES), None, PROPERTIES)
    stated = as_list(content.get("claims"), f"'claims' of {PROPERTIES}")
    texts = [without_sentence(as_object(claim, None, f"A claim of {PROPERTIES}")) for claim in stated]
    same = texts == [without_sentence(entry["claim"]) for entry in entries]
    need(same, f"The certificate proves other claims than {PROPERTIES} states.")


# ---- the certificate ------------------------------------------------------------------------------------------------


def _certificate(
    data: bytes, binary: bytes, net: Net, version: Version, digest: str
) -> tuple[dict[str, Any], tuple[Entry, ...]]:
    """What certificate.json holds, and its claims with their proofs; `digest` is that of the certified part."""
    content = as_object(parse_json(data, "certificate.json"), None, "certificate.json")
    need(content.get("format") == "smilenn-certificate", "certificate.json is not a certificate of smilenn.")
    number = content.get("version")
    need(type(number) is int and number == version.number, "The certificate does not have the version of the manifest.")
    as_object(content, CERTIFICATE_KEYS | {version.model_key}, "certificate.json")
    need(content["profile"] == net.profile, "The certificate has another numeric profile than the network.")
    need(content["proofs"] == "certificate.bin", "The certificate's proofs are not in certificate.bin.")
    same = as_hash(content[version.model_key], f"{version.model_key!r}") == digest
    need(same, "The certificate was made for another network: the digest of the certified part differs.")
    same = as_hash(content["proofs_sha256"], "'proofs_sha256'") == hashlib.sha256(binary).hexdigest()
    need(same, "certificate.bin is not the file that certificate.json names: its hash differs.")
    claims = as_list(content["claims"], "'claims'")
    need(bool(claims), "The certificate makes no claim.")
    entries, end, spent = [], 0, [0]
    for item in claims:
        entry, end = _entry(item, binary, end, net, version, spent)
        entries.append(entry)
    need(end == len(binary), "certificate.bin has bytes that belong to no proof.")
    return content, tuple(entries)


def _entry(item: Any, binary: bytes, end: int, net: Net, version: Version, spent: list[int]) -> tuple[Entry, int]:
    """A claim with its proofs; and where the last of them ends. `spent` is what reading cases has cost so far."""
    body = {"cases"} if isinstance(item, dict) and "cases" in item else {"witness", "rows"}
    body |= {"room"} if version.current else set()
    entry = as_object(item, {"claim", "claim_sha256"} | body, "An entry of 'claims'")
    described = as_object(entry["claim"], None, "A claim")
    same = as_hash(entry["claim_sha256"], "'claim_sha256'") == version.claim(described)
    need(same, "A claim is not the one the certificate was made for: its hash differs.")
    common = [1]
    claim = read_claim(described, net, common)
    need(("cases" in body) == bool(claim.either), "A claim is proved by cases if and only if it has clauses.")
    rows = claim.rows()
    rooms = read_rooms(entry["room"], rows, net) if version.current else (ZERO,) * len(rows)
    whole = Entry(claim, rooms=rooms, common=common[0])
    if claim.either:
        cases, end = _cases(entry["cases"], whole, (), binary, end, net, spent)
        return replace(whole, cases=cases), end
    return _proofs(entry, whole, binary, end, net)


def _proofs(entry: dict[str, Any], of: Entry, binary: bytes, end: int, net: Net) -> tuple[Entry, int]:
    """The entry of a claim without clauses, with its witness and proofs; and where its last proof ends."""
    claim = of.claim
    witness = tuple(
        tuple(as_float(v, "A number of the witness") for v in as_list(copy, "A copy of the witness"))
        for copy in as_list(entry["witness"], "'witness'")
    )
    shaped = len(witness) == claim.copies and all(len(copy) == len(net.domain.names) for copy in witness)
    need(shaped, "The witness is not one point of the domain per copy.")
    rows = as_list(entry["rows"], "'rows'")
    need(len(rows) == len(of.rooms), "A claim does not have one proof per row of its conclusion.")
    proofs = []
    for item in rows:
        proof = _proof(item, binary, end, net)
        end += len(proof.nodes)
        proofs.append(_lemmas(proof, item["lemmas"], claim.copies, net) if "lemmas" in item else proof)
    return replace(of, witness=witness, proofs=tuple(proofs)), end


# ∀ x ∈ X : x_ci ≤ θ or x_ci ≥ θ, so that the cases cover the premise; Σ λ_r (l_r − c_r) ≤ 0 has one l_r − c_r ≤ 0
def _cases(
    value: Any, whole: Entry, path: tuple[Row, ...], binary: bytes, end: int, net: Net, spent: list[int]
) -> tuple[tuple[Entry, ...], int]:
    """The cases of a tree, those below a threshold before those above; and where the last proof ends.

    `spent` counts what reading the claim again in every case costs: more than there may be is refused before the end.
    """
    node, claim = as_object(value, None, "A node of 'cases'"), whole.claim
    if "at" in node:
        as_object(node, {"copy", "coordinate", "at", "below", "above"}, "A split of cases")
        copy = as_integer(node["copy"], 0, claim.copies - 1, "The copy of a split")
        i = as_integer(node["coordinate"], 0, len(net.domain.names) - 1, "The coordinate of a split")
        at, name = as_float(node["at"], "A threshold"), net.domain.names[i]
        sides = [Row((Term(Fraction(sign), copy, False, i, name),), sign * at, False) for sign in (1, -1)]
        below, end = _cases(node["below"], whole, (*path, sides[0]), binary, end, net, spent)
        above, end = _cases(node["above"], whole, (*path, sides[1]), binary, end, net, spent)
        return below + above, end
    as_object(node, {"weights", "witness", "rows"}, "A case")
    weights, means = as_list(node["weights"], "'weights'"), []
    need(len(weights) == len(claim.either), "A case does not have weights for every clause.")
    shared = [whole.common]  # every case by itself has a common denominator with the claim
    for clause, item in zip(claim.either, weights, strict=True):
        mean = [shared_rational(w, shared) for w in as_list(item, "The weights of a clause")]
        need(len(mean) == len(clause), "A clause does not have one weight per row.")
        need(min(mean) >= 0 and sum(mean) == 1, "The weights of a clause are not those of a mean.")
        means.append(mean)
    spent[0] += claim.reading(shared[0])
    need(spent[0] <= MOST_WORK, "The cases of the claims are more work to check than those of a certificate may be.")
    rooms = (*whole.rooms, *(ZERO for _ in claim.either))
    case = Entry(replace(claim, path=path), rooms=rooms, common=shared[0], weights=means)
    entry, end = _proofs(node, case, binary, end, net)
    return (entry,), end


def _proof(value: Any, binary: bytes, end: int, net: Net) -> Proof:
    """The proof of a row; its piece of the binary file must start at `end`."""
    rule: str = as_object(value, None, "The proof of a row").get("rule", "")
    if rule in ("sweep", "order", "signs", "ball"):
        as_object(value, {"rule"}, f"A proof by the {rule} rule")
        return Proof(rule)
    if rule == "mirror":
        as_object(value, {"rule", "of"}, "A proof by the mirror rule")
        return Proof("mirror", of=as_integer(value["of"], 0, MOST_NODES, "The row of a mirror"))
    need(rule in ("leaf", "slope"), "The proof of a row is by an unknown rule.")
    own = {"units"} | ({"lemmas"} & set(value)) if rule == "leaf" else set()
    as_object(value, PLACE_KEYS | own, f"A proof by the {rule} rule")
    bits = as_integer(value["bits"], 0, 1000, "'bits'")
    start = as_integer(value["start"], 0, len(binary), "'start'")
    length = as_integer(value["length"], 0, len(binary) - start, "'length'")
    need(start == end, "The proofs leave a gap in certificate.bin or overlap.")
    units = [as_integer(j, 0, 2 * net.hidden - 1, "A unit") for j in as_list(value.get("units", []), "'units'")]
    need(all(a < b for a, b in pairwise(units)), "The units of a proof are not increasing.")
    return Proof(rule, bits, tuple(units), binary[start : start + length])


# unit u16, β [k], θ [2ᵃ][copies with β_c < 0], a the number of copies with β_c > 0, h [k·m]; all but the first int32
def _lemmas(proof: Proof, number: Any, copies: int, net: Net) -> Proof:
    """The proof with the lemmas, so many, that its piece of the binary file begins with; the nodes are what is left."""
    data, at, out = proof.nodes, 0, []
    size = 4 * copies * len(net.inner.names)  # of h

    def take(length: int) -> bytes:
        nonlocal at
        need(at + length <= len(data), "A proof ends in the middle of a lemma.")
        at += length
        return data[at - length : at]

    many = as_integer(number, 1, len(data), "'lemmas'")
    need(many * size <= 4 * MOST_SLOPES, "The lemmas of a row have more numbers than they may have.")
    for _ in range(many):
        (unit,) = struct.unpack("<H", take(2))
        need(unit < 2 * net.hidden, "A lemma is about a unit that does not exist.")
        beta = struct.unpack(f"<{copies}i", take(4 * copies))
        on, below = sum(b > 0 for b in beta), sum(b < 0 for b in beta)
        theta = tuple(struct.unpack(f"<{below}i", take(4 * below)) for _ in range(2**on))
        out.append(Lemma(unit, beta, theta, take(size)))
    return replace(proof, nodes=data[at:], lemmas=tuple(out))
