"""Monotone and fair at once: trees that read protected columns move the ensemble within ε, and not beyond."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.conftest import patched

import smilenn
from smilenn import Bounded, Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.model.encoders import Trees
from smilenn.train import boosted, within
from smilenn.verdict import Proved

QUICK = {"config": Config(pretrain_epochs=4, epochs=6), "network": Network(members=2), "random_state": 0}
GRID = pd.DataFrame(
    list(product(np.linspace(0, 100, 21).round(1), [18, 40, 79], ["a", "b"], ["u", "v"])),
    columns=["income", "age", "group", "sect"],
)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    """Boosting that gives up soon: enough trees for what is shown here."""
    with patched((boosted, "PATIENCE", 5), (within, "PATIENCE", 5)):
        yield


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
    assert "The ensemble itself ignores 'group', 'sect'." in model.reasons_
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


def spread(values):
    """The largest change by the group alone of outputs [grid, o], [o]."""
    each = pd.DataFrame(values).groupby([GRID["income"], GRID["age"], GRID["sect"]]).agg(np.ptp)
    return each.max().to_numpy()


def steps_down(values):
    """The largest loss of outputs [grid, o] by raising the income alone, [o]."""
    ordered = pd.DataFrame(values).assign(**GRID).sort_values("income", kind="stable")
    groups = ordered.groupby(["age", "group", "sect"])
    return np.max([-np.diff(g[range(values.shape[1])].to_numpy(), axis=0).min(axis=0) for _, g in groups], axis=0)


@pytest.mark.parametrize("eps", [2.0, 20.0])
def test_quantiles_are_shifted_together(tmp_path, eps):
    """The group moves all quantiles by one number, so they never cross and each keeps both rules."""
    X, y = rows()
    rules = [Monotone(increasing=["income", "age"]), Fair(["group"], eps)]
    longer = QUICK | {"config": Config(epochs=25, batch_size=100)}
    model = SmileRegressor(properties=rules, quantiles=(0.1, 0.5, 0.9), **longer).fit(X, y)
    assert isinstance(model.verdict_, Proved) and has_clip(model)
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert isinstance(loaded.verdict_, Proved)
    values = loaded.outputs(GRID)
    moved = spread(values)
    assert (moved <= eps).all() and (moved > 0.7 * min(eps, 10)).all() and np.ptp(moved) < 1e-9
    assert (np.diff(values, axis=1) >= 0).all() and (steps_down(values) <= 0).all()
    unaware = SmileRegressor(properties=[rules[0], Fair(["group"], 0)], quantiles=(0.1, 0.5, 0.9), **longer).fit(X, y)
    assert spread(unaware.outputs(GRID)).max() == 0.0 and model.score(X, y) > unaware.score(X, y)


def test_bounded_quantiles_are_shifted_within_their_bounds():
    """The lowest one keeps its lower bound with the shift, and all are cut at the upper one behind it."""
    X, y = rows()
    rules = [Monotone(increasing=["income"]), Fair(["group"], 5), Bounded(-10.0, 80.0)]
    model = SmileRegressor(properties=rules, quantiles=(0.2, 0.8), **QUICK).fit(X, y)
    values = model.outputs(GRID)
    assert isinstance(model.verdict_, Proved) and has_clip(model)
    assert values.min() >= -10 and values.max() <= 80 and 2.5 < spread(values).max() <= 5.0


def test_many_classes_use_the_limit():
    """A margin of two classes has ε in all: each logit moves by half of it at most."""
    X, y = rows(gap=25.0)
    label = pd.cut(y, [-np.inf, 25, 45, np.inf], labels=["low", "mid", "top"]).astype(str)
    rules = [Monotone(increasing=["income"], output="top"), Fair(["group"], 2.0)]
    longer = QUICK | {"config": Config(epochs=25, batch_size=100)}
    model = SmileClassifier(properties=rules, **longer).fit(X, label)
    assert isinstance(model.verdict_, Proved) and has_clip(model)
    values = model.outputs(GRID)
    margins = np.stack([values[:, i] - values[:, j] for i in range(3) for j in range(i)], axis=1)
    moved = spread(margins)
    assert moved.max() <= 2.0 and moved.max() > 1.0
    top = list(model.classes_).index("top")
    against = values[:, [top]] - np.delete(values, top, axis=1)
    assert (steps_down(against) <= 0).all()
    unaware = SmileClassifier(properties=[rules[0], Fair(["group"], 0)], **longer).fit(X, label)
    assert model.score(X, label) > unaware.score(X, label)
