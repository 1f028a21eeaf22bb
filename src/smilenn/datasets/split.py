"""Train and test parts of a data set.

Each class c of a binary target with n_c rows puts round(test · n_c) of them in the test part, so both parts have its
share of positives; a regression is one class. Which rows, a seeded permutation says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smilenn.datasets.base import DataError, Dataset, FeaturesT


def split(
    dataset: Dataset[FeaturesT], seed: int = 0, test: float = 0.2
) -> tuple[Dataset[FeaturesT], Dataset[FeaturesT]]:
    """Split n rows in two data sets (train, test), stratified by class for binary targets.

    Rows keep their order and their index, so a row can be traced back. `test` is the share of the test part, in (0, 1).

    >>> from smilenn.datasets import make_credit
    >>> train, test = split(make_credit(100, seed=0), seed=0)
    >>> len(train), len(test)
    (80, 20)
    """
    in_test = held_back(dataset, seed, test)
    return rows_of(dataset, np.flatnonzero(~in_test)), rows_of(dataset, np.flatnonzero(in_test))


def held_back(dataset: Dataset, seed: int, test: float) -> np.ndarray:
    """Which rows go to the test part, [n] bool."""
    if not 0.0 < test < 1.0:
        raise DataError(f"The test share must lie between 0 and 1, got {test}; 0.2 holds back every fifth row.")
    rng = np.random.default_rng(seed)
    classes = dataset.target.to_numpy() if dataset.task == "binary" else np.zeros(len(dataset))
    in_test = np.zeros(len(dataset), dtype=bool)
    for value in np.unique(classes):
        members = np.flatnonzero(classes == value)
        in_test[rng.permutation(members)[: round(test * len(members))]] = True
    if in_test.all() or not in_test.any():
        raise DataError(f"Data set {dataset.name!r} has {len(dataset)} rows, too few to hold back a share of {test}.")
    return in_test


def rows_of(dataset: Dataset[FeaturesT], rows: np.ndarray) -> Dataset[FeaturesT]:
    """The data set with only the given rows, [k] integer positions."""
    frame = dataset.frame
    picked = frame[rows] if isinstance(frame, np.ndarray) else frame.iloc[rows]
    return replace(dataset, frame=picked, target=dataset.target.iloc[rows])
