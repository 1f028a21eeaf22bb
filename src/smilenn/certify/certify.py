"""A network and its claims → a certificate that a checker has accepted, or the bound that it could check.

    emit proofs ─▶ write them beside the network in a temporary folder ─▶ check that folder ─▶ files and report

A row that misses its right side only by rounding (ε = 0 on the diagonal, where the margin of float64 alone is above 0)
gets room for it, rounded up to two digits: the certificate then says so, "up to 3.1e-12". The checkers allow no more
than 10^-9 of the right side, or of the outputs' scale where it is 0; what misses it by more is not certified.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from smilenn.certify.certificate import dump, model_digest
from smilenn.certify.check import Report, RowReport
from smilenn.certify.emit import Emitted, emit, emit_claim, mirrored
from smilenn.certify.process import check_apart
from smilenn.certify.stated import most_room
from smilenn.certify.verdicts import Certificate
from smilenn.deadline import NEVER, Deadline
from smilenn.errors import SmileError
from smilenn.model.bundle import certified_tensors, save_net
from smilenn.model.folder import read_folder, write_folder
from smilenn.problem import build_all
from smilenn.progress import Progress
from smilenn.properties.cases import case_claims
from smilenn.properties.claim import Claim
from smilenn.provers.proof import ClaimProof
from smilenn.provers.proved_cases import known_cases
from smilenn.provers.tree.tree import Trees
from smilenn.rounding import two_digits

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet


def certify(
    net: SmileNet,
    claims: Sequence[Claim],
    *,
    time_limit: float = 60.0,
    until: Deadline = NEVER,
    callback: Callable[[Progress], None] | None = None,
    since: float = 0.0,
    trees: Trees | None = None,
    table: Mapping[str, Any] | None = None,
) -> Certificate:
    """Prove, write and check; `time_limit` seconds for the searches of all rows together, whatever was found by then.

    Many rows take their time even where nothing is searched: `until` is when all of it has to end, the check included.
    What is not done by then is given up, and `Late` is raised.

    `trees` of earlier searches are where the searches start from. `table` says how the columns of a table become inputs
    and what the outputs mean; it goes into model.json and under the certificate's digest.

    `callback` is told before every claim and at the end; `since` is the time that the work took before. After Ctrl-C
    no more is searched, and what was found by then is checked. What the checker refuses is returned as refused.
    """
    from smilenn.model.seal import foreign_part

    if reason := foreign_part(net):
        raise SmileError(f"There is no certificate: {reason}.")
    claims, begun = tuple(claims), perf_counter()
    trees = Trees() if trees is None else trees
    snapshot = net.snapshot()
    cases = [known_cases(claim, snapshot, net.predict, trees, time_limit=time_limit / 2) for claim in claims]
    problems = []
    for claim, tree in zip(claims, cases, strict=True):
        until.keep()
        problems.append(build_all(case_claims(claim, tree, net.domain), snapshot))
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
        if claim.either:
            emitted.append(emit_claim(claim, tree, part, time_limit=each, until=until, trees=trees))
        else:
            emitted.append(emit(part[0], time_limit=each, until=until, trees=trees))
    notes = tuple(chain.from_iterable(entry.notes for entry in emitted))
    model = model_digest(net.describe(), certified_tensors(net), table)
    files, report = _accepted(net, claims, [entry.proof for entry in emitted], model, table, until)
    interrupted = any(entry.interrupted for entry in emitted)
    certificate = Certificate(files, report, claims, model, notes, perf_counter() - begun, interrupted)
    tell("the checker accepts" if certificate.accepted else certificate.shortfall)
    return certificate


def _accepted(
    net: SmileNet,
    claims: Sequence[Claim],
    proofs: Sequence[ClaimProof],
    model: str,
    table: Mapping[str, Any] | None,
    until: Deadline,
) -> tuple[dict[str, bytes], Report]:
    """The proofs as files with what the checker says of them; with room for rounding where that alone is missing."""
    with tempfile.TemporaryDirectory(prefix="smilenn-") as place:
        folder = Path(place) / "model"
        save_net(folder, net, model={} if table is None else {"table": table})
        files, report = _checked(folder, model, proofs, net.profile, until)
        if report.status == "unknown":
            scales = dict(zip(net.outputs, net.output_scale.tolist(), strict=True))
            together = zip(proofs, claims, report.claims, strict=True)
            relaxed = [_with_room(proof, claim, found.rows, scales) for proof, claim, found in together]
            if any(proof.room for proof in relaxed):
                files, report = _checked(folder, model, relaxed, net.profile, until)
    return files, report


def _checked(
    folder: Path, model: str, proofs: Sequence[ClaimProof], profile: str, until: Deadline
) -> tuple[dict[str, bytes], Report]:
    until.keep()
    files = dump(model, proofs, profile)
    write_folder(folder, {**read_folder(folder), **files}, overwrite=True)
    return files, check_apart(folder, until)


def _with_room(proof: ClaimProof, claim: Claim, rows: Sequence[RowReport], scales: Mapping[str, float]) -> ClaimProof:
    """The same proof with room where rounding alone was missing; clauses have none."""
    room = []
    for row, stated in zip(rows, claim.rows, strict=False):
        wanted = two_digits(row.excess) if row.excess > 0 else Fraction(0)
        room.append(wanted if wanted <= min(most_room(stated, scales), 2 * row.margin) else Fraction(0))
    return replace(proof, room=room) if any(room) else proof
