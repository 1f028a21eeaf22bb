"""``smile prove``: search and prove again, from the files."""

from __future__ import annotations

import json as json_module
from dataclasses import replace
from pathlib import Path

import typer

from smilenn.certify.certify import certify
from smilenn.cli.words import verdict_text
from smilenn.estimators.store import load, replace_verdict
from smilenn.model.folder import without_infinities
from smilenn.prove.model import prove
from smilenn.prove.record import verdict_to_json
from smilenn.prove.verdict import Proved


def run(model: Path, *, prover: str, time_limit: float, quiet: bool, json: bool) -> int:
    """Prove the claims in the folder, write the new verdict there, give the verdict's exit code."""
    estimator = load(model)
    if not quiet and not json:
        typer.echo("Properties to hold for every input of the domain:")
        for claim in estimator.claims_:
            typer.echo(f"  - {claim.sentence or claim.formula()}")
    verdict = prove(estimator, prover=prover, time_limit=time_limit)
    certificate = None
    if isinstance(verdict, Proved):
        certificate = certify(estimator.net_, estimator.claims_, time_limit=time_limit)
        if certificate.report.status == "certified":
            verdict = replace(verdict, tolerance=certificate.raised, certificate=certificate.report.certificate)
    accepted = certificate.files if isinstance(verdict, Proved) and verdict.certificate and certificate else {}
    replace_verdict(model, verdict, estimator, certificate=accepted)
    if json:
        record = {"model": str(model), **verdict_to_json(verdict)}
        typer.echo(json_module.dumps(without_infinities(record), ensure_ascii=False))
    else:
        typer.echo(verdict_text(verdict, estimator.domain_, estimator.net_.outputs, estimator.task == "binary"))
        if certificate is not None and not accepted:
            typer.echo(f"No certificate: {'; '.join(certificate.notes) or 'its proof leaves a violation open'}.")
        elif certificate is not None:
            typer.echo(f"Certificate written; check it with: smile check {model}")
    return verdict.exit_code
