"""Differences of an affine network in the Euclidean norm, by Cauchy and Schwarz.

    Σ_c ψ_c = const + q·(e_1 − e_2) ≤ const + Σ over branches of ‖q·S‖₂

S are the axes of an ellipsoid that holds the difference of what a branch returns: layers carry them from the ball of
the premise on (model/spread.py). A part of the network that knows no axes adds |q_i| times the width of its strip
(docs/certificate.md §4.6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smilenn.problem import Problem, Row
from smilenn.problem.transfer import axes, start
from smilenn.provers.proof import BallProof
from smilenn.provers.prover import FOREVER, Goal, allowance
from smilenn.provers.rules.rule import Cost, Emission, Rule
from smilenn.provers.tree.tree import Trees
from smilenn.verdict import Maximum

ROUNDING = 1e-12  # relative: what floats may lose in a norm; the checkers are exact


@dataclass(frozen=True)
class Ball(Rule):
    """A bound by the Euclidean norm, or a refusal."""

    name: ClassVar[str] = "ball"
    tolerance: ClassVar[float] = 1e-9
    checked: ClassVar[str] = "ball"
    shows: ClassVar[str] = "bounded changes in the Euclidean norm, without hidden units"
    cost: ClassVar[Cost] = Cost.FORMULA
    because: ClassVar[str] = "the layers carry the Euclidean norm"

    @property
    def title(self) -> str:
        """The name in verdicts."""
        return "the Euclidean norm"

    def refuses(self, problem: Problem, row: Row) -> str | None:
        """A sentence why the norm does not bound the row."""
        s = problem.snapshot
        if not problem.given.claim.ball:
            return "The premise has no norm."
        if s.boxes != "gap" or len(s.hidden_weight) or s.profile == "dyadic":
            return "The network has hidden units, or moves its inputs to a grid."
        if (row.slope[0] != -row.slope[1]).any():
            return "The row is not a difference of two copies."
        return None

    def maximise(
        self, problem: Problem, row: Row, *, time_limit: float = FOREVER, goal: Goal = "optimum", target: float = 0.0
    ) -> Maximum:
        """The bound of the formula."""
        q, region = row.slope[0], problem.region
        strips = np.maximum(q * region.gaps[0], q * region.gaps[1])
        given, encoding = problem.given.premise, problem.snapshot.encoding
        if encoding is None:
            known, parts = axes(given), (slice(0, len(q)),)
        else:
            known, parts = encoding.of(start(given)).axes, encoding.parts
        total, rest = 0.0, np.ones(len(q), dtype=bool)
        for part in parts:
            own = float(strips[part].sum())
            total += own if known is None else min(own, float(np.linalg.norm(q[part] * known[part])))
            rest[part] = False
        total = (total + float(strips[rest].sum())) * (1 + ROUNDING)
        return Maximum(row.const + total - row.rhs, error=allowance(problem, row), note=self.title)

    def emit(self, problem: Problem, row: Row, *, time_limit: float, trees: Trees | None = None) -> Emission:
        """Nothing to write: the checkers compute the bound."""
        return Emission(BallProof())
