"""Fitted ensembles of other libraries as layers: the same leaf on training rows and on floats beside thresholds."""

import json
import math
import types

import numpy as np
import pandas as pd
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.spread import Spread
from smilenn.model.trees import assert_same, convert, forest
from smilenn.model.trees import lightgbm as from_lightgbm

sklearn_ensemble = pytest.importorskip("sklearn.ensemble")


def table(seed=0, rows=600):
    """Three numbers, one of them with ties, and a category of five codes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    x[:, 1] = np.round(x[:, 1], 1)
    code = rng.integers(0, 5, size=rows)
    y = x[:, 0] + np.sin(2 * x[:, 1]) + (code % 3) * 0.7 + 0.1 * rng.normal(size=rows)
    return x, code, y


def one_hot(x, code):
    """What the layer reads: numbers, then a coordinate for each code."""
    return np.concatenate([x, np.eye(5)[code]], axis=1)


CATEGORY = [0, 1, 2, [3, 4, 5, 6, 7]]
CONSTRAINT = [1, 0, 0]


def beside(layer, y, rng):
    """Rows with thresholds, and floats beside them, in all coordinates that are asked as numbers."""
    out = np.repeat(y, 4, axis=0)
    for place in range(3):
        theta = layer.number[layer.split == place].numpy()
        if len(theta):
            at = rng.choice(theta, size=len(out))
            step = rng.integers(-2, 3, size=len(out))
            for _ in range(2):
                at = np.where(step > 0, np.nextafter(at, np.inf), np.where(step < 0, np.nextafter(at, -np.inf), at))
                step = np.sign(step) * (np.abs(step) - 1)
            out[:, place] = np.where(rng.random(len(out)) < 0.7, at, out[:, place])
    return out


# ---- scikit-learn ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["regressor", "binary", "classes"])
def test_histogram_boosting(kind):
    x, _, y = table()
    if kind == "regressor":
        model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=20, monotonic_cst=CONSTRAINT).fit(x, y)
    else:
        label = np.digitize(y, [0.0] if kind == "binary" else [-0.5, 0.5])
        model = sklearn_ensemble.HistGradientBoostingClassifier(max_iter=10).fit(x, label)
    found = convert(model)
    assert found.layer.outputs == (3 if kind == "classes" else 1)
    assert_same(found, model, x, x)
    more = beside(found.layer, x, np.random.default_rng(1))
    assert_same(found, model, more, more)


@pytest.mark.parametrize("frame", [False, True])
def test_histogram_boosting_with_categories(frame):
    x, code, y = table()
    rows = (
        np.column_stack([x, code])
        if not frame
        else pd.DataFrame(x, columns=list("abc")).assign(
            d=pd.Categorical(np.array(list("vwxyz"))[code], categories=list("vwxyz"))
        )
    )
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=20, categorical_features=[3]).fit(rows, y)
    found = convert(model, CATEGORY)
    assert found.layer.sets and found.layer.inputs == 8
    assert_same(found, model, rows, one_hot(x, code))
    with pytest.raises(SmileError, match="places of its codes"):
        convert(model)


@pytest.mark.parametrize("absent", [0, 2, 4])
def test_a_category_that_the_trees_did_not_see_goes_where_missing_cells_go(absent):
    x, code, y = table()
    rows, seen = np.column_stack([x, code]), code != absent
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=20, categorical_features=[3])
    model.fit(rows[seen], y[seen])
    assert_same(convert(model, CATEGORY), model, rows, one_hot(x, code))


def test_a_monotone_model_passes_node_by_node():
    x, _, y = table()
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=30, monotonic_cst=CONSTRAINT).fit(x, y)
    free = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=30).fit(x, -y)
    ends, rises = np.full(3, 9.0), np.ones(3, dtype=bool)
    falls = np.array([False, True, True])
    spread = Spread(-ends, ends, np.zeros(3), np.where(falls, 0.0, 18.0), rises, falls)
    assert convert(model).layer.propagate(spread).rises[0]
    assert not convert(free).layer.propagate(spread).rises[0]


def test_missing_values_do_not_reach_the_layer():
    """A split that only tells missing values apart is folded away: its threshold is infinite."""
    x, _, y = table()
    gaps = x.copy()
    gaps[::2, 2] = np.nan
    y = y + 3 * np.isnan(gaps[:, 2])
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=20).fit(gaps, y)
    thresholds = np.concatenate([p[0].nodes["num_threshold"][p[0].nodes["is_leaf"] == 0] for p in model._predictors])
    assert np.isinf(thresholds).any()
    found = convert(model)
    assert torch.isfinite(found.layer.number).all()
    assert_same(found, model, x, x)


# ---- extras ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["basic", "intermediate", "advanced"])
def test_lightgbm(method):
    lightgbm = pytest.importorskip("lightgbm")
    x, _, y = table()
    options = {"monotone_constraints": CONSTRAINT, "monotone_constraints_method": method, "verbose": -1}
    model = lightgbm.LGBMRegressor(n_estimators=30, num_leaves=15, **options).fit(x, y)
    found = convert(model)
    assert_same(found, model, x, x)
    more = beside(found.layer, x, np.random.default_rng(1))
    assert_same(found, model, more, more)
    assert_same(convert(model.booster_), model.booster_, x, x)
    ends, falls = np.full(3, 9.0), np.array([False, True, True])
    spread = Spread(-ends, ends, np.zeros(3), np.where(falls, 0.0, 18.0), np.ones(3, dtype=bool), falls)
    assert found.layer.propagate(spread).rises[0]


def test_lightgbm_with_categories_and_classes():
    lightgbm = pytest.importorskip("lightgbm")
    x, code, y = table()
    rows, label = np.column_stack([x, code]), np.digitize(y, [-0.5, 0.5])
    model = lightgbm.LGBMClassifier(n_estimators=8, num_leaves=15, min_data_per_group=5, verbose=-1)
    model.fit(rows, label, categorical_feature=[3])
    found = convert(model, CATEGORY)
    assert found.layer.outputs == 3 and found.layer.sets
    assert_same(found, model, rows, one_hot(x, code))
    zero = lightgbm.LGBMRegressor(n_estimators=2, zero_as_missing=True, verbose=-1).fit(np.round(x), y)
    with pytest.raises(SmileError, match="zero_as_missing"):
        convert(zero)
    linear = lightgbm.LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1).fit(x, y)
    with pytest.raises(SmileError, match="linear_tree"):
        convert(linear)
    forest_ = lightgbm.LGBMRegressor(n_estimators=2, boosting_type="rf", subsample=0.5, subsample_freq=1, verbose=-1)
    with pytest.raises(SmileError, match="LightGBM averages the trees of boosting='rf'; fit with"):
        convert(forest_.fit(x, y))


@pytest.mark.parametrize("kind", ["regressor", "binary", "classes"])
def test_xgboost(kind):
    xgboost = pytest.importorskip("xgboost")
    x, _, y = table()
    if kind == "regressor":
        model = xgboost.XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1, monotone_constraints=(1, 0, 0)).fit(x, y)
    else:
        label = np.digitize(y, [0.0] if kind == "binary" else [-0.5, 0.5])
        model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(x, label)
    found = convert(model)
    assert_same(found, model, x, x)
    more = beside(found.layer, x, np.random.default_rng(1))
    assert_same(found, model, more, more)


def test_xgboost_with_categories_and_early_stopping():
    xgboost = pytest.importorskip("xgboost")
    x, code, y = table()
    rows = pd.DataFrame(x, columns=list("abc")).assign(d=pd.Categorical(code, categories=range(5)))
    model = xgboost.XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1, enable_categorical=True).fit(rows, y)
    found = convert(model, CATEGORY)
    assert found.layer.sets
    assert_same(found, model, rows, one_hot(x, code))
    early = xgboost.XGBRegressor(n_estimators=200, learning_rate=1.0, early_stopping_rounds=2, n_jobs=1)
    early.fit(x[:300], y[:300], eval_set=[(x[300:], y[300:])], verbose=False)
    assert_same(convert(early), early, x, x)
    with pytest.raises(SmileError, match="gbtree"):
        convert(xgboost.XGBRegressor(n_estimators=2, booster="dart").fit(x, y))
    with pytest.raises(SmileError, match="The XGBoost model has several targets; fit one model for each"):
        convert(xgboost.XGBRegressor(n_estimators=2, n_jobs=1).fit(x, np.stack([y, -y], axis=1)))


RAW = {
    "reg:squarederror": "number",
    "reg:squaredlogerror": "positive",
    "reg:pseudohubererror": "number",
    "reg:absoluteerror": "number",
    "reg:quantileerror": "number",
    "binary:hinge": "yes",
    "binary:logistic": "yes",
    "reg:logistic": "yes",
    "count:poisson": "count",
    "reg:gamma": "positive",
    "reg:tweedie": "count",
    "survival:cox": "positive",
}


@pytest.mark.parametrize("base", [None, 0.3])
@pytest.mark.parametrize("objective", RAW)
def test_xgboost_raw_scores_start_as_the_objective_has_it(objective, base):
    """Equal to `output_margin` on every row, whether the start was learned or given."""
    xgboost = pytest.importorskip("xgboost")
    x, _, y = table()
    y = {"number": y, "positive": np.exp(y), "yes": (y > 0).astype(float), "count": np.floor(np.exp(y))}[RAW[objective]]
    options = {"quantile_alpha": 0.4} if objective == "reg:quantileerror" else {}
    model = xgboost.XGBRegressor(
        objective=objective, base_score=base, n_estimators=8, max_depth=3, n_jobs=1, **options
    ).fit(x, y)
    found = convert(model)
    assert_same(found, model, x, x)
    own, theirs = found.layer(torch.tensor(x)).numpy().ravel(), model.predict(x, output_margin=True)
    assert np.abs(own - theirs).max() < 1e-5


def test_xgboost_objectives_that_are_not_known_are_refused():
    xgboost = pytest.importorskip("xgboost")
    x, _, y = table()
    raw = xgboost.XGBRegressor(objective="binary:logitraw", n_estimators=2, n_jobs=1).fit(x, (y > 0).astype(float))
    with pytest.raises(SmileError, match=r"objective 'binary:logitraw' starts with is not known here, or depends on"):
        convert(raw)
    coded = xgboost.XGBRegressor(n_estimators=2, n_jobs=1, missing=-9.0).fit(x, y)
    with pytest.raises(SmileError, match="The XGBoost model reads -9 as missing; fit it with missing=nan"):
        convert(coded)
    label = np.digitize(y, [-0.5, 0.5])
    together = xgboost.XGBClassifier(
        n_estimators=2, n_jobs=1, multi_strategy="multi_output_tree", tree_method="hist"
    ).fit(x, label)
    with pytest.raises(SmileError, match="hold vectors; fit with multi_strategy='one_output_per_tree'"):
        convert(together)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide", "Depthwise"])
def test_catboost(policy):
    catboost = pytest.importorskip("catboost")
    x, code, y = table()
    options = {"iterations": 15, "depth": 4, "verbose": 0, "grow_policy": policy, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(**options).fit(x, y)
    found = convert(model)
    assert_same(found, model, x, x)
    more = beside(found.layer, x, np.random.default_rng(1))
    assert_same(found, model, more, more)
    label = np.digitize(y, [-0.5, 0.5])
    classes = catboost.CatBoostClassifier(**options).fit(x, label)
    assert_same(convert(classes), classes, x, x)
    if policy == "SymmetricTree":
        rows = pd.DataFrame(x, columns=list("abc")).assign(d=code.astype(str))
        named = catboost.CatBoostRegressor(**options).fit(rows, y, cat_features=["d"])
        with pytest.raises(SmileError, match="one-hot"):
            convert(named, CATEGORY)


# ---- thresholds -----------------------------------------------------------------------------------------------------


def test_thresholds_of_float32_are_exact():
    """On every float64 around them: f32(x) ≤ θ is x ≤ at_most(θ), f32(x) < θ is x ≤ below(θ)."""
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        some = rng.normal(size=400).astype(np.float32) * np.float32(10.0) ** rng.integers(-44, 38, size=400)
    limits = np.finfo(np.float32)
    edge = [0.0, -0.0, 1.0, -1.0, 2.0, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal]
    edge += [np.float32(3e-45), np.float32(-1e-45)]
    for theta in (*some.astype(np.float32).tolist(), *map(float, edge)):
        for end, inside in (
            (forest.at_most(theta), lambda v, t=theta: v <= t),
            (forest.below(theta), lambda v, t=theta: v < t),
        ):
            with np.errstate(over="ignore"):
                assert inside(np.float32(end)), theta
                assert not inside(np.float32(math.nextafter(end, math.inf))), theta


def test_infinite_thresholds_and_impossible_categories_are_folded_away():
    builder = forest.Builder(3, [0, [1, 2]])

    def expand(node):
        return {
            "root": forest.Split((0,), math.inf, "a", "never"),
            "a": forest.Split((0,), -math.inf, "never", "b"),
            "b": forest.Split(builder.places(1, [7]), 0.5, "c", "never"),
            "c": forest.Split(builder.places(1, [0, 1]), 0.5, "d", "e"),
            "d": forest.Leaf(1.0, 4),
            "e": forest.Leaf(2.0, 9),
        }[node]

    assert builder.tree("root", expand) == ([3, -1, -1], [0.5, 1.0, 2.0], [4, 9])
    assert builder.sets == {(1, 2): 0}
    with pytest.raises(SmileError, match="category"):
        builder.place(1)


def test_thresholds_in_model_units_decide_alike():
    x, _, y = table()
    domain = Domain(
        tuple(
            Feature(name, lo=-4.0, hi=4.0, shift=shift, mult=mult)
            for name, shift, mult in (("a", 0.3, 1.7), ("b", 0.0, 1.0), ("c", -1.1, 0.3))
        )
    )
    x = np.clip(x, -4, 4)
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=10).fit(x[:, :3], y)
    try:
        found = convert(model).in_model_units(domain, [0, 1, 2])
    except SmileError as error:
        assert "one number in model units" in str(error)
        return
    more = np.clip(beside(convert(model).layer, x, np.random.default_rng(0)), -4, 4)
    assert_same(found, model, more, domain.scale(more))


def test_thresholds_that_merge_are_refused_and_outer_ones_keep_their_side():
    shifted = Domain((Feature("a", lo=0.0, hi=1.0, shift=1e6, mult=1.0),))
    made = forest.Builder(1, [0])
    tree = made.tree("r", lambda n: forest.Split((0,), 0.3, "l", "l") if n == "r" else forest.Leaf(1.0, 0))
    with pytest.raises(SmileError, match=r"0.3 of 'a'"):
        made.forest([[tree]], [0.0], 1e-12).in_model_units(shifted, [0])
    domain = Domain((Feature("a", lo=0.0, hi=1.0, shift=0.25, mult=3.0),))
    for theta, wanted in ((-1.0, [2.0, 2.0]), (5.0, [1.0, 1.0]), (1.0, [1.0, 1.0]), (0.5, [1.0, 2.0])):
        nodes = {"r": forest.Split((0,), theta, "l", "h"), "l": forest.Leaf(1.0, 0), "h": forest.Leaf(2.0, 1)}
        found = made.forest([[made.tree("r", nodes.__getitem__)]], [0.0], 1e-12).in_model_units(domain, [0])
        u = torch.tensor(domain.scale(np.array([[0.0], [1.0]])))
        assert found.layer(u).ravel().tolist() == wanted, theta


def test_other_models_and_wrong_columns_are_refused():
    x, _, y = table()
    model = sklearn_ensemble.HistGradientBoostingRegressor(max_iter=2).fit(x, y)
    with pytest.raises(SmileError, match="no converter"):
        convert(sklearn_ensemble.RandomForestRegressor(n_estimators=2).fit(x, y))
    with pytest.raises(SmileError, match="3 columns"):
        convert(model, [0, 1])
    with pytest.raises(SmileError, match="outside"):
        convert(model, [0, 1, 2], inputs=2)
    found = convert(model)
    found.layer.number[-1] += 1.0
    with pytest.raises(SmileError, match="Row"):
        assert_same(found, model, x, x)


def test_a_stump_without_a_split_is_a_leaf():
    """LightGBM describes a tree of one leaf without a leaf's number."""
    described = {
        "num_tree_per_iteration": 1,
        "tree_info": [{"tree_structure": {"leaf_value": 0.25}}],
        "average_output": False,
    }
    booster = types.SimpleNamespace(dump_model=lambda: json.loads(json.dumps(described)))
    found = from_lightgbm.convert(booster, [0], 1)
    assert found.layer(torch.zeros(2, 1)).ravel().tolist() == [0.25, 0.25]
