"""The page of an experiment: its tables, figures and aims, what falls short, and how all of it was measured.

Everything on it comes from the rows, so that the same cells give the same page. Rows of a quick run have no aims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from smilenn.experiments.cells import Cell, Row
from smilenn.experiments.study import Aim, Options, Study
from smilenn.experiments.tables import markdown


def page(
    study: Study,
    rows: list[Row],
    options: Options,
    *,
    figures: Iterable[str],
    machines: Sequence[tuple[Row | None, int]],
    missing: Sequence[Cell] = (),
) -> str:
    """Markdown; `figures` are names of PNG files beside it, `machines` those of the finished cells with their number,
    `missing` the cells that were asked for and have not been run.
    """
    parts = [study.report(rows, options)]
    for name in figures:
        parts.append(f"![{name.removesuffix('.png').replace('-', ', ')}]({name})")
    if options.quick:
        parts.append("A quick run: small data or few epochs; its numbers say little.")
    else:
        aims = study.aims(rows)
        parts += ["## Aims", aim_table(aims)] if aims else []
        parts += ["## What falls short", shortcomings(aims, missing)]
    parts += ["## How this was measured", study.selection, measured(study.name, rows, options, machines)]
    return "\n\n".join(parts) + "\n"


def aim_table(aims: Sequence[Aim]) -> str:
    """One line an aim."""
    lines = [[aim.what, aim.wanted, aim.got, "yes" if aim.met else "**no**"] for aim in aims]
    return markdown(["aim", "wanted", "got", "met"], lines)


def shortcomings(aims: Sequence[Aim], missing: Sequence[Cell]) -> str:
    """The aims that were missed and the cells that are missing, or that there are none."""
    lines = [f"- {aim.what}: {aim.got}, where {aim.wanted} was wanted." for aim in aims if not aim.met]
    if missing:
        kinds = Counter(" ".join(str(cell[key]) for key in ("data", "model") if key in cell) for cell in missing)
        counted = ", ".join(f"{kind} {count}" if kind else str(count) for kind, count in kinds.items())
        lines.append(f"- {len(missing)} cells have not been run ({counted}); means are over the seeds that have.")
    return "\n".join(lines) if lines else "Every aim above is met, and every cell was run."


def measured(name: str, rows: list[Row], options: Options, machines: Sequence[tuple[Row | None, int]]) -> str:
    """Command, seeds and machines."""
    seeds = [str(seed) for seed in sorted({row["seed"] for row in rows})]
    listed = ", ".join(seeds) if len(seeds) < 12 else f"{seeds[0]} to {seeds[-1]} ({len(seeds)} of them)"
    lines = []
    for machine, count in machines:
        said = ", ".join(f"{key} {value}" for key, value in machine.items()) if machine else "not recorded"
        lines.append([str(count), said])
    quick = " --quick" if options.quick else ""
    return "\n\n".join(
        [
            f"`smile reproduce {name}{quick} --out DIR`; seeds {listed}. Seconds are wall-clock, one thread a cell "
            "(and a GPU where one is named), on cores that other work may have shared: trust their order of magnitude. "
            "Finished cells:",
            markdown(["cells", "machine"], lines),
        ]
    )
