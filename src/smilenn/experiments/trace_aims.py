"""What the experiment on single inputs (trace.py) is to show: certified, unbreakable, close to what is possible."""

from __future__ import annotations

import numpy as np

from smilenn.experiments.cells import Row
from smilenn.experiments.study import Aim, all_certified
from smilenn.experiments.tables import number
from smilenn.experiments.trace_tasks import OTHERS, POLYTOPES

WITHIN = 0.01  # accuracy that the rules of the other tasks may cost
LONGEST = 300.0  # seconds for the expenses


def aims(rows: list[Row]) -> list[Aim]:
    """Certified, unbreakable, breakable without the rules, and close to what is possible."""
    ours, free = ([row for row in rows if row["model"] == model] for model in ("ours", "free"))
    return [
        *all_certified(rows, ["ours"]),
        *_broken("ours", ours, "none", 0),
        *_broken("free", free, "all", len(free)),
        *_lost(ours, free),
        *_below_the_oracle(rows, ours),
        *_slowest([row["seconds"] for row in ours if row["data"] == "expenses"]),
        *_edges([row for row in ours if "edge" in row]),
    ]


def _broken(model: str, rows: list[Row], wanted: str, aim: int) -> list[Aim]:
    count = sum(row["broken"] > 0 for row in rows)
    got = f"{count} of {len(rows)}"
    return [Aim(f"{model}: attacks that find a rule broken", wanted, got, count == aim)] if rows else []


def _qualities(rows: list[Row], name: str) -> list[float]:
    return [row["quality"] for row in rows if row["data"] == name]


def _lost(ours: list[Row], free: list[Row]) -> list[Aim]:
    """What the rule costs on every task that is not a polytope."""
    pairs = {name: (_qualities(ours, name), _qualities(free, name)) for name in OTHERS}
    lost = {name: float(np.mean(other) - np.mean(one)) for name, (one, other) in pairs.items() if one}
    return [
        Aim(f"{name}: quality lost against free", f"≤ {WITHIN}", number(value), value <= WITHIN)
        for name, value in lost.items()
    ]


def _below_the_oracle(rows: list[Row], ours: list[Row]) -> list[Aim]:
    oracle = [row for row in rows if row["model"] == "oracle"]
    best = {name: _qualities(oracle, name) for name in POLYTOPES}
    gaps = [np.mean(best[name]) - np.mean(_qualities(ours, name)) for name in POLYTOPES if best[name]]
    if not gaps:
        return []
    gap = float(np.mean(gaps))
    return [Aim("polytopes: R² below the oracle, mean", "≤ 0.05", number(gap), gap <= 0.05)]


def _slowest(times: list[float]) -> list[Aim]:
    if not times:
        return []
    most = max(times)
    return [Aim("expenses: seconds, certificate included", f"< {LONGEST:.0f}", number(most, 0), most < LONGEST)]


def _edges(rows: list[Row]) -> list[Aim]:
    if not rows:
        return []
    worst, total = max(row["edge_worst"] for row in rows), sum(row["edge"] for row in rows)
    got, met = f"{'none' if worst <= 0 else 'some'} of {total:,}", worst <= 0 and total >= 1_000_000
    return [Aim("points on the edges that break a rule", "none of 1,000,000 or more", got, met)]
