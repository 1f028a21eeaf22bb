"""SmileRegressor and SmileClassifier: what they learn, promise, refuse and remember."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn

import smilenn
from smilenn import (
    Columns,
    Config,
    Convex,
    Fair,
    Monotone,
    Network,
    Proved,
    Robust,
    SmileClassifier,
    SmileError,
    SmileRegressor,
    Unknown,
)
from smilenn.datasets import make_credit
from smilenn.domain import Domain
from smilenn.errors import AlteredError
from smilenn.estimators.usual import UnseenWarning
from smilenn.model.backbones import MLP
from smilenn.train.held import held_out

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(pretrain_epochs=20, epochs=4, learning_rate=1e-2, batch_size=16, posttrain_rounds=5)
SMALL = {"network": Network(hidden=3, embedding=2, backbone_sizes=(4,), members=2), "config": QUICK, "random_state": 0}


def line(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, n), "g": rng.choice(["u", "v", "w"], n)})
    return frame, pd.Series(3 * frame["x"] + rng.normal(0, 1, n), name="y")


@pytest.fixture(scope="module")
def regressor():
    X, y = line()
    return SmileRegressor(increasing=["x"], properties=Fair(["g"], 2.0), **SMALL).fit(X, y)


@pytest.fixture(scope="module")
def classifier():
    X, y = line()
    labels = pd.Series(np.where(y > 15, "yes", "no"), name="label")
    return SmileClassifier(properties=[Robust(0.05), Monotone(increasing=["x"])], **SMALL).fit(X, labels)


# ---- what fit learns ------------------------------------------------------------------------------------------------


def test_regressor_learns_and_is_proved(regressor):
    X, y = line(seed=1)
    assert isinstance(regressor.verdict_, Proved)
    assert regressor.verdict_.certificate and regressor.violation_bound_ < 1e-9  # rounding, or 0.0
    assert regressor.score(X, y) > 0.5
    assert list(regressor.feature_names_in_) == ["x", "g"] and regressor.n_features_in_ == 2
    assert regressor.target_name_ == "y"
    assert len(regressor.claims_) == 2 and regressor.history_
    assert regressor.outside_ == "clamp"
    assert regressor.predict(X).dtype == np.float64
    assert not regressor.interrupted_


def test_predictions_obey_the_properties(regressor):
    grid = pd.DataFrame({"x": np.linspace(-5, 15, 200), "g": "u"})  # outside as well: clamping carries both
    assert (np.diff(regressor.predict(grid)) >= -1e-4).all()
    by_group = [regressor.predict(grid.assign(g=g)) for g in "uvw"]
    assert np.ptp(by_group, axis=0).max() <= 2.0 + 1e-4


def test_classifier(classifier):
    X, y = line(seed=1)
    assert list(classifier.classes_) == ["no", "yes"]
    assert isinstance(classifier.verdict_, Proved)
    assert classifier.score(X, np.where(y > 15, "yes", "no")) > 0.7
    logits, proba = classifier.decision_function(X), classifier.predict_proba(X)
    assert proba.shape == (len(X), 2) and np.allclose(proba.sum(axis=1), 1.0)
    assert ((proba[:, 1] > 0.5) == (logits > 0)).all()
    assert (classifier.predict(X) == classifier.classes_[(logits > 0).astype(int)]).all()
    assert (classifier.claims_[0].rows[0].rhs) == 1  # ε of a Robust that does not say
    extreme = smilenn.estimators.classifier.probability(np.array([-1e4, 0.0, 1e4]))
    assert list(extreme) == [0.0, 0.5, 1.0]


def test_same_seed_same_model_and_torch_is_left_alone():
    X, y = line()
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    one, two = (SmileRegressor(increasing=["x"], **SMALL).fit(X, y) for _ in range(2))
    assert torch.equal(torch.rand(2), expected)
    assert (one.predict(X) == two.predict(X)).all()


def test_arrays_and_positions():
    X, y = line()
    model = SmileRegressor(increasing=[0], **SMALL).fit(X[["x"]].to_numpy(), y.to_numpy())
    assert "feature_names_in_" not in vars(model)
    assert model.domain_.columns == ("x0",)
    assert isinstance(model.verdict_, Proved)
    assert model.predict(X[["x"]].to_numpy()).shape == (len(X),)


def test_without_properties_nothing_is_proved():
    X, y = line()
    model = SmileRegressor(**SMALL).fit(X, y)
    assert isinstance(model.verdict_, Unknown)
    assert "no property" in model.verdict_.sentence()


def test_restarts_choose_a_proved_network():
    X, y = line()
    model = SmileRegressor(increasing=["x"], **SMALL).set_params(network__restarts=2).fit(X, y)
    assert isinstance(model.verdict_, Proved)


def test_rows_are_held_out_only_when_there_are_enough():
    y = np.repeat([0.0, 1.0], [30, 10])
    held = held_out(y, 0.1, np.random.RandomState(0))
    assert held.sum() == 4 and held[y == 1].sum() == 1
    assert not held_out(y, 0.0, np.random.RandomState(0)).any()


def test_callback_sample_weight_and_given_domain(regressor):
    X, y = line()
    seen = []
    weight = np.where(X["x"] > 5, 1.0, 0.0)
    domain = Domain.from_data(X, bounds={"x": (0, 20)})
    model = SmileRegressor(
        increasing=["x"], domain=domain, **SMALL | {"network": SMALL["network"].changed(encoder="none")}
    )
    model.fit(X, y, sample_weight=weight, callback=seen.append)
    assert {p.phase for p in seen} >= {"pretrain", "train"}
    assert model.domain_ is domain


def test_custom_backbone_and_checkpoint(tmp_path):
    X, y = line()

    def own(inputs, embedding):
        return nn.Sequential(nn.Linear(inputs, 3), nn.Tanh(), nn.Linear(3, embedding))

    options = SMALL | {"network": SMALL["network"].changed(backbone=own)}
    model = SmileRegressor(increasing=["x"], **options).fit(X, y, checkpoint=tmp_path / "state")
    assert (tmp_path / "state").exists()
    model.save(tmp_path / "model")
    with pytest.raises(SmileError, match="pass backbone="):
        smilenn.load(tmp_path / "model")
    again = smilenn.load(tmp_path / "model", backbone=own(4, 2))
    assert (again.predict(X) == model.predict(X)).all()


def test_ctrl_c_keeps_what_there_is():
    X, y = line()

    def stop(progress):
        if progress.phase == "train":
            raise KeyboardInterrupt

    model = SmileRegressor(increasing=["x"], **SMALL).fit(X, y, callback=stop)
    assert model.interrupted_
    assert model.predict(X).shape == (len(X),)
    assert model.verdict_.status in ("proved", "unknown", "violated")


# ---- scikit-learn ---------------------------------------------------------------------------------------------------


def test_clone_and_parameters(regressor):
    again = clone(regressor)
    assert again.get_params()["increasing"] == ["x"]
    assert again.set_params(domain__margin=0.2).domain == Columns(margin=0.2)
    assert again.network == regressor.network and again.network is not regressor.network
    with pytest.raises(NotFittedError, match="call fit first"):
        again.predict(line()[0])
    with pytest.raises(NotFittedError):
        _ = again.violation_bound_


# ---- saving ---------------------------------------------------------------------------------------------------------


def test_saved_regressor_is_the_same(regressor, tmp_path):
    X, _ = line(seed=2)
    regressor.save(tmp_path / "model")
    again = smilenn.load(tmp_path / "model")
    assert type(again) is SmileRegressor
    assert (again.predict(X) == regressor.predict(X)).all()
    assert again.claims_ == regressor.claims_
    assert again.verdict_.to_json() == regressor.verdict_.to_json()
    assert again.history_ == regressor.history_
    assert again.get_params()["config"] == QUICK
    assert again.all_properties() == regressor.all_properties()
    assert smilenn.prove(again).status == "proved"
    with pytest.raises(SmileError, match="exists"):
        regressor.save(tmp_path / "model")
    again.save(tmp_path / "model", overwrite=True)
    assert (smilenn.load(tmp_path / "model").predict(X) == regressor.predict(X)).all()


@pytest.mark.parametrize("values", [("no", "yes"), (0, 1), (False, True), (1.0, 2.0)])
def test_saved_classes_keep_their_type(values, tmp_path):
    X, y = line()
    labels = np.array(values)[(y > 15).astype(int)]
    plain = Network(encoder="none", hidden=3, embedding=2, backbone_sizes=(4,))
    options = SMALL | {"network": plain, "config": QUICK.replace(epochs=1, posttrain_rounds=0), "certify_limit": 0}
    model = SmileClassifier(increasing=["x"], **options).fit(X, labels)
    model.save(tmp_path / "model")
    again = smilenn.load(tmp_path / "model")
    assert again.predict(X).dtype == model.predict(X).dtype
    assert (again.predict(X) == model.predict(X)).all()


def test_a_verdict_on_other_weights_is_refused(regressor, tmp_path):
    from smilenn.model.bundle import dump_weights
    from smilenn.model.folder import read_folder, write_folder

    regressor.save(tmp_path / "model")
    net = copy.deepcopy(regressor.net_)
    with torch.no_grad():
        net.lower.const += 1.0
    files = read_folder(tmp_path / "model") | {"weights.safetensors": dump_weights(net)}
    write_folder(tmp_path / "model", files, overwrite=True)
    with pytest.raises(AlteredError, match="is about other weights"):
        smilenn.load(tmp_path / "model")


def test_unfitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        SmileRegressor().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_bare_network_is_not_an_estimator(tmp_path):
    from smilenn.model.bundle import save_net
    from smilenn.model.net import SmileNet

    net = SmileNet(Domain.box([0], [1]), MLP(1, (2,), 2), 2)
    save_net(tmp_path / "model", net, documents={n: {} for n in ("properties.json", "verdict.json", "history.json")})
    with pytest.raises(SmileError, match="open_net"):
        smilenn.load(tmp_path / "model")


# ---- smilenn.prove --------------------------------------------------------------------------------------------------


def test_prove_further_properties_and_bare_networks(regressor):
    assert smilenn.prove(regressor, [Monotone(increasing=["x"])]).status == "proved"
    down = smilenn.prove(regressor, [Monotone(decreasing=["x"])])
    assert down.status == "violated"
    assert down.counterexample.outputs.shape == (2, 1)
    assert smilenn.prove(regressor.net_, [Fair(["g"], 2.0)], time_limit=None).status == "proved"
    with pytest.raises(SmileError, match="carries no properties"):
        smilenn.prove(regressor.net_)
    with pytest.raises(SmileError, match="fitted estimator or a SmileNet, not SmileRegressor; fit it first"):
        smilenn.prove(SmileRegressor(), [Fair(["g"], 2.0)])
    with pytest.raises(SmileError, match="no prover 'magic'"):
        smilenn.prove(regressor, prover="magic")
    from smilenn.provers import portfolio  # the function and the package share their name

    assert callable(portfolio.prove_all)


# ---- outside the domain ---------------------------------------------------------------------------------------------


def test_out_of_bounds_policies(regressor):
    X, y = line()
    far = X.assign(x=100.0)
    edge = X.assign(x=regressor.domain_.hi[0])
    assert (regressor.predict(far) == regressor.predict(edge)).all()
    model = SmileRegressor(
        properties=[Convex(["x"])],
        **SMALL
        | {"config": Config(pretrain_epochs=5, epochs=0, posttrain_rounds=0, feasible_start=False, least_quality=0.0)},
    ).fit(X, y)
    assert model.outside_ == "raise"
    with pytest.raises(SmileError, match="outside the domain"):
        model.predict(far)
    warned = clone(regressor).set_params(out_of_bounds="warn").fit(X, y)
    with pytest.warns(UserWarning, match="moved to the nearest bound"):
        warned.predict(far)


# ---- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:-1]), "X has 120 rows but y has 119"),
        (lambda X, y: (X.assign(y=y), y), "target 'y' is among the features"),
        (lambda X, y: (X, y.where(y.index != 3)), "Row 3 of the target is missing"),
        (lambda X, y: (X, y.where(y.index != 3, np.inf)), "Row 3 of the target is inf"),
        (lambda X, y: (X, y.astype(object).where(y.index != 3, "much")), "Row 3 of the target is 'much'"),
        (lambda X, y: (X, np.stack([[y, y]] * 2, axis=1).T), "dimensions"),
        (lambda X, y: (X.assign(x=X["x"].where(X.index != 7, np.inf)), y), "Row 7, column 'x' is inf"),
        (lambda X, y: (X.iloc[:0], y.iloc[:0]), "no rows"),
        (lambda X, y: (pd.concat([X, X["x"]], axis=1), y), "column 'x' twice"),
    ],
)
def test_bad_data(change, message):
    X, y = change(*line())
    with pytest.raises(SmileError, match=message):
        SmileRegressor(**SMALL).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"increasing": ["size"]}, "'size', which is not a feature"),
        ({"domain": Columns(bounds={"x": (10, 0)})}, "lo = 10 above hi = 0"),
        ({"domain": Columns(bounds={"z": (0, 1)})}, "'z', which is not a column"),
        ({"properties": [Robust(0.1)]}, "Robust needs eps in a regression"),
        ({"properties": ["monotone"]}, "not a property"),
        ({"properties": [smilenn.Custom(when=["a.x >= 1000"], then=["a.out <= b.out"])]}, "No inputs satisfy"),
        ({"out_of_bounds": "ignore"}, "out_of_bounds"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"network": {"hidden": 3}}, "network is a Network"),
        ({"domain": "wide"}, "domain is a Domain or Columns"),
        ({"time_limit": 0}, "time_limit"),
        ({"network": Network(device="abacus")}, "none that torch knows"),
        ({"network": Network(device="cuda:99")}, "is not there"),
        ({"network": Network(backbone=lambda m, n: None)}, "returns a torch module"),
    ],
)
def test_bad_parameters(options, message):
    X, y = line()
    with pytest.raises(SmileError, match=message):
        SmileRegressor(**SMALL | options).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [(np.ones(3), "one weight per row"), (-np.ones(120), "not negative"), (np.zeros(120), "zero everywhere")],
)
def test_bad_weights(weight, message):
    X, y = line()
    with pytest.raises(SmileError, match=message):
        SmileRegressor(**SMALL).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(120), "one class only"),
        (np.arange(240).reshape(120, 2), "row 1 of label 'y0' is 2"),
        (np.linspace(0, 1, 120), "fractions"),
        (np.array(["a", 1] * 60, dtype=object), "mixes numbers and strings"),
    ],
)
def test_bad_labels(labels, message):
    X, _ = line()
    with pytest.raises(SmileError, match=message):
        SmileClassifier(**SMALL).fit(X, labels)


def test_unknown_category_and_missing_column_at_prediction(regressor):
    X, _ = line()
    with pytest.raises(SmileError, match="Row 0, column 'g' holds the unknown category 'z'"):
        regressor.read_rows(X.assign(g="z"))
    with pytest.warns(UnseenWarning, match="Row 0, column 'g' holds 'z', which is new; it is read as the usual"):
        predicted = regressor.predict(X.assign(g="z"))
    assert (predicted == regressor.predict(X.assign(g=regressor.usual_["g"]))).all()
    with pytest.raises(SmileError, match="lacks the column 'g'"):
        regressor.predict(X[["x"]])


def test_credit_data_with_every_kind_of_column(tmp_path):
    data = make_credit(250, seed=1, task="binary")
    config = QUICK.replace(pretrain_epochs=5, epochs=2, learning_rate=3e-3)
    options = SMALL | {"network": SMALL["network"].changed(hidden=8), "config": config, "time_limit": 60}
    model = SmileClassifier(increasing=data.increasing, properties=Fair(["race"], 0.5), **options)
    model.fit(data.frame, data.target)
    model.save(tmp_path / "model")
    assert (smilenn.load(tmp_path / "model").predict(data.frame) == model.predict(data.frame)).all()
