"""How much each input matters: what the output changes by when one input is taken from another row.

    I_f = mean over rows i and outputs of |f(x_i) − f(x_i with feature f of x_π(i))|

π is one fixed shuffle of the rows, so that two reports of a model agree. I_f is in units of the output. It is measured,
not proved, and inputs that go together share their weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smilenn.domain import Domain
from smilenn.report.dots import Dot, dots_plot
from smilenn.report.elements import figure
from smilenn.report.standing import spaced
from smilenn.report.svg import number, text

MOST_ROWS, MOST_SHOWN = 300, 15
MOST_FEATURES = 200  # beyond, every one of them takes a prediction of all rows


@dataclass(frozen=True)
class Importance:
    """One feature and the mean change of the output."""

    name: str
    change: float


def importances(predict: Callable[[np.ndarray], np.ndarray], x: np.ndarray, domain: Domain) -> tuple[Importance, ...]:
    """Of every feature at rows x [n, m] (raw units), the most important first; none of few rows or very many inputs."""
    rows = x[spaced(len(x), MOST_ROWS)]
    if len(rows) < 2 or len(domain.features) > MOST_FEATURES:
        return ()
    order = np.random.default_rng(0).permutation(len(rows))
    before = predict(rows)
    found = []
    for feature in domain.features:
        moved = rows.copy()
        moved[:, domain.slices[feature.name]] = rows[order][:, domain.slices[feature.name]]
        found.append(Importance(feature.name, float(np.abs(predict(moved) - before).mean())))
    return tuple(sorted(found, key=lambda one: -one.change))


def importance_part(found: tuple[Importance, ...], output: str) -> str:
    """The part of the page above the slices: a plot of the first ones."""
    if not found:
        return ""
    shown, more = found[:MOST_SHOWN], len(found) - MOST_SHOWN
    dots = [Dot(one.name, one.change, tip=f"{one.name}: {number(one.change)}") for one in shown]
    label = f"mean change of {output}"
    plot = figure(dots_plot(dots, label, f"{label} by input", zero=True), "")
    note = f'<p class="soft">{more} more inputs matter less.</p>' if more > 0 else ""
    words = (
        f"By how much an input moves {text(output)} on average when it is taken from another row and the others stay. "
        "Measured, not proved; inputs that go together share their weight."
    )
    return f"<h3>Importances</h3><p>{words}</p>{plot}{note}<h3>Slices</h3>"
