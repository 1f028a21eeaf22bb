"""A fitted estimator as backbone, beside it alone, in a clamp, and the default model, on rows that were kept.

    python -m benchmarks.backbones [--data FOLDER] [--only adult] [--splits 3] [--rows 4000] [--seed 0] [--eps 0.5]

Every table has one rule, `Fair`, at several ε in the target's units or in log-odds. A split keeps a quarter of the
rows for the score. Alone, the estimator is under no rule. Each line: R², or AUC and log loss; the largest change of the
output by the protected columns over 100 of the kept rows; whether it is certified; processor seconds of fitting and of
predicting 1,000 rows.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.trap import rows as trap_rows
from smilenn import ClampedClassifier, ClampedRegressor, Fair, Network, SmileClassifier, SmileRegressor
from smilenn.errors import SmileError
from smilenn.experiments.practice import PRACTICE

ASKED = 100  # rows whose protected columns are changed


@dataclass(frozen=True)
class Case:
    """A table, its protected columns, the ε that are tried, and the estimator."""

    read: Callable[[Path | None], tuple[pd.DataFrame, pd.Series]]
    protected: tuple[str, ...]
    eps: tuple[float, ...]
    classify: bool
    forest: bool = False

    def estimator(self, seed: int) -> Any:
        """An unfitted one that reads data frames."""
        if self.forest:
            columns = make_column_transformer(
                (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
                remainder="passthrough",
            )
            return make_pipeline(columns, RandomForestRegressor(200, min_samples_leaf=2, random_state=seed))
        kind: Any = HistGradientBoostingClassifier if self.classify else HistGradientBoostingRegressor
        return kind(categorical_features="from_dtype", early_stopping=True, random_state=seed)


def _trap(_: Path | None) -> tuple[pd.DataFrame, pd.Series]:
    return _typed(*trap_rows(3000, np.random.default_rng(40)))


def _table(name: str) -> Callable[[Path | None], tuple[pd.DataFrame, pd.Series]]:
    def read(folder: Path | None) -> tuple[pd.DataFrame, pd.Series]:
        found = PRACTICE[name].table(folder)
        protected = {column: pd.Categorical(found.frame[column].astype(str)) for column in found.protected}
        return _typed(found.frame.assign(**protected), found.target)

    return read


def _typed(x: pd.DataFrame, y: pd.Series) -> tuple[pd.DataFrame, pd.Series]:
    """Columns of texts as categories, which boosting reads as they are."""
    named = {name: pd.Categorical(cells.astype(str)) for name, cells in x.items() if not _is_number(cells)}
    return x.assign(**{str(name): cells for name, cells in named.items()}), y


def _is_number(cells: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(cells)) and not pd.api.types.is_bool_dtype(cells)


CASES = {
    "trap": Case(_trap, ("group",), (2.5, 10.0, 20.0), classify=False),
    "trap-forest": Case(_trap, ("group",), (2.5, 10.0, 20.0), classify=False, forest=True),
    "crime": Case(_table("crime"), ("race",), (0.02, 0.05, 0.2), classify=False),
    "compas": Case(_table("compas"), ("race",), (0.2, 0.5), classify=True),
    "law": Case(_table("law"), ("race",), (0.2, 0.5), classify=True),
    "adult": Case(_table("adult"), ("sex", "race"), (0.2, 0.5), classify=True),
}


def models(case: Case, eps: float, seed: int) -> dict[str, Any]:
    """What is compared, unfitted."""
    rules, own = [Fair(list(case.protected), eps)], case.estimator(seed)
    smile = SmileClassifier if case.classify else SmileRegressor
    clamp = ClampedClassifier if case.classify else ClampedRegressor
    return {
        "alone": own,
        "clamp": clamp(clone(own), list(case.protected), eps),
        "backbone": smile(properties=rules, network=Network(backbone=clone(own)), random_state=seed),
        "default": smile(properties=rules, random_state=seed),
    }


def output(model: Any, frame: pd.DataFrame, classify: bool) -> np.ndarray:
    """Numbers or log-odds [n]."""
    if not classify:
        return np.asarray(model.predict(frame))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(frame))
    p = np.clip(model.predict_proba(frame)[:, 1], 1e-12, 1 - 1e-12)
    return np.log(p) - np.log1p(-p)


def change(model: Any, frame: pd.DataFrame, case: Case) -> float:
    """The largest change of the output by the protected columns."""
    values = [frame[name].cat.categories for name in case.protected]
    each = [
        output(
            model,
            frame.assign(**{n: pd.Categorical([v] * len(frame), frame[n].cat.categories) for n, v in own}),
            case.classify,
        )
        for own in (tuple(zip(case.protected, group, strict=True)) for group in itertools.product(*values))
    ]
    return float(np.ptp(np.stack(each), axis=0).max())


def line(name: str, model: Any, data: tuple[Any, Any, Any, Any], case: Case) -> str:
    """Fit, and what came of it."""
    x, new, y, true = data
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
    fitted = time.process_time()
    found = output(model, new, case.classify)
    asked = (time.process_time() - fitted) * 1000 / len(new)
    if case.classify:
        p = 1 / (1 + np.exp(-found))
        quality = f"AUC {roc_auc_score(true, found):.4f}  log loss {log_loss(true, p):.4f}"
    else:
        quality = f"R² {r2_score(true, found):.4f}"
    apart = change(model, new.iloc[:ASKED], case)
    accepted = getattr(model, "certificate_", None)
    said = "certified" if accepted is not None and accepted.accepted else "-"
    return f"{name:9} {quality}  change {apart:7.3f}  {said:9}  fit {fitted - begun:6.1f} s  1,000 rows {asked:6.3f} s"


def main(arguments: Sequence[str]) -> None:
    """Print a line for every split, table, ε and model."""
    parser = argparse.ArgumentParser(description="An estimator in a certified box")
    parser.add_argument("--data", type=Path, help="folder of the data")
    parser.add_argument("--only", choices=CASES, help="one table")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first split")
    parser.add_argument("--rows", type=int, help="only so many rows, drawn at random")
    parser.add_argument("--eps", type=float, nargs="+", help="other ε")
    parser.add_argument("--without", nargs="+", default=[], help="models to leave out")
    chosen = parser.parse_args(arguments)
    for name, case in CASES.items():
        if chosen.only not in (None, name):
            continue
        x, y = case.read(chosen.data)
        if chosen.rows is not None and chosen.rows < len(x):
            picked = np.random.default_rng(0).permutation(len(x))[: chosen.rows]
            x, y = x.iloc[picked], y.iloc[picked]
        for seed in range(chosen.seed, chosen.seed + chosen.splits):
            data: Any = train_test_split(x, y, test_size=0.25, random_state=seed)
            for number, eps in enumerate(chosen.eps or case.eps):
                for kind, model in models(case, eps, seed).items():
                    if kind in chosen.without or (kind == "alone" and number):
                        continue
                    try:
                        said = line(kind, model, data, case)
                    except SmileError as error:  # a clamp takes no missing cells
                        said = f"{kind:9} {error}"
                    print(f"{name} {seed} ε = {eps:<5g} {said}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
