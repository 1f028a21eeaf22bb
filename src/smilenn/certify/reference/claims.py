"""Claims as the certificate holds them: docs/certificate.md, sections 3, 5.4 and 6.

    row     Σ coef·x[copy, name] + Σ coef·f[copy, name] ≤ rhs, or == rhs
    room    0 ≤ room ≤ 10⁻⁹·|rhs|, or 10⁻⁹·σ if rhs = 0; of it no more than twice the margin counts

σ is the largest output_scale of the outputs in the row. For the reference checker only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from smilenn.certify.reference.net import ZERO, Net
from smilenn.certify.reference.strict import as_integer, as_list, as_object, as_text, need

LARGEST_DENOMINATOR = 10**1000
SHARE = Fraction(1, 10**9)
CLAIM_KEYS = {"copies", "when", "then", "others", "equal", "free", "sentence"}
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

    `path` holds the splits that lead to a case of the claim: rows of the premise that name nothing. `ball` has a
    coordinate, its δ and its name each: Σ ((x_1 − x_2)/δ)² ≤ 1.
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
    ball: tuple[tuple[int, Fraction, str], ...] = ()

    # every number costs 64, and one more for every 32 binary digits of the longest numerator and of `common` together
    def reading(self, common: int) -> int:
        """What reading the claim anew costs a case whose numbers have this common denominator."""
        rows = (*self.when, *self.then, *(row for clause in self.either for row in clause))
        numbers = [v for row in rows for v in (row.rhs, *(term.coef for term in row.terms))]
        numbers += [delta for _, delta, _ in self.ball]
        digits = max(v.numerator.bit_length() for v in numbers) + common.bit_length()
        return len(numbers) * (64 + digits // 32)

    # Σ_r λ_r·l_r ≤ Σ_r λ_r·c_r for every clause, behind the rows of `then`
    def case(self, weights: Sequence[Sequence[Fraction]]) -> Claim:
        """The claim without clauses that stands for this one where each clause has such weights."""
        rows = list(self.then)
        for clause, mean in zip(self.either, weights, strict=True):
            pairs = list(zip(mean, clause, strict=True))
            terms = tuple(Term(w * t.coef, t.copy, t.output, t.index, t.name) for w, row in pairs for t in row.terms)
            rows.append(Row(terms, sum((w * row.rhs for w, row in pairs), Fraction(0)), False))
        return replace(self, then=tuple(rows), either=())

    def rows(self) -> list[Row]:
        """The conclusion as ≤ rows; an == row gives itself and then its negation."""
        out = []
        for row in self.then:
            out.append(Row(row.terms, row.rhs, False))
            if row.equality:
                negated = tuple(Term(-t.coef, t.copy, t.output, t.index, t.name) for t in row.terms)
                out.append(Row(negated, -row.rhs, False))
        return out


# ---- reading --------------------------------------------------------------------------------------------------------


def read_claim(data: dict[str, Any], net: Net, common: list[int]) -> Claim:
    """A claim; `common` holds the least common multiple of all denominators so far, and is taken on."""
    as_object(data, CLAIM_KEYS | ({"either", "ball"} & set(data)), "A claim")
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
        need(name in net.domain.indices, f"A claim names {name!r}, which is not a feature.")
    sentence = as_text(data["sentence"], "'sentence'")
    ball = _ball(data["ball"], k, net, common) if "ball" in data else ()
    return Claim(k, when, then, data["others"], names["equal"], names["free"], sentence, either, (), ball)


def _ball(value: Any, copies: int, net: Net, common: list[int]) -> tuple[tuple[int, Fraction, str], ...]:
    """Coordinates with their δ, all of them different, continuous and in two copies."""
    need(copies == 2, "A ball is about two copies.")
    out = []
    for item in as_list(value, "'ball' of a claim"):
        need(len(as_list(item, "A pair of a ball")) == 2, "A pair of a ball is not [name, number].")
        name = as_text(item[0], "The name in a ball")
        found = net.domain.indices.get(name, ())
        need(len(found) == 1 and not net.domain.whole[found[0]], f"A ball names {name!r}, which is not continuous.")
        delta = shared_rational(item[1], common)
        need(delta > 0, "A ball has a number that is not positive.")
        out.append((found[0], delta, name))
    need(0 < len(out) == len({i for i, _, _ in out}), "A ball is empty or names a coordinate twice.")
    return tuple(out)


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
        terms.append(Term(shared_rational(coef, common), copy, kind == "out", found[0], name))
    return Row(tuple(terms), shared_rational(row["rhs"], common), row["op"] == "==")


def shared_rational(value: Any, common: list[int]) -> Fraction:
    """A rational whose denominator joins those of its claim."""
    out = rational(value)
    common[0] = math.lcm(common[0], out.denominator)
    need(common[0] < LARGEST_DENOMINATOR, "The denominators of a claim have too large a common multiple.")
    return out


def rational(value: Any) -> Fraction:
    """A rational as text."""
    need(isinstance(value, str) and RATIONAL.fullmatch(value) is not None, "A number of a claim is not a rational.")
    numerator, _, denominator = value.partition("/")
    need(denominator.strip("0") != "" or not denominator, "A number of a claim has the denominator zero.")
    return Fraction(int(numerator), int(denominator or "1"))


# ---- 5.4 rooms ------------------------------------------------------------------------------------------------------


def read_rooms(value: Any, rows: Sequence[Row], net: Net) -> tuple[Fraction, ...]:
    """By how much a bound may exceed the right side for rounding, one for every row that comes from `then`."""
    rooms = tuple(rational(item) for item in as_list(value, "'room' of a claim"))
    need(len(rooms) == len(rows), "'room' of a claim does not have one number per row of 'then'.")
    for room, row in zip(rooms, rows, strict=True):
        need(0 <= room <= most_room(row, net), "The room of a row is negative, or larger than rounding may need.")
    return rooms


def most_room(row: Row, net: Net) -> Fraction:
    """The largest room that a row may have: a share of its right side or, where that is 0, of its outputs' scale."""
    coefficients: dict[tuple[int, int], Fraction] = {}
    for term in row.terms:
        if term.output:
            key = (term.copy, term.index)
            coefficients[key] = coefficients.get(key, ZERO) + term.coef
    scale = max((net.output_scale[o] for (_, o), value in coefficients.items() if value), default=ZERO)
    return SHARE * (abs(row.rhs) if row.rhs else scale)
