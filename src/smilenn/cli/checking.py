"""``smile check``: the certificate of a model folder, checked from the files; nothing is searched."""

from __future__ import annotations

import json as json_module
from pathlib import Path

import typer

from smilenn.certify.about import in_short
from smilenn.certify.signing import public_key
from smilenn.certify.stated import unregistered
from smilenn.certify.verdicts import inspect
from smilenn.certify.verified import CODES, Finding
from smilenn.certify.verified import run as run_verified
from smilenn.cli.guard import exit_code
from smilenn.cli.spoken import in_options
from smilenn.errors import SmileError
from smilenn.model.bundle import MODEL
from smilenn.model.folder import parse_json, read_folder, without_infinities
from smilenn.provers.record import verdict_to_json
from smilenn.report.standing import Standing
from smilenn.verdict import Rejected, Verdict


def run(model: Path, *, reference: bool, verified: bool, key: Path | None, quiet: bool, json: bool) -> int:
    """Check, say what was found in the user's columns and units, give the exit code of `fit`.

    Quality and steps of training are those that model.json notes. A folder without that note (a bare network, a clamp,
    version 1) says nothing of training, and the exit code is the verdict's alone; so does one that was rejected.
    """
    found = inspect(model, reference=reference, key=None if key is None else str(key))
    verdict, report = found.verdict, found.report
    finding = run_verified(model) if verified else None
    quality = None if isinstance(verdict, Rejected) else stored_quality(model)
    note = "" if isinstance(verdict, Rejected) else in_options(unregistered(read_folder(model)))
    shortfall = "" if quality is None else quality.shortfall
    but = f", but {shortfall}" if shortfall else ""
    if json:
        measured = None if quality is None else quality.to_json()
        assumed = [item.line for item in found.assumed]
        record = {"model": str(model), **verdict_to_json(verdict)}
        record |= {"quality": measured, "shortfall": shortfall, "assumed": assumed, "unregistered": note}
        record |= {} if finding is None else {"verified": vars(finding)}
        typer.echo(json_module.dumps(without_infinities(record)))
    elif quiet:
        typer.echo(f"{verdict.sentence()}{but}")
        if finding is not None:
            typer.echo(proved_line(finding, verdict))
        if note:
            typer.echo(note)
    else:
        if report is not None:
            if report.status == "certified" and verdict.status != "proved":
                typer.echo("The certificate holds, but it does not cover the properties that the model states:")
            for line in report.lines():
                typer.echo(line)
            if note:
                typer.echo(note)
            if reference:
                typer.echo("The reference checker agrees.")
        if key is not None and report is not None:
            typer.echo(f"Signed by {public_key(str(key))}.")
        if finding is not None:
            typer.echo(proved_line(finding, verdict))
        typer.echo(f"{verdict.sentence()[0].upper()}{verdict.sentence()[1:]}{but}.")
        if found.assumed:
            typer.echo(in_short(found.assumed))
        if quality is not None:
            typer.echo(f"Quality, measured after training and not checked here. {quality.sentence()}")
    return agreed(exit_code(verdict, quality), finding)


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


def stored_quality(model: Path) -> Standing | None:
    """What model.json says of the quality; None where it says nothing that can be read."""
    try:
        return Standing.from_json(parse_json(read_folder(model)[MODEL], MODEL)["learned"]["quality"])
    except (SmileError, LookupError, TypeError, ValueError, AttributeError):
        return None
