"""A network and its claims → a certificate that a checker has accepted, or the bound that it could check.

    emit proofs ─▶ write them beside the network in a temporary folder ─▶ check that folder ─▶ files and report

A row that misses its right side only by rounding (ε = 0 on the diagonal, where the margin of float64 alone is above
0; `room` says how much that may be) is stated with a larger right side that the checker accepts, what is added rounded
up to two digits: the claim in the certificate then says so, "up to 3.1e-12".
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from smilenn.certify.certificate import ClaimProof, dump, weights_digest
from smilenn.certify.check import Report, RowReport, check_folder
from smilenn.certify.emit import Emitted, emit, emit_claim, mirrored
from smilenn.certify.verdicts import Certificate, room
from smilenn.model.bundle import certified_tensors, save_net
from smilenn.model.folder import read_folder, write_folder
from smilenn.problem import build_all
from smilenn.progress import Progress
from smilenn.properties.cases import case_claims
from smilenn.properties.claim import Claim
from smilenn.prove.cases import known_cases
from smilenn.prove.tree import Trees

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet


def certify(
    net: SmileNet,
    claims: Sequence[Claim],
    *,
    time_limit: float = 60.0,
    callback: Callable[[Progress], None] | None = None,
    since: float = 0.0,
    trees: Trees | None = None,
) -> Certificate:
    """Prove, write and check; `time_limit` seconds for the searches of all rows together, whatever was found by then.

    `trees` of earlier searches are where the searches start from.

    `callback` is told before every claim and at the end; `since` is the time that the work took before. After Ctrl-C
    no more is searched, and what was found by then is checked. What the checker refuses is returned as refused.
    """
    claims, begun = tuple(claims), perf_counter()
    trees = Trees() if trees is None else trees
    snapshot = net.snapshot()
    cases = [known_cases(claim, snapshot, net.predict, trees, time_limit=time_limit / 2) for claim in claims]
    problems = [
        build_all(case_claims(claim, tree, net.domain), snapshot) for claim, tree in zip(claims, cases, strict=True)
    ]
    searches = [sum(mirrored(problem).count(None) for problem in part) for part in problems]
    emitted: list[Emitted] = []

    def tell(message: str = "") -> None:
        if callback is not None:
            seconds = since + perf_counter() - begun
            callback(Progress("certify", len(emitted), len(claims), seconds=seconds, message=message))

    for claim, tree, part in zip(claims, cases, problems, strict=True):
        tell()
        left = 0.0 if any(entry.interrupted for entry in emitted) else time_limit - (perf_counter() - begun)
        each = max(0.0, left) / sum(searches[len(emitted) :])
        emitted.append(
            emit_claim(claim, tree, part, time_limit=each, trees=trees)
            if claim.either
            else emit(part[0], time_limit=each, trees=trees)
        )
    notes = tuple(note for entry in emitted for note in entry.notes)
    weights = weights_digest(net.describe(), certified_tensors(net))
    with tempfile.TemporaryDirectory(prefix="smilenn-") as place:
        folder = Path(place) / "model"
        save_net(folder, net)
        files, report = _checked(folder, weights, [entry.proof for entry in emitted], net.profile)
        if report.status == "unknown":
            together = zip(emitted, claims, report.claims, strict=True)
            relaxed = [_up_to(entry, claim, found.rows) for entry, claim, found in together]
            if any(proof is not entry.proof for proof, entry in zip(relaxed, emitted, strict=True)):
                files, report = _checked(folder, weights, relaxed, net.profile)
    interrupted = any(entry.interrupted for entry in emitted)
    certificate = Certificate(files, report, claims, weights, notes, perf_counter() - begun, interrupted)
    tell("the checker accepts" if certificate.accepted else certificate.shortfall)
    return certificate


def _checked(folder: Path, weights: str, proofs: Sequence[ClaimProof], profile: str) -> tuple[dict[str, bytes], Report]:
    files = dump(weights, proofs, profile)
    write_folder(folder, {**read_folder(folder), **files}, overwrite=True)
    return files, check_folder(folder)


def _up_to(entry: Emitted, claim: Claim, rows: Sequence[RowReport]) -> ClaimProof:
    """The same proof of the claim with larger right sides where only rounding was missing; clauses stay as they are."""
    if any(inequality.op == "==" for inequality in claim.then):
        return entry.proof
    more = {r: _two_digits(row.excess) for r, row in enumerate(rows[: len(claim.then)]) if row.excess > 0}
    more = {r: added for r, added in more.items() if added <= room(rows[r], claim.then[r])}
    if not more:
        return entry.proof
    then = tuple(
        replace(inequality, rhs=inequality.rhs + more.get(r, Fraction(0))) for r, inequality in enumerate(claim.then)
    )
    sentence = f"{claim.sentence.rstrip('.')} (up to {float(max(more.values())):.1e}, for rounding)."
    return replace(entry.proof, claim=replace(claim, then=then, sentence=sentence).to_json())


def _two_digits(value: Fraction) -> Fraction:
    """The smallest decimal of two significant digits that is ≥ value > 0."""
    context = Context(prec=2, rounding=ROUND_CEILING)
    up = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(up)
