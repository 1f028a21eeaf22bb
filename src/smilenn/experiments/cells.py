"""A table is a list of independent cells: run them in parallel, write each finished one as a JSON line, never twice.

A cell is identified by its parameters. A results file that was cut off keeps its finished cells: a half-written last
line is dropped, and running the same command again computes only what is missing.
"""

from __future__ import annotations

import json
import logging
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

Cell = Mapping[str, Any]
Row = dict[str, Any]


def run_cells(compute: Callable[..., Row], cells: Sequence[Cell], out: Path | None = None, jobs: int = 2) -> list[Row]:
    """Rows of all cells, in order: those found in `out` and those computed now, `jobs` at a time, one thread each."""
    from joblib import Parallel, delayed

    done = _read(out) if out is not None else {}
    missing = {_key(cell): cell for cell in cells if _key(cell) not in done}
    logger.info("%d cells, %d to do", len(cells), len(missing))
    tasks = (delayed(_one)(compute, cell) for cell in missing.values())
    # unordered: a finished cell is written at once, not when all before it are finished too
    results: Iterable[Row] = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)  # type: ignore[assignment]
    for row in results:
        done[_key(row["cell"])] = row
        logger.info("%s", json.dumps(row))
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            _mend(out)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    return [done[_key(cell)] for cell in cells]


def machine() -> Row:
    """What the figures were measured on, for the foot of a table."""
    import numpy
    import torch

    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def _one(compute: Callable[..., Row], cell: Cell) -> Row:
    import torch

    torch.set_num_threads(1)  # cells run side by side
    return {"cell": dict(cell), **compute(**cell)}


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps({name: row[name] for name in sorted(row)}, sort_keys=True)


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


def _read(out: Path) -> dict[str, Row]:
    """Finished rows by the key of their cell: the parameters are stored under "cell"."""
    rows: dict[str, Row] = {}
    if not out.exists():
        return rows
    for line in out.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue  # cut off while writing: that cell is computed again
        rows[_key(row["cell"])] = row
    return rows
