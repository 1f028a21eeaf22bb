"""Markdown tables from rows; a number that is not there is a dash, so tables of unfinished runs stay whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

from smilenn.experiments.measures import Row, mean, spread


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; every line must have a cell for every column.

    >>> markdown(["a", "b"], [["1", "2"]]).splitlines()
    ['| a | b |', '|---|---|', '| 1 | 2 |']
    """
    for line in lines:
        if len(line) != len(header):
            raise ValueError(f"a line of {len(line)} cells in a table of {len(header)} columns")
    rows = ["| " + " | ".join(line) + " |" for line in (header, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(header), *rows[1:]])


def number(value: float, digits: int = 4, factor: float = 1.0) -> str:
    """A number, or a dash where there is none."""
    return f"{factor * value:.{digits}f}" if math.isfinite(value) else "–"


def mean_and_spread(rows: Sequence[Row], name: str, digits: int = 4, factor: float = 1.0) -> str:
    """`mean ± standard deviation` of a metric over rows; without the second for a single row."""
    middle, width = mean(rows, name), spread(rows, name)
    text = number(middle, digits, factor)
    return text if len(rows) < 2 or not math.isfinite(width) else f"{text} ± {factor * width:.{digits}f}"


def seconds(rows: Sequence[Row], name: str = "seconds") -> str:
    """Mean seconds with three figures."""
    value = mean(rows, name)
    return "–" if not math.isfinite(value) else f"{value:.3g}"
