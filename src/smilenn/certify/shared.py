"""The claims of a certificate checked by the workers of a cluster, each of them as a certificate of its own.

    folder with n claims  ─▶  n folders: the same model, one claim, its piece of certificate.bin  ─▶  n reports  ─▶  one

A worker runs the one-file checker on such a folder as on any other. What holds the folders together is checked here, by
functions of the same file: the hashes of all files, that the claims are those of properties.json, that the pieces of
certificate.bin follow each other and leave no byte out. If anything is out of order, here or in a report of a worker,
the folder is checked whole, here; so a refusal and its reason are always the checker's own.
"""

from __future__ import annotations

import copy
import hashlib
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smilenn.certify import check
from smilenn.certify.certificate import BINARY_NAME, JSON_NAME
from smilenn.certify.check import Report
from smilenn.certify.process import check_apart
from smilenn.clusters.pool import Pool
from smilenn.clusters.task import ClusterError
from smilenn.errors import SmileError
from smilenn.model.folder import MANIFEST, dump_json, parse_json, write_folder

logger = logging.getLogger(__name__)

Part = tuple[bytes, bytes]  # certificate.json and certificate.bin of one claim


def check_shared(folder: str | os.PathLike[str], pool: Pool) -> Report:
    """`check_apart`, with a task for each claim; the report is the same."""
    try:
        files = _sound(os.fspath(folder))
        parts = parts_of(files[JSON_NAME], files[BINARY_NAME])
        if len(parts) > 1:
            model = {name: data for name, data in files.items() if name in check.FILES}
            reports = list(pool.results(check_part, parts, model))
            # a report names the certificate that it is about: one of another claim proves nothing of this one
            own = [check.sha256(certificate) for certificate, _ in parts]
            found = _joined(reports, files) if own == [report.certificate for report in reports] else None
            if found is not None and len(found.claims) == len(parts):
                return found
    except ClusterError as error:
        logger.warning("The certificate is checked here: %s", error)
    except (check.CheckError, SmileError, ValueError, LookupError, TypeError):  # the checker says what is wrong
        pass
    return check_apart(folder)


def _sound(folder: str) -> dict[str, bytes]:
    """The files of a folder of version 2 after all checks that are about more than one claim."""
    version, files = check.read_folder(folder)
    content = check.parse(files[JSON_NAME], JSON_NAME)
    check.need(version == 2, "only folders of version 2 are shared out")
    check.need(content["proofs_sha256"] == check.sha256(files[BINARY_NAME]), "another file of proofs")
    if check.PROPERTIES in files:
        check.compare_claims(check.parse(files[check.PROPERTIES], check.PROPERTIES), content["claims"])
    return files


def parts_of(certificate: bytes, proofs: bytes) -> list[Part]:
    """A certificate for each claim; together they have every byte of the proofs, in order."""
    content: Any = parse_json(certificate, JSON_NAME)
    out: list[Part] = []
    at = 0
    for entry in content["claims"]:
        own = copy.deepcopy(entry)
        end = at
        for piece in _pieces(own):
            end += piece["length"]
            piece["start"] -= at
        some = proofs[at:end]
        alone = content | {"claims": [own], "proofs_sha256": hashlib.sha256(some).hexdigest()}
        out.append((dump_json(alone), some))
        at = end
    check.need(at == len(proofs), "the claims leave bytes out")
    return out


def _pieces(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a claim's entry that name a piece of the proofs, in the order of the entry."""
    if isinstance(value, dict):
        if {"rule", "start", "length"} <= set(value):
            yield value
        else:
            for inner in value.values():
                yield from _pieces(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pieces(inner)


def check_part(model: dict[str, bytes], part: Part) -> Report:
    """What the checker says of one claim, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="smile-") as place:
        folder = Path(place) / "claim"
        write_folder(folder, {**model, JSON_NAME: part[0], BINARY_NAME: part[1]})
        return check_apart(folder)


def _joined(reports: Sequence[Report], files: dict[str, bytes]) -> Report | None:
    """One report of all claims; None where one of them is not a report of one claim that was checked."""
    first = reports[0]
    same = all((r.profile, r.domain, r.version, r.meaning) == _common(first) for r in reports)
    if not same or any(r.status not in ("certified", "unknown") or len(r.claims) != 1 for r in reports):
        return None
    claims = tuple(claim for report in reports for claim in report.claims)
    good = all(row.holds for claim in claims for row in claim.rows)
    manifest: Any = parse_json(files[MANIFEST], MANIFEST)
    return replace(
        first,
        status="certified" if good else "unknown",
        certificate=check.sha256(files[JSON_NAME]),
        claims=claims,
        manifest=manifest["digest"],
    )


def _common(report: Report) -> tuple[Any, ...]:
    return report.profile, report.domain, report.version, report.meaning
