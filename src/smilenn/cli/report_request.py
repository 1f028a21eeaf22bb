"""The options of ``smile report``, judged before anything slow is imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smilenn.cli import paths
from smilenn.errors import SmileError


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    model: Path
    data: Path | None = None
    out: Path | None = None
    card: Path | None = None
    name: str | None = None
    references: bool = False
    seconds: float = 60.0
    image: str | None = None
    na: tuple[str, ...] = ()
    keep_na: tuple[str, ...] = ()


def check(request: Request) -> None:
    """Something is to be written, it can be, and what is read is there, with the columns of the model."""
    if request.out is None and request.card is None:
        raise SmileError("No file to write was named; add --out report.html, --card card.md, or both.")
    if request.references and request.data is None:
        raise SmileError("--references needs the file that the model was fitted on; add --data FILE.csv.")
    read_image(request.image)
    paths.check_model(request.model)
    for option, place in (("--out", request.out), ("--card", request.card)):
        if place is not None:
            paths.check_new_file(place, option, read=(request.data,))
    if request.data is not None:
        paths.check_table(request.data)


def read_image(text: str | None) -> tuple[int, int] | None:
    """``28x28`` as (28, 28)."""
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) > 0 and int(columns) > 0):
        raise SmileError(f"--image {text} is not ROWSxCOLUMNS; write, for example, --image 28x28.")
    return int(rows), int(columns)
