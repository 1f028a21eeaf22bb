"""The same tuning for every peer: as many settings on the same inner folds, then one fit to all training rows.

    setting* = argmin_s mean over folds of the loss on the fold's kept rows
    rounds*  = the mean over folds of the rounds after which they were predicted best

Large tables have one inner fold, smaller ones two.
"""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from smilenn.errors import SmileError, listed
from smilenn.experiments.peers.additive import Additive
from smilenn.experiments.peers.boosted import CatBoost, HistGB, LightGBM, XGBoost
from smilenn.experiments.peers.clamped import Clamped
from smilenn.experiments.peers.dense import Linear, Lipschitz, Network
from smilenn.experiments.peers.task import Output, Peer, Rows, Setting

PEERS: dict[str, Peer] = {
    "lightgbm": LightGBM(),
    "xgboost": XGBoost(),
    "catboost": CatBoost(),
    "histgb": HistGB(),
    "ebm": Additive(),
    "network": Network(),
    "mononet": Lipschitz(),
    "linear": Linear(),
}
CLAMPED: dict[str, Clamped] = {f"{name}-clamped": Clamped(PEERS[name]) for name in ("lightgbm", "catboost")}
NEEDS = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost", "ebm": "interpret"}
FOLDS, SHARE, LARGE = 2, 0.2, 10_000


@dataclass(frozen=True)
class Tuned:
    """A peer fitted to all rows, the setting that inner folds chose, and their mean loss at it."""

    output: Output
    setting: Setting
    loss: float


def tuned(name: str, rows: Rows, *, tried: int | None = None) -> Tuned:
    """The peer of that name at its best setting; `tried` looks at the first so many of them alone."""
    every: dict[str, Any] = {**PEERS, **CLAMPED}
    if name not in every:
        raise SmileError(f"There is no peer {name!r}; peers are {listed(every, 20)}.")
    library = NEEDS.get(name.removesuffix("-clamped"))
    if library is not None and importlib.util.find_spec(library) is None:
        raise SmileError(f"The peer {name!r} needs {library}: pip install 'smilenn[peers]'.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' own, on gaps and on each other's new versions
        return _tuned(every[name], rows, tried)


def _tuned(peer: Peer, rows: Rows, tried: int | None) -> Tuned:
    found = []
    for setting in peer.settings[:tried]:
        losses, rounds = [], []
        for kept, held in _folds(rows):
            fitted = peer(kept, setting, held=held)
            losses.append(held.loss(fitted.output(held.frame)))
            rounds.append(fitted.rounds)
        found.append((float(np.mean(losses)), setting, _mean(rounds)))
    loss, setting, rounds = min(found, key=lambda one: one[0])
    return Tuned(peer(rows, setting, rounds=rounds).output, setting, loss)


def _folds(rows: Rows) -> list[tuple[Rows, Rows]]:
    """What is learned from and what is kept, the same for every peer of a seed."""
    order = np.random.default_rng(rows.seed).permutation(len(rows.y))
    size = round(SHARE * len(order))
    parts = [order[k * size : (k + 1) * size] for k in range(1 if len(order) > LARGE else FOLDS)]
    return [(rows.at(np.setdiff1d(order, part)), rows.at(np.sort(part))) for part in parts]


def _mean(rounds: list[int | None]) -> int | None:
    said = [one for one in rounds if one is not None]
    return max(1, round(float(np.mean(said)))) if said else None
