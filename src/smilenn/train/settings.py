"""How a training is run: seeds, restarts, rows kept from training, limits; and the files of its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from smilenn.train.config import Config

LEAST_ROWS = 200  # with fewer training rows nothing is held out, and equal rows are merged in a fixed order


@dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that say how training is run; the estimators' documentation says more.

    `config` None takes the constants that the network's recipe recommends.
    """

    restarts: int = 1
    random_state: int | np.random.RandomState | None = None
    validation_fraction: float = 0.1
    time_limit: float | None = None
    config: Config | None = None


def numbered(checkpoint: Path | str, i: int, restarts: int) -> Path:
    """A checkpoint file for each restart."""
    path = Path(checkpoint)
    return path if restarts == 1 else path.with_name(f"{path.name}.{i}")
