"""Linear functions beside trees and networks: the solution that other solvers find, signs, kept rows, and certified."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from tests.conftest import patched

from smilenn import Bounded, Config, Fair, Monotone, SmileClassifier, SmileRegressor
from smilenn.model.encoders import Linear, Trees
from smilenn.train import boosted, linear, mixing, run
from smilenn.train.losses import task_loss

QUICK = Config(epochs=2, batch_size=256)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    with patched((boosted, "PATIENCE", 5)):
        yield


def rows(n=300, k=4, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    return x, x @ [2.0, -1.0, 0.5, 0.0] + 0.3 * rng.normal(size=n)


def minimised(x, y, signs, kind, strength):
    start = np.zeros((x.shape[1] + 1, y.shape[1]))
    return linear._minimised(x, y, np.ones(len(x)), np.array(signs), kind, strength, start)


def test_squares_without_signs_are_ridge_regression():
    x, y = rows()
    wide = np.hstack([x, np.ones((len(x), 1))])
    penalty = 0.1 * len(x) * np.diag([1.0] * 4 + [0.0])
    wanted = np.linalg.solve(wide.T @ wide + penalty, wide.T @ y)
    assert minimised(x, y[:, None], [0] * 4, "mse", 0.1)[:, 0] == pytest.approx(wanted, abs=1e-4)


def test_a_column_against_its_sign_gets_no_weight():
    """What is left is the solution without that column."""
    x, y = rows()
    found = minimised(x, y[:, None], [1, 1, -1, 0], "mse", 0.01)[:, 0]
    alone = minimised(x[:, [0, 3]], y[:, None], [0, 0], "mse", 0.01)[:, 0]
    assert found[1] == 0 and found[2] == 0 and found[[0, 3, 4]] == pytest.approx(alone, abs=1e-4)


def test_yes_and_no_are_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    x, y = rows()
    theirs = LogisticRegression(C=1 / (0.01 * len(x)), tol=1e-8).fit(x, y > 0)
    found = minimised(x, (y > 0).astype(float)[:, None], [0] * 4, "bce", 0.01)[:, 0]
    assert found == pytest.approx([*theirs.coef_[0], theirs.intercept_[0]], abs=2e-3)


def test_classes_are_softmax_regression():
    from sklearn.linear_model import LogisticRegression

    x, y = rows()
    classes = np.digitize(y, [-1.0, 1.0])
    theirs = LogisticRegression(C=1 / (0.01 * len(x)), tol=1e-8).fit(x, classes)
    found = minimised(x, np.eye(3)[classes], [0] * 4, "ce", 0.01)
    ours, wanted = x @ found[:-1] + found[-1], theirs.decision_function(x)
    assert np.abs(np.diff(ours, axis=1) - np.diff(wanted, axis=1)).max() < 0.02


@pytest.mark.parametrize("kind", ["mse", "bce", "ce"])
def test_slopes_are_those_of_the_loss(kind):
    rng = np.random.default_rng(1)
    f, y = rng.normal(size=(5, 3)), np.eye(3)[rng.integers(0, 3, 5)]
    weight, step = rng.uniform(1, 2, 5), 1e-6
    _, slopes = linear._loss(f, y, weight, kind)
    for i in range(5):
        for j in range(3):
            moved = f.copy()
            moved[i, j] += step
            change = linear._loss(moved, y, weight, kind)[0] - linear._loss(f, y, weight, kind)[0]
            assert change / step == pytest.approx(slopes[i, j], abs=1e-4)


def test_a_group_does_not_learn_from_rows_kept_from_it(monkeypatch):
    monkeypatch.setattr(linear, "STRENGTHS", (0.01,))
    x, y = rows()
    held = np.zeros((len(x), 2), dtype=bool)
    held[:30, 0] = held[30:60, 1] = True
    before = linear._fits(x, y[:, None], np.ones(len(x)), held, np.zeros(4), "mse")
    other = y.copy()
    other[:30] = np.random.default_rng(0).permutation(y[:30])  # the spread of all rows stays
    after = linear._fits(x, other[:, None], np.ones(len(x)), held, np.zeros(4), "mse")
    assert np.array_equal(before[0], after[0]) and not np.allclose(before[1], after[1])


@pytest.mark.parametrize(("noise", "strong"), [(0.01, False), (30.0, True)])
def test_kept_rows_choose_the_strength(noise, strong):
    """Hardly any pull to zero where the target is linear; a strong one where it is noise."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(80, 20))
    y = x[:, :1] + noise * rng.normal(size=(80, 1))
    held = np.arange(80)[:, None] % 4 == np.arange(4)
    found = linear._fits(x, y, np.ones(80), held, np.zeros(20), "mse")
    wanted = linear.STRENGTHS[0] if strong else linear.STRENGTHS[-1]
    spread = y.std()
    alone = minimised(x[~held[:, 0]], y[~held[:, 0]] / spread, [0] * 20, "mse", wanted) * spread
    assert np.abs(found[0] - alone).max() < 0.02 * spread


def table(n=240, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"a": rng.uniform(0, 10, n), "b": rng.uniform(0, 1, n), "c": rng.choice(list("uvw"), n)})
    return x, 2.0 * x["a"] - 3.0 * x["b"] + 4.0 * (x["c"] == "u") + rng.normal(size=n)


def layers(model, kind):
    """The branches of trees, or of linear functions."""
    return [
        b
        for b in model.net_.encoder.branches
        if isinstance(b.layers[0], kind) and (kind is Trees or b.name.startswith(linear.NAME))
    ]


@pytest.mark.parametrize("estimator", [SmileRegressor, SmileClassifier])
def test_a_linear_target_is_mostly_linear_and_certified(estimator):
    x, y = table()
    target = y if estimator is SmileRegressor else np.where(y > y.mean(), "yes", "no")
    model = estimator(properties=[Monotone(["a"], decreasing=["b"]), Fair(["c"], 0.0)], config=QUICK, random_state=0)
    model.fit(x, target)
    assert len(layers(model, Linear)) == 4 and model.verdict_.certificate and "linear" in model.explain()
    protected = model.domain_.slices["c"]
    assert all(not set(range(protected.start, protected.stop)) & set(b.columns) for b in layers(model, Linear))


def test_classes_have_linear_functions_too():
    x, y = table(400)
    model = SmileClassifier(properties=[Fair(["c"], 0.0)], config=QUICK, random_state=0)
    model.fit(x, np.digitize(y, [5.0, 12.0]))
    assert model.verdict_.certificate
    names = [b.name for b in model.net_.encoder.branches]
    assert any(name.startswith("linear") for name in names), names


def test_many_rows_have_none(monkeypatch):
    x, y = table()
    asked = []
    monkeypatch.setattr(run, "linear_members", lambda *given: asked.append(linear.linear_members(*given)) or asked[-1])
    for most, groups in ((len(x), 4), (len(x) - 1, 0)):
        monkeypatch.setattr(linear, "MOST_ROWS", most)
        SmileRegressor(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y)
        assert len(asked[-1].groups) == groups
    monkeypatch.setattr(linear, "MOST_ROWS", len(x))
    monkeypatch.setattr(linear, "MOST_NUMBERS", 100)
    SmileRegressor(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y)
    assert not asked[-1].groups


def test_members_are_the_linear_solution_in_output_units(monkeypatch):
    """The mean of a group is the fit above, through scales and starts of the network."""
    x, y = table()
    asked = []
    monkeypatch.setattr(run, "mix", lambda net, task, fitted, *more: asked.append((net, task, fitted)) or (1.0, ""))
    model = SmileClassifier(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y > 20)
    net, task, (_, found) = asked[0]
    assert model is not None and found.name == "linear"
    u = net.scale(task.x)
    output = net.head(found.outputs(0, u))[:, 0]
    p = torch.sigmoid(output)
    kept = ~task.folds[:, 0]
    assert float(p[kept].mean()) == pytest.approx(float(task.y[kept].mean()), abs=0.01)  # what the bias's slope says
    assert float(task.loss(output[:, None], task.y)) < 0.9


# ---- where a box turns the output around ---------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [SmileRegressor, SmileClassifier])
def test_bounded_models_have_trees_and_linear_functions(estimator):
    """The coordinate of a box may be minus the output; members learn that coordinate, and keep its signs."""
    x, y = table(400)
    target, ends = (y, (-10.0, 30.0)) if estimator is SmileRegressor else (y > y.mean(), (-4.0, 4.0))
    model = estimator(properties=[Monotone(["a"]), Bounded(*ends)], config=QUICK, random_state=0).fit(x, target)
    assert boosted.ways_of(model.net_) == [-1], "the case that this test is about"
    assert layers(model, Trees) and model.verdict_.certificate
    new, fresh = table(400, seed=1)
    assert model.score(new, fresh if estimator is SmileRegressor else fresh > y.mean()) > 0.85
    output = np.asarray(model.outputs(new))
    assert output.min() >= ends[0] and output.max() <= ends[1]


def test_labels_start_where_each_of_them_does(monkeypatch):
    """One label is rare and one is frequent: trees of each are in the coordinate of their own."""
    x, y = table(600)
    asked = []
    monkeypatch.setattr(run, "mix", lambda net, task, fitted, *more: asked.append((net, task, fitted)) or (1.0, ""))
    labels = np.stack([y > np.quantile(y, 0.9), y > np.quantile(y, 0.3)], axis=1).astype(int)
    SmileClassifier(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, labels)
    net, task, fitted = asked[0]
    for kind in fitted:
        p = torch.sigmoid(net.head(kind.outputs(0, net.scale(task.x)))).mean(dim=0)
        assert p.tolist() == pytest.approx(labels.mean(axis=0).tolist(), abs=0.05), kind.name


@pytest.mark.parametrize(("easy", "words"), [(False, "trees"), (True, "the constant")])
def test_the_constant_is_judged_by_the_same_rows(monkeypatch, easy, words):
    """Kept rows may be harder than all rows, or easier: a mixture that beats the constant there is kept though its loss
    is above one, and one that does not is left though its loss is far below.
    """
    x, y = table()
    asked = []
    monkeypatch.setattr(run, "mix", lambda net, task, fitted, *more: asked.append((net, task, fitted)) or (1.0, ""))
    SmileRegressor(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y)
    net, task, fitted = asked[0]
    target = torch.full_like(task.y, float(task.y.mean())) if easy else task.y
    loss = task_loss("mse", task.y * (30 if easy else 0.01))
    held, told = mixing.mix(net, replace(task, y=target, loss=loss), fitted)
    assert words in told and (held < 0.01 if easy else held > 1), (held, told)


# ---- starting from such a model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("alone", [False, True])
def test_a_model_with_linear_functions_can_be_started_from(monkeypatch, alone):
    """They are fitted anew; a model of nothing else has no weights to start from."""
    x, y = table()
    with monkeypatch.context() as patch:
        if alone:
            patch.setattr("smilenn.train.mixing._shares", lambda each, *given: np.eye(len(each))[-1])
        first = SmileRegressor(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y)
    own = first.net_.encoder.learned
    assert len(layers(first, Linear)) == 4 and (len(own) == 4) == alone
    again = SmileRegressor(properties=Monotone(["a"]), config=QUICK, random_state=0).fit(x, y, start=first)
    assert again.verdict_.certificate and len(layers(again, Linear)) == 4
