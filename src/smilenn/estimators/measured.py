"""The quality of a clamp: forgotten as soon as the model inside says something else than when it was measured.

A clamped model is anybody's program, so no digest names its weights. What it says at a few rows of the domain does: a
model that has learned anything since, or was exchanged, says something else there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from smilenn.model.net import SmileNet
    from smilenn.report.standing import Standing

ROWS = 5  # each is a call of the model


class Measured:
    """Base of the clamps: ``quality_``, and what the clamp said when it was set."""

    net_: SmileNet
    _quality: Standing | None
    _said: np.ndarray | None

    @property
    def quality_(self) -> Standing | None:
        """How well the clamp predicts on up to 200 rows of `fit`; None where the model says something else by now."""
        found, said = self._quality, self._said
        return found if said is not None and np.array_equal(_answers(self.net_), said) else None

    @quality_.setter
    def quality_(self, found: Standing | None) -> None:
        self._quality, self._said = found, None if found is None else _answers(self.net_)


def _answers(net: SmileNet) -> np.ndarray:
    """What a clamp says at the same few rows of its domain every time."""
    return net.predict(net.domain.sample(ROWS, np.random.default_rng(0)))
