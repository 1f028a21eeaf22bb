"""Certified models against LightGBM under the same rule, on tables that nobody has tuned on.

    python -m benchmarks.tables FOLDER [--only concrete] [--splits 2]

FOLDER holds california.csv.gz, concrete.csv.gz, bike.csv.gz, adult.data.gz and adult.test.gz. A split keeps a fifth of
the rows for the score. LightGBM is tuned on the rest: leaves and least rows of a leaf by a fifth of it, trees by early
stopping; under `Fair` it does not see the protected columns. smilenn runs at its defaults.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from smilenn import Fair, Monotone, Property, SmileClassifier, SmileRegressor
from smilenn.datasets.public import ADULT


@dataclass(frozen=True)
class Table:
    """A table, its target, and the rule: signs of the effects, and columns that must not matter by more than ε."""

    files: tuple[str, ...]
    target: str
    signs: dict[str, int]
    dropped: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    eps: float = 0.0

    def read(self, folder: Path) -> tuple[pd.DataFrame, pd.Series]:
        """Rows and target, as they come."""
        if self.target == "income":
            parts = [pd.read_csv(folder / name, names=ADULT.split(), skipinitialspace=True) for name in self.files]
            data = pd.concat(parts, ignore_index=True).dropna(subset=["income"]).reset_index(drop=True)
            data["income"] = data["income"].str.strip(".")
            data = data.astype({"age": int})
        else:
            data = pd.read_csv(folder / self.files[0])
        return data.drop(columns=[self.target, *self.dropped]), data[self.target]

    def properties(self) -> list[Property]:
        """The rule."""
        rising, falling = ([name for name, sign in self.signs.items() if sign == s] for s in (1, -1))
        fair: list[Property] = [Fair(list(self.protected), self.eps)] if self.protected else []
        return [Monotone(increasing=rising, decreasing=falling), *fair]


TABLES = {
    "concrete": Table(("concrete.csv.gz",), "Concrete_compressive_strength", {"Cement": 1, "Age": 1, "Water": -1}),
    "california": Table(("california.csv.gz",), "median_house_value", {"median_income": 1}),
    "bike": Table(("bike.csv.gz",), "count", {"temp": 1}, ("instant", "dateday", "casual", "registered")),
    "adult": Table(
        ("adult.data.gz", "adult.test.gz"), "income", {"education_num": 1, "hours": 1}, (), ("sex", "race"), 0.5
    ),
}


def certified(table: Table, x: pd.DataFrame, y: pd.Series, rows: pd.DataFrame, seed: int) -> dict[str, Any]:
    """smilenn at its defaults: predictions, whether certified, seconds of fitting and predicting."""
    classify = y.dtype == object or isinstance(y.dtype, pd.StringDtype)
    model = (SmileClassifier if classify else SmileRegressor)(properties=table.properties(), random_state=seed)
    begun = time.perf_counter()
    model.fit(x, y)
    fitted = time.perf_counter()
    found = model.predict(rows)
    certificate = bool(getattr(model.verdict_, "certificate", ""))
    return {
        "found": found,
        "certified": certificate,
        "fit": fitted - begun,
        "predict": time.perf_counter() - fitted,
        "chosen": model.reasons_.split("kept from training: ")[-1],
    }


def boosted(table: Table, x: pd.DataFrame, y: pd.Series, rows: pd.DataFrame, seed: int) -> dict[str, Any]:
    """LightGBM under the same signs without the protected columns, tuned on a fifth of the rows."""
    import lightgbm

    x, rows = (_categories(one.drop(columns=list(table.protected)), x) for one in (x, rows))
    begun = time.perf_counter()
    classify = y.dtype == object or isinstance(y.dtype, pd.StringDtype)
    parts: Any = train_test_split(x, y, test_size=0.2, random_state=seed)
    learn, kept, y_learn, y_kept = parts
    best: tuple[float, Any] | None = None
    for leaves in (15, 31, 63):
        for least in (5, 20, 60):
            model = (lightgbm.LGBMClassifier if classify else lightgbm.LGBMRegressor)(
                n_estimators=3000,
                learning_rate=0.05,
                num_leaves=leaves,
                min_child_samples=least,
                subsample=0.8,
                subsample_freq=1,
                colsample_bytree=0.8,
                monotone_constraints=[table.signs.get(name, 0) for name in x.columns],
                monotone_constraints_method="advanced",
                random_state=seed,
                verbose=-1,
                n_jobs=1,
            )
            stop = lightgbm.early_stopping(50, verbose=False)
            model.fit(learn, y_learn, eval_set=[(kept, y_kept)], callbacks=[stop])
            loss = next(iter(model.best_score_["valid_0"].values()))
            if best is None or loss < best[0]:
                best = loss, model
    assert best is not None
    return {"found": best[1].predict(rows), "fit": time.perf_counter() - begun}


def _categories(rows: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Texts as categories that are numbered alike in all parts of a table."""
    out = rows.copy()
    for name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            out[name] = pd.Categorical(rows[name], categories=sorted(known[name].unique()))
    return out


def score(y: pd.Series, found: np.ndarray) -> float:
    """RMSE, or accuracy."""
    if pd.api.types.is_numeric_dtype(y):
        return float(np.sqrt(np.mean((np.asarray(y, dtype=float) - found) ** 2)))
    return float((np.asarray(y) == found).mean())


def main(arguments: Sequence[str]) -> None:
    """Print a line of JSON for every table and split."""
    parser = argparse.ArgumentParser(description="certified models against LightGBM under the same rule")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=sorted(TABLES), action="append")
    parser.add_argument("--splits", type=int, default=2)
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in chosen.only or TABLES:
        x, y = TABLES[name].read(chosen.folder)
        for seed in range(chosen.splits):
            parts: Any = train_test_split(x, y, test_size=0.2, random_state=100 + seed)
            own, rows, y_own, y_rows = parts
            ours = certified(TABLES[name], own, y_own, rows, seed)
            peer = boosted(TABLES[name], own, y_own, rows, seed)
            line = {
                "table": name,
                "split": seed,
                "smilenn": score(y_rows, ours.pop("found")),
                "lightgbm": score(y_rows, peer.pop("found")),
                **ours,
                "lightgbm_tuned": peer["fit"],
            }
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
