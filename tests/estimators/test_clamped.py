"""Somebody else's model, clamped: fair by construction, certified, and unchanged where it was fair already."""

import html

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.conftest import checker_apart, selftests_in_full

from smilenn import check
from smilenn.certify.about import assumptions
from smilenn.certify.verdicts import inspect
from smilenn.errors import AlteredError, SmileError
from smilenn.estimators.clamped import ClampedClassifier, ClampedRegressor

WHOLE = "test_a_pipeline_as_people_write_it"  # the self-test and the process of the checker as users have them


@pytest.fixture(autouse=True)
def quick(request):
    """Short self-tests for the other tests: a clamp asks its model for every row by itself."""
    if request.node.name != WHOLE:
        request.getfixturevalue("quick_fits")
        yield
    else:
        with selftests_in_full(), checker_apart():
            yield


def people(n=24):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, n), "race": rng.choice(["a", "b"], n)})
    return frame, frame["income"] + 2.0 * (frame["race"] == "a") + rng.normal(0, 0.1, n)


def as_numbers(frame):
    return np.column_stack([frame["income"], frame["race"] == "a"])


def piped(model):
    """A model of a frame whose predictions of single rows, of which a clamp asks for hundreds, take little time."""
    return make_pipeline(FunctionTransformer(as_numbers), model)


def test_a_pipeline_as_people_write_it():
    X, y = people()
    columns = make_column_transformer((OneHotEncoder(), ["race"]), remainder="passthrough")
    model = ClampedRegressor(make_pipeline(columns, LinearRegression()), ["race"], 0.5).fit(X, y)
    apart = model.predict(X.assign(race="a")) - model.predict(X.assign(race="b"))
    assert model.certificate_.accepted and np.allclose(apart, 0.5, atol=1e-5) and apart.max() <= 0.5


def test_a_regressor_is_cut_to_what_is_fair():
    X, y = people()
    model = ClampedRegressor(piped(LinearRegression()), ["race"], 0.5).fit(X, y)
    assert model.certificate_.accepted
    apart = model.predict(X.assign(race="a")) - model.predict(X.assign(race="b"))
    assert np.allclose(apart, 0.5, atol=1e-5) and apart.max() <= 0.5
    wide = ClampedRegressor(piped(LinearRegression()), ["race"], 50.0).fit(X, y)
    assert np.allclose(wide.predict(X), wide.model_.predict(X))
    assert wide.score(X, y) > model.score(X, y)


@pytest.mark.parametrize("inner", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_a_classifier_is_clamped_on_its_logit(inner):
    X, y = people()
    model = ClampedClassifier(piped(inner), ["race"], 0.2).fit(X, np.where(y > 5, "yes", "no"))
    assert model.certificate_.accepted and set(model.predict(X)) == {"no", "yes"}
    apart = model.decision_function(X.assign(race="a")) - model.decision_function(X.assign(race="b"))
    assert np.abs(apart).max() <= 0.2


@pytest.mark.parametrize("inner", [LinearRegression(), DecisionTreeRegressor(max_depth=3, random_state=0)])
def test_a_fitted_model_is_clamped_as_it_is(inner):
    """scikit-learn's FrozenEstimator keeps what was fitted: other targets change nothing."""
    X, y = people()
    fitted = piped(inner).fit(X, y)
    model = ClampedRegressor(FrozenEstimator(fitted), ["race"], 0.5).fit(X, -y)
    assert model.certificate_.accepted
    sides = [fitted.predict(X.assign(race=race)) for race in "ab"]
    middle = (np.minimum(*sides) + np.maximum(*sides)) / 2
    assert np.allclose(model.predict(X), np.clip(fitted.predict(X), middle - 0.25, middle + 0.25), atol=1e-5)


def test_a_fitted_classifier_is_clamped_as_it_is():
    X, y = people()
    fitted = piped(LogisticRegression()).fit(X, np.where(y > y.median(), "yes", "no"))
    model = ClampedClassifier(FrozenEstimator(fitted), ["race"], 0.5).fit(X, np.where(y > y.median(), "no", "yes"))
    apart = model.decision_function(X.assign(race="a")) - model.decision_function(X.assign(race="b"))
    assert model.certificate_.accepted and list(model.classes_) == ["no", "yes"] and 0 < apart.max() <= 0.5
    assert (model.predict(X) == fitted.predict(X)).mean() > 0.8


def test_what_cannot_be_clamped_is_refused():
    X, y = people()
    with pytest.raises(SmileError, match="give a data frame"):
        ClampedRegressor(LinearRegression(), ["race"]).fit(X.to_numpy(), y)
    with pytest.raises(SmileError, match="takes any number"):
        ClampedRegressor(piped(LinearRegression()), ["income"]).fit(X, y)
    with pytest.raises(SmileError, match="3 classes"):
        ClampedClassifier(piped(LogisticRegression()), ["race"]).fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("kind", [ClampedRegressor, ClampedClassifier])
def test_a_saved_clamp_predicts_the_same_bits_around_its_model(tmp_path, kind):
    X, y = people()
    X = X.assign(race=X["race"].astype("category"))
    inner = LinearRegression() if kind is ClampedRegressor else LogisticRegression()
    model = kind(piped(inner), ["race"], 0.5).fit(X, y if kind is ClampedRegressor else np.where(y > 5, "yes", "no"))
    model.save(tmp_path / "clamp")
    assert check(tmp_path / "clamp").status == "proved"
    again = kind.load(tmp_path / "clamp", model.model_)
    assert (again.predict(X) == model.predict(X)).all() and again.certificate_.accepted
    assert (again.outputs(X) == model.outputs(X)).all() and again.dtypes_ == model.dtypes_
    for found in (model.certificate_.about, again.certificate_.about, inspect(tmp_path / "clamp")):
        assert found.assumed == assumptions(pinned=True)
    with pytest.raises(SmileError, match="exists"):
        model.save(tmp_path / "clamp")


def test_another_model_is_not_put_into_a_saved_clamp(tmp_path):
    X, y = people()
    model = ClampedRegressor(piped(LinearRegression()), ["race"], 0.5).fit(X, y)
    model.save(tmp_path / "clamp")
    other = piped(LinearRegression()).fit(X, 2 * y)
    with pytest.raises(SmileError, match="computes other outputs"):
        ClampedRegressor.load(tmp_path / "clamp", other)
    with pytest.raises(SmileError, match="holds no ClampedClassifier"):
        ClampedClassifier.load(tmp_path / "clamp", model.model_)
    weights = tmp_path / "clamp" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    with pytest.raises(AlteredError):
        ClampedRegressor.load(tmp_path / "clamp", model.model_)


@pytest.mark.parametrize("kind", [ClampedRegressor, ClampedClassifier])
def test_a_clamp_names_its_output_and_shows_its_quality(tmp_path, kind):
    X, y = people()
    number = kind is ClampedRegressor
    target = pd.Series(y if number else np.where(y > 5, "yes", "no"), name="pay")
    model = kind(piped(LinearRegression() if number else LogisticRegression()), ["race"], 0.5).fit(X, target)
    model.save(tmp_path / "clamp")
    named = "the predicted 'pay' by at most" if number else "the log-odds of 'pay' = 'yes' by at most"
    for one in (model, kind.load(tmp_path / "clamp", model.model_)):
        assert named in one.certificate_.statement and one.certificate_.accepted
        shown = html.unescape(one._repr_html_())
        assert named in shown and one.quality_.sentence() in shown and f"On {len(X)} training rows" in shown
        score = one.quality_.numbers["r2" if number else "accuracy"]
        assert score == pytest.approx(model.score(X, target))
    assert check(tmp_path / "clamp").status == "proved"
    poor = kind(FrozenEstimator(model.model_), ["race"], 0.5)
    poor.fit(X, -target if number else np.where(y > 5, "no", "yes"))
    assert "but the model is no better than" in html.unescape(poor._repr_html_())
