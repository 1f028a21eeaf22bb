"""An audit's folder as values, read strictly: docs/audit-certificate.md, sections 1 to 3 and the trees of 6."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from smilenn.certify.reference.floats import Double
from smilenn.certify.reference.strict import (
    Unreadable,
    as_hash,
    as_integer,
    as_list,
    as_object,
    as_text,
    need,
    parse_json,
    read_file,
)

LIMITS = {"audit.json": 1 << 26, "network.bin": 1 << 23, "proofs.bin": 1 << 28}
KEYS = ("format", "version", "source", "network", "inputs", "outputs", "proofs_sha256", "rows")
ROW_KEYS = ("text", "lo", "hi", "low", "high", "whole", "weights", "rhs", "witness", "proof")
KINDS = {"float32": (32, 23), "float64": (64, 52)}  # bits, and those of the fraction
MOST_NODES, MOST_OPEN, MOST_DIGITS = 1 << 22, 512, 40
MOST_CHARACTERS = 20  # of a whole number
LARGE = Fraction(1 << 40)
RATIONAL = re.compile(r"(-?)([0-9]{1,400})(?:/([1-9][0-9]{0,399}))?")
Vector = tuple[Fraction, ...]
Given = tuple[tuple[Fraction, Fraction] | None, ...]  # slopes of a unit, None: own


@dataclass(frozen=True)
class Network:
    """Weights [layer][unit][input] and biases, exact; the unit roundoff; the scaling's steps."""

    dtype: str
    weights: tuple[tuple[Vector, ...], ...]
    biases: tuple[Vector, ...]
    scaling: tuple[tuple[str, Vector], ...]
    digest: str

    @property
    def roundoff(self) -> Fraction:
        """u of the network's type."""
        return Fraction(1, 2 << KINDS[self.dtype][1])


@dataclass(frozen=True)
class Leaf:
    """Slopes [layer from the top][unit] in multiples of 2^-digits, None: own; no slopes at all: own everywhere."""

    digits: int = 0
    slopes: tuple[tuple[tuple[int, int] | None, ...], ...] | None = None

    def layer(self, place: int, units: int) -> Given:
        """The slopes of a layer's units, the layers counted from the top."""
        if self.slopes is None:
            return (None,) * units
        under = 1 << self.digits
        return tuple(None if t is None else (Fraction(t[0], under), Fraction(t[1], under)) for t in self.slopes[place])


@dataclass(frozen=True)
class Phase:
    """A split at s = 0 of one copy of a unit; layers count from 1."""

    layer: int
    unit: int
    copy: int


@dataclass(frozen=True)
class Cut:
    """A split of an input of one copy."""

    place: int
    copy: int
    at: Fraction


@dataclass(frozen=True)
class Lemmas:
    """Ranges found again by the rule; of each copy by itself, or of differences too."""

    differences: bool = True


Node = Leaf | Phase | Cut | Lemmas


@dataclass(frozen=True)
class StoredRow:
    """A row and its proof, the tree's nodes in their order; None: it shares that of the row before it."""

    text: str
    lo: tuple[Vector, Vector]
    hi: tuple[Vector, Vector]
    low: Vector
    high: Vector
    whole: tuple[bool, ...]
    weights: tuple[Vector, Vector]
    rhs: Fraction | None
    witness: tuple[Vector, Vector]
    proof: tuple[Node, ...] | None

    @property
    def premise(self) -> tuple[Any, ...]:
        """What its inputs satisfy."""
        return self.lo, self.hi, self.low, self.high, self.whole


def read_audit(folder: Path) -> tuple[tuple[Network, Network], tuple[StoredRow, ...]]:
    """The networks that read the first and the second input (one and the same in version 1), and the rows."""
    files = {name: read_file(folder / name, limit) for name, limit in LIMITS.items()}
    parsed = parse_json(files["audit.json"], "audit.json")
    only_whole(parsed)
    content = as_object(parsed, KEYS, "audit.json")
    need(content["format"] == "smilenn-audit", "This is not an audit.")
    version = as_integer(content["version"], 1, 2, "The version")
    as_text(content["source"], "The source")
    need(content["proofs_sha256"] == sha256(files["proofs.bin"]).hexdigest(), "proofs.bin belongs to another audit.")
    nets = read_networks(content["network"], files["network.bin"], version)
    net = nets[0]
    sizes = (len(net.weights[0][0]), *(len(b) for b in net.biases))
    for key, count in (("inputs", sizes[0]), ("outputs", sizes[-1])):
        names = [as_text(name, "A name") for name in as_list(content[key], key)]
        need(len(names) == count == len(set(names)), f"There must be {count} different {key}.")
    rows, rest = [], files["proofs.bin"]
    for entry in as_list(content["rows"], "rows"):
        row = as_object(entry, ROW_KEYS, "A row")
        count = as_integer(row["proof"], 0, len(rest), "The length of a proof")
        shared = version == 2 and count == 0 and bool(rows)
        rows.append(read_row(row, sizes, None if shared else rest[:count], version == 2))
        need(not shared or rows[-1].premise == rows[-2].premise, "A row shares the proof of another premise.")
        rest = rest[count:]
    need(bool(rows) and not rest, "There are no rows, or bytes of proofs.bin that no row uses.")
    return (nets[0], nets[-1]), tuple(rows)


def only_whole(parsed: Any) -> None:
    """An object without floats and long whole numbers; anything else cannot be read as an audit."""
    if not isinstance(parsed, dict):
        raise Unreadable("audit.json is not an object.")
    ahead: list[Any] = [parsed]
    while ahead:
        value = ahead.pop()
        if isinstance(value, Double) or (type(value) is int and len(str(value)) > MOST_CHARACTERS):
            raise Unreadable(f"A number of audit.json is not whole, or has more than {MOST_CHARACTERS} characters.")
        ahead += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def rational(value: Any) -> Fraction:
    """A rational from its text."""
    match = RATIONAL.fullmatch(as_text(value, "A number"))
    need(match is not None, "A number is malformed.")
    assert match is not None
    size = Fraction(int(match[2]), int(match[3] or 1))
    return -size if match[1] else size


def vector(value: Any, count: int) -> Vector:
    """A list of so many rationals."""
    entries = as_list(value, "A list of numbers")
    need(len(entries) == count, f"A list has {len(entries)} numbers instead of {count}.")
    return tuple(map(rational, entries))


def two(value: Any, count: int) -> tuple[Vector, Vector]:
    """A list for either copy."""
    entries = as_list(value, "A pair of lists")
    need(len(entries) == 2, "A row is about two copies.")
    return vector(entries[0], count), vector(entries[1], count)


def read_network(entry: Any, data: bytes) -> Network:
    """Section 2: the one network of a file."""
    return read_networks(entry, data, 1)[0]


def read_networks(entry: Any, data: bytes, many: int) -> list[Network]:
    """So many networks of the same sizes, one after the other."""
    described = as_object(entry, ("dtype", "sizes", "scaling", "sha256"), "The network")
    dtype = as_text(described["dtype"], "dtype")
    need(dtype in KINDS, "The network has an unknown type.")
    sizes = [as_integer(n, 1, 1 << 16, "A size") for n in as_list(described["sizes"], "sizes")]
    need(3 <= len(sizes) <= 66, "The network has no hidden layer, or too many.")
    digest = sha256(data).hexdigest()
    need(as_hash(described["sha256"], "The network's digest") == digest, "network.bin is another network.")
    width = KINDS[dtype][0] // 8
    total = sum((before + 1) * after for before, after in pairwise(sizes))
    need(len(data) == many * total * width, "network.bin has another size than its network.")
    numbers = iter([binary(data[k : k + width], dtype) for k in range(0, len(data), width)])
    scaling, out = read_scaling(described["scaling"], sizes[0], dtype), []
    for _ in range(many):
        weights, biases = [], []
        for before, after in pairwise(sizes):
            weights.append(tuple(tuple(next(numbers) for _ in range(before)) for _ in range(after)))
            biases.append(tuple(next(numbers) for _ in range(after)))
        out.append(Network(dtype, tuple(weights), tuple(biases), scaling, digest))
    return out


def binary(data: bytes, dtype: str) -> Fraction:
    """A finite float below 2^40 in size, from its bits."""
    width, digits = KINDS[dtype]
    bits = int.from_bytes(data, "little")
    fraction, field, top = bits % (1 << digits), bits >> digits & ((1 << (width - digits - 1)) - 1), width - digits - 1
    need(field != (1 << top) - 1, "A weight is infinite or no number.")
    bias = (1 << (top - 1)) - 1
    size = Fraction(fraction, 1 << digits) + (1 if field else 0)
    value = size * Fraction(2) ** ((field or 1) - bias)
    need(value < LARGE, "A weight is 2^40 or more.")
    return -value if bits >> (width - 1) else value


def of_type(value: Fraction, dtype: str) -> bool:
    """Whether the type has this number, which is below 2^40 in size: a multiple of what the last digit is worth."""
    width, digits = KINDS[dtype]
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > abs(value):
        exponent -= 1
    place = max(exponent, 2 - (1 << (width - digits - 2)))  # that of normal numbers is no smaller
    return (value / Fraction(2) ** (place - digits)).denominator == 1


def read_scaling(value: Any, inputs: int, dtype: str) -> tuple[tuple[str, Vector], ...]:
    """The steps of the scaling."""
    steps = []
    for entry in as_list(value, "The scaling"):
        step = as_list(entry, "A step of the scaling")
        need(len(step) == 2 and step[0] in ("add", "sub", "mul", "div"), "A step of the scaling is unknown.")
        constants = vector(step[1], inputs)
        need(all(abs(k) < LARGE for k in constants), "A constant of the scaling is 2^40 or more.")
        need(all(of_type(k, dtype) for k in constants), f"A constant of the scaling is no {dtype} number.")
        if step[0] in ("mul", "div"):
            need(all(abs(k) * LARGE >= 1 for k in constants), "A factor of the scaling is below 2^-40.")
        steps.append((step[0], constants))
    need(len(steps) <= 16, "The scaling has more than 16 steps.")
    return tuple(steps)


def read_row(row: dict[str, Any], sizes: tuple[int, ...], data: bytes | None, pair: bool) -> StoredRow:
    """Section 3."""
    inputs, outputs = sizes[0], sizes[-1]
    whole = as_list(row["whole"], "whole")
    need(len(whole) == inputs and all(isinstance(v, bool) for v in whole), "whole is not a list of true and false.")
    return StoredRow(
        as_text(row["text"], "A row's text"),
        two(row["lo"], inputs),
        two(row["hi"], inputs),
        vector(row["low"], inputs),
        vector(row["high"], inputs),
        tuple(whole),
        two(row["weights"], outputs),
        None if row["rhs"] is None else rational(row["rhs"]),
        two(row["witness"], inputs),
        None if data is None else Tree(data, sizes, pair).nodes(),
    )


class Tree:
    """Reads the bytes of a proof."""

    def __init__(self, data: bytes, sizes: tuple[int, ...], pair: bool = False) -> None:
        self.bytes, self.sizes, self.left, self.pair = iter(data), sizes, len(data), pair

    def byte(self) -> int:
        """The next byte."""
        need(self.left > 0, "A proof ends too early.")
        self.left -= 1
        return next(self.bytes)

    def natural(self, below: int) -> int:
        """A whole number."""
        groups = []
        while True:
            group = self.byte()
            groups.append(group & 0x7F)
            need(len(groups) <= 15, "A number of a proof is too long.")
            if not group & 0x80:
                break
        value = sum(group << 7 * place for place, group in enumerate(groups))
        need(value < below, "A number of a proof is too large.")
        return value

    def integer(self) -> int:
        """A whole number with a sign."""
        code = self.natural(1 << 98)
        return code // 2 if code % 2 == 0 else -(code + 1) // 2

    def nodes(self) -> tuple[Node, ...]:
        """All nodes; the tree is complete and nothing follows it."""
        out: list[Node] = []
        missing = 1
        while missing:
            need(len(out) < MOST_NODES and missing - 1 <= MOST_OPEN, "A proof has too many nodes.")
            node = self.node()
            out.append(node)
            missing += {Leaf: -1, Lemmas: 0}.get(type(node), 1)
        need(self.left == 0, "A proof has bytes left over.")
        return tuple(out)

    def node(self) -> Node:
        """The next node."""
        kind = self.byte()
        need(kind <= 4 or (kind == 5 and self.pair), "A proof has an unknown node.")
        match kind:
            case 0:
                return Leaf()
            case 1:
                digits = self.natural(MOST_DIGITS + 1)
                return Leaf(digits, tuple(self.layer(n) for n in self.sizes[-2:0:-1]))
            case 2:
                layer = self.natural(len(self.sizes) - 2) + 1
                return Phase(layer, self.natural(self.sizes[layer]), self.natural(2))
            case 3:
                place, copy = self.natural(self.sizes[0]), self.natural(2)
                n = self.integer()
                return Cut(place, copy, Fraction(n, 2 ** self.natural(64)))
        return Lemmas(kind == 4)

    def layer(self, units: int) -> tuple[tuple[int, int] | None, ...]:
        """The slopes of a layer."""
        halves = []
        for _ in range(-(-units // 2)):
            both = self.byte()
            halves += [both % 16, both // 16]
        need(units % 2 == 0 or halves.pop() == 0, "A leaf has a code for a unit that is not there.")
        return tuple(self.slopes(code) for code in halves)

    def slopes(self, code: int) -> tuple[int, int] | None:
        """t_1 and t_2 of a unit."""
        need(code <= 5, "A leaf has an unknown code.")
        match code:
            case 0:
                return None
            case 1:
                return 0, 0
            case 2:
                return self.integer(), 0
            case 3:
                return 0, self.integer()
        t = self.integer()
        return t, -t if code == 4 else self.integer()
