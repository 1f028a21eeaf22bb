"""Estimators that scikit-learn cannot clone: a deep copy of them is fitted, as a backbone and in a clamp."""

import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone

from smilenn import ClampedRegressor, Fair, Network, SmileRegressor
from smilenn.errors import SmileError

pytestmark = pytest.mark.usefixtures("quick_fits")


class Odd(RegressorMixin, BaseEstimator):
    """Its constructor changes a parameter, as CatBoost's does."""

    def __init__(self, columns=None):
        self.columns = list(columns or [])

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return 3.0 * (X["group"] == "b").to_numpy() + X["income"].to_numpy()


class Locked(Odd):
    """Nor can it be copied."""

    def __init__(self, columns=None):
        super().__init__(columns)
        self.lock = threading.Lock()


def people(n=60):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.uniform(0, 9, n), "group": rng.choice(["a", "b"], n)})
    return X, X["income"] + 3.0 * (X["group"] == "b") + rng.normal(0, 0.1, n)


def fitted_as(kind, model):
    X, y = people()
    if kind == "clamp":
        return ClampedRegressor(model, ["group"], 1.0).fit(X, y)
    return SmileRegressor(properties=[Fair(["group"], 1.0)], network=Network(backbone=model), random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", ["clamp", "backbone"])
def test_one_that_cannot_be_cloned_is_copied(kind):
    with pytest.raises(RuntimeError, match="Cannot clone"):
        clone(Odd(("group",)))
    own = Odd(("group",))
    model = fitted_as(kind, own)
    X, _ = people()
    moved = model.predict(X.assign(group="b")) - model.predict(X.assign(group="a"))
    assert model.certificate_.accepted and 0.5 < moved.max() <= 1.0
    assert not hasattr(own, "fitted_")


@pytest.mark.parametrize(("kind", "words"), [("clamp", "as FrozenEstimator"), ("backbone", "give the backbone fitted")])
def test_one_that_cannot_be_copied_either_is_refused_in_a_sentence(kind, words):
    with pytest.raises(SmileError, match=f"The Locked can be copied neither .*{words}"):
        fitted_as(kind, Locked(("group",)))


@pytest.mark.parametrize("kind", ["clamp", "backbone"])
def test_catboost_with_categories(kind):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False, cat_features=["group"])
    with pytest.raises(RuntimeError, match="Cannot clone"):
        clone(model)
    assert fitted_as(kind, model).certificate_.accepted and not model.is_fitted()
