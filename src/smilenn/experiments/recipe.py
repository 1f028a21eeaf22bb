"""A recipe turns properties into an estimator: the two columns of every table, "faithful" and "default", are recipes.

faithful   the paper's free pair of auxiliaries, its sizes and epochs, no feasible start
default    what the estimators choose by the properties: an encoder where there is one for them
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from smilenn.datasets.base import TaskName
from smilenn.domain import Domain
from smilenn.estimators.base import SmileEstimator
from smilenn.estimators.classifier import SmileClassifier
from smilenn.estimators.options import Network
from smilenn.estimators.regressor import SmileRegressor
from smilenn.estimators.store import load
from smilenn.experiments.study import Options
from smilenn.properties.base import Property
from smilenn.train.config import Config
from smilenn.verdict import Proved


@dataclass(frozen=True)
class Setup:
    """Architecture and constants of one column."""

    boxes: Literal["gap", "paper"] = "gap"
    auxiliaries: Literal["constant", "affine", "relu"] = "relu"
    hidden: int = 16
    embedding: int = 8
    sizes: Sequence[int] = (32, 32)
    backbone: Callable[[int, int], Any] | None = None
    config: Config | None = field(default_factory=Config)  # None: what comes with the encoder
    restarts: int = 1

    def network(self, device: str = "cpu") -> Network:
        """The architecture, and where it is trained."""
        return Network(
            boxes=self.boxes,
            auxiliaries=self.auxiliaries,
            hidden=self.hidden,
            embedding=self.embedding,
            backbone=self.backbone,
            backbone_sizes=self.sizes,
            restarts=self.restarts,
            device=device,
        )

    def estimator(
        self, task: TaskName, properties: Sequence[Property], domain: Domain, seed: int, device: str = "cpu"
    ) -> SmileEstimator:
        """A fresh estimator; rows outside the domain are clamped to it."""
        kind = SmileClassifier if task == "binary" else SmileRegressor
        return kind(
            properties=properties,
            domain=domain,
            network=self.network(device),
            config=self.config,
            random_state=seed,
            out_of_bounds="clamp",
        )


def obtained(estimator: SmileEstimator, options: Options, name: str, *data: Any) -> tuple[SmileEstimator, float]:
    """The estimator fitted on `data` and stored, and the seconds this took.

    With ``options.reuse`` a model of that name that is there already is taken instead, as an earlier run has left it,
    and certified now where it was not: its training may have run on a machine that has a GPU and no solver.
    """
    if options.reuse and options.models is not None and (options.models / name / "manifest.json").exists():
        found = load(options.models / name)
        if not (isinstance(found.verdict_, Proved) and found.verdict_.certificate):
            found.certify()
            store(found, options.models, name)
        return found, found.seconds_
    start = time.perf_counter()
    estimator.fit(*data)
    took = time.perf_counter() - start
    store(estimator, options.models, name)
    return estimator, took


def store(estimator: SmileEstimator, folder: Path | None, name: str) -> None:
    """Save as a model folder that `smile prove` and `smilenn.load` read, where a folder for models was asked for."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    if place.exists() and (place / "manifest.json").exists():  # of an earlier run
        shutil.rmtree(place)
    estimator.save(place)
