"""``smile audit``: certified brackets for a given network; ``smile check`` of an audit's folder."""

from __future__ import annotations

import json as json_module
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smilenn.cli import paths
from smilenn.cli.fit_request import check_there, fair_parts
from smilenn.cli.options import Decreasing, Increasing, Json, Quiet, Spec, several
from smilenn.cli.source import Source
from smilenn.errors import AlteredError, SmileError, listed

if TYPE_CHECKING:
    from smilenn.certify.check_deep import Report, ShareReport
    from smilenn.domain import Domain

AUDIT, LABELS, MANIFEST = "audit.json", "share.json", "manifest.json"


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
    seed: Annotated[int, typer.Option(metavar="SEED", min=0, help="Seed of the search for pairs.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Measure how far a given ReLU network breaks a rule: the worst pair of inputs found, and a certified bound."""
    if (data is None) == (domain is None):
        raise SmileError("Give either --data or --domain, so that the inputs and their bounds are known.")
    if not 0 <= time_limit < math.inf:
        raise SmileError(f"--time-limit {time_limit} is not a number of seconds; write one such as 60.")
    if out is not None:
        paths.check_new_folder(out)
    if not network.is_file():
        raise SmileError(f"There is no file {str(network)!r}; give the path of an ONNX file.")
    for file in several(spec):
        paths.check_rules(file)
    _check_rules(several(fair), several(increasing), several(decreasing), several(spec))
    rules = [*several(fair), *several(increasing), *several(decreasing), *several(spec)]
    if labels and (len(rules) != 1 or not fair or ":" in fair[0] or decide):
        raise SmileError("--labels audits one column: give one --fair COLUMN without EPS, and no other rule.")
    source = None if data is None else source_of(data, several(fair), several(increasing), several(decreasing))
    inputs, values = inputs_of(source, domain)
    limits: dict[str, Any] = {"values": values, "time_limit": time_limit, "out": out, "seed": seed}
    if labels:
        from smilenn.auditing.labels import audit_labels

        found = audit_labels(network, several(fair)[0], inputs, **limits)
    else:
        from smilenn.auditing.audit import audit as run

        claims = _claims(several(fair), several(increasing), several(decreasing), several(spec))
        found = run(network, claims, inputs, decide=decide, **limits)
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


def _check_rules(
    fair: Sequence[str], increasing: Sequence[str], decreasing: Sequence[str], spec: Sequence[Path]
) -> None:
    """At least one rule is claimed, and each has its number."""
    if not (fair or increasing or decreasing or spec):
        raise SmileError("Nothing is claimed; give --fair, --increasing, --decreasing or --spec.")
    both = [name for name in increasing if name in decreasing]
    if both:
        raise SmileError(f"{listed(both)} is both increasing and decreasing; keep one of the two.")
    for text in fair:
        if ":" in text:
            fair_parts(text)


def source_of(data: Path, fair: Sequence[str], increasing: Sequence[str], decreasing: Sequence[str]) -> Source:
    """The table, whose header has the columns that the options name."""
    paths.check_table(data)
    source = Source.find(data)
    protected = [fair_parts(text)[0] if ":" in text else text for text in fair]
    for option, names in (("--fair", protected), ("--increasing", increasing), ("--decreasing", decreasing)):
        check_there(option, tuple(names), source, source.header)
    return source


def inputs_of(source: Source | None, file: Path | None) -> tuple[Domain, dict[str, list[Any]]]:
    """The domain of a file, with the values it gives, or that of a table."""
    if file is not None:
        from smilenn.auditing.domain_file import read_domain

        return read_domain(file)
    assert source is not None
    from smilenn.cli.table import read_table
    from smilenn.domain import Domain

    return Domain.from_data(read_table(source), margin=0.0, scaling="none"), {}


def _claims(
    fair: Sequence[str], increasing: tuple[str, ...], decreasing: tuple[str, ...], spec: Sequence[Path]
) -> list[Any]:
    from smilenn.auditing.lowering import Bracket
    from smilenn.properties.library import Fair, Monotone
    from smilenn.properties.spec import load_properties

    claims: list[Any] = []
    for text in fair:
        name, eps = fair_parts(text) if ":" in text else (text, None)
        claims.append(Bracket(Fair((text,), 0)) if eps is None else Fair((name,), eps))
    if increasing or decreasing:
        claims.append(Monotone(increasing=increasing, decreasing=decreasing))
    for path in spec:
        claims += load_properties(path)
    return claims


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
    if json:
        typer.echo(json_module.dumps(report.to_json()))
    else:
        for line in report.lines()[: 1 if quiet else None]:
            typer.echo(line)
        if reference and not quiet:
            typer.echo("The reference checker agrees.")
    return report.exit_code


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
