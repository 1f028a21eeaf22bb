"""``smile predict`` of many tables, or on a cluster: its options, judged by paths and by every table's header."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smilenn.cli import paths
from smilenn.cli.noted import check_header, find_source, read_columns, read_training
from smilenn.cli.source import Source
from smilenn.errors import SmileError


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    model: Path
    data: tuple[Path, ...]
    out: Path
    out_of_bounds: str = "auto"
    ids: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()
    chunk: int = 50_000
    cluster: str | None = None


def checked(request: Request) -> tuple[Source, ...]:
    """The tables, once each is a Parquet file whose header has the columns that the model and the options name."""
    paths.check_model(request.model)
    for path in request.data:
        paths.check_table(path)
    paths.check_new_folder(request.out)
    training, columns = read_training(request.model), read_columns(request.model)
    found = []
    for path in request.data:
        source = find_source(path.absolute(), training, request.na, request.keep_na).keeping(columns)
        if source.form != "parquet":
            raise SmileError(
                f"{source.name} is no Parquet file; several tables, and tables on a cluster, are read by row groups: "
                "save it as Parquet, or predict it alone."
            )
        check_header(source, columns, request.ids)
        found.append(source)
    return tuple(found)
