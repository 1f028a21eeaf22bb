"""Missing cells: inputs of their own by default (domain/absent.py), refused, or filled.

    indicator   a number gets an input that says whether it is missing, a category the value "missing"
    raise       an error that names row and column
    fill        what the training rows suggest:

    numbers   the lower median of the column's cells (one of them, so whole numbers stay whole)
    texts     the most frequent one, the first in order of those

A filled row is the complete row it was filled to: that is what it is predicted as, and what a certificate covers.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from smilenn.domain.table import is_text
from smilenn.errors import SmileError

Missing = Literal["indicator", "fill", "raise"]
Unknown = Literal["other", "refuse"]
Fill = dict[str, float | str]


def learn_fill(frame: pd.DataFrame) -> Fill:
    """What to put into the missing cells of each column; a column without any cell is an error."""
    out: Fill = {}
    for name in frame.columns:
        present = frame[name].dropna()
        if present.empty:
            raise SmileError(f"Column {name!r} has no cell that is not missing; drop the column.")
        if is_text(present) and pd.to_numeric(present, errors="coerce").isna().any():
            out[str(name)] = str(present.astype(str).mode().iloc[0])
        else:
            values = pd.to_numeric(present).to_numpy(dtype=np.float64)
            out[str(name)] = float(np.quantile(values, 0.5, method="lower"))
    return out


def filled(frame: pd.DataFrame, fill: Fill) -> pd.DataFrame:
    """The frame with its missing cells filled; a column that lacks none is left as it is."""
    lacking = [name for name in frame.columns if name in fill and frame[name].isna().any()]
    return frame.assign(**{name: frame[name].astype(object).fillna(fill[name]).infer_objects() for name in lacking})
