"""What a checker said of a certificate: as a value, as a statement in the user's words, and as a verdict.

"Certified" is said here and nowhere else: where a checker has accepted the certificate that lies beside the model.
"""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from typing import Any

from smilenn.certify.about import About, Assumption, assumptions, by_workers, describes_pinned, once_signed
from smilenn.certify.certificate import BINARY_NAME, JSON_NAME
from smilenn.certify.check import FIRST_PINNED, Report, RowReport
from smilenn.certify.process import check_apart
from smilenn.certify.shared import check_shared
from smilenn.certify.stated import MODEL, first_version, space, uncovered, unregistered
from smilenn.clusters.context import current
from smilenn.errors import AlteredError, SmileError
from smilenn.model.folder import parse_json, read_folder, read_manifest
from smilenn.properties.claim import Claim
from smilenn.properties.unregistered import UnregisteredWarning
from smilenn.reason import Reason, Whys, because, sentence, told
from smilenn.rounding import round_up, shown_bound
from smilenn.verdict import VERSION, Proved, Rejected, Unknown, Verdict

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
    about : what the claims are about, in the user's words, and what is assumed.
    """

    files: dict[str, bytes]
    report: Report
    claims: tuple[Claim, ...]
    model: str
    notes: Whys = ()
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

    @cached_property
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
        return tuple(round_up(max(map(_over, found.rows))) for found in self.report.claims)

    @cached_property
    def rooms(self) -> tuple[Fraction, ...]:
        """The room that each claim takes for rounding, the largest of its rows; 0 for one that is not certified."""
        if not self.report.claims:
            return tuple(Fraction(0) for _ in self.claims)
        return tuple(
            max(map(_over, found.rows)) if holds else Fraction(0)
            for found, holds in zip(self.report.claims, self.holds, strict=True)
        )

    @property
    def bound(self) -> float:
        """The largest of `bounds`."""
        return max(self.bounds)

    @property
    def rounding(self) -> float:
        """The room that certified rows take for rounding, the largest of it; 0.0 in most cases."""
        rows = (row for claim in self.report.claims for row in claim.rows)
        return round_up(max((_over(row) for row in rows if row.holds), default=Fraction(0)))

    @property
    def why(self) -> Whys:
        """Why the checker did not certify; nothing if it did."""
        if self.accepted:
            return ()
        if self.report.status != "unknown":
            return because(Reason.PROOF_REFUSED, self.report.reason)
        return self.notes or because(Reason.PROOF_OPEN)

    @property
    def shortfall(self) -> str:
        """`why` as part of a sentence; empty if the checker certified."""
        return sentence(self.why)

    @property
    def method(self) -> str:
        """What a verdict by this certificate rests on; the first version of the format is named."""
        return METHOD if self.report.version == 2 else f"{METHOD}{VERSION}{self.report.version}"

    @property
    def version_words(self) -> str:
        """``, version 1 of the format`` beside the certificate's name; empty for the latest."""
        return "" if self.report.version == 2 else f"{VERSION}{self.report.version} of the format"

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every claim in words, made from its rows, with what the checker said of it in brackets."""
        from smilenn.certify.statement import sentences

        return sentences(self)

    @property
    def statement(self) -> str:
        """What was checked, as a person reads it, and what is assumed (statement.py)."""
        from smilenn.certify.statement import statement

        return statement(self)


def claim_words(bound: float, holds: bool, unit: str = "") -> str:
    """``certified``, ``certified with 7.4e-12 of room for rounding`` or ``not certified: … at most 0.3``.

    The sentence that it stands beside has the room in it (statement.py, `claim_lines`).
    """
    if holds:
        return f"certified with {shown_bound(bound)}{unit} of room for rounding" if bound else "certified"
    if math.isinf(bound):
        return "not certified: no bound was checked"
    return f"not certified: may fail, by at most {shown_bound(bound)}{unit}"


def check(folder: str | PathLike[str], *, reference: bool = False, key: str | PathLike[str] | None = None) -> Verdict:
    """Check the certificate of a model folder in exact arithmetic, in a process of its own; nothing is searched.

    Returns `Proved` (certified), `Unknown` with the bound that was checked, or `Rejected` with the reason. A missing or
    unreadable file raises `SmileError`. With `reference` the slow checker runs as well and must find the same. With
    `key`, a public key as a PEM file or in hexadecimal, a folder that this key has not signed is rejected.

    The verdict is on the claims of the folder. That they are those of its properties is checked too, but for properties
    whose class is not registered here (`register_property`): an `UnregisteredWarning` names them.
    """
    found = inspect(folder, reference=reference, key=key).verdict
    if not isinstance(found, Rejected) and (note := unregistered(read_folder(os.fspath(folder)))):
        warnings.warn(note, UnregisteredWarning, stacklevel=2)
    return found


@dataclass(frozen=True, eq=False)
class Inspection:
    """A verdict with the checker's report where it accepted the files, what that assumes, and the claims in words."""

    verdict: Verdict
    report: Report | None = None
    assumed: tuple[Assumption, ...] = ()
    sentences: tuple[str, ...] = ()  # the claims in words, made from the rows that were checked
    statement: str = ""  # all of it as a text


def inspect(
    folder: str | PathLike[str], *, reference: bool = False, key: str | PathLike[str] | None = None
) -> Inspection:
    """As `check`, with the report."""
    signed = ""
    if key is not None:
        from smilenn.certify.signing import verify

        try:
            signed = verify(os.fspath(folder), os.fspath(key))
        except AlteredError as error:
            return Inspection(Rejected(METHOD, why=told(str(error).rstrip("."))))
    found, report = _examined(folder)
    if isinstance(found, Rejected) or (isinstance(found, Unknown) and report.status == "refused"):
        return Inspection(found)
    if signed and report.manifest != signed:
        return Inspection(Rejected(METHOD, why=because(Reason.CHANGED_MEANWHILE)))
    if reference:
        from smilenn.certify.reference.check import check_folder as second

        if not _alike(report, second(folder)):
            return Inspection(Rejected(METHOD, why=because(Reason.CHECKERS_DISAGREE)))
    if not isinstance(found, Certificate):
        return Inspection(found, report)
    assumed = once_signed(found.about.assumed) if signed else found.about.assumed
    return Inspection(verdict(found), found.report, assumed, found.sentences, found.statement)


def examine(folder: str | PathLike[str]) -> Certificate | Rejected | Unknown:
    """The certificate of a model folder as the checker finds it now, held against what properties.json states.

    `Unknown` where properties are stated that the certificate does not cover, and of version 1 with pinned modules.
    """
    return _held(folder, check_apart(folder))[0]


def _examined(folder: str | PathLike[str]) -> tuple[Certificate | Rejected | Unknown, Report]:
    """The same with the report, by the workers of a cluster where this is its block.

    Loading a model never asks them: that a verdict rests on other machines is for whoever asks for a check.
    """
    pool = current()
    if pool is None:
        return _held(folder, check_apart(folder))
    found, report = _held(folder, check_shared(folder, pool))
    if isinstance(found, Certificate):
        found = replace(found, about=replace(found.about, assumed=by_workers(found.about.assumed)))
    return found, report


def _held(folder: str | PathLike[str], report: Report) -> tuple[Certificate | Rejected | Unknown, Report]:
    """What the report of a checker makes of a folder, and the report."""
    if report.status == "unreadable":
        raise SmileError(report.reason)
    if report.status == "refused":
        return _refused(report), report
    manifest = read_manifest(os.fspath(folder))
    files = read_folder(os.fspath(folder), manifest)  # of the very manifest that the checker has read
    if report.manifest != manifest["digest"] or report.certificate != hashlib.sha256(files[JSON_NAME]).hexdigest():
        raise SmileError(f"{os.fspath(folder)!r} was changed while it was read; check it again.")
    return _held_against(files, report), report


def _refused(report: Report) -> Rejected | Unknown:
    """What a refusal means: files that do not belong together, or, of version 1, that are whole and prove nothing now.

    That a pinned module takes part is asked when all hashes and digests have been compared: such a folder is as it was
    saved, and what is not known of it is whether equal rows got equal bits.
    """
    if report.reason == FIRST_PINNED:
        return Unknown(METHOD, why=because(Reason.FIRST_PINNED))
    return Rejected(METHOD, why=told(report.reason))


def _held_against(files: dict[str, bytes], report: Report) -> Certificate | Rejected | Unknown:
    """What the checker accepted, as far as it covers what the folder states."""
    content = parse_json(files[JSON_NAME], JSON_NAME)
    proved = tuple(Claim.from_json(entry["claim"]) for entry in content["claims"])
    own = {name: files[name] for name in (JSON_NAME, BINARY_NAME)}
    if report.version == 1:
        raised = first_version(report, files, proved)
        if raised is None:
            return Rejected(METHOD, why=because(Reason.OTHER_PROPERTIES))
        report, proved = raised
    missing = uncovered(files, proved)
    if missing:
        return Unknown(METHOD, why=told(missing))
    described = parse_json(files[MODEL], MODEL)
    domain, outputs, _ = space(described)
    about = About(outputs, domain, assumptions(pinned=describes_pinned(described["net"])))
    return Certificate(own, report, proved, content["weights" if report.version == 1 else "model"], about=about)


def verdict(certificate: Certificate) -> Verdict:
    """What the checker said as a verdict on the claims as stated."""
    if certificate.report.status == "refused":
        return Rejected(METHOD, why=told(certificate.report.reason))
    if certificate.accepted:
        assert certificate.report.excess is not None
        bound = round_up(certificate.report.excess)
        return Proved(certificate.method, bound, tolerance=certificate.rounding, certificate=certificate.sha256)
    return Unknown(certificate.method, certificate.bound, why=because(Reason.LARGER_BOUND))


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
