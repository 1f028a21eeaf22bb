"""Fitted boosted trees of other libraries as certified estimators: equal to the library, proved where they keep the
rule, never where they break it."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import smilenn
from smilenn import Columns, Fair, Monotone, SmileClassifier, SmileError, SmileRegressor, certified_trees
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.estimators.store import load
from smilenn.verdict import Proved, Unknown, Violated


def table(rows=400, seed=0):
    """Two numbers with ties, a whole number and a category; the target rises with income."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(2, 20, rows).round(),
            "age": rng.integers(18, 80, rows),
            "debt": rng.normal(size=rows).round(1),
            "job": pd.Categorical(rng.choice(["office", "none", "own firm"], rows)),
        }
    )
    noise = rng.normal(size=rows)
    target = 0.2 * frame["income"] + np.sin(frame["age"] / 9) + 3 * (frame["job"] == "none") + frame["debt"] + noise
    return frame, pd.Series(target, name="limit")


def numbers(rows=400, seed=0):
    frame, target = table(rows, seed)
    return frame.drop(columns="job"), target


def boosted(frame, target, cst=(("income", 1),), kind=HistGradientBoostingRegressor, **options):
    return kind(max_iter=20, monotonic_cst=dict(cst) or None, **options).fit(frame, target)


def worst_step(model, frame, name, levels):
    """The largest fall of the prediction between two levels of one column, over the rows of a table."""
    low = -np.inf
    for row in frame.iloc[:40].itertuples(index=False):
        line = pd.DataFrame([row] * len(levels), columns=frame.columns).astype(frame.dtypes)
        line[name] = np.asarray(levels).astype(frame[name].dtype)
        low = max(low, *(-np.diff(model(line))))
    return low


# ---- scikit-learn ---------------------------------------------------------------------------------------------------


def test_monotone_trees_are_certified_saved_and_checked_by_both_checkers(tmp_path):
    frame, target = table()
    model = boosted(frame, target)
    found = certified_trees(model, frame, [Monotone(increasing=["income"])], y=target)
    assert isinstance(found, SmileRegressor) and isinstance(found.verdict_, Proved)
    assert found.verdict_.bound == 0.0 and found.certificate_ is not None
    assert np.array_equal(found.predict(frame), model.predict(frame))
    assert (
        "Raising 'income', everything else equal, never lowers the predicted 'limit'." in found.certificate_.statement
    )
    assert "20 trees of a fitted HistGradientBoostingRegressor" in found.explain()
    assert "no training step" not in found.explain()
    assert found.quality_ is not None and found.quality_.numbers["r2"] > 0.5
    found.save(tmp_path / "m")
    assert isinstance(smilenn.check(tmp_path / "m"), Proved)
    assert check_reference(tmp_path / "m").status == "certified"
    again = load(tmp_path / "m")
    assert isinstance(again.verdict_, Proved) and np.array_equal(again.predict(frame), model.predict(frame))
    levels = np.sort(frame["income"].unique())
    assert worst_step(again.predict, frame, "income", levels) <= 0


def test_trees_that_break_the_rule_are_violated_with_an_example(tmp_path):
    frame, target = table()
    model = boosted(frame, target, cst=())
    found = certified_trees(model, frame, increasing=["income"], y=target)
    assert isinstance(found.verdict_, Violated)
    assert found.certificate_ is None or not found.certificate_.accepted
    pair = found.counterexample()
    own = pair[frame.columns].astype(frame.dtypes)
    low, high = model.predict(own.sort_values("income"))
    assert low > high  # the library itself falls
    found.save(tmp_path / "m")
    assert not isinstance(smilenn.check(tmp_path / "m"), Proved)
    assert isinstance(load(tmp_path / "m").verdict_, Violated)
    falling = certified_trees(boosted(frame, target), frame, decreasing=["income"])
    assert isinstance(falling.verdict_, Violated)


@pytest.mark.parametrize("seed", range(4))
def test_no_verdict_is_better_than_every_pair_of_a_small_table(seed):
    """Small free models: certified only if no pair of levels falls in any of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 80), "b": rng.integers(0, 3, 80)})
    target = frame["a"] + 0.8 * rng.normal(size=80)
    options = {"max_leaf_nodes": 4, "min_samples_leaf": 3, "learning_rate": 0.5}
    for cst in ((), (("a", 1),)):
        model = boosted(frame, target, cst, **options)
        found = certified_trees(model, frame, increasing=["a"])
        grid = pd.DataFrame(itertools.product(range(4), range(3)), columns=["a", "b"])
        values = model.predict(grid).reshape(4, 3)
        keeps = (np.diff(values, axis=0) >= 0).all()
        assert np.array_equal(found.predict(grid), model.predict(grid))
        assert isinstance(found.verdict_, Proved) <= keeps
        assert isinstance(found.verdict_, Violated) <= (not keeps)
        if cst:
            assert isinstance(found.verdict_, Proved)


def test_two_classes_keep_their_names():
    frame, target = table()
    label = np.where(target > target.median(), "good", "bad")
    model = boosted(frame, label, kind=HistGradientBoostingClassifier)
    found = certified_trees(model, frame, increasing="income", y=pd.Series(label, name="risk"))
    assert isinstance(found, SmileClassifier) and isinstance(found.verdict_, Proved)
    assert found.classes_.tolist() == ["bad", "good"]
    assert (found.predict(frame) == model.predict(frame)).all()
    assert np.abs(found.predict_proba(frame) - model.predict_proba(frame)).max() < 1e-12
    assert "never lowers the log-odds of 'risk' = 'good'" in found.certificate_.statement
    other = certified_trees(model, frame, [Monotone(decreasing=["income"], output="bad")])
    assert isinstance(other.verdict_, Proved)


def test_several_classes_are_one_score_each():
    frame, target = numbers()
    label = np.digitize(target, np.quantile(target, [0.3, 0.6]))
    model = HistGradientBoostingClassifier(max_iter=8).fit(frame.to_numpy(), label)
    found = certified_trees(model, frame.to_numpy(), [Fair(["x2"], eps=100.0)], y=label)
    assert (found.predict(frame.to_numpy()) == model.predict(frame.to_numpy())).all()
    assert np.abs(found.predict_proba(frame.to_numpy()) - model.predict_proba(frame.to_numpy())).max() < 1e-9
    assert found.outputs_.names == ("0", "1", "2")


def test_counts_are_certified_as_logarithms():
    frame, target = table()
    counts = pd.Series(np.floor(np.exp(target / 8).clip(0, 50)), name="claims")
    model = boosted(frame, counts, loss="poisson")
    found = certified_trees(model, frame, increasing=["income"], y=counts)
    assert isinstance(found.verdict_, Proved) and found.quality_ is None
    assert np.abs(np.exp(found.predict(frame)) - model.predict(frame)).max() < 1e-9
    assert "never lowers the predicted 'log(claims)'" in found.certificate_.statement


def test_large_and_small_targets_are_not_cut():
    frame, target = numbers()
    for scale in (1e9, 1e-9, 0.0):
        model = boosted(frame, target * scale)
        found = certified_trees(model, frame, increasing=["income"])
        assert np.array_equal(found.predict(frame), model.predict(frame))
        assert isinstance(found.verdict_, Proved)


def test_categories_of_whole_numbers_and_values_that_training_did_not_have():
    rng = np.random.default_rng(0)
    code = rng.choice([1, 2, 3, 7], 300)
    frame = pd.DataFrame({"code": code, "x": rng.normal(size=300)})
    target = frame["x"] + (code == 3) * 2.0
    seen = code != 7
    options = {"categorical_features": ["code"]}
    model = boosted(frame[seen], target[seen], cst=(("x", 1),), **options)
    found = certified_trees(model, frame, increasing=["x"])
    assert np.array_equal(found.predict(frame), model.predict(frame))
    assert isinstance(found.verdict_, Proved)
    declared = frame.assign(code=pd.Categorical(code, categories=[7, 3, 2, 1]))
    model = boosted(declared[seen], target[seen], cst=(("x", 1),))
    found = certified_trees(model, declared[seen], increasing=["x"])
    assert np.array_equal(found.predict(declared[seen]), model.predict(declared[seen]))


def test_rows_outside_the_domain_get_what_the_library_says():
    frame, target = numbers()
    model = boosted(frame, target)
    found = certified_trees(model, frame, increasing=["income"])
    far = frame.assign(income=frame["income"] + 1000.0)
    assert np.array_equal(found.predict(far), model.predict(far))
    bounded = certified_trees(model, frame, increasing=["income"], domain=Columns(bounds={"income": (0, 60)}))
    assert bounded.domain_.feature("income").hi == 60 and isinstance(bounded.verdict_, Proved)
    inside = int((frame["income"] <= 60).sum())
    assert f"every row of the table within the bounds ({inside} of 400) reaches" in bounded.reasons_
    assert "every row of the table reaches the same leaves" in found.reasons_


@pytest.mark.parametrize(
    "name", ["invented", pytest.param("adult", marks=pytest.mark.slow), pytest.param("bike", marks=pytest.mark.slow)]
)
def test_a_messy_table_is_equal_on_every_row(name):
    """Categories by the dozen, some of them rare, ties by the thousand: every row of the table is compared."""
    frame, target, rising = _invented() if name == "invented" else _public(name)
    model = HistGradientBoostingRegressor(max_iter=30, monotonic_cst={rising: 1}).fit(frame, target)
    found = certified_trees(model, frame, increasing=[rising])
    assert isinstance(found.verdict_, Proved)
    assert np.array_equal(found.predict(frame), model.predict(frame))


def _invented(rows=3000):
    rng = np.random.default_rng(0)
    country = np.array(["United-States", *(f"country {i}" for i in range(41))])
    frame = pd.DataFrame(
        {
            "education": rng.integers(1, 17, rows),
            "capital_gain": np.where(rng.random(rows) < 0.92, 0, rng.choice([2174, 7688, 99999], rows)),
            "hours": np.where(rng.random(rows) < 0.5, 40, rng.integers(1, 99, rows)),
            "weight": np.round(np.exp(rng.normal(12, 0.5, rows))),
            "country": pd.Categorical(country[np.minimum(rng.geometric(0.3, rows) - 1, 41)], categories=country),
            "job": pd.Categorical(rng.choice(list("abcdefghijklmno"), rows)),
            "member": rng.random(rows) < 0.3,
        }
    )
    odd = frame["country"].cat.codes % 3
    return frame, frame["education"] / 4 + odd + 2 * frame["member"] + rng.normal(size=rows), "education"


def _public(name):
    from smilenn.datasets import fetch_table

    table = fetch_table(name)
    frame = table.frame.dropna()
    texts = frame.select_dtypes(["object", "string"]).columns
    frame = frame.assign(**{text: frame[text].astype("category") for text in texts})
    target = table.target.loc[frame.index]
    return frame, target, {"adult": "education_num", "bike": "temp"}[name]


def test_arrays_and_tables_of_polars_are_read_too():
    polars = pytest.importorskip("polars")
    frame, target = numbers()
    plain = HistGradientBoostingRegressor(max_iter=5, monotonic_cst=[1, 0, 0]).fit(frame.to_numpy(), target)
    for table_, name in ((frame.to_numpy(), "x0"), (frame.to_numpy().tolist(), "x0"), (frame, "income")):
        assert isinstance(certified_trees(plain, table_, increasing=[name]).verdict_, Proved)
    found = certified_trees(boosted(frame, target), polars.from_pandas(frame), increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    goal = float(found.predict(frame).max()) * 0.8
    assert found.recourse(frame.iloc[:1], at_least=goal, change={"income": "up"}) is not None


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_bad_input_is_refused_in_a_sentence():
    frame, target = table()
    model = boosted(frame, target)
    with pytest.raises(SmileError, match=r"nothing to certify: give at least one rule"):
        certified_trees(model, frame)
    named = frame.assign(job=frame["job"].cat.rename_categories({"none": "missing"}))
    with pytest.raises(SmileError, match="Column 'job' has missing cells and the category 'missing'; rename"):
        gappy = named.assign(job=named["job"].where(frame.index != 2))
        certified_trees(boosted(gappy, target), gappy, increasing=["income"])
    with pytest.raises(SmileError, match=r"the table has 'age' where the model has 'income'"):
        certified_trees(model, frame[["age", "income", "debt", "job"]], increasing=["income"])
    with pytest.raises(SmileError, match=r"The model has 4 columns and the table 3"):
        certified_trees(model, frame.drop(columns="job"), increasing=["income"])
    with pytest.raises(SmileError, match=r"no converter for sklearn.GradientBoostingRegressor"):
        plain = GradientBoostingRegressor(n_estimators=2).fit(frame[["age"]], target)
        certified_trees(plain, frame[["age"]], increasing=["age"])
    with pytest.raises(SmileError, match=r"There is no converter for builtins.str; use scikit-learn's"):
        certified_trees("model.txt", frame, increasing=["income"])
    with pytest.raises(SmileError, match=r"HistGradientBoostingRegressor does not say how many columns it has; is it"):
        certified_trees(HistGradientBoostingRegressor(), frame, increasing=["income"])
    with pytest.raises(SmileError, match=r"Monotone names 'wealth', which is not a feature"):
        certified_trees(model, frame, increasing=["wealth"])
    with pytest.raises(SmileError, match=r"No row of the table lies within the bounds"):
        certified_trees(model, frame, increasing=["income"], domain=Columns(bounds={"debt": (50, 60)}))
    label = np.where(target > target.median(), "good", "bad")
    decided = boosted(frame, label, kind=HistGradientBoostingClassifier)
    with pytest.raises(SmileError, match=r"Row 0 of the target is fair, which is none of the model's classes"):
        certified_trees(decided, frame, increasing=["income"], y=np.array(["fair"] * len(frame)))


def test_a_pipeline_is_refused_and_what_it_says_to_do_is_certified():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(0, 9, 200), "job": rng.choice(["cook", "clerk", "none"], 200)})
    y = X["income"] + (X["job"] == "cook")
    encoder = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough")
    pipeline = make_pipeline(encoder, HistGradientBoostingRegressor(max_iter=3)).fit(X, y)
    with pytest.raises(SmileError, match="fit HistGradientBoosting with categorical_features='from_dtype'"):
        certified_trees(pipeline, X, increasing=["income"])
    X = X.astype({"job": "category"})
    own = HistGradientBoostingRegressor(max_iter=3, categorical_features="from_dtype", monotonic_cst={"income": 1})
    assert certified_trees(own.fit(X, y), X, increasing=["income"]).certificate_.accepted


def test_a_missing_cell_is_refused_where_the_library_would_go_its_own_way():
    frame, target = numbers()
    found = certified_trees(boosted(frame, target), frame, increasing=["income"])
    with pytest.raises(SmileError, match=r"Row 0, column 'debt' is missing"):
        found.predict(frame.assign(debt=np.nan))


def with_gaps(frame, seed=1):
    """The table with missing cells in two numbers and the category."""
    rng = np.random.default_rng(seed)
    columns = [name for name in ("income", "debt", "job") if name in frame]
    return frame.assign(**{name: frame[name].where(rng.random(len(frame)) > 0.2) for name in columns})


def test_missing_cells_go_where_the_library_sends_them(tmp_path):
    """Every combination of known and missing cells, and values beside thresholds: equal to the bit, and certified."""
    frame, target = table(600)
    gaps = with_gaps(frame)
    model = boosted(gaps, target + 2 * gaps["income"].isna())
    found = certified_trees(model, gaps, increasing=["income"], y=target)
    assert isinstance(found.verdict_, Proved)
    assert "never lowers the predicted 'limit', where 'income' is known" in found.certificate_.statement
    assert "nan" not in found.domain_.feature("job").categories
    for seed in range(2, 6):
        rows = with_gaps(frame, seed)
        assert np.array_equal(found.predict(rows), model.predict(rows))
    found.save(tmp_path / "m")
    assert isinstance(smilenn.check(tmp_path / "m"), Proved)
    assert check_reference(tmp_path / "m").status == "certified"
    assert np.array_equal(load(tmp_path / "m").predict(rows), model.predict(rows))
    free = certified_trees(boosted(gaps, target, cst=()), gaps, increasing=["income"])
    assert isinstance(free.verdict_, Violated) and free.counterexample()["income"].notna().all()
    fair = certified_trees(model, gaps, [Fair(["income"], eps=0.1)])  # being unknown must not matter either
    assert not isinstance(fair.verdict_, Proved)


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e12])
def test_numbers_that_may_be_missing_keep_their_bits(size):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2)) * size
    x[rng.random(300) < 0.3, 0] = np.nan
    frame = pd.DataFrame(x, columns=["a", "b"])
    target = np.nan_to_num(x[:, 0]) / size + np.isnan(x[:, 0]) * rng.choice([-3, 3], 300)
    model = boosted(frame, target, cst=(("a", 1),))
    found = certified_trees(model, frame, increasing=["a"])
    assert isinstance(found.verdict_, Proved)
    theta = np.concatenate([own[0].nodes["num_threshold"] for own in model._predictors])
    near = np.concatenate([theta, np.nextafter(theta, np.inf), np.nextafter(theta, -np.inf)])
    near = near[np.isfinite(near)]
    rows = pd.DataFrame({"a": rng.permutation(near), "b": rng.permutation(near)})
    assert np.array_equal(found.predict(rows), model.predict(rows))


def test_a_wrong_conversion_is_noticed(monkeypatch):
    """One leaf changed after the conversion: the comparison with the library names the row."""
    from smilenn.model import trees

    frame, target = numbers()
    model, convert = boosted(frame, target), trees.convert

    def broken(*given):
        made = convert(*given)
        made.layer.number[-1] += 1.0
        return made

    monkeypatch.setattr(trees, "convert", broken)
    with pytest.raises(SmileError, match=r"Row \d+ gets another value than in the model in tree 19"):
        certified_trees(model, frame, increasing=["income"])


def test_a_changed_network_loses_its_certificate():
    frame, target = numbers()
    found = certified_trees(boosted(frame, target), frame, increasing=["income"])
    found.net_.encoder.branches[0].layers[0].number[-1] += 1.0
    assert isinstance(found.verdict_, Unknown)


# ---- extras ---------------------------------------------------------------------------------------------------------


def same(found, model, frame, tolerance):
    size = np.abs(found.predict(frame)).max()
    return np.abs(found.predict(frame) - np.asarray(model.predict(frame), dtype=float)).max() <= tolerance * (1 + size)


def test_lightgbm_with_missing_cells():
    lightgbm = pytest.importorskip("lightgbm")
    frame, target = table(600)
    gaps = with_gaps(frame)
    options = {"n_estimators": 20, "num_leaves": 8, "verbose": -1, "n_jobs": 1, "min_data_per_group": 5}
    for fitted in (gaps, frame):  # a model that saw no missing cell reads one as 0
        model = lightgbm.LGBMRegressor(monotone_constraints=[1, 0, 0, 0], **options).fit(fitted, target)
        found = certified_trees(model, gaps, increasing=["income"])
        assert isinstance(found.verdict_, Proved)
        for seed in range(2, 5):
            assert same(found, model, with_gaps(frame, seed), 1e-12)


def test_xgboost_with_missing_cells():
    xgboost = pytest.importorskip("xgboost")
    frame, target = table(600)
    gaps = with_gaps(frame)
    options = {"n_estimators": 15, "max_depth": 3, "n_jobs": 1, "enable_categorical": True}
    model = xgboost.XGBRegressor(monotone_constraints={"income": 1}, **options).fit(gaps, target)
    found = certified_trees(model, gaps, increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    for seed in range(2, 5):
        assert same(found, model, with_gaps(frame, seed), 1e-5)


def test_xgboost_with_categories_of_whole_numbers_that_may_be_missing():
    """Their codes were read from missing cells too, which ended in a traceback."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.integers(0, 4, 300).astype(float), "income": rng.normal(size=300)})
    target = frame["income"] + frame["kind"] % 2
    frame.loc[::9, "kind"] = np.nan
    options = {"feature_types": ["c", "q"], "enable_categorical": True, "max_cat_to_onehot": 1}
    model = xgboost.XGBRegressor(n_estimators=8, monotone_constraints=(0, 1), **options).fit(frame, target)
    found = certified_trees(model, frame, increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    assert np.allclose(found.predict(frame), model.predict(frame), atol=1e-5)


@pytest.mark.parametrize("mode", ["Min", "Max"])
def test_catboost_with_missing_cells(mode):
    catboost = pytest.importorskip("catboost")
    frame, target = numbers(600)
    gaps = with_gaps(frame)
    options = {"iterations": 15, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(nan_mode=mode, monotone_constraints={"income": 1}, **options).fit(gaps, target)
    found = certified_trees(model, gaps, increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    for seed in range(2, 5):
        assert same(found, model, with_gaps(frame, seed), 1e-5)


def test_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    frame, target = table()
    options = {"n_estimators": 20, "num_leaves": 8, "verbose": -1, "n_jobs": 1, "min_data_per_group": 5}
    for method in ("basic", "advanced"):
        model = lightgbm.LGBMRegressor(
            monotone_constraints=[1, 0, 0, 0], monotone_constraints_method=method, **options
        ).fit(frame, target)
        found = certified_trees(model, frame, increasing=["income"], y=target)
        assert isinstance(found.verdict_, Proved) and same(found, model, frame, 1e-12)
    bare = certified_trees(model.booster_, frame, increasing=["income"])
    assert isinstance(bare.verdict_, Proved)
    free = certified_trees(lightgbm.LGBMRegressor(**options).fit(frame, target), frame, increasing=["income"])
    assert isinstance(free.verdict_, Violated)
    label = np.where(target > target.median(), "yes", "no")
    model = lightgbm.LGBMClassifier(monotone_constraints=[1, 0, 0, 0], **options).fit(frame, label)
    found = certified_trees(model, frame, increasing=["income"], y=label)
    assert (found.predict(frame) == model.predict(frame)).all() and isinstance(found.verdict_, Proved)
    with pytest.raises(SmileError, match="the table has 'age' where the model has 'income'"):
        certified_trees(model, frame[["age", "income", "debt", "job"]], increasing=["income"])
    root = lightgbm.LGBMRegressor(reg_sqrt=True, **options).fit(frame, target - target.min())
    with pytest.raises(SmileError, match=r"under the objective 'regression sqrt' is not known here"):
        certified_trees(root, frame, increasing=["income"])
    coded = frame.assign(job=frame["job"].cat.codes + 3)
    model = lightgbm.LGBMRegressor(**options).fit(coded, target, categorical_feature=["job"])
    assert same(certified_trees(model, coded, increasing=["income"]), model, coded, 1e-12)
    poisson = lightgbm.LGBMRegressor(objective="poisson", monotone_constraints=[1, 0, 0, 0], **options)
    poisson.fit(frame, np.floor(np.exp(target / 8)))
    found = certified_trees(poisson, frame, increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    assert np.allclose(np.exp(found.predict(frame)), poisson.predict(frame))


def test_xgboost():
    xgboost = pytest.importorskip("xgboost")
    frame, target = table()
    options = {"n_estimators": 15, "max_depth": 3, "n_jobs": 1, "enable_categorical": True}
    model = xgboost.XGBRegressor(monotone_constraints={"income": 1}, **options).fit(frame, target)
    found = certified_trees(model, frame, increasing=["income"], y=target)
    assert isinstance(found.verdict_, Proved) and same(found, model, frame, 1e-5)
    free = certified_trees(xgboost.XGBRegressor(**options).fit(frame, target), frame, increasing=["age"])
    assert isinstance(free.verdict_, Violated)
    label = (target > target.median()).astype(int)
    model = xgboost.XGBClassifier(monotone_constraints={"income": 1}, **options).fit(frame, label)
    found = certified_trees(model, frame, increasing=["income"], y=label)
    assert (found.predict(frame) == model.predict(frame)).all() and isinstance(found.verdict_, Proved)
    gamma = xgboost.XGBRegressor(objective="reg:gamma", monotone_constraints={"income": 1}, **options)
    gamma.fit(frame, np.exp(target / 8))
    found = certified_trees(gamma, frame, increasing=["income"])
    assert isinstance(found.verdict_, Proved)
    assert np.allclose(np.exp(found.predict(frame)), gamma.predict(frame), rtol=1e-4)
    hinge = xgboost.XGBClassifier(objective="binary:hinge", **options).fit(frame, label)
    with pytest.raises(SmileError, match=r"raw scores under the objective 'binary:hinge' is not known here"):
        certified_trees(hinge, frame, increasing=["income"])


def test_catboost():
    catboost = pytest.importorskip("catboost")
    frame, target = numbers()
    options = {"iterations": 15, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(monotone_constraints={"income": 1}, **options).fit(frame, target)
    found = certified_trees(model, frame, increasing=["income"], y=target)
    assert isinstance(found.verdict_, Proved) and same(found, model, frame, 1e-5)
    label = np.where(target > target.median(), "yes", "no")
    model = catboost.CatBoostClassifier(monotone_constraints={"income": 1}, **options).fit(frame, label)
    found = certified_trees(model, frame, increasing=["income"], y=label)
    assert (found.predict(frame) == model.predict(frame)).all() and isinstance(found.verdict_, Proved)
    free = certified_trees(catboost.CatBoostRegressor(**options).fit(frame, target), frame, increasing=["age"])
    assert isinstance(free.verdict_, Violated)
    several = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **options).fit(frame, target)
    with pytest.raises(SmileError, match=r"under the loss 'RMSEWithUncertainty' is not known here"):
        certified_trees(several, frame, increasing=["income"])
