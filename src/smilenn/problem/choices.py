"""The categories that the k copies of a region may have in one group: a list of tuples, or a product.

    listed    (p_1, …, p_k) ∈ T                    pins and strips leave only some tuples
    product   p_c ∈ P_c for every copy c by itself  nothing relates the copies, and T would be too long to list

Over a product a sum over the copies is largest where each of its terms is:

    max_T Σ_c g_c[p_c]  =  Σ_c max_{P_c} g_c[p]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Listed:
    """Tuples [T, k] of positions in the group."""

    tuples: np.ndarray

    @property
    def empty(self) -> bool:
        """Whether no tuple is left."""
        return len(self.tuples) == 0

    def best(self, gains: np.ndarray) -> np.ndarray:
        """Positions [B, k] with the largest Σ_c gains[:, c, p_c]; gains [B, k, size]."""
        return self.tuples[self._values(gains).argmax(axis=1)]

    def largest(self, gains: np.ndarray) -> np.ndarray:
        """The largest such sum, [B]."""
        return self._values(gains).max(axis=1)

    def _values(self, gains: np.ndarray) -> np.ndarray:
        return np.asarray(sum(gains[:, c, self.tuples[:, c]] for c in range(gains.shape[1])))  # [B, T]

    def differences(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of weight[:, p_1] − weight[:, p_2] of two copies, each [H]; weight [H, size]."""
        steps = weight[:, self.tuples[:, 0]] - weight[:, self.tuples[:, 1]]
        return steps.min(axis=1), steps.max(axis=1)

    def drawn(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Tuples [count, k] at random."""
        return self.tuples[rng.integers(0, len(self.tuples), count)]


@dataclass(frozen=True, eq=False)
class Product:
    """Positions P_c of every copy, by themselves."""

    each: Sequence[Sequence[int]]

    @property
    def empty(self) -> bool:
        """Whether a copy has no position left."""
        return any(len(own) == 0 for own in self.each)

    def best(self, gains: np.ndarray) -> np.ndarray:
        """Positions [B, k] with the largest Σ_c gains[:, c, p_c]; gains [B, k, size]."""
        pairs = enumerate(map(np.asarray, self.each))
        return np.stack([own[gains[:, c, own].argmax(axis=1)] for c, own in pairs], axis=1)

    def largest(self, gains: np.ndarray) -> np.ndarray:
        """The largest such sum, [B]."""
        return np.asarray(sum(gains[:, c, own].max(axis=1) for c, own in enumerate(self.each)))

    def differences(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of weight[:, p_1] − weight[:, p_2] of two copies, each [H]; weight [H, size]."""
        first, second = (weight[:, own] for own in self.each)
        return first.min(axis=1) - second.max(axis=1), first.max(axis=1) - second.min(axis=1)

    def drawn(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Tuples [count, k] at random."""
        return np.stack([rng.choice(own, count) for own in self.each], axis=1)
