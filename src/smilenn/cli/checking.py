"""``smile check``: the certificate of a model folder, checked from the files; nothing is searched."""

from __future__ import annotations

import json as json_module
from pathlib import Path

import typer

from smilenn.certify.signing import public_key
from smilenn.certify.verdicts import inspect
from smilenn.errors import SmileError
from smilenn.model.bundle import MODEL
from smilenn.model.folder import parse_json, without_infinities
from smilenn.prove.record import verdict_to_json
from smilenn.report.standing import Standing


def run(model: Path, *, reference: bool, key: Path | None, quiet: bool, json: bool) -> int:
    """Check, say what was found in the user's columns and units, give the verdict's exit code."""
    verdict, report = inspect(model, reference=reference, key=None if key is None else str(key))
    quality = stored_quality(model)
    but = f", but {quality.shortfall}" if quality is not None and quality.shortfall else ""
    if json:
        measured = None if quality is None else quality.to_json()
        record = {"model": str(model), **verdict_to_json(verdict), "quality": measured}
        typer.echo(json_module.dumps(without_infinities(record)))
    elif quiet:
        typer.echo(f"{verdict.sentence()}{but}")
    else:
        if report is not None:
            if report.status == "certified" and verdict.status != "proved":
                typer.echo("The certificate holds, but it does not cover the properties that the model states:")
            for line in report.lines():
                typer.echo(line)
            if reference:
                typer.echo("The reference checker finds the same.")
        if key is not None and report is not None:
            typer.echo(f"Signed by {public_key(str(key))}.")
        typer.echo(f"{verdict.sentence()[0].upper()}{verdict.sentence()[1:]}{but}.")
        if quality is not None:
            typer.echo(f"As measured after training, not checked here. {quality.sentence()}")
    return verdict.exit_code


def stored_quality(model: Path) -> Standing | None:
    """What model.json says of the quality; None where it says nothing that can be read."""
    try:
        return Standing.from_json(parse_json((model / MODEL).read_bytes(), MODEL)["learned"]["quality"])
    except (SmileError, OSError, LookupError, TypeError, ValueError, AttributeError):
        return None
