"""A fitted estimator as the backbone: certified whatever it answers, and left alone where the box lets it."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import smilenn
from smilenn import (
    Bounded,
    Columns,
    Convex,
    Fair,
    Lipschitz,
    LocalRobust,
    Monotone,
    Network,
    OneOf,
    Robust,
    SmileClassifier,
    SmileRegressor,
)
from smilenn.errors import SmileError
from smilenn.estimators.backbone import is_fitted
from smilenn.export.onnx_file import export_onnx

pytestmark = pytest.mark.usefixtures("quick_module")

EPS = 1.0
GROUPS = ["x", "y", "z"]


def people(n=240):
    """A number with holes, whole numbers, a protected category; the target of group "y" is 2 higher."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.normal(0, 1, n),
            "age": rng.integers(18, 60, n),
            "race": pd.Categorical(rng.choice(GROUPS, n)),
        }
    )
    y = frame["income"] ** 2 + 0.05 * frame["age"] + 2.0 * (frame["race"] == "y") + rng.normal(0, 0.1, n)
    frame.loc[::17, "income"] = np.nan
    return frame, y.fillna(3.0)


class Wild(RegressorMixin, BaseEstimator):
    """Answers with what the call is: its place in the batch, the batch's size, how often it was asked; and with the
    protected column, a thousand times.
    """

    def fit(self, X, y=None):
        self.calls_ = 0
        return self

    def predict(self, X):
        self.calls_ += 1
        X = pd.DataFrame(X)
        return 1e3 * (X["race"] == "y") - 1e3 * (X["race"] == "z") + np.arange(len(X)) % 7 - len(X) + self.calls_


class Says(RegressorMixin, BaseEstimator):
    """Answers what it is told to."""

    def __init__(self, what=None):
        self.what = what

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.what(X)


class Backwards(ClassifierMixin, BaseEstimator):
    """A classifier whose classes are in no order, and one of which it never saw."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X[["age"]], y)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X[["age"]])[:, ::-1]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def network(backbone):
    return Network(backbone=backbone, members=1)


def fair(backbone, properties=None, **options):
    X, y = people()
    rules = [Fair(["race"], EPS)] if properties is None else properties
    return SmileRegressor(properties=rules, network=network(backbone), random_state=0, **options).fit(X, y)


def apart(model, X):
    """The outputs [groups, n] or [groups, n, o] of every row as a member of each group: each group's rows in batches of
    other sizes, at other places.
    """
    found = []
    for shift, (group, size) in enumerate(zip(GROUPS, (1, 4, len(X)), strict=True)):
        own = X.assign(race=pd.Categorical([group] * len(X), categories=GROUPS))
        order = np.roll(np.arange(len(X)), 3 * shift)
        out = np.empty((len(X), *model.outputs(own.iloc[:1]).shape[1:]))
        for first in range(0, len(X), size):
            rows = order[first : first + size]
            out[rows] = model.outputs(own.iloc[rows])
        found.append(out)
    return np.stack(found)


@pytest.fixture(scope="module")
def boosted():
    """Fair regression around scikit-learn's boosting, which is not fitted yet."""
    return fair(HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype"))


def test_it_is_certified_and_no_pair_is_apart(boosted, tmp_path):
    X, _ = people(21)
    assert boosted.certificate_.accepted
    boosted.save(tmp_path / "model")
    for model in (boosted, smilenn.load(tmp_path / "model", backbone=boosted.backbone_)):
        change = np.ptp(apart(model, X), axis=0)
        assert change.max() <= EPS and change.max() > 0.5  # the backbone is heard
        assert model.certificate_.accepted and np.array_equal(model.predict(X), boosted.predict(X))


def test_its_answers_are_those_of_the_box_or_its_own(boosted):
    X, _ = people()
    x, net = boosted.encoded(X), boosted.net_
    y, f = net.backbone.answers(x)[:, 0], net.predict(x)[:, 0]
    np.testing.assert_array_equal(y, boosted.backbone_.predict(net.backbone.seen.rows(x)))
    moved = np.abs(f - y) > 1e-9
    lower, upper = ends(net, x)
    assert moved.any() and not moved.all()
    np.testing.assert_allclose(f, np.clip(y, lower, upper), atol=1e-9)
    np.testing.assert_allclose(upper - lower, 0.98 * EPS, atol=1e-9)


def ends(net, x):
    import torch

    with torch.no_grad():
        box = net.box(net.encode(net.scale(torch.tensor(x))))
        return [net.head(end).numpy()[:, 0] for end in box]


def test_it_sees_the_cells_that_it_was_fitted_to():
    X, _ = people()
    seen = []

    def look(rows):
        seen.append(rows)
        return np.zeros(len(rows))

    model = fair(Says(look).fit(X))
    model.predict(X)
    pd.testing.assert_frame_equal(seen[-1].reset_index(drop=True), X.reset_index(drop=True))
    beyond = X.iloc[:3].assign(age=[10, 99, 30])  # outside the domain: moved to its edge, as the network sees it
    model.predict(beyond)
    assert seen[-1]["age"].tolist() == [int(model.domain_.lo[-4]), int(model.domain_.hi[-4]), 30]


def test_a_wild_backbone_breaks_nothing(tmp_path):
    X, _ = people(21)
    model = fair(Wild().fit(None))
    assert model.certificate_.accepted
    assert np.ptp(apart(model, X), axis=0).max() <= EPS
    with pytest.raises(SmileError, match="answers other numbers than"):  # no two calls of it agree
        model.save(tmp_path / "model")
        smilenn.load(tmp_path / "model", backbone=model.backbone_)


def test_a_pipeline_that_is_fitted_is_taken_as_it_is():
    X, y = people()
    X = X.fillna(0.0)
    columns = make_column_transformer((OneHotEncoder(), ["race"]), remainder="passthrough")
    fitted = make_pipeline(columns, Ridge()).fit(X, y)
    model = SmileRegressor(properties=[Fair(["race"], 8.0)], network=network(fitted), random_state=0).fit(X, y)
    assert model.backbone_ is fitted and model.quality_.held_out is None
    assert "taken as it was given" in model.explain()
    wide = np.isclose(model.predict(X), fitted.predict(X))
    assert wide.mean() > 0.8  # the box is wide, and where the answer lies in it it is left alone


def test_one_that_is_not_fitted_learns_from_the_rows_that_are_not_held_out(boosted):
    seen = []

    class Counts(LinearRegression):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X[["age"]], y)

        def predict(self, X):
            return super().predict(X[["age"]])

    own = Counts()
    model = fair(own)
    assert seen == [216] and model.quality_.held_out and model.quality_.rows == 24
    assert model.backbone_ is not own and not hasattr(own, "coef_")
    assert "fitted to the rows that were not held out" in boosted.explain()


def test_rows_that_count_twice_are_given_twice_where_it_takes_no_weights():
    X, y = people(120)
    seen = []

    class Counts(KNeighborsRegressor):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X[["age"]], y)

        def predict(self, X):
            return super().predict(X[["age"]])

    rules = [Fair(["race"], EPS)]
    model = SmileRegressor(properties=rules, network=network(Counts()), random_state=0)
    model.fit(X, y, sample_weight=np.where(np.arange(120) < 20, 2.0, 1.0))
    assert seen == [140]
    with pytest.raises(SmileError, match="The rows have weights, and the backbone Counts takes none"):
        model.fit(X, y, sample_weight=np.linspace(1, 2, 120))


# ---- classes --------------------------------------------------------------------------------------------------------


def of_classes(y, count):
    return pd.cut(y, [-9.0, *np.quantile(y, np.arange(1, count) / count), 99.0], labels=list("qst")[:count]).astype(str)


@pytest.fixture(scope="module", params=[2, 3])
def classifier(request):
    X, y = people()
    labels = of_classes(y, request.param)
    backbone = HistGradientBoostingClassifier(max_iter=20)
    model = SmileClassifier(properties=[Fair(["race"], EPS)], network=network(backbone), random_state=0)
    return model.fit(X, labels)


def test_classes_are_certified_and_no_margin_is_apart(classifier, tmp_path):
    X, y = (part.iloc[:24] for part in people())
    assert classifier.certificate_.accepted
    classifier.save(tmp_path / "model")
    loaded = smilenn.load(tmp_path / "model", backbone=classifier.backbone_)
    outputs = apart(loaded, X)
    if outputs.ndim == 3:  # of several classes every margin between two
        outputs = (outputs[..., :, None] - outputs[..., None, :]).reshape(*outputs.shape[:2], -1)
        outputs = outputs.transpose(1, 2, 0).reshape(-1, len(GROUPS)).T
    assert np.ptp(outputs, axis=0).max() <= EPS
    assert loaded.certificate_.accepted and np.array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    labels = of_classes(people()[1], len(loaded.classes_)).loc[y.index]
    assert loaded.score(X, labels) > (labels.value_counts().max() / len(labels))


@pytest.mark.parametrize("count", [2, 3])
def test_a_wide_box_gives_back_the_probabilities_in_the_order_of_the_classes(count):
    X, y = people()
    labels = of_classes(y, count)
    backbone = Backwards().fit(X, labels)
    model = SmileClassifier(properties=[Fair(["race"], 60.0)], network=network(backbone), random_state=0)
    model.fit(X, labels)
    np.testing.assert_allclose(model.predict_proba(X), backbone.predict_proba(X)[:, ::-1], atol=1e-9)


def test_a_class_that_it_never_saw_has_next_to_no_chance():
    X, y = people()
    labels = of_classes(y, 3)
    few = labels != "q"
    backbone = Backwards().fit(X[few], labels[few])
    model = SmileClassifier(properties=[Fair(["race"], 200.0)], network=network(backbone), random_state=0)
    assert model.fit(X, labels).predict_proba(X)[:, 0].max() < 1e-9


def test_a_classifier_of_other_classes_is_refused():
    X, y = people()
    backbone = Backwards().fit(X, of_classes(y, 3))
    model = SmileClassifier(properties=[Fair(["race"], EPS)], network=network(backbone))
    with pytest.raises(SmileError, match=r"decides between 't', 's', 'q' and the target between '0', '1'"):
        model.fit(X, (y > 3).astype(int))


# ---- other rules ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def numbers():
    """Two numbers and a target with a step, which a smooth network cannot have."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(0, 1, (220, 2)), columns=["a", "b"])
    return X, 2 * X["a"] + (X["b"] > 0.5) + rng.normal(0, 0.05, 220)


def test_robust_shares_its_eps_with_the_box(numbers, tmp_path):
    X, y = numbers
    backbone = HistGradientBoostingRegressor(max_iter=20)
    model = SmileRegressor(properties=[Robust(0.05, 0.6)], network=network(backbone), random_state=0).fit(X, y)
    assert model.certificate_.accepted
    model.save(tmp_path / "model")
    model = smilenn.load(tmp_path / "model", backbone=model.backbone_)
    lower, upper = ends(model.net_, model.encoded(X))
    np.testing.assert_allclose(upper - lower, 0.98 * 0.3, atol=1e-9)
    rng, worst = np.random.default_rng(0), 0.0
    x = np.clip(np.repeat(X.to_numpy(), 20, axis=0), 0.05, 0.95)
    for _ in range(2):
        moved = x + rng.choice([-0.05, -0.01, 0.01, 0.05], x.shape)
        one, two = (model.predict(pd.DataFrame(at, columns=["a", "b"])) for at in (x, moved))
        worst = max(worst, np.abs(one - two).max())
    assert 0.2 < worst <= 0.6


def test_robust_and_fair_together():
    model = fair(Wild().fit(None), [Fair(["race"], EPS), Robust(0.1, 0.8, ["income"])], missing="fill")
    X, _ = people(21)
    assert model.certificate_.accepted
    lower, upper = ends(model.net_, model.encoded(X))
    np.testing.assert_allclose(upper - lower, 0.98 * 0.4, atol=1e-9)
    assert np.ptp(apart(model, X), axis=0).max() <= EPS


def test_bounds_leave_it_alone_inside_them(numbers):
    X, y = numbers
    backbone = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    model = SmileRegressor(properties=[Bounded(0.5, 2.5)], network=network(backbone), random_state=0).fit(X, y)
    assert model.certificate_.accepted
    np.testing.assert_allclose(model.predict(X), np.clip(backbone.predict(X), 0.5, 2.5), atol=1e-5)
    assert (model.predict(X) >= 0.5).all() and (model.predict(X) <= 2.5).all()


def test_a_rule_with_a_premise_opens_elsewhere(numbers):
    X, y = numbers
    backbone = KNeighborsRegressor(3).fit(X, y)
    rule = smilenn.Safe(["a >= 0.8"], ["out >= 2.2"])
    model = SmileRegressor(properties=[rule], network=network(backbone), random_state=0).fit(X, y)
    own, there = backbone.predict(X), X["a"].to_numpy() >= 0.8
    assert model.certificate_.accepted and (model.predict(X)[there] >= 2.2).all() and (own[there] < 2.2).any()
    far = X["a"].to_numpy() < 0.5
    np.testing.assert_allclose(model.predict(X)[far], own[far], atol=1e-6)


def test_quantiles_of_a_fitted_one_do_not_cross(numbers):
    X, y = numbers
    crossing = Says(lambda rows: np.column_stack([rows["a"], rows["b"], rows["a"] * 0 + 1])).fit(X)
    model = SmileRegressor(quantiles=[0.1, 0.5, 0.9], network=network(crossing), random_state=0).fit(X, y)
    found = model.predict(X)
    assert model.certificate_.accepted and (np.diff(found, axis=1) >= 0).all()
    kept = (X["a"] < X["b"]).to_numpy()
    np.testing.assert_allclose(found[kept], crossing.predict(X)[kept], atol=1e-5)


def test_several_outputs_are_answered_in_their_order():
    X, y = people()
    both = pd.DataFrame({"one": y, "two": 10 * y})
    backbone = HistOfTwo().fit(X, both)
    model = SmileRegressor(properties=[Fair(["race"], 30.0)], network=network(backbone), random_state=0).fit(X, both)
    assert model.certificate_.accepted
    np.testing.assert_allclose(model.predict(X), backbone.predict(X), atol=1e-9)


def test_an_output_that_no_rule_names_is_left_alone():
    X, y = people()
    both = pd.DataFrame({"one": y, "two": 10 * y})
    backbone, rule = HistOfTwo().fit(X, both), Fair(["race"], 0.5, output="one")
    model = SmileRegressor(properties=[rule], network=network(backbone), random_state=0).fit(X, both)
    off = np.abs(model.predict(X) - backbone.predict(X)).max(axis=0)
    assert model.certificate_.accepted and off[0] > 0.1 and off[1] < 1e-8


def test_one_of_some_classes_leaves_the_others_rows_alone():
    X, y = people()
    backbone = HistGradientBoostingClassifier(max_iter=10)
    rule = OneOf(["q", "s"], when="age >= 50")
    model = SmileClassifier(properties=[rule], network=network(backbone), random_state=0).fit(X, of_classes(y, 3))
    own, found, old = model.backbone_.predict_proba(X), model.predict_proba(X), (X["age"] >= 50).to_numpy()
    assert model.certificate_.accepted and (own[old].argmax(axis=1) == 2).any()
    assert (model.predict(X[old]) != "t").all()
    np.testing.assert_allclose(found[~old], own[~old], atol=1e-9)


class HistOfTwo(RegressorMixin, BaseEstimator):
    """Two outputs, which scikit-learn's boosting does not have."""

    def fit(self, X, y):
        self.each_ = [HistGradientBoostingRegressor(max_iter=5).fit(X, y[name]) for name in y]
        return self

    def predict(self, X):
        return np.column_stack([one.predict(X) for one in self.each_])


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ([Monotone(increasing=["age"])], "Monotone leaves the backbone Ridge no box to answer in"),
        ([Monotone(increasing=["age"]), Fair(["race"], 1)], "Monotone leaves the backbone Ridge no box"),
        ([Convex(["age"])], "Convex leaves"),
        ([Lipschitz("age", 1)], "Lipschitz leaves"),
        ([Fair(["race"], 0)], "Fair with ε = 0 leaves"),
        ([Robust(1, 0, ["age"])], "Robust with ε = 0 leaves"),
        ([Fair(["race"], 1, delta={"age": 2})], "Fair with delta leaves"),
        ([Robust(1, 1, ["age"]), Bounded(0, 9)], "Robust beside rules on single inputs leaves"),
        ([LocalRobust([{"income": 0, "age": 30, "race": "x"}], 0.1, 1)], "keeps LocalRobust here"),
        ([Robust(1, 1, ["income"], norm=2)], "keeps Robust in the Euclidean norm here"),
        ([], "Nothing is asked of the backbone Ridge; state a property"),
    ],
)
def test_rules_that_leave_no_box_are_refused_at_once(rules, words):
    with pytest.raises(SmileError, match=words):
        fair(Ridge(), rules, missing="fill")


@pytest.mark.parametrize(
    ("backbone", "words"),
    [
        (Ridge, "backbone is the class Ridge; give an estimator, with brackets"),
        (7, "backbone is an estimator with predict, or a function"),
    ],
)
def test_what_is_no_estimator_is_refused(backbone, words):
    with pytest.raises(SmileError, match=words):
        Network(backbone=backbone)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda rows: np.full(len(rows), np.nan), r"answered \[nan\] for row 0"),
        (lambda rows: np.full(len(rows), np.inf), r"answered \[inf\] for row 0"),
        (
            lambda rows: np.zeros((len(rows), 2)),
            r"shape \(8, 2\) for 8 rows; it must give 1 number a row",
        ),
        (lambda rows: np.zeros(3), r"answered with shape \(3, 1\) for 8 rows"),
        (lambda rows: ["a"] * len(rows), "predictions are not numbers"),
        (lambda rows: np.full(len(rows), 1j), "predictions are not numbers"),
        (lambda rows: np.full(len(rows), np.datetime64("2020-01-31")), "predictions are not numbers"),
        (lambda rows: [10**400] * len(rows), "predictions are not numbers"),
        (lambda rows: torch.ones(len(rows), requires_grad=True), "predictions are not numbers"),
        (lambda rows: {}[1], "failed to predict: 1"),
    ],
)
def test_odd_answers_are_refused_before_training(answer, words):
    with pytest.raises(SmileError, match=words):
        fair(Says(answer).fit(None))


def test_an_answer_that_is_missing_later_is_an_error_and_no_prediction(tmp_path):
    X, _ = people()
    model = fair(Says(lambda rows: np.where(rows["age"] > 59, np.nan, 1.0)).fit(None))
    with pytest.raises(SmileError, match=r"answered \[nan\] for row 1 of 3"):
        model.predict(X.iloc[:3].assign(age=[30, 60, 30]))
    with pytest.raises(SmileError, match=r"answered \[nan\]"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_columns_that_the_model_does_not_have_are_refused():
    X, y = people()
    backbone = LinearRegression().fit(X[["age"]].assign(size=1.0, id=np.arange(len(X))), y)
    with pytest.raises(SmileError, match="was fitted to 'size', 'id', which the model's inputs do not have"):
        fair(backbone)


def test_a_column_that_is_read_in_another_way_is_refused_of_a_fitted_one_only():
    X, y = people()
    X = X.fillna(0.0).assign(paid=[f"{10 * (i % 9) + 5} %" for i in range(len(X))])
    rules = [Fair(["race"], EPS)]
    with pytest.raises(SmileError, match="Column 'paid' is read in another way than its cells are written"):
        SmileRegressor(properties=rules, network=network(Says(len).fit(X))).fit(X, y)
    backbone = HistGradientBoostingRegressor(max_iter=5)
    assert SmileRegressor(properties=rules, network=network(backbone)).fit(X, y).certificate_.accepted


def test_other_options_of_the_network_are_refused():
    with pytest.raises(SmileError, match="leave encoder, boxes and auxiliaries as they are"):
        X, y = people()
        rules = [Fair(["race"], EPS)]
        SmileRegressor(properties=rules, network=Network(backbone=Ridge(), encoder="none")).fit(X, y)


def test_a_quality_is_not_that_of_an_estimator_that_has_learned_since():
    X, y = people()
    backbone = make_pipeline(make_column_transformer((OneHotEncoder(), ["race"]), ("passthrough", ["age"])), Ridge())
    model = fair(backbone.fit(X, y))
    assert model.quality_ is not None and model.certificate_.accepted
    backbone.fit(X, -y)
    assert model.quality_ is None and model.certificate_.accepted  # the box is what is certified
    backbone.set_params(ridge=Says())
    assert model.quality_ is None
    with pytest.raises(SmileError, match="The backbone Pipeline failed to predict"):
        model.predict(X)


def test_training_is_not_gone_on_with(boosted):
    X, y = people()
    with pytest.raises(SmileError, match="has no training to go on with; fit anew, without a start"):
        clone(boosted).fit(X, y, start=boosted)


# ---- folders, and what stands around a model ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(boosted, tmp_path_factory):
    path = tmp_path_factory.mktemp("backbone") / "model"
    boosted.save(path)
    return path


def test_a_folder_is_checked_without_it_and_loaded_with_it_alone(boosted, folder):
    assert smilenn.check(folder).status == "proved"
    with pytest.raises(SmileError, match="saved around a fitted HistGradientBoostingRegressor, which is not in its"):
        smilenn.load(folder)
    X, y = people()
    other = clone(boosted.backbone_).set_params(max_iter=3).fit(X, y)
    with pytest.raises(SmileError, match="answers other numbers than"):
        smilenn.load(folder, backbone=other)
    with pytest.raises(SmileError, match="give the fitted estimator itself"):
        smilenn.load(folder, backbone=HistGradientBoostingRegressor)
    with pytest.raises(SmileError, match="give the fitted estimator itself"):
        smilenn.load(folder, backbone=lambda inputs, embedding: torch.nn.Identity())
    loaded = smilenn.load(folder, backbone=boosted.backbone_)
    assert loaded.quality_ == boosted.quality_ and loaded.backbone_ is boosted.backbone_
    loaded.fit(X, y)  # the loaded model knows that it has a backbone
    assert loaded.backbone_ is not None


def test_nothing_of_the_estimator_is_in_the_folder(folder):
    assert sorted(path.suffix for path in folder.iterdir() if path.suffix not in (".json", ".bin")) == [".safetensors"]
    described = smilenn.model.folder.parse_json((folder / "model.json").read_bytes(), "")["net"]["backbone"]
    assert described["kind"] == "estimator" and described["columns"] == ["income", "age", "race"]


def test_another_folder_takes_no_estimator(tmp_path):
    X, y = people()
    SmileRegressor(properties=[Fair(["race"], EPS)], random_state=0).fit(X, y).save(tmp_path / "model")
    with pytest.raises(SmileError, match="saved without an estimator as its backbone"):
        smilenn.load(tmp_path / "model", backbone=LinearRegression())


def test_scikit_learn_copies_and_searches_it():
    model = SmileRegressor(properties=[Fair(["race"], EPS)], network=network(Ridge(alpha=3.0)))
    twin = clone(model)
    assert twin.network.backbone is not model.network.backbone and twin.network.backbone.alpha == 3.0
    assert twin.set_params(network__backbone=LinearRegression()).network.estimator
    frozen = FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]))
    assert clone(network(frozen)).backbone.estimator is frozen.estimator
    assert "Ridge(alpha=3.0)" in repr(model) and "Ridge" in model._repr_html_()


def test_an_array_is_answered_from_an_array():
    X, y = people()
    rows = X.fillna(0.0).assign(race=(X["race"] == "y").astype(float)).to_numpy(dtype=float)
    backbone = KNeighborsRegressor(3).fit(rows, y)
    rules, domain = [Fair(["x2"], 40.0)], Columns(kinds={"x2": "binary"})
    model = SmileRegressor(properties=rules, network=network(backbone), domain=domain, random_state=0).fit(rows, y)
    np.testing.assert_allclose(model.predict(rows), backbone.predict(rows), atol=1e-9)


def test_report_statement_and_repr_speak_of_it(boosted, tmp_path):
    X, y = people()
    boosted.report(tmp_path / "report.html", X.iloc[:40], y.iloc[:40], card=tmp_path / "card.md", held_out=False)
    assert "certified" in (tmp_path / "report.html").read_text() and "certified" in (tmp_path / "card.md").read_text()
    assert "whatever the backbone does" in boosted.certificate_.statement
    assert "HistGradientBoosting" in boosted._repr_html_()


def test_an_export_is_refused_in_one_sentence(folder, boosted, tmp_path):
    with pytest.raises(SmileError, match="is no part of the network and cannot be exported with it"):
        export_onnx(boosted, tmp_path / "model.onnx")


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_boosters_of_other_libraries(library):
    module = pytest.importorskip(library)
    X, y = people()
    X = X.fillna(0.0).assign(race=(X["race"] == "y").astype(int))
    backbone = {
        "lightgbm": lambda: module.LGBMRegressor(n_estimators=5, verbose=-1),
        "xgboost": lambda: module.XGBRegressor(n_estimators=5),
        "catboost": lambda: module.CatBoostRegressor(iterations=5, verbose=0, allow_writing_files=False),
    }[library]()
    rules = [Fair(["race"], 30.0)]
    assert not is_fitted(backbone)
    model = SmileRegressor(properties=rules, network=network(backbone), random_state=0).fit(X, y)
    given = SmileRegressor(properties=rules, network=network(model.backbone_), random_state=0).fit(X, y)
    assert model.certificate_.accepted and given.backbone_ is model.backbone_ and is_fitted(model.backbone_)
    np.testing.assert_allclose(given.predict(X), given.backbone_.predict(X), atol=1e-9)


def test_labels_are_answered_by_a_forest():
    X, y = people()
    X = X.fillna(0.0).assign(race=(X["race"] == "y").astype(int))
    labels = pd.DataFrame({"much": (y > 3).astype(int), "old": (X["age"] > 40).astype(int)})
    forest = RandomForestClassifier(5, random_state=0)
    model = SmileClassifier(properties=[Fair(["race"], 60.0)], network=network(forest), random_state=0).fit(X, labels)
    own = np.stack([p[:, 1] for p in model.backbone_.predict_proba(X)], axis=1)
    assert model.certificate_.accepted
    np.testing.assert_allclose(model.predict_proba(X), own, atol=1e-9)
