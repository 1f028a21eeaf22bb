"""What a checker said of a certificate: as a value, as a statement in the user's words, and as a verdict.

"Certified" is said here and nowhere else: where a checker has accepted the certificate that lies beside the model.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import Any

from smilenn.certify.about import About
from smilenn.certify.certificate import BINARY_NAME, JSON_NAME
from smilenn.certify.check import Report, RowReport
from smilenn.certify.process import check_apart
from smilenn.certify.stated import first_version, uncovered
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import parse_json, read_folder, read_manifest
from smilenn.properties.claim import Claim
from smilenn.verdict import Proved, Rejected, Unknown, Verdict

METHOD = "exact check of the certificate"


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proofs of claims on a network, with what the checker said of them.

    Attributes
    ----------
    files : certificate.json and certificate.bin.
    report : the checker's report; its status is ``certified``, ``unknown`` or ``refused``.
    claims : the claims as they were stated.
    model : digest of the certified part: network and table.
    notes : why a proof search stopped early, where one did.
    seconds : what proving and checking took.
    interrupted : whether Ctrl-C cut a search off.
    about : what the claims speak of in the user's words, and what is assumed; for `statement` only.
    """

    files: dict[str, bytes]
    report: Report
    claims: tuple[Claim, ...]
    model: str
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    about: About = field(default_factory=About)

    @property
    def accepted(self) -> bool:
        """Whether every claim is certified, up to the room that rounding has."""
        return self.report.status == "certified" and all(self.holds)

    @property
    def sha256(self) -> str:
        """SHA-256 of certificate.json, hexadecimal; what the certificate is called by."""
        return self.report.certificate

    @property
    def holds(self) -> tuple[bool, ...]:
        """For each claim whether the checker certified it."""
        if not self.report.claims:
            return tuple(False for _ in self.claims)
        return tuple(all(row.holds for row in found.rows) for found in self.report.claims)

    @cached_property
    def bounds(self) -> tuple[float, ...]:
        """A checked bound on the violation of each claim, in output units; infinite if nothing was checked.

        0.0 for a certified claim, or the room that it takes for rounding.
        """
        if not self.report.claims:
            return tuple(math.inf for _ in self.claims)
        return tuple(rounded_up(max(map(_over, found.rows))) for found in self.report.claims)

    @property
    def bound(self) -> float:
        """The largest of `bounds`."""
        return max(self.bounds)

    @property
    def rounding(self) -> float:
        """The room that certified rows take for rounding, the largest of it; 0.0 in most cases."""
        rows = (row for claim in self.report.claims for row in claim.rows)
        return rounded_up(max((_over(row) for row in rows if row.holds), default=Fraction(0)))

    @property
    def shortfall(self) -> str:
        """Why the checker did not certify, as part of a sentence; empty if it did."""
        if self.accepted:
            return ""
        if self.report.status != "unknown":
            return f"the checker refused the proof ({self.report.reason})"
        return "; ".join(dict.fromkeys(self.notes)) or "the proof leaves a violation open"

    @property
    def statement(self) -> str:
        """What was checked, as a person reads it, and what is assumed (statement.py)."""
        from smilenn.certify.statement import statement

        return statement(self)


def claim_words(bound: float, holds: bool, unit: str = "") -> str:
    """``[certified]``, ``[certified up to 7.4e-12, for rounding]`` or ``[not certified: … at most 0.3]``."""
    if holds:
        return f"[certified up to {shown_bound(bound)}{unit}, for rounding]" if bound else "[certified]"
    if math.isinf(bound):
        return "[not certified: no bound was checked]"
    return f"[not certified: may fail, by at most {shown_bound(bound)}{unit}]"


def check(folder: str | PathLike[str], *, reference: bool = False, key: str | PathLike[str] | None = None) -> Verdict:
    """Check the certificate of a model folder in exact arithmetic, in a process of its own; nothing is searched.

    Returns `Proved` (certified), `Unknown` with the bound that was checked, or `Rejected` with the reason. A missing or
    unreadable file raises `SmileError`. With `reference` the slow checker runs as well and must find the same. With
    `key`, a public key as a PEM file or in hexadecimal, a folder that this key has not signed is rejected.
    """
    return inspect(folder, reference=reference, key=key)[0]


def inspect(
    folder: str | PathLike[str], *, reference: bool = False, key: str | PathLike[str] | None = None
) -> tuple[Verdict, Report | None]:
    """As `check`, with the checker's report where it accepted the files."""
    signed = ""
    if key is not None:
        from smilenn.certify.signing import verify

        try:
            signed = verify(os.fspath(folder), os.fspath(key))
        except AlteredError as error:
            return Rejected(METHOD, reason=str(error).rstrip(".")), None
    found, report = _examined(folder)
    if isinstance(found, Rejected):
        return found, None
    if signed and report.manifest != signed:
        return Rejected(METHOD, reason="the folder was changed while it was checked"), None
    if reference:
        from smilenn.certify.reference.check import check_folder as second

        if not _alike(report, second(folder)):
            why = "the two checkers disagree; please report this certificate as a bug"
            return Rejected(METHOD, reason=why), None
    return (verdict(found), found.report) if isinstance(found, Certificate) else (found, report)


def examine(folder: str | PathLike[str]) -> Certificate | Rejected | Unknown:
    """The certificate of a model folder as the checker finds it now, held against what properties.json states.

    `Unknown` where properties are stated that the certificate does not cover.
    """
    return _examined(folder)[0]


def _examined(folder: str | PathLike[str]) -> tuple[Certificate | Rejected | Unknown, Report]:
    """The same, with the report of the one check that was made."""
    report = check_apart(folder)
    if report.status == "unreadable":
        raise SmileError(report.reason)
    if report.status == "refused":
        return Rejected(METHOD, reason=report.reason), report
    files = read_folder(os.fspath(folder))
    if report.manifest != read_manifest(os.fspath(folder))["digest"] or (
        report.certificate != hashlib.sha256(files[JSON_NAME]).hexdigest()
    ):
        raise SmileError(f"{os.fspath(folder)!r} was changed while it was read; check it again.")
    return _held_against(files, report), report


def _held_against(files: dict[str, bytes], report: Report) -> Certificate | Rejected | Unknown:
    """What the checker accepted, as far as it covers what the folder states."""
    content = parse_json(files[JSON_NAME], JSON_NAME)
    proved = tuple(Claim.from_json(entry["claim"]) for entry in content["claims"])
    own = {name: files[name] for name in (JSON_NAME, BINARY_NAME)}
    if report.version == 1:
        raised = first_version(report, files, proved)
        if raised is None:
            return Rejected(METHOD, reason="the certificate holds other claims than properties.json")
        report, proved = raised
    missing = uncovered(files, proved)
    if missing:
        return Unknown(METHOD, reason=missing)
    return Certificate(own, report, proved, content["weights" if report.version == 1 else "model"])


def verdict(certificate: Certificate) -> Verdict:
    """What the checker said as a verdict on the claims as stated."""
    if certificate.report.status == "refused":
        return Rejected(METHOD, reason=certificate.report.reason)
    if certificate.accepted:
        assert certificate.report.excess is not None
        bound = rounded_up(certificate.report.excess)
        return Proved(METHOD, bound, tolerance=certificate.rounding, certificate=certificate.sha256)
    return Unknown(METHOD, certificate.bound, reason="the certificate proves this bound and no less")


def _over(row: RowReport) -> Fraction:
    """By how much a row may be violated: the room it takes, if it is certified."""
    if row.excess <= 0:
        return Fraction(0)
    return row.room if row.holds else row.excess


def _alike(report: Report, other: Any) -> bool:
    """Whether two checkers found the same; each has a class of reports of its own."""
    rows = [
        [(row.rule, row.bound, row.margin, row.rhs, row.room) for claim in one.claims for row in claim.rows]
        for one in (report, other)
    ]
    return report.status == other.status and rows[0] == rows[1]


def shown_bound(bound: float) -> str:
    """A bound with two digits, or with three rounded up: what is printed is never smaller than what was checked."""
    short = f"{bound:.2g}"
    if Fraction(short) >= Fraction(bound) * (1 - Fraction(1, 2**52)):  # `bound` is the float of a number of two digits
        return short
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(bound):g}"


def rounded_up(value: Fraction) -> float:
    """The float next above a rational, or the rational itself if it is a float."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
