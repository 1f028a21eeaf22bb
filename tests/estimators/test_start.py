"""Refitting from a model: it begins with its weights, keeps its rules, and refuses models that do not fit."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import smilenn
from smilenn import (
    Bounded,
    Columns,
    Config,
    Convex,
    Domain,
    Fair,
    Feature,
    Lipschitz,
    Monotone,
    Network,
    SmileClassifier,
    SmileError,
    SmileRegressor,
)
from smilenn.train.state import CheckpointError
from smilenn.train.warm import adopt_

pytestmark = pytest.mark.usefixtures("quick_module")

torch.set_num_threads(1)

SHORT = Config(pretrain_epochs=15, epochs=6, learning_rate=1e-2, batch_size=32, posttrain_rounds=10, least_quality=0.0)
STILL = SHORT.replace(epochs=0, posttrain_rounds=0)
KINDS = {
    "ensemble": {"properties": [Monotone(increasing=["x"]), Fair(["g"], 1)]},
    "box around an ensemble": {"properties": [Fair(["g"], 4)]},
    "curved": {"properties": [Convex(["x"])], "out_of_bounds": "clamp"},
    "curved, with slopes": {"properties": [Monotone(increasing=["x"]), Lipschitz(["x"], 5)], "time_limit": 30},
    "fixed box": {"properties": [Bounded(-5, 40)]},
    "searched": {"properties": [Fair(["g"], 4)], "network__encoder": "none", "network__hidden": 4},
    "searched and rounded": {
        "properties": [Monotone(increasing=["x"])],
        "network__encoder": "none",
        "network__hidden": 4,
    },
    "free of rules": {"network__encoder": "none", "network__hidden": 4},
}


def data(n=70, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": np.r_[0.0, 10.0, rng.uniform(0, 10, n - 2)].round(2), "g": rng.choice(list("uvw"), n)})
    return frame, pd.Series((3 * frame["x"] + shift + rng.normal(0, 1, n)).round(2), name="y")


def make(kind="ensemble", config=SHORT, **options):
    made = SmileRegressor(config=config, random_state=0, network=Network(backbone_sizes=(8,)))
    return made.set_params(**KINDS[kind]).set_params(**options)


@pytest.fixture(scope="module")
def model():
    return make().fit(*data())


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_folder_as_from_memory(kind, tmp_path):
    first = make(kind).fit(*data())
    first.save(tmp_path / "m")
    before = copy.deepcopy(first.net_.state_dict())
    X, y = data(seed=1, shift=2.0)
    again = make(kind).fit(X, y, start=tmp_path / "m")
    same = make(kind).fit(X, y, start=first)
    assert (again.predict(X) == same.predict(X)).all()
    assert again.reasons_.startswith("Started from the weights of a fitted model.")
    assert again.verdict_.status == first.verdict_.status == ("unknown" if kind == "free of rules" else "proved")
    assert next(r["phase"] for r in again.history_ if r["phase"] != "trees") == "train"  # nothing is pretrained
    assert again.domain_ == first.domain_
    assert all(torch.equal(tensor, before[name]) for name, tensor in first.net_.state_dict().items())
    again.save(tmp_path / "again")
    assert (smilenn.load(tmp_path / "again").predict(X) == again.predict(X)).all()


@pytest.mark.parametrize("kind", ["fixed box", "searched", "free of rules"])
def test_the_weights_are_those_of_the_start(kind):
    """Without an epoch nothing moves; a fresh fit without one knows nothing."""
    X, y = data()
    first = make(kind).fit(X, y)
    assert (make(kind, STILL).fit(X, y, start=first).predict(X) == first.predict(X)).all()


def test_an_ensemble_starts_where_it_was(model):
    X, y = data()
    still = make(config=STILL).fit(X, y, start=model)
    assert model.score(X, y) > 0.8 and still.score(X, y) > 0.8
    assert make(config=STILL).fit(X, y).score(X, y) < 0.5


def test_few_new_rows_may_have_other_quantiles(model):
    """The ramps stay where the first data put them, and their weights keep their signs."""
    X, y = data(40, seed=2)
    X["x"] = X["x"].round(0)
    again = make().fit(X, y, start=model)
    assert again.verdict_.certificate and again.columns_ == model.columns_


def test_an_estimator_may_start_from_itself(model, tmp_path):
    model.save(tmp_path / "m")
    own = smilenn.load(tmp_path / "m")
    X, y = data(seed=3, shift=1.0)
    own.fit(X, y, start=own)
    assert own.verdict_.certificate and own.score(X, y) > 0.8


def test_classes(tmp_path):
    X, y = data()
    options = {
        "properties": Fair(["g"], 1),
        "config": SHORT,
        "random_state": 0,
        "network": Network(backbone_sizes=(8,)),
    }
    first = SmileClassifier(**options).fit(X, np.where(y > 15, "high", "low"))
    again = SmileClassifier(**options).fit(X, np.where(y > 16, "high", "low"), start=first)
    assert again.verdict_.certificate and list(again.classes_) == ["high", "low"]
    with pytest.raises(SmileError, match="knows the classes 'high', 'low'; the data has 'great', 'low'; fit anew"):
        SmileClassifier(**options).fit(X, np.where(y > 16, "great", "low"), start=first)


def test_a_backbone_of_ones_own():
    X, y = data()

    def net(inputs, embedding, units=5):
        return nn.Sequential(nn.Linear(inputs, units), nn.Tanh(), nn.Linear(units, embedding))

    first = make("searched", network__backbone=net).fit(X, y)
    again = make("searched", STILL, network__backbone=net).fit(X, y, start=first)
    assert (again.predict(X) == first.predict(X)).all()
    with pytest.raises(SmileError, match="has another network, in the shape of 'backbone.0.bias'; fit anew"):
        make("searched", network__backbone=lambda i, e: net(i, e, 6)).fit(X, y, start=first)


def test_a_checkpoint_of_another_start_is_refused(tmp_path, model):
    X, y = data(seed=1)
    other = make(random_state=1).fit(*data())
    make().fit(X, y, start=model, checkpoint=tmp_path / "c")
    with pytest.raises(CheckpointError, match="belongs to another network"):
        make().fit(X, y, start=other, checkpoint=tmp_path / "c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"properties": [Monotone(increasing=["x"])]}, "keeps other properties .Raising 'x'.*; state the same ones"),
        ({"properties": [Monotone(increasing=["x"]), Fair(["g"], 2)]}, "keeps other properties"),
        ({"network__encoder": "none"}, "was fitted with encoder='auto', not 'none'; fit anew, without a start."),
        ({"network__backbone_sizes": [9]}, r"was fitted with backbone_sizes=\(8,\), not \(9,\); fit anew"),
        ({"network__hidden": 3}, "was fitted with hidden=16, not 3"),
        ({"domain": Columns(bounds={"x": (0, 20)})}, "brings its own domain, with other bounds; leave bounds out."),
        (
            {
                "domain": Domain(
                    (Feature("x", "continuous", 0, 1), Feature("g", "category", categories=("u", "v", "w")))
                )
            },
            "was fitted on another domain",
        ),
    ],
)
def test_other_parameters_are_refused(model, options, message):
    with pytest.raises(SmileError, match=message):
        make(**options).fit(*data(), start=model)


def test_other_data_are_refused(model):
    X, y = data()
    with pytest.raises(SmileError, match="fitted on the columns 'x', 'g'; the data has 'g', 'x', in this order"):
        make().fit(X[["g", "x"]], y, start=model)
    with pytest.raises(SmileError, match="Row 0.*'z'"):
        make().fit(X.assign(g="z"), y, start=model)
    two = pd.DataFrame({"one": y, "two": -y})
    with pytest.raises(SmileError, match="has the outputs ''; the data has 'one', 'two'; fit anew"):
        SmileRegressor(config=SHORT, network=Network(backbone_sizes=(8,))).fit(X, two, start=model)


def test_what_is_no_start(model, tmp_path):
    X, y = data()
    with pytest.raises(SmileError, match="start is a SmileRegressor; a SmileClassifier starts from a fitted one"):
        SmileClassifier().fit(X, y > 9, start=model)
    with pytest.raises(SmileError, match="start is a dict; a SmileRegressor starts from a fitted one, or its folder"):
        make().fit(X, y, start={})
    with pytest.raises(SmileError, match="is not fitted; fit it, or load a saved one"):
        make().fit(X, y, start=make())
    with pytest.raises(SmileError, match="nothing"):
        make().fit(X, y, start=tmp_path / "nothing")


def test_networks_of_another_make_are_refused(model):
    fresh = make(config=STILL).fit(*data())
    plain = make("searched", STILL).fit(*data())
    with pytest.raises(SmileError, match="in what stands before its auxiliaries"):
        adopt_(copy.deepcopy(fresh.net_), plain.net_)
    other = copy.deepcopy(model.net_)
    other.encoder.branches[0].name = "another"
    with pytest.raises(SmileError, match="in the branch 'another' of its encoder"):
        adopt_(copy.deepcopy(fresh.net_), other)
    constant = copy.deepcopy(model.net_)
    constant.head_weight.data.zero_()
    with pytest.raises(SmileError, match="is a constant, from which no step leads away; fit anew."):
        adopt_(copy.deepcopy(model.net_), constant)
