"""What a recipe reads and what it returns: `Task`, a table with claims and wishes, and `Recipe`, a network to train.

What an encoder's size and training depend on:

    batch     all rows up to 512, then 256
    epochs    1,500 steps, at most 300 epochs and at least 30, or as many as show 600,000 rows, but 8; they end a
              quarter of that after the best one, for every kind of network by itself
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from torch import nn

from smilenn.domain import Domain
from smilenn.errors import SmileError
from smilenn.model.auxiliaries import AuxiliaryKind
from smilenn.model.net import SmileNet
from smilenn.model.snapshot import Boxes
from smilenn.properties.cases import Cases
from smilenn.properties.claim import Claim
from smilenn.properties.forms import Outputs
from smilenn.train.around import Foreign
from smilenn.train.boosted import Directions
from smilenn.train.config import Config
from smilenn.train.coordinates import Coordinates, coordinates, unconditional
from smilenn.train.planned_cases import planned, without_clauses
from smilenn.train.recipes.stated import Kind, Stated, read
from smilenn.train.within import Spare

Family = Literal["given", "boxed", "premised", "distances", "contractions", "ensemble", "curved", "plain"]
Numbers = np.ndarray | float
FULL, BATCH, STEPS, PASSES = 512, 256, 1500, 600_000


@dataclass(frozen=True)
class Design:
    """What the user has chosen of the network; the estimators' parameters of the same names say more.

    `encoder` is ``auto``, ``image``, ``none``, an `Encoder`, or a function (domain, u [n, m]) → `Encoder`; `backbone` a
    function (inputs, outputs) → module, None for a multilayer perceptron of `backbone_sizes`; `foreign` is an estimator
    in its place (train/around.py). `sized` says that some
    size of the network without an encoder was chosen: without a rule that network is then wanted.
    """

    encoder: Any = "auto"
    boxes: Boxes = "gap"
    auxiliaries: AuxiliaryKind = "relu"
    hidden: int = 16
    embedding: int = 8
    backbone: Callable[[int, int], nn.Module] | None = None
    foreign: Foreign | None = None
    backbone_sizes: Sequence[int] = (64, 64)
    backbone_share: float = 0.0
    members: int = 4
    device: str = "cpu"
    sized: bool = False

    def made_backbone(self, inputs: int, outputs: int) -> nn.Module | None:
        """The user's own backbone, where there is one."""
        if self.backbone is None:
            return None
        made = self.backbone(inputs, outputs)
        if not isinstance(made, nn.Module):
            raise SmileError("backbone must be a function (inputs, embedding) that returns a torch module.")
        return made

    @property
    def image(self) -> bool:
        """Whether the columns are the pixels of a square image."""
        return isinstance(self.encoder, str) and self.encoder == "image"

    @property
    def automatic(self) -> bool:
        """Whether the claims decide what the network looks like."""
        usual = self.boxes == "gap" and self.auxiliaries == "relu"
        return self.image or (isinstance(self.encoder, str) and self.encoder == "auto" and usual)


@dataclass(frozen=True)
class Recipe:
    """A network ready to train, the constants of its training, why it looks as it does, and the family it is of.

    `boosted` says what boosted trees beside an ensemble's networks may read, for every output; empty: there are none.
    `spare` says what others may read and by how much they may move the outputs (train/within.py). `folds` says how many
    groups of rows are kept from some of an ensemble; 0: as many as it has networks of a kind. Where an estimator is the
    backbone, the network is trained for `claims`, and its box is then opened by `opening` [n] (train/around.py). Once
    trained, outputs are cut at `ceiling` [o], where there is one (train/capped.py).
    """

    net: SmileNet
    config: Config
    reasons: str
    family: Family
    boosted: tuple[Directions, ...] = ()
    spare: tuple[Spare, ...] = ()
    folds: int = 0
    claims: tuple[Claim, ...] | None = None
    opening: np.ndarray | None = None
    ceiling: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """A network is wanted for this table and these claims.

    Attributes
    ----------
    x : training rows [N, m], raw units.
    claims : what must hold, alternatives included; `cases` are those to train for (train/planned_cases.py).
    size, start : of the outputs [o], in output units: their spread, and their value before anything is learned.
    y : targets [N, o], where they are known; 0 and 1 if the task is to `classify`.
    unruled : nobody has stated a rule; there are no claims, or only that quantiles do not cross.
    """

    domain: Domain
    x: np.ndarray
    claims: tuple[Claim, ...]
    outputs: Outputs
    size: np.ndarray
    start: np.ndarray
    classify: bool
    y: np.ndarray | None = None
    cases: Mapping[str, Cases] = field(default_factory=dict)
    design: Design = Design()
    unruled: bool = False

    @classmethod
    def of(
        cls,
        domain: Domain,
        x: np.ndarray,
        claims: Sequence[Claim],
        *,
        size: Numbers = 1.0,
        start: Numbers = 0.0,
        classify: bool = False,
        outputs: Outputs | None = None,
        y: np.ndarray | None = None,
        design: Design | None = None,
        unruled: bool | None = None,
    ) -> Task:
        """A task whose cases are planned from the targets, or from `start` where these are not known.

        It is `unruled` if it has no claims, unless that is said.
        """
        outputs = Outputs() if outputs is None else outputs
        o = len(outputs.names)
        size, start = (np.broadcast_to(np.asarray(value, dtype=np.float64), (o,)).copy() for value in (size, start))
        y = None if y is None else y.reshape(len(y), -1)
        aims = np.tile(start, (len(x), 1)) if y is None else 2.0 * y - 1.0 if classify else y  # classes: as logits
        cases = planned(claims, domain, outputs.names, x, aims)
        design, free = Design() if design is None else design, not claims if unruled is None else unruled
        return cls(domain, x, tuple(claims), outputs, size, start, classify, y, cases, design, free)

    @cached_property
    def settled(self) -> tuple[Claim, ...]:
        """The claims, those with alternatives replaced by their cases."""
        return tuple(without_clauses(self.claims, self.cases, self.domain))

    @cached_property
    def stated(self) -> tuple[Stated, ...]:
        """What the claims ask for."""
        return read(self.settled, self.outputs, self.domain)

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of everything stated."""
        return frozenset(one.kind for one in self.stated)

    @cached_property
    def scale(self) -> np.ndarray:
        """The outputs' size as powers of two [o]."""
        return 2.0 ** np.round(np.log2(self.size))

    @cached_property
    def aim(self) -> np.ndarray | None:
        """What the outputs should be at the training rows, divided by their scale, [N, o], where that is known.

        A class is a logit of ±2, where the slope of a probability meets that of its line.
        """
        if self.y is None or self.y.size != len(self.y) * len(self.scale):
            return None
        return (4.0 * self.y - 2.0 if self.classify else self.y) / self.scale

    @cached_property
    def box(self) -> Coordinates | None:
        """Coordinates in which the claims on every single input are the ends of a fixed box, where there are any."""
        fixed = [claim for claim in self.settled if unconditional(claim)]
        if not fixed:
            return None
        known = self.start[None] if self.y is None else self.y
        return coordinates(fixed, self.domain, self.outputs.names, self.scale, self.start, self.x[: len(known)], known)


def steps(rows: int, rate: float) -> Config:
    """Batch, epochs and patience for so many training rows."""
    batch = rows if rows <= FULL else BATCH
    least = min(30.0, max(8.0, PASSES / max(1, rows)))
    epochs = round(min(300, max(least, STEPS * batch / max(1, rows))))
    return Config(
        epochs=epochs,
        batch_size=max(1, batch),
        patience=max(10, epochs // 4),
        learning_rate=rate,
        train_learning_rate=rate,
    )
