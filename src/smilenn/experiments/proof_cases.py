"""The networks, jobs and peers of `smile bench proof` by name: what the command line must know before it measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["fair", "robust", "monotone"]
Job = Literal["opt", "prove", "find", "match"]
JOBS: tuple[Job, ...] = ("opt", "prove", "find", "match")
USUAL: tuple[Job, ...] = JOBS[:3]


@dataclass(frozen=True)
class Case:
    """A claim and a network's size; `hidden` units in each of the two auxiliary nets, 0 for affine ones."""

    kind: Kind
    inputs: int
    hidden: int
    boxes: Literal["gap", "paper"] = "gap"
    epochs: int = 15

    @property
    def name(self) -> str:
        """``fair-20x4``."""
        size = f"{self.inputs}x{self.hidden}" if self.hidden else f"affine-{self.inputs}"
        more = ("-flips" if self.boxes == "paper" else "") + ("" if self.epochs == 15 else f"-{self.epochs}-epochs")
        return f"{self.kind}-{size}{more}"


CASES = (
    Case("fair", 20, 4),
    Case("fair", 100, 4),
    Case("robust", 32, 4),
    Case("monotone", 1, 32),
    Case("robust", 784, 0),
    Case("fair", 20, 4, "paper"),
    Case("robust", 8, 8),
    Case("fair", 20, 8),
    Case("robust", 32, 8),
    Case("robust", 8, 16),
    Case("fair", 32, 16),
    Case("robust", 32, 16),
    Case("fair", 20, 4, epochs=100),
    Case("fair", 100, 4, epochs=100),
    Case("robust", 32, 4, epochs=100),
)
SCALING = (
    *(Case("fair", 20, h) for h in (2, 3, 4, 5, 6, 7, 8, 10, 12, 16)),
    *(Case("fair", m, 4) for m in (8, 10, 14, 28, 40, 56, 80, 112, 160, 320)),
)
LARGE = (Case("fair", 120, 32), Case("fair", 120, 32, epochs=100))  # 64 units: by name only, with the job "match"
EVERY_PEER = (
    "paper-highs",
    "flipfree-highs",
    "reduced-highs",
    "paper-gurobi",
    "flipfree-gurobi",
    "reduced-gurobi",
    "paper-scip",
    "reduced-scip",
)
