"""Monotone by the signs of the weights: no tree, no solver, and under the profile ``fixed-order`` no rounding margin.

With a box of zero width f = g∘lower. Say that a quantity *rises* on ordered pairs if it cannot be smaller at x_1 than
at x_2. A sum Σ w·y rises if every term does: y rises and w > 0, or y falls and w < 0; relu keeps the direction. The row
``Σ_o a_o·(f_o(x_1) − f_o(x_2)) ≤ rhs`` with rhs ≥ 0 holds if every output falls where a_o > 0 and rises where a_o < 0
(docs/certificate.md §4.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.provers.proof import OrderProof
from smilenn.provers.prover import FOREVER, Goal
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.tree import Trees
from smilenn.verdict import Maximum


@dataclass(frozen=True)
class Order(Rule):
    """A proof by the order of the inputs, or a refusal; floats summed in one order keep it without an error."""

    name: ClassVar[str] = "order"
    tolerance: ClassVar[float] = 1e-9
    checked: ClassVar[str] = "order"
    shows: ClassVar[str] = "monotone networks that sum in a fixed order"
    cost: ClassVar[Cost] = Cost.SIGNS
    because: ClassVar[str] = "every weight has the sign that the order requires"

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "the order of the inputs"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """Sums in another order round another way: the slope rule shows these, with a margin."""
        if problem.snapshot.profile != "fixed-order":
            return "The network does not sum in a fixed order."
        return None if ordered(problem, row) else "The signs of the weights do not show it."

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The bound 0 − rhs, rounding included."""
        return Maximum(-row.rhs, note=self.title)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """Nothing to write: the checkers look at the signs."""
        return Emission(OrderProof())


def ordered(problem: Problem, row: Row) -> bool:
    """Whether the signs of the weights prove the row, for real numbers and for floats summed in one order."""
    region, s = problem.region, problem.snapshot
    if problem.copies != 2 or row.rhs < 0 or row.inputs.any() or row.outputs.sum(axis=0).any() or not s.zero_gap:
        return False
    moving = ~region.pinned
    if (moving & region.grouped).any() or not ((region.delta_hi <= 0) | (region.delta_lo >= 0))[moving].all():
        return False
    sign = np.where(region.delta_hi <= 0, -1, 1) * moving
    inputs = np.stack([sign >= 0, sign <= 0])
    units = _combine(s.hidden_weight, inputs)
    embedding = _combine(np.hstack([s.lower_slope, s.lower_out]), np.hstack([inputs, units]))
    rises, falls = _combine(s.head_weight, embedding)
    a = row.outputs[0]
    return bool((falls | (a <= 0)).all() and (rises | (a >= 0)).all())


def _combine(weight: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Which of the sums weight·y certainly rise, and which fall: [2, n] from weight [n, i] and inputs [2, i], bool."""
    rises, falls = inputs
    up = np.where(weight > 0, rises, np.where(weight < 0, falls, True)).all(axis=1)
    down = np.where(weight > 0, falls, np.where(weight < 0, rises, True)).all(axis=1)
    return np.stack([up, down])
