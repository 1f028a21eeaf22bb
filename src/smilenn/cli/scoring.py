"""``smile predict`` of many tables, or on a cluster: a folder of Parquet files, one for each part of the tables.

The folder appears when all of its parts are written. Until then they lie in a hidden folder beside it, with the plan
that they belong to: the same command goes on from there after Ctrl-C or when a cluster was lost. After bad input
nothing is left.
"""

from __future__ import annotations

import json as json_module
import os
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer

from smilenn.cli.guard import INTERRUPTED
from smilenn.cli.parts import Job, Part, Scored, Sent, as_planned, found_before, parts_of, score
from smilenn.cli.predicting import Moved
from smilenn.cli.score_request import Request
from smilenn.cli.source import Source
from smilenn.clusters.context import cluster
from smilenn.clusters.pool import Here, Pool
from smilenn.clusters.task import ClusterError
from smilenn.errors import SmileError
from smilenn.progress import PLAIN_EVERY, Progress, display
from smilenn.report.write import replaced

PLAN, SUMMARY = "_plan.json", "_predictions.json"  # readers of Parquet folders leave such names aside


def run(request: Request, tables: tuple[Source, ...], *, quiet: bool, json: bool) -> int:
    """Predict every part that is missing, then put the folder in its place."""
    out = request.out.absolute()
    folder = out.with_name(f".{out.name}.parts")
    model = Sent.read(request.model)
    job = Job(model, tables, folder, request.out_of_bounds, request.ids, request.chunk)
    parts = parts_of(tables)
    if not parts:
        raise SmileError(f"{tables[0].name} has a header but no rows; add at least one.")
    done: dict[Part, Scored] = {}
    try:
        with _pool(request.cluster) as pool, display(_kind(quiet, json)) as show, _prepared(folder, job, parts):
            _score(pool, job, parts, done, show)
            _finish(folder, out, job, parts, done)
    except KeyboardInterrupt:
        typer.echo(f"smile: interrupted; {_kept(done, parts)}", err=True)
        return INTERRUPTED
    except ClusterError as error:
        raise ClusterError(f"{error}{f' {_kept(done, parts)}' if done else ''}") from None
    _say(request, [done[part] for part in parts], quiet=quiet, json=json)
    return 0


def _kind(quiet: bool, json: bool) -> Any:
    return "off" if quiet or json else "auto"


def _kept(done: dict[Part, Scored], parts: list[Part]) -> str:
    return f"{len(done)} of {len(parts)} parts are finished and kept: the same command goes on."


def _pool(address: str | None) -> Any:
    return nullcontext(Here()) if address is None else cluster(address)


@contextmanager
def _prepared(folder: Path, job: Job, parts: list[Part]) -> Iterator[None]:
    """A folder for parts, new or of an earlier run with the same plan; bad input removes it."""
    plan, place = as_planned(job, parts), folder / PLAN
    if not folder.exists():
        folder.mkdir(parents=True)
        with replaced(place) as temporary:
            temporary.write_text(json_module.dumps(plan), encoding="utf-8")
    elif not place.exists() or json_module.loads(place.read_text(encoding="utf-8")) != plan:
        raise SmileError(
            f"{str(folder)!r} holds parts of other predictions; remove it, or choose another name for --out."
        )
    try:
        yield
    except ClusterError:
        raise
    except SmileError:  # a table must be corrected: parts of the old one are of no use
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _score(pool: Pool, job: Job, parts: list[Part], done: dict[Part, Scored], show: Any) -> None:
    """Fill in `done`, part by part."""
    begun, shown = time.perf_counter(), 0.0
    for part in parts:
        if (found := found_before(job, part)) is not None:
            done[part] = found
    left = [part for part in parts if part not in done]
    for index, found in pool.finished(score, left, job):
        if not (job.folder / left[index].name).exists():
            raise SmileError(
                f"A worker wrote {left[index].name!r}, but it is not in {str(job.folder.parent)!r} here; name an --out "
                "on a disk that this machine and the workers share."
            )
        done[left[index]] = found
        spent = time.perf_counter() - begun
        if spent - shown > PLAIN_EVERY:
            shown = spent
            rows = sum(one.rows for one in done.values())
            show(Progress("predict", len(done), len(parts), seconds=spent, message=f"{rows} rows"))


def _finish(folder: Path, out: Path, job: Job, parts: list[Part], done: dict[Part, Scored]) -> None:
    """Write what the parts are, and rename the folder."""
    record = {
        "model": job.model.digest,
        "rows": sum(found.rows for found in done.values()),
        "moved": sum(found.moved for found in done.values()),
        "parts": [
            {"file": part.name, "table": str(job.tables[part.table].path), "first_row": part.start, "rows": part.rows}
            for part in parts
        ],
    }
    with replaced(folder / SUMMARY) as temporary:
        temporary.write_text(json_module.dumps(record, indent=1) + "\n", encoding="utf-8")
    known = {SUMMARY, *(part.name for part in parts)}
    for stray in set(os.listdir(folder)) - known:  # the plan, and what killed workers had begun
        (folder / stray).unlink()
    if out.exists():  # it was absent when the command began
        raise SmileError(f"The output folder {str(out)!r} exists; remove it or choose another name.")
    os.rename(folder, out)


def _moved(found: list[Scored]) -> Moved:
    """Rows of all parts that were moved into the domain; the first of them in the order of the parts."""
    return Moved(sum(one.moved for one in found), next((one.first for one in found if one.first), ""))


def _say(request: Request, found: list[Scored], *, quiet: bool, json: bool) -> None:
    rows, moved = sum(one.rows for one in found), _moved(found)
    if note := found[0].note:  # a model's, so all parts have the same
        warnings.warn(note, stacklevel=1)
    if json:
        record = {"model": str(request.model), "rows": rows, "moved": moved.count, "out": str(request.out)}
        typer.echo(json_module.dumps(record | {"parts": len(found)}, ensure_ascii=False))
    elif not quiet:
        typer.echo(f"{rows} predictions written to {str(request.out)!r}, in {len(found)} parts.")
    if moved.count and not quiet:
        typer.echo(f"smile: warning: {moved.sentence(rows)}", err=True)
