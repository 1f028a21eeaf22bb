"""Compas: defendants in Broward County, Florida, 2013-2014, and whether they were charged again within two years.

Read from a table that keeps modelling columns only. The published raw file holds names, dates of birth and case
numbers: where the table is missing, that file is read (or downloaded) into memory, the modelling columns are taken from
it, and it is dropped; it is never written.

    custody_days = out_custody − in_custody              whole days
    jail_days    = c_jail_out − c_jail_in                days with fractions, four places

Rows are chosen as in the published analysis: screened within 30 days of the arrest, a known outcome, no ordinary
traffic offence, a score; then the two largest groups of race. That leaves 5,278 rows, 47.0 % positive. The ten columns
become 14 coordinates of a domain: five numbers, three two-valued columns, two groups of three categories.
"""

from __future__ import annotations

import io
import logging
import os
from typing import Literal, overload

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.files import DataFile, keep, locate, read

log = logging.getLogger(__name__)

FILE = DataFile("compas/compas_deidentified.csv.gz", "badc93626ae88924b576dd6be7a111432be412bcd00005b4c74b2c65263b5bbb")
RAW = DataFile(
    "compas/compas-scores-two-years.csv",
    "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ("https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",),
)

# The columns of the table without personal data, in its order; the last two are computed from dates.
KEPT = (
    "sex",
    "age",
    "age_cat",
    "race",
    "juv_fel_count",
    "juv_misd_count",
    "juv_other_count",
    "priors_count",
    "days_b_screening_arrest",
    "c_charge_degree",
    "decile_score",
    "score_text",
    "v_decile_score",
    "v_score_text",
    "is_recid",
    "two_year_recid",
)
DATES = ("in_custody", "out_custody", "c_jail_in", "c_jail_out")

# Text columns with their values; where there are two, they become 0 and 1 in this order.
CATEGORIES = {
    "sex": ("Female", "Male"),
    "race": ("African-American", "Caucasian"),
    "c_charge_degree": ("F", "M"),
    "age_cat": ("Less than 25", "25 - 45", "Greater than 45"),
    "v_score_text": ("Low", "Medium", "High"),
}
COLUMNS = (
    "sex",
    "age",
    "race",
    "juv_fel_count",
    "priors_count",
    "custody_days",
    "jail_days",
    "c_charge_degree",
    "age_cat",
    "v_score_text",
)
ROWS, POSITIVES = 5278, 2483


@overload
def fetch_compas(
    data_dir: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
    return_X_y: Literal[False] = ...,
) -> Dataset[pd.DataFrame]: ...
@overload
def fetch_compas(
    data_dir: str | os.PathLike[str] | None = None, *, download_if_missing: bool = True, return_X_y: Literal[True]
) -> tuple[pd.DataFrame, pd.Series]: ...
def fetch_compas(
    data_dir: str | os.PathLike[str] | None = None, *, download_if_missing: bool = True, return_X_y: bool = False
) -> Dataset[pd.DataFrame] | tuple[pd.DataFrame, pd.Series]:
    """5,278 defendants, ten columns in raw units, target ``two_year_recid``, protected ``race``.

    Whole numbers: age (years), juv_fel_count, priors_count, custody_days. ``jail_days`` is a number of days with
    fractions; one entry is negative, as in the published dates. ``c_charge_degree`` is F (felony) or M (misdemeanour).

    File: ``compas/compas_deidentified.csv.gz`` below `data_dir`, else SMILENN_DATA, else the cache; failing that, the
    published raw file from the same places or a download, in memory only.
    """
    table = _chosen_rows(_table(data_dir, download_if_missing))
    frame = table.loc[:, list(COLUMNS)]
    frame["custody_days"] = frame["custody_days"].astype(np.int64)
    for column, values in CATEGORIES.items():
        frame[column] = pd.Categorical(frame[column], categories=values, ordered=len(values) > 2)
    target = table["two_year_recid"].astype(np.int64)
    # The file is verified, so a miss here is a fault in the rules above (or a change in how pandas reads).
    rows, positives, gaps = len(frame), int(target.sum()), int(frame.isna().to_numpy().sum())
    if (rows, positives, gaps) != (ROWS, POSITIVES, 0):
        raise DataError(
            f"{FILE.path} gave {rows} rows, {positives} positives and {gaps} gaps instead of {ROWS}, {POSITIVES} and "
            "0; please report this."
        )
    data = Dataset(
        name="compas",
        frame=frame,
        target=target,
        task="binary",
        protected=("race",),
        description="defendants in Broward County; 1 if charged again within two years",
        source="ProPublica, compas-analysis (compas-scores-two-years.csv, without personal data)",
    )
    return data.X_y() if return_X_y else data


def _table(data_dir: str | os.PathLike[str] | None, download: bool) -> pd.DataFrame:
    """The table without personal data: from its own file, else derived in memory from the raw one."""
    may_derive = locate(RAW, data_dir) is not None or (download and data_dir is None)
    if locate(FILE, data_dir) is not None or not may_derive:
        return _parsed(read(FILE, data_dir, download=False))
    content = deidentified(read(RAW, data_dir, keep=False))
    if data_dir is None and not keep(FILE, content):
        log.info("the derived Compas table differs from the one known here; it is used from memory and not kept")
    return _parsed(content)


def _parsed(content: bytes) -> pd.DataFrame:
    # "N/A" is a value of score_text here, not a gap: only an empty cell is one.
    return pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])


def deidentified(raw: bytes) -> bytes:
    """The published file's content → the CSV of modelling columns; names, dates and case numbers are left behind."""
    # the file repeats two of the columns (decile_score, priors_count); pandas renames the second ones, unread here
    table = _parsed(raw)
    absent = [column for column in (*KEPT, *DATES) if column not in table.columns]
    if absent:
        raise DataError(f"{RAW.path} has no column {absent[0]!r}; get the published file again.")
    dates = {column: pd.to_datetime(table[column]) for column in DATES}
    out = table.loc[:, list(KEPT)].copy()
    out["custody_days"] = (dates["out_custody"] - dates["in_custody"]).dt.days
    out["jail_days"] = ((dates["c_jail_out"] - dates["c_jail_in"]).dt.total_seconds() / 86400.0).round(4)
    return out.to_csv(index=False).encode()


def _chosen_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The published analysis's filter, then African-American and Caucasian defendants only; rows numbered anew."""
    keep = (
        table["days_b_screening_arrest"].abs().le(30)
        & table["is_recid"].ne(-1)
        & table["c_charge_degree"].ne("O")
        & table["score_text"].ne("N/A")
        & table["race"].isin(CATEGORIES["race"])
    )
    return table.loc[keep].reset_index(drop=True)
