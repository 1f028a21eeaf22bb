"""The fast checker of certificates: ``python -m smilenn.certify.check model/``, or this file alone, copied anywhere.

Implements docs/certificate.md (section numbers below are its own) with the standard library and integers only: every
float is a whole number times a power of two, so all numbers of one kind are brought to one scale, and what the rules
add, multiply and compare are whole numbers. `Fraction` serves where a number is computed once, never per leaf. Floats
are read from their bits or digits: the processor's own arithmetic, which may flush subnormal numbers, takes no part.

    >>> report = check_folder("no such folder")
    >>> report.status, report.exit_code
    ('unreadable', 2)

Scales, with 2^-e for weights, 2^-em for mult, 2^-ex for the domain and `x` for inputs of a row (thresholds included):

    weight W·mult  2^(e+em)     s  2^(e+em)·x     d  2^(2e+em)·x     κ  D·2^(e+f)     q  D·2^(2e+em+f)     ψ  q·x

D clears the denominators of the user's numbers, and f = max(e, bits) makes room for slopes in multiples of 2^-bits;
with lemmas it is max(e, bits + 24), for y in multiples of 2^-24 times numbers in multiples of 2^-bits.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property, cmp_to_key, lru_cache, reduce
from itertools import islice
from operator import le, mul, or_, sub
from typing import Any

MIB = 1 << 20
NODES, WORK = 1 << 24, 1 << 31
ROW, NODE = 8, 16  # units of work per input of a row and per node
ENCODING, COORDINATE = 4, 256  # units of work per number of an encoder and per coordinate, for every claim
DIGITS = 1 << 10  # binary digits of a coordinate that these cover
READING, WORDS = 64, 32  # units per number of a claim that a case reads anew, and binary digits that take one more
LEAVES = 256  # of a tree whose leaves are compared pair by pair
LAYERS, SIZE = 64, 1 << 30  # layers of a branch of an encoder; the largest size that may stand in model.json
DENOMINATOR, BITS = 10**1000, 1 << 17  # limits on the common denominators of a claim and of its bounds
LEMMAS = 1 << 22  # slopes h that the lemmas of a row may have in all
USES = 24  # y, how often a leaf uses a lemma, is a multiple of 2^-24
ALL = 255  # the copy byte of splits that concern all copies
LONG, STEEP = 1 << 11, 1 << 9  # binary digits of inputs and of slopes that a unit of work covers
FINE = 100  # SQRT and UP are multiples of 2^-100
GRID, BROAD = 40, 20  # weights of a contraction are multiples of 2^-40 below 2^20, its balance below 2^40
TOGETHER = 128  # columns of a contraction that share packed rows
FILES = ("model.json", "weights.safetensors", "certificate.json", "certificate.bin")
PROPERTIES = "properties.json"  # compared with the certificate's claims, where it is listed
META = "__metadata__"  # an entry of a safetensors header that is not a tensor
FIRST_PINNED = "a pinned module of version 1 may give equal rows unequal bits; certify the model again"
EXIT = {"certified": 0, "refused": 1, "unreadable": 2, "unknown": 3}
Ints = list[int]
Whole = Sequence[int]
Lemma = tuple[int, tuple[int, ...], list[tuple[int, ...]], tuple[int, ...]]  # unit, β, θ of every subset, h


class CheckError(Exception):
    """Why a folder is not accepted; the only error raised here."""

    status = "refused"


class UnreadableError(CheckError):
    """Something is missing or cannot be parsed."""

    status = "unreadable"


def need(condition: object, reason: str) -> None:
    """Refuse unless `condition` holds."""
    if not condition:
        raise CheckError(reason)


# ---- the answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowReport:
    """One row ``left ≤ rhs``: its left side is at most bound + margin; `room` is granted for rounding. All exact."""

    text: str
    rule: str
    bound: Fraction
    margin: Fraction
    rhs: Fraction
    room: Fraction = Fraction(0)

    @property
    def excess(self) -> Fraction:
        """By how much the row may be violated."""
        return self.bound + self.margin - self.rhs

    @property
    def holds(self) -> bool:
        """Whether the row is certified, up to its room."""
        return self.excess <= self.room


@dataclass(frozen=True)
class ClaimReport:
    """A claim as the checker reads it; `sentence` is the text stored beside it, which nobody has checked."""

    formula: str
    sentence: str
    rows: tuple[RowReport, ...]


@dataclass(frozen=True)
class Report:
    """What the checker found: status ``certified``, ``unknown`` (checked, but a bound is too large), ``refused`` or
    ``unreadable``; `certificate` is the SHA-256 of certificate.json, `domain` the inputs in the user's units, `meaning`
    what the outputs are, as stored under the digest; `version` that of the files.
    """

    status: str
    reason: str = ""
    certificate: str = ""
    profile: str = ""
    domain: tuple[str, ...] = ()
    claims: tuple[ClaimReport, ...] = ()
    version: int = 2
    meaning: tuple[str, ...] = ()
    manifest: str = ""  # the digest of the manifest that was read

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused, 2 unreadable, 3 unknown."""
        return EXIT[self.status]

    @property
    def excess(self) -> Fraction | None:
        """The checked bound on the violation over all rows; None if nothing was checked."""
        return max((row.excess for claim in self.claims for row in claim.rows), default=None)

    def to_json(self) -> dict[str, Any]:
        """The report for other programs; numbers are fractions in hexadecimal."""

        def printed(row: RowReport) -> dict[str, Any]:
            return {key: v if isinstance(v, str) else hexadecimal(v) for key, v in vars(row).items()}

        claims = [{**vars(claim), "rows": [printed(row) for row in claim.rows]} for claim in self.claims]
        return {**vars(self), "claims": claims}

    def lines(self) -> list[str]:
        """The report as text; names and sentences of the files cannot break lines or move the cursor."""
        return ["".join(c if c.isprintable() else repr(c)[1:-1] for c in line) for line in self._lines()]

    def _lines(self) -> list[str]:
        if self.excess is None:
            return [f"{self.status}: {self.reason}"]
        files = "" if self.version == 2 else f"version {self.version}, "
        out = [f"{self.status} ({files}profile {self.profile}, certificate {self.certificate[:16]}…)"]
        out += ["inputs X:", *(f"  {line}" for line in self.domain)]
        out += ["outputs, as stored:", *(f"  {quoted(text)}" for text in self.meaning)] if self.meaning else []
        for number, claim in enumerate(self.claims, 1):
            out.append(f"claim {number}: {claim.formula}")
            out += [f"  comment, not checked: {quoted(claim.sentence)}"] if claim.sentence else []
            out += [f"  {row_line(row)}" for row in claim.rows]
        if self.status == "unknown":
            out.append(f"not certified: checked bound on the violation {decimal(self.excess)}")
        return out


def check_folder(path: str | os.PathLike[str]) -> Report:
    """Check the certificate of a model folder; every failure is in the report, nothing is raised."""
    try:
        return _check(os.fspath(path))
    except CheckError as error:
        return Report(error.status, str(error))


def _check(folder: str) -> Report:
    version, files = read_folder(folder)
    model = parse(files["model.json"], "model.json")
    net = Net(model, Weights(files["weights.safetensors"]))
    content, data = parse(files["certificate.json"], "certificate.json"), files["certificate.bin"]
    of = "model" if version == 2 else "weights"
    keys = {"format", "version", "profile", of, "proofs", "proofs_sha256", "claims"}
    need(isinstance(content, dict) and content.get("format") == "smilenn-certificate", "this is not a certificate")
    need(is_int(content.get("version")) and content["version"] == version, "the certificate has another version")
    need(set(content) == keys, "the certificate has missing or unknown keys")
    need(content["profile"] == net.profile, "the certificate is for another numeric profile than the model's")
    need(content["proofs"] == "certificate.bin", "the certificate names another file of proofs")
    need(content["proofs_sha256"] == sha256(data), "certificate.bin is not the file of this certificate")
    digest = net.digest(model) if version == 2 else net.first_digest(files["model.json"])
    need(content[of] == digest, "the certificate belongs to another model: the weights differ")
    need(version == 2 or not net.weights.loose, FIRST_PINNED)
    need(isinstance(content["claims"], list) and content["claims"], "the certificate holds no claims")
    if PROPERTIES in files:
        compare_claims(parse(files[PROPERTIES], PROPERTIES), content["claims"])
    claims, reader = [], Reader(data)
    reader.work -= net.encoder.once if net.encoder else 0
    for entry in content["claims"]:
        claims.append(check_claim(net, entry, reader, version))
    need(reader.end == len(data), "certificate.bin holds bytes that no row uses")
    good = all(row.holds for claim in claims for row in claim.rows)
    status, name = "certified" if good else "unknown", sha256(files["certificate.json"])
    meaning = net.meaning(model) if version == 2 else ()
    manifest = parse(files.get("manifest.json", b"{}"), "manifest.json").get("digest", "")
    return Report(status, "", name, net.profile, tuple(net.given.lines), tuple(claims), version, meaning, manifest)


# ---- 6. files -------------------------------------------------------------------------------------------------------


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_file(folder: str, name: str) -> bytes:
    """A regular file, no link to one, within the limits on sizes."""
    path, limit = os.path.join(folder, name), 64 * MIB if name.endswith(".json") else 1024 * MIB
    flags = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise UnreadableError(f"{name} is not a regular file")
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableError(f"{name} is not a regular file")
            data = file.read(min(limit, status.st_size) + 1)  # so much memory is taken before a byte is read
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > limit:
        raise UnreadableError(f"{name} is too large")
    return data


def parse(data: bytes, name: str) -> Any:
    """Strict JSON; a number with a point or an exponent becomes a `Real`, any other an `int`."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            raise ValueError("a key appears twice")
        return out

    def constant(text: str) -> Any:
        raise ValueError(f"{text} is not a number")

    def integer(text: str) -> int:
        if len(text) > 400 or abs(value := int(text)) >= OVERFLOW:
            raise ValueError("a number is too long or too large")
        return value

    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant, parse_float=real, parse_int=integer
        )
        level, depth = [value], 0
        while level := [v for v in level if isinstance(v, (list, dict))]:
            depth += 1
            if depth > 64:
                raise ValueError("it is nested too deeply")
            level = [inner for v in level for inner in (v.values() if isinstance(v, dict) else v)]
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{name} is not readable JSON: {error}") from None
    return value


def encoded(value: Any) -> bytes:
    """§6: the bytes of a JSON value of which digests are taken."""
    if value is None or isinstance(value, bool):
        return {None: b"n", True: b"t", False: b"f"}[value]
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, Real):
        return b"d%016x" % value.bits
    if isinstance(value, str):
        data = utf8(value)
        return b"s%d:%s" % (len(data), data)
    if isinstance(value, list):
        return b"[%s]" % b"".join(map(encoded, value))
    entries = sorted((utf8(key), encoded(key) + encoded(entry)) for key, entry in value.items())
    return b"{%s}" % b"".join(entry for _, entry in entries)


def utf8(text: str, what: str = "a text") -> bytes:
    """A text's bytes."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise CheckError(f"{what} holds half a character") from None


def is_int(value: object) -> bool:
    """A whole number of JSON; `true` is none."""
    return type(value) is int


def is_texts(value: object) -> bool:
    """A list of texts."""
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def is_sizes(value: object) -> bool:
    """A list of whole numbers ≥ 0."""
    return isinstance(value, list) and all(is_int(v) and v >= 0 for v in value)


def is_object(value: object, *keys: str) -> bool:
    """A JSON object with exactly these keys."""
    return isinstance(value, dict) and len(value) == len(keys) and all(map(value.__contains__, keys))


def read_folder(folder: str) -> tuple[int, dict[str, bytes]]:
    """The version and the files of §6, with the manifest, after all that it lists have shown their hashes."""
    text = read_file(folder, "manifest.json")
    manifest = parse(text, "manifest.json")
    need(isinstance(manifest, dict) and manifest.get("format") == "smilenn-model", "manifest.json is not a manifest")
    version: Any = manifest.get("version")
    need(is_int(version) and version in (1, 2), "the model folder has another version")
    listed: Any = manifest.get("files")
    need(isinstance(listed, dict), "manifest.json lists no files")
    for name, entry in listed.items():
        need((plain if version == 2 else printable)(name), f"{quoted(name)} is not a plain file name")
        good = is_object(entry, "sha256", "bytes") and is_int(entry["bytes"]) and isinstance(entry["sha256"], str)
        need(good, f"the manifest's entry of {name} is malformed")
    if version == 2:
        good = is_object(manifest, "format", "version", "library", "files", "digest")
        need(good and isinstance(manifest["library"], str), "manifest.json has missing or unknown keys")
        digest = manifest_digest(listed)
    else:
        digest = first_manifest_digest(text)
    need(manifest.get("digest") == digest, "manifest.json was altered: its digest differs")
    files, wanted = {}, (*FILES, *((PROPERTIES,) if version == 2 else ()))
    for name, entry in listed.items():
        data = read_file(folder, name)
        need(len(data) == entry["bytes"] and sha256(data) == entry["sha256"], f"{name} was altered: hash differs")
        if name in wanted:
            files[name] = data
    for name in FILES:
        if name not in files:
            raise UnreadableError(f"the folder has no {name}")
    return version, {**files, "manifest.json": text}


def plain(name: str) -> bool:
    """Whether a manifest may list a file of this name."""
    own = ("manifest.json", "signature.json")
    return re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", name) is not None and name not in own


def manifest_digest(listed: dict[str, Any]) -> str:
    """§6: a line for every file, in the order of names."""
    lines = [f"{listed[name]['sha256']} {listed[name]['bytes']} {name}" for name in sorted(listed)]
    return sha256(utf8("".join(f"{line}\n" for line in ("smilenn-model 2", *lines))))


def compare_claims(properties: Any, entries: list[Any]) -> None:
    """The claims of properties.json are those of the certificate; comments do not count."""
    listed: Any = properties.get("claims") if isinstance(properties, dict) else None
    proved = [entry.get("claim") if isinstance(entry, dict) else None for entry in entries]
    need(isinstance(listed, list), "properties.json lists no claims")
    both = [[{**c, "sentence": ""} if isinstance(c, dict) else c for c in claims] for claims in (listed, proved)]
    need(encoded(both[0]) == encoded(both[1]), "the certificate holds other claims than properties.json")


# ---- 7. version 1 ---------------------------------------------------------------------------------------------------


def printable(name: str) -> bool:
    """Whether a manifest of version 1 may list a file of this name."""
    return name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\:")


def first_manifest_digest(text: bytes) -> str:
    """As Python prints the manifest; a float of it, which a digest cannot need, is printed like any other."""
    body = {key: value for key, value in json.loads(text).items() if key != "digest"}
    return sha256(utf8(json.dumps(body, sort_keys=True, ensure_ascii=False), "manifest.json"))


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


# ---- safetensors ----------------------------------------------------------------------------------------------------


def tensors_of(data: bytes) -> tuple[dict[str, tuple[str, Ints]], dict[str, bytes]]:
    """Types and shapes, and the raw data of the tensors outside the backbone; the layout has no gap or overlap."""

    def readable(condition: bool, reason: str) -> None:
        if not condition:
            raise UnreadableError(f"weights.safetensors is not readable: {reason}")

    size = int.from_bytes(data[:8], "little")
    readable(size <= min(16 * MIB, len(data) - 8), "it is truncated or its header too large")
    header, body = parse(data[8 : 8 + size], "the header of weights.safetensors"), memoryview(data)[8 + size :]
    readable(isinstance(header, dict), "its header is not a table")
    places = []
    for name, e in header.items():
        if name != META:
            good = is_object(e, "dtype", "shape", "data_offsets") and isinstance(e["dtype"], str)
            good = good and is_sizes(e["shape"]) and is_sizes(e["data_offsets"]) and len(e["data_offsets"]) == 2
            readable(good, "the entry of a tensor is malformed")
            places.append((*e["data_offsets"], name))
    kinds, raw, end = {}, {}, 0
    for start, stop, name in sorted(places):
        readable(end == start <= stop, "tensors overlap or leave gaps")
        end = stop
        if not name.startswith("backbone."):
            kinds[name], raw[name] = (header[name]["dtype"], header[name]["shape"]), bytes(body[start:stop])
    readable(end == len(body), "bytes are missing or left over")
    return kinds, raw


# ---- 1. and 2. the network ------------------------------------------------------------------------------------------


OVERFLOW = (1 << 1024) - (1 << 970)  # what is not below it rounds to no float
HIDDEN, FRACTION = 1 << 52, (1 << 52) - 1  # the leading bit of a float, which is not stored, and those that are


class Real(Fraction):
    """A float of a JSON file: its exact value, its IEEE 754 bits and its digits as they stand in the file."""

    __slots__ = ("bits", "text")
    bits: int
    text: str


def real(text: str) -> Real:
    """The float nearest to a decimal number, by whole numbers."""
    mantissa, _, power = text.lstrip("-").lower().partition("e")
    before, _, after = mantissa.partition(".")
    digits, ten = int(before + after), int(power or "0") - len(after)
    size = len(str(digits)) + ten  # digits before the point
    n, e = 0, -1074
    if digits and -330 < size <= 310:  # below that it rounds to zero, above that to no float
        n, e = nearest(digits * 10 ** max(ten, 0), 10 ** max(-ten, 0))
    if len(text) > 400 or (digits and size > 310) or n.bit_length() + e > 1024:
        raise ValueError("a number is too long or too large")
    value = Fraction(n << max(e, 0), 1 << max(-e, 0))
    out = Real(-value if text[0] == "-" else value)
    field = e + 1075 if n >= HIDDEN else 0
    out.bits = (text[0] == "-") << 63 | field << 52 | n & FRACTION
    out.text = text
    return out


def nearest(n: int, d: int) -> tuple[int, int]:
    """The float m·2^e nearest to n/d > 0, m < 2^53, halves to even; e may be too large for one."""
    e = max(n.bit_length() - d.bit_length() - 53, -1074)
    while True:
        over = d << max(e, 0)
        m, rest = divmod(n << max(-e, 0), over)
        if m < 1 << 53:
            break
        e += 1
    m += 2 * rest > over or (2 * rest == over and m % 2)
    return (m >> 1, e + 1) if m == 1 << 53 else (m, e)


def fl(value: Fraction) -> Fraction:
    """The float nearest to a number, as an exact one."""
    if not value:
        return value
    m, e = nearest(abs(value.numerator), value.denominator)
    return Fraction((m if value > 0 else -m) << max(e, 0), 1 << max(-e, 0))


def decoded(data: bytes) -> tuple[Ints, int] | None:
    """Floats from their bits as whole numbers over one 2^e, e ≥ 0 as small as can be; None if one is not finite.

    The exponent field f and the fraction m of a float stand for (m + 2^52)·2^(f − 1075), for m·2^-1074 where f = 0.
    """
    words = array("Q", data)
    if sys.byteorder == "big":
        words.byteswap()
    fields = [word >> 52 & 2047 for word in words]
    if 2047 in fields:
        return None
    least = max(1, min(fields, default=1))
    sizes = [
        (word & FRACTION) + (HIDDEN if field else 0) << (field or 1) - least
        for word, field in zip(words, fields, strict=True)
    ]
    bits = reduce(or_, sizes, 0)
    spare = 1075 - least  # the sizes are to be read times 2^-spare
    by = min(spare, (bits & -bits).bit_length() - 1) if bits else spare
    values = [size >> by for size in sizes] if by >= 0 else [size << -by for size in sizes]
    return [-value if word >> 63 else value for word, value in zip(words, values, strict=True)], spare - by


def exponent(values: Iterable[Fraction]) -> int:
    """The least e ≥ 0 such that all values are whole numbers times 2^-e."""
    return max((v.denominator for v in values), default=1).bit_length() - 1


def whole(value: Fraction, scale: int) -> int:
    """value·scale, a whole number."""
    return value.numerator * scale // value.denominator


def integers(values: Sequence[Fraction]) -> tuple[Ints, int]:
    """The values as whole numbers over one denominator."""
    common = math.lcm(*(v.denominator for v in values))
    return [v.numerator * (common // v.denominator) for v in values], common


def dot(a: Iterable[int], b: Iterable[int]) -> int:
    """Σ a_i·b_i."""
    return sum(map(mul, a, b))


@dataclass(frozen=True)
class Scale:
    """The scaler u = mult·(x − shift) of one coordinate (§5.1)."""

    u: tuple[Fraction, Fraction]  # û_lo, û_hi
    far: Fraction  # D, the largest |x − shift|
    size: Fraction  # U, the largest |u|
    error: Fraction  # e_u
    dips: tuple[Fraction, Fraction]  # by how much û_lo and û_hi lie inside the exact ends, if they do
    gap: list[tuple[Fraction, Fraction]]  # size and error of u − û_lo and û_hi − u


@lru_cache(maxsize=1 << 12)  # the pixels of an image are all alike
def scaler(lo: Fraction, hi: Fraction, shift: Fraction, factor: Fraction) -> Scale:
    """The scaler of a coordinate in [lo, hi]; `factor` is mult."""
    low, high = lo - shift, hi - shift
    u, far = (fl(fl(low) * factor), fl(fl(high) * factor)), max(-low, high)
    need(far < HUGE and max(map(abs, u)) < HUGE, "the domain may overflow")
    size, error = far * factor, Fraction(0)
    if shift != 0 or factor != 1:
        error = ((1 + U) ** 2 - 1) * size + 2 * ETA * (1 + factor + far)
    dips = max(Fraction(0), u[0] - low * factor), max(Fraction(0), high * factor - u[1])
    sizes = [size + abs(end) for end in u]
    return Scale(u, far, size, error, dips, [(v, error + U * (v + error) + ETA) for v in sizes])


Coordinate = tuple[str, Fraction, Fraction, Fraction, Fraction, bool]


class Space:
    """Coordinates (name, lo, hi, shift, mult, whole-valued) with the groups among them."""

    def __init__(self, coordinates: list[Coordinate], groups: list[range]) -> None:
        names, self.lo, self.hi, self.shift, self.mult, self.whole = zip(*coordinates, strict=True)
        self.m, self.groups, self.grouped = len(names), groups, {i for group in groups for i in group}
        self.index = {name: i for i, name in enumerate(names)}
        need(len(self.index) == self.m, "two coordinates have the same name")
        self.coordinates, self.scale = coordinates, [scaler(*c[1:5]) for c in coordinates]


class Domain(Space):
    """The inputs: features by name, each with its coordinates, and a line of text for each."""

    def __init__(self, domain: Any) -> None:
        need(is_object(domain, "features") and isinstance(domain["features"], list), "the domain is malformed")
        need(domain["features"], "the domain has no features")
        self.features: dict[str, range] = {}
        self.lines: list[str] = []
        coordinates, groups = [], []
        known = {"name", "kind", "lo", "hi", "categories", "columns", "shift", "mult", "unit"}
        for f in domain["features"]:
            need(isinstance(f, dict) and {"name", "kind", "lo", "hi"} <= set(f) <= known, "a feature is malformed")
            name, kind, values, columns = f["name"], f["kind"], f.get("categories", []), f.get("columns", [])
            unit = f.get("unit", "")
            need(isinstance(name, str) and name and isinstance(unit, str), "a feature has no name")
            need(kind in ("continuous", "integer", "binary", "category"), f"{name} has an unknown kind")
            lo, hi, _, mult = box = (f["lo"], f["hi"], f.get("shift", real("0.0")), f.get("mult", real("1.0")))
            need(all(isinstance(v, Real) for v in box), f"{name} has bounds or scales that are not floats")
            need(lo <= hi and mult > 0, f"{name} has an empty range or a scale that is not positive")
            need(kind != "integer" or lo.denominator == hi.denominator == 1, f"{name} has bounds that are not whole")
            need(kind in ("continuous", "integer") or box == (0, 1, 0, 1), f"{name} is not a 0/1 input")
            need(is_texts(values) and is_texts(columns), f"{name} has malformed categories")
            enough = {"category": bool(values), "binary": len(values) in (0, 2)}.get(kind, not values)
            need(enough and len(set(values)) == len(values), f"{name} has malformed categories")
            need(len(columns) in (0, len(values)) and (kind == "category" or not columns), f"{name}: columns")
            own = (columns or [f"{name}={v}" for v in values]) if kind == "category" else [name]
            need(name not in self.features, f"two features are called {name}")
            self.features[name] = range(len(coordinates), len(coordinates) + len(own))
            groups += [self.features[name]] if kind == "category" else []
            coordinates += [(one, *box, kind != "continuous") for one in own]
            what = f"one of {', '.join(map(quoted, own))}" if kind == "category" else f"in [{lo.text}, {hi.text}]"
            what = f"0 for {quoted(values[0])}, 1 for {quoted(values[1])}" if kind == "binary" and values else what
            self.lines.append(f"{quoted(name)} {what}{' ' if unit else ''}{quoted(unit) if unit else ''} ({kind})")
        super().__init__(coordinates, groups)

    def lookup(self, name: str) -> Sequence[int]:
        """Coordinates of a feature, or one coordinate by its own name."""
        found = self.features.get(name) or ([self.index[name]] if name in self.index else [])
        need(found, f"there is no input {name!r}")
        return found


class Weights:
    """weights.safetensors: tensors that were asked for by name and shape, and whether these are all."""

    def __init__(self, data: bytes) -> None:
        self.kinds, self.raw = tensors_of(data)
        self.asked: set[str] = set()
        self.count = 0  # numbers of the tensors that were asked for
        self.loose: tuple[str, ...] = ()  # how names of tensors begin that are nobody's business

    def numbers(self, name: str, shape: Ints) -> tuple[Ints, int]:
        """A float64 tensor of this shape as whole numbers over one 2^e."""
        need(self.kinds.get(name) == ("F64", shape), f"{name} is missing, or has another type or shape")
        need(len(self.raw[name]) == 8 * math.prod(shape), f"{name} has another size than its shape")
        found = decoded(self.raw[name])
        if found is None:
            raise CheckError(f"{name} is not finite")
        self.asked.add(name)
        self.count += len(found[0])
        return found

    def fractions(self, name: str, shape: Ints) -> list[Fraction]:
        """A float64 tensor of this shape, number by number."""
        values, e = self.numbers(name, shape)
        return [Fraction(value, 1 << e) for value in values]

    def certified(self) -> list[str]:
        """Names of the tensors that were asked for, in order; others are not allowed."""
        names = sorted(name for name in self.raw if not name.startswith(self.loose))
        need(set(names) == self.asked, "weights.safetensors has unknown tensors")
        return names


class Net:
    """The certified part in integers: s_j, lower, second (and d = second − lower) as functions of raw inputs."""

    t: dict[str, list[Ints]]  # tensors by name, times 2^e; a vector is one row

    def __init__(self, model: Any, weights: Weights) -> None:
        net: Any = model.get("net") if isinstance(model, dict) else None
        need(isinstance(net, dict), "model.json describes no network")
        keys = "domain boxes auxiliaries hidden skip embedding outputs output_scale profile grid backbone"
        need(is_object(net, *keys.split(), *({"encoder"} & set(net))), "the network has missing or unknown parts")
        self.sizes(net)
        self.arithmetic(net)
        self.outside(net)
        self.weights = weights
        self.given = Domain(net["domain"])
        self.encoder = Encoder(self.given, net["encoder"], weights) if "encoder" in net else None
        need(self.encoder is None or self.profile != "dyadic", "a dyadic network has no encoder")
        self.space = self.encoder or self.given
        self.m = self.space.m
        self.tensors(self.shapes(net["auxiliaries"], net["skip"]))
        self.widen()
        self.assemble()
        self.rounding = margins(self)  # E_o

    def sizes(self, net: dict[str, Any]) -> None:
        """Boxes, auxiliaries and their sizes, as model.json describes them."""
        need(net["boxes"] in ("gap", "paper"), "unknown boxes")
        need(net["auxiliaries"] in ("constant", "affine", "relu"), "unknown auxiliaries")
        need(is_int(net["embedding"]) and 1 <= net["embedding"] <= SIZE, "embedding is not a positive whole number")
        need(is_int(net["hidden"]) and 0 <= net["hidden"] <= SIZE, "hidden is not a whole number, or too large")
        need(isinstance(net["skip"], bool), "skip is neither true nor false")
        need(net["auxiliaries"] != "relu" or net["hidden"] >= 1, "hidden is not a positive whole number")
        self.paper, self.n = net["boxes"] == "paper", net["embedding"]
        self.hidden = net["hidden"] if net["auxiliaries"] == "relu" else 0

    def arithmetic(self, net: dict[str, Any]) -> None:
        """The numeric profile, and the grid of profile dyadic."""
        self.profile, self.grid = net["profile"], net["grid"]
        need(self.profile in ("f64-aux", "fixed-order", "dyadic"), "unknown numeric profile")
        need(is_int(self.grid), "grid is malformed")
        need(1 <= self.grid <= 52 if self.profile == "dyadic" else self.grid == 0, "grid does not suit the profile")

    def outside(self, net: dict[str, Any]) -> None:
        """The outputs by name, and the powers of two they are multiplied by."""
        self.outputs, self.scales = net["outputs"], net["output_scale"]
        need(is_texts(self.outputs) and len(set(self.outputs)) == len(self.outputs) >= 1, "outputs need unique names")
        need(isinstance(self.scales, list) and len(self.scales) == len(self.outputs), "output_scale is malformed")
        for s in self.scales:
            good = isinstance(s, Real) and s >= Fraction(1, 1 << 1022) and s == power_below(s)
            need(good, "output_scale is not a power of two")
        self.o = len(self.outputs)

    def shapes(self, kind: str, skip: bool) -> dict[str, Ints]:
        """The tensors that a network of this kind has, by name."""
        n, m, o, h = self.n, self.m, self.o, self.hidden
        shapes = {"lower.const": [n], "second.const": [n], "head_weight": [o, n], "head_bias": [o]}
        for part in ("lower.", "second."):
            if (kind == "affine" or skip) and (self.paper or part == "lower."):
                shapes[part + "slope"] = [n, m]
            if h:
                shapes |= {part + "weight": [h, m], part + "bias": [h], part + "out": [n, h]}
        if kind == "affine" and not self.paper and self.encoder is None:
            shapes |= {"second.rise": [n, m], "second.fall": [n, m]}
        return shapes

    def tensors(self, shapes: dict[str, Ints]) -> None:
        """All tensors as whole numbers, times one 2^e; gaps must not be negative."""
        read = {name: self.weights.numbers(name, shape) for name, shape in shapes.items()}
        gap = [f"second.{part}" for part in ("const", "rise", "fall", "out")]
        signed = [read[name][0] for name in gap if name in shapes]
        need(self.paper or all(v >= 0 for part in signed for v in part), "a gap is negative: the box could flip")
        self.zero_gap = not self.paper and not any(map(any, signed))
        self.names = self.weights.certified()
        self.e, self.t = max(e for _, e in read.values()), {}
        for name, shape in shapes.items():
            (values, e), width = read[name], shape[-1]
            flat = [v << self.e - e for v in values]
            self.t[name] = [flat[i : i + width] for i in range(0, len(flat), width)]

    def digest(self, model: dict[str, Any]) -> str:
        """§6: the SHA-256 of the certified part."""
        net = {key: value for key, value in model["net"].items() if key != "backbone"}
        digest = hashlib.sha256(encoded({"net": net, "table": model.get("table")}))
        for name in sorted(self.names, key=utf8):
            data = self.weights.raw[name]
            digest.update(b"%sb%d:%s" % (encoded(name), len(data), data))
        return digest.hexdigest()

    def first_digest(self, model: bytes) -> str:
        """§7: the SHA-256 of the certified part in version 1, which takes Python's way of printing floats."""
        net = json.loads(model)["net"]
        digest = hashlib.sha256(canonical({key: value for key, value in net.items() if key != "backbone"}))
        for name in self.names:
            digest.update(name.encode() + b"\0" + self.weights.raw[name])
        return digest.hexdigest()

    def meaning(self, model: dict[str, Any]) -> tuple[str, ...]:
        """What the outputs are, in the words of the table; the digest covers them, nobody has checked them."""
        table = model.get("table", {})
        need(isinstance(table, dict), "the table of model.json is malformed")
        words = table.get("meaning", [])
        need(
            "meaning" not in table or (is_texts(words) and len(words) == self.o), "the meaning of outputs is malformed"
        )
        return tuple(words)

    def widen(self) -> None:
        """§5.3: how far the network's rounded inputs x̂ lie from x, and which of them are whole."""
        self.omega = [Fraction(0)] * self.m
        for i, (_, _, _, shift, mult, steps) in enumerate(self.space.coordinates if self.grid else ()):
            if not (steps and shift == 0 and mult == 1):
                self.omega[i] = Fraction(1, 1 << self.grid) / power_below(mult)
        self.steps = [w and not omega for w, omega in zip(self.space.whole, self.omega, strict=True)]

    def lower(self) -> list[Ints]:
        """Weights of each coordinate of lower: on the inputs, if it has slopes, and on its hidden units."""
        none: list[Ints] = [[]] * self.n
        return [a + v for a, v in zip(self.t.get("lower.slope", none), self.t.get("lower.out", none), strict=True)]

    def assemble(self) -> None:
        """Functions of raw inputs: slopes at 2^(e+em), constants at 2^(e+em+ex), outputs of hidden units at 2^e."""
        h, t, none, zeros, space = self.hidden, self.t, [0] * self.m, [0] * self.hidden, self.space
        ends = [[scale.u[side] for scale in space.scale] for side in (0, 1)]
        self.em = exponent(space.mult)
        self.ex = max(*map(exponent, (space.shift, *ends)), *(v.denominator.bit_length() - 1 for v in self.omega))
        mult = self.mult = [whole(v, 1 << self.em) for v in space.mult]
        shift, u_lo, u_hi = ([whole(v, 1 << self.ex) for v in values] for values in (space.shift, *ends))

        def affine(slope: Ints, const: int) -> tuple[Ints, int]:
            """Slopes on u = mult·(x − shift) and a constant, as a function of x."""
            scaled = list(map(mul, slope, mult))
            return scaled, (const << self.em + self.ex) - dot(scaled, shift)

        lines = [
            affine(line, bias)
            for part in (("lower.", "second.") if h else ())
            for line, bias in zip(t[part + "weight"], t[part + "bias"][0], strict=True)
        ]
        self.units, self.weight, self.offset = len(lines), [line for line, _ in lines], [bias for _, bias in lines]
        self.aux: list[list[tuple[Ints, int, Ints]]] = []  # of lower and second: slopes, constant, outputs
        for part in ("lower.", "second."):
            self.aux.append([])
            for i, const in enumerate(t[part + "const"][0]):
                out = t[part + "out"][i] if h else []
                slope, extra = t[part + "slope"][i] if part + "slope" in t else none, 0
                if part + "rise" in t:  # rise·(u − û_lo) + fall·(û_hi − u)
                    rise, fall = t["second.rise"][i], t["second.fall"][i]
                    slope, extra = list(map(sub, rise, fall)), dot(fall, u_hi) - dot(rise, u_lo)
                scaled, c = affine(slope, const)
                self.aux[-1].append((scaled, c + (extra << self.em), out + zeros if part == "lower." else zeros + out))
        pairs = zip(*self.aux, strict=True) if self.paper else ()
        self.flips = [(list(map(sub, b[0], a[0])), b[1] - a[1], list(map(sub, b[2], a[2]))) for a, b in pairs]


def power_below(value: Fraction) -> Fraction:
    """The largest power of two that is not above a positive number."""
    by = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(1 << max(by, 0), 1 << max(-by, 0))
    return power if power <= value else power / 2


# ---- 1. and 3.1 encoders ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """A coordinate in all copies: its range, the range of its difference, whether it certainly rises and falls."""

    lo: Fraction
    hi: Fraction
    low: Fraction
    high: Fraction
    rises: bool
    falls: bool


def settled(lo: Fraction, hi: Fraction, low: Fraction, high: Fraction, rises: bool, falls: bool) -> Spread:
    """Differences cut by what is certain."""
    need(lo > -HUGE and hi < HUGE, "the encoder may overflow")
    low = Fraction(0) if rises else max(min(low, Fraction(0)), lo - hi)
    high = Fraction(0) if falls else min(max(high, Fraction(0)), hi - lo)
    fine = max(v.denominator.bit_length() for v in (lo, hi, low, high)) <= 1 << 13
    need(fine, "the ranges of the encoder's layers need numbers of too many bits")
    return Spread(lo, hi, low, high, rises, falls)


class Encoder(Space):
    """Branches of layers, and e as a space: `source` has the input that a coordinate passes on, or None; `place` says
    where an input that passes has gone.
    """

    def __init__(self, given: Domain, branches: Any, weights: Weights) -> None:
        need(isinstance(branches, list) and branches, "the encoder has no branches")
        self.given, self.weights, self.effort, self.once, self.left = given, weights, 0, 0, WORK
        self.source: list[int | None] = []
        self.branches: list[tuple[Ints, list[dict[str, Any]]]] = []
        names, features, taken, groups = [], [], set(given.features), []
        spans = {span[0]: (f, span) for f, span in given.features.items()}
        sizes = {group[0]: len(group) for group in given.groups}
        for b, branch in enumerate(branches):
            need(is_object(branch, "name", "columns", "layers"), "a branch of the encoder is malformed")
            name, columns, layers = branch["name"], branch["columns"], branch["layers"]
            need(isinstance(name, str) and isinstance(layers, list) and is_sizes(columns), "a malformed branch")
            need(columns and max(columns) < given.m, "a branch reads no such input")
            need(len(set(columns)) == len(columns), "a branch reads an input twice")
            if layers:
                need(name not in taken, "a branch needs a name of its own")
                taken.add(name)
                layers, width = self.read_layers(f"encoder.branches.{b}.layers.", layers, len(columns))
                own = features_of = [f"{name}.{i}" for i in range(width)]
                self.source += [None] * width
            else:
                passed = [spans[i] for i in sorted(columns) if i in spans]
                need(columns == [i for _, span in passed for i in span], "a branch passes parts of features on")
                own, features_of = [""] * len(columns), [f for f, _ in passed]  # they keep the names of the domain
                starts = [(at, sizes[i]) for at, i in enumerate(columns, len(names)) if i in sizes]
                groups += [range(start, start + size) for start, size in starts]
                self.source += columns
            names += own
            features += features_of
            self.branches.append((columns, layers))
        need(len(set(features)) == len(features), "two features of the encoder have one name")
        self.place = {i: at for at, i in enumerate(self.source) if i is not None}
        lo, hi = (weights.fractions(f"encoder.{end}", [len(names)]) for end in ("lo", "hi"))
        need(all(map(le, lo, hi)), "the encoder's box is empty")
        boxes, none, one = zip(self.source, names, lo, hi, strict=True), Fraction(0), Fraction(1)
        coordinates = [(n, a, b, none, one, False) if i is None else given.coordinates[i] for i, n, a, b in boxes]
        super().__init__(coordinates, groups)

    def read_layers(self, prefix: str, layers: list[Any], width: int) -> tuple[list[dict[str, Any]], int]:
        """The layers of a branch with their tensors, and the number of outputs."""
        keys = {
            "ramps": "source",
            "linear": "inputs outputs base",
            "kinks": "size convex",
            "pool": "side block",
            "distance": "inputs outputs",
            "contract": "inputs units",
            "trees": "inputs trees nodes sets",
            "pinned": "outputs module",
        }
        need(len(layers) <= LAYERS, "a branch of the encoder has too many layers")
        base, out = 0, []
        for number, given in enumerate(layers):
            kind = given.get("kind") if isinstance(given, dict) else None
            need(isinstance(kind, str) and kind in keys, "the encoder has a layer of unknown kind")
            need(is_object(given, "kind", *keys[str(kind)].split()), "a layer of the encoder is malformed")
            layer, before = dict(given), self.weights.count
            out.append(layer)
            sizes = [value for key, value in layer.items() if key not in ("kind", "source", "module", "trees", "sets")]
            need(is_sizes(sizes), "a layer of the encoder has a malformed size")
            place, inputs, outputs = f"{prefix}{number}.", layer.get("inputs", width), layer.get("outputs", width)
            if kind == "ramps":
                places = layer["source"]
                need(is_sizes(places) and places and max(places) < width, "a ramp reads no such input")
                outputs = len(places)
                for part in ("start", "rate"):
                    layer[part] = self.weights.fractions(place + part, [outputs])
                need(min(layer["rate"]) > 0, "a ramp does not rise")
            elif kind == "kinks":
                need(layer["size"] == width and layer["convex"] <= width, "a layer of kinks has another size")
            elif kind == "pool":
                side, block = layer["side"], layer["block"]
                need(block >= 1 and side * side == width and side % block == 0, "a layer of means has another size")
                outputs = (side // block) ** 2
            elif kind == "pinned":
                need(number == len(layers) - 1, "a pinned module is not the last layer of its branch")
                need(outputs <= len(self.weights.raw.get("encoder.lo", ())), "a pinned module has too many outputs")
                self.weights.loose += (place + "module.",)
            elif kind == "trees":
                need(inputs == width, "a layer of the encoder has another size")
                outputs = self.read_trees(place, layer, width)
            elif kind == "contract":
                need(inputs == width, "a layer of the encoder has another size")
                self.read_contraction(place, layer, width)
            else:
                extra = layer.get("base", 0)
                need(extra in (0, base), "a layer appends something else than the first layer's outputs")
                need(inputs == width, "a layer of the encoder has another size")
                columns = inputs + extra
                flat, layer["e"] = self.weights.numbers(place + "weight", [outputs, columns])
                layer["rows"] = [flat[i : i + columns] for i in range(0, len(flat), columns)]
                layer["bias"] = self.weights.fractions(place + "bias", [outputs])
            need(outputs >= 1, "a layer of the encoder has no outputs")
            layer["numbers"] = self.weights.count - before + sum(map(len, layer.get("sets", ())))
            layer["values"] = outputs + layer.get("units", 0)
            width, base = outputs, base or outputs
        return out, width

    def read_trees(self, place: str, layer: dict[str, Any], width: int) -> int:
        """The trees of a layer, and how many outputs it has."""
        counts, sets, nodes = layer["trees"], layer["sets"], layer["nodes"]
        need(is_sizes(counts) and counts and min(counts) > 0, "a layer of trees has an output without trees")
        need(isinstance(sets, list), "a set of a layer of trees is malformed")
        for places in sets:
            good = is_sizes(places) and places == sorted(set(places)) and places and places[-1] < width
            need(good, "a set of a layer of trees is malformed")
        split, e = self.weights.numbers(place + "split", [nodes])
        known = e == 0 and all(-1 <= asked < width + len(sets) for asked in split)
        need(known, "a node of a tree asks for something that is not there")
        number, layer["e"] = self.weights.numbers(place + "number", [nodes])
        layer["bias"] = self.weights.fractions(place + "bias", [len(counts)])
        layer["forest"] = forest = grown(split, number)
        complete = len(forest) == sum(counts) and sum(len(tree.split) for tree in forest) == nodes
        need(complete, "the nodes of a layer of trees do not make up its trees")
        self.effort += sum(tree.leaves * tree.depths for tree in forest if tree.leaves <= LEAVES)
        return len(counts)

    def read_contraction(self, place: str, layer: dict[str, Any], width: int) -> None:
        """A layer that moves no two inputs apart; what is kept of it are norms."""
        units = layer["units"]
        need(units >= 1, "a contraction has no units")
        self.once += (width + 64) * units * units // 64
        need(self.once <= WORK, "the contractions would take too long to check")
        flat, e = self.weights.numbers(place + "weight", [width, units])
        balance, grid = self.weights.numbers(place + "balance", [units])
        short = e <= GRID and max(map(abs, flat)) < 1 << BROAD + e
        need(short and grid <= GRID and max(balance) < 1 << GRID + grid, "the numbers of a contraction are too long")
        bias, gain = (self.weights.fractions(place + part, [units]) for part in ("bias", "gain"))
        need(min(gain) >= 0 and min(balance) > 0, "the gain or balance of a contraction has the wrong sign")
        rows = [flat[i : i + units] for i in range(0, len(flat), units)]
        sums, squares = gram(rows, balance)
        for g, total, q in zip(gain, sums, balance, strict=True):
            need(g.numerator * total <= 2 * q * g.denominator << 2 * e, "a layer called a contraction is none")
        still, common = integers([g * max(b, Fraction(0)) for g, b in zip(gain, bias, strict=True)])
        moved = sum(dot(row, still) ** 2 for row in rows)  # ‖W·(g ∘ max(b, 0))‖², what the layer makes of zero
        layer["still"] = root(Fraction(moved, common * common << 2 * e))
        layer["norms"] = [root(Fraction(square, 1 << 2 * e)) for square in squares]
        layer["bias"], layer["gain"] = bias, gain

    def pay(self, numbers: int, values: int, read: list[Spread]) -> None:
        """§6: what a layer of so many numbers costs, before it is computed; long numbers take long."""
        digits = max(v.denominator.bit_length() for s in read for v in (s.lo, s.hi, s.low, s.high))
        self.left -= (ENCODING * numbers + COORDINATE * (len(read) + values)) * (1 + digits // DIGITS)
        need(self.left >= 0, "the claims would take too long to check")

    def spreads(self, start: list[Spread], ball: dict[int, Fraction] | None) -> tuple[list[Spread], list[Part]]:
        """All coordinates of e from the inputs in raw units, and what branches with layers say of the norm.

        `ball` has δ of its coordinates that are not pinned; it is None where there are no two copies.
        """
        out: list[Spread] = []
        parts: list[Part] = []
        for columns, layers in self.branches:
            y, base = [self.scaled(i, start[i]) for i in columns], []
            norm = self.begun(columns, y, ball)
            for layer in layers:
                read = y + base if layer.get("base") else y
                self.pay(layer["numbers"], layer["values"], read)
                y, norm = self.step(layer, read, norm)
                base = base or y
            if layers:
                self.pay(2 * len(y), len(y), y)  # the box
                parts.append(Part(range(len(out), len(out) + len(y)), norm))
            out += y
        cut = [s if i is not None else self.cut(s, at) for at, (i, s) in enumerate(zip(self.source, out, strict=True))]
        return cut, parts

    def begun(self, columns: Ints, y: list[Spread], ball: dict[int, Fraction] | None) -> Norm:
        """§3.1: axes and rest of u."""
        zero = Fraction(0)
        if ball is None:
            return Norm([zero] * len(y), None, None)
        axes, rest = [self.given.mult[i] * ball.get(i, zero) for i in columns], zero
        for i, s in zip(columns, y, strict=True):
            rest += 2 * self.given.scale[i].error if i in ball else apart(s)
        return Norm(axes, rest, None)

    def step(self, layer: dict[str, Any], y: list[Spread], norm: Norm) -> tuple[list[Spread], Norm]:
        """One layer: what it leaves of spreads, axes and rest."""
        kind = layer["kind"]
        if kind == "contract":
            return self.contract(layer, y, norm)
        out = self.distance(layer, y, norm.most) if kind == "distance" else getattr(self, kind)(layer, y)
        if norm.rest is None or kind == "kinks":
            return out, replace(norm, size=None)
        zeros = [Fraction(0)] * len(out)
        if kind == "pinned":
            return out, Norm(zeros, None, None)
        if kind == "ramps" and len(set(layer["source"])) == len(layer["source"]):
            lines = list(zip(layer["source"], layer["start"], layer["rate"], strict=True))
            errors = sum(2 * ramp_error(y[i], start, rate) for i, start, rate in lines)
            axes = [rate * norm.axes[i] for i, _, rate in lines]
            return out, Norm(axes, max(layer["rate"]) * norm.rest + errors, None)
        return out, Norm(zeros, root(sum((apart(s) ** 2 for s in out), Fraction(0))), None)

    def scaled(self, i: int, s: Spread) -> Spread:
        """Input i in model units."""
        shift, mult, error = self.given.shift[i], self.given.mult[i], self.given.scale[i].error
        ends = mult * (s.lo - shift) - error, mult * (s.hi - shift) + error
        return settled(*ends, mult * s.low - 2 * error, mult * s.high + 2 * error, s.rises, s.falls)

    def cut(self, s: Spread, at: int) -> Spread:
        """To the box, which keeps order and shortens differences."""
        lo, hi = self.lo[at], self.hi[at]
        return settled(max(lo, min(s.lo, hi)), max(lo, min(s.hi, hi)), s.low, s.high, s.rises, s.falls)

    def ramps(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """clip((y − start)·rate, 0, 1)"""
        out = []
        for i, start, rate in zip(layer["source"], layer["start"], layer["rate"], strict=True):
            s = y[i]
            error = ramp_error(s, start, rate)
            ends = rate * s.low - 2 * error, rate * s.high + 2 * error
            out.append(settled(Fraction(0), Fraction(1), *ends, s.rises, s.falls))
        return out

    def linear(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """Σ w·y + b"""
        return self.sums(layer["rows"], 1 << layer["e"], layer["bias"], y, 1)

    def sums(self, rows: list[Ints], unit: int, bias: list[Fraction], y: list[Spread], divisor: int) -> list[Spread]:
        """Σ w·y + b with weights in multiples of 1/unit: interval arithmetic in integers, and LIN for the rounding.

        `divisor` is what the sum is divided by last, so that it is so many times larger before.
        """
        ends, common = integers([v for s in y for v in (s.lo, s.hi, s.low, s.high)])
        lows, highs, least, most = (ends[side::4] for side in range(4))
        sizes, count, out = [max(-lo, hi) for lo, hi in zip(lows, highs, strict=True)], len(y), []
        for row, b in zip(rows, bias, strict=True):
            up, down, w = [max(v, 0) for v in row], [min(v, 0) for v in row], list(map(abs, row))
            lo, hi, low, high = (
                Fraction(dot(up, one) + dot(down, other), unit * common)
                for one, other in ((lows, highs), (highs, lows), (least, most), (most, least))
            )
            total = Fraction(dot(w, sizes), unit * common) + abs(b)
            error = rounding(count, total, Fraction(sum(w), unit), Fraction(sum(sizes), common))
            need((total + error) * divisor < HUGE, "the encoder may overflow")
            rises = all(s.rises if v > 0 else s.falls for v, s in zip(row, y, strict=True) if v)
            falls = all(s.falls if v > 0 else s.rises for v, s in zip(row, y, strict=True) if v)
            out.append(settled(lo + b - error, hi + b + error, low - 2 * error, high + 2 * error, rises, falls))
        return out

    def kinks(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """max(y, 0) and min(y, 0)"""
        cuts = [max if at < layer["convex"] else min for at in range(len(y))]
        return [
            settled(cut(s.lo, Fraction(0)), cut(s.hi, Fraction(0)), s.low, s.high, s.rises, s.falls)
            for cut, s in zip(cuts, y, strict=True)
        ]

    def pool(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """Means of blocks, row by row."""
        side, block, out = layer["side"], layer["block"], []
        for top in range(0, side, block):
            for left in range(0, side, block):
                part = [y[r * side + left + c] for r in range(top, top + block) for c in range(block)]
                out += self.sums([[1] * len(part)], len(part), [Fraction(0)], part, len(part))
        return out

    def distance(self, layer: dict[str, Any], y: list[Spread], norm: Fraction | None) -> list[Spread]:
        """max_i |y_i − w_ji| + b_j; no difference exceeds the norm of all of them"""
        size, most = max(max(-s.lo, s.hi) for s in y), max(map(apart, y))
        most = most if norm is None else min(most, norm)
        same, out = all(s.rises and s.falls for s in y), []
        for row, b in zip(layer["rows"], layer["bias"], strict=True):
            far = Fraction(max(map(abs, row)), 1 << layer["e"]) + size
            error = U * far + ETA + U * (far + U * far + ETA + abs(b)) + ETA
            ends = -most - 2 * error, most + 2 * error
            out.append(settled(b - error, far + b + error, *ends, same, same))
        return out

    def contract(self, layer: dict[str, Any], y: list[Spread], norm: Norm) -> tuple[list[Spread], Norm]:
        """y − W·(g ∘ max(Wᵀy + b, 0))"""
        size = root(sum((max(-s.lo, s.hi) ** 2 for s in y), Fraction(0))) if norm.size is None else norm.size
        error = contraction_error(layer, len(y), size)
        size += layer["still"] + error
        same, zero = all(s.rises and s.falls for s in y), Fraction(0)
        far = 2 * size if norm.most is None else up(norm.most) + 2 * error
        out = [settled(-size, size, -far, far, same, same)] * len(y)
        axes, rest = [zero if same or norm.rest is None else far] * len(y), None if norm.rest is None else zero
        return out, Norm(axes, rest, size)

    def trees(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """((b + v_1) + v_2) + …, each v the leaf of a tree"""
        unit, forest, out = 1 << layer["e"], iter(layer["forest"]), []
        alone = [question(s, unit) for s in y]
        questions = alone + [largest([alone[i] for i in places]) for places in layer["sets"]]
        for count, b in zip(layer["trees"], layer["bias"], strict=True):
            found = [tree_spread(tree, questions) for tree in islice(forest, count)]
            lo, hi, low, high = (Fraction(sum(column), unit) for column in zip(*found, strict=True))
            size = Fraction(sum(max(-least, most) for least, most, _, _ in found), unit)
            error = rounding(count, size + abs(b), Fraction(count), size)
            need(size + abs(b) + error < HUGE, "the encoder may overflow")
            rises, falls = all(v[2] >= 0 for v in found), all(v[3] <= 0 for v in found)
            out.append(settled(lo + b - error, hi + b + error, low - 2 * error, high + 2 * error, rises, falls))
        return out

    def pinned(self, layer: dict[str, Any], y: list[Spread]) -> list[Spread]:
        """Any function: the same bits if nothing that it reads may differ; the box bounds it."""
        same, huge = all(s.rises and s.falls for s in y), Fraction(HUGE - 1)
        return [settled(-huge, huge, -2 * huge, 2 * huge, same, same)] * layer["outputs"]


@dataclass(frozen=True)
class Norm:
    """Δy = S·t + r with ‖t‖ ≤ 1 and ‖r‖ ≤ `rest` (None: nothing is known); `size` bounds ‖y‖ after a contraction."""

    axes: list[Fraction]
    rest: Fraction | None
    size: Fraction | None

    @property
    def most(self) -> Fraction | None:
        """N ≥ ‖Δy‖."""
        return None if self.rest is None else max(self.axes) + self.rest


@dataclass(frozen=True)
class Part:
    """The coordinates of e that a branch with layers makes, and what it says of their difference."""

    places: range
    norm: Norm


def root(value: Fraction) -> Fraction:
    """SQRT: the least n·2^-100 whose square is not below the value."""
    square = -((-value.numerator << 2 * FINE) // value.denominator)
    n = math.isqrt(square)
    return Fraction(n + (n * n < square), 1 << FINE)


def up(value: Fraction) -> Fraction:
    """UP: the least multiple of 2^-100 that is not below the value."""
    return Fraction(-((-value.numerator << FINE) // value.denominator), 1 << FINE)


def apart(s: Spread) -> Fraction:
    """The largest difference of a coordinate."""
    return max(-s.low, s.high)


def ramp_error(s: Spread, start: Fraction, rate: Fraction) -> Fraction:
    """What rounding does to (y − start)·rate."""
    d = max(start - s.lo, s.hi - start)
    need(d * rate < HUGE and d < HUGE, "the encoder may overflow")
    return ((1 + U) ** 2 - 1) * d * rate + 2 * ETA * (1 + rate + d)


def contraction_error(layer: dict[str, Any], inputs: int, size: Fraction) -> Fraction:
    """E: the norm of what rounding adds to a contraction at inputs of norm ≤ `size`."""
    norms, units = layer["norms"], len(layer["norms"])
    first, second = ((n + 5) * U / (1 - (n + 5) * U) for n in (inputs, units))
    carried = total = sizes = Fraction(0)
    for w, b, g in zip(norms, layer["bias"], layer["gain"], strict=True):
        z = w * size + abs(b)
        e = first * z + (1 + first) * ETA * (3 * inputs + 3 + inputs * w + inputs * size)
        f = g * e + (U * g + ETA) * (z + e) + ETA * (1 + g)
        c = g * z + f
        need(z + e < HUGE and c < HUGE, "the encoder may overflow")
        carried, total, sizes = carried + w * f, total + w * c, sizes + c
    tiny = inputs * (1 + second) * ETA * (3 * units + 3 + sum(norms) + sizes)
    error = up(carried + second * (total + size) + tiny)
    need(total + size + error < HUGE, "the encoder may overflow")
    return error


def gram(rows: list[Ints], factors: Ints) -> tuple[Ints, Ints]:
    """Σ_l |(WᵀW)_jl|·factors_l and (WᵀW)_jj for every column j of W, given by its rows.

    A row is packed into one whole number, a field for every column, so that one product serves a whole row. WᵀW is
    symmetric: columns left of a block of columns are not computed again.
    """
    columns, units, most = list(zip(*rows, strict=True)), len(factors), max(abs(v) for row in rows for v in row)
    width = (2 * len(rows) * most * most).bit_length() // 8 + 1  # bytes of a field, which has a sign
    bits, half = 8 * width, 1 << 8 * width - 1
    packed = [int.from_bytes(b"".join((v + half).to_bytes(width, "little") for v in row), "little") for row in rows]
    sums, squares = [0] * units, [0] * units
    for start in range(0, units, TOGETHER):
        halves = int.from_bytes(half.to_bytes(width, "little") * (units - start), "little")
        right = [(number >> bits * start) - halves for number in packed]
        for j in range(start, min(start + TOGETHER, units)):
            data = (sum(map(mul, columns[j], right)) + halves).to_bytes(width * (units - start), "little")
            ends = range(width * (j - start), len(data), width)
            line = [abs(int.from_bytes(data[at : at + width], "little") - half) for at in ends]
            squares[j] = line[0]
            sums[j] += dot(line, factors[j:])
            by = factors[j]
            sums[j + 1 :] = [total + v * by for total, v in zip(sums[j + 1 :], line[1:], strict=True)]
    return sums, squares


@dataclass(frozen=True)
class Tree:
    """Nodes in preorder: what each asks (−1: a leaf) and its threshold or value; leaves, and their depths summed."""

    split: Ints
    number: Ints
    leaves: int
    depths: int


def grown(split: Ints, number: Ints) -> list[Tree]:
    """All complete trees that the nodes make up, one after the other."""
    out: list[Tree] = []
    start, leaves, depths, ahead = 0, 0, 0, [0]  # ahead: depths of nodes that have a parent and are still to come
    for at, asked in enumerate(split, 1):
        depth = ahead.pop()
        if asked >= 0:
            ahead += [depth + 1] * 2
        else:
            leaves, depths = leaves + 1, depths + depth
        if not ahead:
            out.append(Tree(split[start:at], number[start:at], leaves, depths))
            start, leaves, depths, ahead = at, 0, 0, [0]
    return out


Question = tuple[int, int, int, int]  # range and difference of what is asked, times the unit of thresholds
Four = tuple[int, int, int, int]  # range and difference of a tree's value, times the same unit


def question(s: Spread, unit: int) -> Question:
    """A coordinate. Ends are rounded so that comparing them with thresholds stays exact."""
    return math.ceil(s.lo * unit), math.ceil(s.hi * unit), math.floor(s.low * unit), math.ceil(s.high * unit)


def largest(part: list[Question]) -> Question:
    """The largest of some coordinates: rounding keeps order, so the rounded ends of it are those of its members."""
    lo, hi, low, high = zip(*part, strict=True)
    return max(lo), max(hi), min(low), max(high)


def tree_spread(tree: Tree, questions: list[Question]) -> Four:
    """Node by node, from the leaves up; leaf against leaf where that does not show an order."""
    done: list[Four] = []  # of subtrees: the last one is the next node's left one
    for asked, number in zip(reversed(tree.split), reversed(tree.number), strict=True):
        if asked < 0:
            done.append((number, number, 0, 0))
            continue
        left, right = done.pop(), done.pop()
        lo, hi, low, high = questions[asked]
        if hi <= number:
            done.append(left)
        elif lo > number:
            done.append(right)
        else:
            done.append(joined(left, right, low < 0, high > 0))
    (found,) = done
    lo, hi, low, high = found
    if low < 0 < high and tree.leaves <= LEAVES:
        low, high = by_pairs(open_leaves(tree, questions), questions)
    return lo, hi, low, high


def joined(left: Four, right: Four, back: bool, on: bool) -> Four:
    """A node whose copies may part: copy 1 to the right (`on`), to the left (`back`)."""
    lo, hi, low, high = min(left[0], right[0]), max(left[1], right[1]), min(left[2], right[2]), max(left[3], right[3])
    if on:
        low, high = min(low, right[0] - left[1]), max(high, right[1] - left[0])
    if back:
        low, high = min(low, left[0] - right[1]), max(high, left[1] - right[0])
    return lo, hi, low, high


Leaves = list[tuple[int, dict[int, tuple[int | None, int | None]]]]  # value; by question (a, b], None without an end


def open_leaves(tree: Tree, questions: list[Question]) -> Leaves:
    """The leaves that can be reached, with what their paths say."""
    out: Leaves = []
    ahead: list[dict[int, tuple[int | None, int | None]] | None] = [{}]  # None: cannot be reached
    for asked, number in zip(tree.split, tree.number, strict=True):
        path = ahead.pop()
        if asked < 0:
            out += [] if path is None else [(number, path)]
            continue
        left = right = None
        if path is not None:
            lo, hi, _, _ = questions[asked]
            above, upto = path.get(asked, (None, None))
            if lo <= number:
                left = {**path, asked: (above, number if upto is None else min(upto, number))}
            if hi > number:
                right = {**path, asked: (number if above is None else max(above, number), upto)}
        ahead += [right, left]
    return out


def by_pairs(leaves: Leaves, questions: list[Question]) -> tuple[int, int]:
    """The range of v_q − v_p over leaves p of copy 2 and q of copy 1 that two inputs of the premise may reach."""
    low = high = 0
    for p, second in leaves:
        for q, first in leaves:
            if (q - p < low or q - p > high) and pair(second, first, questions):
                low, high = min(low, q - p), max(high, q - p)
    return low, high


def pair(second: dict[int, Any], first: dict[int, Any], questions: list[Question]) -> bool:
    """Whether every question leaves a difference z_1 − z_2 that lies between a_1 − b_2 and b_1 − a_2."""
    for asked, (a, b) in second.items():
        if asked in first:
            (c, d), (_, _, low, high) = first[asked], questions[asked]
            if (a is not None and d is not None and low >= d - a) or (
                b is not None and c is not None and high <= c - b
            ):
                return False
    return True


# ---- 3. the claim and its premise -----------------------------------------------------------------------------------

RATIONAL = re.compile(r"-?[0-9]{1,400}(?:/[0-9]{1,400})?")
Row = tuple[list[tuple[Fraction, int, str, str]], str, Fraction]  # terms, op, rhs
WIDE = Fraction(1 << 2000)  # more than any difference of two inputs: a side of a strip that was not given
Terms = dict[tuple[int, int], Fraction]  # coefficients by (copy, coordinate)
Path = tuple[tuple[int, int, Fraction, int], ...]


@lru_cache(maxsize=1 << 12)
def rational(text: str) -> Fraction:
    """A number of a claim."""
    need(RATIONAL.fullmatch(text), "a number of a claim is not a rational")
    numerator, _, denominator = text.partition("/")
    need(int(denominator or "1"), "a number of a claim is divided by zero")
    return Fraction(int(numerator), int(denominator or "1"))


def read_rows(rows: Any, copies: int, kinds: tuple[str, ...]) -> list[Row]:
    """Rows of a claim."""
    need(isinstance(rows, list), "rows of a claim are not a list")
    out: list[Row] = []
    for row in rows:
        need(is_object(row, "terms", "op", "rhs") and isinstance(row["terms"], list), "a row is malformed")
        need(row["op"] in ("<=", "==") and isinstance(row["rhs"], str), "a row has an unknown relation")
        terms = []
        for term in row["terms"]:
            need(isinstance(term, list) and len(term) == 4, "a term is malformed")
            coef, copy, kind, name = term
            need(is_int(copy) and 0 <= copy < copies, "a term names a copy that is not there")
            need(kind in kinds and isinstance(name, str), "a term names neither an input nor an output, or not here")
            need(isinstance(coef, str), "a number of a claim is not a rational")
            terms.append((rational(coef), copy, kind, name))
        out.append((terms, row["op"], rational(row["rhs"])))
    return out


class Claim:
    """A claim as it is read: rows of `when` and `then`, and clauses `either`, of whose rows one holds at least."""

    def __init__(self, claim: Any) -> None:
        keys = ("copies", "when", "then", "others", "equal", "free", "sentence")
        more = {"either", "ball"} & set(claim) if isinstance(claim, dict) else ()
        need(is_object(claim, *keys, *more), "a claim is malformed")
        need(is_int(claim["copies"]) and 1 <= claim["copies"] <= 4, "a claim is malformed")
        need(claim["others"] in ("equal", "free") and isinstance(claim["sentence"], str), "a claim is malformed")
        need(is_texts(claim["equal"]) and is_texts(claim["free"]), "a claim is malformed")
        self.text, self.k = claim, claim["copies"]
        self.when = read_rows(claim["when"], self.k, ("in",))
        self.then = read_rows(claim["then"], self.k, ("in", "out"))
        clauses = claim.get("either", [])
        need(isinstance(clauses, list) and (clauses or "either" not in claim), "the clauses of a claim are malformed")
        self.either = [read_rows(clause, self.k, ("in", "out")) for clause in clauses]
        for clause in self.either:
            need(len(clause) > 1 and all(op == "<=" for _, op, _ in clause), "a clause has no alternatives, or an ==")
        need(self.then or self.either, "a claim has no conclusion")
        rows = (*self.when, *self.then, *(row for clause in self.either for row in clause))
        self.ball = self.read_ball(claim["ball"]) if "ball" in claim else {}
        numbers = [v for terms, _, rhs in rows for v in (rhs, *(term[0] for term in terms))]
        numbers += self.ball.values()
        self.size, self.long = len(numbers), max(v.numerator.bit_length() for v in numbers)
        self.common = common_denominator(1, numbers)

    def read_ball(self, pairs: Any) -> dict[str, Fraction]:
        """δ by name."""
        good = self.k == 2 and isinstance(pairs, list) and pairs
        need(good and all(is_texts(pair) and len(pair) == 2 for pair in pairs), "the ball of a claim is malformed")
        ball = {name: rational(text) for name, text in pairs}
        need(len(ball) == len(pairs) and min(ball.values()) > 0, "the ball of a claim is malformed")
        return ball


def claim_digest(claim: Any, version: int) -> str:
    """§6, and of version 1 §7: the SHA-256 of a claim, without its comment."""
    if version == 1:
        return sha256(canonical({**claim, "sentence": ""}))
    return sha256(encoded({key: value for key, value in claim.items() if key != "sentence"}))


def common_denominator(common: int, values: Iterable[Fraction]) -> int:
    """The least common multiple of `common` and all denominators, which has a limit."""
    for denominator in {v.denominator for v in values}:
        common = math.lcm(common, denominator)
        need(common < DENOMINATOR, "the denominators of a claim have too large a common multiple")
    return common


class Premise:
    """The inputs a claim is about: bounds lo, hi [k][m], pinned [m], strips δ [m] for k = 2, extra rows.

    `path` holds the splits that lead to a case of it: copy, coordinate, threshold, and 1 below it or −1 above it.
    """

    def __init__(self, net: Net, claim: Claim, common: int, path: Path = ()) -> None:
        self.net, self.claim, self.k = net, claim.text, claim.k
        self.when = claim.when
        self.rows = [(self.merged(terms), op == "==", rhs) for terms, op, rhs in self.when]
        self.rows += [({(c, i): Fraction(side)}, False, side * at) for c, i, at, side in path]
        self.ball = {self.coordinate(name): delta for name, delta in claim.ball.items()}
        bad = [i for i in self.ball if net.given.whole[i]]
        need(len(self.ball) == len(claim.ball) and not bad, "a ball is over different continuous coordinates")
        for i, delta in self.ball.items():
            self.rows += [({(0, i): Fraction(side), (1, i): Fraction(-side)}, False, delta) for side in (1, -1)]
        self.ground()
        self.parts: list[Part] = []
        self.axes = {i: delta for i, delta in self.ball.items() if not self.pinned[i]}
        if net.encoder:
            self.encode(net.encoder)
        self.scale = 1 << net.ex
        for denominator in {v.denominator for side in (self.lo, self.hi, self.delta) for line in side for v in line}:
            self.scale = math.lcm(self.scale, denominator)
            need(self.scale.bit_length() <= BITS, "the bounds of a claim have too large a common denominator")
        slopes = common.bit_length() + 2 * net.e + net.em
        # of a unit of work: a product takes as long as both its factors are
        self.weight = (1 + self.scale.bit_length() // LONG) * (1 + slopes // STEEP)
        self.integers: dict[str, list[Ints]] = {}

    def whole_numbers(self, name: str) -> list[Ints]:
        """`lo`, `hi` or `delta` in multiples of 1/scale; divided once, for all rows."""
        if name not in self.integers:
            lines = getattr(self, name)
            self.integers[name] = [[v.numerator * (self.scale // v.denominator) for v in line] for line in lines]
        return self.integers[name]

    def coordinate(self, name: str) -> int:
        """The coordinate of a name in a row."""
        found = self.net.given.lookup(name)
        need(len(found) == 1, f"the category {name!r} is used as a number")
        return found[0]

    def merged(self, terms: Iterable[tuple[Fraction, int, str, str]]) -> Terms:
        """Like terms added, zeros dropped."""
        out: Terms = {}
        for coef, copy, _, name in terms:
            key = (copy, self.coordinate(name))
            out[key] = out[key] + coef if key in out else coef
        return {key: a for key, a in out.items() if a}

    def ground(self) -> None:
        """Bounds, strips and extra rows from the rows of `when`."""
        net, k = self.net.given, self.k
        self.lo, self.hi = [list(net.lo) for _ in range(k)], [list(net.hi) for _ in range(k)]
        self.extra: list[tuple[Terms, Fraction, bool]] = []
        strips: dict[int, list[Fraction]] = {}  # as given
        for terms, same, rhs in self.rows:
            self.sort(terms, same, rhs, strips)
        for i, ends in strips.items():
            if net.whole[i]:
                ends[:] = Fraction(math.ceil(ends[0])), Fraction(math.floor(ends[1]))
        self.pinned = self.stated = self.pins(strips)
        self.tighten()
        if self.net.grid:
            self.loosen(strips)
        self.delta = [self.difference(i, strips) for i in range(net.m)] if k == 2 else []

    def sort(self, terms: Terms, same: bool, rhs: Fraction, strips: dict[int, list[Fraction]]) -> None:
        """A row ``terms ≤ rhs`` (or = rhs) of `when` becomes a bound, an end of a strip, or an extra row."""
        places = sorted(terms)
        strip = self.k == len(places) == 2 and places[0][1] == places[1][1] and sum(terms.values()) == 0
        if not places:
            need(rhs >= 0 and (not same or rhs == 0), "the premise is empty: a row of it is false")
            return
        if len(places) > 1 and not strip:
            self.extra.append((terms, rhs, same))
            return
        (c, i), a = places[0], terms[places[0]]
        ends = strips.setdefault(i, [-WIDE, WIDE]) if strip else [self.lo[c][i], self.hi[c][i]]
        if a > 0 or same:
            ends[1] = min(ends[1], rhs / a)
        if a < 0 or same:
            ends[0] = max(ends[0], rhs / a)
        if not strip:
            self.lo[c][i], self.hi[c][i] = ends

    def tighten(self) -> None:
        """A pinned coordinate has the same bounds in all copies; whole-valued ones have whole bounds."""
        for i in range(self.net.given.m):
            if self.pinned[i]:
                low, high = max(line[i] for line in self.lo), min(line[i] for line in self.hi)
                for c in range(self.k):
                    self.lo[c][i], self.hi[c][i] = low, high
            for c in range(self.k if self.net.given.whole[i] else 0):
                self.lo[c][i], self.hi[c][i] = Fraction(math.ceil(self.lo[c][i])), Fraction(math.floor(self.hi[c][i]))

    def loosen(self, strips: dict[int, list[Fraction]]) -> None:
        """§5.3: how far the grid may carry inputs; order and equality survive it."""
        zero = Fraction(0)
        for i, by in enumerate(self.net.omega):
            for c in range(self.k):
                self.lo[c][i], self.hi[c][i] = self.lo[c][i] - by, self.hi[c][i] + by
            if i in strips:
                low, high = strips[i]
                low = low - 2 * by if low < 0 else max(low - 2 * by, zero)
                strips[i] = [low, high + 2 * by if high > 0 else min(high + 2 * by, zero)]

    def difference(self, i: int, strips: dict[int, list[Fraction]]) -> tuple[Fraction, Fraction]:
        """The range of x_i − y_i."""
        if self.pinned[i]:
            return Fraction(0), Fraction(0)
        low, high = strips.get(i, (-WIDE, WIDE))
        return max(self.lo[0][i] - self.hi[1][i], low), min(self.hi[0][i] - self.lo[1][i], high)

    def encode(self, encoder: Encoder) -> None:
        """§3.1: the premise on e."""
        space, k, start = self.net.given, self.k, []
        for i in range(space.m):
            lo, hi = min(line[i] for line in self.lo), max(line[i] for line in self.hi)
            low, high = self.delta[i] if k == 2 else (lo - hi, hi - lo)
            ordered = k == 2 and i not in space.grouped
            rises, falls = (self.pinned[i] or (ordered and v) for v in (low >= 0, high <= 0))
            start.append(Spread(lo, hi, low, high, rises, falls))
        place = encoder.place
        spreads, self.parts = encoder.spreads(start, self.axes if k == 2 else None)
        self.axes = {place[i]: delta for i, delta in self.axes.items() if i in place}
        passing = list(zip(encoder.source, spreads, strict=True))
        self.lo = [[s.lo if i is None else line[i] for i, s in passing] for line in self.lo]
        self.hi = [[s.hi if i is None else line[i] for i, s in passing] for line in self.hi]
        self.delta = [(s.low, s.high) if i is None else self.delta[i] for i, s in passing] if k == 2 else []
        self.pinned = [k > 1 and s.rises and s.falls if i is None else self.pinned[i] for i, s in passing]
        kept = [row for row in self.extra if all(i in place for _, i in row[0])]
        self.extra = [({(c, place[i]): a for (c, i), a in terms.items()}, rhs, same) for terms, rhs, same in kept]

    def pins(self, strips: dict[int, list[Fraction]]) -> list[bool]:
        """Coordinates with one value in all copies."""
        net, claim, m = self.net.given, self.claim, self.net.given.m
        equal = {i for name in set(claim["equal"]) for i in net.lookup(name)}
        named = {term[3] for terms, _, _ in self.when for term in terms}.union(dict(claim.get("ball", ())))
        free = {i for name in named.union(claim["free"]) for i in net.lookup(name)}
        free |= {i for group in net.groups if free.intersection(group) for i in group}
        if self.k == 1:
            return [False] * m
        others = claim["others"] == "equal"
        return [i in equal or (others and i not in free) or strips.get(i) == [0, 0] for i in range(m)]

    def check_witness(self, witness: Any) -> None:
        """The premise is not empty: these k points satisfy it."""
        net, k = self.net.given, self.k
        good = isinstance(witness, list) and len(witness) == k
        need(good and all(isinstance(x, list) and len(x) == net.m for x in witness), "a witness is malformed")
        need(all(isinstance(v, Real) for x in witness for v in x), "a witness is malformed")
        reason = "a witness does not satisfy domain and premise"
        for x in witness:
            need(all(map(le, net.lo, x)) and all(map(le, x, net.hi)), reason)
            need(all(v.denominator == 1 for v, w in zip(x, net.whole, strict=True) if w), reason)
            need(all(sum(x[i] for i in group) == 1 for group in net.groups), reason)
        for i in range(net.m):
            need(not self.stated[i] or len({x[i] for x in witness}) == 1, reason)
        e = max(map(exponent, witness))
        points = [[whole(v, 1 << e) for v in x] for x in witness]
        for terms, same, rhs in self.rows:
            (*coefs, right), _ = integers([*terms.values(), rhs])
            total = sum(a * points[c][i] for a, (c, i) in zip(coefs, terms, strict=True)) - (right << e)
            need(total <= 0 and (not same or total == 0), reason)
        if self.ball:
            shares = ((witness[0][i] - witness[1][i]) / delta for i, delta in self.ball.items())
            need(sum(share**2 for share in shares) <= 1, reason)

    def allows(self, c: int, group: range) -> int:
        """The categories that copy c may take, as a bit mask."""
        above = [i for i in group if self.lo[c][i] > 0]
        return sum(1 << p for p, i in enumerate(group) if self.hi[c][i] >= 1 and all(j == i for j in above))

    @cached_property
    def cell(self) -> Cell:
        """All of it: the cell of every tree of one leaf, which leaves it as it is."""
        return Cell(self, [v * (self.scale >> self.net.ex) for v in self.net.offset], self.scale)

    @cached_property
    def symmetric(self) -> bool:
        """Whether exchanging the two copies maps the premise onto itself."""
        equal = self.k == 2 and self.lo[0] == self.lo[1] and self.hi[0] == self.hi[1]
        return equal and not self.extra and all(low == -high for low, high in self.delta)


class Goal:
    """A row ``Σ_c a_c·f(x_c) + b_c·x_c ≤ rhs`` of the conclusion and its Σ_c ψ_c."""

    def __init__(self, premise: Premise, row: Row, sign: int) -> None:
        net, k = premise.net, premise.k
        self.premise, self.rhs = premise, sign * row[2]
        self.row: Row = ([(sign * term[0], *term[1:]) for term in row[0]], "<=", self.rhs)
        self.a = [[Fraction(0)] * net.o for _ in range(k)]
        self.b: list[dict[int, Fraction]] = [{} for _ in range(k)]
        for coef, copy, kind, name in self.row[0]:
            if kind == "in":
                i = premise.coordinate(name)
                if net.encoder:
                    need(i in net.encoder.place, f"{name} is a conclusion's input that the encoder does not pass on")
                    i = net.encoder.place[i]
                self.b[copy][i] = self.b[copy].get(i, Fraction(0)) + coef
            else:
                called = net.outputs[0] if name == "" and net.o == 1 else name
                need(called in net.outputs, f"there is no output {name!r}")
                self.a[copy][net.outputs.index(called)] += coef
        self.b = [{i: v for i, v in part.items() if v} for part in self.b]

    def ordered(self) -> dict[int, int]:
        """The direction σ_i in which every unpinned input moves from x_2 to x_1, for rows tight on the diagonal."""
        premise, net, sign = self.premise, self.premise.net, {}
        opposite = premise.k == 2 and self.a[0] == [-v for v in self.a[1]]
        need(opposite and self.b[0] == {i: -v for i, v in self.b[1].items()}, "the rule is for differences")
        need(self.rhs >= 0 and net.zero_gap, "the rule is for right sides ≥ 0 and boxes of no width")
        for i, (low, high) in enumerate(premise.delta):
            if not premise.pinned[i]:
                need(i not in net.space.grouped and (high <= 0 or low >= 0), "an input moves both ways")
                sign[i] = -1 if high <= 0 else 1
        return sign

    def margin(self) -> Fraction:
        """What rounding may add to the left side (§5)."""
        net, out = self.premise.net, Fraction(0)
        for a, b in zip(self.a, self.b, strict=True):
            out = sum((abs(v) * e for v, e in zip(a, net.rounding, strict=True) if v), out)
            out = sum((abs(v) * net.omega[i] for i, v in b.items()), out)
        return out

    def compose(self, bits: int, x: int) -> Psi:
        """ψ in integers, for what is multiplied with κ in multiples of 2^-bits and inputs in multiples of 1/x."""
        net, e = self.premise.net, self.premise.net.e
        values = [*(v for line in self.a for v in line), *(v for part in self.b for v in part.values())]
        values += [v for terms, rhs, _ in self.premise.extra for v in (rhs, *terms.values())]
        d, f = math.lcm(*(v.denominator for v in values)), max(e, bits)
        grow = x >> net.ex  # exact: x is a multiple of 2^ex
        psi = Psi(d, f, x, d << (2 * e + net.em + f))
        psi.offset = [value * grow for value in net.offset]
        psi.flips = [([v << e for v in slope], (const << e) * grow, out) for slope, const, out in net.flips]
        for line, inputs in zip(self.a, self.b, strict=True):
            used = [o for o, v in enumerate(line) if v] or [0]
            a = [int(line[o] * d) for o in used]
            v = [dot(a, column) for column in zip(*(net.t["head_weight"][o] for o in used), strict=True)]
            plus = [max(0, value) for value in v]
            parts = [*zip(v, net.aux[0], strict=True), *(() if net.paper else zip(plus, net.aux[1], strict=True))]
            parts = [part for part in parts if part[0]] or parts[:1]  # zeros add nothing
            factors = [value for value, _ in parts]
            q = [dot(factors, column) << f for column in zip(*(line[0] for _, line in parts), strict=True)]
            for i, coef in inputs.items():
                q[i] += int(coef * d) << (2 * e + net.em + f)
            const = dot(factors, (line[1] for _, line in parts))
            const += dot(a, (net.t["head_bias"][0][o] for o in used)) << (e + net.em + net.ex)
            psi.const += (const << f) * grow
            kappa = [dot(factors, column) << (f - e) for column in zip(*(line[2] for _, line in parts), strict=True)]
            psi.q.append(q)
            psi.kappa.append(kappa)
            psi.p.append([value << (f - e) for value in plus] if net.paper else [])
        return psi


class Psi:
    """Σ_c ψ_c = const + Σ_c q_c·x_c + κ_c·relu(s(x_c)) + p_c·relu(d(x_c)) in integers (scales: see the top)."""

    offset: Ints
    flips: list[tuple[Ints, int, Ints]]  # of d_i: slopes, constant, weights on relu(s_j)

    def __init__(self, d: int, f: int, x: int, slope_scale: int) -> None:
        self.d, self.f, self.x, self.slope_scale, self.value_scale = d, f, x, slope_scale, slope_scale * x
        self.const = 0
        self.q: list[Ints] = []
        self.kappa: list[Ints] = []
        self.p: list[Ints] = []


# ---- 4. the rules ---------------------------------------------------------------------------------------------------


class Reader:
    """certificate.bin: pieces of nodes, one after the other, and how much may still be spent on them."""

    def __init__(self, data: bytes) -> None:
        self.data, self.end, self.nodes, self.work = data, 0, NODES, WORK

    def piece(self, proof: dict[str, Any]) -> int:
        """The start of a row's piece, which must follow the last one; `end` is its end then."""
        start, length = proof["start"], proof["length"]
        need(is_int(start) and is_int(length) and start == self.end and length >= 0, "proofs do not follow in order")
        need(is_int(proof["bits"]) and 0 <= proof["bits"] <= 1000, "bits is malformed")
        self.end += length
        need(self.end <= len(self.data), "certificate.bin is too short")
        return start

    def spend(self, nodes: int, premise: Premise, lemmas: int = 0, extra: int = 0, times: int = 1) -> None:
        """§6: a small file must not keep a checker busy for hours."""
        net, k = premise.net, premise.k
        pairs = sum(len(group) ** 2 // 64 for group in net.space.groups) if k == 2 else 0
        each = (net.m + 1 + pairs) * (net.n + 1 if net.paper else 1)
        steps = nodes * (NODE + (net.units + 1 + extra + (lemmas + 3) // 4) * each) + (lemmas << k) * each
        self.nodes -= nodes
        self.work -= times * premise.weight * k * steps
        need(self.nodes >= 0 and self.work >= 0, "the proofs would take too long to check")

    def row(self, premise: Premise) -> None:
        """§6: what every row costs, whatever its proof."""
        net = premise.net
        self.work -= premise.weight * premise.k * (net.n * (net.o + net.m + net.units) + ROW * (net.m + ROW))
        need(self.work >= 0, "the proofs would take too long to check")

    def premise(self, net: Net, claim: Claim, common: int, path: Path = ()) -> Premise:
        """§6: the premise of a claim or of a case, and what it costs to find out what an encoder leaves of it."""
        self.work -= net.encoder.effort if net.encoder else 0
        need(self.work >= 0, "the claims would take too long to check")
        if net.encoder is None:
            return Premise(net, claim, common, path)
        net.encoder.left = self.work
        found = Premise(net, claim, common, path)
        self.work = net.encoder.left
        return found

    def split(self, place: int) -> tuple[int, int, int]:
        """Kind, copy and index of a split."""
        return struct.unpack_from("<BBH", self.data, place)

    def theta(self, place: int) -> tuple[int, int]:
        """The threshold n·2^-e of the split of an input, as n and e."""
        found = decoded(self.data[place + 4 : place + 12])
        if found is None:
            raise CheckError("a threshold is not finite")
        (n,), e = found
        return n, e

    def nodes_of(self, pos: int, groups: list[range], leaf: int | None) -> Iterator[tuple[int, int, bool]]:
        """A tree in preorder, from `pos` to `end`; `leaf` is the size of a leaf, None in the slope rule.

        (place, −1, _) is a leaf, (place, t, True) a split before its child t, (place, t, False) one after its last.
        """
        data, end, depth = self.data, self.end, 0  # depth: phase splits on the path
        places, turns = array("q"), array("q")
        while True:
            need(pos < end, "a tree is cut short")
            kind, place = data[pos], pos
            pos += (leaf or 1) if kind == 0 else 1 + 4 * depth if kind == 4 else 12 if kind == 2 else 4
            need(pos <= end, "a node is cut short")
            if kind not in (0, 4):
                yield place, 0, True
                places.append(place)
                turns.append(0)
                depth += kind == 1
                continue
            yield place, -1, True
            while places:
                turns[-1] += 1
                kind, _, index = self.split(places[-1])
                more = turns[-1] < (len(groups[index]) if kind == 3 else 2)
                yield places[-1], turns[-1], more
                if more:
                    break
                places.pop()
                turns.pop()
                depth -= kind == 1
            else:
                need(pos == end, "bytes follow the last node of a tree")
                return

    def lemmas(self, pos: int, count: int, premise: Premise) -> tuple[list[Lemma], int]:
        """So many lemmas from `pos` on, and where the last one ends."""
        k, m, found = premise.k, premise.net.m, []
        need(count * k * m <= LEMMAS, "lemmas have more numbers than they may have")

        def take(form: str) -> tuple[int, ...]:
            nonlocal pos
            start, pos = pos, pos + struct.calcsize("<" + form)
            need(pos <= self.end, "a lemma is cut short")
            return struct.unpack_from("<" + form, self.data, start)

        for _ in range(count):
            (unit,), beta = take("H"), take(f"{k}i")
            need(unit < premise.net.units, "a lemma is about a unit that is not there")
            subsets = 1 << sum(v > 0 for v in beta)
            negative = sum(v < 0 for v in beta)
            theta = take(f"{subsets * negative}i")
            found.append(
                (unit, beta, [theta[p * negative : (p + 1) * negative] for p in range(subsets)], take(f"{k * m}i"))
            )
        return found, pos

    def scan(self, pos: int, premise: Premise, leaf: int | None, lemmas: int = 0) -> int:
        """Check the form of all nodes of a row; the answer is a denominator for the thresholds of splits."""
        net, k, pinned, finest, count = premise.net, premise.k, premise.pinned, 1, 0
        for place, turn, _ in self.nodes_of(pos, net.space.groups, leaf):
            count += turn <= 0
            need(count <= self.nodes, "too many nodes")
            if turn < 0:
                need(leaf is None or self.data[place] == 0, "the leaf rule has no empty leaves")
            elif turn == 0:
                (kind, copy, index), shared = self.split(place), leaf is None
                there = {1: net.units, 2: net.m, 3: len(net.space.groups), 5: len(net.flips)}.get(kind, 0)
                need(index < there, "a node has an unknown kind or splits something that is not there")
                if kind == 2:
                    need(index not in net.space.grouped, "a node splits a member of a group")
                    _, e = self.theta(place)
                    finest = finest if net.steps[index] else max(finest, 1 << e)
                if kind in (2, 3):
                    shared = all(pinned[i] for i in (net.space.groups[index] if kind == 3 else (index,)))
                need(shared or leaf is not None, "the slope rule splits a moving input")
                need(copy == ALL if shared else copy < k, "a node names the wrong copy")
        self.spend(count, premise, lemmas, len(premise.extra))
        return finest


class Cell:
    """The current node's cell and the ranges of s over it.

    low[c], high[c] are the ends of s_j(x_c) for c < k, and for k = 2 low[2], high[2] those of s_j(x_1) − s_j(x_2); they
    are sums over coordinates and groups, brought up to date where a split has changed a bound since.
    """

    def __init__(self, premise: Premise, offset: Ints, x: int, one_point: bool = False) -> None:
        net = self.net = premise.net
        self.x, self.pinned, self.groups = x, premise.pinned, net.space.groups

        def scaled(lines: list[Ints]) -> list[Ints]:
            by = x // premise.scale  # exact: x is a multiple
            return [[v * by for v in line] for line in lines]

        self.lo, self.hi = scaled(premise.whole_numbers("lo")), scaled(premise.whole_numbers("hi"))
        self.allowed = [[premise.allows(c, group) for group in self.groups] for c in range(premise.k)]
        self.delta = [(low, high) for low, high in scaled(premise.whole_numbers("delta"))]
        self.k = k = 1 if one_point else premise.k
        if one_point:  # the hull of the copies; all groups are pinned, so both copies allow the same categories
            self.lo, self.hi = [list(map(min, *self.lo))], [list(map(max, *self.hi))]
        tracks = k + (k == 2)
        self.low = [list(offset) if c < k else [0] * net.units for c in range(tracks)]
        self.high = [list(line) for line in self.low]
        self.columns = [[line[i] for line in net.weight] for i in range(net.m)]
        self.phase = [[[0] * net.units for _ in range(k)] for _ in "≤≥"]  # splits on the path: s ≤ 0, s ≥ 0
        self.turn = [[[0] * net.n for _ in range(k)] for _ in "≤≥"]  # d ≤ 0, d ≥ 0
        self.path = array("q")  # phase splits: unit + 1 for s ≥ 0, −unit − 1 for s ≤ 0
        self.saved: Ints = []
        self.stale = {i for i in range(net.m) if i not in net.space.grouped}
        self.stale_groups = set(range(len(self.groups)))
        self.ends = {i: [(0, 0)] * tracks for i in self.stale}
        self.parts = {g: [[(0, 0)] * net.units] * tracks for g in self.stale_groups}
        # strips on groups: which members may go 0 → 1 or 1 → 0 from copy 2 to 1, and which must
        self.down, self.same, self.up = ([low <= v <= high for low, high in self.delta] for v in (-x, 0, x))

    def walk(self, reader: Reader, start: int, leaf: int | None) -> Iterator[int]:
        """Places of the leaves in preorder, each while this object is its cell. The form was checked by `scan`."""
        for place, turn, more in reader.nodes_of(start, self.groups, leaf):
            if turn < 0:
                yield place
                continue
            kind, copy, index = reader.split(place)
            if kind in (1, 5):
                table, c = self.phase if kind == 1 else self.turn, copy if copy < self.k else 0
                if turn:
                    table[turn - 1][c][index] -= 1
                if more:
                    table[turn][c][index] += 1
                if kind == 1 and turn:
                    self.path.pop()
                if kind == 1 and more:
                    self.path.append(index + 1 if turn else -index - 1)
                continue
            copies = range(self.k) if copy == ALL else (copy,)
            sides = (self.hi, self.lo) if kind == 2 else [self.allowed] * len(self.groups[index])
            for c in copies if turn else ():
                sides[turn - 1][c][index] = self.saved[-1]
            if turn:
                self.saved.pop()
            if more:
                self.saved.append(sides[turn][copies[0]][index])
            for c in copies if more else ():
                if kind == 2:  # both children closed; whole values: x ≤ ⌊θ⌋ and x ≥ ⌊θ⌋ + 1
                    n, e = reader.theta(place)
                    cut = ((n >> e) + turn) * self.x if self.net.steps[index] else n * self.x >> e
                    sides[turn][c][index] = (max if turn else min)(sides[turn][c][index], cut)
                else:
                    self.allowed[c][index] &= 1 << turn
            (self.stale if kind == 2 else self.stale_groups).add(index)

    def members(self, c: int, g: int) -> list[int]:
        """Categories that copy c may take."""
        return [p for p, bit in enumerate(reversed(f"{self.allowed[c][g]:b}")) if bit == "1"]

    def group_max(self, values: Sequence[Sequence[int]], g: int) -> int | None:
        """The largest Σ_c values[c][p_c] over allowed tuples of categories; None if there is none."""
        k, group = self.k, self.groups[g]
        choices = [self.members(c, g) for c in range(k)]
        found: Ints = []
        if k == 2:
            one, two = choices
            must = {p for p, i in enumerate(group) if not self.same[i]}  # members that differ between the copies
            up, down = [p for p in one if self.up[group[p]]], [p for p in two if self.down[group[p]]]
            if not must:
                found += [values[0][p] + values[1][p] for p in set(one).intersection(two)]
                if up and down:  # if the best two are one category, it is among those above
                    found.append(max(values[0][p] for p in up) + max(values[1][p] for p in down))
            else:  # one of the two is any of these; a strip without 0 allows it one way only
                z = next(iter(must))
                pairs = ([(z, q) for q in down] if z in up else []) + ([(p, z) for p in up] if z in down else [])
                found += [values[0][p] + values[1][q] for p, q in pairs if must <= {p, q}]
        else:
            loose = [[p for p in some if not self.pinned[group[p]]] for some in choices]
            if all(loose):
                found.append(sum(max(values[c][p] for p in loose[c]) for c in range(k)))
            found += [sum(line[p] for line in values) for p in set(choices[0]).intersection(*choices)]
        return max(found, default=None)

    def update(self) -> bool:
        """Bring the ranges up to date; False if the cell is empty."""
        k, weight = self.k, self.net.weight
        ends: dict[int, list[tuple[int, int]]] = {}
        for i in self.stale:
            ends[i] = [(self.lo[c][i], self.hi[c][i]) for c in range(k)]
            if k == 2:
                (a, b), (c, d), (low, high) = *ends[i], self.delta[i]
                ends[i].append((max(low, a - d), min(high, b - c)))
            if any(low > high for low, high in ends[i]):
                return False
        if any(self.group_max([range(len(self.groups[g]))] * k, g) is None for g in self.stale_groups):
            return False
        for i, new in ends.items():
            for track, ((low, high), (a, b)) in enumerate(zip(new, self.ends[i], strict=True)):
                if low != a or high != b:
                    lows, highs, low_by, high_by = self.low[track], self.high[track], low - a, high - b
                    for j, w in enumerate(self.columns[i]):
                        lows[j] += w * (low_by if w > 0 else high_by)
                        highs[j] += w * (high_by if w > 0 else low_by)
            self.ends[i] = new
        for g in self.stale_groups:
            parts: list[list[tuple[int, int]]] = [[] for _ in self.parts[g]]
            for line in weight:
                w = [line[i] for i in self.groups[g]]
                for c in range(k):
                    some = [w[p] for p in self.members(c, g)]
                    parts[c].append((self.x * min(some), self.x * max(some)))
                if k == 2:
                    minus = [-v for v in w]
                    low, high = self.group_max([minus, w], g), self.group_max([w, minus], g)
                    assert low is not None and high is not None  # seen above
                    parts[2].append((-self.x * low, self.x * high))
            for track, part in enumerate(parts):
                for j, ((low, high), (a, b)) in enumerate(zip(part, self.parts[g][track], strict=True)):
                    self.low[track][j] += low - a
                    self.high[track][j] += high - b
            self.parts[g] = parts
        self.stale.clear()
        self.stale_groups.clear()
        return True

    def range_of(self, slope: Ints, const: int, c: int) -> tuple[int, int]:
        """The range of slope·x_c + const over the cell's bounds of copy c."""
        low = high = const
        for i in self.ends:
            ends, q = (self.lo[c][i], self.hi[c][i]), slope[i]
            low += q * ends[q < 0]
            high += q * ends[q > 0]
        for g, group in enumerate(self.groups):
            some = [slope[group[p]] for p in self.members(c, g)]
            low += self.x * min(some)
            high += self.x * max(some)
        return low, high


# ---- 4.1 leaf rule --------------------------------------------------------------------------------------------------


def corner(q: int, r: int, a: int, b: int, c: int, d: int, low: int, high: int) -> int:
    """max q·x + r·y over a ≤ x ≤ b, c ≤ y ≤ d, low ≤ x − y ≤ high, all six bounds attained.

    If q and r have one sign, x and y can move together until one is at its end; if not, moving along x − y = const
    changes the value in one direction, until x or y is at the end it likes. So some best point has x or y at that end.
    """
    x = b if q > 0 else a
    y = min(d, x - low) if r > 0 else max(c, x - high)
    value = q * x + r * y
    y = d if r > 0 else c
    x = min(b, y + high) if q > 0 else max(a, y + low)
    return max(value, q * x + r * y)


def joint(a: int, b: int, c: int, d: int, low: int, high: int, kx: int, tx: int, ky: int, ty: int) -> int | None:
    """max kx·relu(x) − tx·x + ky·relu(y) − ty·y over a ≤ x ≤ b, c ≤ y ≤ d, low ≤ x − y ≤ high; None if empty."""
    a, b, c, d = max(a, c + low), min(b, d + high), max(c, a - high), min(d, b - low)
    if a > b:  # then c > d too
        return None
    px, py = kx - tx, ky - ty
    if (a >= 0 or b <= 0) and (c >= 0 or d <= 0):
        return corner(px if a >= 0 else -tx, py if c >= 0 else -ty, a, b, c, d, max(low, a - d), min(high, b - c))
    # convex in x where kx ≥ 0: then no vertex on x = 0 is needed, and likewise for y
    kink_x, kink_y = kx < 0 and a < 0 < b, ky < 0 and c < 0 < d
    found = []
    for x in (a, b, 0) if kink_x else (a, b):
        least, most = max(c, x - high), min(d, x - low)
        fx = (px if x > 0 else -tx) * x
        found.append(fx + (py if least > 0 else -ty) * least)
        found.append(fx + (py if most > 0 else -ty) * most)
        if kink_y and least < 0 < most:
            found.append(fx)
    for y in (c, d, 0) if kink_y else (c, d):
        least, most = max(a, y + low), min(b, y + high)
        fy = (py if y > 0 else -ty) * y
        found.append(fy + (px if least > 0 else -tx) * least)
        found.append(fy + (px if most > 0 else -tx) * most)
    return max(found)


def single(a: int, b: int, k: int, t: int) -> int:
    """max k·relu(s) − t·s over a ≤ s ≤ b."""
    ends = [(k - t if s > 0 else -t) * s for s in (a, b)]
    return max(*ends, 0) if a < 0 < b else max(ends)


def leaf_rule(goal: Goal, proof: dict[str, Any], reader: Reader) -> Fraction:
    """The largest bound over all leaves that are not closed."""
    premise, net, k = goal.premise, goal.premise.net, goal.premise.k
    units, bits, start = proof["units"], proof["bits"], reader.piece(proof)
    good = is_sizes(units) and units == sorted(set(units))
    need(good and (not units or units[-1] < net.units), "units is malformed")
    flips, slopes, rows, count = k * len(net.flips), k * len(units), len(premise.extra), proof.get("lemmas", 0)
    need("lemmas" not in proof or (is_int(count) and count >= 1), "lemmas is malformed")
    lemmas, start = reader.lemmas(start, count, premise)
    form = struct.Struct(f"<{flips + slopes + rows + count}i")
    finest = reader.scan(start, premise, 1 + form.size, count)
    psi = goal.compose(bits + USES if lemmas else bits, math.lcm(premise.scale, finest))
    cell = Cell(premise, psi.offset, psi.x) if reader.data[start] else premise.cell
    leaf = Leaf(goal, psi, cell, units, bits)
    leaf.learn(lemmas)
    best = None
    for pos in leaf.cell.walk(reader, start, 1 + form.size):
        numbers = form.unpack_from(reader.data, pos + 1)
        nu, used = numbers[flips + slopes : flips + slopes + rows], numbers[flips + slopes + rows :]
        good = all(value >= 0 or same for value, (_, _, same) in zip(nu, premise.extra, strict=True))
        need(good and all(value >= 0 for value in used), "a multiplier of an inequality is negative")
        bound = leaf.bound(numbers[:flips], numbers[flips : flips + slopes], nu, used)
        if bound is not None and (best is None or bound > best):
            best = bound
    need(best is not None, "all leaves are closed although the premise is not empty")
    return Fraction(best or 0, psi.value_scale)


@dataclass
class Rest:
    """What is left of Σ_c ψ_c on a leaf: a constant, slopes q_c on the inputs, weights κ_c on hidden units."""

    total: int
    q: list[Ints]
    kappa: list[Ints]


class Leaf:
    """The bound of one leaf after the other, for one row and its tree."""

    def __init__(self, goal: Goal, psi: Psi, cell: Cell, units: list[int], bits: int) -> None:
        self.psi, self.cell, self.units, self.bits, self.k = psi, cell, units, bits, goal.premise.k
        net = self.net = goal.premise.net
        self.t_scale = psi.d << (net.e + psi.f - bits)  # slopes of s to the scale of κ
        self.tau_scale = psi.d << (psi.f - bits)  # slopes of d to the scale of p
        nu_scale = psi.slope_scale // psi.d >> bits
        self.nu: list[tuple[dict[tuple[int, int], int], int, int]] = []  # extra rows at the scale of ν·q and ν·ψ
        for terms, rhs, _ in goal.premise.extra:
            wider = sum((abs(a) * net.omega[i] for (_, i), a in terms.items()), Fraction(0))
            coefs = {key: int(a * psi.d) * nu_scale for key, a in terms.items()}
            self.nu.append((coefs, int(rhs * psi.d) * nu_scale * psi.x, int(wider * psi.d * psi.x) * nu_scale))
        self.columns = [[net.weight[j][i] for j in units] for i in range(net.m)]
        self.offset = [psi.offset[j] for j in units]
        self.tied = [i for i in cell.ends if cell.pinned[i]]
        self.moving = [i for i in cell.ends if not cell.pinned[i]]
        self.flip_columns = [[line[0][i] for line in psi.flips] for i in range(net.m)]

    def learn(self, lemmas: list[Lemma]) -> None:
        """Σ_c β_c·relu(s_j(x_c)) ≤ Σ_c H_c·x_c + r on the premise, H_c = h_c·mult at 2^(bits+e+em), r at that times x.

        (h·u = H·x − H·shift, and r has the same constant with the other sign: it is left out of both.)
        """
        net, k, m = self.net, self.k, self.net.m
        self.lemmas: list[tuple[int, Sequence[int], list[Ints], int]] = []
        self.use_scale = 0
        if lemmas:
            self.use_scale = self.psi.d << (net.e + self.psi.f - self.bits - USES)
            self.cell.update()  # the premise holds the witness, so it is not empty
        for j, beta, theta, h in lemmas:
            lines = [[v * w << net.e for v, w in zip(h[c * m : c * m + m], net.mult, strict=True)] for c in range(k)]
            values = []
            for p, given in enumerate(theta):
                on, rest = iter(range(k)), iter(given)
                t = [v * (p >> next(on) & 1) if v > 0 else min(0, max(v, next(rest))) if v else 0 for v in beta]
                q = [
                    [v * w - a for w, a in zip(net.weight[j], line, strict=True)]
                    for v, line in zip(t, lines, strict=True)
                ]
                values.append(sum(t) * self.psi.offset[j] + self.greatest(q))
            self.lemmas.append((j, beta, lines, max(values)))

    def greatest(self, q: list[Ints]) -> int:
        """max Σ_c q_c·x_c over the cell, coordinate by coordinate and group by group."""
        cell, k, total, sums = self.cell, self.k, 0, list(map(sum, zip(*q, strict=True)))
        for i in self.tied:
            v = sums[i]
            total += v * (cell.hi if v > 0 else cell.lo)[0][i]
        for i in self.moving:
            if k == 2:
                (a1, b1), (a2, b2), (low, high) = cell.ends[i]
                tight = max(a1, a2 + low), min(b1, b2 + high), max(a2, a1 - high), min(b2, b1 - low)
                total += corner(q[0][i], q[1][i], *tight, low, high)
            else:
                total += sum(line[i] * (cell.hi if line[i] > 0 else cell.lo)[c][i] for c, line in enumerate(q))
        for g, group in enumerate(cell.groups):
            best = cell.group_max([[line[i] for i in group] for line in q], g)
            assert best is not None  # `update` has seen to it
            total += self.psi.x * best
        return total

    def bound(self, tau: Whole, slopes: Whole, nu: Whole, used: Whole) -> int | None:
        """The four steps of §4.1; None if the leaf is closed."""
        ranges = self.intervals() if self.cell.update() else None
        if ranges is None:
            return None
        rest = Rest(self.psi.const, self.psi.q, self.psi.kappa)
        if self.psi.flips and not self.unflip(rest, tau, *ranges):
            return None
        if any(used):
            self.use(rest, used)
        size = len(self.units)
        t = [slopes[c * size : c * size + size] for c in range(self.k)]
        if not self.unkink(rest, t, *ranges):
            return None
        if any(nu):
            self.subtract(rest, nu)
        return rest.total + self.greatest(self.affine(rest.q, t))

    def intervals(self) -> tuple[list[Ints], list[Ints]] | None:
        """Step 1: intervals [a_cj, b_cj] of the hidden units, cut by phases; None if one is empty."""
        cell = self.cell
        a = [
            [0 if p and v < 0 else v for v, p in zip(cell.low[c], cell.phase[1][c], strict=True)] for c in range(self.k)
        ]
        b = [
            [0 if p and v > 0 else v for v, p in zip(cell.high[c], cell.phase[0][c], strict=True)]
            for c in range(self.k)
        ]
        return (a, b) if all(v <= w for c in range(self.k) for v, w in zip(a[c], b[c], strict=True)) else None

    def unflip(self, rest: Rest, tau: Whole, a: list[Ints], b: list[Ints]) -> bool:
        """Step 2: flip units leave by p·relu(d) ≤ τ·d + ρ; False if no value of one is left."""
        psi, turn, n = self.psi, self.cell.turn, len(self.psi.flips)
        q, kappa = [], []
        for c in range(self.k):
            t = [v * self.tau_scale for v in tau[c * n : c * n + n]]
            for i, p in enumerate(psi.p[c]):
                low, high = self.flip_range(i, c, a[c], b[c])
                low = max(low, 0) if turn[1][c][i] else low
                high = min(high, 0) if turn[0][c][i] else high
                if low > high:
                    return False
                rest.total += single(low, high, p, t[i]) + t[i] * psi.flips[i][1]
            q.append([v + dot(t, column) for v, column in zip(psi.q[c], self.flip_columns, strict=True)])
            outs = zip(*(out for _, _, out in psi.flips), strict=True)
            kappa.append([v + dot(t, column) for v, column in zip(psi.kappa[c], outs, strict=True)])
        rest.q, rest.kappa = q, kappa
        return True

    def use(self, rest: Rest, used: Whole) -> None:
        """v·(Σ_c H_c·x_c + r − Σ_c β_c·relu(s_j(x_c))) ≥ 0 is added for every lemma."""
        q, kappa = [list(line) for line in rest.q], [list(line) for line in rest.kappa]
        for given, (j, beta, lines, r) in zip(used, self.lemmas, strict=True):
            if given:
                v = given * self.use_scale
                rest.total += v * r
                for c in range(self.k):
                    kappa[c][j] -= v * beta[c]
                    q[c] = [a + v * b for a, b in zip(q[c], lines[c], strict=True)]
        rest.q, rest.kappa = q, kappa

    def unkink(self, rest: Rest, t: list[Whole], a: list[Ints], b: list[Ints]) -> bool:
        """Step 3: hidden units leave by Σ_c κ_cj·relu(s_c) ≤ Σ_c t_cj·s_c + r_j; False if no value of one is left."""
        kappa, cell = rest.kappa, self.cell
        spread = [[0] * self.net.units for _ in range(self.k)]
        for c in range(self.k):
            for j, v in zip(self.units, t[c], strict=True):
                spread[c][j] = v * self.t_scale
        if self.k == 2:
            kinks = kappa[0], spread[0], kappa[1], spread[1]
            for r in map(joint, a[0], b[0], a[1], b[1], cell.low[2], cell.high[2], *kinks):
                if r is None:
                    return False
                rest.total += r
        else:
            rest.total += sum(sum(map(single, a[c], b[c], kappa[c], spread[c])) for c in range(self.k))
        rest.total += self.t_scale * sum(dot(t[c], self.offset) for c in range(self.k))
        return True

    def subtract(self, rest: Rest, nu: Whole) -> None:
        """Extra rows of the premise: ν·(A·x − rhs) ≤ 0."""
        q = [list(line) for line in rest.q]
        for v, (terms, rhs, wider) in zip(nu, self.nu, strict=True):
            rest.total += v * rhs + abs(v) * wider
            for (c, i), coef in terms.items():
                q[c][i] -= v * coef
        rest.q = q

    def affine(self, q: list[Ints], t: list[Whole]) -> list[Ints]:
        """Step 4: slopes of the affine remainder; a tied input takes those of all copies in the first."""
        if not self.units:
            return q
        together, slope = [sum(column) for column in zip(*t, strict=True)], []
        for c in range(self.k):
            lines = [(together if c == 0 else ()) if pinned else t[c] for pinned in self.cell.pinned]
            terms = zip(q[c], lines, self.columns, strict=True)
            slope.append([v + self.t_scale * dot(line, column) for v, line, column in terms])
        return slope

    def flip_range(self, i: int, c: int, a: Ints, b: Ints) -> tuple[int, int]:
        """[α, β] of d_i: units that are decided count as affine, the others with weight·[0, b]."""
        slope, const, out = self.psi.flips[i]
        least = most = 0
        for j, v in enumerate(out):
            if v and b[j] > 0:
                if a[j] >= 0:
                    slope = [s + v * w for s, w in zip(slope, self.net.weight[j], strict=True)]
                    const += v * self.psi.offset[j]
                else:
                    least, most = least + min(0, v * b[j]), most + max(0, v * b[j])
        low, high = self.cell.range_of(slope, const, c)
        return low + least, high + most


# ---- 4.2 sweep rule -------------------------------------------------------------------------------------------------

Point = tuple[int, int]  # n/d with d > 0, compared by cross-multiplication


def compare(p: Point, q: Point) -> int:
    """The sign of p − q."""
    return p[0] * q[1] - q[0] * p[1]


def sweep_rule(goal: Goal, reader: Reader) -> Fraction:
    """The maximum of Σ_c ψ_c over one input."""
    premise, net, k = goal.premise, goal.premise.net, goal.premise.k
    need(net.m == 1 and k <= 2 and not premise.extra, "the sweep rule is for one input and no extra rows")
    reader.spend(net.units + 1, premise)
    psi = goal.compose(0, premise.scale)
    cell = Cell(premise, psi.offset, psi.x)
    weight = [line[0] for line in net.weight]
    order = cmp_to_key(compare)

    def value(c: int, point: Point) -> Point:
        """ψ_c less the constant, which is not part of one copy."""
        n, d = point
        active = [max(0, w * n + s * d) for w, s in zip(weight, psi.offset, strict=True)]
        total = psi.q[c][0] * n + dot(psi.kappa[c], active)
        for (slope, const, out), p in zip(psi.flips, psi.p[c], strict=True):
            total += p * max(0, slope[0] * n + const * d + dot(out, active))
        return total, d

    def candidates(c: int) -> list[Point]:
        """Ends and kinks, in order; of whole values the whole neighbours of the kinks."""
        lo, hi = cell.lo[c][0], cell.hi[c][0]
        points = {(lo, 1), (hi, 1)}
        for w, s in zip(weight, psi.offset, strict=True):
            n, d = (-s, w) if w > 0 else (s, -w)
            if d and net.steps[0]:
                below = n // (d * psi.x) * psi.x
                points |= {(v, 1) for v in (below, below if below * d == n else below + psi.x) if lo <= v <= hi}
            elif d and lo * d < n < hi * d:
                points.add((n, d))
        return sorted(points, key=order)

    if k == 1 or premise.pinned[0]:
        points = [p for c in range(k) for p in candidates(c)]
        best = max(((sum(value(c, p)[0] for c in range(k)), p[1]) for p in points), key=order)
        return (Fraction(*best) + psi.const) / psi.value_scale
    low, high = cell.delta[0]
    inner = candidates(1)
    values, places = [value(1, p) for p in inner], [order(p) for p in inner]
    ranked = sorted(range(len(inner)), key=lambda i: order(values[i]))
    rank = sorted(range(len(inner)), key=ranked.__getitem__)  # the place of each value among all
    found: list[Point] = []
    for n, d in {*candidates(0), *((n + shift * d, d) for n, d in inner for shift in (low, high))}:
        least, most = max(cell.lo[1][0] * d, n - high * d), min(cell.hi[1][0] * d, n - low * d)
        if cell.lo[0][0] * d <= n <= cell.hi[0][0] * d and least <= most:
            between = rank[bisect_left(places, order((least, d))) : bisect_right(places, order((most, d)))]
            some = [value(1, (least, d)), value(1, (most, d)), *([values[ranked[max(between)]]] if between else [])]
            first, second = value(0, (n, d))[0], max(some, key=order)
            found.append((first * second[1] + second[0] * d, d * second[1]))
    need(found, "the sweep finds no pair of inputs")
    return (Fraction(*max(found, key=order)) + psi.const) / psi.value_scale


# ---- 4.3 slope rule -------------------------------------------------------------------------------------------------


def slope_rule(goal: Goal, proof: dict[str, Any], reader: Reader) -> Fraction:
    """σ_i·(q_i + Σ_active κ_j·w_ji) + Σ_undecided max(0, σ_i·κ_j·w_ji) ≤ 0 in every leaf, or the leaf is empty."""
    premise, net, sign = goal.premise, goal.premise.net, goal.ordered()
    need(not premise.extra, "the slope rule is for premises without extra rows")
    start = reader.piece(proof)
    finest = reader.scan(start, premise, None)
    psi = goal.compose(0, math.lcm(premise.scale, finest))
    cell = Cell(premise, psi.offset, psi.x, one_point=True)
    gains = [
        (s * psi.q[0][i], [s * kappa * line[i] for kappa, line in zip(psi.kappa[0], net.weight, strict=True)])
        for i, s in sign.items()
    ]
    for pos in cell.walk(reader, start, None):
        if not cell.update():
            continue
        if reader.data[pos] == 0:
            below, above = cell.phase[0][0], cell.phase[1][0]
            lines = zip(cell.low[0], cell.high[0], below, above, strict=True)
            # 0 inactive, 1 active, 2 undecided
            state = [0 if n or high <= 0 else 1 if p or low >= 0 else 2 for low, high, n, p in lines]
            for q, gain in gains:
                worst = q + sum(g for g, s in zip(gain, state, strict=True) if s == 1 or (s == 2 and g > 0))
                need(worst <= 0, "a slope has the wrong sign in a leaf")
        else:
            multipliers = struct.unpack_from(f"<{len(cell.path)}I", reader.data, pos + 1)
            weights = [0] * net.units
            for v, step in zip(multipliers, cell.path, strict=True):
                weights[abs(step) - 1] += v if step > 0 else -v
            slope = [dot(weights, column) for column in cell.columns]
            high = cell.range_of(slope, dot(weights, psi.offset), 0)[1]
            need(high < 0, "a leaf that is called empty is not shown to be")
    return Fraction(0)


# ---- 4.4 order rule -------------------------------------------------------------------------------------------------


def order_rule(goal: Goal) -> Fraction:
    """Monotone by the signs of the weights, summed in one order: the computed outputs are ordered bit for bit."""
    net = goal.premise.net
    need(net.profile == "fixed-order" and not any(goal.b), "the order rule does not apply")

    def combine(weights: Ints, inputs: Sequence[tuple[bool, bool]]) -> tuple[bool, bool]:
        """Σ w·y rises if all its terms do; what neither rises nor falls for certain may not take part."""
        terms = [(both if w > 0 else both[::-1]) for w, both in zip(weights, inputs, strict=True) if w]
        return all(up for up, _ in terms), all(down for _, down in terms)

    sign = goal.ordered()
    moves = [(sign.get(i, 0) >= 0, sign.get(i, 0) <= 0) for i in range(net.m)]
    units = [combine(line, moves) for line in net.t["lower.weight"]] if net.units else []
    embedding = [combine(line, (moves if "lower.slope" in net.t else []) + units) for line in net.lower()]
    for a, row in zip(goal.a[0], net.t["head_weight"], strict=True):
        rises, falls = combine(row, embedding)
        need(falls if a > 0 else rises or not a, "an output may move in the wrong direction")
    return Fraction(0)


# ---- 4.5 signs rule -------------------------------------------------------------------------------------------------


def signs_rule(goal: Goal, reader: Reader) -> Fraction:
    """Every unit by itself: it is convex, or its arguments are in order, so that its terms add up to no more than 0."""
    premise, net, k = goal.premise, goal.premise.net, goal.premise.k
    need(net.zero_gap and not net.grid, "the signs rule is for boxes of no width and inputs that are not moved")
    lines = [row[0].values() for row in premise.extra]  # each of which may make the numbers of a form that much longer
    digits = sum(max(v.numerator.bit_length() + v.denominator.bit_length() for v in line) for line in lines)
    reader.spend(k * (1 + len(lines)), premise, times=4 * (1 + digits // LONG) ** 2)
    column = next((line for line in zip(*goal.a, strict=True) if any(line)), ())
    alpha = column if sum(v > 0 for v in column) == 1 else tuple(-v for v in column)
    need(sum(v > 0 for v in alpha) == 1 and sum(alpha) == 0, "the signs rule is for one copy against a mean of others")
    first = alpha.index(max(alpha))
    for share, a, b in zip(alpha, goal.a, goal.b, strict=True):
        ratio = share / alpha[first]
        alike = a == [ratio * v for v in goal.a[first]] and b == {
            i: ratio * v for i, v in goal.b[first].items() if ratio
        }
        need(alike, "the signs rule is for copies that are weighed alike")
    both_ways = [i for i, (low, high) in enumerate(premise.delta) if low < 0 < high]
    links = [
        (min((key for key in terms if key[1] in both_ways), default=min(terms)), terms)
        for terms, rhs, same in premise.extra
        if same and rhs == 0
    ]

    def falls(factors: Sequence[Fraction], weights: Ints) -> bool:
        """Whether Σ_c factors_c·(weights·x_c) ≤ 0 on the premise, after equal rows have taken their pivots out."""
        line = [0 if pinned else w for w, pinned in zip(weights, premise.pinned, strict=True)]
        form = {(c, i): by * w for c, by in enumerate(factors) for i, w in enumerate(line)}
        for pivot, terms in links:
            ratio = form[pivot] / terms[pivot]
            for key, v in terms.items():
                form[key] -= ratio * v
        for i, pinned in enumerate(premise.pinned):
            left = [form[c, i] for c in range(k)]
            if any(left) and (sum(left) or not (pinned or (k == 2 and down(left[0], *premise.delta[i])))):
                return False
        return True

    def down(by: Fraction, low: Fraction, high: Fraction) -> bool:
        """Whether by·δ ≤ 0 for every δ from low to high."""
        return by * low <= 0 and by * high <= 0

    psi = goal.compose(0, premise.scale)
    need(falls(alpha, psi.q[first]), "the affine part may rise")
    unit = [[Fraction((c == other) - (c == first)) for c in range(k)] for other in range(k) if alpha[other] < 0]
    for kappa, weights in zip(psi.kappa[first], net.weight, strict=True):
        ways = [alpha] if kappa > 0 else unit if kappa < 0 else []
        need(all(falls(way, weights) for way in ways), "a unit may rise")
    return Fraction(0)


# ---- 4.6 ball rule --------------------------------------------------------------------------------------------------


def ball_rule(goal: Goal) -> Fraction:
    """const + q·(e_1 − e_2) by Cauchy and Schwarz, branch by branch."""
    premise, net = goal.premise, goal.premise.net
    plain = premise.k == 2 and not net.paper and not net.units and not net.grid
    need(plain, "the ball rule is for two copies of a network without hidden units")
    psi = goal.compose(0, premise.scale)
    need(psi.q[0] == [-v for v in psi.q[1]], "the ball rule is for differences")
    q = [Fraction(v, psi.slope_scale) for v in psi.q[0]]
    places = {i for part in premise.parts for i in part.places}

    def length(values: Iterable[Fraction]) -> Fraction:
        return root(sum((v * v for v in values), Fraction(0)))

    def strips(found: Iterable[int]) -> Fraction:
        return sum((max(q[i] * premise.delta[i][0], q[i] * premise.delta[i][1]) for i in found), Fraction(0))

    bound = Fraction(psi.const, psi.value_scale) + length(q[i] * delta for i, delta in premise.axes.items())
    bound += strips(i for i in range(net.m) if i not in places and i not in premise.axes)
    for part in premise.parts:
        known, own = strips(part.places), [q[i] for i in part.places]
        if part.norm.rest is not None:
            stretched = length(v * axis for v, axis in zip(own, part.norm.axes, strict=True))
            known = min(known, stretched + part.norm.rest * length(own))
        bound += known
    return bound


# ---- 5. the rounding margin -----------------------------------------------------------------------------------------

U, ETA, HUGE = Fraction(1, 1 << 53), Fraction(1, 1 << 126), 1 << 1000


def rounding(count: int, total: Fraction, weights: Fraction, inputs: Fraction, eta: Fraction = ETA) -> Fraction:
    """γ·(Σ|w|(Y + e) + |b|) + (1 + γ)·η·(3N + 3 + Σ|w| + Σ(Y + e)),  γ = (N + 5)·u / (1 − (N + 5)·u)."""
    gamma = (count + 5) * U / (1 - (count + 5) * U)
    return gamma * total + (1 + gamma) * eta * (3 * count + 3 + weights + inputs)


Sized = list[tuple[Fraction, Fraction]]  # size and error of values


def lin(net: Net, rows: list[Ints], bias: Ints, inputs: Sized, scales: Sequence[Fraction] = ()) -> Sized:
    """Size and error of Σ w_i·y_i + b per row, from those of the y_i: Σ|w|e and what rounding adds."""
    unit, count = 1 << net.e, len(inputs)
    flat, common = integers([v for pair in inputs for v in pair])
    y, e, out = flat[::2], flat[1::2], []
    for r, (row, b) in enumerate(zip(rows, bias, strict=True)):
        w, constant = list(map(abs, row)), Fraction(abs(b), unit)
        carried, size = Fraction(dot(w, e), unit * common), Fraction(dot(w, y), unit * common) + constant
        scale = scales[r] if scales else Fraction(1)
        eta = ETA * max(Fraction(1), scale)
        error = carried + rounding(count, carried + size, Fraction(sum(w), unit), Fraction(sum(flat), common), eta)
        need(max(Fraction(1), 1 / scale) * (carried + size + error) < HUGE, "the network may overflow")
        out.append((size, error))
    return out


def margins(net: Net) -> list[Fraction]:
    """E_o per output: how far its computed value may lie from one of the real function."""
    t, scale = net.t, net.space.scale
    given, auxiliary = [(s.size, s.error) for s in scale], []
    for part in ("lower.", "second."):
        rows: list[Ints] = [[] for _ in range(net.n)]
        inputs: list[tuple[Fraction, Fraction]] = []
        if part + "slope" in t:
            rows, inputs = t[part + "slope"], list(given)
        if part + "rise" in t:
            rows = [rise + fall for rise, fall in zip(t["second.rise"], t["second.fall"], strict=True)]
            inputs = [s.gap[side] for side in (0, 1) for s in scale]
        if part + "out" in t:
            rows = [row + out for row, out in zip(rows, t[part + "out"], strict=True)]
            inputs += lin(net, t[part + "weight"], t[part + "bias"][0], given)
        auxiliary.append(lin(net, rows, t[part + "const"][0], inputs))
    dips = [[(i, s.dips[side]) for i, s in enumerate(scale) if s.dips[side]] for side in (0, 1)]
    embedding = []
    for i, ((low, e_low), (second, e_second)) in enumerate(zip(*auxiliary, strict=True)):
        e_up, up = max(e_low, e_second), max(low, second)
        if not net.paper:
            e_up, up = e_low + e_second + U * (low + second + e_low + e_second) + ETA, low + second
            need(up + e_up < HUGE, "the box may overflow")
        if "second.rise" in t:  # an affine gap falls below zero where û lies inside the exact scaled bounds
            sides = zip((t["second.rise"][i], t["second.fall"][i]), dips, strict=True)
            e_up += sum((row[k] * by for row, dip in sides for k, by in dip), Fraction(0)) / (1 << net.e)
        embedding.append((max(low, up), max(e_low, e_up)))
    for row, bias, factor in zip(t["head_weight"], t["head_bias"][0], net.scales, strict=True):
        largest = Fraction(max(map(abs, (*row, bias))), 1 << net.e)
        need(largest / factor < HUGE, "the head may overflow")
    head = lin(net, t["head_weight"], t["head_bias"][0], embedding, net.scales)
    if net.profile == "dyadic":
        no_rounding(net)
        return [Fraction(0)] * net.o
    return [error for _, error in head]


def no_rounding(net: Net) -> None:
    """§5.3: no operation after the grid rounds, since every partial sum is a whole number ≤ 2^53 of some 2^-p."""
    t, step, scale = net.t, Fraction(1, 1 << net.grid), net.space.scale
    need(net.zero_gap, "a dyadic network has boxes of no width")
    need(all(2 * s.error <= step for s in scale), "the grid is finer than the scaler's rounding")
    need(all(Fraction(1, 1 << 400) <= s <= 1 << 400 for s in net.scales), "an output scale is too large or too small")

    def total(weights: Ints, bias: int, inputs: list[tuple[int, Fraction]]) -> tuple[int, Fraction]:
        """Σ w·y + b as an exponent and a size, from those of its inputs."""
        size, p = Fraction(abs(bias), 1 << net.e), low_bits(bias)
        for w, (places, most) in zip(weights, inputs, strict=True):
            if w:
                size, p = size + abs(Fraction(w, 1 << net.e)) * most, max(p, places + low_bits(w))
        need(p <= 500 and size * (1 << p) <= 1 << 53, "a sum may be rounded: this is not a dyadic network")
        return p, size

    def low_bits(value: int) -> int:
        """The least e ≥ 0 such that value·2^-net.e is a multiple of 2^-e."""
        return max(0, net.e - ((value & -value).bit_length() - 1)) if value else 0

    inputs = [(net.grid, max(abs(round(v / step)) for v in s.u) * step) for s in scale]
    need(all(size <= 1 << 500 for _, size in inputs), "the domain is too large for a grid")
    layer = zip(t["lower.weight"], t["lower.bias"][0], strict=True) if net.units else ()
    terms = (inputs if "lower.slope" in t else []) + [total(weights, bias, inputs) for weights, bias in layer]
    lower = [total(line, const, terms) for line, const in zip(net.lower(), t["lower.const"][0], strict=True)]
    for row, bias in zip(t["head_weight"], t["head_bias"][0], strict=True):
        total(row, bias, lower)


# ---- the verdict ----------------------------------------------------------------------------------------------------


def check_claim(net: Net, entry: Any, reader: Reader, version: int) -> ClaimReport:
    """All rows of a claim, or of all of its cases."""
    keys = ("claim", "claim_sha256", *(("room",) if version == 2 else ()))
    cases = is_object(entry, *keys, "cases")
    need(cases or is_object(entry, *keys, "witness", "rows"), "a claim's entry is malformed")
    claim = Claim(entry["claim"])
    need(entry["claim_sha256"] == claim_digest(claim.text, version), "a claim was altered: its hash differs")
    need(cases == bool(claim.either), "a claim with clauses is proved by cases, and no other")
    if cases:
        rows = check_cases(net, claim, entry["cases"], reader)
    else:
        premise = reader.premise(net, claim, claim.common)
        premise.check_witness(entry["witness"])
        rows = check_rows(premise, claim.then, entry["rows"], reader)
    if version == 2:
        rows = with_room(net, claim, rows, entry["room"])
    return ClaimReport(formula(claim), claim.text["sentence"], tuple(rows))


def with_room(net: Net, claim: Claim, rows: list[RowReport], given: Any) -> list[RowReport]:
    """§5.4: what rows of the conclusion are granted for rounding: 10^-9 of the right side, or of an output's scale, and
    no more than twice the margin, so that nothing but rounding is excused.
    """
    stated = [row for row in claim.then for _ in range(2 if row[1] == "==" else 1)]
    need(is_texts(given) and len(given) == len(stated), "the room of a claim is malformed")
    rooms = list(map(rational, given))
    for room, (terms, _, rhs) in zip(rooms, stated, strict=True):
        most = (abs(rhs) or scale_of(net, terms)) / 10**9
        need(0 <= room <= most, "a row takes too much room for rounding")
    rooms += [Fraction(0)] * (len(rows) - len(rooms))  # of clauses
    return [replace(row, room=min(room, 2 * row.margin)) for row, room in zip(rows, rooms, strict=True)]


def scale_of(net: Net, terms: Iterable[tuple[Fraction, int, str, str]]) -> Fraction:
    """σ, the largest output_scale of the outputs in a row."""
    found: dict[tuple[int, str], Fraction] = {}
    for coef, copy, kind, name in terms:
        if kind == "out":
            key = copy, net.outputs[0] if name == "" and net.o == 1 else name
            found[key] = found.get(key, Fraction(0)) + coef
    named = {name for (_, name), coef in found.items() if coef}
    return max((s for s, name in zip(net.scales, net.outputs, strict=True) if name in named), default=Fraction(0))


def check_cases(net: Net, claim: Claim, root: Any, reader: Reader) -> list[RowReport]:
    """§3.2: a tree of splits; in each of its cases all rows, and of every clause a mean. The worst of each is told."""
    worst: list[RowReport] = []
    stack: list[tuple[Any, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        if is_object(node, "copy", "coordinate", "at", "below", "above"):
            c, i, at = node["copy"], node["coordinate"], node["at"]
            good = is_int(c) and 0 <= c < claim.k and is_int(i) and 0 <= i < net.given.m and isinstance(at, Real)
            need(good, "a split of cases is malformed")
            stack += [(node["above"], (*path, (c, i, at, -1))), (node["below"], (*path, (c, i, at, 1)))]
            continue
        need(is_object(node, "weights", "witness", "rows"), "a case is malformed")
        weights, common = read_weights(node["weights"], claim)
        reader.work -= claim.size * (READING + (claim.long + common.bit_length()) // WORDS)
        premise = reader.premise(net, claim, common, path)
        premise.check_witness(node["witness"])
        means = zip(claim.either, weights, strict=True)
        combined = [mean(clause, weights) for clause, weights in means]
        found = check_rows(premise, [*claim.then, *combined], node["rows"], reader)
        plain = len(found) - len(combined)
        for at, clause in enumerate(claim.either, plain):  # told as a row whose right side is its first alternative's
            row, shift = found[at], clause[0][2] - found[at].rhs
            text = " or ".join(map(row_text, clause))
            found[at] = RowReport(text, "cases", row.bound + shift, row.margin, row.rhs + shift)
        worst = [max(pair, key=lambda row: row.excess) for pair in zip(worst or found, found, strict=True)]
    return worst


def read_weights(value: Any, claim: Claim) -> tuple[list[list[Fraction]], int]:
    """λ ≥ 0 with sum one for every clause; and a common denominator of theirs and the claim's."""
    good = isinstance(value, list) and len(value) == len(claim.either)
    need(good and all(is_texts(weights) for weights in value), "the weights of a case are malformed")
    out = [list(map(rational, weights)) for weights in value]
    for weights, clause in zip(out, claim.either, strict=True):
        need(len(weights) == len(clause) and min(weights) >= 0 and sum(weights) == 1, "weights are not those of a mean")
    return out, common_denominator(claim.common, (w for weights in out for w in weights))


def mean(clause: list[Row], weights: list[Fraction]) -> Row:
    """Σ_r λ_r·l_r ≤ Σ_r λ_r·c_r: where it holds, one l_r ≤ c_r does."""
    terms = [
        (w * coef, c, kind, name) for w, row in zip(weights, clause, strict=True) for coef, c, kind, name in row[0]
    ]
    return terms, "<=", sum((w * row[2] for w, row in zip(weights, clause, strict=True)), Fraction(0))


def check_rows(premise: Premise, conclusion: list[Row], proofs: Any, reader: Reader) -> list[RowReport]:
    """One proof per row."""
    goals = [Goal(premise, row, sign) for row in conclusion for sign in ((1, -1) if row[1] == "==" else (1,))]
    need(isinstance(proofs, list) and len(proofs) == len(goals), "a claim has another number of rows than proofs")
    rows: list[RowReport] = []
    place = ("rule", "bits", "start", "length")
    for goal, proof in zip(goals, proofs, strict=True):
        rule = proof.get("rule") if isinstance(proof, dict) else None
        margin = goal.margin()
        reader.row(premise)
        if rule == "leaf" and is_object(proof, *place, "units", *({"lemmas"} & set(proof))):
            bound = leaf_rule(goal, proof, reader)
        elif rule == "slope" and is_object(proof, *place):
            bound = slope_rule(goal, proof, reader)
        elif rule == "sweep" and is_object(proof, "rule"):
            bound = sweep_rule(goal, reader)
        elif rule == "order" and is_object(proof, "rule"):
            reader.spend(1, premise)
            bound = margin = order_rule(goal)
        elif rule == "signs" and is_object(proof, "rule"):
            bound = signs_rule(goal, reader)
        elif rule == "ball" and is_object(proof, "rule"):
            reader.spend(1, premise)
            bound = ball_rule(goal)
        else:
            need(rule == "mirror" and is_object(proof, "rule", "of"), "a row's proof is malformed")
            of = proof["of"]
            need(is_int(of) and 0 <= of < len(rows) and rows[of].rule != "mirror", "a mirror shows no earlier row")
            other = goals[of]
            same = goal.a == other.a[::-1] and goal.b == other.b[::-1] and goal.rhs == other.rhs
            need(premise.symmetric and same, "a mirror shows another row")
            bound, margin = rows[of].bound, rows[of].margin
        rows.append(RowReport(row_text(goal.row), str(rule), bound, margin, goal.rhs))
    return rows


# ---- words ----------------------------------------------------------------------------------------------------------


def decimal(value: Fraction) -> str:
    """Seven digits, rounded up."""
    context = Context(prec=7, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def hexadecimal(value: Fraction) -> str:
    """``-3/ff``: Python limits the length of decimal numbers only."""
    return f"{value.numerator:x}/{value.denominator:x}"


@lru_cache(maxsize=1 << 12)
def number(value: Fraction) -> str:
    """A user's number: a decimal where that is short and exact, else p/q."""
    for digits in range(31):
        if 10**digits % value.denominator == 0:
            text = str(abs(value.numerator) * (10**digits // value.denominator)).rjust(digits + 1, "0")
            return ("-" if value < 0 else "") + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
    return f"{value.numerator}/{value.denominator}"


def divisor(value: Fraction) -> str:
    """The number behind a division sign: x / 1/3 would be a third of x."""
    text = number(value)
    return f"({text})" if "/" in text else text


@lru_cache(maxsize=1 << 12)
def access(name: str) -> str:
    """``["name"]``: quoted, so that no name can be taken for a formula."""
    return f"[{quoted(name)}]"


def quoted(text: str) -> str:
    """A text of the files between quotation marks that it cannot end."""
    return json.dumps(text, ensure_ascii=False)


def row_line(row: RowReport) -> str:
    """A row and what was shown of it."""
    word = "holds" if row.excess <= 0 else f"holds up to {decimal(row.excess)}, for rounding"
    word = word if row.holds else f"NOT SHOWN, up to {decimal(row.excess)} too large"
    known = f"{decimal(row.bound)} + {decimal(row.margin)} rounding"
    return f"{row.text}: {word} (left side ≤ {known}; {row.rule} rule)"


UNITS, MANY = {Fraction(1), Fraction(-1)}, 8


def row_text(row: Row) -> str:
    """``a.out - 2 * b["income"] <= 0.1``"""
    out = ""
    for coef, copy, kind, name in row[0]:
        reference = "abcd"[copy] + (access(name) if kind == "in" else ".out" + (access(name) if name else ""))
        sign = "- " if coef.numerator < 0 else "+ "
        size = "" if coef in UNITS else f"{number(abs(coef))} * "
        out += (" " if out else "") + (sign if out else sign.strip(" +")) + size + reference
    return f"{out or '0'} {row[1]} {number(row[2])}"


def row_texts(rows: Sequence[Row]) -> list[str]:
    """Rows in symbols; what is said of more than `MANY` features is written once, with "*" for the feature."""
    shapes = [
        row_text(([(*term[:3], "*") for term in terms], op, rhs)) if len({name for *_, name in terms}) == 1 else ""
        for terms, op, rhs in rows
    ]
    named: dict[str, list[str]] = {shape: [] for shape in shapes if shape}
    for row, shape in zip(rows, shapes, strict=True):
        if shape:
            named[shape].append(row[0][0][3])
    many = {shape: names for shape, names in named.items() if len(names) > MANY}
    said = [
        f'{shape} for each of {len(n)} features in place of "*": {quoted(n[0])}, {quoted(n[1])}, … {quoted(n[-1])}'
        for shape, n in many.items()
    ]
    return said + [row_text(row) for row, shape in zip(rows, shapes, strict=True) if shape not in many]


def ball_text(ball: dict[str, Fraction]) -> str:
    """``norm2(a["x"] - b["x"], …) <= 0.3``, each difference divided by its δ where these are not all the same."""
    names, same = list(ball), len(set(ball.values())) == 1
    first, last = access("*"), number(ball[names[0]]) if same else "1"
    if same and len(names) > MANY:
        shown = f"{quoted(names[0])}, {quoted(names[1])}, … {quoted(names[-1])}"
        return f'norm2(a{first} - b{first} for each of {len(names)} features in place of "*": {shown}) <= {last}'
    lines = [f"a{access(name)} - b{access(name)}" for name in names]
    lines = lines if same else [f"({t}) / {divisor(v)}" for t, v in zip(lines, ball.values(), strict=True)]
    return f"norm2({', '.join(lines)}) <= {last}"


def formula(claim: Claim) -> str:
    """The claim in symbols, made from its rows."""
    names, parts = "abcd"[: claim.k], row_texts(claim.when)
    parts += [ball_text(claim.ball)] if claim.ball else []
    if claim.k > 1:
        parts += [" == ".join(copy + access(name) for copy in names) for name in claim.text["equal"]]
        parts += [f"{quoted(name)} free" for name in claim.text["free"]]
        parts.append(f"other features {claim.text['others']}")
    said = [*map(row_text, claim.then), *(" or ".join(map(row_text, clause)) for clause in claim.either)]
    return f"∀ {', '.join(names)} ∈ X: {', '.join(parts)}{' ⇒ ' if parts else ''}{', '.join(said)}"


def main(arguments: Sequence[str]) -> int:
    """Print the report of one folder, for programs with ``--json``; the exit code is the verdict."""
    folders = [argument for argument in arguments if argument != "--json"]
    if len(folders) != 1:
        sys.stderr.write("usage: python -m smilenn.certify.check [--json] FOLDER\n")
        return 2
    report = check_folder(folders[0])
    if len(arguments) > 1:
        sys.stdout.write(json.dumps(report.to_json()))
    else:
        text, encoding = "\n".join(report.lines()) + "\n", sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
