"""A tuple of inputs as a table of the user's columns: what differs first, the rest folded away, outputs below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from smilenn.properties.claim import COPIES
from smilenn.report.elements import table
from smilenn.report.findings import Findings
from smilenn.report.svg import number, text

MOST_FEATURES = 24  # longer tuples show only what differs


def tuple_table(found: Findings, x: np.ndarray, outputs: np.ndarray) -> str:
    """Inputs x [k, m] side by side in the user's columns, what differs first, and the outputs [k, o]."""
    frame = found.model.domain_.decode(x)
    units = {
        feature.name: f" ({feature.unit_words})" if feature.unit else "" for feature in found.model.domain_.features
    }
    differing = [name for name in frame.columns if frame[name].nunique(dropna=False) > 1]
    shown = [*differing, *(name for name in frame.columns if name not in differing)]
    kept = shown if len(shown) <= MOST_FEATURES else differing[:MOST_FEATURES]
    lines = [_feature_line(f"{name}{units.get(str(name), '')}", frame[name]) for name in kept]
    moved = sum(name in differing for name in kept)
    same = lines[moved:] if moved else []  # a single input is shown whole
    outs = [(text(name), *(number(float(v), 5) for v in values)) for name, values in _named(found, outputs)]
    classes = ["differs"] * moved if moved else [""] * len(lines)
    top = table(("", *COPIES[: len(frame)]), [*lines[: moved or None], *outs], [*classes, *["result"] * len(outs)])
    hidden = len(shown) - len(kept)
    note = f'<p class="soft">{hidden} more columns are not shown.</p>' if hidden else ""
    words = f"{len(same)} unchanged input{'s' if len(same) > 1 else ''}"
    folded = f"<details><summary>{words}</summary>{table(('', 'value'), [line[:2] for line in same])}</details>"
    return top + (folded if same else "") + note


def _named(found: Findings, outputs: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Every output's name with its values [k] of the outputs [k, o]."""
    return list(zip(found.output_names, outputs.T, strict=True))


def _feature_line(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """A feature in all copies; a long name breaks where its words do."""
    cells = (_cell(v) for v in values)
    return text(name).replace("_", "_<wbr>"), *map(text, cells)


def _cell(value: Any) -> str:
    """A cell as people read it; one without a value is missing."""
    if value is None or value != value:
        return "missing"
    return number(float(value), 5) if isinstance(value, (float, np.floating)) else str(value)
