"""Ten public tables, each with a rule that a practitioner would state before looking at any model.

A rule has two parts: columns in which the output must rise or fall, and protected columns that may change it by ε at
most, in units of the target or of the log-odds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from smilenn.datasets.base import Dataset
from smilenn.datasets.compas import fetch_compas
from smilenn.datasets.crime import fetch_crime
from smilenn.datasets.law import fetch_law
from smilenn.datasets.public import fetch_table
from smilenn.errors import SmileError, listed
from smilenn.properties.base import Property
from smilenn.properties.library import Fair, Monotone

Frame = Dataset[pd.DataFrame]


@dataclass(frozen=True)
class Practice:
    """How a table is read, and its rule."""

    read: Callable[[Path | None], Frame]
    increasing: tuple[str, ...]
    decreasing: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    eps: float = 0.0

    def table(self, data_dir: Path | None) -> Frame:
        """The table with the columns of its rule."""
        return replace(
            self.read(data_dir), increasing=self.increasing, decreasing=self.decreasing, protected=self.protected
        )

    def properties(self) -> list[Property]:
        """The rule as smilenn takes it."""
        fair: list[Property] = [Fair(list(self.protected), self.eps)] if self.protected else []
        return [Monotone(increasing=list(self.increasing), decreasing=list(self.decreasing)), *fair]

    def words(self) -> str:
        """The rule in a few words."""
        parts = (("rises in", self.increasing, ""), ("falls in", self.decreasing, ""))
        fair = ("fair in", self.protected, f" at ε = {self.eps:g}")
        return "; ".join(f"{verb} {', '.join(names)}{more}" for verb, names, more in (*parts, fair) if names)


def _diabetes(_: Path | None) -> Frame:
    from sklearn.datasets import load_diabetes

    bunch: Any = load_diabetes(as_frame=True, scaled=False)
    return Dataset("diabetes", bunch.data, bunch.target, "regression")


def _breast_cancer(_: Path | None) -> Frame:
    from sklearn.datasets import load_breast_cancer

    bunch: Any = load_breast_cancer(as_frame=True)
    return Dataset("breast-cancer", bunch.data, 1 - bunch.target, "binary")  # 1: malignant


def _wine(_: Path | None) -> Frame:
    from sklearn.datasets import load_wine

    bunch: Any = load_wine(as_frame=True)
    return Dataset("wine", bunch.data, (bunch.target == 0).astype("int64"), "binary")  # 1: of the first grower


PRACTICE = {
    "adult": Practice(
        lambda where: fetch_table("adult", where), ("education_num", "hours"), (), ("sex", "race"), eps=0.5
    ),
    "bike": Practice(lambda where: fetch_table("bike", where), ("temp",)),
    "breast-cancer": Practice(
        _breast_cancer,
        tuple(f"{kind} {what}" for kind in ("mean", "worst") for what in ("radius", "texture", "concave points")),
    ),
    "california": Practice(lambda where: fetch_table("california", where), ("median_income",)),
    "compas": Practice(fetch_compas, ("priors_count", "juv_fel_count"), ("age",), ("race",), eps=0.5),
    "concrete": Practice(lambda where: fetch_table("concrete", where), ("Cement", "Age"), ("Water",)),
    "crime": Practice(
        lambda where: fetch_crime(data_dir=where),
        ("PctUnemployed", "PctPopUnderPov", "PctVacantBoarded"),
        ("PctKids2Par",),
        ("race",),
        eps=0.05,
    ),
    "diabetes": Practice(_diabetes, ("bmi", "bp", "s5")),
    "law": Practice(
        lambda where: fetch_law(data_dir=where), ("lsat", "ugpa", "zfygpa", "zgpa"), (), ("race",), eps=0.5
    ),
    "wine": Practice(_wine, ("proline", "alcohol")),
}


def practice(name: str) -> Practice:
    """The table of that name."""
    if name not in PRACTICE:
        raise SmileError(f"There is no table {name!r}; choose one of {listed(PRACTICE, 20)}.")
    return PRACTICE[name]
