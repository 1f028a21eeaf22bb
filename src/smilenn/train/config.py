"""Every constant of the training method, with its default and where it comes from, in one place.

The paper publishes epochs, batch sizes and the early-stopping patience; everything else (learning rates, λ_box, the
dual step, limits) is chosen here once, on training and validation data only. `Config()` is our default recipe,
`Config.paper` the paper's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, Literal

from smilenn.errors import SmileError, listed

AT_LEAST_ONE = ("batch_size", "search_every", "pool", "search_starts", "check_every", "pretrain_patience", "patience")
POSITIVE = ("generator_seconds", "generator_limit", "projector_radius")  # a time-out of 0 would double forever


@dataclass(frozen=True)
class Config:
    """Constants of the three phases; see the field comments. All counts are upper limits: every loop is bounded."""

    # pretraining: four pathways and the box term
    pretrain_epochs: int = 100
    pretrain_patience: int | None = 10  # epochs without improvement of the training loss by 0.1 % before stopping
    # training: dual ascent on abstracted counterexamples
    epochs: int = 100
    patience: int | None = 20  # encoders: epochs without improvement on held-out rows before a kind of network stops
    weight_decay: float = 1.0  # encoders: share of the weights lost per step, times the learning rate
    batch_size: int = 256
    learning_rate: float = 1e-3
    train_learning_rate: float | None = None  # None: learning_rate, or 3 × it after a feasible start
    final_rate: float = 0.02  # share of it left at the end of the training phase
    lambda_box: float = 1.0
    dual_step: float = 0.01
    slack: float = 0.02  # aim at ε·(1 − slack); for ε = 0 at slopes ≥ slack·(output scale per model unit)
    feasible_start: bool = True  # make the claims hold before training instead of letting λ overshoot
    augment: Literal["none", "affine"] = "none"  # distance nets: random small turns and shifts of square images
    margin: float = 0.0  # classification: train each logit to pass its decision by this much (verified accuracy)
    pool: int = 16
    search_every: int = 5  # steps between two searches for fresh counterexamples
    search_starts: int = 16
    search_iterations: int = 15
    check_every: int = 5  # epochs between two exact checks for the best proved state (cheap provers only)
    # posttraining: exact generator and projector
    posttrain_rounds: int = 100
    posttrain_seconds: float = 60.0  # no further round begins after so long
    settle_rounds: int = 15  # of these, rounds that go on training at the final rate before the projector runs
    projector_steps: int = 50
    projector_radius: float = 0.01  # largest Euclidean move of the weights in one projector step
    generator_seconds: float = 1.0  # first time-out of the generator, doubled up to the limit
    generator_limit: float = 60.0
    repair: bool = True  # make what is still unproved hold, at some cost in accuracy (the paper stops there)
    # loud failures
    least_quality: float = 0.01  # after pretraining g∘lower must beat the constant predictor by this share of its loss

    def __post_init__(self) -> None:
        if self.augment not in ("none", "affine"):
            raise SmileError(f"Config.augment is 'none' or 'affine', not {self.augment!r}.")
        for field in fields(self):
            value = getattr(self, field.name)
            optional = "None" in str(field.type) and value is None
            if field.name != "augment" and not optional:
                _check(field.name, str(field.type), value)
        if self.slack >= 1:
            raise SmileError(f"Config.slack is a share below 1, not {self.slack}.")

    @property
    def rate(self) -> float:
        """Learning rate at the start of the training phase."""
        if self.train_learning_rate is not None:
            return self.train_learning_rate
        return self.learning_rate * (3.0 if self.feasible_start else 1.0)

    def replace(self, **changes: Any) -> Config:
        """A copy with some constants changed."""
        known = {f.name for f in fields(self)}
        unknown = sorted(set(changes) - known)
        if unknown:
            raise SmileError(f"Config has no constant {listed(unknown)}; it has {listed(sorted(known), 40)}.")
        return replace(self, **changes)

    @classmethod
    def paper(cls, **changes: Any) -> Config:
        """The paper's recipe: no feasible start and no repair."""
        return cls(feasible_start=False, repair=False, train_learning_rate=2e-3).replace(**changes)


def _check(name: str, declared: str, value: Any) -> None:
    """Raise unless the value is of the type that its field declares and within its limits."""
    if declared == "bool":
        fits, wanted = isinstance(value, bool), "True or False"
    else:
        kind, wanted = (Integral, "a whole number") if declared.startswith("int") else (Real, "a number")
        fits = isinstance(value, kind) and math.isfinite(value)
    if not fits:
        raise SmileError(f"Config.{name} must be {wanted}, not {value!r}.")
    least, says = (1.0, "at least 1") if name in AT_LEAST_ONE else (0.0, "at least 0")
    if value < least:
        raise SmileError(f"Config.{name} must be {says}, not {value}.")
    if name in POSITIVE and value == 0:
        raise SmileError(f"Config.{name} must be more than 0.")
