"""The fast checker of audits: ``python -m smilenn.certify.check_deep audit/``, or this file alone, copied anywhere.

Implements docs/audit-certificate.md (section numbers below are its own) with the standard library and whole numbers
only. Ranges are multiples of 2^-G, coefficients κ and slopes t of 2^-K, weights of 2^-E; all are integers, and whatever
does not fit its grid is rounded so that bounds grow. Floats are read from their bits.

    >>> check_folder("no such folder").exit_code
    2
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
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import Any

G = K = 40
NODES, DEPTH, WORK, MIB = 1 << 22, 512, 1 << 37, 1 << 20
LAYER, UNIT, OPENED, INPUTS, SCALED = 1 << 10, 1 << 6, 1 << 11, 1 << 8, 1 << 12  # units of work, section 6
DEEPEST = 64  # nesting of audit.json
LONGEST = 192  # dropped bits up to which matrices are packed: a short file may not fill the memory
FILES = {"audit.json": 64 * MIB, "network.bin": 8 * MIB, "proofs.bin": 256 * MIB}
SHARE = "share.json"  # in place of audit.json: a folder about labels, section 7
ROUNDOFF = {"float32": (4, 8, 24), "float64": (8, 11, 53)}  # bytes, bits of the exponent, digits of the significand
EXIT = {"certified": 0, "violated": 1, "refused": 1, "unreadable": 2, "unknown": 3}
OWN, STORED, PHASE, INPUT, LEMMAS, SINGLES = range(6)
OPEN, POSITIVE, OTHER, SPLIT = range(4)  # nodes of a proof about labels
WHOLE = 1 << 24  # whole numbers up to here are floats of either type
Octagon = tuple[int, int, int, int, int, int]
Point = tuple[int, int, int, int]  # s_1, s_2, relu(s_1), relu(s_2)
Ints = list[int]


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


# ---- 6. the answer --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowReport:
    """One row: `found` ≤ max left ≤ `real` without rounding and ≤ `computed` in the network's own arithmetic."""

    text: str
    statement: tuple[str, ...]
    found: Fraction
    real: Fraction
    computed: Fraction
    rhs: Fraction | None
    leaves: int

    @property
    def status(self) -> str:
        """``proved`` or ``violated`` against the right side; ``bracket`` where none was asked for."""
        if self.rhs is None:
            return "bracket"
        return "proved" if self.computed <= self.rhs else "violated" if self.found > self.rhs else "unknown"


@dataclass(frozen=True)
class Report:
    """What the checker found; `certificate` and `network` are digests of audit.json and of the weights."""

    status: str
    reason: str = ""
    certificate: str = ""
    network: str = ""
    dtype: str = ""
    rows: tuple[RowReport, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused or violated, 2 unreadable, 3 unknown."""
        return EXIT[self.status]

    def to_json(self) -> dict[str, Any]:
        """The report for other programs; numbers are fractions as text."""
        rows = [
            {k: str(v) if isinstance(v, Fraction) else v for k, v in asdict(row).items()} | {"status": row.status}
            for row in self.rows
        ]
        return {**asdict(self), "rows": rows}

    def lines(self) -> list[str]:
        """The report as text, names on one line each."""
        if not self.rows:
            return [printable(f"{self.status}: {self.reason}")]
        out = [f"{self.status} ({self.dtype} network {self.network[:16]}…, certificate {self.certificate[:16]}…)"]
        for number, row in enumerate(self.rows, 1):
            limit = "" if row.rhs is None else f" (at most {decimal(row.rhs, ROUND_FLOOR)} was asked: {row.status})"
            out += [f"row {number}: comment, not checked: {row.text}", *(f"  {line}" for line in row.statement)]
            out.append(f"  largest value: at least {decimal(row.found, ROUND_FLOOR)}, reached by a stored pair")
            out.append(f"  at most {decimal(row.real, ROUND_CEILING)} in exact arithmetic")
            out.append(f"  at most {decimal(row.computed, ROUND_CEILING)} as computed in {self.dtype}{limit}")
        return [printable(line) for line in out]


def printable(text: str) -> str:
    """A text on one line that cannot move a cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def decimal(value: Fraction, rounding: str) -> str:
    """Nine digits, rounded as asked."""
    context = Context(prec=9, rounding=rounding, Emax=10**6, Emin=-(10**6))
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context))


def check_folder(path: str | os.PathLike[str]) -> Report:
    """Check the certificate of an audit's folder; every failure is in the report, nothing is raised."""
    try:
        return _check(os.fspath(path))
    except CheckError as error:
        return Report(error.status, str(error))


def _check(folder: str) -> Report:
    files = {name: read_file(folder, name) for name in FILES}
    content = parse(files["audit.json"])
    version: Any = content.get("version")
    known = content.get("format") == "smilenn-audit" and type(version) is int and version in (1, 2)
    need(known, "this is not an audit of version 1 or 2")
    keys = {"format", "version", "source", "network", "inputs", "outputs", "proofs_sha256", "rows"}
    need(set(content) == keys, "audit.json has missing or unknown keys")
    need(content["proofs_sha256"] == sha256(files["proofs.bin"]), "proofs.bin is not the file of this audit")
    net = Net(content["network"], files["network.bin"], version)
    names = [texts(content[key], count) for key, count in (("inputs", net.sizes[0]), ("outputs", net.sizes[-1]))]
    need(isinstance(content["rows"], list) and content["rows"], "the audit has no rows")
    need(isinstance(content["source"], str), "the audit's source is not a text")
    rows = judged([Row(entry, net, names) for entry in content["rows"]], files["proofs.bin"], Work())
    states = {row.status for row in rows}
    status = next((s for s in ("violated", "unknown") if s in states), "certified")
    return Report(status, "", sha256(files["audit.json"]), sha256(files["network.bin"]), net.dtype, tuple(rows))


def judged(rows: list[Row], data: bytes, work: Work) -> list[RowReport]:
    """The rows with their bounds; in version 2 a row without a proof of its own has that of the row before it."""
    at, out, sharing = 0, [], 0
    for k, row in enumerate(rows):
        if k < sharing:
            continue
        sharing = next((i for i in range(k + 1, len(rows)) if not rows[i].shares(row)), len(rows))
        need(0 <= row.size <= len(data) - at, "proofs.bin is too short")
        proof, at, some = data[at : at + row.size], at + row.size, rows[k:sharing]
        found = [one.found(work) for one in some]
        computed, leaves = Proof(row.net, some, proof, True, work).bound()
        real = Proof(row.net, some, proof, False, work).bound()[0] if row.net.second is row.net else computed
        out += [
            RowReport(one.text, one.statement(), least, most, as_computed, one.rhs, leaves)
            for one, least, most, as_computed in zip(some, found, real, computed, strict=True)
        ]
    need(at == len(data), "proofs.bin holds bytes that no row uses")
    return out


# ---- 1. files -------------------------------------------------------------------------------------------------------


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_file(folder: str, name: str) -> bytes:
    """A regular file, no link to one, within the limits on sizes."""
    path, limit = os.path.join(folder, name), FILES["audit.json" if name == SHARE else name]
    flags = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise UnreadableError(f"{name} is not a regular file")
        with open(os.open(path, flags), "rb") as file:
            data = file.read(min(limit, os.fstat(file.fileno()).st_size) + 1)
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > limit:
        raise UnreadableError(f"{name} is too large")
    return data


def parse(data: bytes) -> dict[str, Any]:
    """Strict JSON without floats: an object, no key twice, not nested deeply."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(items)) != len(items):
            raise ValueError("a key appears twice")
        return dict(items)

    def refused(text: str) -> Any:
        raise ValueError(f"{text[:40]} is not a whole number")

    def integer(text: str) -> int:
        return int(text) if len(text) <= 20 else refused(text)

    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=refused, parse_float=refused, parse_int=integer
        )
        if not isinstance(value, dict):
            raise ValueError("it is not an object")
        if depth(value) > DEEPEST:
            raise ValueError(f"it is nested deeper than {DEEPEST}")
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the statement is not readable JSON: {error}") from None
    return value


def depth(value: object) -> int:
    """How deep lists and objects are nested, found level by level."""
    level: list[Any] = [value]
    found = 0
    while level := [v for v in level if isinstance(v, (list, dict))]:
        level = [w for v in level for w in (v.values() if isinstance(v, dict) else v)]
        found += 1
    return found


NUMBER = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,399})?")


def rational(value: object) -> Fraction:
    """A number as text: whole, or p/q."""
    need(isinstance(value, str) and NUMBER.fullmatch(value), "a number is malformed")
    return Fraction(str(value))


def rationals(value: object, count: int) -> list[Fraction]:
    """A list of so many numbers."""
    need(isinstance(value, list) and len(value) == count, "a list of numbers has another length")
    return [rational(v) for v in value]  # type: ignore[union-attr]


def texts(value: object, count: int) -> list[str]:
    """So many different texts."""
    good = isinstance(value, list) and len(value) == count and all(isinstance(v, str) for v in value)
    need(good and len(set(value)) == count, "the names of inputs or outputs are malformed")  # type: ignore[arg-type]
    return list(value)  # type: ignore[call-overload]


def floats(data: bytes, dtype: str) -> list[tuple[int, int]]:
    """Numbers as (n, e), n·2^e, from their bits; infinities and NaN are refused."""
    size, exponent, digits = ROUNDOFF[dtype]
    top, bias, out = (1 << exponent) - 1, (1 << (exponent - 1)) - 1 + digits - 1, []
    for at in range(0, len(data), size):
        bits = int.from_bytes(data[at : at + size], "little")
        fraction, power = bits & ((1 << (digits - 1)) - 1), bits >> (digits - 1) & top
        need(power != top, "the network holds a number that is not finite")
        n = fraction | (1 << (digits - 1) if power else 0)
        out.append((-n if bits >> (8 * size - 1) else n, max(power, 1) - bias))
    return out


def is_float(value: Fraction, dtype: str) -> bool:
    """Whether a number below 2^40 in size is one of the type: n·2^-k with few digits, k not beyond the subnormals."""
    _, exponent, digits = ROUNDOFF[dtype]
    n, under = abs(value.numerator), value.denominator
    least = (1 << (exponent - 1)) + digits - 3  # 2^-least is the smallest number above 0
    odd = n // (n & -n) if n else 0
    return under & (under - 1) == 0 and under <= 1 << least and odd < 1 << digits


# ---- 2. the network -------------------------------------------------------------------------------------------------


def up(value: Fraction, bits: int) -> int:
    """The least multiple of 2^-bits that is not below."""
    return -((-value.numerator << bits) // value.denominator)


def down(value: Fraction, bits: int) -> int:
    """The largest multiple of 2^-bits that is not above."""
    return (value.numerator << bits) // value.denominator


def ceil_shift(value: int, bits: int) -> int:
    """value·2^-bits, rounded up."""
    return -(-value >> bits)


class Packed:
    """A matrix M [n, m] for products t·M: a row is one number with a slot of B bits for every column.

        Σ_j t_j·R_j = Σ_i 2^(B·i)·(t·M)_i      R_j = Σ_i 2^(B·i)·M_ji      B = drop + 64

    Slots do not run into each other while |(t·M)_i| < 2^(B−1). `total` makes sure that it is below 2^(B−4), so that a
    few totals may be added. Entries of the result are (t·M)_i·2^-drop, rounded up or down, in 64 bits. One long
    product for every row takes a fifth of the time of a short one for every entry. Where numbers are too long for
    slots, entries are found one by one: the result is the same.
    """

    def __init__(self, rows: list[Ints], drop: int) -> None:
        self.matrix, self.drop, self.slot = rows, drop, drop // 8 + 8
        self.rows = [packed(row, self.slot) for row in rows] if drop <= LONGEST else []
        self.most = [max(map(abs, row)) for row in rows]
        self.reach = sum(self.most)
        self.cells: list[list[bytes]] = []  # entries of rows, for parts
        self.frames: dict[int, int] = {}  # a 1 in so many slots
        self.frame(len(rows[0]), packed([1] * len(rows[0]), self.slot))

    def frame(self, columns: int, ones: int) -> None:
        """What unpacks totals of so many columns."""
        self.columns, self.bytes, self.half = columns, columns * self.slot, ones << (self.drop + 63)
        self.almost = ones * ((1 << self.drop) - 1)  # added before bits are dropped, it rounds up
        self.layout = struct.Struct("<" + f"{self.drop // 8}xQ" * columns)

    def part(self, rows: Ints, columns: Ints) -> Packed:
        """Some rows and columns alone."""
        out, n = copy(self), len(columns)
        if self.rows and not self.cells:
            half = 1 << (8 * self.slot - 1)
            self.cells = [[(v + half).to_bytes(self.slot, "little") for v in row] for row in self.matrix]
        if n not in self.frames:
            self.frames[n] = packed([1] * n, self.slot)
        ones = self.frames[n]
        raised, some = ones << (8 * self.slot - 1), [self.cells[j] for j in rows] if self.rows else []
        out.rows = [int.from_bytes(b"".join([row[i] for i in columns]), "little") - raised for row in some]
        out.matrix, out.most = [[self.matrix[j][i] for i in columns] for j in rows], [self.most[j] for j in rows]
        out.reach = sum(out.most)
        out.frame(n, ones)
        return out

    def total(self, t: Ints) -> int | None:
        """All of t·M in one number; None if an entry may be too large for its slot."""
        most, limit = max(max(t), -min(t)), 1 << (self.drop + 60)
        fits = self.rows and (most * self.reach < limit or sum(map(mul, map(abs, t), self.most)) < limit)
        return sum([v * row for v, row in zip(t, self.rows, strict=True) if v]) if fits else None  # many are 0

    def times(self, t: Ints) -> Ints:
        """⌈t·M·2^-drop⌉."""
        if not any(t):
            return [0] * self.columns
        total = self.total(t)
        return self.rounded(total, True) if total is not None else [ceil_shift(v, self.drop) for v in self.plain(t)]

    def exactly(self, t: Ints) -> Ints:
        """t·M."""
        if not any(t):
            return [0] * self.columns
        total = self.total(t)
        return self.whole(total) if total is not None else self.plain(t)

    def plain(self, t: Ints) -> Ints:
        """t·M without slots."""
        return [sum(map(mul, t, column)) for column in zip(*self.matrix, strict=True)]

    def rounded(self, total: int, upwards: bool) -> Ints:
        """The entries of a total without the dropped bits."""
        total += self.half + self.almost if upwards else self.half
        return [q - (1 << 63) for q in self.layout.unpack(total.to_bytes(self.bytes, "little"))]

    def whole(self, total: int) -> Ints:
        """The entries of a total as they are."""
        data, n, half = (total + self.half).to_bytes(self.bytes, "little"), self.slot, 1 << (self.drop + 63)
        return [int.from_bytes(data[at : at + n], "little") - half for at in range(0, self.bytes, n)]


def packed(values: Ints, slot: int) -> int:
    """Σ_i 2^(8·slot·i)·values_i."""
    half = 1 << (8 * slot - 1)
    raised = int.from_bytes(b"".join((v + half).to_bytes(slot, "little") for v in values), "little")
    return raised - half * int.from_bytes((b"\1" + bytes(slot - 1)) * len(values), "little")


class Interval:
    """W·a + b over intervals of a, from their sums and widths: (W·sum ∓ |W|·width)/2 + b."""

    def __init__(self, w: list[Ints], b: Ints, bits: int) -> None:
        columns = [[v << 7 for v in column] for column in zip(*w, strict=True)]
        self.plus, self.size = (Packed(m, bits + 8) for m in (columns, [list(map(abs, c)) for c in columns]))
        self.b, self.raised = b, [v << (G + 8) for v in b]
        self.small = all(abs(v) < 1 << (bits + 68) for v in self.raised)
        self.shift = packed(self.raised, self.plus.slot) if self.small else 0

    def ends(self, middle: Ints, width: Ints, shifted: bool = True) -> tuple[Ints, Ints]:
        """Lower and upper ends, rounded outward; without b unless `shifted`."""
        p, q = self.plus.total(middle), self.size.total(width)
        if p is not None and q is not None and (self.small or not shifted):
            p += self.shift if shifted else 0
            return self.plus.rounded(p - q, False), self.plus.rounded(p + q, True)
        long = [v + b * shifted for v, b in zip(self.plus.plain(middle), self.raised, strict=True)]
        return outward(long, self.size.plain(width), self.plus.drop)

    def sizes(self, largest: Ints) -> Ints:
        """|W|·largest + |b|."""
        return [(v >> 7) + (abs(b) << G) for v, b in zip(self.size.exactly(largest), self.b, strict=True)]


def outward(middle: Ints, half: Ints, drop: int) -> tuple[Ints, Ints]:
    """The ends of intervals without the dropped bits."""
    pairs = list(zip(middle, half, strict=True))
    return [p - q >> drop for p, q in pairs], [ceil_shift(p + q, drop) for p, q in pairs]


class Apart:
    """The difference of one unit in two networks, section 8, from sums and widths of a_1 − a_2 and of a_1 + a_2."""

    def __init__(self, first: Interval, second: Interval) -> None:
        pairs = [zip(v, w, strict=True) for v, w in zip(first.plus.matrix, second.plus.matrix, strict=True)]
        halves = [[(v + w >> 1, v - w >> 1) for v, w in pair] for pair in pairs]
        drop = first.plus.drop
        self.parts = [Packed([[pair[k] for pair in row] for row in halves], drop) for k in (0, 1)]
        self.sizes = [Packed([list(map(abs, row)) for row in part.matrix], drop) for part in self.parts]
        self.raised = [v - w for v, w in zip(first.raised, second.raised, strict=True)]
        self.small = first.small and second.small
        self.shift = first.shift - second.shift if self.small else 0

    def ends(self, middles: tuple[Ints, Ints], widths: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Lower and upper ends, rounded outward."""
        p = [part.total(v) for part, v in zip(self.parts, middles, strict=True)]
        q = [part.total(v) for part, v in zip(self.sizes, widths, strict=True)]
        one = self.parts[0]
        if self.small and None not in (*p, *q):
            long, wide = sum(p) + self.shift, sum(q)  # type: ignore[arg-type]
            return one.rounded(long - wide, False), one.rounded(long + wide, True)
        sums = [part.plain(v) for part, v in zip((*self.parts, *self.sizes), (*middles, *widths), strict=True)]
        middle = [a + b + c for a, b, c in zip(sums[0], sums[1], self.raised, strict=True)]
        return outward(middle, list(map(int.__add__, sums[2], sums[3])), one.drop)


class Net:
    """W and b of every layer as multiples of 2^-E; the scaling's constants as fractions.

    `second` evaluates the second copy: this network itself, in version 2 another one of the same sizes.
    """

    def __init__(self, entry: object, data: bytes, copies: int = 1) -> None:
        good = isinstance(entry, dict) and set(entry) == {"dtype", "sizes", "scaling", "sha256"}
        need(good, "the network is described by missing or unknown keys")
        described: dict[str, Any] = entry  # type: ignore[assignment]
        self.dtype, self.sizes = described["dtype"], described["sizes"]
        need(isinstance(self.dtype, str) and self.dtype in ROUNDOFF, "the network has an unknown type of numbers")
        good = isinstance(self.sizes, list) and all(type(n) is int and 1 <= n <= 1 << 16 for n in self.sizes)
        need(good and 3 <= len(self.sizes) <= 66, "the network's sizes are malformed")
        need(described["sha256"] == sha256(data), "network.bin is not the network of this audit")
        count = sum(a * b + b for a, b in pairwise(self.sizes))
        need(len(data) == copies * count * ROUNDOFF[self.dtype][0], "network.bin has another size")
        numbers = floats(data, self.dtype)
        self.E = -(-max(G, *(-e for n, e in numbers if n), 0) // 8) * 8  # whole bytes, for `Packed`
        self.length = 1 + max((-e + 1 - (n & -n).bit_length() for n, e in numbers if n), default=0) // 256
        whole = [n << (self.E + e) if n else 0 for n, e in numbers]
        need(all(abs(n) < 1 << (self.E + 40) for n in whole), "a weight is 2^40 or more")
        self.u = Fraction(1, 1 << ROUNDOFF[self.dtype][2])
        self.scaling = self._scaling(described["scaling"])
        self.second = self
        if copies == 2:
            self.second = copy(self)
            self.second._layers(whole[count:])
        self._layers(whole[:count])
        pairs = zip(self.into, self.second.into, strict=True)
        self.apart = [Apart(*pair) for pair in pairs] if copies == 2 else []

    def _layers(self, whole: Ints) -> None:
        self.W: list[list[Ints]] = []
        self.b: list[Ints] = []
        at = 0
        for a, b in pairwise(self.sizes):
            self.W.append([whole[at + a * j : at + a * (j + 1)] for j in range(b)])
            self.b.append(whole[at + a * b : at + a * b + b])
            at += a * b + b
        self.back = [Packed(w, self.E) for w in self.W]
        self.into = [Interval(w, b, self.E) for w, b in zip(self.W, self.b, strict=True)]
        self.starts: dict[tuple[int, int, int], Ints] = {}

    def start(self, layer: int, j: int, sign: int) -> Ints:
        """⌈±w_j⌉_K."""
        if (layer, j, sign) not in self.starts:
            self.starts[layer, j, sign] = [ceil_shift(sign * v, self.E - K) for v in self.W[layer - 1][j]]
        return self.starts[layer, j, sign]

    def _scaling(self, steps: object) -> list[tuple[str, list[Fraction]]]:
        need(isinstance(steps, list) and len(steps) <= 16, "the scaling is malformed")
        out = []
        for step in steps:  # type: ignore[union-attr]
            good = isinstance(step, list) and len(step) == 2 and step[0] in ("add", "sub", "mul", "div")
            need(good, "a step of the scaling is malformed")
            constants = rationals(step[1], self.sizes[0])
            least = Fraction(1, 1 << 40) if step[0] in ("mul", "div") else Fraction(0)
            need(all(least <= abs(k) < 1 << 40 for k in constants), "a constant of the scaling is out of bounds")
            good = all(is_float(k, self.dtype) for k in constants)  # rounding one is no part of what a bound covers
            need(good, f"a constant of the scaling is not a {self.dtype} number")
            out.append((step[0], constants))
        return out

    def gamma(self, layer: int) -> Fraction:
        """γ of the sums of a layer."""
        n = (self.sizes[layer] + 5) * self.u
        return n / (1 - n)

    def scaling_work(self, bounds: Sequence[Sequence[Fraction]]) -> int:
        """§6: of scaling all inputs once, given the bounds of each; long numbers take long."""
        numbers = [(*some, *(k[i] for _, k in self.scaling)) for i, some in enumerate(bounds)]
        digits = max(sum(v.numerator.bit_length() + v.denominator.bit_length() for v in some) for some in numbers)
        return SCALED * len(bounds) * (1 + len(self.scaling)) * (1 + digits // 1024)

    def layer_work(self, layer: int) -> int:
        """§6: of finding the ranges of a layer."""
        return LAYER + self.sizes[layer] * (LAYER + 8 * self.length * self.sizes[layer - 1])

    def back_work(self, units: int, below: int) -> int:
        """§6: of a layer of *back* with so many units, and below it."""
        return LAYER + units * (UNIT + 2 * self.length * below)

    def outputs(self, x: Sequence[Fraction], work: Work) -> list[Fraction]:
        """The network at x in exact arithmetic; long numbers are more work."""
        a = list(x)
        for step, constants in self.scaling:
            a = [applied(step, v, k) for v, k in zip(a, constants, strict=True)]
        for layer, (w, b) in enumerate(zip(self.W, self.b, strict=True)):
            scale = common(a)
            work.add(len(w) * (LAYER + 16 * len(a) * length(scale) ** 2))
            whole = [v.numerator * (scale // v.denominator) for v in a]
            s = [
                Fraction(sum(map(mul, row, whole)) + shift * scale, scale << self.E)
                for row, shift in zip(w, b, strict=True)
            ]
            a = s if layer == len(self.W) - 1 else [max(v, Fraction(0)) for v in s]
        return a


def common(values: Sequence[Fraction]) -> int:
    """The least common denominator."""
    return math.lcm(*(v.denominator for v in values))


def length(number: int) -> int:
    """Of a number, in 1,024 bits begun: what a product with it takes."""
    return 1 + number.bit_length() // 1024


def applied(step: str, value: Fraction, constant: Fraction) -> Fraction:
    """One step of the scaling."""
    if step in ("add", "sub"):
        return value + constant if step == "add" else value - constant
    return value * constant if step == "mul" else value / constant


# ---- 3. rows --------------------------------------------------------------------------------------------------------


class Row:
    """A row of audit.json: boxes of both copies, strips, whole-valued inputs, weights of outputs, a pair of inputs."""

    def __init__(self, entry: object, net: Net, names: list[list[str]]) -> None:
        keys = {"text", "lo", "hi", "low", "high", "whole", "weights", "rhs", "witness", "proof"}
        need(isinstance(entry, dict) and set(entry) == keys, "a row has missing or unknown keys")
        row: dict[str, Any] = entry  # type: ignore[assignment]
        m, outputs = net.sizes[0], net.sizes[-1]
        self.net, self.names = net, names
        self.lo, self.hi, self.witness = (pair(row[key], m) for key in ("lo", "hi", "witness"))
        self.low, self.high = rationals(row["low"], m), rationals(row["high"], m)
        self.weights = pair(row["weights"], outputs)
        self.whole, self.text, self.size = row["whole"], row["text"], row["proof"]
        good = isinstance(self.whole, list) and len(self.whole) == m and all(type(v) is bool for v in self.whole)
        need(good and isinstance(self.text, str) and type(self.size) is int, "a row is malformed")
        self.rhs = None if row["rhs"] is None else rational(row["rhs"])
        need(self.holds(), "the stored pair does not satisfy the premise of its row")

    def holds(self) -> bool:
        """Whether the witness satisfies the premise."""
        boxed = all(
            a <= v <= b for c in (0, 1) for a, v, b in zip(self.lo[c], self.witness[c], self.hi[c], strict=True)
        )
        strip = all(a <= v - w <= b for a, v, w, b in zip(self.low, *self.witness, self.high, strict=True))
        return (
            boxed
            and strip
            and all(v.denominator == 1 for x in self.witness for v, w in zip(x, self.whole, strict=True) if w)
        )

    def shares(self, first: Row) -> bool:
        """Whether the row has no proof of its own but that of an earlier one, whose premise it must have."""
        if self.size or self.net.second is self.net:
            return False
        mine, other = ((row.lo, row.hi, row.low, row.high, row.whole) for row in (self, first))
        need(mine == other, "a row shares the proof of a row with another premise")
        return True

    def found(self, work: Work) -> Fraction:
        """The left side at the witness, exactly; before anything else is computed with the row's numbers."""
        for weights in self.weights:
            work.add(128 * self.net.sizes[-1] * self.net.sizes[-2] * length(common(weights)) ** 2)
        nets = (self.net, self.net.second)
        outputs = [net.outputs(x, work) for net, x in zip(nets, self.witness, strict=True)]
        return sum(
            (a * f for w, o in zip(self.weights, outputs, strict=True) for a, f in zip(w, o, strict=True)), Fraction(0)
        )

    def statement(self) -> tuple[str, ...]:
        """The row as read, input by input."""
        terms = [
            f"{a}·{copy}.{json.dumps(name)}"
            for copy, weights in zip("ab", self.weights, strict=True)
            for a, name in zip(weights, self.names[1], strict=True)
            if a
        ]
        out = [f"{' + '.join(terms) or 0}, over all inputs a, b with"]
        if self.net.second is not self.net:
            out.append("a is read by the first network of network.bin, b by the second")
        for i, name in enumerate(self.names[0]):
            a, b = (f"[{self.lo[c][i]}, {self.hi[c][i]}]" for c in (0, 1))
            whole = ", whole" if self.whole[i] else ""
            same = a == b and self.low[i] == self.high[i] == 0
            gap = f"a = b in {a}" if same else f"a in {a}, b in {b}, a − b in [{self.low[i]}, {self.high[i]}]"
            out.append(f"{json.dumps(name, ensure_ascii=False)}: {gap}{whole}")
        return tuple(out)


def pair(value: object, count: int) -> list[list[Fraction]]:
    """Two lists of so many numbers."""
    need(isinstance(value, list) and len(value) == 2, "a row is malformed")
    return [rationals(v, count) for v in value]  # type: ignore[union-attr]


# ---- 4. octagons ----------------------------------------------------------------------------------------------------


def closed(r: Sequence[int]) -> Octagon | None:
    """The octagon with its own consequences; None if it is empty."""
    l1, u1, l2, u2, dl, du = r
    for _ in (0, 1):
        dl, du = max(dl, l1 - u2), min(du, u1 - l2)
        l1, u1 = max(l1, l2 + dl), min(u1, u2 + du)
        l2, u2 = max(l2, l1 - du), min(u2, u1 - dl)
    return None if l1 > u1 or l2 > u2 or dl > du else (l1, u1, l2, u2, dl, du)


def meet(r: Sequence[int], s: Sequence[int]) -> Octagon:
    """What both say."""
    return (max(r[0], s[0]), min(r[1], s[1]), max(r[2], s[2]), min(r[3], s[3]), max(r[4], s[4]), min(r[5], s[5]))


def points(r: Octagon, axes: bool) -> list[Point]:
    """All corners of the octagon, with `axes` also those where an axis cuts it; each lies in it."""
    l1, u1, l2, u2, dl, du = r
    out = set()
    for p in {l1, u1, 0} if axes and l1 < 0 < u1 else {l1, u1}:
        a, b = max(l2, p - du), min(u2, p - dl)
        if a <= b:
            out |= {(p, a), (p, b), (p, 0)} if axes and a < 0 < b else {(p, a), (p, b)}
    for q in {l2, u2, 0} if axes and l2 < 0 < u2 else {l2, u2}:
        a, b = max(l1, q + dl), min(u1, q + du)
        if a <= b:
            out |= {(a, q), (b, q)}
    return [(p, q, max(p, 0), max(q, 0)) for p, q in out]


def settled(r: Octagon) -> bool:
    """Whether each copy's sign is known."""
    return not (r[0] < 0 < r[1] or r[2] < 0 < r[3])


@dataclass
class Cell:
    """Raw boxes, and per layer octagons, states and ε; layer 0 of `ranges` are the scaled inputs."""

    box: list[list[Fraction]]  # lo_1, hi_1, lo_2, hi_2
    ranges: list[list[Octagon]]
    states: list[list[list[Point] | None]]  # points of units; None: settled
    noise: list[Ints]
    gates: list[Gates]
    corners: list[list[Point]]  # of the inputs
    sides: list[list[tuple[int, int]]]  # per copy, least and largest of every input's corners
    pending: bool = False  # its layers are still those of the cell around it


@dataclass
class Gates:
    """A layer by phases: copies that are on as 1, units not settled in both, and per copy those whose sign is open."""

    on: tuple[Ints, Ints]
    open: Ints
    mixed: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]  # unit, l_c, u_c
    thin: dict[int, Thin] = field(default_factory=dict)  # by copy

    @classmethod
    def of(cls, ranges: list[Octagon]) -> Gates:
        """From octagons."""
        first = [(j, r[0], r[1]) for j, r in enumerate(ranges) if r[0] < 0 < r[1]]
        second = [(j, r[2], r[3]) for j, r in enumerate(ranges) if r[2] < 0 < r[3]]
        on = [int(r[0] >= 0) for r in ranges], [int(r[2] >= 0) for r in ranges]
        return cls(on, [j for j, r in enumerate(ranges) if not settled(r)], (first, second))


@dataclass
class Thin:
    """A layer of one copy without units that are off, whose slopes are 0 whatever their coefficients are."""

    kept: Ints
    on: Ints
    mixed: list[tuple[int, int, int]]  # place among those kept, l_c, u_c
    noise: Ints
    b: Ints
    back: Packed  # to what is kept of the layer below

    @classmethod
    def of(cls, copy: int, layer: int, cell: Cell, net: Net) -> Thin:
        """From the gates of a layer and of the one below it."""
        gates = cell.gates[layer]
        kept = _kept(copy, gates)
        below = _kept(copy, cell.gates[layer - 1]) if layer > 1 else list(range(net.sizes[0]))
        at = {j: place for place, j in enumerate(kept)}
        mixed = [(at[j], low, high) for j, low, high in gates.mixed[copy]]
        on, noise, b = ([part[j] for j in kept] for part in (gates.on[copy], cell.noise[layer], net.b[layer - 1]))
        return cls(kept, on, mixed, noise, b, net.back[layer - 1].part(kept, below))


def _kept(copy: int, gates: Gates) -> Ints:
    mixed = {j for j, _, _ in gates.mixed[copy]}
    return [j for j, on in enumerate(gates.on[copy]) if on or j in mixed]


class Work:
    """Counts multiplications; refuses proofs that would take too long."""

    def __init__(self) -> None:
        self.done = 0

    def add(self, count: int) -> None:
        """So many more."""
        self.done += count
        need(self.done <= WORK, "the proof takes too much work to check")


class Reader:
    """The bytes of a proof, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """The next byte."""
        need(self.at < len(self.data), "a proof ends too early")
        self.at += 1
        return self.data[self.at - 1]

    def number(self, limit: int) -> int:
        """A whole number ≥ 0 and < limit, seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            b = self.byte()
            value, shift = value | (b & 127) << shift, shift + 7
            if b < 128:
                break
            need(shift <= 98, "a number of a proof is too long")
        need(value < limit, "a number of a proof is out of bounds")
        return value

    def signed(self) -> int:
        """A whole number of either sign."""
        n = self.number(1 << 98)
        return -(n + 1 >> 1) if n & 1 else n >> 1


# ---- 5. the rule ----------------------------------------------------------------------------------------------------


class Proof(Reader):
    """The proof of rows with one premise, in exact arithmetic or (`rounds`) in that of the network."""

    def __init__(self, net: Net, rows: list[Row], data: bytes, rounds: bool, work: Work) -> None:
        super().__init__(data)
        self.net, self.rows, self.row, self.rounds, self.work = net, rows, rows[0], rounds, work
        self.two = net.second is not net
        self.hidden = len(net.W) - 1
        first = rows[0]
        self.scaling_work = net.scaling_work(list(zip(*first.lo, *first.hi, first.low, first.high, strict=True)))
        self.layers = sum(net.layer_work(layer) for layer in range(1, len(net.sizes)))  # of finding a cell's
        self.starts = [self._start(row) for row in rows]

    def _start(self, row: Row) -> tuple[Ints, Ints, int]:
        """κ of the last hidden layer by copy, and the constant."""
        const, kappa, last = Fraction(0), [], self.hidden
        for weights, net in zip(row.weights, (self.net, self.net.second), strict=True):
            total = [
                sum((a * w[j] for a, w in zip(weights, net.W[last], strict=True)), Fraction(0))
                for j in range(net.sizes[last])
            ]
            kappa.append([up(v / (1 << net.E), K) for v in total])
            const += sum((a * b for a, b in zip(weights, net.b[last], strict=True)), Fraction(0)) / (1 << net.E)
        return kappa[0], kappa[1], up(const, K + G)

    def slopes(self) -> list[list[tuple[int, int] | None]]:
        """Slopes of a leaf, layer by layer from the top; None: own."""
        shift, out = K - self.number(K + 1), []
        for layer in range(self.hidden, 0, -1):
            n = self.net.sizes[layer]
            codes = [code for _ in range((n + 1) // 2) for b in (self.byte(),) for code in (b & 15, b >> 4)]
            need(not any(codes[n:]), "a leaf has codes for units that are not there")
            out.append([self._slope(code, shift) for code in codes[:n]])
        return out

    def _slope(self, code: int, shift: int) -> tuple[int, int] | None:
        need(code < 6, "a leaf has an unknown code")
        if code < 2:
            return (0, 0) if code else None
        first = self.signed() << shift
        return {2: (first, 0), 3: (0, first), 4: (first, -first)}.get(code) or (first, self.signed() << shift)

    # -- walking --

    def bound(self) -> tuple[list[Fraction], int]:
        """The largest bound of a leaf for every row, and how many leaves were bounded."""
        worst, leaves, nodes = None, 0, 0
        ahead: list[Cell | None] = [self.root()]
        while ahead:
            cell, nodes = ahead.pop(), nodes + 1
            need(nodes <= NODES and len(ahead) <= DEPTH, "the proof has too many nodes")
            kind = self.byte()
            if kind in (OWN, STORED):
                slopes, cell = self.slopes() if kind == STORED else None, self.forced(cell)
                if cell is not None:
                    values, leaves = self.leaves(cell, slopes), leaves + 1
                    worst = values if worst is None else list(map(max, worst, values))
            elif kind == LEMMAS or (kind == SINGLES and self.two):
                ahead.append(self.grown(self.passed(cell), None, kind))
            elif kind == PHASE:
                layer, unit, copy = self.number(self.hidden), self.number(1 << 16), self.number(2)
                need(unit < self.net.sizes[layer + 1], "a split names a unit that is not there")
                cell = self.forced(cell)
                ahead += [self.grown(cell, (layer + 1, unit, copy, sign)) for sign in (1, -1)]  # ≤ 0 comes first
            else:
                need(kind == INPUT, "a proof has an unknown node")
                i, copy, at = (
                    self.number(self.net.sizes[0]),
                    self.number(2),
                    Fraction(self.signed(), 1 << self.number(64)),
                )
                cell = self.passed(cell)
                ahead += [self.parted(cell, i, copy, at, sign) for sign in (1, -1)]
        need(self.at == len(self.data), "a proof has bytes left over")
        if worst is None:
            raise CheckError("the proof closes every cell of a premise that has a point")
        return [Fraction(value, 1 << (K + G)) for value in worst], leaves

    def root(self) -> Cell | None:
        """The cell of the whole premise."""
        row = self.row
        return self.forced(self.filled([row.lo[0], row.hi[0], row.lo[1], row.hi[1]], None))

    def forced(self, cell: Cell | None) -> Cell | None:
        """The cell with layers of its own."""
        return self.grown(cell, None) if cell is not None and cell.pending else cell

    def passed(self, cell: Cell | None) -> Cell | None:
        """The cell as it is, for a node that finds the layers of all cells within anew; its own count as work.

        Ranges only shrink from a cell to those within it. So the layers of a cell between two others, met with those
        of the inner one, would change nothing there: they are not needed.
        """
        if cell is not None and cell.pending:
            self.work.add(self.layers)
        return cell

    def parted(self, cell: Cell | None, i: int, copy: int, at: Fraction, sign: int) -> Cell | None:
        """The cell with x_i ≤ at (−1) or x_i ≥ at (+1) in one copy; whole-valued: ≤ ⌊at⌋ or ≥ ⌊at⌋ + 1."""
        if cell is None:
            return None
        box, end = [list(side) for side in cell.box], 2 * copy + (sign < 0)
        if self.row.whole[i]:
            at = Fraction(at.numerator // at.denominator + (sign > 0))
        box[end][i] = (max if sign > 0 else min)(box[end][i], at)
        return self.filled(box, cell) if box[2 * copy][i] <= box[2 * copy + 1][i] else None

    def filled(self, box: list[list[Fraction]], known: Cell | None) -> Cell | None:
        """The cell of these raw boxes within what is known; its layers are found once they are needed."""
        self.work.add(self.scaling_work)
        inputs = [closed(self.scaled(i, *(side[i] for side in box))) for i in range(self.net.sizes[0])]
        if any(r is None for r in inputs):
            return None
        corners = [points(r, False) for r in inputs]  # type: ignore[arg-type]
        if not all(corners):
            return None
        none, n = Gates(([], []), [], ([], [])), self.hidden + 1
        old = known or Cell(box, [[]] * n, [[]] * n, [[]] * (n + 1), [none] * n, [], [])
        ranges: Any = [inputs, *old.ranges[1:]]
        sides = [[(min(at), max(at)) for some in corners for at in ([v[c] for v in some],)] for c in (0, 1)]
        return Cell(box, ranges, [[], *old.states[1:]], old.noise, old.gates, corners, sides, True)

    def scaled(self, i: int, l1: Fraction, u1: Fraction, l2: Fraction, u2: Fraction) -> Ints:
        """§4: box and strip of input i after the scaling, on the grid."""
        ends, strip = [l1, u1, l2, u2], [self.row.low[i], self.row.high[i]]
        tied = strip == [0, 0]
        for step, constants in self.net.scaling:
            ends = [applied(step, v, constants[i]) for v in ends]
            if step in ("mul", "div"):
                strip = sorted(applied(step, v, constants[i]) for v in strip)
                ends = [*sorted(ends[:2]), *sorted(ends[2:])]
            if self.rounds:
                e = max(map(abs, ends)) * self.net.u + Fraction(1, 1 << 80)
                ends = [ends[0] - e, ends[1] + e, ends[2] - e, ends[3] + e]
                strip = strip if tied else [strip[0] - 2 * e, strip[1] + 2 * e]
            need(max(map(abs, ends)) < 1 << 60, "an input is 2^60 or more")
        need(max(map(abs, ends)) < 1 << 60, "an input is 2^60 or more")
        (l1, u1, l2, u2), (low, high) = ends, strip
        return [down(l1, G), up(u1, G), down(l2, G), up(u2, G), down(low, G), up(high, G)]

    def grown(self, cell: Cell | None, cut: tuple[int, int, int, int] | None, lemmas: int = 0) -> Cell | None:
        """The cell with a phase cut (layer, unit, copy, sign), or with lemmas; layers from there on are found again."""
        if cell is None:
            return None
        first, unit, copy, sign = (1, 0, 0, 0) if cut is None else cut
        ranges, states, errors, gates = (list(p) for p in (cell.ranges, cell.states, cell.noise, cell.gates))
        out = Cell(cell.box, ranges, states, errors, gates, cell.corners, cell.sides)  # type: ignore[arg-type]
        for layer in range(max(first, 1), self.hidden + 1):
            found, noise = (None, out.noise[layer]) if sign and layer == first else self.through(layer, out)
            octagons, out.states[layer] = [], []
            out.noise[layer] = noise
            for j in range(self.net.sizes[layer]):
                r = out.ranges[layer][j] if found is None else found[j]
                if found is not None and out.ranges[layer]:
                    r = meet(r, out.ranges[layer][j])
                if sign and layer == first and j == unit:
                    end = 2 * copy + (sign < 0)
                    r = (*r[:end], max(r[end], 0) if sign > 0 else min(r[end], 0), *r[end + 1 :])
                r = closed(r)
                if r is not None and lemmas and layer > 1 and self.wants(r):
                    r = closed(meet(r, self.lemma(layer, j, out, r if lemmas == SINGLES else None)))
                now = None if r is None or settled(r) else points(r, True)
                if r is None or now == []:
                    return None
                octagons.append(r)
                out.states[layer].append(now)
            out.ranges[layer], out.gates[layer] = octagons, Gates.of(octagons)
        out.noise[-1] = self.through(self.hidden + 1, out)[1]
        return out

    def wants(self, r: Octagon) -> bool:
        """Whether lemmas are for this unit: one that is on somewhere, in version 2 one that is not settled."""
        return not settled(r) if self.two else r[1] > 0 or r[3] > 0

    def through(self, layer: int, cell: Cell) -> tuple[list[Octagon], Ints]:
        """Octagons of W·a + b, and ε of every unit, from the layer below."""
        below, w = [], self.net.W[layer - 1]
        for r, s in zip(cell.ranges[layer - 1], cell.states[layer - 1] or [None] * len(w[0]), strict=True):
            below.append(r if layer == 1 else rectified(r, s))
        self.work.add(self.net.layer_work(layer))
        sums = [([a[k + 1] + a[k] for a in below], [a[k + 1] - a[k] for a in below]) for k in (0, 2, 4)]
        largest = [max(-a[0], a[1], -a[2], a[3]) for a in below]
        need(max(largest) < 1 << (G + 60), "a value is 2^60 or more")
        nets = (self.net, self.net.second)
        noise = self.errors(layer, largest) if self.rounds else [0] * len(w)
        ends = [net.into[layer - 1].ends(*sums[c]) for c, net in enumerate(nets)]
        ends.append(self.apart(layer, sums))
        rows = zip(*(end for pair in ends for end in pair), noise, strict=True)
        out = [(a - e, b + e, c - e, d + e, low - 2 * e, high + 2 * e) for a, b, c, d, low, high, e in rows]
        return out, noise

    def errors(self, layer: int, largest: Ints) -> Ints:
        """ε of every unit: the larger of what both networks give."""
        totals = self.net.into[layer - 1].sizes(largest)
        if self.two:
            totals = list(map(max, totals, self.net.second.into[layer - 1].sizes(largest)))
        return noises(totals, self.net, layer)

    def apart(self, layer: int, sums: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
        """The ranges of s_1 − s_2 without rounding, from sums and widths of the ranges below."""
        middle, width = sums[2]
        if not self.two:
            return self.net.into[layer - 1].ends(middle, width, False)
        both = [list(map(int.__add__, sums[0][k], sums[1][k])) for k in (0, 1)]  # of a_1 + a_2
        return self.net.apart[layer - 1].ends((middle, both[0]), (width, both[1]))

    def lemma(self, layer: int, j: int, cell: Cell, known: Octagon | None) -> Octagon:
        """The ranges of unit j by the rule with own slopes, from the layers below; differences where not known."""
        e, nets = cell.noise[layer][j], (self.net, self.net.second)
        plus, minus = ([net.start(layer, j, sign) for net in nets] for sign in (1, -1))
        none, (b1, b2) = [0] * len(plus[0]), (net.b[layer - 1][j] for net in nets)

        def most(first: Ints, second: Ints, start: int) -> int:
            const = ceil_shift(start << G, self.net.E - K)
            return ceil_shift(self.back(first, second, const, layer - 1, cell, None), K)

        alone = (
            -most(minus[0], none, -b1) - e,
            most(plus[0], none, b1) + e,
            -most(none, minus[1], -b2) - e,
            most(none, plus[1], b2) + e,
        )
        if known is not None:
            return (*alone, *known[4:])
        return (
            *alone,
            -most(minus[0], plus[1], b2 - b1) - 2 * e,
            most(plus[0], minus[1], b1 - b2) + 2 * e,
        )

    def leaves(self, cell: Cell, slopes: list[list[tuple[int, int] | None]] | None) -> Ints:
        """The rule on the left side of every row, in multiples of 2^-(K + G)."""
        out = []
        for row, (first, second, const) in zip(self.rows, self.starts, strict=True):
            noise = sum(
                up(abs(a), K) * e for weights in row.weights for a, e in zip(weights, cell.noise[-1], strict=True)
            )
            out.append(self.back(first, second, const + noise, self.hidden, cell, slopes))
        return out

    def back(
        self,
        first: Ints,
        second: Ints,
        const: int,
        top: int,
        cell: Cell,
        slopes: list[list[tuple[int, int] | None]] | None,
    ) -> int:
        """§5: an upper bound of first·relu(s_1) + second·relu(s_2) + const of layer `top`."""
        if self.two and slopes is None and not (any(first) and any(second)):
            copy, kappa = (0, first) if any(first) else (1, second)
            return self.single(copy, kappa, const, top, cell)
        net, other = self.net, self.net.second
        for layer in range(top, 0, -1):
            given = slopes[top - layer] if slopes is not None else None
            t1, t2, left = self.chosen(first, second, cell, layer, given)
            const += left
            if self.rounds:
                const += sum([(abs(x) + abs(y)) * e for x, y, e in zip(t1, t2, cell.noise[layer], strict=True)])
            biases = sum(map(mul, t1, net.b[layer - 1])) + sum(map(mul, t2, other.b[layer - 1]))
            const += ceil_shift(biases << G, net.E)
            stored = sum(t is not None and cell.states[layer][j] is None for j, t in enumerate(given or ()))
            self.work.add(
                net.back_work(len(t1), net.sizes[layer - 1]) + OPENED * (len(cell.gates[layer].open) + stored)
            )
            first, second = down_to(layer, t1, net), down_to(layer, t2, other)
        self.work.add(INPUTS * len(first))
        total = sum(
            max(a * p + b * q for p, q, _, _ in corners)
            for a, b, corners in zip(first, second, cell.corners, strict=True)
        )
        return const + ceil_shift(total, net.E)

    def chosen(
        self, first: Ints, second: Ints, cell: Cell, layer: int, given: list[tuple[int, int] | None] | None
    ) -> tuple[Ints, Ints, int]:
        """The slopes of a layer, as given or own, and Σ r of them."""
        gates, states, ranges = cell.gates[layer], cell.states[layer], cell.ranges[layer]
        t1, t2, total = list(map(mul, first, gates.on[0])), list(map(mul, second, gates.on[1])), 0
        for j in gates.open:  # own slopes of settled units are κ where on, 0 where off, and leave nothing
            if given is None or given[j] is None:
                t1[j], t2[j], left = self.own(first[j], second[j], states[j], ranges[j])
                total += left
        for j, t in enumerate(given or ()):
            if t is not None:
                t1[j], t2[j] = t
                total += rest(first[j], second[j], *t, states[j] or points(ranges[j], True))
        return t1, t2, total

    def own(self, a: int, b: int, s: list[Point] | None, r: Octagon) -> tuple[int, int, int]:
        """Own slopes of a unit that is not settled, and what they leave."""
        return one_copy(a, b, r) if self.two and not (a and b) else own(a, b, s or [], r)

    def single(self, copy: int, kappa: Ints, const: int, top: int, cell: Cell) -> int:
        """The same for one copy alone, in version 2: κ·relu(s) + const with own slopes."""
        net = (self.net, self.net.second)[copy]
        for layer in range(top, 0, -1):
            thin = cell.gates[layer].thin.get(copy)
            if thin is None:
                thin = cell.gates[layer].thin[copy] = Thin.of(copy, layer, cell, net)
            if layer == top:
                kappa = [kappa[j] for j in thin.kept]
            t = list(map(mul, kappa, thin.on))
            for j, low, high in thin.mixed:  # `alone` written out, and r, which is 0 for κ ≤ 0
                k = kappa[j]
                if k > 0:
                    t[j] = x = k * high // (high - low)
                    const += (k - x) * high
                elif high > -low:
                    t[j] = k
            const += sum(map(mul, map(abs, t), thin.noise))
            const += ceil_shift(sum(map(mul, t, thin.b)) << G, net.E)
            self.work.add(net.back_work(len(thin.kept), thin.back.columns))
            kappa = thin.back.times(t) if layer > 1 else thin.back.exactly(t)
        self.work.add(INPUTS * len(kappa))
        total = sum(max(k * low, k * high) for k, (low, high) in zip(kappa, cell.sides[copy], strict=True))
        return const + ceil_shift(total, net.E)


def noises(totals: Ints, net: Net, layer: int) -> Ints:
    """ε of every unit from Σ|w|·Â + |b|."""
    gamma = net.gamma(layer - 1)
    over, under = gamma.numerator, gamma.denominator << net.E
    return [-(-total * over // under) + 1 for total in totals]


def down_to(layer: int, t: Ints, net: Net) -> Ints:
    """κ one layer down: ⌈t·W⌉_K, exactly t·W at the inputs."""
    return net.back[layer - 1].times(t) if layer > 1 else net.back[0].exactly(t)


def rest(a: int, b: int, x: int, y: int, corners: list[Point]) -> int:
    """r of a unit with coefficients a, b and slopes x, y."""
    return max([a * A + b * B - x * p - y * q for p, q, A, B in corners])


def rectified(r: Octagon, s: list[Point] | None) -> Octagon:
    """The six ranges of relu; those of a settled unit are its own, each of which a point of the octagon reaches."""
    l1, u1, l2, u2 = r[:4]
    if s is None:
        if l1 >= 0:
            return r if l2 >= 0 else (l1, u1, 0, 0, l1, u1)
        return (0, 0, l2, u2, -u2, -l2) if l2 >= 0 else (0, 0, 0, 0, 0, 0)
    moved = [a - b for _, _, a, b in s]
    return (max(l1, 0), max(u1, 0), max(l2, 0), max(u2, 0), min(moved), max(moved))


def own(a: int, b: int, s: list[Point], r: Octagon) -> tuple[int, int, int]:
    """The checker's own slopes, and what they leave: of three pairs the one that is least in the octagon's middle."""
    if a == b == 0:
        return 0, 0, 0
    l1, u1, l2, u2, dl, du = r
    d, e, f = l1 + u1 - l2 - u2, moved(b, -du, -dl, r), moved(a, dl, du, r)
    d = min(max(d, 2 * dl), 2 * du) - d
    m1, m2, best = 2 * (l1 + u1) + d, 2 * (l2 + u2) - d, None
    pairs = ((alone(a, l1, u1), alone(b, l2, u2)), (alone(a + b, l1, u1) - e, e), (f, alone(a + b, l2, u2) - f))
    values = [a * A + b * B for _, _, A, B in s]
    for x, y in dict.fromkeys(pairs):  # each once, in this order
        left = max([v - x * p - y * q for v, (p, q, _, _) in zip(values, s, strict=True)])
        if best is None or 4 * left + x * m1 + y * m2 < best[0]:
            best = (4 * left + x * m1 + y * m2, x, y, left)
    assert best is not None
    return best[1:]


def one_copy(a: int, b: int, r: Octagon) -> tuple[int, int, int]:
    """The same where one coefficient is zero, in version 2: the slope of the other copy alone."""
    k, low, high = (a, r[0], r[1]) if a else (b, r[2], r[3])
    t = alone(k, low, high)
    left = max(-t * low, (k - t) * high, 0) if low < 0 < high else 0
    return (t, 0, left) if a else (0, t, left)


def alone(k: int, low: int, high: int) -> int:
    """A slope of κ·relu(s) from above on [low, high]."""
    if low >= 0 or high <= 0:
        return k if low >= 0 else 0
    return k * high // (high - low) if k > 0 else k if high > -low else 0


def moved(k: int, low: int, high: int, r: Octagon) -> int:
    """A slope in e of κ·(relu(s + e) − relu(s)) from above, e in [low, high]."""
    if r[0] >= 0 and r[2] >= 0:
        return k
    if low >= 0 or high <= 0:
        return k if (k > 0) == (low >= 0) else 0
    return k * (high if k > 0 else -low) // (high - low)


# ---- 7. labels ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShareReport:
    """How many of the `points` have a label that no value of the protected input changes, and the other answers."""

    status: str
    reason: str = ""
    certificate: str = ""
    network: str = ""
    dtype: str = ""
    points: int = 0
    settled: int = 0
    leaves: int = 0
    statement: tuple[str, ...] = ()
    pair: tuple[tuple[str, ...], ...] = ()

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused or violated, 2 unreadable, 3 unknown."""
        return EXIT[self.status]

    def to_json(self) -> dict[str, Any]:
        """The report for other programs."""
        return asdict(self)

    def lines(self) -> list[str]:
        """The report as text."""
        if not self.points:
            return [printable(f"{self.status}: {self.reason}")]
        whole, part = divmod(10**6 * self.settled // self.points, 10**4)
        out = [f"{self.status} ({self.dtype} network {self.network[:16]}…, certificate {self.certificate[:16]}…)"]
        out += [f"  {line}" for line in self.statement]
        out.append(
            f"  settled: {self.settled} of {self.points} points, {whole}.{part:04d} %, as computed in {self.dtype}"
        )
        out += [f"  a changed label: {' | '.join(', '.join(x) for x in self.pair)}"] if self.pair else []
        return [printable(line) for line in out]


def check_share(path: str | os.PathLike[str]) -> ShareReport:
    """Check a folder about labels; every failure is in the report, nothing is raised."""
    try:
        return _check_share(os.fspath(path))
    except CheckError as error:
        return ShareReport(error.status, str(error))


def _check_share(folder: str) -> ShareReport:
    files = {name: read_file(folder, name) for name in (SHARE, "network.bin", "proofs.bin")}
    content, data = parse(files[SHARE]), files["proofs.bin"]
    good = content.get("format") == "smilenn-share" and type(content.get("version")) is int
    need(good and content["version"] == 1, "this is not a share of version 1")
    keys = {"format", "version", "source", "network", "inputs", "lo", "hi", "protected", "parts", "pair"}
    need(set(content) == keys | {"proofs_sha256"}, "share.json has missing or unknown keys")
    need(content["proofs_sha256"] == sha256(data), "proofs.bin is not the file of this share")
    need(isinstance(content["source"], str), "the share's source is not a text")
    labels = Labels(content, Net(content["network"], files["network.bin"]), data)
    pair = labels.pair(content["pair"])
    settled, leaves = labels.settled()
    need(not (pair and settled == labels.points), "every point is settled, and a pair shows the contrary")
    status = "violated" if pair else "certified" if settled == labels.points else "unknown"
    digests = sha256(files[SHARE]), sha256(files["network.bin"])
    return ShareReport(status, "", *digests, labels.net.dtype, labels.points, settled, leaves, labels.statement(), pair)


def wholes(value: object, count: int) -> Ints:
    """So many whole numbers that are floats."""
    good = isinstance(value, list) and len(value) == count and all(type(v) is int and abs(v) <= WHOLE for v in value)
    need(good, "a list of whole numbers is malformed")
    return list(value)  # type: ignore[call-overload]


class Labels(Reader):
    """The statement of share.json and its proof: boxes of whole numbers in which the sign of the output is settled."""

    def __init__(self, content: dict[str, Any], net: Net, data: bytes) -> None:
        super().__init__(data)
        m, self.net, self.work = net.sizes[0], net, Work()
        need(net.sizes[-1] == 1, "labels are those of a network with one output")
        self.names, self.lo, self.hi = texts(content["inputs"], m), wholes(content["lo"], m), wholes(content["hi"], m)
        self.protected, parts = content["protected"], content["parts"]
        need(type(self.protected) is int and 0 <= self.protected < m, "there is no such protected input")
        need(isinstance(parts, list) and 1 <= len(parts) <= 256, "the parts are malformed")
        self.parts = [wholes(part, 2) for part in parts]
        within = (self.lo[self.protected], self.hi[self.protected])
        good = all(within[0] <= a <= b <= within[1] for a, b in self.parts)
        need(good and all(a <= b for a, b in zip(self.lo, self.hi, strict=True)), "the bounds are malformed")
        self.points, self.scaling_work = self.count(self.lo, self.hi), net.scaling_work([()] * m)

    def count(self, lo: Ints, hi: Ints) -> int:
        """The points of a box: whole numbers of all inputs but the protected one."""
        return math.prod(b - a + 1 for i, (a, b) in enumerate(zip(lo, hi, strict=True)) if i != self.protected)

    def statement(self) -> tuple[str, ...]:
        """What is counted, input by input."""
        out = ["points of whole numbers whose label, output > 0 or not, no value of the protected input changes:"]
        for i, name in enumerate(self.names):
            own = ", ".join(f"[{a}, {b}]" for a, b in self.parts)
            where = f"protected, all values in {own}" if i == self.protected else f"[{self.lo[i]}, {self.hi[i]}]"
            out.append(f"{json.dumps(name, ensure_ascii=False)}: {where}")
        return tuple(out)

    def pair(self, value: object) -> tuple[tuple[str, ...], ...]:
        """The stored pair, if there is one; its labels must differ in exact arithmetic."""
        if value is None:
            return ()
        need(isinstance(value, list) and len(value) == 2, "the pair is malformed")
        a, b = (wholes(x, self.net.sizes[0]) for x in value)  # type: ignore[union-attr]
        for x in (a, b):
            need(any(p <= x[self.protected] <= q for p, q in self.parts), "the pair's protected value is none of those")
            need(all(p <= v <= q for p, v, q in zip(self.lo, x, self.hi, strict=True)), "the pair is out of bounds")
        need(all(v == w for i, (v, w) in enumerate(zip(a, b, strict=True)) if i != self.protected), "the pair differs")
        signs = [self.net.outputs([Fraction(v) for v in x], self.work)[0] > 0 for x in (a, b)]
        need(signs[0] != signs[1], "the labels of the pair are the same")
        return tuple(tuple(map(str, x)) for x in (a, b))

    def settled(self) -> tuple[int, int]:
        """How many points lie in leaves whose claim is confirmed, and how many such leaves there are."""
        total = leaves = nodes = 0
        ahead = [(self.lo, self.hi)]
        while ahead:
            (lo, hi), nodes = ahead.pop(), nodes + 1
            need(nodes <= NODES and len(ahead) <= DEPTH, "the proof has too many nodes")
            kind = self.byte()
            if kind == SPLIT:
                i, at = self.number(self.net.sizes[0]), self.signed()
                need(i != self.protected and lo[i] <= at < hi[i], "a split leaves nothing on one side")
                ahead += [([*lo[:i], at + 1, *lo[i + 1 :]], hi), (lo, [*hi[:i], at, *hi[i + 1 :]])]
                continue
            need(kind in (OPEN, POSITIVE, OTHER), "a proof has an unknown node")
            if kind != OPEN and all(self.decided(lo, hi, part, kind == POSITIVE) for part in self.parts):
                total, leaves = total + self.count(lo, hi), leaves + 1
        need(self.at == len(self.data), "a proof has bytes left over")
        return total, leaves

    def decided(self, lo: Ints, hi: Ints, part: Ints, positive: bool) -> bool:
        """Whether the output is above 0 (or not) all over a box and a part of the protected input.

        Intervals of the hidden layers come first; where they do not show it, the rule tightens them.
        """
        ends = [part if i == self.protected else (a, b) for i, (a, b) in enumerate(zip(lo, hi, strict=True))]
        self.work.add(self.scaling_work)
        inputs = [self.scaled(i, *map(Fraction, end)) for i, end in enumerate(ends)]
        ways = (False, True) if len(self.net.W) > 2 else (False,)
        return any(self.shown(inputs, positive, lemmas) for lemmas in ways)

    def shown(self, inputs: list[tuple[int, int]], positive: bool, lemmas: bool) -> bool:
        """The same by one way to bound the hidden layers."""
        ranges, noise, last = [inputs], [[]], len(self.net.W)
        for layer in range(1, last):
            found, eps = self.through(layer, ranges[layer - 1])
            noise.append(eps)
            if lemmas and layer > 1:
                found = [self.lemma(layer, j, r, ranges, noise) for j, r in enumerate(found)]
            if any(low > high for low, high in found):
                return False
            ranges.append(found)
        e, sign = self.through(last, ranges[-1])[1][0], -1 if positive else 1
        kappa, const = self.start(last, 0, sign)
        bound = self.back(kappa, const + (e << K), last - 1, ranges, noise)
        return bound < 0 if positive else bound <= 0

    def scaled(self, i: int, low: Fraction, high: Fraction) -> tuple[int, int]:
        """§4: bounds of input i after the scaling, on the grid."""
        for step, constants in self.net.scaling:
            low, high = sorted((applied(step, low, constants[i]), applied(step, high, constants[i])))
            e = max(abs(low), abs(high)) * self.net.u + Fraction(1, 1 << 80)
            low, high = low - e, high + e
        need(max(abs(low), abs(high)) < 1 << 60, "an input is 2^60 or more")
        return down(low, G), up(high, G)

    def through(self, layer: int, below: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], Ints]:
        """Ranges of W·a + b, and ε of every unit, from the layer below."""
        a = below if layer == 1 else [(max(low, 0), max(high, 0)) for low, high in below]
        net = self.net
        self.work.add(net.layer_work(layer))
        middle, width = [low + high for low, high in a], [high - low for low, high in a]
        largest = [max(-low, high) for low, high in a]
        need(max(largest) < 1 << (G + 60), "a value is 2^60 or more")
        noise = noises(net.into[layer - 1].sizes(largest), net, layer)
        low, high = net.into[layer - 1].ends(middle, width)
        return [(a - e, b + e) for a, b, e in zip(low, high, noise, strict=True)], noise

    def start(self, layer: int, j: int, sign: int) -> tuple[Ints, int]:
        """κ and constant of ±s_j of a layer, rounded up."""
        net = self.net
        return net.start(layer, j, sign), ceil_shift(sign * net.b[layer - 1][j] << G, net.E - K)

    def lemma(
        self, layer: int, j: int, r: tuple[int, int], ranges: list[list[tuple[int, int]]], noise: list[Ints]
    ) -> tuple[int, int]:
        """The range of unit j met with what the rule says of it; a unit that is off stays as it is."""
        if r[1] <= 0:
            return r
        most = [
            ceil_shift(self.back(*self.start(layer, j, sign), layer - 1, ranges, noise), K) + noise[layer][j]
            for sign in (-1, 1)
        ]
        return max(r[0], -most[0]), min(r[1], most[1])

    def back(self, kappa: Ints, const: int, top: int, ranges: list[list[tuple[int, int]]], noise: list[Ints]) -> int:
        """§5 for one copy: an upper bound of κ·relu(s) + const of layer `top`."""
        net = self.net
        for layer in range(top, 0, -1):
            slopes = []
            for k, (low, high), e in zip(kappa, ranges[layer], noise[layer], strict=True):
                t = alone(k, low, high)
                const += abs(t) * e + ((k - t) * high if low < 0 < high and k > 0 else 0)
                slopes.append(t)
            const += ceil_shift(sum(map(mul, slopes, net.b[layer - 1])) << G, net.E)
            self.work.add(net.back_work(len(slopes), net.sizes[layer - 1]))
            kappa = down_to(layer, slopes, net)
        self.work.add(INPUTS * len(kappa))
        total = sum(max(q * low, q * high) for q, (low, high) in zip(kappa, ranges[0], strict=True))
        return const + ceil_shift(total, net.E)


def main(arguments: list[str]) -> int:
    """Print the report on a folder; its exit code."""
    folders = [a for a in arguments if a != "--json"]
    if len(folders) != 1:
        sys.stderr.write("usage: check_deep.py [--json] FOLDER\n")
        return 2
    report = (check_share if os.path.lexists(os.path.join(folders[0], SHARE)) else check_folder)(folders[0])
    text = json.dumps(report.to_json()) if "--json" in arguments else "\n".join(report.lines())
    sys.stdout.write(text + "\n")
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
