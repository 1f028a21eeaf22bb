"""Boosters of several classes that learn together, each under signs of its own.

    log Σ_t e^f_t  ≤  e^a·Σ_t e^f_t − a − 1,      equal where a = −log Σ_t e^f_t

scikit-learn's booster of several classes takes no signs. So the cross-entropy log Σ e^f_t − f_y is bounded as above.
With a fixed, the bound falls apart into one Poisson regression of 1[y = t] for every class, with the offset a, and an
offset is a weight:

    e^(a + f) − y·f  =  w·(e^f − (y/w)·f),      w = e^a

Trees are added piece by piece to all classes, and a is set anew before every piece. Without the offsets e^f_t would
have to be the probability of class t. That of a class between two others neither rises nor falls with what orders them;
margins do.

The rows kept from the boosters say when to stop, by the cross-entropy of all classes together.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from smilenn.model.threads import AsManyThreads

PIECE, SHARE = 5, 5  # the trees of a piece: at least 5, and a fifth of those that there are
PULL = 1.0  # the least weight of squares of leaves: few rows of an unlikely class would send theirs beyond all bounds
FAR = 50.0  # the largest offset
VALUES = 255  # of a column that boosters learn from: binning more of them by weights takes ten times as long


class Together:
    """Boosters of the classes [o], regressors with signs; they learn from the rows that are not held and stop by those
    that are.

    `x` are the rows as each of the boosters reads them, `y` [N] the classes as numbers, `weight` [N] of rows or None.
    """

    def __init__(
        self,
        boosters: Sequence[Any],
        x: Sequence[np.ndarray],
        y: np.ndarray,
        weight: np.ndarray | None,
        held: np.ndarray,
        patience: int,
    ) -> None:
        self.boosters = tuple(booster.set_params(**_settings(booster)) for booster in boosters)
        self.patience = patience
        self.losses: list[float] = []  # after the first tree, the second, …
        self._weight, self._kept_weight = (np.ones(n) if weight is None else weight[own] for n, own in _parts(held))
        self._hot, self._kept_y = y[~held][:, None] == np.arange(len(boosters)), y[held]
        self._kept = [own[held] for own in x]
        self._x = [np.apply_along_axis(_coarse, 0, own[~held]) for own in x]
        self._offset = np.zeros(len(self._hot))

    @property
    def best(self) -> int:
        """How many trees predict the held rows best, one at least."""
        return 1 + int(np.argmin(self.losses))

    def grow(self, trees: int) -> int:
        """Bring every booster to a number of trees, unless none of the last `patience` trees was a gain; how many
        there are.
        """
        while len(self.losses) < trees and not self._stalled():
            have = len(self.losses)
            self._add(min(trees, have + max(PIECE, have // SHARE)))
        return len(self.losses)

    def cut(self) -> None:
        """Leave every booster the trees that predict the held rows best."""
        for booster in self.boosters:
            del booster._predictors[self.best :]

    def path(self) -> Iterator[np.ndarray]:
        """Logits of the held rows [n, o] after the first tree, the second, …"""
        each = [booster.staged_predict(own) for booster, own in zip(self.boosters, self._kept, strict=True)]
        staged = zip(*each, strict=True)
        return (np.log(np.stack(means, axis=1)) for means in staged)

    def _stalled(self) -> bool:
        return bool(self.losses) and len(self.losses) - self.best >= self.patience

    def _add(self, trees: int) -> None:
        """One piece: up to this many trees of every class, all with the offset of now."""
        share = np.exp(self._offset)
        weight = self._weight * share
        for booster, x, own in zip(self.boosters, self._x, self._hot.T, strict=True):
            booster.set_params(max_iter=trees)
            with warnings.catch_warnings(), AsManyThreads():
                warnings.simplefilter("ignore")
                booster.fit(x, own / share, sample_weight=None if (weight == weight[0]).all() else weight)
        means = [booster.predict(x) for booster, x in zip(self.boosters, self._x, strict=True)]
        self._offset = -np.clip(np.log(np.sum(means, axis=0)), -FAR, FAR)
        self.losses = [self._loss(logits) for logits in self.path()]

    def _loss(self, logits: np.ndarray) -> float:
        """The cross-entropy of the held rows."""
        total = np.logaddexp.reduce(logits, axis=1)
        rows = total - logits[np.arange(len(logits)), self._kept_y]
        found = float(self._kept_weight @ rows) / max(float(self._kept_weight.sum()), 1e-12)
        return found if np.isfinite(found) else np.inf


def _settings(booster: Any) -> dict[str, Any]:
    """What makes a regressor with signs one of several that learn together."""
    pull = max(PULL, booster.l2_regularization)
    return {"loss": "poisson", "warm_start": True, "early_stopping": False, "l2_regularization": pull}


def _parts(held: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows that are learned from and those that are held: how many, and which."""
    return ((int(own.sum()), own) for own in (~held, held))


def _coarse(column: np.ndarray) -> np.ndarray:
    """A column [n] of few values: of more than `VALUES` the nearest of that many quantiles."""
    values = np.unique(column)
    if len(values) <= VALUES:
        return column
    values = np.unique(np.quantile(column, np.linspace(0, 1, VALUES), method="inverted_cdf"))
    return values[np.searchsorted((values[1:] + values[:-1]) / 2, column)]
