"""Estimators with several outputs: classes, labels, targets and quantiles, certified, attacked, saved and reported."""

import numpy as np
import pandas as pd
import pytest

import smilenn
from smilenn import (
    Bounded,
    Columns,
    Config,
    Custom,
    Exclusive,
    Fair,
    Lipschitz,
    Monotone,
    Network,
    Ordered,
    Robust,
    Safe,
    SmileClassifier,
    SmileError,
    SmileRegressor,
    SumAtMost,
)
from smilenn.estimators.stability import stable
from smilenn.report.probe import probe

pytestmark = pytest.mark.usefixtures("quick_module")

QUICK = Config(
    pretrain_epochs=12,
    epochs=12,
    learning_rate=1e-2,
    batch_size=64,
    posttrain_rounds=6,
    posttrain_seconds=5,
    least_quality=0.0,
)
SMALL = {
    "config": QUICK,
    "random_state": 0,
    "network": Network(backbone_sizes=(8,), hidden=4, members=2),
    "certify_limit": 10,
}


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.uniform(0, 10, n), "w": rng.uniform(0, 1, n), "g": rng.choice(["u", "v"], n)}), rng


def classes(n=240, seed=0):
    X, rng = table(n, seed)
    score = X["x"] + 2 * (X["g"] == "u") + rng.normal(0, 1, n)
    return X, np.array(["low", "middle", "high"])[np.digitize(score, [4, 7])]


def targets(n=240, seed=0):
    X, rng = table(n, seed)
    y = pd.DataFrame({"rent": 0.3 * X["x"], "food": 0.5 * X["x"] + X["w"]})
    return X, y + rng.normal(0, 0.4, y.shape)


def labels(n=240, seed=0):
    X, rng = table(n, seed)
    a, b = X["x"] - 5 + rng.normal(0, 1, n), 5 * X["w"] - 2 + rng.normal(0, 1, n)
    return X, pd.DataFrame({"cat": (a > 0) & (a > b), "dog": (b > 0) & (b >= a), "wet": X["g"] == "u"}).astype(int)


def price(n=240, seed=0):
    X, rng = table(n, seed)
    return X, pd.Series(X["x"] + (0.5 + X["x"] / 4) * rng.normal(size=n), name="price")


def attacked(model, claims, n=40):
    """The worst value of any claim that the attack finds; above 0 a rule is broken."""
    x = model.domain_.sample(n, np.random.default_rng(5))
    return max(float(probe(model.net_, claim, x).value.max()) for claim in claims)


# ---- classes --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classifier():
    rules = [Monotone(["x"], output="high"), Fair(["g"], 0.5)]
    return SmileClassifier(properties=rules, **SMALL).fit(*classes())


def test_classes_are_predicted_with_margins_that_obey(classifier):
    X, y = classes(seed=1)
    assert classifier.task == "multiclass" and classifier.classes_.tolist() == ["high", "low", "middle"]
    logits, sure = classifier.decision_function(X), classifier.predict_proba(X)
    assert logits.shape == sure.shape == (len(X), 3) and np.allclose(sure.sum(axis=1), 1)
    assert (classifier.predict(X) == classifier.classes_[logits.argmax(axis=1)]).all()
    assert classifier.score(X, y) > 0.5 and classifier.verdict_.status == "proved"
    margins = logits[:, :1] - logits
    higher = classifier.decision_function(X.assign(x=X["x"] + 0.4))
    assert (higher[:, :1] - higher >= margins - 1e-12).all()
    flipped = classifier.decision_function(X.assign(g=X["g"].map({"u": "v", "v": "u"})))
    change = (flipped[:, :, None] - flipped[:, None]) - (logits[:, :, None] - logits[:, None])
    assert np.abs(change).max() <= 0.5 + 1e-12


def test_the_attack_fails_on_it_and_succeeds_without_rules(classifier):
    X, y = classes()
    free = SmileClassifier(domain=classifier.domain_, **SMALL).fit(X, y)
    assert attacked(classifier, classifier.claims_) <= 1e-9 < 0.01 < attacked(free, classifier.claims_)


def test_certified_labels_of_several_classes(classifier):
    X, _ = classes(seed=2)
    label, certified = classifier.predict_certified(X)
    bounds = classifier.largest_changes()
    assert (
        bounds.shape == (3, 3) and (np.diag(bounds) == 0).all() and classifier.largest_change() == bounds.max() <= 0.51
    )
    assert certified.any()
    assert (classifier.predict(X.assign(g=X["g"].map({"u": "v", "v": "u"}))) == label)[certified].all()
    lead = np.array([[3.0, 1.0, 0.0], [3.0, 2.5, 0.0], [0.0, 0.0, -9.0]])
    assert stable(lead, np.full((3, 3), 1.0), margins=True).tolist() == [True, False, False]
    only = np.full((3, 3), np.inf)
    assert not stable(lead, only, margins=True).any()


def test_saved_classes_are_the_same(classifier, tmp_path):
    X, y = classes(seed=1)
    classifier.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.outputs_ == classifier.outputs_ and loaded.task == "multiclass" and loaded.verdict_.status == "proved"
    assert (loaded.predict_proba(X) == classifier.predict_proba(X)).all()
    assert (loaded.predict_certified(X)[1] == classifier.predict_certified(X)[1]).all()
    verdict = smilenn.check(tmp_path / "m")
    assert verdict.status == "proved"
    loaded.report(tmp_path / "r.html", X[:40], y[:40], card=tmp_path / "c.md", held_out=True)
    card = (tmp_path / "c.md").read_text()
    assert (
        "\\('high', 'low' or 'middle'\\)" in card
        and "the margin of 'high' over any other class" in card
        and "| accuracy |" in card
    )


def test_class_and_sample_weights_move_decisions():
    X, y = classes()
    plain, heavy = (
        SmileClassifier(class_weight=weight, **SMALL).fit(X, y).predict(X) for weight in (None, {"middle": 50.0})
    )
    assert (heavy == "middle").sum() > (plain == "middle").sum()
    only = SmileClassifier(**SMALL).fit(X, y, sample_weight=(y != "high").astype(float))
    assert only.classes_.tolist() == ["low", "middle"] and only.task == "binary"
    with pytest.raises(SmileError, match="no row of the class 'high'"):
        SmileClassifier(class_weight={"high": 0.0}, **SMALL).fit(X, y)


def test_a_direction_without_a_class_is_one_sentence():
    with pytest.raises(SmileError, match="must say which of the 3 classes"):
        SmileClassifier(increasing=["x"], **SMALL).fit(*classes())


def test_many_classes_that_are_numbers_are_robust_by_distances():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (200, 2))
    y = (X[:, 0] > 0.5).astype(int) + 2 * (X[:, 1] > 0.5) + 3
    config = Config(epochs=30, batch_size=32, learning_rate=0.02, train_learning_rate=0.02)
    model = SmileClassifier(properties=[Robust(0.05)], random_state=0, config=config).fit(X, y)
    assert (
        "distance" in model.reasons_ and model.verdict_.status == "proved" and model.classes_.tolist() == [3, 4, 5, 6]
    )
    label, certified = model.predict_certified(X)
    assert certified.any() and (label == y).mean() > 0.5
    for _ in range(20):
        moved = X + rng.uniform(-0.0499, 0.0499, X.shape)
        assert (model.predict(moved) == label)[certified].all()


# ---- labels ---------------------------------------------------------------------------------------------------------


def test_exclusive_labels_are_never_predicted_together():
    X, Y = labels()
    model = SmileClassifier(properties=[Exclusive("cat", "dog")], **SMALL).fit(X, Y)
    assert model.task == "multilabel" and model.verdict_.status == "proved" and model.violation_bound_ == 0.0
    wild = model.domain_.decode(model.domain_.sample(3000, np.random.default_rng(0)))
    found = model.predict(wild)
    assert found.shape == (3000, 3) and not (found[:, 0] & found[:, 1]).any()
    assert (model.predict_proba(wild)[:, :2].sum(axis=1) <= 1 + 1e-12).all()
    free = SmileClassifier(domain=model.domain_, **SMALL).fit(X, Y)
    assert attacked(model, model.claims_) <= 0 < attacked(free, model.claims_)
    with pytest.raises(SmileError, match="weigh rows of labels by sample_weight"):
        SmileClassifier(class_weight="balanced", **SMALL).fit(X, Y)


@pytest.mark.slow
def test_labels_with_rules_of_every_kind_end_certified(tmp_path):
    X, Y = labels()
    rules = [Exclusive("cat", "dog"), Monotone(["x"], output="cat"), Fair(["g"], 0.4, output="dog")]
    model = SmileClassifier(properties=rules, **SMALL).fit(X, Y)
    assert model.verdict_.status == "proved" and model.violation_bound_ <= 1e-9
    assert attacked(model, model.claims_) <= 1e-9
    label, certified = model.predict_certified(X)
    assert label.shape == certified.shape == (len(X), 3)
    assert not certified[:, [0, 2]].any()  # nothing bounds how far these move
    model.save(tmp_path / "m")
    assert smilenn.load(tmp_path / "m").task == "multilabel"


# ---- several targets ------------------------------------------------------------------------------------------------

CONJUNCTIONS = {
    "sum": [SumAtMost(None, "x")],
    "sum of positive numbers": [SumAtMost(None, "0.9 * x + 2"), Bounded(lo=0)],
    "sum and fair": [SumAtMost(None, "x"), Fair(["g"], 0.2)],
    "sum and monotone": [SumAtMost(None, "x"), Monotone(["x"], output="food")],
    "ordered and monotone": [Ordered(["rent", "food"]), Monotone(["x"])],
    "bounded and monotone": [Bounded(-1, 4), Monotone(["x"])],
    "ordered, bounded, fair": [Ordered(["rent", "food"]), Bounded(-2, 9), Fair(["g"], 0.5)],
    "slopes and bounds": [Lipschitz(["x"], 2.0), Monotone(["x"], output="rent"), Bounded(-3, 9)],
    "robust": [Robust(0.1, 1.0, output="rent")],
    "words": [Safe(then=["out.rent + out.food <= 9", "out.rent >= -2"])],
    "conditional": [Safe(when=["x <= 2"], then=["out.food <= 4"]), Monotone(["x"], output="rent")],
    "custom": [Custom(when=["a.x <= b.x"], then=["a.out.rent - b.out.rent <= 0.5"])],
}


SLOW = {"conditional", "bounded and monotone", "ordered, bounded, fair", "sum and monotone", "slopes and bounds"}


@pytest.mark.parametrize(
    "rules",
    [pytest.param(rules, marks=[pytest.mark.slow] * (name in SLOW), id=name) for name, rules in CONJUNCTIONS.items()],
)
def test_conjunctions_on_several_targets_end_certified(rules):
    X, Y = targets()
    model = SmileRegressor(properties=rules, domain=Columns(bounds={"x": (0.0, 10.0)}), **SMALL).fit(X, Y)
    assert model.verdict_.status == "proved" and model.violation_bound_ <= 1e-9
    assert model.predict(X).shape == (len(X), 2) and attacked(model, model.claims_) <= 1e-9


def test_expenses_stay_within_income_and_an_ordinary_network_overspends(tmp_path):
    X, Y = targets()
    Y = Y + 0.15 * X[["x"]].to_numpy()  # close to the limit, and beyond it in the data
    model = SmileRegressor(properties=[SumAtMost(["rent", "food"], "x")], **SMALL).fit(X, Y)
    wild = model.domain_.decode(model.domain_.sample(3000, np.random.default_rng(0)))
    assert (model.predict(wild).sum(axis=1) <= wild["x"]).all() and model.violation_bound_ == 0.0
    free = SmileRegressor(domain=model.domain_, **SMALL).fit(X, Y)
    assert (free.predict(wild).sum(axis=1) > wild["x"]).any()
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert (loaded.predict(X) == model.predict(X)).all() and loaded.outputs_.names == ("rent", "food")
    loaded.report(tmp_path / "r.html", X, Y, train=(X, Y), seconds=3)
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "R² of rent" in page and "predicted food" in page


def test_targets_of_an_array_are_numbered():
    X, Y = targets()
    model = SmileRegressor(properties=[Bounded(0, 9, output="y1")], **SMALL).fit(X, Y.to_numpy())
    assert model.outputs_.names == ("y0", "y1")
    low, high = model.predict(X)[:, 1].min(), model.predict(X)[:, 1].max()
    assert 0 <= low <= high <= 9
    with pytest.raises(SmileError, match="names the output 'rent'; there are 'y0', 'y1'"):
        SmileRegressor(properties=[Bounded(0, output="rent")], **SMALL).fit(X, Y.to_numpy())


# ---- quantiles ------------------------------------------------------------------------------------------------------


class Crossing(SmileRegressor):
    """Quantiles without their order."""

    def all_properties(self):
        return ()


def test_quantiles_never_cross(tmp_path):
    X, y = price()
    levels = [0.1, 0.3, 0.5, 0.7, 0.9]
    model = SmileRegressor(quantiles=levels, **SMALL).fit(X, y)
    assert model.task == "quantiles" and model.outputs_.names == ("q0.1", "q0.3", "q0.5", "q0.7", "q0.9")
    assert model.verdict_.status == "proved" and model.violation_bound_ == 0.0
    wild = model.domain_.decode(model.domain_.sample(3000, np.random.default_rng(0)))
    assert (np.diff(model.predict(wild), axis=1) > 0).all()
    free = Crossing(
        quantiles=levels, domain=model.domain_, **SMALL | {"network": SMALL["network"].changed(encoder="none")}
    ).fit(X, y)
    assert (np.diff(free.predict(wild), axis=1) < 0).any()
    model.save(tmp_path / "m")
    loaded = smilenn.load(tmp_path / "m")
    assert loaded.quantiles == levels and (loaded.predict(X) == model.predict(X)).all()
    loaded.report(tmp_path / "r.html", X, y, card=tmp_path / "c.md")
    assert "share below q0.1" in (tmp_path / "c.md").read_text()
    assert 0 < model.score(X, y) < 1


@pytest.mark.parametrize("wanted", [[0.5], [0.9, 0.1], [0.0, 0.5], "many", [0.1, 0.1]])
def test_levels_of_quantiles_are_checked(wanted):
    with pytest.raises(SmileError, match="such as"):
        SmileRegressor(quantiles=wanted, **SMALL).fit(*price())


@pytest.mark.slow
def test_monotone_quantiles():
    X, y = price()
    model = SmileRegressor(quantiles=[0.2, 0.8], increasing=["x"], **SMALL).fit(X, y)
    assert model.verdict_.status == "proved" and attacked(model, model.claims_) <= 1e-12
