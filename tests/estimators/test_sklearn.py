"""scikit-learn's own checks, and its tools: pipelines, searches, frames of other libraries, weights."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import smilenn
from smilenn import Config, Network, SmileClassifier, SmileError, SmileRegressor
from smilenn.estimators.checks import class_weights, merged
from smilenn.train.settings import LEAST_ROWS

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=20, epochs=4, learning_rate=1e-2, batch_size=16, posttrain_rounds=5, least_quality=0.0)
SMALL = {"network": Network(hidden=6, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def line(n=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n).round(2), "g": rng.choice(["u", "v", "w"], n)})
    return frame, pd.Series((3 * frame["x"] + rng.normal(0, 1, n)).round(2), name="y")


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [SmileRegressor(random_state=0), SmileClassifier(random_state=0), SmileRegressor(increasing=[0], random_state=0)],
)
def test_check_estimator(estimator):
    """All checks with the default recipe, with and without a rule.

    The one on other array libraries needs a variable set before any import (SCIPY_ARRAY_API=1).
    """
    results = check_estimator(estimator, on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    assert [r["check_name"] for r in results if r["status"] == "skipped"] in ([], ["check_array_api_input"])


CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_not_an_array",
    "check_n_features_in_after_fitting",
    "check_estimators_nan_inf",
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_estimator_sparse_tag",
    "check_supervised_y_2d",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_requires_y_none",
    "check_estimators_pickle",
    "check_methods_sample_order_invariance",
    "check_dict_unchanged",
)


@pytest.mark.parametrize("estimator", [SmileRegressor(**SMALL), SmileClassifier(**SMALL)])
@pytest.mark.parametrize("name", CHECKS)
def test_single_checks_on_a_small_network(name, estimator):
    from sklearn.utils import estimator_checks

    if name == "check_estimators_nan_inf":  # missing cells are inputs unless that is asked for
        estimator = clone(estimator).set_params(missing="raise")
    with np.errstate(all="ignore"):
        getattr(estimator_checks, name)(type(estimator).__name__, estimator)


# ---- few rows: their order and repetition do not matter -------------------------------------------------------------


def test_few_rows_are_merged():
    x, y, w = merged(np.array([[2.0], [1.0], [2.0]]), np.array([5.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0]))
    assert x.tolist() == [[1.0], [2.0]] and y.tolist() == [4.0, 5.0] and w.tolist() == [2.0, 4.0]


def test_repeated_weighted_and_shuffled_rows_give_the_same_network():
    X, y = line()
    assert 2 * len(X) < LEAST_ROWS
    weight = np.arange(len(X)) % 3
    weighted = SmileRegressor(increasing=["x"], **SMALL).fit(X, y, sample_weight=weight)
    places = np.random.default_rng(0).permutation(np.repeat(np.arange(len(X)), weight))
    repeated = SmileRegressor(increasing=["x"], **SMALL).fit(X.iloc[places], y.iloc[places])
    assert (weighted.predict(X) == repeated.predict(X)).all()
    assert weighted.verdict_.weights == repeated.verdict_.weights


def test_rows_without_weight_do_not_count():
    X, y = line()
    far = pd.concat([X, X.head(1).assign(x=1e6, g="other")], ignore_index=True)
    model = SmileRegressor(increasing=["x"], **SMALL).fit(far, [*y, 1e9], sample_weight=[1.0] * len(X) + [0.0])
    assert model.domain_.hi[0] < 20 and "other" not in model.domain_.feature("g").categories
    with pytest.raises(SmileError, match="one sample only"):
        SmileRegressor(**SMALL).fit(X, y, sample_weight=[1.0] + [0.0] * (len(X) - 1))


def test_class_weights():
    X, y = line()
    labels = np.where(y > 24, "rare", "usual")
    options = SMALL | {"config": QUICK.replace(pretrain_epochs=60)}
    shares = [
        (SmileClassifier(class_weight=wanted, **options).fit(X, labels).predict(X) == "rare").mean()
        for wanted in ({"usual": 8.0}, None, {"rare": 8.0, "usual": 1.0})
    ]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    codes, classes = np.array([0, 0, 0, 1]), np.array(["a", "b"])
    assert class_weights(codes, classes, "balanced", np.ones(4)).tolist() == pytest.approx([2 / 3] * 3 + [2.0])
    assert class_weights(codes, classes, {"b": 3}, np.ones(4)).tolist() == [1, 1, 1, 3]
    for wanted, message in (
        ("equal", "'balanced' or a dictionary"),
        (3, "'balanced' or a dictionary"),
        ({"c": 1}, "names 'c'; the classes are 'a', 'b'"),
        ({"a": -1}, "finite and not negative"),
        ({"a": "x"}, "finite and not negative"),
    ):
        with pytest.raises(SmileError, match=message):
            class_weights(codes, classes, wanted, np.ones(4))
    with pytest.raises(SmileError, match="rows of one class only"):
        SmileClassifier(class_weight={"rare": 0.0}, **SMALL).fit(X, labels)


def test_class_weights_survive_saving(tmp_path):
    X, y = line()
    model = SmileClassifier(class_weight={False: 2.0, True: 1.0}, **SMALL).fit(X, y > 15)
    model.save(tmp_path / "m")
    assert smilenn.load(tmp_path / "m").class_weight == {False: 2.0, True: 1.0}


# ---- missing cells --------------------------------------------------------------------------------------------------


def test_missing_cells_are_refused_or_filled_where_that_is_asked_for(tmp_path):
    X, y = line()
    holed = X.assign(x=X["x"].where(X.index % 7 != 3), g=X["g"].where(X.index % 5 != 2))
    with pytest.raises(SmileError, match="is missing .NaN.; drop the row or fill it in"):
        SmileRegressor(increasing=["x"], missing="raise", **SMALL).fit(holed, y)
    model = SmileRegressor(increasing=["x"], missing="fill", **SMALL).fit(holed, y)
    usual = {"x": float(np.quantile(holed["x"].dropna(), 0.5, method="lower")), "g": holed["g"].mode()[0]}
    assert model.fill_ == usual
    assert (model.predict(holed) == model.predict(holed.fillna(usual))).all()
    model.save(tmp_path / "m")
    assert (smilenn.load(tmp_path / "m").predict(holed) == model.predict(holed)).all()
    with pytest.raises(SmileError, match="Column 'g' has no cell"):
        SmileRegressor(missing="fill", **SMALL).fit(X.assign(g=np.nan), y)
    with pytest.raises(SmileError, match="missing is 'indicator', 'fill' or 'raise', not 'drop'"):
        SmileRegressor(missing="drop", **SMALL).fit(X, y)


# ---- tools and tables -----------------------------------------------------------------------------------------------


def test_pipeline_and_grid_search():
    X, y = line()
    numbers = X[["x"]]
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, SmileRegressor(increasing=["x"], **SMALL)).fit(numbers, y)
    fitted = pipeline[-1]
    assert fitted.verdict_.certificate and pipeline.score(numbers, y) > 0.5
    assert fitted.domain_.hi[0] < 5  # the columns that reach it: here standard deviations, not the raw x
    assert "Units: 'x' have mean 0 and deviation 1, as behind a scaler" in fitted.explain()
    assert "Units:" not in SmileRegressor(increasing=["x"], **SMALL).fit(numbers, y).explain()
    with pytest.raises(SmileError, match=r"the features are 'x0'. \(X is an array.*set_output\(transform='pandas'\)"):
        make_pipeline(StandardScaler(), SmileRegressor(increasing=["x"], **SMALL)).fit(numbers, y)
    search = GridSearchCV(SmileRegressor(**SMALL), {"increasing": [["x"], []], "network__hidden": [5, 6]}, cv=2)
    assert search.fit(X, y).best_params_.keys() == {"network__hidden", "increasing"}
    assert (cross_val_score(SmileClassifier(**SMALL), X, y > 15, cv=3) > 0.5).all()


def test_polars_frames_are_the_same():
    polars = pytest.importorskip("polars")
    X, y = line()
    one = SmileRegressor(increasing=["x"], **SMALL).fit(X, y)
    table = polars.DataFrame({name: X[name].tolist() for name in X.columns})
    two = SmileRegressor(increasing=["x"], **SMALL).fit(table, polars.Series("y", y.tolist()))
    assert list(two.feature_names_in_) == ["x", "g"] and two.target_name_ == "y"
    assert (two.predict(table) == one.predict(X)).all()


def test_what_a_notebook_shows():
    X, y = line()
    model = SmileRegressor(increasing=["x"], **SMALL)
    assert "certified" not in model._repr_html_()
    shown = model.fit(X, y)._repr_html_()
    assert "certified" in shown and "Raising &#x27;x&#x27;" in shown
    model.net_.head_bias.data += 1.0
    assert "changed after it was judged" in model._repr_html_() and "certified, checked" not in model._repr_html_()
    assert model.n_iter_ == len(model.history_) > 0


def test_inputs_that_are_none():
    X, y = line()
    model = SmileRegressor(**SMALL)
    with pytest.raises(TypeError, match="[Ss]parse data is not supported"):
        model.fit(sparse.csr_matrix(np.eye(4)), np.arange(4))
    with pytest.raises(SmileError, match="requires y to be passed"):
        model.fit(X, None)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model.fit(X, y.to_numpy()[:, None])
    with pytest.raises(SmileError, match="X has 3 features, but SmileRegressor is expecting 2"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(SmileError, match="a string or a number, not 'dict'"):
        model.predict(pd.DataFrame({"x": [{"a": 1}], "g": ["u"]}))
