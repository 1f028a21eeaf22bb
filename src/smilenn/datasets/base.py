"""What a loader returns: features in the user's units, the target, and what the task asks of a model.

Loaders follow scikit-learn's naming: `make_*` draws a synthetic task, `load_*` reads data that ships with an installed
package, `fetch_*` reads a file from disk and downloads it when it is missing and an address is known. A `Dataset`
answers to the names of scikit-learn's bunches: ``data``, ``target``, ``feature_names``, ``DESCR``; `return_X_y` gives
the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
import pandas as pd

from smilenn.errors import SmileError

TaskName = Literal["regression", "binary"]

FeaturesT = TypeVar("FeaturesT", pd.DataFrame, np.ndarray)


class DataError(SmileError):
    """A data file is missing, damaged or not the file that was expected; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Dataset(Generic[FeaturesT]):
    """n rows of features with their target.

    Attributes
    ----------
    name : short name, for tables and file names.
    frame : the raw features, n rows: a data frame in the user's units, text columns categorical; for images an array
        [n, pixels] with values in [0, 1].
    target : n values; floats for a regression, 0 and 1 for a binary task.
    task : ``regression`` or ``binary``.
    protected : columns that a fair model must not depend on much.
    increasing, decreasing : columns in which the task asks the model to rise (fall).
    description : what a row is and what is predicted.
    source : where the data come from.

    >>> import pandas as pd
    >>> data = Dataset("toy", pd.DataFrame({"x": [1.0, 2.0]}), pd.Series([0, 1], name="y"), "binary")
    >>> len(data), data.feature_names
    (2, ('x',))
    """

    name: str
    frame: FeaturesT
    target: pd.Series
    task: TaskName
    protected: tuple[str, ...] = ()
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()
    description: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if len(self.frame) != len(self.target):
            raise DataError(
                f"Data set {self.name!r} has {len(self.frame)} rows of features but {len(self.target)} targets; "
                "give one target per row."
            )
        named = (*self.protected, *self.increasing, *self.decreasing)
        unknown = sorted(set(named) - set(self.feature_names))
        if unknown:
            raise DataError(f"Data set {self.name!r} has no column {unknown[0]!r}; name one of its features.")

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The column names; for arrays ``x0``, ``x1``, …"""
        if isinstance(self.frame, pd.DataFrame):
            return tuple(str(column) for column in self.frame.columns)
        return tuple(f"x{index}" for index in range(self.frame.shape[1]))

    @property
    def data(self) -> FeaturesT:
        """scikit-learn's name of `frame`: the features alone."""
        return self.frame

    @property
    def DESCR(self) -> str:
        """What the data are and where they come from."""
        return f"{self.description} ({len(self)} rows, {len(self.feature_names)} features; {self.source})"

    def X_y(self) -> tuple[FeaturesT, pd.Series]:
        """Features and target."""
        return self.frame, self.target
