"""Parts of Parquet files: neighbouring row groups of one file, up to `MOST_ROWS`, scored where they can be read.

    part  ─▶  read a chunk, predict it, append it  ─▶  …  ─▶  rename: a part's file is whole or absent

Which parts there are depends on the files alone, and a row's prediction on that row alone, so the number of workers
changes nothing. A worker holds the model, which it is sent once and checks like any model that is loaded, and one
chunk.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.cli.noted import check_header
from smilenn.cli.parquet import Written, frame_of, noted, parquet_batches, row_groups
from smilenn.cli.predicting import Moved, changes, inside, predictions, refuse_taken
from smilenn.cli.source import FIRST_ROW, Source
from smilenn.cli.table import without_marked
from smilenn.domain import OutOfBounds
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.model.folder import MANIFEST, read_file, read_folder, read_manifest
from smilenn.report.write import replaced

MOST_ROWS = 250_000
FACTS = "smilenn"  # where a part's file notes what was found


@dataclass(frozen=True)
class Part:
    """Rows of a table, from its row `start`, in these row groups; `name` is the file that is written."""

    name: str
    table: int
    groups: tuple[int, ...]
    start: int
    rows: int


@dataclass(frozen=True)
class Sent:
    """A model folder as bytes, known by its digest."""

    digest: str
    files: dict[str, bytes] = field(compare=False, repr=False)

    @classmethod
    def read(cls, folder: Path) -> Sent:
        """The files of a model folder, checked against their hashes."""
        manifest = read_manifest(folder)
        files = read_folder(folder, manifest) | {MANIFEST: read_file(folder / MANIFEST)}
        return cls(manifest["digest"], files)


@dataclass(frozen=True)
class Job:
    """What all parts have in common."""

    model: Sent
    tables: tuple[Source, ...]
    folder: Path
    out_of_bounds: str
    ids: tuple[str, ...]
    chunk: int


@dataclass(frozen=True)
class Scored:
    """What became of a part: its rows, how many of them were moved into the domain, the first of these in words."""

    rows: int
    moved: int = 0
    first: str = ""
    note: str = ""


def parts_of(tables: Sequence[Source]) -> list[Part]:
    """All parts in the order of the tables and of their rows."""
    found: list[Part] = []
    for table, source in enumerate(tables):
        for groups, start, rows in _together(row_groups(source)):
            found.append(Part(f"part-{len(found):05d}.parquet", table, groups, start, rows))
    return found


def _together(sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Neighbouring row groups, their first row and how many rows they have; none without rows."""
    start, groups, rows = 0, list[int](), 0
    for group, size in enumerate(sizes):
        if rows and rows + size > MOST_ROWS:
            yield tuple(groups), start, rows
            start, groups, rows = start + rows, [], 0
        groups.append(group)
        rows += size
    if rows:
        yield tuple(groups), start, rows


@lru_cache(maxsize=1)
def opened(model: Sent) -> SmileRegressor | SmileClassifier:
    """The model as this process finds it: files against hashes, the certificate before the checker."""
    with tempfile.TemporaryDirectory(prefix="smile-") as place:
        folder = Path(place) / "model"
        folder.mkdir()
        for name, data in model.files.items():
            if Path(name).name != name:
                raise AlteredError(f"The model that was sent has a file {name!r}, which is not a plain file name.")
            (folder / name).write_bytes(data)
        if read_manifest(folder)["digest"] != model.digest:
            raise AlteredError("The model that was sent is not the one that was read; send it again.")
        return load(folder)


def score(job: Job, part: Part) -> Scored:
    """Predict the rows of a part and write them."""
    estimator, source = opened(job.model), job.tables[part.table]
    outside: OutOfBounds = estimator.outside_ if job.out_of_bounds == "auto" else job.out_of_bounds  # type: ignore[assignment]
    check_header(source, estimator.domain_.columns, job.ids)
    change = changes(estimator, outside)
    moved, first = Moved(), FIRST_ROW + part.start
    wanted = {*estimator.domain_.columns, *job.ids}
    with replaced(job.folder / part.name) as temporary:
        file = Written(temporary)
        for batch in parquet_batches(source, job.chunk, wanted, part.groups):
            try:
                x = inside(estimator, without_marked(source, frame_of(batch)), first, moved, outside)
            except SmileError as error:
                raise SmileError(f"{source.name}: {error}") from None
            predicted = predictions(estimator, estimator.outputs_at(x), change, outside)
            refuse_taken(predicted, job.ids)
            file.add(predicted, batch.select(list(job.ids)))
            first += len(batch)
        rows = first - FIRST_ROW - part.start
        if rows != part.rows:
            raise SmileError(f"{source.name} was changed while it was read; predict it again.")
        found = Scored(rows, moved.count, f"{source.name}: {moved.first}" if moved.first else "", _note(change))
        file.close({FACTS: json.dumps(asdict(found))})
        _flush(temporary)
    return found


def _note(change: np.ndarray | None) -> str:
    """A warning that belongs beside all predictions."""
    if change is None or np.isfinite(change).all():
        return ""
    return "No label is certified: no bound carries to all inputs."


def _flush(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def found_before(job: Job, part: Part) -> Scored | None:
    """What a part's file says that an earlier run has finished; None where there is none."""
    path = job.folder / part.name
    return Scored(**json.loads(noted(path)[FACTS])) if path.exists() else None


def as_planned(job: Job, parts: Sequence[Part]) -> dict[str, Any]:
    """What must be the same for two runs to belong together, as JSON keeps it."""
    status = [os.stat(source.path) for source in job.tables]
    plan = {
        "model": job.model.digest,
        "tables": [
            {"path": str(source.path), "bytes": found.st_size, "changed": found.st_mtime_ns, "missing": source.missing}
            for source, found in zip(job.tables, status, strict=True)
        ],
        "out_of_bounds": job.out_of_bounds,
        "ids": job.ids,
        "parts": [asdict(part) for part in parts],
    }
    return json.loads(json.dumps(plan))
