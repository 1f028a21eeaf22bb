"""Ordered outputs between two constant bounds: cut behind the mean, certified, and as good as without the bounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from tests.conftest import patched

import smilenn
from smilenn import (
    Bounded,
    Config,
    Domain,
    Fair,
    Lipschitz,
    Monotone,
    Network,
    Ordered,
    Safe,
    SmileRegressor,
    SumAtMost,
)
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.properties import lower_all
from smilenn.properties.forms import Outputs
from smilenn.train import boosted, within
from smilenn.train.capped import cap_
from smilenn.train.recipes import Task, capped, premised, recipe_for
from smilenn.verdict import Proved

QUICK = {"config": Config(pretrain_epochs=4, epochs=6), "network": Network(members=2), "random_state": 0}
RISING, FAIR = Monotone(increasing=["income"]), Fair(["group"], 4)
LEVELS = (0.1, 0.5, 0.9)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    with patched((boosted, "PATIENCE", 5), (within, "PATIENCE", 5)):
        yield


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, n).round(1),
            "age": rng.integers(18, 80, n),
            "group": rng.choice(["a", "b"], n),
        }
    )
    score = 20 + 0.4 * X["income"] + 0.2 * X["age"] + 5 * (X["group"] == "b")
    return X, (score + rng.normal(0, 2, n)).rename("score")


def pairs(n=400, seed=1):
    """Rows, and the same with a higher income."""
    X, _ = rows(n, seed)
    more = np.minimum(100.0, X["income"] + np.random.default_rng(seed).uniform(0, 60, n))
    return X, X.assign(income=more)


def recipe_of(rules, names=("",), scales=None, make=recipe_for):
    X, y = rows(100)
    domain, outputs = Domain.from_data(X), Outputs(names)
    target = np.outer(y.to_numpy(), np.ones(len(names)) if scales is None else scales)
    claims = lower_all(rules, domain, outputs)
    size, start = target.std(axis=0), target.mean(axis=0)
    return make(Task.of(domain, domain.encode(X), claims, size=size, start=start, outputs=outputs, y=target))


# ---- what the recipe is --------------------------------------------------------------------------------------------

QUANTILES = Ordered(["low", "mid", "top"])


def test_heights_lie_inside_the_bounds_one_below_the_other():
    recipe = recipe_of([RISING, QUANTILES, Bounded(0, 120)], ("low", "mid", "top"))
    assert recipe.ceiling is not None and recipe.family == "ensemble" and "cut at their upper bounds" in recipe.reasons
    assert (np.diff(recipe.ceiling) > 1e-9).all() and recipe.ceiling.min() > 119.99 and recipe.ceiling.max() < 120


def test_one_bounded_output_holds_those_below_it_and_leaves_those_above():
    recipe = recipe_of([RISING, QUANTILES, Bounded(lo=0), Bounded(hi=60, output="mid")], ("low", "mid", "top"))
    low, mid, top = recipe.ceiling
    assert 59.99 < low < mid < 60 and top > 100


def test_outputs_of_other_scales():
    recipe = recipe_of([Ordered(["low", "top"]), Bounded(0, 500)], ("low", "top"), scales=[1.0, 8.0])
    assert recipe.net.output_scale[1] > recipe.net.output_scale[0]
    assert recipe.ceiling[0] < recipe.ceiling[1] < 500


def test_an_order_with_a_distance():
    recipe = recipe_of([RISING, Safe(then=["out.low + 10 <= out.top"]), Bounded(hi=90)], ("low", "top"))
    assert 79.99 < recipe.ceiling[0] < 80 and 89.99 < recipe.ceiling[1] < 90


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        ([RISING, Bounded(0, 120)], ("",)),
        ([RISING, Ordered(["low", "top"]), Bounded(lo=0)], ("low", "top")),
        ([RISING, Lipschitz("age", 0.5), Ordered(["low", "top"]), Bounded(0, 120)], ("low", "top")),
        ([RISING, SumAtMost(["low", "top"], 240), Bounded(0, 120)], ("low", "top")),
        ([RISING, Safe(then=["2 * out.low <= out.top"]), Bounded(0, 120)], ("low", "top")),
        ([RISING, Safe(then=["out.low <= income + 60"]), Ordered(["low", "top"]), Bounded(0, 120)], ("low", "top")),
        ([RISING, Ordered(["low", "top"]), Bounded(0, 5, output="top"), Bounded(6, 9, output="low")], ("low", "top")),
    ],
    ids=["one output", "one end", "a slope", "a sum", "no order", "ends that depend on inputs", "nothing between"],
)
def test_nothing_is_cut_where_a_box_serves_or_a_rule_would_not_survive(rules, names):
    assert recipe_of(rules, names, make=capped.recipe) is None


def test_what_neither_a_box_nor_a_cut_keeps_is_said():
    rules = [RISING, Lipschitz("age", 0.5), Ordered(["low", "top"])]
    said = "give a lower bound alone, or predict one number"
    assert said in recipe_of([*rules, Bounded(0, 120)], ("low", "top")).reasons
    assert said not in recipe_of([*rules, Bounded(lo=0)], ("low", "top")).reasons
    assert said not in recipe_of([RISING, rules[2], Bounded(0, 120)], ("low", "top")).reasons


def test_a_cut_takes_the_least_of_output_and_height():
    recipe = recipe_of([RISING, QUANTILES, Bounded(0, 120)], ("low", "mid", "top"))
    net = recipe.net.eval()
    x = net.domain.sample(300, np.random.default_rng(0))
    before = net.predict(x)
    heights = np.quantile(before, [0.3, 0.5, 0.7], axis=0).diagonal() + np.array([0.0, 1e-3, 2e-3])
    cap_(net, heights)
    after = net.predict(x)
    assert np.abs(after - np.minimum(before, heights)).max() < 1e-12 * np.abs(before).max()
    assert ((after == heights).mean(axis=0) > 0.2).all()
    assert net.collapsed and torch.equal(net.head_weight, torch.eye(3, dtype=torch.float64))


# ---- what is fitted ------------------------------------------------------------------------------------------------


def test_bounds_far_from_the_data_cost_nothing():
    X, y = rows()
    free = SmileRegressor(properties=[RISING], quantiles=LEVELS, **QUICK).fit(X, y)
    model = SmileRegressor(properties=[RISING, Bounded(-100, 300)], quantiles=LEVELS, **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and model.violation_bound_ == 0.0
    assert np.abs(model.predict(X) - free.predict(X)).max() < 1e-9
    assert "Repair" not in model.explain()


@pytest.mark.parametrize("rules", [[RISING], [RISING, FAIR], [FAIR], []], ids=["rising", "both", "fair", "none"])
def test_bounds_that_hold_outputs_back_are_certified(tmp_path, rules):
    """Some outputs reach the upper bound, all rules hold exactly, and both checkers agree."""
    X, y = rows()
    y = y.clip(40, 60)
    model = SmileRegressor(properties=[*rules, Bounded(40, 60)], quantiles=LEVELS, **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and model.violation_bound_ == 0.0
    model.save(tmp_path / "m")
    assert check_folder(tmp_path / "m").status == check_reference(tmp_path / "m").status == "certified"
    x, more = pairs()
    own, above = (smilenn.load(tmp_path / "m").predict(one) for one in (x, more))
    values = np.concatenate([own, above])
    assert values.min() >= 40 and 59.99 < values.max() <= 60 and (np.diff(values, axis=1) >= 0).all()
    assert ((values[:, 2] > 59.99) & (values[:, 0] < 59)).any()
    if RISING in rules:
        assert (above >= own).all()
    if FAIR in rules:
        moved = np.abs(model.predict(x.assign(group="b")) - model.predict(x.assign(group="a")))
        assert 1.0 < moved.max() <= 4.0
    assert model.quality_.numbers["pinball_loss"] < 0.6 * model.quality_.numbers["constant_pinball_loss"]


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_targets_of_any_size_are_certified(size):
    """The slopes of the proof are in units of the outputs, whatever these are."""
    X, y = rows()
    rules = [RISING, Bounded(40 * size, 60 * size)]
    model = SmileRegressor(properties=rules, quantiles=LEVELS, **QUICK).fit(X, y.clip(40, 60) * size)
    assert isinstance(model.verdict_, Proved) and model.violation_bound_ == 0.0
    values = model.predict(X)
    assert values.min() >= 40 * size and 59.99 * size < values.max() <= 60 * size


def test_an_upper_bound_alone_and_targets_in_an_order():
    X, y = rows()
    targets = pd.DataFrame({"low": y, "top": 3 * y + 10})
    model = SmileRegressor(properties=[RISING, Ordered(["low", "top"]), Bounded(hi=150)], **QUICK).fit(X, targets)
    values = model.predict(X)
    assert isinstance(model.verdict_, Proved) and model.violation_bound_ == 0.0
    assert 149.99 < values.max() <= 150 and (values[:, 1] >= values[:, 0]).all() and values[:, 0].max() < 100


def test_a_fit_goes_on_from_a_cut_network():
    X, y = rows()
    rules, y = [RISING, Bounded(40, 60)], y.clip(40, 60)
    longer = QUICK | {"config": Config(epochs=60, batch_size=50)}
    first = SmileRegressor(properties=rules, quantiles=LEVELS, **longer).fit(X, y)
    again = SmileRegressor(properties=rules, quantiles=LEVELS, **QUICK).fit(X, y, start=first)
    assert isinstance(again.verdict_, Proved) and "Started from the weights of a fitted model" in again.reasons_
    values = again.predict(X)
    assert values.min() >= 40 and 59.99 < values.max() <= 60
    assert again.quality_.numbers["pinball_loss"] < 0.6 * again.quality_.numbers["constant_pinball_loss"]


def test_a_box_by_a_linear_program_without_premises_has_units():
    """Its gap has no affine part, so that it needs units even where all ends are constants."""
    recipe = recipe_of([Ordered(["low", "top"]), Bounded(0, 120)], ("low", "top"), make=premised.recipe)
    values = recipe.net.eval().predict(recipe.net.domain.sample(200, np.random.default_rng(0)))
    assert values.min() >= 0 and values.max() <= 120 and (values[:, 0] <= values[:, 1]).all()
