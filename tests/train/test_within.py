"""Monotone and fair at once: trees that read protected columns move the ensemble within ε, and not beyond."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import smilenn
from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.model.encoders import Trees
from smilenn.verdict import Proved

QUICK = {"config": Config(pretrain_epochs=4, epochs=6), "network": Network(members=2), "random_state": 0}
GRID = pd.DataFrame(
    list(product(np.linspace(0, 100, 21).round(1), [18, 40, 79], ["a", "b"], ["u", "v"])),
    columns=["income", "age", "group", "sect"],
)


def rows(n=400, gap=10.0, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, n).round(1),
            "age": rng.integers(18, 80, n),
            "group": rng.choice(["a", "b"], n),
            "sect": rng.choice(["u", "v"], n),
        }
    )
    score = 0.4 * frame["income"] + 0.2 * frame["age"] + gap * (frame["group"] == "b")
    return frame, (score + rng.normal(0, 1, n)).rename("score")


def changes(model, column):
    """The largest change of the network's output by one column alone."""
    values = model.outputs(GRID)
    rest = [name for name in GRID.columns if name != column]
    return float(GRID.assign(v=values).groupby(rest)["v"].agg(np.ptp).max())


def falls(model):
    """The largest loss by raising the income alone."""
    ordered = GRID.assign(v=model.outputs(GRID)).sort_values("income")
    return max(float(-np.diff(g["v"]).min()) for _, g in ordered.groupby(["age", "group", "sect"]))


def has_clip(model):
    return any(len(b.layers) == 3 and isinstance(b.layers[0], Trees) for b in model.net_.encoder.learned)


@pytest.fixture(scope="module")
def unaware():
    """A model that reads neither protected column."""
    rules = [Monotone(increasing=["income", "age"]), Fair(["group", "sect"], 0)]
    return SmileRegressor(properties=rules, **QUICK).fit(*rows())


@pytest.mark.parametrize("eps", [2.0, 20.0])
def test_a_difference_is_used_as_far_as_the_limit_allows(tmp_path, unaware, eps):
    X, y = rows()
    rules = [Monotone(increasing=["income", "age"]), Fair(["group"], eps), Fair(["sect"], eps)]
    model = SmileRegressor(properties=rules, **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and has_clip(model)
    assert "trees that read 'group', 'sect' move the output within ε" in model.reasons_
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert isinstance(loaded.verdict_, Proved)
    assert min(eps, 10) * 0.7 < changes(loaded, "group") <= eps
    assert changes(loaded, "sect") <= eps and falls(loaded) <= 0.0
    assert changes(unaware, "group") == 0.0 and not has_clip(unaware)
    assert loaded.score(X, y) > unaware.score(X, y)


def test_without_a_difference_the_ensemble_stays_as_it_is():
    X, y = rows(gap=0.0)
    model = SmileRegressor(properties=[Monotone(increasing=["income"]), Fair(["group"], 20)], **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved)
    assert changes(model, "group") <= 2.0
    assert ("No trees that read 'group' were kept, so ε is not used." in model.reasons_) == (not has_clip(model))


def test_log_odds_and_several_outputs():
    X, y = rows(gap=20.0)
    model = SmileClassifier(properties=[Monotone(increasing=["income"]), Fair(["group"], 1)], **QUICK)
    model.fit(X, np.where(y > y.median(), "yes", "no"))
    assert isinstance(model.verdict_, Proved) and has_clip(model)
    assert 0.5 < changes(model, "group") <= 1.0 and falls(model) <= 0.0
    both = SmileRegressor(properties=[Monotone(increasing=["income"]), Fair(["group"], 5)], **QUICK)
    both.fit(X, pd.DataFrame({"one": y, "two": 3 * y}))
    assert isinstance(both.verdict_, Proved) and has_clip(both)
    values = both.outputs(GRID)
    for t in range(2):
        spread = GRID.assign(v=values[:, t]).groupby(["income", "age", "sect"])["v"].agg(np.ptp)
        assert 3.0 < spread.max() <= 5.0
