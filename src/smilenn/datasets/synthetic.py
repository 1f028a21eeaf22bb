"""Synthetic tasks of the paper, with no noise: what a model misses is the price of the rule, not of the data.

    sine    y = x + α sin(ωx),  x uniform on [−10, 10];  the model is asked to be non-decreasing
    cubic   y = x³,             x uniform on [−1, 1]

Train and test draws of one seed come from independent random streams.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset

Part = Literal["train", "test"]


def make_monotone_sine(
    alpha: float, omega: float, n: int = 1000, seed: int = 0, part: Part = "train"
) -> Dataset[pd.DataFrame]:
    """n points of y = x + α sin(ωx); column ``x``, target ``y``. Not monotone itself wherever αω > 1.

    >>> data = make_monotone_sine(2.0, 0.6, n=5)
    >>> data.frame.shape, data.increasing
    ((5, 1), ('x',))
    """
    x = _uniform(-10.0, 10.0, n, seed, part)
    return Dataset(
        name=f"sine-{alpha:g}-{omega:g}",
        frame=pd.DataFrame({"x": x}),
        target=pd.Series(x + alpha * np.sin(omega * x), name="y"),
        task="regression",
        increasing=("x",),
        description=f"y = x + {alpha:g} sin({omega:g} x) on [-10, 10], to be fitted by a non-decreasing model",
        source="synthetic",
    )


def make_cubic(n: int = 1000, seed: int = 0, part: Part = "train") -> Dataset[pd.DataFrame]:
    """n points of y = x³ on [−1, 1]; column ``x``, target ``y``.

    >>> float(make_cubic(n=200).target.abs().max()) <= 1.0
    True
    """
    x = _uniform(-1.0, 1.0, n, seed, part)
    return Dataset(
        name="cubic",
        frame=pd.DataFrame({"x": x}),
        target=pd.Series(x**3, name="y"),
        task="regression",
        description="y = x^3 on [-1, 1]",
        source="synthetic",
    )


def _uniform(lo: float, hi: float, n: int, seed: int, part: Part) -> np.ndarray:
    if n < 1:
        raise DataError(f"A draw needs at least one row, got n = {n}.")
    if part not in ("train", "test"):
        raise DataError(f"There is no part {part!r}; choose 'train' or 'test'.")
    return np.random.default_rng([seed, int(part == "test")]).uniform(lo, hi, n)
