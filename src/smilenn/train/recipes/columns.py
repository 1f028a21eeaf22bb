"""Claims in the Euclidean norm where no network keeps the norm itself: the change of each column in its place.

    Σ_i (Δ_i/δ_i)² ≤ 1   ⇒   |Δ_i| ≤ δ_i for every i

So a network that keeps a claim for all inputs whose columns differ by δ_i at most keeps it for those of the ball, and
the other families are asked once more, with these strips in place of balls. Contractions have been asked before: they
keep norms alone, of classes. What is certified is the claim as it was stated.
"""

from __future__ import annotations

from dataclasses import replace

from smilenn.properties.claim import Claim, row
from smilenn.train.recipes import curved, distances, ensemble
from smilenn.train.recipes.task import Recipe, Task

FAMILIES = (distances.recipe, ensemble.recipe, curved.recipe)
REASONS = "A change in the Euclidean norm counts as one of every column by as much."


def recipe(task: Task) -> Recipe | None:
    """What another family makes of the columns' changes; None where there is no norm, or no such family."""
    if not any(claim.ball for claim in task.claims):
        return None
    by_column = replace(task, claims=tuple(map(in_strips, task.claims)))
    found = next((made for made in (family(by_column) for family in FAMILIES) if made is not None), None)
    return None if found is None else replace(found, reasons=f"{found.reasons} {REASONS}")


def in_strips(claim: Claim) -> Claim:
    """The claim for all inputs whose columns differ by at most δ each, which are more than those of its ball."""
    strips = (
        row([(sign, 0, "in", name), (-sign, 1, "in", name)], delta) for name, delta in claim.ball for sign in (1, -1)
    )
    return replace(claim, when=(*claim.when, *strips), ball=())
