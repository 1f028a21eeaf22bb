"""``smilenn.check``: the certificate in a model folder, checked from the files alone, as a verdict.

"Certified" is said here and nowhere else: where a checker has accepted the certificate that lies beside the model.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path

from smilenn.certify.certificate import JSON_NAME
from smilenn.certify.check import Report, check_folder
from smilenn.errors import SmileError
from smilenn.model.folder import parse_json, read_folder
from smilenn.properties.claim import Claim
from smilenn.prove.verdict import Proved, Rejected, Unknown, Verdict

METHOD = "exact check of the certificate"


def check(folder: str | PathLike[str], *, reference: bool = False) -> Verdict:
    """Check the certificate of a model folder in exact arithmetic; nothing is searched.

    Returns `Proved` (certified), `Unknown` with the bound that was checked, or `Rejected` with the reason. A missing or
    unreadable file raises `SmileError`. With `reference` the slow checker runs as well and must find the same.
    """
    report = check_folder(folder)
    if report.status in ("certified", "unknown"):
        raised = _raised(Path(folder))
        if raised is None:
            return Rejected(METHOD, reason="the certificate speaks of other claims than properties.json")
    else:
        raised = 0.0
    if reference:
        from smilenn.certify.check_reference import check_folder as second

        other = second(folder)
        if (other.status, _rows(other)) != (report.status, _rows(report)):
            return Rejected(METHOD, reason="the two checkers disagree; please report this certificate as a bug")
    return verdict(report, raised)


def verdict(report: Report, raised: float = 0.0) -> Verdict:
    """A checker's report as a verdict; `raised` is what the certified claims add to the stated ones for rounding."""
    if report.status == "unreadable":
        raise SmileError(report.reason)
    if report.status == "refused":
        return Rejected(METHOD, reason=report.reason)
    bound = _up(report.excess) if report.excess is not None else math.inf
    if report.status == "certified":
        return Proved(METHOD, bound, tolerance=raised, certificate=report.certificate)
    return Unknown(METHOD, bound, reason="the certificate proves this bound and no less")


def _raised(folder: Path) -> float | None:
    """By how much the certificate's claims exceed those of properties.json; None if they differ in anything else.

    A folder without properties.json states its claims in the certificate alone.
    """
    files = read_folder(folder)
    if "properties.json" not in files:
        return 0.0
    stated = parse_json(files["properties.json"], "properties.json")
    stated = stated.get("claims") if isinstance(stated, dict) else None
    proved = [entry["claim"] for entry in parse_json(files[JSON_NAME], JSON_NAME)["claims"]]
    if not isinstance(stated, list) or len(stated) != len(proved):
        return None
    most = Fraction(0)
    for wanted, given in zip(map(Claim.from_json, stated), map(Claim.from_json, proved), strict=True):
        if replace(wanted, then=given.then) != given or len(wanted.then) != len(given.then):
            return None
        for row, other in zip(wanted.then, given.then, strict=True):
            if replace(row, rhs=other.rhs) != other or other.rhs < row.rhs:
                return None
            most = max(most, other.rhs - row.rhs)
    return _up(most)


def _rows(report: object) -> list[tuple[Fraction, Fraction, Fraction]]:
    return [(row.bound, row.margin, row.rhs) for claim in report.claims for row in claim.rows]  # type: ignore[attr-defined]


def _up(value: Fraction) -> float:
    """The float next above a rational, or the rational itself if it is a float."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
