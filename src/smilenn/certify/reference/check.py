"""The reference checker of certificates: exact rationals, standard library only, clarity before speed.

    python -m smilenn.certify.reference.check model/      0 certified, 1 refused, 2 unreadable, 3 bound above the claim

It follows docs/certificate.md section by section: net.py (1), model.py (2, 5.1), premise.py (3),
encoder.py, contract.py and norm.py (3.1), rules.py (4.1 to 4.3), order.py (4.4), signs.py (4.5),
ball.py (4.6), dyadic.py (5.3), claims.py (5.4), strict.py, folder.py, encoding.py, version2.py, reader.py, tree.py and
work.py (6), version1.py (7), and the verdict here. floats.py reads and rounds floats in integers.
`check.py` is the second, fast checker; the two share no code.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from smilenn.certify.reference.ball import ball_rule
from smilenn.certify.reference.dyadic import moves
from smilenn.certify.reference.encoder import encoded
from smilenn.certify.reference.model import ZERO, Model, Psi, Vector, build_model, margins, reduce_row, row_margin
from smilenn.certify.reference.order import order_rule
from smilenn.certify.reference.premise import Premise, check_witness, ground
from smilenn.certify.reference.reader import MOST_NODES, MOST_WORK, Entry, Folder, Proof, read_folder
from smilenn.certify.reference.rules import leaf_rule, slope_rule, sweep_rule
from smilenn.certify.reference.signs import signs_rule
from smilenn.certify.reference.strict import CheckError, Refused, Unreadable
from smilenn.certify.reference.tree import Budget
from smilenn.certify.reference.words import at_most, clause_text, clean, formula, inputs, quoted, rounded, row_text
from smilenn.certify.reference.work import Lengths, factor, lengths

__all__ = ["CheckError", "ClaimReport", "Refused", "Report", "RowReport", "Unreadable", "check_folder", "main"]

Status = Literal["certified", "unknown", "refused", "unreadable"]
EXIT: dict[Status, int] = {"certified": 0, "refused": 1, "unreadable": 2, "unknown": 3}
VERSION_WORDS = {
    1: "version 1, in which the digest does not cover what the columns and outputs mean",
    2: "version 2",
}
PROFILE_WORDS = {
    "f64-aux": "float64 with sums in any order",
    "fixed-order": "float64 with every sum in one order",
    "dyadic": "float64 without any rounding, once the inputs are rounded to a grid",
}


@dataclass(frozen=True)
class RowReport:
    """One row of a conclusion: whatever the backbone, the deployed left side is at most bound + margin.

    The row holds if that is at most rhs + room; `room` is what the certificate allows for rounding.
    """

    formula: str
    rule: str
    bound: Fraction
    margin: Fraction
    rhs: Fraction
    leaves: int
    room: Fraction = ZERO

    @property
    def excess(self) -> Fraction:
        """bound + margin − rhs, a checked bound on the violation."""
        return self.bound + self.margin - self.rhs

    @property
    def holds(self) -> bool:
        """Whether the row is certified, up to its room."""
        return self.excess <= self.room


@dataclass(frozen=True)
class ClaimReport:
    """One claim; the formula is printed from the claim that was checked, the sentence is only quoted."""

    sentence: str
    formula: str
    rows: tuple[RowReport, ...]

    @property
    def holds(self) -> bool:
        """Whether every row holds."""
        return all(row.holds for row in self.rows)


@dataclass(frozen=True)
class Report:
    """What the checker found; `reason` says why a folder was refused or unreadable, `profile` how it is evaluated.

    `certificate` is the SHA-256 of certificate.json, `version` that of the folder's format, 0 if it was not accepted
    as readable; `meaning` holds what the outputs mean as the folder says, one text each, or nothing.
    """

    status: Status
    reason: str = ""
    claims: tuple[ClaimReport, ...] = ()
    domain: tuple[str, ...] = ()
    profile: str = ""
    certificate: str = field(default="", compare=False)  # the same claims may stand in files of other bytes
    version: int = 0
    meaning: tuple[str, ...] = ()

    @property
    def excess(self) -> Fraction | None:
        """The largest bound + margin − rhs of all rows; None if nothing was checked."""
        return max((row.excess for claim in self.claims for row in claim.rows), default=None)

    @property
    def exit_code(self) -> int:
        """0 certified, 1 refused, 2 unreadable, 3 unknown."""
        return EXIT[self.status]


@dataclass(frozen=True)
class Shared:
    """What all claims of a folder share: the network, E_o per output, ω per coordinate, how long its numbers are."""

    model: Model
    margin: Vector
    omega: Vector | None
    lengths: Lengths
    budget: Budget


def check_folder(path: str | os.PathLike[str]) -> Report:
    """Check the certificate of a model folder."""
    try:
        folder = read_folder(path)
        shared = _shared(folder)
        claims = tuple(_check_entry(entry, shared) for entry in folder.entries)
    except Refused as error:
        return Report("refused", str(error))
    except Unreadable as error:
        return Report("unreadable", str(error))
    status: Status = "certified" if all(claim.holds for claim in claims) else "unknown"
    net = folder.net
    return Report(
        status, "", claims, inputs(net.domain), net.profile, folder.certificate, folder.version, folder.meaning
    )


def _shared(folder: Folder) -> Shared:
    model = build_model(folder.net)
    margin, omega = margins(model), None
    if folder.net.profile == "dyadic":  # nothing rounds, but the inputs are moved
        margin, omega = [ZERO] * len(margin), moves(model)
    budget = Budget(MOST_NODES, MOST_WORK - folder.net.spent)
    return Shared(model, margin, omega, lengths(model, omega), budget)


def _check_entry(entry: Entry, shared: Shared) -> ClaimReport:
    """A claim, or the worst of its cases row by row; a clause is told as its first row, which it exceeds by as much."""
    if not entry.cases:
        return _check_claim(entry, shared)
    claim, worst, leaves = entry.claim, list[RowReport](), list[int]()
    for case in entry.cases:
        shared.budget.case(claim, case.common)
        # made here and forgotten: all cases at once would fill the memory
        found = _check_claim(replace(case, claim=case.claim.case(case.weights)), shared).rows
        worst = [max(pair, key=lambda row: row.excess) for pair in zip(worst or found, found, strict=True)]
        leaves = [so_far + row.leaves for so_far, row in zip(leaves or [0] * len(found), found, strict=True)]
    plain = len(worst) - len(claim.either)
    for r, clause in enumerate(claim.either, plain):
        bound = worst[r].bound + clause[0].rhs - worst[r].rhs
        worst[r] = RowReport(clause_text(clause), "cases", bound, worst[r].margin, clause[0].rhs, leaves[r])
    return ClaimReport(claim.sentence, formula(claim), tuple(worst))


def _check_claim(entry: Entry, shared: Shared) -> ClaimReport:
    model, budget, claim = shared.model, shared.budget, entry.claim
    budget.claim(model)
    check_witness(entry, model.net.domain)
    premise = encoded(model.net, ground(claim, model.net.domain, shared.omega), budget.spent)
    budget.factor = factor(shared.lengths, premise, entry.common)
    rows: list[RowReport] = []
    psis = []
    for r, (row, proof, room) in enumerate(zip(claim.rows(), entry.proofs, entry.rooms, strict=True)):
        budget.row(model, premise)
        psi = reduce_row(model, row, claim.copies)
        psis.append(psi)
        margin, leaves = row_margin(psi, shared.margin, shared.omega), 0
        if proof.rule == "mirror":
            bound, margin = _mirrored(r, proof, entry, premise, psis, rows)
        elif proof.rule == "order":
            budget.spend(1, model, premise)
            bound = margin = order_rule(model, premise, psi)
        elif proof.rule == "signs":
            bound = signs_rule(model, premise, psi, budget)
        elif proof.rule == "ball":
            budget.spend(1, model, premise)
            bound = ball_rule(model, premise, psi)
        elif proof.rule == "sweep":
            bound, leaves = sweep_rule(model, premise, psi, budget)
        else:
            rule = leaf_rule if proof.rule == "leaf" else slope_rule
            bound, leaves = rule(model, premise, psi, proof, budget)
        usable = min(room, 2 * margin)  # what is excused is rounding: no more than twice what it may do
        rows.append(RowReport(row_text(row), proof.rule, bound, margin, row.rhs, leaves, usable))
    return ClaimReport(claim.sentence, formula(claim), tuple(rows))


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


def _lines(report: Report) -> list[str]:
    if report.status in ("refused", "unreadable"):
        return [f"{report.status.upper()}: {clean(report.reason)}"]
    out = ["Domain X, in the units of the data:", *(f"  {line}" for line in report.domain)]
    if report.meaning:
        out += ["", "The outputs mean, as the folder says:", *(f"  {quoted(text)}" for text in report.meaning)]
    out += ["", f"Numeric profile: {report.profile}, {PROFILE_WORDS[report.profile]}."]
    out += [f"Format: {VERSION_WORDS[report.version]}."]
    for number, claim in enumerate(report.claims, 1):
        out += ["", f"Claim {number}: {claim.formula}"]
        out += [f"  comment, as stored, not checked: {quoted(claim.sentence)}"] if claim.sentence else []
        out += [line for row in claim.rows for line in _row_lines(row)]
    words = {
        "certified": "CERTIFIED: every claim holds for all inputs of X, whatever the backbone, in float64 as deployed.",
        "unknown": "UNKNOWN: the certificate is sound, but it does not prove every row; the bounds above hold.",
    }
    return [*out, "", words[report.status]]


def _row_lines(row: RowReport) -> list[str]:
    """A row, its verdict and the numbers behind it."""
    if row.holds:
        verdict = f"certified up to {at_most(row.excess)}, for rounding" if row.excess > 0 else "certified"
    else:
        verdict = f"unknown, by at most {at_most(row.excess)} too much"
    allowed = rounded(row.rhs) + (f" + room {rounded(row.room)}" if row.room else "")
    leaves = f", {row.leaves} {'leaf' if row.leaves == 1 else 'leaves'}" if row.leaves else ""
    shown = f"bound {rounded(row.bound)} + rounding {rounded(row.margin)}, allowed {allowed}"
    return [f"  {row.formula}: {verdict}", f"    {shown} ({row.rule} rule{leaves})"]


def main(arguments: list[str] | None = None) -> int:
    """Check one folder, print the report, return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 1:
        sys.stderr.write("Usage: python -m smilenn.certify.reference.check MODEL_FOLDER\n")
        return 2
    report = check_folder(arguments[0])
    text = "\n".join(_lines(report)) + "\n"
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    return report.exit_code


if __name__ == "__main__":
    sys.exit(main())
