"""``smile pack``: a validation pack of a model; ``smile check`` of such a pack."""

from __future__ import annotations

import hashlib
import json as json_module
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from smilenn.cli import options, paths
from smilenn.cli.options import NA, Json, KeepNA, Model, Quiet
from smilenn.errors import SmileError


def pack(
    model: Model,
    data: Annotated[
        Path,
        typer.Option(
            metavar="TABLE",
            help="Rows with their target to measure on; if `smile fit` used the file, only its held-out rows.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write.", show_default=False)
    ],
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A private key to sign the pack with.", show_default="unsigned")
    ] = None,
    name: options.Title = None,
    references: options.References = False,
    seconds: options.ReferenceSeconds = 60.0,
    check_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=1.0, help="Time limit for each checker.")
    ] = 600.0,
    na: NA = None,
    keep_na: KeepNA = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a validation pack: statement, checks, data, quality by group, sensitivity, limits, monitoring plan."""
    from smilenn.cli.report_request import Request

    paths.check_model(model)
    _check_data(data)
    _check_out(out, model)
    _check_key(key)
    request = Request(
        model, data, references=references, na=options.several(na), keep_na=options.several(keep_na), name=name
    )
    from smilenn.cli.expecting import Expected
    from smilenn.cli.report_table import report_table

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*measures no quality")  # said below, as an error
        table = report_table(request)
    assert table is not None
    if not table.targets:
        wanted = Expected.read(model).targets[0]
        raise SmileError(f"{data.name} has no target column {wanted!r}; a pack measures quality, so it needs one.")
    from smilenn.cli.reporting import rows_of
    from smilenn.estimators.store import load
    from smilenn.pack.gather import Data, gathered
    from smilenn.pack.manifest import write_pack
    from smilenn.progress import Progress, display

    estimator = load(model)
    rows = rows_of(table, estimator)
    assert rows.X is not None and rows.y is not None  # there is a table, with targets
    with open(data, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    found = Data(
        data.name,
        sha256,
        rows.X,
        rows.y,
        rows.held_out,
        rows.train if references else None,
    )
    with display("off" if quiet or json else "auto") as show:
        files = gathered(
            model,
            estimator,
            found,
            name=name or model.absolute().name,
            seconds=seconds,
            limit=check_limit,
            tell=lambda words: show(Progress("pack", 0, 0, message=words)),
        )
    digest = write_pack(out, files, key)
    _say({"pack": str(out), "files": len(files) + 1, "digest": digest, "signed": key is not None}, quiet, json)


def _say(record: dict[str, Any], quiet: bool, json: bool) -> None:
    if json:
        typer.echo(json_module.dumps(record, ensure_ascii=False))
    elif not quiet:
        typer.echo(
            f"Written to {record['pack']!r}: {record['files']} files; open index.html. Digest {record['digest']}."
        )


def _check_out(out: Path, model: Path) -> None:
    """The folder to write is new or a pack, and does not lie in the model folder."""
    from smilenn.pack.manifest import refuse_other

    paths.check_folder(out, "--out")
    refuse_other(out)
    if out.absolute().is_relative_to(model.absolute()):
        raise SmileError(f"--out {str(out)!r} lies in the model folder; choose another place.")


def _check_key(key: Path | None) -> None:
    if key is not None:
        from smilenn.certify.signing import signature

        signature(b"", key)  # a key that cannot sign is said before anything long


def _check_data(data: Path) -> None:
    if str(data) == "-":
        raise SmileError("A pack names the file that it measures on; give --data a file instead of the standard input.")
    paths.check_table(data)


def is_pack(folder: Path) -> bool:
    """Whether a folder to check is a validation pack."""
    from smilenn.pack.manifest import is_pack

    return is_pack(folder)


def check(folder: Path, key: Path | None, *, silent: bool) -> dict[str, bytes]:
    """Compare every hash of a pack, and with a key its signature; returns its files, the model folder among them."""
    from smilenn.pack.manifest import read_pack
    from smilenn.pack.words import unchecked

    files = read_pack(folder, None if key is None else str(key))
    signed = "" if key is None else " and are signed by this key"
    if not silent:
        typer.echo(f"The pack is whole: {len(files)} files fit their hashes{signed}. {unchecked(files)}")
    return files
