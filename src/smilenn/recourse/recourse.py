"""The smallest change of features a person can change that reaches a goal, proved to be safe to overshoot.

    k* = the first step of a path (path.py) with g(x(k)) ≥ τ + L,      L what rounding may take of the moves (levers.py)

For every row b that has each changed feature at x(k*) or beyond, the others as they are, the certificate gives
g(b) ≥ g(x(k*)) − L ≥ τ: whoever changes more gets at least what was promised. One step less does not reach τ + L.

Where no step reaches τ + L the furthest one x(K) may still reach τ, without a word about more. That no step reaches τ
is sure only if g(x(K)) + L < τ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Protocol

import numpy as np
import pandas as pd

from smilenn.certify.verdicts import Certificate
from smilenn.domain import Domain, Feature
from smilenn.domain.cells import order_of
from smilenn.errors import SmileError, listed
from smilenn.model.net import SmileNet
from smilenn.properties.forms import Outputs
from smilenn.recourse.goal import Goal
from smilenn.recourse.guide import likely
from smilenn.recourse.inputs import inputs_of
from smilenn.recourse.levers import Lever, Moves, levers, loss_of
from smilenn.recourse.path import Path, first_within

Change = Mapping[str, Any]  # feature → "up", "down" or the furthest value (of ordered names: the furthest name)
DIGITS = 6  # of a value in a sentence


class Model(Protocol):
    """What is read of a fitted estimator."""

    domain_: Domain
    outputs_: Outputs
    net_: SmileNet

    @property
    def certificate_(self) -> Certificate | None:
        """The certificate, of the network as it is now."""
        ...

    def outputs_at(self, x: np.ndarray) -> np.ndarray:
        """Outputs [n] or [n, o] of inputs [n, m]."""
        ...

    def read_rows(self, X: Any, *, first_row: int = 0) -> np.ndarray:
        """The rows of a table as inputs [n, m]."""
        ...


@dataclass(frozen=True)
class Recourse:
    """What was found.

    Attributes
    ----------
    reached : whether the goal is reached within the bounds.
    row : the changed row with the model's columns, [1, columns]; where nothing reaches, the furthest one.
    change : feature → (its value, the value to reach), numbers or ordered names; empty where the goal is reached as it
        is.
    before, after : the outputs [o] of the row as it is and of the changed one.
    sentence : what to do, and what that rests on.
    """

    reached: bool
    row: pd.DataFrame
    change: dict[str, tuple[Any, Any]]
    before: np.ndarray
    after: np.ndarray
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def recourse(model: Model, row: Any, goal: Goal, change: Change) -> Recourse:
    """The smallest change along the certified directions `change` that takes a row to the goal."""
    certificate, domain = model.certificate_, model.domain_
    x = inputs_of(model, row)
    moves, ends = _ends(domain, x, change)
    known = levers(certificate, model.outputs_, domain)
    losses = [loss_of(known, form, moves) for form in goal.forms]
    path = _path(domain, x, ends)
    names = model.outputs_.names

    known_at: dict[int, np.ndarray] = {}

    def outputs(steps: list[int]) -> np.ndarray:
        new = [step for step in steps if step not in known_at]
        if new:
            known_at.update(zip(new, model.outputs_at(path.at(new)).reshape(len(new), len(names)), strict=True))
        return np.stack([known_at[step] for step in steps])

    likely_steps = likely(model.net_, path, lambda found: goal.missing(found, names, losses))
    # a row that is there already needs no certificate to stay as it is
    before = outputs([0, path.steps, *likely_steps])[0]
    if goal.reached(before[None], names, [Fraction(0)] * len(losses))[0]:
        return _found(model, path, 0, before, before, f"Nothing has to change: {goal.words} already.")
    step = first_within(lambda steps: goal.missing(outputs(steps), names, losses), path.steps, likely_steps)
    if step is None:
        after = outputs([path.steps])[0]
        reached = bool(goal.reached(after[None], names, [Fraction(0)] * len(losses))[0])
        proved = goal.is_out_of_reach(after, names, losses)
        sentence = _unsure(domain, path, goal) if reached else _unreached(domain, path, goal, proved=proved)
        return _found(model, path, path.steps, before, after, sentence, reached=reached)
    after = outputs([step])[0]
    assert certificate is not None  # levers come from one
    return _found(model, path, step, before, after, _sentence(domain, path, step, goal, certificate))


def _ends(domain: Domain, x: np.ndarray, change: Change) -> tuple[Moves, dict[str, float]]:
    """Which way every named feature moves, and how far at most."""
    if not isinstance(change, Mapping) or not change:
        raise SmileError('change says what may move, as in {"income": "up", "debt": "down"}.')
    moves: dict[str, int] = {}
    ends: dict[str, float] = {}
    for name, wish in change.items():
        feature = domain.feature(name)
        if feature.categories:
            raise SmileError(f"{name!r} is a category, which moves neither up nor down; leave it out of change.")
        value = float(x[domain.slices[name].start])
        moves[name], ends[name] = _end(feature, value, wish)
    return moves, ends


def _end(feature: Feature, value: float, wish: Any) -> tuple[int, float]:
    """1 or −1, and the furthest value inside the domain."""
    if wish in ("up", "down"):
        return (1, feature.hi) if wish == "up" else (-1, feature.lo)
    if names := order_of(feature):
        if wish not in names:
            raise SmileError(f"change[{feature.name!r}] is {wish!r}; write 'up', 'down' or one of {listed(names)}.")
        wish = names.index(wish)
    if not isinstance(wish, Real) or isinstance(wish, bool) or not math.isfinite(wish):
        raise SmileError(f"change[{feature.name!r}] is {wish!r}; write 'up', 'down' or the furthest value.")
    far = float(wish)
    if not feature.lo <= far <= feature.hi:
        raise SmileError(f"change[{feature.name!r}] is {far:g}, outside the domain {feature.range_words}.")
    if feature.kind != "continuous" and far != round(far):
        raise SmileError(f"change[{feature.name!r}] is {far:g}; {feature.name!r} has whole numbers.")
    return (1 if far >= value else -1), far


def _path(domain: Domain, x: np.ndarray, ends: Mapping[str, float]) -> Path:
    places = tuple(domain.slices[name].start for name in ends)
    whole = tuple(domain.feature(name).kind != "continuous" for name in ends)
    return Path(x, places, tuple(ends.values()), whole)


def _found(
    model: Model, path: Path, step: int, before: np.ndarray, after: np.ndarray, sentence: str, *, reached: bool = True
) -> Recourse:
    domain, x = model.domain_, path.at([step])
    moved = {
        domain.coordinates[i]: (_cell(domain, i, path.x[i]), _cell(domain, i, x[0, i]))
        for i in path.places
        if x[0, i] != path.x[i]
    }
    return Recourse(reached, domain.decode(x), moved, before, after, sentence)


def _cell(domain: Domain, i: int, value: float) -> float | str:
    """A value as the table has it: the name that a place among ordered names stands for."""
    names = order_of(domain.feature(domain.coordinates[i]))
    return names[int(value)] if names else float(value)


def _sentence(domain: Domain, path: Path, step: int, goal: Goal, certificate: Certificate) -> str:
    """The change in words, its numbers rounded the way that helps, and what it rests on."""
    x = path.at([step])[0]
    moved = [(i, end) for i, end in zip(path.places, path.ends, strict=True) if x[i] != path.x[i]]
    parts = [f"{domain.coordinates[i]!r} {_move(domain, i, float(path.x[i]), float(x[i]), end)}" for i, end in moved]
    return (
        f"Move {_and(parts)}, and {goal.words}. A larger change of the same kind, inside the domain and with the rest "
        f"as it is, is enough too: certified (certificate {certificate.sha256[:12]}…)."
    )


def _move(domain: Domain, i: int, start: float, value: float, end: float) -> str:
    """``from 12 to 17.5``; ordered names are said, not their places."""
    here, there = (_cell(domain, i, v) for v in (start, value))
    return f"from {here!r} to {there!r}" if isinstance(here, str) else f"from {start:g} to {_shown(value, start, end)}"


def _unreached(domain: Domain, path: Path, goal: Goal, *, proved: bool) -> str:
    """At the furthest values g misses τ. What lies before them is larger by L at most."""
    known = "No such change is enough: even" if proved else "It is not certified that such a change is enough:"
    return f"{known} with {_and(_furthest(domain, path))} it is not so that {goal.words}."


def _unsure(domain: Domain, path: Path, goal: Goal) -> str:
    """At the furthest values g reaches τ, but not τ + L."""
    return f"With {_and(_furthest(domain, path))}, {goal.words}. Nothing is certified of a larger change."


def _furthest(domain: Domain, path: Path) -> list[str]:
    cells = [(domain.coordinates[i], _cell(domain, i, end)) for i, end in zip(path.places, path.ends, strict=True)]
    return [f"{name!r} at {repr(cell) if isinstance(cell, str) else _shortest(cell)}" for name, cell in cells]


def _shortest(value: float) -> str:
    """All digits: a rounded end could lie short of what it takes."""
    return f"{value!r}".removesuffix(".0")


def _shown(value: float, start: float, end: float) -> str:
    """A value with few digits, rounded away from the start: whoever reaches it has gone far enough."""
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if value > start else ROUND_FLOOR)
    short = context.create_decimal(Decimal(value))
    inside = short <= Decimal(end) if value > start else short >= Decimal(end)
    return f"{short.normalize():f}" if inside else _shortest(value)


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def certified_moves(known: Sequence[Lever], goal: Goal) -> dict[str, int]:
    """The features that one direction is certified for, of every form of the goal, with no loss but rounding.

    A claim with slack bounds what a move loses. It does not say that the furthest value is the best one.
    """
    able = [lever for lever in known if lever.strict]
    each = [
        {move for lever in able if lever.form == tuple(sorted(form)) for move in lever.moves} for form in goal.forms
    ]
    return dict(sorted(set.intersection(*each))) if each else {}
