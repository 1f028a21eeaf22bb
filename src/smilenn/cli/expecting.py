"""A table's rows against what model.json says of them, before torch is imported: an error in a cell needs no model.

    model.json ─▶ columns, domain, what fills missing cells ─▶ every cell of the first rows ─▶ an error, or nothing

The model, once it is loaded, reads the rows by itself: nothing that is predicted or measured depends on this reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.cli.noted import read_model
from smilenn.cli.rows import category_names, plain_numbers
from smilenn.cli.source import Source
from smilenn.cli.table import read_chunks, refused
from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.estimators.checks import check_inputs
from smilenn.estimators.missing import Fill, filled

MOST_ROWS = 200_000  # reading more takes longer than loading a model, so that it need not be done twice


@dataclass(frozen=True, eq=False)
class Expected:
    """What a model's folder says of the tables that the model reads.

    columns, fill, outside : as in model.json (estimators/tabled.py).
    missing : the estimator's parameter; ``raise`` refuses missing cells.
    targets : the columns that hold the target; several for several outputs.
    classes : what one target's classes are called; none of numbers and labels.
    """

    domain_: Domain
    columns: tuple[str, ...]
    fill: Fill
    outside: str
    missing: str
    targets: tuple[str, ...]
    classes: tuple[Any, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Expected:
        """From the folder of a model; one that cannot be read gets the sentence that loading it raises."""
        try:
            model = read_model(folder)
            table, net = model["table"], model["net"]
            return cls(
                Domain.from_json(net["domain"]),
                tuple(map(str, table["columns"])),
                dict(table.get("fill", {})),
                str(table["outside"]),
                str(model["params"].get("missing", "raise")),
                _targets(str(model.get("task") or table.get("task", "")), net["outputs"], str(table["target"])),
                tuple(table.get("classes", ())),
            )
        except (SmileError, LookupError, TypeError, ValueError, AttributeError):
            from smilenn.estimators.store import load

            load(folder)
            raise SmileError(f"{str(folder)!r} does not say what a table needs; save it again.") from None

    def class_names(self, targets: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """The target with its classes, where these are names: its cells are names too, whatever they look like."""
        named = len(targets) == 1 and any(isinstance(name, str) for name in self.classes)
        return {targets[0]: tuple(map(str, self.classes))} if named else {}

    def read_rows(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The rows of a table as the estimator's `read_rows` has them, raw units [n, m]."""
        frame = filled(check_inputs(X, "the model", self.columns, first_row=first_row), self.fill)
        return self.domain_.read(frame, first_row=first_row)


def _targets(task: str, outputs: list[str], target: str) -> tuple[str, ...]:
    several = task in ("regression", "multilabel") and len(outputs) > 1
    return tuple(map(str, outputs)) if several else (target,)


def check_cells(folder: Path, source: Source, *, ids: tuple[str, ...], chunk: int, out_of_bounds: str) -> None:
    """Raise what `smile predict` would raise of the first rows, with the same words."""
    expected = Expected.read(folder)
    way = expected.outside if out_of_bounds == "auto" else out_of_bounds
    names = category_names(expected.domain_) | {name: source.missing for name in ids}
    wanted, numbers = {*expected.domain_.columns, *ids}, plain_numbers(expected.domain_)
    for first, frame in read_chunks(source, chunk, names, only=wanted, numbers=numbers):
        try:
            x = expected.read_rows(frame, first_row=first)
            if way == "raise":
                expected.domain_.clamp(x, out_of_bounds="raise", first_row=first)
        except SmileError as error:
            raise refused(source, error) from None
        if first + len(frame) > MOST_ROWS:
            return
