"""From an experiment's name to its files: cells and rows as JSON, a page as Markdown, figures as PNG and PDF.

OUT/<name>.jsonl   one line a finished cell; a run that was cut off continues from here
OUT/<name>.json    the list of rows: model, swept parameter, metrics, status, seconds, seed
OUT/<name>.md      the page: tables, figures, aims and what falls short, seeds, machines and versions
OUT/<name>-<figure>.png, .pdf
OUT/models/        the certified models, if asked for
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from smilenn.errors import SmileError, listed
from smilenn.experiments import (
    fairness,
    figures,
    monotonicity,
    public_tables,
    random_fits,
    robustness,
    tabular,
    trace,
)
from smilenn.experiments.cells import Cell, Row, key_of, machines, read_cells, run_cells
from smilenn.experiments.page import page
from smilenn.experiments.study import Options, Study, select
from smilenn.progress import Progress

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        monotonicity.STUDY,
        robustness.STUDY,
        fairness.STUDY,
        tabular.STUDY,
        public_tables.STUDY,
        random_fits.STUDY,
        trace.STUDY,
    )
}
BULK = ("curve", "curves", "panel")  # what only figures need; it stays in the JSON lines


def study(name: str) -> Study:
    """The experiment of that name."""
    if name not in STUDIES:
        raise SmileError(f"There is no experiment {name!r}; choose one of {listed(STUDIES)}.")
    return STUDIES[name]


def reproduce(
    name: str,
    out: Path,
    options: Options | None = None,
    *,
    jobs: int = 2,
    only: Sequence[str] = (),
    cluster: str | None = None,
    with_figures: bool = True,
    finished: bool = False,
    callback: Callable[[Progress], None] | None = None,
) -> list[Path]:
    """Run what is missing of an experiment and write its page and figures; the files written, the page first.

    `only` restricts the cells (``key=value``); `cluster` and `jobs` are those of `run_cells`. `finished` computes
    nothing and writes the page of the cells that are there.
    """
    options = Options() if options is None else options
    if jobs < 1:
        raise SmileError(f"jobs must be at least 1, not {jobs}.")
    if with_figures:
        figures.require()  # before hours of work, not after
    if cluster is None:
        options.resolved()  # a wrong device is one sentence now, not one per cell
    chosen = study(name)
    cells = select(chosen.cells(options), only)
    compute = functools.partial(_computed, chosen.compute, options)
    place = out / f"{name}.jsonl"
    cells, missing = _finished(cells, place) if finished else (cells, [])
    rows = run_cells(compute, cells, place, jobs, cluster=cluster, callback=callback)
    plain = [{key: value for key, value in row.items() if key not in BULK} for row in rows]
    drawn = {f"{name}-{title}": figure for title, figure in chosen.figures(rows).items()} if with_figures else {}
    pictures = [f"{stem}.png" for stem in drawn]
    text = page(chosen, rows, options, figures=pictures, machines=machines(place, cells), missing=missing)
    written = [_write(out / f"{name}.md", text), _write(out / f"{name}.json", json.dumps(plain, indent=1) + "\n")]
    for stem, figure in drawn.items():
        written += figures.save(figure, out / stem)
    return written


def _finished(cells: Sequence[Cell], place: Path) -> tuple[list[Cell], list[Cell]]:
    """The cells that a results file holds, and those that it lacks."""
    done = read_cells(place)
    found = [cell for cell in cells if key_of(cell) in done]
    if not found:
        raise SmileError(f"{str(place)!r} holds no finished cell of this experiment; run it without --finished.")
    return found, [cell for cell in cells if key_of(cell) not in done]


def _computed(compute: Callable[..., list[Row]], options: Options, **cell: object) -> list[Row]:
    """One cell on the machine that computes it, where the device is decided."""
    return compute(**cell, options=options.resolved())


def _write(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place
