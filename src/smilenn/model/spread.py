"""What is known of the coordinates of two inputs: ranges, ranges of differences, and what certainly rises or falls.

Encoders carry a `Spread` through their layers; `Encoding` is that map, frozen, with the domain it starts from. Floats
here serve the provers; the checkers compute their own in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from smilenn.domain import Domain

WIDER = 1e-12  # relative: ranges are computed in floats for provers; the checker computes its own in rationals


@dataclass(frozen=True)
class Spread:
    """Ranges [lo, hi] of coordinates and [low, high] of their differences; which rise and fall for certain; each [i].

    `same` inputs have one value in both copies, to the bit. `axes` [i], where they are known, say more of the
    differences: Σ (Δ_i/axes_i)² ≤ 1. `size`, where it is known, bounds the Euclidean norm of the values.
    """

    lo: np.ndarray
    hi: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rises: np.ndarray
    falls: np.ndarray
    axes: np.ndarray | None = None
    size: float | None = None

    @property
    def norm(self) -> float:
        """What the Euclidean norm of all differences is at most."""
        apart = float(np.linalg.norm(np.maximum(-self.low, self.high)))
        return apart if self.axes is None else min(apart, float(self.axes.max()))

    @property
    def same(self) -> np.ndarray:
        """[i] bool, both rising and falling."""
        return self.rises & self.falls

    def joined(self, other: Spread) -> Spread:
        """The coordinates of both, one after the other."""
        names = ("lo", "hi", "low", "high", "rises", "falls")
        parts = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        if self.axes is not None and other.axes is not None:
            parts["axes"] = np.concatenate([self.axes, other.axes])
        return replace(self, **{"axes": None, "size": None, **parts})

    def at(self, columns: list[int]) -> Spread:
        """Some of the coordinates."""
        some = {name: getattr(self, name)[columns] for name in ("lo", "hi", "low", "high", "rises", "falls")}
        return replace(self, **some, axes=None if self.axes is None else self.axes[columns], size=None)

    def settled(self) -> Spread:
        """Differences cut by what is certain: not below 0 if rising, not beyond the ranges."""
        width = self.hi - self.lo
        low = np.where(self.rises, 0.0, np.maximum(np.minimum(self.low, 0.0) * (1 + WIDER), -width))
        high = np.where(self.falls, 0.0, np.minimum(np.maximum(self.high, 0.0) * (1 + WIDER), width))
        return Spread(self.lo, self.hi, low, high, self.rises, self.falls, self.axes, self.size)


@dataclass(frozen=True, eq=False)
class Encoding:
    """An encoder as provers see it: the inputs' domain, the map of spreads (u [m] → e [p]), and a digest of both.

    `encoded` [p] bool marks coordinates that come out of layers; the others pass unchanged, under their own names.
    `parts` are the places of what each branch with layers returns.
    """

    domain: Domain
    propagate: Callable[[Spread], Spread]
    encoded: np.ndarray
    digest: str
    parts: tuple[slice, ...] = ()
    known: dict[bytes, Spread] = field(default_factory=dict, repr=False)  # of spreads that were asked for before

    def of(self, start: Spread) -> Spread:
        """What the layers make of a spread; claims with one premise start from the same."""
        axes = b"" if start.axes is None else start.axes.tobytes()
        ends = (start.lo, start.hi, start.low, start.high, start.rises, start.falls)
        key = b"".join((*(values.tobytes() for values in ends), b"%r" % start.size, axes))
        if key not in self.known:
            self.known[key] = self.propagate(start)
        return self.known[key]
