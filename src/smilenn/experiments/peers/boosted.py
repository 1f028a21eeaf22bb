"""Boosted trees of four libraries under the same signs: LightGBM, XGBoost, CatBoost and scikit-learn.

All take missing cells and categories as they are. Every library is tried with the same sizes of trees and rates; held
rows say how many trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from smilenn.experiments.peers.task import Fitted, Output, Rows, Setting, categories, texts

MOST, PATIENCE = 1500, 50
SMALL, USUAL = {"leaves": 8, "depth": 3}, {"leaves": 31, "depth": 6}
SETTINGS: tuple[Setting, ...] = tuple({**size, "rate": rate} for size in (SMALL, USUAL) for rate in (0.05, 0.1))


class LightGBM:
    """`monotone_constraints_method="advanced"`, the one that costs least accuracy."""

    settings = SETTINGS

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        import lightgbm

        x = categories(rows.frame, rows.frame)
        model: Any = (lightgbm.LGBMClassifier if rows.binary else lightgbm.LGBMRegressor)(
            n_estimators=rounds or MOST,
            learning_rate=setting["rate"],
            num_leaves=setting["leaves"],
            monotone_constraints=list(rows.signs.values()),
            monotone_constraints_method="advanced",
            random_state=rows.seed,
            n_jobs=1,
            verbose=-1,
        )
        stop: dict[str, Any] = {}
        if held is not None:
            stopping = lightgbm.early_stopping(PATIENCE, verbose=False)
            stop = {"eval_set": [(categories(held.frame, rows.frame), held.y)], "callbacks": [stopping]}
        model.fit(x, rows.y, **stop)
        output = _output(rows, lambda at: model.predict(at, raw_score=True))
        return Fitted(output, int(model.best_iteration_ or MOST) if held is not None else None)


class XGBoost:
    """Histograms, categories as they are."""

    settings = SETTINGS

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        import xgboost

        x = categories(rows.frame, rows.frame)
        model: Any = (xgboost.XGBClassifier if rows.binary else xgboost.XGBRegressor)(
            n_estimators=rounds or MOST,
            learning_rate=setting["rate"],
            max_leaves=setting["leaves"],
            max_depth=0,
            grow_policy="lossguide",
            tree_method="hist",
            enable_categorical=True,
            monotone_constraints=tuple(rows.signs.values()),
            early_stopping_rounds=None if held is None else PATIENCE,
            random_state=rows.seed,
            n_jobs=1,
        )
        stop = {} if held is None else {"eval_set": [(categories(held.frame, rows.frame), held.y)], "verbose": False}
        model.fit(x, rows.y, **stop)
        output = _output(rows, lambda at: model.predict(at, output_margin=True))
        return Fitted(output, int(model.best_iteration) + 1 if held is not None else None)


class CatBoost:
    """Symmetric trees.

    Statistics of categories combined with splits of numbers would break the signs, so they are of one category each.
    """

    settings = SETTINGS

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        import catboost

        x = _named(categories(rows.frame, rows.frame))
        model: Any = (catboost.CatBoostClassifier if rows.binary else catboost.CatBoostRegressor)(
            iterations=rounds or MOST,
            learning_rate=setting["rate"],
            depth=setting["depth"],
            monotone_constraints=list(rows.signs.values()) if any(rows.signs.values()) else None,
            max_ctr_complexity=1 if any(rows.signs.values()) else None,
            cat_features=texts(categories(rows.frame, rows.frame)),
            random_seed=rows.seed,
            thread_count=1,
            allow_writing_files=False,
            verbose=False,
        )
        stop: dict[str, Any] = {}
        if held is not None:
            stop = {"eval_set": (_named(categories(held.frame, rows.frame)), held.y), "early_stopping_rounds": PATIENCE}
        model.fit(x, rows.y, **stop)
        output = _output(rows, lambda at: model.predict(_named(at), prediction_type="RawFormulaVal"))
        return Fitted(output, int(model.get_best_iteration()) + 1 if held is not None else None)


class HistGB:
    """scikit-learn's HistGradientBoosting; the best number of trees is read off held rows."""

    settings = SETTINGS
    most = 300

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        x = categories(rows.frame, rows.frame)
        kind: Any = HistGradientBoostingClassifier if rows.binary else HistGradientBoostingRegressor
        model = kind(
            max_iter=rounds or self.most,
            learning_rate=setting["rate"],
            max_leaf_nodes=setting["leaves"],
            monotonic_cst=list(rows.signs.values()),
            categorical_features="from_dtype",
            early_stopping=False,
            random_state=rows.seed,
        )
        model.fit(x, rows.y)
        output = _output(rows, model.decision_function if rows.binary else model.predict)
        if held is None:
            return Fitted(output)
        at = categories(held.frame, rows.frame)
        stages = model.staged_decision_function(at) if rows.binary else model.staged_predict(at)
        best = int(np.argmin([held.loss(np.ravel(stage)) for stage in stages])) + 1
        return replace(self(rows, setting, rounds=best), rounds=best)


def _output(rows: Rows, predict: Any) -> Output:
    known = rows.frame
    return lambda frame: np.asarray(predict(categories(frame, known)), dtype=np.float64).ravel()


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts, missing ones by a name: CatBoost takes no gaps among them."""
    out = frame.copy()
    for name in texts(frame):
        out[name] = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
    return out
