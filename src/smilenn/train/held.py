"""Which rows are kept from training, to judge by."""

from __future__ import annotations

import numpy as np

from smilenn.model.net import SmileNet

LEAST = 20  # rows below which none are kept from an ensemble


def held_out(strata: np.ndarray, share: float, rng: np.random.RandomState) -> np.ndarray:
    """[n] bool: a random share of the rows, of each class in `strata` [n]."""
    held = np.zeros(len(strata), dtype=bool)
    for value in np.unique(strata):
        members = np.flatnonzero(strata == value)
        held[rng.permutation(members)[: round(share * len(members))]] = True
    return held


def kept_rows(
    y: np.ndarray, net: SmileNet, share: float, classes: bool, rng: np.random.RandomState, folds: int = 0
) -> np.ndarray:
    """[N, G] bool: what each of the G groups of members is judged by instead of learning from it; y [N].

    Each group of an ensemble has rows of its own, so that the mean has learned from all; a backbone that takes part, or
    an encoder that is not an ensemble, has the same rows kept from everything. Of few rows none are kept. There are
    more `folds` than groups where boosters are more than networks (`folded`).
    """
    groups = max(folds, 1 if net.encoder is None else max(1, net.encoder.groups))
    held = np.zeros((len(y), groups), dtype=bool)
    if len(y) < LEAST:
        return held
    for value in np.unique(y) if classes else (None,):
        members = rng.permutation(np.arange(len(y)) if value is None else np.flatnonzero(y == value))
        size = share * len(members)
        for g in range(groups):
            first = g if net.collapsed else 0
            held[members[round(first * size) : round((first + 1) * size)], g] = True
    return held


def folded(held: np.ndarray, groups: int) -> np.ndarray:
    """[N, groups] bool: what fewer groups are judged by, each by every so-manieth column of `held` [N, G].

    >>> folded(np.eye(4, dtype=bool), 2).astype(int).tolist()
    [[1, 0], [0, 1], [1, 0], [0, 1]]
    """
    if held.shape[1] <= groups:
        return held
    return np.stack([held[:, g::groups].any(axis=1) for g in range(groups)], axis=1)
