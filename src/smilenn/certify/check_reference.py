"""The reference checker of certificates: exact rationals, standard library only, clarity before speed.

    python -m smilenn.certify.check_reference model/      0 certified, 1 refused, 2 unreadable, 3 bound above the claim

It follows docs/certificate.md section by section: exact_net.py (1), exact_model.py (2, 5.1), exact_premise.py (3),
exact_encoder.py (3.1), exact_rules.py (4.1 to 4.3), exact_order.py (4.4), exact_signs.py (4.5), exact_dyadic.py (5.3),
strict.py, reader.py and exact_tree.py (6), and the verdict here.
`check.py` is the second, fast checker; the two share no code.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Literal

from smilenn.certify.exact_dyadic import moves
from smilenn.certify.exact_encoder import encoded
from smilenn.certify.exact_model import ZERO, Model, Psi, Vector, build_model, margins, reduce_row, row_margin
from smilenn.certify.exact_net import Domain
from smilenn.certify.exact_order import order_rule
from smilenn.certify.exact_premise import Premise, check_witness, ground
from smilenn.certify.exact_rules import leaf_rule, slope_rule, sweep_rule
from smilenn.certify.exact_signs import signs_rule
from smilenn.certify.exact_tree import Budget
from smilenn.certify.reader import MOST_NODES, MOST_WORK, Claim, Entry, Proof, Row, Term, read_folder
from smilenn.certify.strict import CheckError, Refused, Unreadable

__all__ = ["CheckError", "ClaimReport", "Refused", "Report", "RowReport", "Unreadable", "check_folder", "main"]

Status = Literal["certified", "unknown", "refused", "unreadable"]
EXIT: dict[Status, int] = {"certified": 0, "refused": 1, "unreadable": 2, "unknown": 3}
PROFILE_WORDS = {
    "f64-aux": "float64 with sums in any order",
    "fixed-order": "float64 with every sum in one order",
    "dyadic": "float64 without any rounding, once the inputs are rounded to a grid",
}
PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class RowReport:
    """One row of a conclusion: whatever the backbone, the deployed left side is at most bound + margin."""

    formula: str
    rule: str
    bound: Fraction
    margin: Fraction
    rhs: Fraction
    leaves: int

    @property
    def violation_bound(self) -> Fraction:
        """bound + margin − rhs; certified if it is not positive."""
        return self.bound + self.margin - self.rhs

    @property
    def certified(self) -> bool:
        """Whether the row holds."""
        return self.violation_bound <= 0


@dataclass(frozen=True)
class ClaimReport:
    """One claim; the formula is printed from the claim that was checked, the sentence is only quoted."""

    sentence: str
    formula: str
    rows: tuple[RowReport, ...]

    @property
    def certified(self) -> bool:
        """Whether every row holds."""
        return all(row.certified for row in self.rows)


@dataclass(frozen=True)
class Report:
    """What the checker found; `reason` says why a folder was refused or unreadable, `profile` how it is evaluated."""

    status: Status
    reason: str = ""
    claims: tuple[ClaimReport, ...] = ()
    domain: tuple[str, ...] = ()
    profile: str = ""

    @property
    def violation_bound(self) -> Fraction | None:
        """The largest bound + margin − rhs of all rows; None if nothing was checked."""
        return max((row.violation_bound for claim in self.claims for row in claim.rows), default=None)

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused, 2 unreadable, 3 unknown."""
        return EXIT[self.status]


def check_folder(path: str | os.PathLike[str]) -> Report:
    """Check the certificate of a model folder."""
    try:
        folder = read_folder(path)
        model = build_model(folder.net)
        margin, omega = margins(model), None
        if folder.net.profile == "dyadic":  # nothing rounds, but the inputs are moved
            margin, omega = [ZERO] * len(margin), moves(model)
        budget = Budget(MOST_NODES, MOST_WORK)
        claims = tuple(_check_entry(entry, model, margin, omega, budget) for entry in folder.entries)
    except Refused as error:
        return Report("refused", str(error))
    except Unreadable as error:
        return Report("unreadable", str(error))
    status: Status = "certified" if all(claim.certified for claim in claims) else "unknown"
    return Report(status, "", claims, _describe(folder.net.domain), folder.net.profile)


def _check_entry(entry: Entry, model: Model, margin: Vector, omega: Vector | None, budget: Budget) -> ClaimReport:
    """A claim, or the worst of its cases row by row; a clause is told as its first row, which it exceeds by as much."""
    if not entry.cases:
        return _check_claim(entry, model, margin, omega, budget)
    claim = entry.claim
    cases = []
    for case in entry.cases:
        budget.case(claim)
        cases.append(_check_claim(case, model, margin, omega, budget).rows)
    worst = [max(rows, key=lambda row: row.violation_bound) for rows in zip(*cases, strict=True)]
    plain = len(worst) - len(claim.either)
    for r, clause in enumerate(claim.either, plain):
        text, shift = " or ".join(_row_text(row) for row in clause), clause[0].rhs - worst[r].rhs
        leaves = sum(rows[r].leaves for rows in cases)
        worst[r] = RowReport(text, "cases", worst[r].bound + shift, worst[r].margin, clause[0].rhs, leaves)
    return ClaimReport(claim.sentence, _formula(claim), tuple(worst))


def _check_claim(entry: Entry, model: Model, margin: Vector, omega: Vector | None, budget: Budget) -> ClaimReport:
    domain, claim = model.net.domain, entry.claim
    budget.claim(model)
    check_witness(entry, domain)
    premise = encoded(model.net, ground(claim, domain, omega))
    rows: list[RowReport] = []
    psis = []
    for r, (row, proof) in enumerate(zip(claim.rows(), entry.proofs, strict=True)):
        budget.row(model, premise)
        psi = reduce_row(model, row, claim.copies)
        psis.append(psi)
        room, leaves = row_margin(psi, margin, omega), 0
        if proof.rule == "mirror":
            bound, room = _mirrored(r, proof, entry, premise, psis, rows)
        elif proof.rule == "order":
            budget.spend(1, model, premise)
            bound = room = order_rule(model, premise, psi)
        elif proof.rule == "signs":
            bound = signs_rule(model, premise, psi, budget)
        elif proof.rule == "sweep":
            bound, leaves = sweep_rule(model, premise, psi, budget)
        else:
            rule = leaf_rule if proof.rule == "leaf" else slope_rule
            bound, leaves = rule(model, premise, psi, proof, budget)
        rows.append(RowReport(_row_text(row), proof.rule, bound, room, row.rhs, leaves))
    return ClaimReport(claim.sentence, _formula(claim), tuple(rows))


# the premise is symmetric and this row is an earlier one, not itself a mirror, with the two copies exchanged
def _mirrored(
    r: int, proof: Proof, entry: Entry, premise: Premise, psis: list[Psi], rows: list[RowReport]
) -> tuple[Fraction, Fraction]:
    """Bound and margin of the row that is referred to."""
    if proof.of >= r or entry.proofs[proof.of].rule == "mirror":
        raise Refused("A mirror refers to a row that is not an earlier one with a proof of its own.")
    this, other = psis[r], psis[proof.of]
    same = this.a == other.a[::-1] and this.b == other.b[::-1] and this.rhs == other.rhs
    if not premise.symmetric or not same:
        raise Refused("A row is not the mirror image of the row it refers to.")
    return rows[proof.of].bound, rows[proof.of].margin


# ---- words ----------------------------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """A text from a file, safe to print."""
    return "".join(ch if ch.isprintable() else f"\\u{ord(ch):04x}" for ch in text)


def _number(value: Fraction) -> str:
    """A decimal where that is exact and short, else p/q."""
    for digits in range(31):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = str(abs(scaled.numerator)).rjust(digits + 1, "0")
            whole = f"{text[:-digits]}.{text[-digits:]}" if digits else text
            return f"-{whole}" if value < 0 else whole
    return f"{value.numerator}/{value.denominator}"


def _rounded(value: Fraction) -> str:
    """Six digits for people; the exact number is in the report."""
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "more than 1e308" if value > 0 else "less than -1e308"


def _at_most(value: Fraction) -> str:
    """Six digits, rounded up."""
    up = Context(prec=6, rounding=ROUND_CEILING)
    return f"{up.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def _reference(term: Term) -> str:
    name = _clean(term.name)
    quoted = '["' + name.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    access = f".{name}" if PLAIN_NAME.fullmatch(name) and (term.output or name != "out") else quoted
    copy = "abcd"[term.copy]
    return f"{copy}.out{access if name else ''}" if term.output else copy + access


def _row_text(row: Row) -> str:
    parts = []
    for i, term in enumerate(row.terms):
        sign = "-" if term.coef < 0 else ("+" if i else "")
        size = abs(term.coef)
        body = _reference(term) if size == 1 else f"{_number(size)} * {_reference(term)}"
        parts.append(f"{sign} {body}" if i else sign + body)
    return f"{' '.join(parts) or '0'} {'==' if row.equality else '<='} {_number(row.rhs)}"


def _formula(claim: Claim) -> str:
    """``∀ a, b ∈ X: a.income <= b.income, other features equal ⇒ a.out - b.out <= 0``."""
    parts = [_row_text(row) for row in claim.when]
    if claim.copies > 1:
        parts += [f"{_clean(name)} equal" for name in claim.equal] + [f"{_clean(name)} free" for name in claim.free]
        parts.append("other features equal" if claim.others == "equal" else "other features free")
    premise = f"{', '.join(parts)} ⇒ " if parts else ""
    said = [_row_text(row) for row in claim.then]
    said += [" or ".join(_row_text(row) for row in clause) for clause in claim.either]
    return f"∀ {', '.join('abcd'[: claim.copies])} ∈ X: {premise}{', '.join(said)}"


def _describe(domain: Domain) -> tuple[str, ...]:
    """One line per feature: its bounds in the user's units."""
    out = []
    for i, name in enumerate(domain.names):
        group = next((g for g in domain.groups if i in g), None)
        if group is not None:
            values = ", ".join(_clean(domain.names[p]) for p in group)
            out += [f"exactly one of {values}"] if i == group[0] else []
            continue
        kind = "whole numbers " if domain.whole[i] else ""
        lo, hi = (str(v).removesuffix(".0") for v in (domain.lo[i], domain.hi[i]))
        unit = f" {_clean(domain.units[i])}" if domain.units[i] else ""
        out.append(f"{_clean(name)}: {kind}{lo} to {hi}{unit}")
    return tuple(out)


def _lines(report: Report) -> list[str]:
    if report.status in ("refused", "unreadable"):
        return [f"{report.status.upper()}: {_clean(report.reason)}"]
    out = ["Domain X, in the units of the data:", *(f"  {line}" for line in report.domain)]
    out += ["", f"Numeric profile: {report.profile}, {PROFILE_WORDS[report.profile]}."]
    for number, claim in enumerate(report.claims, 1):
        out += ["", f"Claim {number}: {claim.formula}"]
        out += [f"  described as: {_clean(claim.sentence)}"] if claim.sentence else []
        for row in claim.rows:
            verdict = "certified" if row.certified else f"unknown, by at most {_at_most(row.violation_bound)} too much"
            out.append(f"  {row.formula}: {verdict}")
            leaves = f", {row.leaves} {'leaf' if row.leaves == 1 else 'leaves'}" if row.leaves else ""
            shown = f"bound {_rounded(row.bound)} + rounding {_rounded(row.margin)}, allowed {_rounded(row.rhs)}"
            out.append(f"    {shown} ({row.rule} rule{leaves})")
    words = {
        "certified": "CERTIFIED: every claim holds for all inputs of X, whatever the backbone, in float64 as deployed.",
        "unknown": "UNKNOWN: the certificate is sound, but it does not prove every row; the bounds above hold.",
    }
    return [*out, "", words[report.status]]


def main(arguments: list[str] | None = None) -> int:
    """Check one folder, print the report, return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m smilenn.certify.check_reference MODEL_FOLDER\n")
        return 2
    report = check_folder(arguments[0])
    text = "\n".join(_lines(report)) + "\n"
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
