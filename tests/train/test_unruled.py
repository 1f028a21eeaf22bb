"""Without a rule: the ensemble that rules about order get, for every task, unless another network was chosen."""

from time import process_time

import numpy as np
import pandas as pd
import pytest

import smilenn
from smilenn import Network, SmileClassifier, SmileRegressor
from smilenn.train.config import Config
from smilenn.verdict import Proved, Unknown

pytestmark = pytest.mark.usefixtures("quick_module")

FEW = {"network": Network(members=1), "config": Config(epochs=3, batch_size=64), "random_state": 0}


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, n), "b": rng.uniform(-1, 1, n), "c": rng.choice(["u", "v", "w"], n)})
    return X, X["a"] ** 2 + (X["c"] == "u") * X["b"] + 0.1 * rng.normal(size=n)


def kinds(model):
    return {branch.name.rstrip("0123456789_") for branch in model.net_.encoder.branches}


TASKS = {
    "number": (SmileRegressor, lambda y: y),
    "numbers": (SmileRegressor, lambda y: np.c_[y, -2 * y]),
    "two classes": (SmileClassifier, lambda y: np.where(y > 0.3, "yes", "no")),
    "classes": (SmileClassifier, lambda y: np.digitize(y, [0.2, 0.5])),
    "labels": (SmileClassifier, lambda y: np.c_[y > 0.2, y > 0.5].astype(int)),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_model_without_rules_has_trees_among_its_members(task, tmp_path):
    X, y = table()
    kind, target = TASKS[task]
    model = kind(**FEW).fit(X, target(y))
    assert any(name.startswith("trees") for name in kinds(model)), kinds(model)
    assert "Mixture chosen on held-out rows" in model.explain() and "There are no properties" in model.explain()
    assert isinstance(model.verdict_, Unknown) and "no property was asked for" in model.verdict_.sentence()
    assert model.certificate_ is None and "certified" not in model.explain()
    again = kind(**FEW).fit(X, target(y))
    assert (again.predict(X) == model.predict(X)).all()
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert (loaded.predict(X) == model.predict(X)).all() and isinstance(loaded.verdict_, Unknown)


def test_quantiles_without_rules_are_an_ensemble_that_never_crosses():
    X, y = table()
    model = SmileRegressor(quantiles=[0.1, 0.5, 0.9], **FEW).fit(X, y)
    assert model.net_.encoder is not None and isinstance(model.verdict_, Proved)
    assert "There are no properties, except that quantiles do not cross" in model.explain()
    assert (np.diff(model.predict(X), axis=1) >= 0).all()


@pytest.mark.parametrize(
    "chosen",
    [
        Network(encoder="none"),
        Network(hidden=4),
        Network(embedding=3),
        Network(backbone_sizes=(8,)),
        Network(boxes="paper"),
    ],
)
def test_who_chooses_a_network_gets_it(chosen):
    X, y = table()
    model = SmileRegressor(network=chosen, config=Config(pretrain_epochs=2, epochs=2), random_state=0).fit(X, y)
    assert model.net_.encoder is None and "There are no properties, and the network was chosen" in model.explain()


def test_a_time_limit_holds_without_rules():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 1, 2])
    begun = process_time()  # of the processor: other work on the machine takes none of it
    model = SmileClassifier(time_limit=3, random_state=0).fit(X, y)
    assert process_time() - begun < 6 and model.cut_short_
    small = SmileRegressor(**FEW).fit(*table())
    assert small.cut_short_ == ()
