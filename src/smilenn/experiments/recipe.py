"""A recipe turns properties into an estimator: the two columns of every table, "faithful" and "default", are recipes.

faithful   the paper's free pair of auxiliaries, its sizes and epochs, no feasible start
default    flip-free boxes from a feasible start
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from smilenn.datasets.base import Task
from smilenn.domain import Domain
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.regressor import SmileRegressor
from smilenn.properties.base import Property
from smilenn.train.config import Config


@dataclass(frozen=True)
class Recipe:
    """Architecture and constants of one column."""

    boxes: Literal["gap", "paper"] = "gap"
    auxiliaries: Literal["constant", "affine", "relu"] = "relu"
    hidden: int = 16
    embedding: int = 8
    sizes: Sequence[int] = (32, 32)
    backbone: Callable[[int, int], Any] | None = None
    config: Config = field(default_factory=Config)
    restarts: int = 1

    def estimator(
        self, task: Task, properties: Sequence[Property], domain: Domain, seed: int, device: str = "cpu"
    ) -> SmileEstimator:
        """A fresh estimator; rows outside the domain are clamped to it."""
        kind = SmileClassifier if task == "binary" else SmileRegressor
        return kind(
            properties=properties, domain=domain, boxes=self.boxes, auxiliaries=self.auxiliaries, hidden=self.hidden,
            embedding=self.embedding, backbone=self.backbone, backbone_sizes=self.sizes, config=self.config,
            restarts=self.restarts, random_state=seed, device=device, out_of_bounds="clamp",
        )  # fmt: skip


def store(estimator: SmileEstimator, folder: Path | None, name: str) -> None:
    """Save as a model folder that `smile prove` and `smilenn.load` read, where a folder for models was asked for."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    if place.exists() and (place / "manifest.json").exists():  # of an earlier run
        shutil.rmtree(place)
    estimator.save(place)
