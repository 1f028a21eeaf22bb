"""Reports on disk: a page, a card, each whole or absent."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from smilenn.errors import SmileError
from smilenn.progress import Progress
from smilenn.report.card import card
from smilenn.report.drawn import drawn
from smilenn.report.findings import gather
from smilenn.report.html import page
from smilenn.report.model import Reported


def write_report(
    model: Reported,
    path: Path | str | None,
    X: Any = None,
    y: Any = None,
    *,
    card_path: Path | str | None = None,
    name: str = "model",
    held_out: bool | None = None,
    train: tuple[Any, Any] | None = None,
    seconds: float = 60.0,
    image: tuple[int, int] | None = None,
    folder: Path | str = "",
    callback: Callable[[Progress], None] | None = None,
) -> None:
    """Write one self-contained HTML file that works offline, and a Markdown card where `card_path` names one.

    Parameters
    ----------
    path : the HTML file; None writes the card alone. An existing file is replaced.
    X, y : rows [n, columns] to measure on and their target [n]; without them the report shows the rules, the training
        and slices through the domain.
    held_out : whether training has not seen these rows; None where nobody knows. It is said in the report.
    train : (X, y) to train references on (without rules, unaware, other ε); None trains nothing.
    seconds : for all references together.
    folder : the model's folder, for the commands that the report prints.
    image : (rows, columns) where the inputs are pixels; squares of unnamed columns with equal bounds are recognised.
    """
    for place in (path, card_path):
        if place is not None and Path(place).is_dir():
            raise SmileError(f"{str(place)!r} is a folder; name a file to write.")
    findings = gather(
        model,
        X,
        y,
        name=name,
        held_out=held_out,
        train=train,
        seconds=seconds,
        image=image,
        folder=folder,
        drawn=drawn(folder) if folder else "",
        callback=callback,
    )
    texts = [(path, page(findings)) if path is not None else None]
    texts.append((card_path, card(findings)) if card_path is not None else None)
    for entry in texts:
        if entry is not None:
            place, content = entry
            with replaced(Path(place)) as temporary:
                temporary.write_bytes(content.encode("utf-8", "replace"))


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place at the end; after an error nothing is there."""
    if path.is_dir():
        raise SmileError(f"{str(path)!r} is a folder; name a file to write.")
    path.parent.mkdir(parents=True, exist_ok=True)
    # several machines may write the same file at once, and their processes may have the same number
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
