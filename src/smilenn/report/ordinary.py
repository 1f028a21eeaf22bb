"""An ordinary network as a reference: scikit-learn's multilayer perceptron on the same inputs, without any rule.

Inputs are standardised; one epoch of Adam after the other until the time is over or a tenth of the rows, held out, has
not improved for ten epochs; the best epoch on those rows counts.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from smilenn.domain import Domain
from smilenn.report.model import Reported, Rows

EPOCHS = 300
PATIENCE = 10
SIZES = (32, 32)
LARGEST_LOGIT = 36.0  # beyond it a probability in float64 is 0 or 1


@dataclass(frozen=True, eq=False)
class Ordinary:
    """A fitted perceptron that sees some of the coordinates; outputs in the target's units, or logits."""

    domain: Domain
    outputs: tuple[str, ...]
    seen: np.ndarray
    centre: np.ndarray
    size: np.ndarray
    net: Any
    shift: float
    scale: float

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Raw inputs [n, m] → outputs [n, 1]."""
        u = (x[:, self.seen] - self.centre) / self.size
        if isinstance(self.net, MLPClassifier):
            p = np.clip(self.net.predict_proba(u), math.exp(-LARGEST_LOGIT), 1.0)
            return (np.log(p[:, 1]) - np.log(p[:, 0]))[:, None]
        return (self.net.predict(u) * self.scale + self.shift)[:, None]


def ordinary(model: Reported, rows: Rows, dropped: Sequence[str], *, seconds: float, seed: int = 0) -> Ordinary:
    """Train on rows with a known target, without the features `dropped`, within `seconds`."""
    assert rows.y is not None
    domain, rng = model.domain_, np.random.default_rng(seed)
    hidden = [i for name in dropped for i in domain.indices(name)]
    seen = np.setdiff1d(np.arange(domain.size), hidden)
    x = rows.x[:, seen]
    centre, size = x.mean(axis=0), x.std(axis=0)
    size = np.where(size > 0, size, 1.0)
    u = (x - centre) / size
    held = np.zeros(len(u), dtype=bool)
    held[rng.permutation(len(u))[: len(u) // 10]] = True
    judged = held if held.any() else ~held
    binary = model.task == "binary"
    shift, scale = (0.0, 1.0) if binary else (float(rows.y.mean()), float(rows.y.std()) or 1.0)
    y = (rows.y - shift) / scale
    kind: Any = MLPClassifier if binary else MLPRegressor
    net = kind(hidden_layer_sizes=SIZES, random_state=seed, batch_size=min(256, int((~held).sum())))
    classes = {"classes": np.array([0.0, 1.0])} if binary else {}
    best, least, stall, end = None, math.inf, 0, time.perf_counter() + seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a number of epochs that was not asked for
        for _ in range(EPOCHS):
            net.partial_fit(u[~held], y[~held], **classes)
            found = Ordinary(domain, ("",), seen, centre, size, net, 0.0, 1.0).predict(rows.x[judged])[:, 0]
            each = np.logaddexp(0.0, found) - y[judged] * found if binary else (found - y[judged]) ** 2
            loss, stall = float(each.mean()), stall + 1
            if loss < least:
                best, least, stall = copy.deepcopy(net), loss, 0
            if stall >= PATIENCE or time.perf_counter() > end:
                break
    return Ordinary(domain, ("",), seen, centre, size, best or net, shift, scale)
