"""``smile guard``: a given network inside a certified box, as a model folder."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smilenn.cli import paths
from smilenn.cli.audit_request import inputs_of, source_of
from smilenn.cli.fit_request import fair_parts
from smilenn.cli.options import Json, Quiet, several
from smilenn.errors import SmileError

if TYPE_CHECKING:
    from smilenn.guarding.guard import Guard


def guard(
    network: Annotated[Path, typer.Argument(metavar="NETWORK", help="An ONNX file.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The model folder to write; must not exist.")],
    fair: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN:EPS",
            help="Changing this column alone may change the output by at most EPS; repeat for columns that may "
            "change together, with the same EPS.",
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Rows to compare on; without --domain they show the ranges as well."),
    ] = None,
    domain: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with one feature table for every input.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NO,YES",
            help="Names of the two classes; YES where the output is positive. The folder then holds a classifier.",
            show_default="none",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="SEED", min=0, help="Seed of the rows drawn without --data.")] = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Put a given ReLU network into a certified box: fair everywhere, unchanged wherever it is fair already."""
    if data is None and domain is None:
        raise SmileError("Give --data or --domain, so that the inputs and their bounds are known.")
    protected, eps = _rule(fair)
    names = _classes(classes)
    paths.check_new_folder(out)
    if not network.is_file():
        raise SmileError(f"There is no file {str(network)!r}; give the path of an ONNX file.")
    source = None if data is None else source_of(data, tuple(fair))
    inputs, values = inputs_of(source, domain)
    from smilenn.cli.table import read_table
    from smilenn.guarding.guard import guard as run
    from smilenn.properties.library import Fair

    rows = None if source is None else read_table(source)
    rule = Fair(protected, eps)
    made = run(network, rule, inputs, classes=names, values=values, rows=rows, out=out, seed=seed)
    _say(made, out, quiet=quiet, json=json)
    raise typer.Exit(made.verdict.exit_code)


def _say(made: Guard, out: Path, *, quiet: bool, json: bool) -> None:
    if json:
        typer.echo(json_module.dumps(made.to_json()))
        return
    certificate = made.model.certificate_
    accepted = certificate is not None and certificate.accepted
    typer.echo("certified" if accepted else made.verdict.status)
    if quiet:
        return
    from smilenn.certify.statement import claim_lines

    for claim in made.model.claims_:
        for line in claim_lines(claim, made.model.outputs_, made.model.domain_):
            typer.echo(line)
    typer.echo(made.agreement.sentence())
    typer.echo(f"The model is in {str(out)!r}; `smile check {out}` checks it, `smile predict {out}` uses it.")


def _rule(fair: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The protected columns, and the one ε."""
    parts = [fair_parts(text) for text in several(fair)]
    if len({eps for _, eps in parts}) > 1:
        raise SmileError("--fair: a guard has one ε for all protected columns together; give each the same.")
    return tuple(name for name, _ in parts), parts[0][1]


def _classes(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise SmileError(f"--classes {text} does not name two classes; write, for example, --classes no,yes.")
    return names
