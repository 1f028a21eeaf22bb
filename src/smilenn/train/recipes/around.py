"""A fitted estimator as the backbone: the network that the rules would get without one, in a box with room for it.

    rules on single inputs     the fixed box of boxed.py or premised.py, the estimator free inside it
    Fair, wide Symmetric       the ensemble that does not read those columns; the box has nearly all of ε
    Robust, LocalRobust        the network that keeps ε′ = (1 − share)·ε; the box has nearly the rest

Rules that are tight on the diagonal (Monotone, Lipschitz, Convex, …, ε = 0) leave such a box no width: refused at once.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import torch

from smilenn.errors import SmileError
from smilenn.properties.claim import Claim
from smilenn.properties.meaning import Changes, Near, Permuted
from smilenn.train.around import Foreign, close_
from smilenn.train.recipes import boxed, contractions, curved, distances, ensemble, premised
from smilenn.train.recipes.roles import WIDTH_SHARE
from smilenn.train.recipes.stated import Kind, Stated, entries, read
from smilenn.train.recipes.task import Recipe, Task

UNLIMITED = 2.0**20  # times the output's size: the box of an output that no rule is about
SHARE = 0.5  # of the ε of a robust rule that the box has
UNREAD = {Kind.FAIR, Kind.SYMMETRIC}  # kept by what the network does not read
NARROWED = {Kind.ROBUST, Kind.EUCLIDEAN, Kind.LOCAL}  # kept with a smaller ε
INSTEAD = (
    "leave the backbone out, or certify boosted trees as they are with smilenn.certified_trees, or clamp a model that "
    "is to be fair with ClampedRegressor or ClampedClassifier"
)


def recipe(task: Task) -> Recipe:
    """The network to train; an error where the rules leave an estimator no room."""
    foreign = task.design.foreign
    assert foreign is not None
    _refuse(task)
    inner = replace(task, design=replace(task.design, foreign=None, backbone_share=0.0))
    if task.kinds <= {Kind.SINGLE}:
        found = boxed.recipe(inner) or premised.recipe(inner)
        if found is None:
            raise SmileError(f"No fixed box around the backbone {foreign.name} implies these rules; leave it out.")
        return replace(found, config=found.config.replace(epochs=0), reasons=_words(foreign, None))
    return _compared(task, inner, foreign)


def _compared(task: Task, inner: Task, foreign: Foreign) -> Recipe:
    """The network for rules that compare inputs."""
    share = task.design.backbone_share or SHARE
    narrowed = bool(task.kinds & NARROWED)
    claims = tuple(_narrowed(claim, share) if _is_narrowed(claim, task) else claim for claim in task.claims)
    centre = replace(inner, claims=claims)
    families = (distances, contractions, ensemble, curved)
    found = next((made for made in (family.recipe(centre) for family in families) if made is not None), None)
    width = np.zeros(1)
    if found is not None and found.net.embedding == len(task.outputs.names):  # coordinates that answers determine
        width = close_(found.net)
        if narrowed or task.kinds == {Kind.FAIR}:
            width = _width(found, task, share)
    if found is None or not width.any():
        raise SmileError(f"No box around the backbone {foreign.name} keeps {_listed(task.kinds)} here; {INSTEAD}.")
    return replace(found, claims=claims, opening=width, spare=(), reasons=_words(foreign, found, width))


def _refuse(task: Task) -> None:
    """Raise where rules, or other options of the network, leave no room for an estimator."""
    foreign, design = task.design.foreign, task.design
    assert foreign is not None
    if not task.stated:
        raise SmileError(
            f"Nothing is asked of the backbone {foreign.name}; state a property, or use the estimator by itself."
        )
    if not design.automatic or design.image:
        raise SmileError(
            "An estimator as backbone gets a network that its rules ask for; leave encoder, boxes and auxiliaries as "
            "they are."
        )
    tight = task.kinds - UNREAD - NARROWED - {Kind.SINGLE}
    if tight:
        raise SmileError(f"{_listed(tight)} leaves the backbone {foreign.name} no box to answer in; {INSTEAD}.")
    exact = {one.kind for one in task.stated if one.kind in UNREAD | NARROWED and not _eps(one) > 0}
    if exact:
        raise SmileError(
            f"{_listed(exact)} with ε = 0 leaves the backbone {foreign.name} no box to answer in; give an ε above 0, "
            f"or {INSTEAD}."
        )
    near = task.kinds & NARROWED
    if near and Kind.SINGLE in task.kinds:
        raise SmileError(
            f"{_listed(near)} beside rules on single inputs leaves the backbone {foreign.name} no box; state one of "
            "them, or leave the backbone out."
        )


def _eps(one: Stated) -> Fraction:
    assert isinstance(one.meaning, (Changes, Near, Permuted))
    return one.meaning.eps


def _is_narrowed(claim: Claim, task: Task) -> bool:
    """Whether the network without a box keeps the claim with a smaller ε."""
    return not claim.either and bool({one.kind for one in read((claim,), task.outputs, task.domain)} & NARROWED)


def _narrowed(claim: Claim, share: float) -> Claim:
    """The claim with what the box leaves of its ε."""
    rest = 1 - Fraction(share)
    return replace(claim, then=tuple(replace(row, rhs=row.rhs * rest) for row in claim.then), sentence="")


def _width(found: Recipe, task: Task, share: float) -> np.ndarray:
    """The widths [n] of the box around a network without one, in its coordinates; no rule may be about some of them."""
    with torch.no_grad():
        head = found.net.effective_head()[0].cpu().numpy()
    width = np.full(head.shape[1], np.inf)
    for one in task.stated:
        room = WIDTH_SHARE * float(_eps(one)) * (share if one.kind in NARROWED else 1.0)
        for entry in entries(one.forms, task.outputs, head):
            width[entry.coordinate] = min(width[entry.coordinate], room / entry.size)
    return np.where(np.isfinite(width), width, UNLIMITED)


def _listed(kinds: set[Kind] | frozenset[Kind]) -> str:
    return " and ".join(sorted(kinds))


def _words(foreign: Foreign, found: Recipe | None, width: np.ndarray | None = None) -> str:
    """What is trained, and what the estimator does in it."""
    how = "taken as it was given" if foreign.given else "a copy of it fitted to the rows that were not held out"
    said = f"The backbone is a {foreign.name}, {how}; its answers are cut to a box, which the certificate is about."
    if found is None or width is None:
        return f"{said} The properties are the ends of a fixed box; the backbone is free inside it."
    head = np.abs(found.net.effective_head()[0].detach().cpu().numpy())
    half = (head @ width / 2).tolist()
    size = f"{min(half):.3g}" if max(half) - min(half) <= 1e-9 * max(half) else f"{min(half):.3g} to {max(half):.3g}"
    return f"{said} The box reaches {size} to either side of a network that keeps the rules by itself. {found.reasons}"
