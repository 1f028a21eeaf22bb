"""``smile check``: the certificate of a model folder, checked from the files; nothing is searched."""

from __future__ import annotations

import json as json_module
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from smilenn.certify.about import in_short
from smilenn.certify.check import Report
from smilenn.certify.signing import public_key
from smilenn.certify.stated import unregistered
from smilenn.certify.verdicts import METHOD, Inspection, inspect
from smilenn.certify.verified import CODES, Finding
from smilenn.certify.verified import run as run_verified
from smilenn.cli.guard import exit_code
from smilenn.cli.option_words import in_options
from smilenn.domain.idle import left_out_words
from smilenn.errors import SmileError, listed, printable
from smilenn.model.bundle import MODEL, WEIGHTS, read_weights
from smilenn.model.folder import parse_json, read_folder, without_infinities
from smilenn.model.whole import stored_digest
from smilenn.provers.record import verdict_to_json
from smilenn.reason import Reason, because, told
from smilenn.report.standing import Standing
from smilenn.verdict import Proved, Rejected, Verdict


def run(
    model: Path,
    *,
    reference: bool,
    verified: bool,
    key: Path | None,
    quiet: bool,
    json: bool,
    pack: dict[str, bytes] | None = None,
) -> int:
    """Check, say what was found in the user's columns and units, give the exit code of `fit`.

    `pack` are the files of the validation pack that the model lies in, which must say what was found.

    Quality and steps of training are those that model.json notes. A folder without that note (a bare network, a clamp,
    version 1) says nothing of training, and the exit code is the verdict's alone; so does one that was rejected.
    """
    found = inspect(model, reference=reference, key=None if key is None else str(key))
    found = found if pack is None else held_against(pack, found)
    finding = None
    if isinstance(found.verdict, Rejected):  # the proved checker is not asked: such a file may be made to take long
        checked = Checked(found)
    else:
        finding = run_verified(model) if verified else None
        note = in_options(unregistered(read_folder(model)))
        checked = Checked(found, finding, stored_quality(model), note, stored_scales(model), stored_left_out(model))
    if json:
        left = {} if pack is None else {"pack": _unchecked(pack)}
        typer.echo(json_module.dumps(without_infinities({"model": str(model), **checked.record(), **left})))
    else:
        for line in checked.brief() if quiet else checked.lines(reference=reference, key=key):
            typer.echo(line)
    return agreed(exit_code(found.verdict, checked.quality), finding)


def _unchecked(files: dict[str, bytes]) -> str:
    from smilenn.pack.words import unchecked

    return unchecked(files)


def held_against(files: dict[str, bytes], found: Inspection) -> Inspection:
    """What was found of the model in a pack, if it is the model of these files and they say what was found."""
    from smilenn.pack.words import model_digest, other_words

    if found.report is not None and found.report.manifest != model_digest(files):
        return Inspection(Rejected(METHOD, why=because(Reason.CHANGED_MEANWHILE)))
    wrong = other_words(files, found.statement, found.sentences) if isinstance(found.verdict, Proved) else ""
    return Inspection(Rejected(METHOD, why=told(wrong))) if wrong else found


@dataclass(frozen=True)
class Checked:
    """What is known of a folder: the checkers' findings, the quality that it notes, kinds that are not registered."""

    found: Inspection
    finding: Finding | None = None
    quality: Standing | None = None
    note: str = ""
    scales: tuple[float, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def shortfall(self) -> str:
        """Why the model is no use although it is certified; empty where it is."""
        return "" if self.quality is None else self.quality.shortfall

    @property
    def sentence(self) -> str:
        """The verdict, and the shortfall beside it."""
        return f"{self.found.verdict.sentence()}{f', but {self.shortfall}' if self.shortfall else ''}"

    def record(self) -> dict[str, Any]:
        """For other programs."""
        record = verdict_to_json(self.found.verdict) | {
            "quality": None if self.quality is None else self.quality.to_json(),
            "shortfall": self.shortfall,
            "left_out": self.left_out,
            "assumed": [item.line for item in self.found.assumed],
            "unregistered": self.note,
            "version": None if self.found.report is None else self.found.report.version,
            "sentences": list(self.found.sentences),
            "claims": [] if self.found.report is None else [claim.formula for claim in self.found.report.claims],
        }
        return record if self.finding is None else record | {"verified": vars(self.finding)}

    def brief(self) -> list[str]:
        """In a few lines."""
        proved = [] if self.finding is None else [proved_line(self.finding, self.found.verdict)]
        return [self.sentence, *proved, *([self.note] if self.note else [])]

    def lines(self, *, reference: bool, key: Path | None) -> list[str]:
        """Claim by claim, with what is assumed and the quality."""
        lines = [] if self.found.report is None else self._reported(self.found.report, reference=reference, key=key)
        lines += [] if self.finding is None else [proved_line(self.finding, self.found.verdict)]
        lines.append(f"{self.sentence[0].upper()}{self.sentence[1:]}.")
        lines += [in_short(self.found.assumed)] if self.found.assumed else []
        if self.quality is not None:
            lines.append(f"Quality, measured after training and not checked here. {self.quality.sentence()}")
        lines += [f"{left_out_words(self.left_out)[:-1]} (as noted, not checked)."] if self.left_out else []
        return lines

    def _reported(self, report: Report, *, reference: bool, key: Path | None) -> list[str]:
        """What the checker says of a certificate that it accepts."""
        lines = [*self._without_twins(report).lines(), *self._in_words(), *self._scales(report)]
        if report.status == "certified" and self.found.verdict.status != "proved":
            lines.insert(0, "The certificate holds, but it does not cover the properties that the model states:")
        lines += [self.note] if self.note else []
        lines += ["The reference checker agrees."] if reference else []
        lines += [] if key is None else [f"Signed by {public_key(str(key))}."]
        return lines

    def _without_twins(self, report: Report) -> Report:
        """The report without the stored sentences that the rows give too: those are said below, as checked."""
        said = self.found.sentences
        claims = (
            replace(claim, sentence="") if any(line.startswith(claim.sentence) for line in said) else claim
            for claim in report.claims
        )
        return replace(report, claims=tuple(claims))

    def _in_words(self) -> list[str]:
        """The claims as sentences, made from the checked rows in the user's names."""
        said = [f"  {''.join(c if c.isprintable() else repr(c)[1:-1] for c in line)}" for line in self.found.sentences]
        return ["in words:", *said] if said else []

    def _scales(self, report: Report) -> list[str]:
        """What rounding is measured against, where a row takes room for it: a number that nobody has checked."""
        if not any(row.holds and row.excess > 0 for claim in report.claims for row in claim.rows):
            return []
        stated = listed(f"{float(scale):g}" for scale in self.scales)
        return [f"Rounding is measured against the scale of the outputs, as stored and not checked: {stated}."]


def agreed(code: int, finding: Finding | None) -> int:
    """The exit code: what the other checkers accept must be certified by the proved one too, where it was asked."""
    return CODES[finding.status] if finding is not None and code == 0 else code


def proved_line(finding: Finding, verdict: Verdict) -> str:
    """What the proved checker found; it reads the claims of the certificate and not what the model states."""
    if finding.status == "certified" and verdict.status != "proved":
        return "The proved checker accepts the certificate, for the claims that the certificate holds."
    if finding.status == "certified":
        return "The proved checker certifies it too."
    return f"The proved checker does not certify it: {finding.reason}."


def stored_scales(model: Path) -> tuple[float, ...]:
    """The scales of the outputs that model.json states; the checker has read them."""
    described: Any = parse_json(read_folder(model)[MODEL], MODEL)
    return tuple(np.atleast_1d(described["net"]["output_scale"]).astype(float).tolist())


def stored_left_out(model: Path) -> dict[str, str]:
    """The columns that the fit did not read, and why, as model.json notes; nothing where it does not say."""
    try:
        described: Any = parse_json(read_folder(model)[MODEL], MODEL)
        return {printable(str(name)): printable(str(why)) for name, why in described["learned"]["left_out"].items()}
    except (SmileError, LookupError, TypeError, AttributeError):
        return {}


def stored_quality(model: Path) -> Standing | None:
    """What model.json says of the quality of these weights; None where it says nothing that can be read."""
    try:
        files = read_folder(model)
        described: Any = parse_json(files[MODEL], MODEL)
        found = Standing.from_json(described["learned"]["quality"])
        own = stored_digest(described["net"]["backbone"], read_weights(files[WEIGHTS])) if found.weights else ""
        return found if found.weights == own else None
    except (SmileError, LookupError, TypeError, ValueError, AttributeError):
        return None
