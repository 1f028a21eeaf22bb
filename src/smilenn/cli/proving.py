"""``smile prove``: search and prove again, from the files, and write a new certificate."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from time import perf_counter

import typer

from smilenn.certify.statement import claim_lines
from smilenn.cli.guard import exit_code
from smilenn.cli.words import judgement_record, judgement_text
from smilenn.estimators.store import load, replace_verdict
from smilenn.progress import display
from smilenn.verdict import Unknown

LEAST_SECONDS = 0.01  # of a time limit that loading has used up: the certificate's second is left


def run(model: Path, *, prover: str, time_limit: float, begun: float, again: bool, quiet: bool, json: bool) -> int:
    """Prove the claims in the folder, write verdict and certificate there, give the exit code of `fit`.

    The time limit counts from `begun`, by `perf_counter`: loading the model is part of it. 0 asks for no certificate.
    A certificate that is there already was checked by loading; it is not proved a second time unless `again` is asked
    for or a prover named, and it stays where that shows nothing.
    """
    estimator = load(model)
    there = estimator.certificate_ is not None and estimator.certificate_.accepted
    say = typer.echo if not (quiet or json) else (lambda text: None)
    if there and not again and prover == "auto":
        say("The checker accepts the certificate in the folder; use --again to search and prove again.")
    else:
        say("Rules, for every input in the domain:")
        for claim in estimator.claims_:
            say("  - " + "\n    ".join(claim_lines(claim, estimator.outputs_, estimator.domain_)))
        left = max(LEAST_SECONDS, time_limit - (perf_counter() - begun)) if time_limit > 0 else 0.0
        with display("off" if quiet or json else "auto") as show:
            estimator.certify(prover=prover, time_limit=left, callback=show)
        if there and isinstance(estimator.verdict_, Unknown):
            say("Nothing new was shown in time; the folder keeps the certificate that the checker accepts.")
            estimator = load(model)
        else:
            replace_verdict(model, estimator)
    if json:
        typer.echo(json_module.dumps({"model": str(model), **judgement_record(estimator)}, ensure_ascii=False))
    else:
        typer.echo(judgement_text(estimator))
        if estimator.certificate_ is not None:
            say(f"To check it: smile check {model}")
    return exit_code(estimator.verdict_, estimator.quality_)
