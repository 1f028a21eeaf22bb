"""Claims, names and numbers for people; no name of a file can pass for a part of a formula. For the reference checker.

a["income"]   a.out   a.out["price"]      names in quotes, with escapes for quotes and for what cannot be printed
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from smilenn.certify.reference.claims import Claim, Row, Term
from smilenn.certify.reference.floats import double, shortest
from smilenn.certify.reference.net import Domain


def clean(text: str) -> str:
    """A text from a file, safe to print."""
    return "".join(ch if ch.isprintable() else _escaped(ch) for ch in text)


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"


def quoted(name: str) -> str:
    """A name in quotes; nothing in it can end them."""
    return '"' + clean(name.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def number(value: Fraction) -> str:
    """A decimal where that is exact and short, else p/q."""
    for digits in range(31):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = str(abs(scaled.numerator)).rjust(digits + 1, "0")
            whole = f"{text[:-digits]}.{text[-digits:]}" if digits else text
            return f"-{whole}" if value < 0 else whole
    return f"{value.numerator}/{value.denominator}"


def rounded(value: Fraction, rounding: str = ROUND_HALF_EVEN) -> str:
    """Six digits; the exact number is in the report."""
    six = Context(prec=6, rounding=rounding)
    return f"{six.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def at_most(value: Fraction) -> str:
    """Six digits, rounded up."""
    return rounded(value, ROUND_CEILING)


def _reference(term: Term) -> str:
    copy, name = "abcd"[term.copy], f"[{quoted(term.name)}]"
    return f"{copy}.out{name if term.name else ''}" if term.output else copy + name


def row_text(row: Row) -> str:
    """``a["income"] - 2 * b.out <= 0``."""
    parts = []
    for i, term in enumerate(row.terms):
        sign = "-" if term.coef < 0 else ("+" if i else "")
        size = abs(term.coef)
        body = _reference(term) if size == 1 else f"{number(size)} * {_reference(term)}"
        parts.append(f"{sign} {body}" if i else sign + body)
    return f"{' '.join(parts) or '0'} {'==' if row.equality else '<='} {number(row.rhs)}"


def clause_text(clause: tuple[Row, ...]) -> str:
    """Rows of which one holds."""
    return " or ".join(row_text(row) for row in clause)


def formula(claim: Claim) -> str:
    """``∀ a, b ∈ X: a["income"] - b["income"] <= 0, other features equal ⇒ a.out - b.out <= 0``."""
    parts = [row_text(row) for row in claim.when] + ([_ball(claim)] if claim.ball else [])
    if claim.copies > 1:
        parts += [f"{quoted(name)} equal" for name in claim.equal] + [f"{quoted(name)} free" for name in claim.free]
        parts.append("other features equal" if claim.others == "equal" else "other features free")
    premise = f"{', '.join(parts)} ⇒ " if parts else ""
    said = [row_text(row) for row in claim.then] + [clause_text(clause) for clause in claim.either]
    return f"∀ {', '.join('abcd'[: claim.copies])} ∈ X: {premise}{', '.join(said)}"


def _ball(claim: Claim) -> str:
    """``norm2((a["x"] - b["x"]) / 0.3, …) <= 1``."""
    deltas = [number(delta) for _, delta, _ in claim.ball]
    # x / 1/3 would be a third of x
    shown = [f"({delta})" if "/" in delta else delta for delta in deltas]
    pairs = zip(claim.ball, shown, strict=True)
    lines = [f"(a[{quoted(name)}] - b[{quoted(name)}]) / {delta}" for (_, _, name), delta in pairs]
    return f"norm2({', '.join(lines)}) <= 1"


def inputs(domain: Domain) -> tuple[str, ...]:
    """One line per feature: its bounds in the user's units, or the coordinates of its categories."""
    out = []
    for i, name in enumerate(domain.names):
        group = next((g for g in domain.groups if i in g), None)
        if group is None:
            kind = "whole numbers " if domain.whole[i] else ""
            unit = f" {quoted(domain.units[i])}" if domain.units[i] else ""
            out.append(f"{quoted(name)}: {kind}{_end(domain.lo[i])} to {_end(domain.hi[i])}{unit}")
        elif i == group[0]:
            values = ", ".join(quoted(domain.names[p]) for p in group)
            feature = [name for name, places in domain.indices.items() if places == group][-1]  # after coordinates
            out.append(f"{quoted(feature)}: exactly one of {values}")
    return tuple(out)


def _end(value: Fraction) -> str:
    """A bound as Python writes a float, whole ones without a point."""
    return shortest(double(abs(value), value < 0)).removesuffix(".0")
