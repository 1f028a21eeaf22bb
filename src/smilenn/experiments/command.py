"""The command line shared by all experiments: seeds, models, parallel jobs, and where the results go."""

from __future__ import annotations

import argparse
import functools
import inspect
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smilenn.experiments.cells import Cell, Row, machine, run_cells


def command(
    description: str,
    one: Callable[..., Row],
    cells: Callable[[list[int], list[str]], list[dict[str, Any]]],
    table: Callable[[list[Row]], str],
    modes: list[str],
) -> None:
    """Parse the arguments, run the cells, write the table to the standard output stream."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--models", nargs="+", choices=modes, default=modes)
    parser.add_argument("--jobs", type=int, default=2, help="cells that run at the same time, one thread each")
    if "save" in inspect.signature(one).parameters:
        parser.add_argument("--save", type=Path, help="folder for the trained networks")
    parser.add_argument("--out", type=Path, help="JSON lines; finished cells found there are not run again")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    if getattr(arguments, "save", None) is not None:
        one = functools.partial(one, save=arguments.save)
    chosen: list[Cell] = list(cells(arguments.seeds, arguments.models))
    rows = run_cells(one, chosen, arguments.out, arguments.jobs)
    sys.stdout.write(f"{table(rows)}\n\n{json.dumps(machine())}\n")
