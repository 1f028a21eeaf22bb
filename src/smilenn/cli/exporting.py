"""``smile export``: a model as a file for other runtimes."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from smilenn.cli import paths
from smilenn.cli.options import Json, Model, Quiet


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(metavar="FILE", help="The ONNX file to write.", show_default=False)],
    rows: Annotated[int, typer.Option(metavar="COUNT", min=1, help="How many rows to compare on.")] = 100_000,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the whole model as one ONNX file, columns in and predictions out, once onnxruntime agrees with it."""
    paths.check_model(model)
    paths.check_new_file(onnx, "--onnx")
    from smilenn.estimators.store import load
    from smilenn.export.onnx_file import export_onnx

    found = export_onnx(load(model), onnx, rows=rows)
    if json:
        record = {"onnx": str(onnx), "promise": found.promise, "agreement": found.agreement.sentence()}
        typer.echo(json_module.dumps(record, ensure_ascii=False))
    elif not quiet:
        typer.echo(f"Written to {str(onnx)!r}. Promise: {found.promise}. Agreement, {found.agreement.sentence()}.")
