"""A synthetic credit table that ships as a formula: the embedded data of the demo and of examples.

    score = 40 + 14 ln(income / 30) − 18 debt / income + 5 √employment_years + region + 3·[race = B] + noise

clipped to [0, 100]. By design the score rises in income and employment_years and falls in debt, and depends mildly on
race, directly (3 points) and through income: a fair and monotone model has something to gain and something to give up.
People, regions and groups are invented.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from smilenn.datasets.base import DataError, Dataset, TaskName

REGION_POINTS = {"east": -2.0, "north": 1.0, "south": 0.0, "west": 2.0}
RACES = ("A", "B")
RACE_POINTS = 3.0
NOISE_POINTS = 4.0
GOOD_SCORE = 50.0


def make_credit(n: int = 2000, seed: int = 0, task: TaskName = "regression") -> Dataset[pd.DataFrame]:
    """n credit applicants.

    Columns: ``income`` and ``debt`` (thousands a year, thousands), ``age`` and ``employment_years`` (whole years),
    ``region`` (four values), ``race`` (two values, protected). The target is ``score`` in [0, 100] or, for
    ``task="binary"``, ``repaid``: 1 where a score above 50 was reached.

    >>> data = make_credit(100, seed=0)
    >>> data.feature_names
    ('income', 'debt', 'age', 'employment_years', 'region', 'race')
    >>> data.increasing, data.decreasing, data.protected
    (('income', 'employment_years'), ('debt',), ('race',))
    """
    if n < 1:
        raise DataError(f"A draw needs at least one row, got n = {n}.")
    if task not in ("regression", "binary"):
        raise DataError(f"There is no task {task!r}; choose 'regression' or 'binary'.")
    rng = np.random.default_rng(seed)
    race = rng.choice(RACES, n, p=[0.4, 0.6])
    region = rng.choice(list(REGION_POINTS), n)
    age = rng.integers(18, 76, n)
    employment_years = np.floor(rng.uniform(0.0, 1.0, n) * np.minimum(age - 17, 41)).astype(np.int64)
    in_group = race == RACES[1]
    income = np.clip(rng.lognormal(np.log(30.0) + 0.1 * in_group, 0.45, n), 8.0, 200.0).round(1)
    debt = np.clip(rng.gamma(1.5, 8.0, n), 0.0, 100.0).round(1)

    score = (
        40.0
        + 14.0 * np.log(income / 30.0)
        - 18.0 * debt / income
        + 5.0 * np.sqrt(employment_years)
        + np.array([REGION_POINTS[value] for value in region])
        + RACE_POINTS * in_group
        + rng.normal(0.0, NOISE_POINTS, n)
    ).clip(0.0, 100.0)
    frame = pd.DataFrame(
        {
            "income": income,
            "debt": debt,
            "age": age,
            "employment_years": employment_years,
            "region": pd.Categorical(region, categories=sorted(REGION_POINTS)),
            "race": pd.Categorical(race, categories=RACES),
        }
    )
    target = pd.Series(score.round(2), name="score")
    return Dataset(
        name="credit",
        frame=frame,
        target=target if task == "regression" else (target > GOOD_SCORE).astype(np.int64).rename("repaid"),
        task=task,
        protected=("race",),
        increasing=("income", "employment_years"),
        decreasing=("debt",),
        description="invented credit applicants and their score",
        source="synthetic",
    )
