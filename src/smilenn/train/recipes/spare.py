"""What trees that read protected columns may move every coordinate of the network by, of the ε that fairness allows.

    a rule about order and fairness alone       each coordinate of a form v of the outputs:  w = ε / Σ|v|
    quantiles that do not cross beside these    the one coordinate that shifts all of them:  w = ε / |v_t|

A shift of all quantiles by one number leaves their differences as they are, so it breaks no rule about these. A rule of
fairness alone leaves its ε to the backbone, and a rule on the outputs' size leaves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes
from smilenn.train.boosted import Directions
from smilenn.train.recipes.roles import Reading
from smilenn.train.recipes.stated import Kind, coefficients, entries
from smilenn.train.recipes.task import Task
from smilenn.train.within import SHARE, Spare

BOTH = {Kind.MONOTONE, Kind.FAIR}


def spare_of(task: Task, readings: Sequence[Reading], head: np.ndarray | None) -> tuple[Spare, ...]:
    """What is spare of every coordinate, none where nothing is; `head` [o, o] are the coordinates of a box on single
    inputs, None where coordinates are the outputs.
    """
    if task.kinds == BOTH and head is None:
        width = _of_outputs(task)
    elif task.kinds == BOTH | {Kind.SINGLE} and head is not None:
        width = _of_shift(task, task.scale[:, None] * head)
    else:
        return ()
    if not width.any():
        return ()
    return tuple(
        Spare(signs(own, task.domain.slices), float(w), own.without) for own, w in zip(readings, width, strict=True)
    )


def signs(own: Reading, names: Iterable[str]) -> Directions:
    """The sign of the effect that each of these features may have."""
    return {name: (name in own.rising) - (name in own.falling) for name in names}


def _of_outputs(task: Task) -> np.ndarray:
    """w [o] of coordinates that are the outputs, each on its own."""
    width = np.full(len(task.outputs.names), np.inf)
    for one in task.stated:
        eps = float(one.meaning.eps) if isinstance(one.meaning, Changes) else np.inf
        for entry in entries(one.forms, task.outputs, np.diag(task.scale)):
            width[entry.coordinate] = min(width[entry.coordinate], SHARE * eps / entry.size)
    return np.where(np.isfinite(width), width, 0.0)


def _of_shift(task: Task, head: np.ndarray) -> np.ndarray:
    """w [n] of the coordinates of head [o, n]: nothing but of one that moves all outputs alike and touches no claim on
    single inputs.
    """
    width = np.zeros(head.shape[1])
    alike = [t for t, own in enumerate(head.T) if own[0] != 0 and (own == own[0]).all()]
    single = [one.claim for one in task.stated if one.kind == Kind.SINGLE]
    if len(alike) == 1 and not any(_moved(claim, task, head[:, alike[0]]) for claim in single):
        width[alike[0]] = _least_width(task, head, alike[0])
    return width


def _moved(claim: Claim, task: Task, own: np.ndarray) -> bool:
    """Whether a coordinate with these entries of the head [o] plays a part in a claim on single inputs."""
    names = task.outputs.names
    return any(
        sum(float(term.coef) * own[names.index(term.name)] for term in row.terms if term.kind == "out") != 0
        for row in claim.rows
    )


def _least_width(task: Task, head: np.ndarray, t: int) -> float:
    """The most that coordinate t may move under all claims of fairness."""
    limits = [
        SHARE * float(one.meaning.eps) / abs(float(v[t]))
        for one in task.stated
        if isinstance(one.meaning, Changes)
        for v in (coefficients(form, task.outputs, head) for form in one.forms)
        if v[t] != 0
    ]
    return min(limits, default=0.0)
