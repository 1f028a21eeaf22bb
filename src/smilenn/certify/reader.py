"""Reading a model folder: docs/certificate.md, sections 1 and 6.

    read_folder(path) -> Folder      the network's certified part and the certificate, every shape and type checked

Files and JSON are read by strict.py, the network by exact_net.py, claims and proofs here. For the reference checker.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from smilenn.certify.exact_net import NET_KEYS, Net, read_net
from smilenn.certify.strict import (
    as_float,
    as_hash,
    as_integer,
    as_list,
    as_object,
    as_text,
    listed_files,
    need,
    parse_json,
)

MOST_NODES, MOST_WORK, MOST_SLOPES = 1 << 24, 1 << 33, 1 << 22
LARGEST_DENOMINATOR = 10**1000
CLAIM_KEYS = {"copies", "when", "then", "others", "equal", "free", "sentence"}
PLACE_KEYS = {"rule", "bits", "start", "length"}
RATIONAL = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")


@dataclass(frozen=True)
class Term:
    """coef · x[copy, index] if `output` is False, else coef · f[copy, index]."""

    coef: Fraction
    copy: int
    output: bool
    index: int
    name: str


@dataclass(frozen=True)
class Row:
    """Σ terms ≤ rhs, or == rhs."""

    terms: tuple[Term, ...]
    rhs: Fraction
    equality: bool


@dataclass(frozen=True)
class Claim:
    """∀ copies : when ⇒ then, and one row of every clause of either; `equal` and `free` as the names given.

    `path` holds the splits that lead to a case of the claim: rows of the premise that name nothing.
    """

    copies: int
    when: tuple[Row, ...]
    then: tuple[Row, ...]
    others: str
    equal: tuple[str, ...]
    free: tuple[str, ...]
    sentence: str
    either: tuple[tuple[Row, ...], ...] = ()
    path: tuple[Row, ...] = ()

    @property
    def size(self) -> int:
        """Rows and terms."""
        rows = (*self.when, *self.then, *(row for clause in self.either for row in clause))
        return sum(1 + len(row.terms) for row in rows)

    def rows(self) -> list[Row]:
        """The conclusion as ≤ rows; an == row gives itself and then its negation."""
        out = []
        for row in self.then:
            out.append(Row(row.terms, row.rhs, False))
            if row.equality:
                negated = tuple(Term(-t.coef, t.copy, t.output, t.index, t.name) for t in row.terms)
                out.append(Row(negated, -row.rhs, False))
        return out


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
    """A claim with its witness (k rows of m floats) and the proofs of its rows.

    Of a claim with clauses the entry has no proofs, but `cases`: entries of claims without any.
    """

    claim: Claim
    witness: tuple[tuple[float, ...], ...] = ()
    proofs: tuple[Proof, ...] = ()
    cases: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class Folder:
    """Everything a checker needs."""

    net: Net
    entries: tuple[Entry, ...]


def read_folder(path: str | os.PathLike[str]) -> Folder:
    """Read model.json, weights.safetensors and the certificate of a model folder."""
    files = listed_files(Path(path))
    model = as_object(parse_json(files["model.json"], "model.json"), None, "model.json")
    description = as_object(model.get("net"), None, "The object 'net' of model.json")
    as_object(description, NET_KEYS | ({"encoder"} & set(description)), "The object 'net' of model.json")
    net, raw = read_net(description, files["weights.safetensors"])
    return Folder(net, _certificate(files["certificate.json"], files["certificate.bin"], net, description, raw))


# ---- the certificate ------------------------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """Sorted keys, no white space, escaped: what digests are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _certificate(
    data: bytes, binary: bytes, net: Net, description: dict[str, Any], raw: Mapping[str, bytes]
) -> tuple[Entry, ...]:
    content = as_object(parse_json(data, "certificate.json"), None, "certificate.json")
    need(content.get("format") == "smilenn-certificate", "certificate.json is not a certificate of smilenn.")
    version = content.get("version")
    need(type(version) is int and version == 1, "The certificate has a version that this checker does not know.")
    keys = {"format", "version", "profile", "weights", "proofs", "proofs_sha256", "claims"}
    as_object(content, keys, "certificate.json")
    need(content["profile"] == net.profile, "The certificate has another numeric profile than the network.")
    need(content["proofs"] == "certificate.bin", "The certificate's proofs are not in certificate.bin.")
    hasher = hashlib.sha256(canonical({key: value for key, value in description.items() if key != "backbone"}))
    for name in sorted(raw):
        hasher.update(name.encode() + b"\0" + raw[name])
    same = as_hash(content["weights"], "'weights'") == hasher.hexdigest()
    need(same, "The certificate was made for another network: the digest of the certified part differs.")
    same = as_hash(content["proofs_sha256"], "'proofs_sha256'") == hashlib.sha256(binary).hexdigest()
    need(same, "certificate.bin is not the file that certificate.json speaks of: its hash differs.")
    claims = as_list(content["claims"], "'claims'")
    need(bool(claims), "The certificate makes no claim.")
    entries, end, spent = [], 0, [0]
    for item in claims:
        body = {"cases"} if isinstance(item, dict) and "cases" in item else {"witness", "rows"}
        entry = as_object(item, {"claim", "claim_sha256"} | body, "An entry of 'claims'")
        described = as_object(entry["claim"], None, "A claim")
        as_object(described, CLAIM_KEYS | ({"either"} & set(described)), "A claim")
        digest = hashlib.sha256(canonical({**described, "sentence": ""})).hexdigest()
        same = as_hash(entry["claim_sha256"], "'claim_sha256'") == digest
        need(same, "A claim is not the one the certificate was made for: its hash differs.")
        common = [1]  # the least common multiple of all denominators so far
        claim = _claim(described, net, common)
        need(("cases" in body) == bool(claim.either), "A claim is proved by cases if and only if it has clauses.")
        if claim.either:
            cases, end = _cases(entry["cases"], claim, (), binary, end, net, common, spent)
            entries.append(Entry(claim, cases=cases))
        else:
            whole, end = _proofs(entry, claim, binary, end, net)
            entries.append(whole)
    need(end == len(binary), "certificate.bin has bytes that belong to no proof.")
    return tuple(entries)


def _proofs(entry: dict[str, Any], claim: Claim, binary: bytes, end: int, net: Net) -> tuple[Entry, int]:
    """The witness and the proofs of a claim without clauses; and where its last proof ends."""
    witness = tuple(
        tuple(as_float(v, "A number of the witness") for v in as_list(copy, "A copy of the witness"))
        for copy in as_list(entry["witness"], "'witness'")
    )
    shaped = len(witness) == claim.copies and all(len(copy) == len(net.domain.names) for copy in witness)
    need(shaped, "The witness is not one point of the domain per copy.")
    rows = as_list(entry["rows"], "'rows'")
    need(len(rows) == len(claim.rows()), "A claim does not have one proof per row of its conclusion.")
    proofs = []
    for item in rows:
        proof = _proof(item, binary, end, net)
        end += len(proof.nodes)
        proofs.append(_lemmas(proof, item["lemmas"], claim.copies, net) if "lemmas" in item else proof)
    return Entry(claim, witness, tuple(proofs)), end


# ∀ x ∈ X : x_ci ≤ θ or x_ci ≥ θ, so that the cases cover the premise; Σ λ_r (l_r − c_r) ≤ 0 has one l_r − c_r ≤ 0
def _cases(
    value: Any, claim: Claim, path: tuple[Row, ...], binary: bytes, end: int, net: Net, common: list[int],
    spent: list[int],
) -> tuple[tuple[Entry, ...], int]:  # fmt: skip
    """The cases of a tree, those below a threshold before those above; and where the last proof ends.

    `spent` counts what reading the claim again in every case costs: more than there may be is refused before the end.
    """
    node = as_object(value, None, "A node of 'cases'")
    if "at" in node:
        as_object(node, {"copy", "coordinate", "at", "below", "above"}, "A split of cases")
        copy = as_integer(node["copy"], 0, claim.copies - 1, "The copy of a split")
        i = as_integer(node["coordinate"], 0, len(net.domain.names) - 1, "The coordinate of a split")
        at, name = Fraction(as_float(node["at"], "A threshold")), net.domain.names[i]
        sides = [Row((Term(Fraction(sign), copy, False, i, name),), sign * at, False) for sign in (1, -1)]
        below, end = _cases(node["below"], claim, (*path, sides[0]), binary, end, net, common, spent)
        above, end = _cases(node["above"], claim, (*path, sides[1]), binary, end, net, common, spent)
        return below + above, end
    as_object(node, {"weights", "witness", "rows"}, "A case")
    spent[0] += claim.size
    need(spent[0] <= MOST_WORK, "The cases of the claims are more work to check than those of a certificate may be.")
    weights, rows = as_list(node["weights"], "'weights'"), list(claim.then)
    need(len(weights) == len(claim.either), "A case does not have weights for every clause.")
    shared = list(common)  # every case by itself has a common denominator with the claim
    for clause, item in zip(claim.either, weights, strict=True):
        mean = [_rational(w, shared) for w in as_list(item, "The weights of a clause")]
        need(len(mean) == len(clause), "A clause does not have one weight per row.")
        need(min(mean) >= 0 and sum(mean) == 1, "The weights of a clause are not those of a mean.")
        pairs = list(zip(mean, clause, strict=True))
        terms = tuple(Term(w * t.coef, t.copy, t.output, t.index, t.name) for w, row in pairs for t in row.terms)
        rows.append(Row(terms, sum((w * row.rhs for w, row in pairs), Fraction(0)), False))
    case, end = _proofs(node, replace(claim, then=tuple(rows), either=(), path=path), binary, end, net)
    return (case,), end


def _claim(data: dict[str, Any], net: Net, common: list[int]) -> Claim:
    k = as_integer(data["copies"], 1, 4, "The number of copies of a claim")
    need(data["others"] in ("equal", "free"), "'others' of a claim is neither 'equal' nor 'free'.")
    when = tuple(_row(item, k, net, common) for item in as_list(data["when"], "'when'"))
    then = tuple(_row(item, k, net, common) for item in as_list(data["then"], "'then'"))
    either = tuple(
        tuple(_row(row, k, net, common) for row in as_list(clause, "A clause of a claim"))
        for clause in (as_list(data["either"], "'either'") if "either" in data else ())
    )
    need("either" not in data or bool(either), "'either' of a claim is empty.")
    need(all(len(clause) > 1 for clause in either), "A clause has fewer than two rows.")
    need(not any(row.equality for clause in either for row in clause), "A clause has a row that is not <=.")
    need(bool(then) or bool(either), "A claim has no conclusion.")
    need(not any(t.output for row in when for t in row.terms), "A premise names an output.")
    names = {
        key: tuple(as_text(name, f"A name in {key!r}") for name in as_list(data[key], f"{key!r}"))
        for key in ("equal", "free")
    }
    for name in (*names["equal"], *names["free"]):
        need(name in net.domain.indices, f"A claim names {name!r}, which is no feature.")
    sentence = as_text(data["sentence"], "'sentence'")
    return Claim(k, when, then, data["others"], names["equal"], names["free"], sentence, either)


def _row(value: Any, copies: int, net: Net, common: list[int]) -> Row:
    row = as_object(value, {"terms", "op", "rhs"}, "A row of a claim")
    need(row["op"] in ("<=", "=="), "A row of a claim is neither <= nor ==.")
    terms = []
    for item in as_list(row["terms"], "'terms'"):
        need(len(as_list(item, "A term")) == 4, "A term is not [coefficient, copy, kind, name].")
        coef, copy, kind, name = item
        need(kind in ("in", "out"), "A term is neither of an input nor of an output.")
        as_text(name, "The name in a term")
        if kind == "out":
            called = net.outputs[0] if name == "" and len(net.outputs) == 1 else name
            found = tuple(o for o, output in enumerate(net.outputs) if output == called)
        else:
            found = net.domain.indices.get(name, ())
        need(len(found) == 1, f"A claim names {name!r}, which is not one input or output of the network.")
        copy = as_integer(copy, 0, copies - 1, "The copy of a term")
        terms.append(Term(_rational(coef, common), copy, kind == "out", found[0], name))
    return Row(tuple(terms), _rational(row["rhs"], common), row["op"] == "==")


def _rational(value: Any, common: list[int]) -> Fraction:
    need(isinstance(value, str) and RATIONAL.fullmatch(value) is not None, "A number of a claim is not a rational.")
    numerator, _, denominator = value.partition("/")
    need(denominator.strip("0") != "" or not denominator, "A number of a claim has the denominator zero.")
    out = Fraction(int(numerator), int(denominator or "1"))
    common[0] = math.lcm(common[0], out.denominator)
    need(common[0] < LARGEST_DENOMINATOR, "The denominators of a claim have too large a common multiple.")
    return out


def _proof(value: Any, binary: bytes, end: int, net: Net) -> Proof:
    """The proof of a row; its piece of the binary file must start at `end`."""
    rule: str = as_object(value, None, "The proof of a row").get("rule", "")
    if rule in ("sweep", "order", "signs"):
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
