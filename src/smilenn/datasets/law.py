"""Law school: will a student pass the bar at the first attempt, or: will an applicant be admitted?

    bar         LSAC National Longitudinal Bar Passage Study (Wightman 1998), cleaned: 20,798 students, 89.0 % pass.
                Eleven columns become 20 coordinates: eight numbers and yes/no columns, race, tier ×6, fam_inc ×5.
    admissions  Project SEAPHE, the file ``lawschs1_1.dta``: from a local copy only, known by its git blob id.
                Rows and columns with gaps are dropped; the flags that repeat race, and enrolment, are left out.

Race is White or not in both.
"""

from __future__ import annotations

import io
import os
from typing import Literal, overload

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.files import DataFile, read

Version = Literal["bar", "admissions"]

BAR = DataFile(
    "law/law_school_clean.csv.gz",
    "23c1b173f3480beb7afc4957b107a9917dfc4a8dc9d87ea6034ec35222152452",
    ("https://raw.githubusercontent.com/tailequy/fairness_dataset/main/experiments/data/law_school_clean.csv",),
)
ADMISSIONS = DataFile("law/lawschs1_1.dta", git_blob="c24c83680421e946920380087a8e28a5c7e9b072")
ROWS, POSITIVES = 20798, 18505
RACES = ("Non-White", "White")
# 0/1 flags that say race again, a flag for its absence, and what happens after the decision
REPEATED = ("enroll", "asian", "black", "hispanic", "white", "missingrace", "urm")


@overload
def fetch_law(
    version: Version = "bar",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: Literal[False] = ...,
) -> Dataset[pd.DataFrame]: ...
@overload
def fetch_law(
    version: Version = "bar",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: Literal[True],
) -> tuple[pd.DataFrame, pd.Series]: ...
def fetch_law(
    version: Version = "bar",
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Dataset[pd.DataFrame] | tuple[pd.DataFrame, pd.Series]:
    """Students with target ``pass_bar``, or applicants with target ``admit``; protected ``race``.

    Files: ``law/law_school_clean.csv.gz`` or ``law/lawschs1_1.dta`` below `data_dir`, else SMILENN_DATA, else the
    cache; the first one is downloaded if it is missing.
    """
    if version not in ("bar", "admissions"):
        raise DataError(f"There is no version {version!r} of the law data; choose 'bar' or 'admissions'.")
    data = _bar(data_dir, download_if_missing) if version == "bar" else _admissions(data_dir)
    return data.X_y() if return_X_y else data


def _bar(data_dir: str | os.PathLike[str] | None, download: bool) -> Dataset[pd.DataFrame]:
    table = pd.read_csv(io.BytesIO(read(BAR, data_dir, download=download)))
    frame = table.drop(columns="pass_bar")
    for column in ("decile1b", "decile3", "male"):
        frame[column] = frame[column].astype(np.int64)
    frame["fulltime"] = pd.Categorical(
        frame["fulltime"].map({1.0: "full time", 2.0: "part time"}), categories=("full time", "part time")
    )
    for column, count in (("tier", 6), ("fam_inc", 5)):
        levels = [str(level) for level in range(1, count + 1)]
        frame[column] = pd.Categorical(frame[column].astype(np.int64).astype(str), categories=levels, ordered=True)
    frame["race"] = pd.Categorical(frame["race"], categories=RACES)
    target = table["pass_bar"].astype(np.int64)
    rows, positives, gaps = len(frame), int(target.sum()), int(frame.isna().to_numpy().sum())
    if (rows, positives, gaps) != (ROWS, POSITIVES, 0):
        raise DataError(
            f"{BAR.path} gave {rows} rows, {positives} positives and {gaps} gaps instead of {ROWS}, {POSITIVES} and 0; "
            "please report this."
        )
    return Dataset(
        name="law",
        frame=frame,
        target=target,
        task="binary",
        protected=("race",),
        description="law students; 1 if the bar examination was passed at the first attempt",
        source="LSAC National Longitudinal Bar Passage Study (Wightman 1998), as cleaned for arXiv 2110.00530",
    )


def _admissions(data_dir: str | os.PathLike[str] | None) -> Dataset[pd.DataFrame]:
    table = pd.read_stata(io.BytesIO(read(ADMISSIONS, data_dir)))
    absent = [column for column in ("admit", "race") if column not in table.columns]
    if absent:
        raise DataError(f"{ADMISSIONS.path} has no column {absent[0]!r}; it is not the published admissions file.")
    table = table.drop(columns=[column for column in REPEATED if column in table.columns])
    table = table.replace("", np.nan).dropna(subset=["admit", "race"])
    table = table.dropna(axis=1, how="all").dropna(axis=0).reset_index(drop=True)
    frame = table.drop(columns="admit")
    for column in frame.columns:
        values = frame[column]
        if column == "race":
            frame[column] = pd.Categorical(np.where(values == "White", "White", "Non-White"), categories=RACES)
        elif not pd.api.types.is_numeric_dtype(values):
            frame[column] = pd.Categorical(values.astype(str), categories=sorted(set(values.astype(str))))
        elif set(np.unique(values)) <= {0.0, 1.0}:
            frame[column] = values.astype(np.int64)
    return Dataset(
        name="law-admissions",
        frame=frame,
        target=table["admit"].astype(np.int64),
        task="binary",
        protected=("race",),
        description="applicants to law schools; 1 if admitted",
        source="Project SEAPHE, lawschs1_1.dta",
    )
