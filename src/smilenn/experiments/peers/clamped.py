"""A peer that reads the protected columns z and is cut to what a fair model may do with them.

    f(x, z) = clip(h(x, z), m(x) − ε/2, m(x) + ε/2),       m(x) = (min_z h(x, z) + max_z h(x, z))/2

h is held to the signs, z runs over the values of the training rows. Minima, maxima and cuts keep order, so f has the
signs of h; and f(x, z) differs from f(x, z') by ε at most.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from smilenn.experiments.peers.task import Fitted, Output, Peer, Rows, Setting


@dataclass(frozen=True)
class Clamped:
    """Another peer with its outputs cut."""

    peer: Peer

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Those of the other peer."""
        return self.peer.settings

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows; held ones stop the other peer before it is cut."""
        fitted = self.peer(rows, setting, held=held, rounds=rounds)
        return replace(fitted, output=_cut(fitted.output, rows))


def _cut(output: Output, rows: Rows) -> Output:
    names, half = list(rows.protected), rows.eps / 2
    groups = list(itertools.product(*(rows.frame[name].dropna().unique() for name in names)))

    def cut(frame: pd.DataFrame) -> np.ndarray:
        each = np.stack([output(_as_group(frame, names, group)) for group in groups])
        middle = (each.min(axis=0) + each.max(axis=0)) / 2
        return np.clip(output(frame), middle - half, middle + half)

    return cut


def _as_group(frame: pd.DataFrame, names: list[str], group: tuple[object, ...]) -> pd.DataFrame:
    """The rows as members of one group."""
    same = {
        name: pd.Series([value] * len(frame), index=frame.index).astype(frame[name].dtype)
        for name, value in zip(names, group, strict=True)
    }
    return frame.assign(**same)
