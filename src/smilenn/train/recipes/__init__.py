"""Which network for which claims: the families of networks, tried in this order; the first that answers is taken.

given        an encoder that the user brings
boxed        claims on every single input and no others: a free backbone in a fixed box
capped       outputs in an order below constants, also beside rules of order and fairness: an ensemble, cut in the end
premised     the same with premises, or more rows than outputs: a box by a linear program
distances    robust claims alone, on many columns or an image: an l∞-distance net
contractions robust claims in the Euclidean norm alone: layers that move no two inputs apart
ensemble     monotone and fair claims, or no rule at all: an ensemble of monotone encoders
curved       convex, concave, Lipschitz, symmetric, dominating, robust claims, also beside others: curved units
columns      claims in the Euclidean norm beside others, or of numbers: another of these, for each column's change
plain        everything else: the paper's network, searched and proved
around       one of these, with a fitted estimator as the backbone (around.py); asked alone where there is one

Each file has a function recipe(task) → Recipe, or None where the family has no answer. It reads what is asked from the
claims (stated.py), never from the names of properties. Where nobody has stated a rule the ensemble is asked first:
quantiles bring a claim of their own, that they do not cross.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from smilenn.errors import SmileError
from smilenn.train.recipes import (
    around,
    boxed,
    capped,
    columns,
    contractions,
    curved,
    distances,
    ensemble,
    given,
    plain,
    premised,
)
from smilenn.train.recipes.task import Design, Family, Recipe, Task, steps

AUTOMATIC: tuple[Callable[[Task], Recipe | None], ...] = (
    boxed.recipe,
    capped.recipe,
    premised.recipe,
    distances.recipe,
    contractions.recipe,
    ensemble.recipe,
    curved.recipe,
    columns.recipe,
    plain.recipe,
)
UNRULED = (ensemble.recipe, *AUTOMATIC)
CHOSEN: tuple[Callable[[Task], Recipe | None], ...] = (given.recipe, plain.recipe)  # where the user has decided

OF_IMAGES = {"distances", "contractions"}


def recipe_for(task: Task) -> Recipe:
    """A fresh network for the task; its weights come from torch's random state."""
    if task.design.foreign is not None:
        return around.recipe(task)
    automatic = UNRULED if task.unruled else AUTOMATIC
    families = automatic if task.design.automatic else CHOSEN
    found = next(made for made in (family(task) for family in families) if made is not None)
    _refuse_unused(task.design, found.family)
    return replace(found, reasons=found.reasons + capped.held_words(task, found))


def _refuse_unused(design: Design, family: Family) -> None:
    """Raise if the user has asked for something that only another family has a use for."""
    if design.automatic and design.backbone_share and family != "distances":
        raise SmileError(
            "Network(backbone_share=…) is for distance nets: classifiers whose only properties are Robust ones that "
            "move all of many columns, or of an image; leave it at 0."
        )
    if design.image and family not in OF_IMAGES:
        raise SmileError(
            "Network(encoder='image') is for classifiers whose only properties are Robust ones that move every pixel; "
            "use Network(encoder='auto')."
        )


__all__ = ["AUTOMATIC", "CHOSEN", "Design", "Family", "Recipe", "Task", "recipe_for", "steps"]
