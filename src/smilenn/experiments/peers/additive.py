"""Explainable boosting machines: sums of shapes of one column, and of pairs of them, under signs of the shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from smilenn.experiments.peers.task import Fitted, Rows, Setting, categories, texts

BAGS, ROUNDS = 2, 1000  # shapes are means over so many; the defaults, 14 and 50,000, take a hundred times as long


class Additive:
    """`interpret`'s ExplainableBoosting; pairs of columns are not held to signs, so a rule has none of them."""

    settings: tuple[Setting, ...] = tuple({"bins": bins, "rate": rate} for bins in (64, 512) for rate in (0.03, 0.1))

    def __call__(self, rows: Rows, setting: Setting, *, held: Rows | None = None, rounds: int | None = None) -> Fitted:
        """Fit to rows."""
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        frame = categories(rows.frame, rows.frame)
        names, signs = texts(frame), list(rows.signs.values())
        model: Any = (ExplainableBoostingClassifier if rows.binary else ExplainableBoostingRegressor)(
            feature_types=["nominal" if name in names else "continuous" for name in rows.signs],
            interactions=0 if any(signs) else 5,
            max_bins=setting["bins"],
            learning_rate=setting["rate"],
            outer_bags=BAGS,
            max_rounds=ROUNDS,
            monotone_constraints=signs,
            random_state=rows.seed,
            n_jobs=1,
        )
        known = rows.frame
        model.fit(frame, rows.y.astype(int) if rows.binary else rows.y)
        answer = model.decision_function if rows.binary else model.predict
        return Fitted(lambda at: np.asarray(answer(categories(at, known)), dtype=np.float64).ravel())
