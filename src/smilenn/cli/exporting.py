"""``smile export``: a model as a file for other runtimes, its rules as a query for other verifiers."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smilenn.cli import paths
from smilenn.cli.options import Json, Model, Quiet
from smilenn.errors import SmileError

if TYPE_CHECKING:
    from smilenn.export.onnx_file import Estimator


def export(
    model: Model,
    onnx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ONNX file to write.", show_default="none")
    ] = None,
    vnnlib: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The VNN-LIB query to write: satisfiable if a rule is broken; its network goes beside it, as .onnx.",
            show_default="none",
        ),
    ] = None,
    rule: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=1, help="Query this rule alone.", show_default="all")
    ] = None,
    rows: Annotated[int, typer.Option(metavar="COUNT", min=1, help="Rows to compare the ONNX file on.")] = 100_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a whole model as ONNX and compare the two, or write its rules as VNN-LIB for other verifiers."""
    _check(model, onnx, vnnlib, rule)
    _refuse_existing([] if overwrite else [onnx, vnnlib, None if vnnlib is None else vnnlib.with_suffix(".onnx")])
    from smilenn.estimators.store import load

    estimator = load(model)
    record: dict[str, str] = {}
    said = []
    if vnnlib is not None:
        record |= _query(estimator, vnnlib, rule)
        said.append(f"Query in {record['vnnlib']!r}, its network in {record['network']!r}.")
    if onnx is not None:
        record |= _whole(estimator, onnx, rows)
        said.append(
            f"Written to {record['onnx']!r}. Promise: {record['promise']}. Margin of rounding: {record['margin']}. "
            f"Agreement, {record['agreement']}."
        )
    if json:
        typer.echo(json_module.dumps(record, ensure_ascii=False))
    elif not quiet:
        typer.echo("\n".join(said))


def _check(model: Path, onnx: Path | None, vnnlib: Path | None, rule: int | None) -> None:
    """Something is to be written, and it can be."""
    if onnx is None and vnnlib is None:
        raise SmileError("No file to write was named; add --onnx model.onnx, --vnnlib rules.vnnlib, or both.")
    if rule is not None and vnnlib is None:
        raise SmileError("--rule chooses what --vnnlib writes; add --vnnlib FILE.")
    paths.check_model(model)
    if onnx is not None:
        paths.check_new_file(onnx, "--onnx")
    if vnnlib is None:
        return
    paths.check_new_file(vnnlib, "--vnnlib")
    beside = vnnlib.with_suffix(".onnx")
    paths.check_new_file(beside, "--vnnlib")
    if beside == vnnlib or (onnx is not None and beside.absolute() == onnx.absolute()):
        raise SmileError(f"--vnnlib writes its network to {str(beside)!r}; choose another name for one of the files.")


def _refuse_existing(files: Sequence[Path | None]) -> None:
    for path in files:
        if path is not None and path.exists():
            raise SmileError(f"{str(path)!r} exists; choose another name, or add --overwrite.")


def _whole(estimator: Estimator, onnx: Path, rows: int) -> dict[str, str]:
    from smilenn.export.onnx_file import export_onnx

    found = export_onnx(estimator, onnx, rows=rows)
    return {
        "onnx": str(onnx),
        "promise": found.promise,
        "margin": found.margin,
        "agreement": found.agreement.sentence(),
    }


def _query(estimator: Estimator, vnnlib: Path, rule: int | None) -> dict[str, str]:
    from smilenn.export.vnnlib_file import export_vnnlib

    found = export_vnnlib(estimator, vnnlib, rule=rule)
    return {"vnnlib": str(found.path), "network": str(found.network)}
