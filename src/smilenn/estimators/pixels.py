"""Whether the columns of a table look like the pixels of square images, and what such a table must be.

A table looks like images of s × s pixels, s ≥ 8, if its m = s² columns are numbers without gaps and

    median_i (max x_i − min x_i) ≥ (max x − min x)/2                 one range: 0 to 1, 0 to 16, 0 to 255, …
    min(ρ(right), ρ(below)) ≥ max(ρ(random), ρ(between)) + 0.2       neighbours are alike

ρ is the mean correlation over pairs of columns: a pixel and the one to its right, the one below it, one at random, and
the one s/2 columns further on. The last tells images from series, in which near columns are alike too: there a lag of
s/2 correlates more than one of s. Constant pixels are left out. At most 2,000 rows are looked at, spread over the
table, and fewer than 30 are not enough. 8 × 8 digits have .32 and .48 for neighbours, .06 for others; MNIST has .69 and
.04; the same columns in another order, random walks, spectra and independent columns have no such gap.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from smilenn.domain import Domain
from smilenn.errors import SmileError, listed
from smilenn.estimators.options import Columns, Network
from smilenn.properties.base import Property
from smilenn.properties.claim import Claim
from smilenn.properties.library import Robust

LEAST_SIDE, LEAST_ROWS, MOST_ROWS, PAIRS = 8, 30, 2000, 2000
ONE_RANGE, CLEARLY = 0.5, 0.2


@dataclass(frozen=True)
class Likeness:
    """A table that looks like images: their side, and the mean correlation of neighbours and of other pairs."""

    side: int
    near: float
    far: float

    def sentence(self) -> str:
        """What was seen, and what follows."""
        return (
            f"The columns look like images of {self.side} × {self.side} pixels (neighbours correlate by "
            f"{self.near:.2f}, other pairs by {self.far:.2f}), so the network is that of Network(encoder='image')."
        )


def recognised(
    frame: pd.DataFrame,
    properties: Sequence[Property | Claim],
    network: Network,
    domain: Domain | Columns,
) -> Likeness | None:
    """Images, where the user leaves the network to the properties and these are robust over all columns."""
    if not (_is_open(network) and _of_pixels(properties) and _may_be_pixels(domain)):
        return None
    return likeness(frame)


def _is_open(network: Network) -> bool:
    """Whether the network's shape is nobody's choice yet."""
    free = isinstance(network.encoder, str) and network.encoder == "auto" and network.backbone is None
    return free and network.boxes == "gap" and network.auxiliaries == "relu"


def _of_pixels(properties: Sequence[Property | Claim]) -> bool:
    """Whether all are `Robust`, with a delta for all columns and some ε: what networks of images keep."""
    robust = [item for item in properties if isinstance(item, Robust)]
    whole = all(not isinstance(one.delta, tuple) and one.features is None and one.eps != 0 for one in robust)
    return whole and 0 < len(robust) == len(properties)


def _may_be_pixels(domain: Domain | Columns) -> bool:
    """Whether nothing declared says otherwise."""
    if isinstance(domain, Domain):
        return all(feature.kind == "continuous" for feature in domain.features)
    kinds = set((domain.kinds or {}).values())
    return not domain.groups and not domain.order and kinds <= {"continuous"}


def likeness(frame: pd.DataFrame) -> Likeness | None:
    """The images that a table looks like; None where it does not."""
    side = math.isqrt(frame.shape[1])
    if side < LEAST_SIDE or side * side != frame.shape[1] or len(frame) < LEAST_ROWS or not _all_numbers(frame):
        return None
    rows = np.linspace(0, len(frame) - 1, min(len(frame), MOST_ROWS)).astype(int)
    x = frame.iloc[rows].to_numpy(dtype=np.float64)
    spans = np.ptp(x, axis=0)
    moving = spans > 0
    if not (np.isfinite(x).all() and moving.any()):
        return None
    if np.median(spans[moving]) < ONE_RANGE * (x[:, moving].max() - x[:, moving].min()):
        return None
    near, far = _correlations(x, moving, side)
    return Likeness(side, near, far) if near >= far + CLEARLY else None


def _all_numbers(frame: pd.DataFrame) -> bool:
    return all(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes)


def _correlations(x: np.ndarray, moving: np.ndarray, side: int) -> tuple[float, float]:
    """min(ρ(right), ρ(below)) and max(ρ(random), ρ(between)) of rows x [n, m]."""
    deviation = x.std(axis=0)
    moving = moving & (deviation > 0)
    z = (x - x.mean(axis=0)) / np.where(moving, deviation, 1.0)
    place, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(0)

    def mean(i: np.ndarray, j: np.ndarray) -> float:
        kept = moving[i] & moving[j] & (i != j)
        return float((z[:, i[kept]] * z[:, j[kept]]).mean()) if kept.any() else 0.0

    right, below = mean(place[:, :-1].ravel(), place[:, 1:].ravel()), mean(place[:-1].ravel(), place[1:].ravel())
    random = mean(*rng.integers(side * side, size=(2, PAIRS)))
    between = mean(place.ravel()[: -(side // 2)], place.ravel()[side // 2 :])
    return min(right, below), max(random, between)


def check_pixels(domain: Domain) -> None:
    """Raise where a table is not of pixels: it has categories, missing cells, or no square number of columns."""
    absent = set(domain.indicators.values())
    names = [f.name for f in domain.features if (f.kind == "category" or f.categories) and f.name not in absent]
    if names:
        raise SmileError(
            f"Network(encoder='image') is for pixels, and {listed(names, 3)} {_holds(names)} categories; leave such "
            "columns out, or use Network(encoder='auto')."
        )
    if domain.indicators:
        raise SmileError(
            f"Network(encoder='image') is for images without missing pixels, and {listed(domain.indicators, 3)} "
            f"{_holds(domain.indicators)} missing cells; fill them in, as missing='fill' does."
        )
    if math.isqrt(domain.size) ** 2 != domain.size:
        raise SmileError(
            f"Network(encoder='image') is for square images, and {domain.size} columns are no square; cut or pad the "
            "images to a square, as in 28 × 28 = 784 columns, or use Network(encoder='auto')."
        )


def _holds(names: Collection[str]) -> str:
    return "holds" if len(names) == 1 else "hold"
