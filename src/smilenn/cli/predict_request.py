"""The options of ``smile predict``, judged before anything slow is imported: by paths and by the table's header."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smilenn.cli import paths
from smilenn.cli.noted import check_header, find_source, read_columns, read_training
from smilenn.cli.source import Source


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    model: Path
    data: Path
    out: Path
    out_of_bounds: str = "auto"
    ids: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()
    chunk: int = 50_000


def checked(request: Request) -> Source:
    """The table, once its header has the columns that the model and the options name."""
    paths.check_model(request.model)
    paths.check_table(request.data)
    paths.check_new_file(request.out, "--out", read=(request.data,))
    source = find_source(request.data, read_training(request.model), request.na, request.keep_na)
    columns = read_columns(request.model)
    source = source.keeping(columns)
    check_header(source, columns, request.ids)
    return source
