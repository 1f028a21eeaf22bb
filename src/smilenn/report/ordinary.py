"""An ordinary network as a reference: scikit-learn's multilayer perceptron on the same inputs, without any rule.

Labels are regressed on 0 and 1, quantiles are those of the residuals around the predicted mean. Inputs are
standardised; one epoch of Adam after the other until the time is over or a tenth of the rows, held out, has not
improved for ten epochs; the best epoch on those rows counts.
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
UNSURE = 0.02  # how near to 0 or 1 the probability of a label is taken to be that was regressed
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
    task: str
    shift: np.ndarray
    scale: np.ndarray

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Raw inputs [n, m] → outputs [n, o]."""
        u = (x[:, self.seen] - self.centre) / self.size
        if isinstance(self.net, MLPClassifier):
            p = np.log(np.clip(self.net.predict_proba(u), math.exp(-LARGEST_LOGIT), 1.0))
            return p if self.task == "multiclass" else p[:, 1:] - p[:, :1]
        found = self.net.predict(u).reshape(len(u), -1) * self.scale + self.shift
        if self.task != "multilabel":
            return found
        p = np.clip(found, UNSURE, 1 - UNSURE)
        return np.log(p) - np.log(1 - p)


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
    task, names = model.task, model.outputs_.names
    classes = task in ("binary", "multiclass")
    y = rows.y[:, :1] if task == "quantiles" else rows.y
    shift, scale = y.mean(axis=0), y.std(axis=0)
    shift, scale = (np.zeros(1), np.ones(1)) if classes else (shift, np.where(scale > 0, scale, 1.0))
    y = rows.y.argmax(axis=1) if task == "multiclass" else (y - shift) / scale
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    kind: Any = MLPClassifier if classes else MLPRegressor
    net = kind(hidden_layer_sizes=SIZES, random_state=seed, batch_size=min(256, int((~held).sum())))
    known = {"classes": np.arange(max(2, len(names)))} if classes else {}
    net = _trained(net, u, y, held, known, seconds)
    if task == "quantiles":
        rest = y * scale + shift - (net.predict(u) * scale + shift)
        shift = shift + np.quantile(rest, [float(name[1:]) for name in names])
    return Ordinary(domain, names, seen, centre, size, net, task, shift, scale)


def _trained(net: Any, u: np.ndarray, y: np.ndarray, held: np.ndarray, known: dict[str, Any], seconds: float) -> Any:
    """The net as it was when held-out rows liked it best; training rows where none are held out."""
    judged = held if held.any() else ~held
    best, least, stall, end = net, math.inf, 0, time.perf_counter() + seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a number of epochs that was not asked for
        for _ in range(EPOCHS):
            net.partial_fit(u[~held], y[~held], **known)
            loss, stall = _loss(net, u[judged], y[judged], bool(known)), stall + 1
            if loss < least:
                best, least, stall = copy.deepcopy(net), loss, 0
            if stall >= PATIENCE or time.perf_counter() > end:
                break
    return best


def _loss(net: Any, u: np.ndarray, y: np.ndarray, classes: bool) -> float:
    """The mean log loss of classes, or the mean squared error."""
    if not classes:
        return float(((net.predict(u) - y) ** 2).mean())
    p = np.clip(net.predict_proba(u), math.exp(-LARGEST_LOGIT), 1.0)
    return float(-np.log(p[np.arange(len(p)), y.astype(int)]).mean())
