"""scikit-learn's 1,797 handwritten digits of 8×8 pixels, "is it a zero?": robustness without a download.

Pixels 0…16 become value/16 in [0, 1]. The train/test split is fixed: `split(…, seed=0, test=0.2)`, stratified, which
gives 1,437 training images (142 zeros) and 360 test images (36 zeros).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.split import split

LARGEST_PIXEL = 16.0


def load_digits_zero(part: Literal["all", "train", "test"] = "all") -> Dataset[np.ndarray]:
    """The digits [n, 64], row by row of the image, target ``zero``: all of them or one part of the fixed split.

    >>> load_digits_zero("test").frame.shape
    (360, 64)
    """
    if part not in ("all", "train", "test"):
        raise DataError(f"There is no part {part!r}; choose 'all', 'train' or 'test'.")
    from sklearn.datasets import load_digits  # slow to import, and only this loader needs it

    pixels, digits = load_digits(return_X_y=True)
    data = Dataset(
        name="digits-zero",
        frame=np.asarray(pixels, dtype=np.float64) / LARGEST_PIXEL,
        target=pd.Series((np.asarray(digits) == 0).astype(np.int64), name="zero"),
        task="binary",
        description="8x8 images of handwritten digits; 1 if the digit is a zero",
        source="scikit-learn's load_digits (UCI Optical Recognition of Handwritten Digits, test part)",
    )
    if part == "all":
        return data
    train, test = split(data, seed=0, test=0.2)
    return train if part == "train" else test
