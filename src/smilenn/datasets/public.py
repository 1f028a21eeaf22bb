"""Four public tables as they come: text columns are text, missing cells are missing, identifiers are still there.

adult        48,842 people of the 1994 census, does one earn more than 50,000 dollars; published in two files
bike         17,379 hours of a bicycle rental, how many bicycles are taken; the two parts of the count are left out
california   20,640 districts of the 1990 census, the median value of a house in dollars
concrete     1,030 mixtures, compressive strength in MPa
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from smilenn.datasets.base import DataError, Dataset, TaskName
from smilenn.datasets.files import DataFile, read
from smilenn.errors import listed

Name = Literal["adult", "bike", "california", "concrete"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
ADULT = (
    "age workclass fnlwgt education education_num marital occupation relationship race sex capital_gain capital_loss "
    "hours country income"
)


@dataclass(frozen=True)
class _Table:
    """Files, the target, columns that say the target again or nothing, and words."""

    files: tuple[DataFile, ...]
    target: str
    dropped: tuple[str, ...]
    task: TaskName
    rows: int
    description: str
    source: str


TABLES = {
    "adult": _Table(
        (
            DataFile(
                "tables/adult.data.gz",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                (UCI + "adult.data",),
            ),
            DataFile(
                "tables/adult.test.gz",
                "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
                (UCI + "adult.test",),
            ),
        ),
        "income",
        (),
        "binary",
        48842,
        "people of the 1994 census; 1 if one earns more than 50,000 dollars a year",
        "UCI, Adult (Becker and Kohavi 1996)",
    ),
    "bike": _Table(
        (DataFile("tables/bike.csv.gz", "bfd480bd2f0cacf824efd5eb08e81e785e93c3154dd56bfe8a5b464ea1da3898"),),
        "count",
        ("instant", "dateday", "casual", "registered"),
        "regression",
        17379,
        "hours of a bicycle rental in Washington; bicycles taken",
        "UCI, Bike Sharing (Fanaee-T 2013)",
    ),
    "california": _Table(
        (DataFile("tables/california.csv.gz", "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e"),),
        "median_house_value",
        (),
        "regression",
        20640,
        "districts of the 1990 census; median value of a house in dollars",
        "Pace and Barry 1997",
    ),
    "concrete": _Table(
        (DataFile("tables/concrete.csv.gz", "b769c3e63d2d7917d0c410526a08acf3e5f87bfbdee6db9fd5bbf8aff24d304b"),),
        "Concrete_compressive_strength",
        (),
        "regression",
        1030,
        "mixtures of concrete; compressive strength in MPa",
        "UCI, Concrete Compressive Strength (Yeh 1998)",
    ),
}


def fetch_table(
    name: Name, data_dir: str | os.PathLike[str] | None = None, *, download_if_missing: bool = True
) -> Dataset[pd.DataFrame]:
    """One of the tables above; the files are looked for in ``tables/`` below `data_dir`, SMILENN_DATA or the cache."""
    if name not in TABLES:
        raise DataError(f"There is no table {name!r}; choose one of {listed(TABLES)}.")
    table = TABLES[name]
    contents = [read(file, data_dir, download=download_if_missing) for file in table.files]
    data = _adult(contents) if name == "adult" else pd.read_csv(io.BytesIO(contents[0]))
    if len(data) != table.rows:
        raise DataError(f"{table.files[0].path} gave {len(data)} rows instead of {table.rows}; please report this.")
    target = data[table.target]
    target = target.astype("int64" if table.task == "binary" else "float64")
    frame = data.drop(columns=[table.target, *table.dropped])
    return Dataset(name, frame, target, table.task, description=table.description, source=table.source)


def _adult(contents: list[bytes]) -> pd.DataFrame:
    """Both parts under one header; a question mark is a missing cell, and the second part ends its labels in a dot."""
    parts = [
        pd.read_csv(io.BytesIO(content), names=ADULT.split(), skipinitialspace=True, na_values="?", comment="|")
        for content in contents
    ]
    data = pd.concat(parts, ignore_index=True)
    data["income"] = data["income"].str.strip(".").eq(">50K")
    return data
