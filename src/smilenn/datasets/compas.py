"""Compas: defendants in Broward County, Florida, 2013-2014, and whether they were charged again within two years.

Read from a table that keeps modelling columns only. The published raw file holds names, dates of birth and case
numbers; this package neither reads nor writes it.

Rows are chosen as in the published analysis: screened within 30 days of the arrest, a known outcome, no ordinary
traffic offence, a score; then the two largest groups of race. That leaves 5,278 rows, 47.0 % positive. The ten columns
become 14 coordinates of a domain: five numbers, three two-valued columns, two groups of three categories.
"""

from __future__ import annotations

import io
import os

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset
from smilenn.datasets.files import DataFile, read

FILE = DataFile("compas/compas_deidentified.csv.gz", "badc93626ae88924b576dd6be7a111432be412bcd00005b4c74b2c65263b5bbb")

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


def fetch_compas(data_dir: str | os.PathLike[str] | None = None) -> Dataset[pd.DataFrame]:
    """5,278 defendants, ten columns in raw units, target ``two_year_recid``, protected ``race``.

    Whole numbers: age (years), juv_fel_count, priors_count, custody_days. ``jail_days`` is a number of days with
    fractions; one entry is negative, as in the published dates. ``c_charge_degree`` is F (felony) or M (misdemeanour).

    File: ``compas/compas_deidentified.csv.gz`` below `data_dir`, else SMILENN_DATA, else the cache. There is no address
    to download it from: the published file would first have to be stripped of personal data.
    """
    # "N/A" is a value of score_text here, not a gap: only an empty cell is one.
    table = pd.read_csv(io.BytesIO(read(FILE, data_dir)), keep_default_na=False, na_values=[""])
    table = _chosen_rows(table)
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
    return Dataset(
        name="compas",
        frame=frame,
        target=target,
        task="binary",
        protected=("race",),
        description="defendants in Broward County; 1 if charged again within two years",
        source="ProPublica, compas-analysis (compas-scores-two-years.csv, without personal data)",
    )


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
