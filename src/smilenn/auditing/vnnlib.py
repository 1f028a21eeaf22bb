"""Queries in VNN-LIB 2.0: a query is satisfiable where a row is broken.

    (declare-network f …)  (declare-network g (equal-to f) …)  (assert …)*

The assertions are brought into alternatives, each a list of comparisons. Those between inputs make the premise (bounds
of single inputs, differences of one input between the copies); one comparison of outputs,  left > rhs, makes the row
left ≤ rhs. So *unsat* is "all rows hold". An alternative whose comparisons of outputs contradict each other whatever
the network computes says nothing; a query with no other ones is refused, for every network would pass it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.cells import as_read
from smilenn.auditing.network import DeepNet, Dtype
from smilenn.auditing.rows import Row, Vector
from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.properties.rational import exact

TOKEN = re.compile(r"\s+|;[^\n]*|[()]|[A-Za-z_][\w-]*\[[^\]()]*\]|[^\s();]+")
ELEMENT = re.compile(r"([A-Za-z_][\w-]*)\[([\d,\s]*)\]")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
LARGEST, DEEPEST, MOST = 1 << 24, 64, 512  # characters of a file, nested brackets, alternatives
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
Variable = tuple[str, int, int]  # "in" or "out", copy, place
Range = Sequence[Fraction | None]
Pair = tuple[Vector, Vector]
Atom = tuple[dict[Variable, Fraction], Fraction, bool]  # Σ coefficients ≥ rhs, or > where True


@dataclass(frozen=True)
class Query:
    """The rows of a query, which hold if it is unsatisfiable, and the domain of its inputs."""

    rows: tuple[Row, ...]
    domain: Domain
    outputs: tuple[str, ...]
    networks: tuple[str, ...]


def read_vnnlib(path: str | Path, net: DeepNet) -> Query:
    """The query of a file about `net`, or about two copies of it."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SmileError(f"{str(path)!r} cannot be read ({error}); give a VNN-LIB file.") from None
    if len(text) > LARGEST:
        raise SmileError(f"{str(path)!r} is larger than 16 MiB; such queries are not read.")
    return Reader(net, file.name).query(text)


def parsed(text: str, name: str) -> list[Any]:
    """Nested lists of tokens."""
    stack: list[list[Any]] = [[]]
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match is not None  # every character is one of these
        token, at = match[0], match.end()
        if token == "(":
            stack.append([])
            if len(stack) > DEEPEST:
                raise SmileError(f"{name} nests brackets deeper than {DEEPEST}; it is no query.")
        elif token == ")":
            if len(stack) == 1:
                raise SmileError(f"{name} closes a bracket that it has not opened.")
            done = stack.pop()
            stack[-1].append(done)
        elif not token.isspace() and not token.startswith(";"):
            stack[-1].append(token)
    if len(stack) > 1:
        raise SmileError(f"{name} opens a bracket that it does not close.")
    return stack[0]


class Reader:
    """Reads one query."""

    def __init__(self, net: DeepNet, name: str) -> None:
        self.net, self.name = net, name
        self.names: dict[str, tuple[str, int, int]] = {}  # variable → kind, copy, size
        self.networks: list[str] = []
        self.same = True  # whether a second network is the first again

    def query(self, text: str) -> Query:
        """The rows."""
        alternatives: list[list[Atom]] = [[]]
        for part in parsed(text, self.name):
            match part:
                case ["vnnlib-version", version]:
                    if not str(version).startswith("<2"):
                        raise self.error(f"is of version {version}; 2.0 is read")
                case ["declare-network", str(network), *parts]:
                    self.declared(network, parts)
                case ["assert", condition]:
                    alternatives = self.joined(alternatives, self.condition(condition, False))
                case _:
                    raise self.error(f"has the part {shown(part)}; networks and assertions are read")
        if not self.networks:
            raise self.error("declares no network")
        return self.rows(alternatives)

    def error(self, what: str) -> SmileError:
        """A sentence about the file."""
        return SmileError(f"{self.name} {what}.")

    def declared(self, network: str, parts: Sequence[Any]) -> None:
        """A network with one input and one output; a second one is the first again."""
        copy = len(self.networks)
        if copy == 2:
            raise self.error("declares more than two networks; audits cover two copies of one")
        relations = [part for part in parts if isinstance(part, list) and part[:1] in (["equal-to"], ["isomorphic-to"])]
        self.same = self.same and (not copy or relations == [["equal-to", self.networks[0]]])
        self.networks.append(network)
        for kind, word, size in (
            ("in", "declare-input", self.net.sizes[0]),
            ("out", "declare-output", self.net.sizes[-1]),
        ):
            found = [part for part in parts if isinstance(part, list) and part[:1] == [word]]
            if len(found) != 1 or len(found[0]) < 4:
                raise self.error(
                    f"gives {network!r} {len(found)} parts {word}; one with a name, a type and a shape is read"
                )
            name, shape = found[0][1], "".join(str(word) for word in found[0][3:])
            sizes = [int(v) for v in re.findall(r"\d+", shape)]
            if name in self.names or int(np.prod(sizes or [0])) != size:
                raise self.error(f"declares {name!r} of the shape {shape}; the network has {size} such numbers")
            self.names[name] = (kind, copy, size)

    # ---- conditions ----

    def condition(self, part: Any, negated: bool) -> list[list[Atom]]:
        """A condition, or its negation, as alternatives."""
        match part:
            case ["not", inner]:
                return self.condition(inner, not negated)
            case ["and" | "or" as word, *inner] if inner:
                found = [self.condition(one, negated) for one in inner]
                if (word == "and") == negated:
                    return [alternative for one in found for alternative in one]
                out: list[list[Atom]] = [[]]
                for one in found:
                    out = self.joined(out, one)
                return out
            case [str(op), left, right] if op in FLIPPED:
                return self.comparison(op, left, right, negated)
            case [left, str(op), right] if op in FLIPPED:
                return self.comparison(op, left, right, negated)
        raise self.error(f"asserts {shown(part)}, which is no comparison, 'and', 'or' or 'not'")

    def joined(self, one: list[list[Atom]], two: list[list[Atom]]) -> list[list[Atom]]:
        """Both hold."""
        if len(one) * len(two) > MOST:
            raise self.error(f"has more than {MOST} alternatives")
        return [a + b for a in one for b in two]

    def comparison(self, op: str, left: Any, right: Any, negated: bool) -> list[list[Atom]]:
        """Alternatives of atoms Σ ≥ rhs or Σ > rhs."""
        terms, constant = self.linear(["-", left, right])
        above: Atom = (terms, -constant, False)
        below: Atom = ({key: -value for key, value in terms.items()}, constant, False)
        strict = [(*above[:2], True), (*below[:2], True)]
        if op == "==":
            return [[strict[0]], [strict[1]]] if negated else [[above, below]]
        if op in ("<", "<="):
            above, below, strict = below, above, strict[::-1]
        if negated:  # not (Σ > rhs) is −Σ ≥ −rhs
            return [[below]] if op in ("<", ">") else [[strict[1]]]
        return [[strict[0]]] if op in ("<", ">") else [[above]]

    def linear(self, part: Any) -> tuple[dict[Variable, Fraction], Fraction]:
        """Coefficients and constant of an expression."""
        match part:
            case str():
                return self.single(part)
            case ["+" | "-" as op, first, *rest]:
                terms, constant = self.linear(first)
                if op == "-" and not rest:
                    return _scaled(terms, constant, Fraction(-1))
                for one in rest:
                    more, shift = _scaled(*self.linear(one), Fraction(-1 if op == "-" else 1))
                    constant += shift
                    terms = {key: terms.get(key, Fraction(0)) + more.get(key, Fraction(0)) for key in {**terms, **more}}
                return {key: value for key, value in terms.items() if value}, constant
            case ["*", one, two]:
                factors = [self.linear(one), self.linear(two)]
                known = [shift for terms, shift in factors if not terms]
                if known:
                    other = factors[0] if factors[1] == ({}, known[-1]) else factors[1]
                    return _scaled(*other, known[-1] if other is factors[0] else known[0])
        raise self.error(f"has the expression {shown(part)}; sums and multiples of inputs and outputs are read")

    def single(self, token: str) -> tuple[dict[Variable, Fraction], Fraction]:
        """A number, or an element of a declared variable."""
        if NUMBER.fullmatch(token):
            try:
                return {}, exact(token)
            except SmileError:
                raise self.error(f"has the number {shown(token)}, which is too long or beyond 1e300") from None
        match = ELEMENT.fullmatch(token)
        name = match[1] if match else token
        if name not in self.names:
            raise self.error(f"names {shown(token)}, which it does not declare")
        kind, copy, size = self.names[name]
        places = [0] if match is None else [int(v) for v in re.findall(r"\d+", match[2])]
        if not places or any(places[:-1]) or places[-1] >= size or (match is None and size > 1):
            raise self.error(f"names {shown(token)}, but {name!r} has {size} elements in one row")
        return {(kind, copy, places[-1]): Fraction(1)}, Fraction(0)

    # ---- rows ----

    def rows(self, alternatives: Sequence[list[Atom]]) -> Query:
        """A row for every alternative that can be met."""
        m = self.net.sizes[0]
        found: list[tuple[list[Atom], Atom]] = []
        for atoms in alternatives:
            outputs = [atom for atom in atoms if any(kind == "out" for kind, _, _ in atom[0])]
            if not _possible(outputs):
                continue
            if len(outputs) != 1:
                count = f"{len(outputs)} conditions on outputs at once" if outputs else "no condition on outputs"
                raise self.error(f"has {count}; audits cover one, or several joined by 'or'")
            found.append(([atom for atom in atoms if atom is not outputs[0]], outputs[0]))
        if not found:
            raise self.error(
                "is vacuous: its conditions on outputs contradict each other whatever the network computes"
            )
        if not self.same:
            raise self.error(f"is about two networks, {listed(self.networks)}; audits cover copies of one (equal-to)")
        names = tuple(f"X[{i}]" for i in range(m))
        outputs = ("",) if self.net.sizes[-1] == 1 else tuple(f"Y[{i}]" for i in range(self.net.sizes[-1]))
        rows = tuple(self.row(names, *parts) for parts in found)
        lo = [float(min(row.lo[c][i] for row in rows for c in (0, 1))) for i in range(m)]
        hi = [float(max(row.hi[c][i] for row in rows for c in (0, 1))) for i in range(m)]
        return Query(rows, Domain.box(lo, hi, names=list(names)), outputs, tuple(self.networks))

    def row(self, names: tuple[str, ...], premise: Sequence[Atom], output: Atom) -> Row:
        """The premise as boxes and strips, the condition on outputs as its negation."""
        m = len(names)
        ends = Ends(m, self)
        for atom in premise:
            ends.cut(atom)
        lo, hi, low, high = ends.closed(two=len(self.networks) == 2, dtype=self.net.dtype)
        terms, rhs, strict = output
        if any(kind == "in" for kind, _, _ in terms):
            raise self.error("relates outputs to inputs in one comparison, which audits do not cover")
        weights = [tuple(terms.get(("out", c, o), Fraction(0)) for o in range(self.net.sizes[-1])) for c in (0, 1)]
        limit = rhs if strict else Fraction(-((-rhs.numerator << 80) // rhs.denominator) - 1, 1 << 80)  # left < rhs
        text = f"{self.name}: {_words(terms)} ≤ {rhs}" if strict else f"{self.name}: {_words(terms)} < {rhs}"
        whole = (False,) * m
        return Row(text, names, lo, hi, low, high, whole, (weights[0], weights[1]), limit)


class Ends:
    """Bounds of the inputs of both copies, and of their differences, as far as they are known."""

    def __init__(self, count: int, reader: Reader) -> None:
        self.count, self.reader = count, reader
        self.known: dict[tuple[int, int], list[Fraction | None]] = {}  # (0 or 1: copy, 2: difference; place)
        self.open: set[tuple[tuple[int, int], Fraction]] = set()  # ends that are themselves left out

    def cut(self, atom: Atom) -> None:
        """Σ ≥ rhs; a premise may as well hold at its own limit."""
        terms, rhs, strict = atom
        match sorted(terms.items()):
            case [((_, copy, i), k)]:
                self.narrow((copy, i), k, rhs, strict=strict)
            case [((_, 0, i), k), ((_, 1, j), other)] if i == j and k == -other:
                self.narrow((2, i), k, rhs, strict=strict)
            case []:
                if rhs > 0 or (rhs == 0 and strict):
                    raise self.reader.error("asserts something about numbers alone that is false")
            case _:
                raise self.reader.error(f"relates {_words(terms)} in its premise; bounds and differences are read")

    def narrow(self, key: tuple[int, int], k: Fraction, rhs: Fraction, *, strict: bool) -> None:
        """k·z ≥ rhs, or more than it."""
        ends, bound = self.known.setdefault(key, [None, None]), rhs / k
        if strict:
            self.open.add((key, bound))
        side, choose = (0, max) if k > 0 else (1, min)
        before = ends[side]
        ends[side] = bound if before is None else choose(before, bound)
        if ends[0] is not None and ends[0] == ends[1] and (key, ends[0]) in self.open:
            raise self.reader.error(f"leaves input {key[1]} no value, so that every network would pass")

    def closed(self, *, two: bool, dtype: Dtype) -> tuple[Pair, Pair, Vector, Vector]:
        """lo, hi of both copies and low, high of the differences; what is missing or empty is an error."""
        every = [self.input(i, two, dtype) for i in range(self.count)]
        lo1, hi1, lo2, hi2, low, high = (tuple(column) for column in zip(*every, strict=True))
        return (lo1, lo2), (hi1, hi2), low, high

    def input(self, i: int, two: bool, dtype: Dtype) -> Vector:
        """Ends of input i in either copy, as the network reads them, and of its difference."""
        first, second, gap = (self.known.get((c, i), (None, None)) for c in range(3))
        if not two:
            second, gap = first, (Fraction(0), Fraction(0))
        ends = self.bounds(i, first, second, gap[0], gap[1])
        ends += self.bounds(i, second, first, None if gap[1] is None else -gap[1], None if gap[0] is None else -gap[0])
        lo1, lo2 = (min(v, as_read(v, dtype)) for v in ends[::2])
        hi1, hi2 = (max(v, as_read(v, dtype)) for v in ends[1::2])
        low = lo1 - hi2 if gap[0] is None else max(lo1 - hi2, gap[0])
        high = hi1 - lo2 if gap[1] is None else min(hi1 - lo2, gap[1])
        if low > high:
            raise self.reader.error(f"leaves the difference of input {i} no value, so that every network would pass")
        return lo1, hi1, lo2, hi2, low, high

    def bounds(self, i: int, own: Range, other: Range, low: Fraction | None, high: Fraction | None) -> list[Fraction]:
        """Both ends of input i in one copy: its own, or those of the other copy plus a difference in [low, high]."""
        found: list[Fraction] = []
        for end, beside, gap in zip(own, other, (low, high), strict=True):
            if end is not None:
                found.append(end)
            elif beside is not None and gap is not None:
                found.append(beside + gap)
            else:
                raise self.reader.error(f"gives input {i} no finite bounds")
        if found[0] > found[1]:
            raise self.reader.error(f"leaves input {i} no value, so that every network would pass")
        return found


def _possible(atoms: Sequence[Atom]) -> bool:
    """Whether no two comparisons contradict each other, exactly: Σ ≥ r and −c·Σ ≥ s with r + s/c > 0."""
    return not any(_contradict(one, two) for one, two in combinations(atoms, 2))


def _contradict(one: Atom, two: Atom) -> bool:
    (terms, rhs, strict), (other, limit, sharp) = one, two
    if set(terms) != set(other):
        return False
    ratios = {-terms[key] / other[key] for key in terms}
    if len(ratios) != 1 or min(ratios) <= 0:
        return False
    total = rhs + min(ratios) * limit
    return total > 0 or (total == 0 and (strict or sharp))


def _scaled(
    terms: Mapping[Variable, Fraction], constant: Fraction, factor: Fraction
) -> tuple[dict[Variable, Fraction], Fraction]:
    return {key: factor * value for key, value in terms.items() if factor * value}, factor * constant


def _words(terms: Mapping[Variable, Fraction]) -> str:
    letters = {"in": "X", "out": "Y"}
    return " + ".join(f"{k}·{'ab'[copy]}.{letters[kind]}[{i}]" for (kind, copy, i), k in sorted(terms.items())) or "0"


def shown(part: Any) -> str:
    """A part of a query on one short line."""
    text = f"({' '.join(shown(p) for p in part)})" if isinstance(part, list) else str(part)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 60 else f"{text[:57]}…"
