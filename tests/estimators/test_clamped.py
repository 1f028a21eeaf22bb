"""Somebody else's model, clamped: fair by construction, certified, and unchanged where it was fair already."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from smilenn.errors import SmileError
from smilenn.estimators.clamped import ClampedClassifier, ClampedRegressor


def people(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 9, n), "race": rng.choice(["a", "b"], n)})
    return frame, frame["income"] + 2.0 * (frame["race"] == "a") + rng.normal(0, 0.1, n)


def piped(model):
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["race"]), remainder="passthrough"), model)


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


def test_what_cannot_be_clamped_is_refused():
    X, y = people()
    with pytest.raises(SmileError, match="give a data frame"):
        ClampedRegressor(LinearRegression(), ["race"]).fit(X.to_numpy(), y)
    with pytest.raises(SmileError, match="takes any number"):
        ClampedRegressor(piped(LinearRegression()), ["income"]).fit(X, y)
    with pytest.raises(SmileError, match="3 classes"):
        ClampedClassifier(piped(LogisticRegression()), ["race"]).fit(X, np.arange(len(X)) % 3)
