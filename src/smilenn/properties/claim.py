"""The general claim: ``∀ x_1..x_k ∈ X : Q(x_1..x_k) ⇒ R(x_1..x_k, f(x_1)..f(x_k))`` with Q and R linear.

R is a list of rows that all hold and, if wanted, of *clauses*: rows of which one holds at least (cases.py).

A claim names features and outputs and holds exact rational coefficients: it knows neither a domain nor a network.
`Premise` (premise.py) grounds Q on a domain, `Problem` (problem/problem.py) reduces R on a network's snapshot.

Sign convention: every inequality reads ``Σ terms ≤ rhs`` (or ``==``), so *violation ≤ 0 means satisfied*.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import Any, Literal

from smilenn.errors import SmileError, listed
from smilenn.properties.rational import divisor, exact, number

COPIES = "abcd"  # the names of the copies x_1..x_k in texts
PLAIN_NAME = re.compile(r"[^\W\d]\w*")  # names that a row may hold without quotes
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
MANY = 8  # features of which the same is said: beyond, it is written once
Others = Literal["equal", "free"]


Ends = list[Fraction | None]  # [low, high], None where there is no end


def narrow(ends: Ends, coef: Fraction, row: Inequality) -> None:
    """Cut [low, high] by ``coef·z ≤ rhs`` or ``==``, in place."""
    bound, both, (low, high) = row.rhs / coef, row.op == "==", ends
    if coef < 0 or both:
        ends[0] = bound if low is None else max(low, bound)
    if coef > 0 or both:
        ends[1] = bound if high is None else min(high, bound)


@dataclass(frozen=True)
class Term:
    """``coef · (input or output called name, of one copy)``; the single output of a scalar network is called ''."""

    coef: Fraction
    copy: int
    kind: Literal["in", "out"]
    name: str

    def reference(self) -> str:
        """``a["income"]``, ``b.out``, ``a.out["price"]``: names stand in quotes, so that none can pass for syntax."""
        copy, name = COPIES[self.copy], self.name
        if self.kind == "out":
            return f"{copy}.out" + (f"[{in_quotes(name)}]" if name else "")
        return f"{copy}[{in_quotes(name)}]"


@lru_cache(maxsize=1 << 12)
def in_quotes(name: str) -> str:
    r"""A name as a text of the claim language: what would end it, or cannot be printed, is escaped.

    >>> print(in_quotes('net "price"\n'))
    "net \"price\"\n"
    """
    return '"' + "".join(ESCAPES.get(c) or (c if c.isprintable() else _code(c)) for c in name) + '"'


def in_codes(name: str) -> str:
    r"""The same with every character beyond ASCII as a code, for names that look like others.

    >>> print(in_codes('"caf\u00e9"'))
    "\"caf\u00e9\""
    """
    return "".join(c if c.isascii() else _code(c) for c in in_quotes(name))


def _code(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


@dataclass(frozen=True)
class Inequality:
    """``Σ terms ≤ rhs`` or ``Σ terms == rhs``."""

    terms: tuple[Term, ...]
    rhs: Fraction = Fraction(0)
    op: Literal["<=", "=="] = "<="

    def text(self) -> str:
        """The row in the claim language, readable back by the parser."""
        parts = []
        for i, term in enumerate(self.terms):
            sign = "-" if term.coef < 0 else ("+" if i else "")
            size = abs(term.coef)
            body = term.reference() if size == 1 else f"{number(size)} * {term.reference()}"
            parts.append(f"{sign} {body}" if i else f"{sign}{body}")
        return f"{' '.join(parts) or '0'} {self.op} {number(self.rhs)}"

    def halves(self) -> tuple[Inequality, ...]:
        """The row as ``≤``, and of an ``==`` its negation as well."""
        if self.op == "<=":
            return (self,)
        negated = Inequality(tuple(replace(t, coef=-t.coef) for t in self.terms), -self.rhs)
        return (Inequality(self.terms, self.rhs), negated)

    def to_json(self) -> dict[str, Any]:
        """JSON with exact rationals as text."""
        return {
            "terms": [[str(t.coef), t.copy, t.kind, t.name] for t in self.terms],
            "op": self.op,
            "rhs": str(self.rhs),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Inequality:
        """Inverse of `to_json`."""
        if not isinstance(data, Mapping) or set(data) != {"terms", "op", "rhs"} or data["op"] not in ("<=", "=="):
            raise SmileError(f"A row is described by 'terms', 'op' and 'rhs', not by {data!r}.")
        terms = tuple(_term(entry) for entry in _list(data, "terms"))
        return cls(terms, exact(data["rhs"]), data["op"])


def _term(entry: Any) -> Term:
    if isinstance(entry, list) and len(entry) == 4:
        coef, copy, kind, name = entry
        if kind in ("in", "out") and isinstance(copy, int) and isinstance(name, str):
            return Term(exact(coef), copy, kind, name)
    raise SmileError(f"A term is [coefficient, copy, 'in' or 'out', name], not {entry!r}.")


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    if not isinstance(data[key], list):
        raise SmileError(f"{key!r} must hold a list, not {data[key]!r}.")
    return data[key]


def row(terms: Iterable[tuple[Any, int, str, str]], rhs: Any = 0, op: Literal["<=", "=="] = "<=") -> Inequality:
    """Shorthand for an `Inequality`: like terms are merged and zero terms dropped.

    >>> row([(1, 0, "out", ""), (-1, 1, "out", "")], 0.4).text()
    'a.out - b.out <= 0.4'
    """
    merged: dict[tuple[int, str, str], Fraction] = {}
    for given, copy, kind, name in terms:
        coef, key = exact(given), (copy, kind, name)
        merged[key] = merged[key] + coef if key in merged else coef
    kept = tuple(Term(c, copy, kind, name) for (copy, kind, name), c in merged.items() if c)  # type: ignore[arg-type]
    return Inequality(kept, exact(rhs), op)


def _texts(rows: Iterable[Inequality]) -> list[str]:
    """Rows as texts, those about one of many features written once, with "*" for the feature."""
    same: dict[str, list[str]] = {}
    rest: list[tuple[str, Inequality]] = []
    for inequality in rows:
        shape = ""
        if len({term.name for term in inequality.terms}) == 1:
            shape = replace(inequality, terms=tuple(replace(term, name="*") for term in inequality.terms)).text()
            same.setdefault(shape, []).append(inequality.terms[0].name)
        rest.append((shape, inequality))
    many = {shape: names for shape, names in same.items() if len(names) > MANY}
    said = [
        f'{shape} for each of {len(n)} features in place of "*": '
        f"{in_quotes(n[0])}, {in_quotes(n[1])}, … {in_quotes(n[-1])}"
        for shape, n in many.items()
    ]
    return said + [inequality.text() for shape, inequality in rest if shape not in many]


Clause = tuple[Inequality, ...]  # rows ≤ of which one holds at least, whichever, at every tuple of inputs


@dataclass(frozen=True)
class Claim:
    """``∀ copies ∈ X : all rows of when ⇒ all rows of then, and of every clause of either one row``.

    Parameters
    ----------
    copies : k, from 1 to 4; the copies are called a, b, c, d.
    when : rows over inputs only. Features that no row names are `others`: ``equal`` in all copies, or ``free``.
    then : rows over outputs and, if wanted, inputs; an ``==`` row means both inequalities.
    equal : features pinned equal in all copies in addition (a category by its name pins the whole group).
    free : features that differ freely between the copies although no row names them and `others` is ``equal``.
    sentence : a text beside the claim; nobody checks it, and what is certified is said from the rows (wording.py).
    either : clauses of at least two ``<=`` rows over outputs and inputs; `then` may be empty if there are any.
    ball : (feature, δ) pairs of two copies: the differences must also satisfy Σ ((a_i − b_i)/δ_i)² ≤ 1.
    """

    copies: int
    when: tuple[Inequality, ...]
    then: tuple[Inequality, ...]
    others: Others = "equal"
    equal: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    sentence: str = field(default="", compare=False)
    either: tuple[Clause, ...] = ()
    ball: tuple[tuple[str, Fraction], ...] = ()

    def __post_init__(self) -> None:
        _refuse_bad_ball(self.ball, self.copies)
        if not isinstance(self.copies, Integral) or not 1 <= self.copies <= len(COPIES):
            raise SmileError(f"A claim has 1 to {len(COPIES)} copies, not {self.copies}.")
        if self.others not in ("equal", "free"):
            raise SmileError(f"others is 'equal' or 'free', not {self.others!r}.")
        both = sorted(set(self.equal) & set(self.free))
        if both:
            raise SmileError(f"A claim lists {listed(both)} under 'equal' and under 'free'; keep one of the two.")
        if not self.then and not self.either:
            raise SmileError("A claim needs at least one row in 'then'.")
        for clause in self.either:
            _refuse_bad_clause(clause)
        self._check_rows()

    def _check_rows(self) -> None:
        for where, rows in (("when", self.when), ("then", self.then), *(("either", clause) for clause in self.either)):
            for inequality in rows:
                self._check_terms(where, inequality)
        if not any(term.kind == "out" for rows in (self.then, *self.either) for r in rows for term in r.terms):
            raise SmileError("then: no row names an output; nothing would be claimed of the network.")

    def _check_terms(self, where: str, inequality: Inequality) -> None:
        for term in inequality.terms:
            if not 0 <= term.copy < self.copies:
                raise SmileError(f"{where}: copy number {term.copy + 1} of a claim with {self.copies} copies.")
            if where == "when" and term.kind == "out":
                raise SmileError(f"when: {inequality.text()!r} names an output; premises are over inputs only.")

    @property
    def named(self) -> frozenset[str]:
        """Features (or coordinates) that `when` or the ball mentions."""
        return frozenset(t.name for inequality in self.when for t in inequality.terms).union(n for n, _ in self.ball)

    @property
    def rows(self) -> tuple[Inequality, ...]:
        """The conclusion as ``≤`` rows only."""
        return tuple(half for inequality in self.then for half in inequality.halves())

    @property
    def heads(self) -> tuple[Inequality, ...]:
        """What a checker reports on: the rows of `rows`, then every clause by its first row."""
        return (*self.rows, *(clause[0] for clause in self.either))

    def with_room(self, room: Fraction) -> Claim:
        """The claim with `room` added to the right side of every row; clauses have none."""
        if not room:
            return self
        return replace(self, then=tuple(replace(half, rhs=half.rhs + room) for half in self.rows))

    def formula(self, *, full: bool = False) -> str:
        """``∀ a, b ∈ X: a["income"] - b["income"] <= 0, other features equal ⇒ a.out - b.out <= 0``.

        What is said of more than `MANY` features is written once, with "*" for the feature; of more than `MANY` rows
        the first are shown. In `full` nothing is left out.
        """
        parts = self._premise(full=full)
        premise = ", ".join(parts) + " ⇒ " if parts else ""
        said = [inequality.text() for inequality in self.then]
        said += [" or ".join(inequality.text() for inequality in clause) for clause in self.either]
        if len(said) > MANY and not full:
            said = [*said[:MANY], f"… ({len(said)} rows)"]
        return f"∀ {', '.join(COPIES[: self.copies])} ∈ X: {premise}" + ", ".join(said)

    def _premise(self, *, full: bool) -> list[str]:
        parts = [inequality.text() for inequality in self.when] if full else _texts(self.when)
        parts += [ball_text(self.ball, full=full)] if self.ball else []
        return parts + self._pins() if self.copies > 1 else parts

    def _pins(self) -> list[str]:
        """Which features are equal in all copies and which are free."""
        copies = range(self.copies)
        equal = [" == ".join(Term(Fraction(1), c, "in", n).reference() for c in copies) for n in self.equal]
        return [*equal, *(f"{in_quotes(n)} free" for n in self.free), f"other features {self.others}"]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dictionary with exact rationals as text."""
        return {
            "copies": self.copies,
            "when": [r.to_json() for r in self.when],
            "then": [r.to_json() for r in self.then],
            "others": self.others,
            "equal": list(self.equal),
            "free": list(self.free),
            "sentence": self.sentence,
        } | self._rare_json()

    def _rare_json(self) -> dict[str, Any]:
        """What most claims do not have."""
        either = {"either": [[r.to_json() for r in clause] for clause in self.either]} if self.either else {}
        return either | ({"ball": [[name, str(delta)] for name, delta in self.ball]} if self.ball else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Claim:
        """Inverse of `to_json`."""
        known = {"copies", "when", "then", "others", "equal", "free", "sentence"}
        if not isinstance(data, Mapping) or set(data) - {"either", "ball"} != known:
            raise SmileError(f"A claim is described by {listed(sorted(known))}.")
        data = {"either": [], "ball": [], **data}
        return cls(
            data["copies"],
            tuple(Inequality.from_json(r) for r in _list(data, "when")),
            tuple(Inequality.from_json(r) for r in _list(data, "then")),
            data["others"],
            tuple(str(name) for name in _list(data, "equal")),
            tuple(str(name) for name in _list(data, "free")),
            str(data["sentence"]),
            tuple(_clause(entry) for entry in _list(data, "either")),
            tuple(_pair(entry) for entry in _list(data, "ball")),
        )


def _pair(entry: Any) -> tuple[str, Fraction]:
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
        raise SmileError(f"A pair of a ball is [feature, number], not {entry!r}.")
    return entry[0], exact(entry[1])


def _refuse_bad_clause(clause: Clause) -> None:
    if len(clause) < 2 or any(row.op != "<=" for row in clause):
        raise SmileError("A clause of 'either' has at least two rows, all of them '<='.")


def _refuse_bad_ball(ball: tuple[tuple[str, Fraction], ...], copies: int) -> None:
    if ball and copies != 2:
        raise SmileError(f"norm2 measures how far two inputs lie apart, a and b; this claim has {copies}.")
    bad = [name for name, delta in ball if delta <= 0]
    if bad:
        raise SmileError(f"norm2: {listed(bad)} may change by 0 or less; give numbers more than 0, or leave it out.")
    names = [name for name, _ in ball]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise SmileError(f"norm2 names {twice[0]!r} twice; name every feature once.")


def ball_text(ball: tuple[tuple[str, Fraction], ...], *, full: bool = True) -> str:
    """A ball in the claim language: ``norm2(a["x"] - b["x"], …) <= 0.3``, each divided by its δ if these differ.

    >>> ball_text((("x", Fraction(1, 2)), ("y", Fraction(2))))
    'norm2((a["x"] - b["x"]) / 0.5, (a["y"] - b["y"]) / 2) <= 1'
    """
    same = len({delta for _, delta in ball}) == 1
    most = number(ball[0][1]) if same else "1"
    if same and len(ball) > MANY and not full:
        shown = f"{in_quotes(ball[0][0])}, {in_quotes(ball[1][0])}, … {in_quotes(ball[-1][0])}"
        return f'norm2(a["*"] - b["*"] for each of {len(ball)} features in place of "*": {shown}) <= {most}'
    differences = [f"a[{in_quotes(name)}] - b[{in_quotes(name)}]" for name, _ in ball]
    if not same:
        differences = [f"({d}) / {divisor(delta)}" for d, (_, delta) in zip(differences, ball, strict=True)]
    return f"norm2({', '.join(differences)}) <= {most}"


def plain(claim: Claim) -> Claim:
    """A copy of a claim as a file would hold it: plain texts and numbers, whatever classes it was made of."""
    return Claim.from_json(json.loads(json.dumps(claim.to_json())))


def _clause(entry: Any) -> Clause:
    if not isinstance(entry, list):
        raise SmileError(f"A clause of 'either' must hold a list, not {entry!r}.")
    return tuple(Inequality.from_json(r) for r in entry)
