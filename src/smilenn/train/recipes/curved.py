"""Convex, concave, Lipschitz, symmetric, dominating and robust claims, alone or beside others: curved units.

The features that these claims name are passed on past an ensemble over the other features, to units that keep the
claims by their signs and directions (train/curved.py, recipes/curved_units.py), starting from the best spline
(train/spline.py). A feature in which the outputs must be linear gets a slope, and so does one on which a box of
coordinates leans. Where fairness leaves an ε, trees that read protected features and none of those that are passed on
move the outputs within it (train/within.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from smilenn.domain import Domain
from smilenn.model.encoders import Branch, Encoder
from smilenn.model.net import SmileNet
from smilenn.properties.meaning import Rises
from smilenn.train.averaged import averaged
from smilenn.train.curved import Units
from smilenn.train.recipes.curved_units import curved_units
from smilenn.train.recipes.ensemble import (
    FEWEST,
    RATE,
    Branches,
    Plan,
    branches_of,
    limit_,
    network_kinds,
    planned_ensemble,
)
from smilenn.train.recipes.spare import spare_of
from smilenn.train.recipes.stated import Kind
from smilenn.train.recipes.task import Recipe, Task, steps
from smilenn.train.recipes.words import reasons

CONTEXT = 2  # further coordinates that the encoder of each network gives to curved units
RIDGE = 1e-3  # of a mean square of the inputs, in model units
ROOMY = {Kind.ROBUST, Kind.SINGLE}  # proved by trees, which few units keep small


def recipe(task: Task) -> Recipe | None:
    """An ensemble with features passed on past it; None where nothing has to be, or a claim is of another kind."""
    plan = planned_ensemble(task)
    if plan is None or not plan.roles.passed:
        return None
    few, bends = bool(task.kinds & ROOMY), bool(plan.roles.curved)
    ramps, members = plan.ramps(task), task.design.members if bends else 1
    kinds = network_kinds(ramps)[2:]  # alone, the sharp kind learns most in time
    if bends:  # what is smooth is begun with
        ramps = min(ramps, max(FEWEST, math.isqrt(len(task.x)) // 3))
        kinds = network_kinds(ramps)[1:2]
    made = branches_of(task, plan, kinds, members, CONTEXT if bends and not few else 0)
    columns = [i for name in task.domain.slices if name in plan.roles.passed for i in task.domain.indices(name)]
    line = _line(task, plan, columns)
    units = _units(task, plan, made, columns, members, few=few) if bends else None
    net = _network(task, plan, made, line, units, members)
    read = frozenset[str]() if units is None else units.features
    # trees beside units are judged by rows that are kept from members
    spare = () if units is None else spare_of(task, plan.box, plan.width, cut=False)
    words = reasons(task, plan.roles, ramps, plan.width, read, spare=bool(spare))
    return Recipe(net, steps(len(task.x), RATE), words, "curved", spare=spare)


@dataclass(frozen=True, eq=False)
class _Line:
    """Slopes [o, c] of the coordinates in the passed `columns`, those of them that are `learned`, and the outputs'
    start [o] less what the slopes add to it.
    """

    columns: list[int]
    slopes: np.ndarray
    learned: np.ndarray
    start: np.ndarray


def _line(task: Task, plan: Plan, columns: list[int]) -> _Line:
    """The slopes of the box that the plan is meant in, and the least-squares line over linear features."""
    domain, o = task.domain, len(task.outputs.names)
    slopes = np.zeros((o, len(columns))) if plan.box is None else plan.box.high_slope[:, columns].copy()
    own = {i for name in plan.roles.linear for i in domain.indices(name)}
    linear = [k for k, i in enumerate(columns) if i in own]
    learned = np.tile(np.isin(columns, list(own)), (o, 1))
    if not linear or task.aim is None:
        return _Line(columns, slopes, learned, task.start)
    u = domain.scale(task.x)[:, columns][:, linear]
    line = _signed(_least_squares(u, task.aim), [columns[k] for k in linear], task)
    slopes[:, linear] += np.linalg.solve(plan.head, line)
    learned[:, linear] = (line != 0) | (o > 1)
    return _Line(columns, slopes, learned, task.start - task.scale * (line @ u.mean(axis=0)))


def _least_squares(u: np.ndarray, aim: np.ndarray) -> np.ndarray:
    """Slopes [o, c] of the least-squares line of aim [N, o] over u [N, c], from which training starts."""
    centred = u - u.mean(axis=0)
    gram = centred.T @ centred + RIDGE * len(u) * np.eye(u.shape[1])
    return np.linalg.solve(gram, centred.T @ aim).T


def _signed(line: np.ndarray, columns: list[int], task: Task) -> np.ndarray:
    """The slopes [o, c] over these columns, zero where a monotone claim asks for the other sign."""
    line = line.copy()
    for one in task.stated:
        for form in one.forms if one.kind == Kind.MONOTONE else ():
            for coefficient, name in form:
                row = line[task.outputs.names.index(name)]
                row[_against(row, columns, one.meaning, 1 if coefficient > 0 else -1, task.domain)] = 0.0
    return line


def _against(row: np.ndarray, columns: list[int], rule: object, sign: int, domain: Domain) -> np.ndarray:
    """[c] bool: slopes of an output that turn the wrong way where sign·output must rise by this rule."""
    assert isinstance(rule, Rises)
    wrong = np.zeros(len(columns), dtype=bool)
    for names, way in ((rule.up, sign), (rule.down, -sign)):
        own = {i for name in names for i in domain.indices(name)}
        wrong |= np.array([i in own for i in columns]) & (way * row < 0)
    return wrong


def _units(task: Task, plan: Plan, made: Branches, columns: list[int], members: int, *, few: bool) -> Units | None:
    """The units, drawn from torch's random state."""
    return curved_units(
        task.domain,
        plan.roles.shapes,
        plan.roles.curved,
        members=members,
        places=made.places,
        context=made.context,
        ordered=[bool(own.rising | own.falling) for own in plan.roles.readings],
        passed=columns,
        rng=np.random.default_rng(int(torch.randint(2**31, ()))),
        few=few,
    )


def _network(task: Task, plan: Plan, made: Branches, line: _Line, units: Units | None, members: int) -> SmileNet:
    """The network of these branches, slopes and units."""
    encoder = Encoder(
        task.domain,
        [*made.branches, Branch("", line.columns)],
        groups=0 if units is None else members,
        parts=max(1, len(plan.readings)),
    )
    net = averaged(
        task.domain,
        encoder,
        task.scale,
        line.start,
        outputs=task.outputs.names,
        width=plan.width,
        slopes=np.hstack([made.slopes, line.slopes]),
        head=plan.head,
        sizes=task.design.backbone_sizes,
        hidden=0 if units is None else units.size * members,
    )
    net.lower.slope.requires_grad_(False)
    if units is not None:
        units.begin_(net.lower)
        net.lower.keep = units
    if plan.roles.linear:  # cut back by repair where a bound on slopes asks for less
        mask = np.hstack([np.zeros(made.slopes.shape), line.learned])
        net.lower.slope.requires_grad_(True).register_hook(lambda slope: slope * torch.as_tensor(mask).to(slope))
    limit_(encoder, plan, made.places)
    return net
