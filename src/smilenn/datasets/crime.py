"""Communities and Crime: violent crimes per head in 1,994 communities of the United States, scaled to [0, 1].

Identifiers, the published folds and the 23 further columns with gaps are dropped. Race is given by four shares:

    race="binary"   one column  race = [racepctblack > 0.06]  stands for the four: 96 columns, as in the paper
    race="shares"   the four shares stay and are protected together: 99 columns
"""

from __future__ import annotations

import io
import os
import re
from typing import Literal, overload

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.files import DataFile, read

Race = Literal["binary", "shares"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/communities/"
FILE = DataFile(
    "crime/communities.data.gz",
    "d90d85bd66bad9a00fa0ed6c15ac017b5966d528e55ba2940ad028d071353f95",
    (UCI + "communities.data",),
)
NAMES = DataFile(
    "crime/communities.names",
    "80914f24ab37261fb0fbda7e417cad8001335dadda4a8d702c265601ef8434fc",
    (UCI + "communities.names",),
)
IDENTIFIERS = ("state", "county", "community", "communityname", "fold")
SHARES = ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp")
THRESHOLD = 0.06  # near the median of racepctblack, so the two groups are of similar size
TARGET = "ViolentCrimesPerPop"
ROWS, COLUMNS = 1994, 96


@overload
def fetch_crime(
    race: Race = "binary",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: Literal[False] = ...,
) -> Dataset[pd.DataFrame]: ...
@overload
def fetch_crime(
    race: Race = "binary",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: Literal[True],
) -> tuple[pd.DataFrame, pd.Series]: ...
def fetch_crime(
    race: Race = "binary",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Dataset[pd.DataFrame] | tuple[pd.DataFrame, pd.Series]:
    """1,994 communities, target ``ViolentCrimesPerPop`` in [0, 1], race protected as the module's first lines say.

    Files: ``crime/communities.data.gz`` and ``crime/communities.names`` below `data_dir`, else SMILENN_DATA, else the
    cache, else a download.
    """
    if race not in ("binary", "shares"):
        raise DataError(f"Race is 'binary' or 'shares', not {race!r}.")
    names = re.findall(
        r"^@attribute\s+(\S+)", read(NAMES, data_dir, download=download_if_missing).decode("latin-1"), re.MULTILINE
    )
    content = read(FILE, data_dir, download=download_if_missing)
    table = pd.read_csv(io.BytesIO(content), header=None, names=names, na_values=["?"])
    target = table[TARGET].astype(np.float64)
    frame = table.drop(columns=[TARGET, *IDENTIFIERS]).dropna(axis=1).astype(np.float64)
    if race == "binary":
        place = frame.columns.get_loc(SHARES[0])
        assert isinstance(place, int)
        above = (frame[SHARES[0]] > THRESHOLD).astype(np.int64)
        frame = frame.drop(columns=list(SHARES))
        frame.insert(place, "race", above)
    expected = (ROWS, COLUMNS if race == "binary" else COLUMNS + len(SHARES) - 1)
    if frame.shape != expected:
        raise DataError(f"{FILE.path} gave {frame.shape} values instead of {expected}; please report this.")
    data = Dataset(
        name="crime" if race == "binary" else "crime-shares",
        frame=frame,
        target=target,
        task="regression",
        protected=("race",) if race == "binary" else SHARES,
        description="communities of the United States; violent crimes per head of population, scaled to [0, 1]",
        source="UCI Communities and Crime (Redmond)",
    )
    return data.X_y() if return_X_y else data
