"""``smile audit``: certified brackets for a given network; ``smile check`` of an audit's folder."""

from __future__ import annotations

import json as json_module
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smilenn.cli import paths
from smilenn.cli.audit_request import AuditRequest
from smilenn.cli.guard import UNTRAINED
from smilenn.cli.options import Decreasing, Increasing, Json, Quiet, Spec, several
from smilenn.errors import AlteredError, SmileError

if TYPE_CHECKING:
    from smilenn.certify.check_deep import Report, ShareReport
    from smilenn.report.standing import Standing

AUDIT, LABELS, MANIFEST = "audit.json", "share.json", "manifest.json"
DEEP = "deep.json"  # beside an audit: its network is the ends of a deep model's box


def audit(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="An ONNX file.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Rows that show the ranges; columns in the order of the network's inputs."),
    ] = None,
    domain: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with one feature table for every input.")
    ] = None,
    fair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[:EPS]",
            help="Measure how far this column alone changes the output; with EPS, claim at most EPS; repeat.",
        ),
    ] = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    spec: Spec = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for the search over all rows.")
    ] = 60.0,
    decide: Annotated[
        bool,
        typer.Option(
            "--decide", help="Stop as soon as it is clear whether EPS holds; do not narrow the bounds further."
        ),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(metavar="NETWORK", help="Another version of the network, to hold this one against; with --equal."),
    ] = None,
    equal: Annotated[
        str | None, typer.Option(metavar="EPS", help="How far the outputs of both may lie apart at equal inputs.")
    ] = None,
    vnnlib: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A VNN-LIB 2.0 query about the network, or two copies of it, to decide."),
    ] = None,
    to_vnnlib: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rules as a VNN-LIB 2.0 query for other verifiers, and stop."),
    ] = None,
    labels: Annotated[
        bool,
        typer.Option(
            "--labels",
            help="Audit the decision, output > 0 or not: a pair whose label the --fair column changes, and the "
            "certified share of the domain where it changes none.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The folder to write the certificate to; must not exist.", show_default="none"
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="An HTML page to write: brackets over time, the worst pairs, where labels change."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="SEED", min=0, help="Seed of the search for pairs.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure how far a given ReLU network breaks a rule: the worst pair of inputs found, and a certified bound."""
    request = AuditRequest(
        network,
        data,
        domain,
        several(fair),
        several(increasing),
        several(decreasing),
        several(spec),
        against,
        equal,
        vnnlib,
        to_vnnlib,
        labels,
        time_limit,
        decide,
        out,
        seed,
    )
    request.check()
    if report is not None:
        paths.check_new_file(report, "--report", read=(network, data, domain, against, vnnlib))
    if to_vnnlib is not None:
        request.write_query()
        typer.echo(f"The query is in {str(to_vnnlib)!r}; unsat says that the rules hold.")
        return
    found = request.run()
    if report is not None:
        from smilenn.report.audit_page import write_audit_page

        write_audit_page(found, report, network.name)
    if json:
        typer.echo(json_module.dumps(found.to_json()))
    elif quiet:
        typer.echo(found.status)
    else:
        for line in found.lines():
            typer.echo(line)
        if out is not None:
            typer.echo(f"The certificate is in {str(out)!r}; `smile check {out}` checks it.")
    raise typer.Exit(found.exit_code)


def is_audit(folder: Path) -> bool:
    """Whether a folder to check is an audit's, of outputs or of labels; one that holds something else as well is none.

    Otherwise three files put beside a model would be checked in its place, and the model would pass for certified.
    """
    there = [name for name in (AUDIT, LABELS, MANIFEST) if os.path.lexists(folder / name)]
    if len(there) > 1:
        kinds = {AUDIT: "an audit", LABELS: "an audit of labels", MANIFEST: "a model"}
        found = " and ".join(kinds[name] for name in reversed(there))
        raise AlteredError(f"{str(folder)!r} holds {found}, so it is unclear which to check; part them.")
    return bool(there) and there != [MANIFEST]


def check(folder: Path, *, reference: bool, quiet: bool, json: bool) -> int:
    """Check an audit's folder, say what was found, give the exit code."""
    from smilenn.auditing.checked import check_audit, check_labels

    report = (check_labels if os.path.lexists(folder / LABELS) else check_audit)(folder)
    if reference:
        _compare(report, folder)
    deep = report.status == "certified" and os.path.lexists(folder / DEEP)
    quality = _quality_of_deep(folder, report.certificate) if deep else None
    if json:
        noted = {"quality": None if quality is None else quality.to_json()} if deep else {}
        typer.echo(json_module.dumps(report.to_json() | noted))
    else:
        for line in report.lines()[: 1 if quiet else None]:
            typer.echo(line)
        for line in _of_deep(quality) if deep and not quiet else ():
            typer.echo(line)
        if reference and not quiet:
            typer.echo("The reference checker agrees.")
    return UNTRAINED if quality is not None and quality.steps == 0 else report.exit_code


def _of_deep(quality: Standing | None) -> list[str]:
    """What is said of a deep model below the check of its ends."""
    lines = [f"The network is the ends of the model in {DEEP}, which this certificate was saved with."]
    if quality is not None and quality.shortfall:
        lines.append(f"But {quality.shortfall}.")
    if quality is not None:
        lines.append(f"Quality, measured after training and not checked here. {quality.sentence()}")
    return lines


def _quality_of_deep(folder: Path, certificate: str) -> Standing | None:
    """The quality that a deep model notes of its weights; None without one.

    Raises where the checked certificate is not about the rules, inputs and ends of the deep model beside it.
    """
    from smilenn.certify.check_deep import sha256
    from smilenn.deep.model import load_deep
    from smilenn.model.folder import read_file

    model = load_deep(folder)  # a certificate may name the model and leave some of its rules out
    if sha256(read_file(folder / AUDIT)) != certificate:
        raise AlteredError(f"{str(folder)!r} was changed while it was read; check it again.")
    return model.quality


def _compare(report: Report | ShareReport, folder: Path) -> None:
    """Raise unless the reference checker finds the same brackets, or the same share."""
    from smilenn.certify.check_deep import Report
    from smilenn.certify.reference import deep, share

    if isinstance(report, Report):
        other = deep.check_folder(folder)
        same = [(r.found, r.real, r.computed) for r in other.rows] == [
            (row.found, row.real, row.computed) for row in report.rows
        ]
    else:
        other = share.check_share(folder)
        same = (other.points, other.settled, other.leaves) == (report.points, report.settled, report.leaves)
    if other.status != report.status or not same:
        raise SmileError("The two checkers disagree, which they must not; please report it with the folder.")
