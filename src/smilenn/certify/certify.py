"""A network and its claims → a certificate that a checker has accepted, or the bound that it could check.

    emit proofs ─▶ write them beside the network in a temporary folder ─▶ check that folder ─▶ files and report

A row that misses its right side only by rounding (ε = 0 on the diagonal, where the margin of float64 alone is above 0)
is stated with the smallest right side that the checker accepts, rounded up to two digits: the claim in the certificate
then says so, "up to 3.1e-12".
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from smilenn.certify.certificate import BINARY_NAME, JSON_NAME, ClaimProof, dump, weights_digest
from smilenn.certify.check import Report, RowReport, check_folder
from smilenn.certify.emit import Emitted, emit
from smilenn.model.bundle import certified_tensors, save_net
from smilenn.model.folder import read_folder, write_folder
from smilenn.problem import build
from smilenn.properties.claim import Claim

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet

NAMES = (JSON_NAME, BINARY_NAME)


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a checker said of freshly emitted proofs.

    Attributes
    ----------
    files : certificate.json and certificate.bin.
    report : the checker's report; `report.status` is ``certified`` or ``unknown``.
    notes : why a proof search stopped early, where one did.
    raised : what was added to right sides for rounding, the largest of it.
    """

    files: dict[str, bytes]
    report: Report
    notes: tuple[str, ...]
    raised: float = 0.0


def certify(net: SmileNet, claims: Sequence[Claim], *, time_limit: float = 60.0) -> Certificate:
    """Prove, write and check; `time_limit` seconds for every row's search."""
    snapshot = net.snapshot()
    emitted = [emit(build(claim, snapshot), time_limit=time_limit) for claim in claims]
    notes = tuple(note for entry in emitted for note in entry.notes)
    weights, raised = weights_digest(net.describe(), certified_tensors(net)), 0.0
    with tempfile.TemporaryDirectory(prefix="smilenn-") as place:
        folder = Path(place) / "model"
        save_net(folder, net)
        files, report = _checked(folder, weights, [entry.proof for entry in emitted])
        if report.status != "certified":
            together = zip(emitted, claims, report.claims, strict=True)
            relaxed = [_up_to(entry, claim, found.rows) for entry, claim, found in together]
            if any(proof is not entry.proof for proof, entry in zip(relaxed, emitted, strict=True)):
                files, report = _checked(folder, weights, relaxed)
                raised = max(
                    float(row.rhs - inequality.rhs)
                    for claim, found in zip(claims, report.claims, strict=True)
                    for inequality, row in zip(claim.rows, found.rows, strict=True)
                )
    return Certificate(files, report, notes, raised)


def _checked(folder: Path, weights: str, proofs: Sequence[ClaimProof]) -> tuple[dict[str, bytes], Report]:
    files = dump(weights, proofs)
    write_folder(folder, {**read_folder(folder), **files}, overwrite=True)
    return files, check_folder(folder)


def _up_to(entry: Emitted, claim: Claim, rows: Sequence[RowReport]) -> ClaimProof:
    """The same proof of the claim with right sides raised to bound + margin, where only the margin was missing."""
    short = {r: row for r, row in enumerate(rows) if row.bound <= row.rhs < row.bound + row.margin}
    if not short or any(inequality.op == "==" for inequality in claim.then):
        return entry.proof
    then = tuple(
        replace(inequality, rhs=_two_digits(short[r].bound + short[r].margin)) if r in short else inequality
        for r, inequality in enumerate(claim.then)
    )
    most = max(float(then[r].rhs - row.rhs) for r, row in short.items())
    sentence = f"{claim.sentence.rstrip('.')} (up to {most:.1e}, for rounding)."
    return replace(entry.proof, claim=replace(claim, then=then, sentence=sentence).to_json())


def _two_digits(value: Fraction) -> Fraction:
    """The smallest decimal of two significant digits that is ≥ value > 0."""
    context = Context(prec=2, rounding=ROUND_CEILING)
    up = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(up)
