"""Why a row falls short: what each feature alone could gain.

    gain_i = max over values v of feature i inside the domain of  g(x with x_i = v) − g(x)

Where a direction is certified the maximum lies at the end of the domain that it points to, for sure. For the others it
is the best of `TRIES` values: measured, not proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from smilenn.domain import Domain, Feature
from smilenn.domain.absent import fill_of
from smilenn.recourse.goal import Goal, gain_words
from smilenn.recourse.inputs import inputs_of
from smilenn.recourse.levers import levers
from smilenn.recourse.recourse import Model, certified_moves

TRIES = 64


def reasons(model: Model, row: Any, goal: Goal) -> pd.DataFrame:
    """One line a feature, the largest gain first: feature, value, best, gain (of the worst form), proved.

    Its ``attrs["gain"]`` says what a gain does.
    """
    domain, outputs = model.domain_, model.outputs_
    x = inputs_of(model, row)
    moves = certified_moves(levers(model.certificate_, outputs, domain), goal)
    tried = [(f, _values(f, x, domain, moves.get(f.name))) for f in domain.features if fill_of(f) is None]
    rows = np.concatenate([x[None], *(values for _, values in tried)])
    shortest = _shortest(model, goal, rows)
    lines, at = [], 1
    cells = domain.decode(rows)
    for feature, values in tried:
        best = at + int(np.argmax(shortest[at : at + len(values)]))
        gain = float(shortest[best] - shortest[0])
        here, there = (_cell(cells, feature, k) for k in (0, best if gain > 0 else 0))
        lines.append((feature.name, here, there, max(0.0, gain), feature.name in moves))
        at += len(values)
    found = pd.DataFrame(lines, columns=["feature", "value", "best", "gain", "proved"])
    out = found.sort_values("gain", ascending=False, kind="stable", ignore_index=True)
    out.attrs["gain"] = gain_words(goal, outputs)
    return out


def _shortest(model: Model, goal: Goal, rows: np.ndarray) -> np.ndarray:
    """The least form of the goal at each row, [n]."""
    names = model.outputs_.names
    outputs = model.outputs_at(rows).reshape(len(rows), len(names))
    values = [sum(float(coef) * outputs[:, names.index(name)] for coef, name in form) for form in goal.forms]
    return np.min(np.stack(values), axis=0)


def _values(feature: Feature, x: np.ndarray, domain: Domain, way: int | None) -> np.ndarray:
    """The row with every value of one feature that is tried, [n, m]."""
    span = domain.slices[feature.name]
    if feature.kind == "category":
        found = np.eye(span.stop - span.start)
    elif way is not None:
        found = np.array([[feature.hi if way > 0 else feature.lo]])
    else:
        found = np.linspace(feature.lo, feature.hi, TRIES)[:, None]
        found = found if feature.kind == "continuous" else np.unique(np.rint(found), axis=0)
    out = np.repeat(x[None], len(found), axis=0)
    out[:, span] = found
    return out


def _cell(cells: pd.DataFrame, feature: Feature, k: int) -> Any:
    """The value of a feature in a table of the user's columns."""
    if not feature.columns:
        return cells[feature.name].iloc[k]
    return feature.categories[int(np.argmax([cells[column].iloc[k] for column in feature.columns]))]
