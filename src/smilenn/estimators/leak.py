"""Columns that give the target away: the target itself under another name, row by row.

    x_i = y_k   or, of two classes,   x_i = 1 − y_k,   in every row

Both as numbers, as the network sees them: however a column is written, and whatever its two names are called.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smilenn.domain import Domain
from smilenn.estimators.targets import Target

LEAST = 30  # rows from which equality is no accident


class LeakWarning(UserWarning):
    """A column holds the target."""


def copies(domain: Domain, x: np.ndarray, target: Target) -> Iterator[str]:
    """A sentence for every feature of inputs x [n, m] (raw units) that is one of the targets [n, o]."""
    if len(x) < LEAST:
        return
    for feature in domain.features:
        if any(_copied(column, target) for column in x[:, domain.slices[feature.name]].T):
            yield (
                f"Column {feature.name!r} holds the target itself in every row: a model that reads it copies it, and "
                "its quality says nothing about rows whose target is not known yet; leave the column out."
            )


def _copied(column: np.ndarray, target: Target) -> bool:
    """Whether a coordinate [n] is an output of the target, or one of two classes the other way round."""
    if any(np.array_equal(column, values) for values in target.y.T):
        return bool(np.ptp(column) > 0)
    return target.task == "binary" and np.array_equal(column, 1.0 - target.y[:, 0])
