"""A table is a list of independent cells: run them in parallel, write each finished one as a JSON line, never twice.

A cell is identified by its parameters; computing it gives one or more rows. A results file that was cut off keeps its
finished cells: a half-written last line is dropped, a line that is not a finished cell is ignored, and running the same
command again computes only what is missing. A cell that fails with a `SmileError` does not stop the others.

Cells run side by side, one thread each, on this machine or on a Dask cluster (`smilenn.clusters`). Results are written
by the process that asked for them, so workers need not share its disk.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from smilenn._version import __version__
from smilenn.clusters.context import cluster as open_cluster
from smilenn.clusters.pool import Here, Pool, Processes
from smilenn.clusters.task import ClusterError
from smilenn.errors import SmileError
from smilenn.progress import Progress

logger = logging.getLogger(__name__)

Cell = Mapping[str, Any]
Row = dict[str, Any]


def run_cells(
    compute: Callable[..., list[Row]],
    cells: Sequence[Cell],
    out: Path | None = None,
    jobs: int = 2,
    *,
    cluster: str | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> list[Row]:
    """Rows of all cells, in the cells' order: those found in `out` and those computed now, `jobs` at a time.

    `cluster` is the address of a dask scheduler, or "local" for a cluster of `jobs` workers on this machine; `callback`
    is told of every finished cell.
    """
    begun = time.perf_counter()
    done = read_cells(out) if out is not None else {}
    missing = {key_of(cell): cell for cell in cells if key_of(cell) not in done}
    steps, failures = len({key_of(cell) for cell in cells}), list[Row]()
    logger.info("%d cells, %d to do", steps, len(missing))
    if out is not None and missing:
        out.parent.mkdir(parents=True, exist_ok=True)
        _mend(out)
    left = list(missing.values())
    with _kept(out), _pool(cluster, jobs) as pool:
        # as they finish: a finished cell is written at once, not when all before it are finished too
        for finished, (_, record) in enumerate(pool.finished(_one, left, compute), steps - len(missing) + 1):
            message = _told(record, failures)
            if "error" in record:
                failures.append(record)
            else:
                done[key_of(record["cell"])] = record
                append(out, record)
            if callback is not None:
                callback(Progress("cells", finished, steps, seconds=time.perf_counter() - begun, message=message))
    if failures:
        raise _failed(failures, steps, out)
    return [row for cell in cells for row in done[key_of(cell)]["rows"]]


def _told(record: Row, failures: Sequence[Row]) -> str:
    """A finished cell in a line; an error that was told before is not repeated."""
    message = " ".join(str(value) for value in record["cell"].values() if not isinstance(value, bool))
    if "error" not in record:
        return message
    known = any(other["error"] == record["error"] for other in failures)
    return f"{message}: failed as before" if known else f"{message}: {record['error']}"


def append(out: Path | None, record: Row) -> None:
    """Write a finished cell as a line."""
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def _failed(failures: Sequence[Row], steps: int, out: Path | None) -> SmileError:
    first, some = failures[0], out is not None and len(failures) < steps
    kept = f" The finished ones are kept in {str(out)!r}; the same command goes on from there." if some else ""
    what = f"the first, {_words(first['cell'])}, with: {first['error']}{kept}"
    return SmileError(f"{len(failures)} of {steps} cells failed; {what}")


def machine() -> Row:
    """What a cell was measured on; every record says it, for the foot of the tables."""
    import numpy
    import sklearn
    import torch

    return {
        "cores": os.cpu_count(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "smilenn": __version__,
    }


def machines(out: Path, cells: Sequence[Cell]) -> list[tuple[Row | None, int]]:
    """The machines that the records of these cells name, each with its number of cells, the most frequent first."""
    done = read_cells(out)
    found: dict[str, tuple[Row | None, int]] = {}
    for key in dict.fromkeys(key_of(cell) for cell in cells):
        if key in done:
            said = done[key]["machine"]
            name = json.dumps(said, sort_keys=True)
            found[name] = (said, found.get(name, (said, 0))[1] + 1)
    return sorted(found.values(), key=lambda pair: -pair[1])


def read_cells(out: Path) -> dict[str, Row]:
    """Finished cells of a results file by their key; anything else in it is left aside."""
    records: dict[str, Row] = {}
    if not out.exists():
        return records
    for number, line in enumerate(out.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        try:
            record = json.loads(line)
            found = {"cell": record["cell"], "rows": list(record["rows"]), "machine": record.get("machine")}
            records[key_of(record["cell"])] = found
        except (ValueError, TypeError, KeyError):
            logger.warning("line %d of %s is not a finished cell and is left aside", number, out)
    return records


@contextlib.contextmanager
def _pool(cluster: str | None, jobs: int) -> Iterator[Pool]:
    """The workers of a cluster, or as many processes as there are jobs; one job is done by this process."""
    if cluster is None:
        yield Here() if jobs == 1 else Processes(jobs)
        return
    with open_cluster(f"local:{jobs}" if cluster == "local" else cluster) as pool:
        yield pool


@contextlib.contextmanager
def _kept(out: Path | None) -> Iterator[None]:
    """Workers that were lost leave the cells that they had finished."""
    try:
        yield
    except ClusterError as error:
        kept = f" Finished cells are kept in {str(out)!r}: the same command goes on." if out is not None else ""
        raise SmileError(f"{error}{kept}") from None


def _one(compute: Callable[..., list[Row]], cell: Row) -> Row:
    try:
        rows = [{name: _plain(value) for name, value in row.items()} for row in compute(**cell)]
        return {"cell": dict(cell), "rows": rows, "machine": machine()}
    except SmileError as error:
        return {"cell": dict(cell), "error": str(error)}


def _plain(value: Any) -> Any:
    """JSON has no NaN and no infinities: they become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def key_of(cell: Mapping[str, Any]) -> str:
    """A text by which a cell is known, whatever the order of its parameters."""
    return json.dumps(dict(cell), sort_keys=True)


def _words(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in cell.items())


def _mend(out: Path) -> None:
    """Drop a half-written last line, or end a whole one: what is appended must start on a line of its own."""
    text = out.read_bytes() if out.exists() else b""
    end = text.rfind(b"\n") + 1
    if end == len(text):
        return
    with out.open("r+b") as file:
        try:
            json.loads(text[end:])
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
        except ValueError:
            file.truncate(end)
