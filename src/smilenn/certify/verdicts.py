"""What a checker said of a certificate: as a value, as a statement in the user's words, and as a verdict.

"Certified" is said here and nowhere else: where a checker has accepted the certificate that lies beside the model.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import cached_property
from os import PathLike

from smilenn.certify.about import About
from smilenn.certify.certificate import BINARY_NAME, JSON_NAME
from smilenn.certify.check import Report, RowReport, check_folder
from smilenn.errors import SmileError
from smilenn.model.folder import parse_json, read_folder
from smilenn.properties.claim import Claim, Inequality
from smilenn.prove.verdict import Proved, Rejected, Unknown, Verdict

METHOD = "exact check of the certificate"
SHARE, MARGINS = Fraction(1, 10**6), 2**20  # of a right side, and of the margin: what may be called rounding


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proofs of claims on a network, with what the checker said of them.

    Attributes
    ----------
    files : certificate.json and certificate.bin.
    report : the checker's report; its status is ``certified``, ``unknown`` or ``refused``.
    claims : the claims as they were stated; the certificate's may have larger right sides, for rounding.
    weights : digest of the certified part of the network.
    notes : why a proof search stopped early, where one did.
    seconds : what proving and checking took.
    interrupted : whether Ctrl-C cut a search off.
    about : what the claims speak of in the user's words, and what is assumed; for `statement` only.
    """

    files: dict[str, bytes]
    report: Report
    claims: tuple[Claim, ...]
    weights: str
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
    about: About = field(default_factory=About)

    @property
    def accepted(self) -> bool:
        """Whether every claim is certified: the checker accepted, and right sides were raised for rounding at most."""
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
        together = zip(self.claims, self.report.claims, strict=True)
        return tuple(
            all(
                row.excess <= 0 and row.rhs - stated.rhs <= (room(row, stated) if r < len(claim.rows) else 0)
                for r, (row, stated) in enumerate(zip(found.rows, claim.heads, strict=True))
            )
            for claim, found in together
        )

    @cached_property
    def bounds(self) -> tuple[float, ...]:
        """A checked bound on the violation of each claim as stated, in output units; infinite if nothing was checked.

        0.0 for a certified claim, or what the certificate adds to its right side for rounding.
        """
        if not self.report.claims:
            return tuple(math.inf for _ in self.claims)
        together = zip(self.claims, self.report.claims, strict=True)
        return tuple(
            rounded_up(max(_over(row, stated) for row, stated in zip(found.rows, claim.heads, strict=True)))
            for claim, found in together
        )

    @property
    def bound(self) -> float:
        """The largest of `bounds`."""
        return max(self.bounds)

    @property
    def raised(self) -> float:
        """What the certificate adds to right sides for rounding, the largest of it; 0.0 in most cases."""
        pairs = (
            (row, stated)
            for claim, found in zip(self.claims, self.report.claims, strict=False)
            for row, stated in zip(found.rows, claim.heads, strict=True)
        )
        return rounded_up(max((row.rhs - stated.rhs for row, stated in pairs), default=Fraction(0)))

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


def room(row: RowReport, stated: Inequality) -> Fraction:
    """What a certificate may add to a right side and call rounding: of a right side of 0 a multiple of the margin.

    A millionth of any other one, or twice the margin, but no more than half of it: what leads by that much still leads.
    Both depend on what was stated and on the weights, not on a scale that a folder may choose. Clauses are not raised:
    what is rounding for one of their rows may be more than that for another.
    """
    if not stated.rhs:
        return MARGINS * row.margin
    return min(max(SHARE * abs(stated.rhs), 2 * row.margin), abs(stated.rhs) / 2)


def claim_words(bound: float, holds: bool, unit: str = "") -> str:
    """``[certified]``, ``[certified up to 7.4e-12, for rounding]`` or ``[not certified: … at most 0.3]``."""
    if holds:
        return f"[certified up to {shown_bound(bound)}{unit}, for rounding]" if bound else "[certified]"
    if math.isinf(bound):
        return "[not certified: no bound was checked]"
    return f"[not certified: may fail, by at most {shown_bound(bound)}{unit}]"


def check(folder: str | PathLike[str], *, reference: bool = False) -> Verdict:
    """Check the certificate of a model folder in exact arithmetic; nothing is searched.

    Returns `Proved` (certified), `Unknown` with the bound that was checked, or `Rejected` with the reason. A missing or
    unreadable file raises `SmileError`. With `reference` the slow checker runs as well and must find the same.
    """
    found = examine(folder)
    if reference and isinstance(found, Certificate):
        from smilenn.certify.check_reference import check_folder as second

        other = second(folder)
        if (other.status, _rows(other)) != (found.report.status, _rows(found.report)):
            return Rejected(METHOD, reason="the two checkers disagree; please report this certificate as a bug")
    return verdict(found) if isinstance(found, Certificate) else found


def examine(folder: str | PathLike[str]) -> Certificate | Rejected:
    """The certificate of a model folder as the checker finds it now, held against the claims of properties.json."""
    report = check_folder(folder)
    if report.status == "unreadable":
        raise SmileError(report.reason)
    if report.status == "refused":
        return Rejected(METHOD, reason=report.reason)
    files = read_folder(os.fspath(folder))
    content = parse_json(files[JSON_NAME], JSON_NAME)
    proved = tuple(Claim.from_json(entry["claim"]) for entry in content["claims"])
    stated = _stated(files, proved)
    if stated is None:
        return Rejected(METHOD, reason="the certificate speaks of other claims than properties.json")
    own = {name: files[name] for name in (JSON_NAME, BINARY_NAME)}
    return Certificate(own, report, stated, content["weights"])


def verdict(certificate: Certificate) -> Verdict:
    """What the checker said as a verdict on the claims as stated."""
    if certificate.report.status == "refused":
        return Rejected(METHOD, reason=certificate.report.reason)
    if certificate.accepted:
        assert certificate.report.excess is not None
        bound = rounded_up(certificate.report.excess)
        return Proved(METHOD, bound, tolerance=certificate.raised, certificate=certificate.sha256)
    return Unknown(METHOD, certificate.bound, reason="the certificate proves this bound and no less")


def _stated(files: dict[str, bytes], proved: tuple[Claim, ...]) -> tuple[Claim, ...] | None:
    """The claims of properties.json if the certificate's differ from them in larger right sides only; else None.

    A folder without properties.json states its claims in the certificate alone.
    """
    if "properties.json" not in files:
        return proved
    document = parse_json(files["properties.json"], "properties.json")
    listed = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) != len(proved):
        return None
    stated = tuple(map(Claim.from_json, listed))
    for wanted, given in zip(stated, proved, strict=True):
        if replace(wanted, then=given.then) != given or len(wanted.then) != len(given.then):
            return None
        for row, other in zip(wanted.then, given.then, strict=True):
            if replace(row, rhs=other.rhs) != other or other.rhs < row.rhs:
                return None
    return stated


def _over(row: RowReport, stated: Inequality) -> Fraction:
    """By how much the row as stated may be violated: what was added to its right side, and what is missing to that."""
    return max(Fraction(0), row.rhs - stated.rhs) if row.excess <= 0 else row.bound + row.margin - stated.rhs


def _rows(report: object) -> list[tuple[Fraction, Fraction, Fraction]]:
    return [(row.bound, row.margin, row.rhs) for claim in report.claims for row in claim.rows]  # type: ignore[attr-defined]


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
