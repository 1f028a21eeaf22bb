"""Classes under a directed rule, and quantiles: trees and linear functions join, keep every sign, and are certified."""

import time

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from tests.conftest import patched

import smilenn
from smilenn import Bounded, Config, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.certify import check
from smilenn.certify.certify import certify
from smilenn.certify.reference import check as reference
from smilenn.model.bundle import save_net
from smilenn.model.encoders import Linear, Trees
from smilenn.properties.forms import Outputs
from smilenn.provers.rules import order
from smilenn.train import boosted, linear, run
from smilenn.train.boosted_classes import Together, _coarse
from smilenn.train.boosted_quantiles import placed, quantiles, shift_of
from smilenn.train.growing import FIRST
from smilenn.train.losses import Quantiles

QUICK, TWO = Config(epochs=2, batch_size=256), Network(members=2)
RULE = {"increasing": ["income"], "decreasing": ["debt"]}
LEVELS = (0.1, 0.5, 0.9)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    """Few small trees, and no plain ones: enough for what is shown here."""
    small = (boosted, "RICH", ((8, 5, 0.0), (6, 5, 0.0)))
    with patched(
        (boosted, "PATIENCE", 5), (boosted, "MOST", 24), (boosted, "TRIED", 0), small, (linear, "STRENGTHS", (0.01,))
    ):
        yield


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    income, debt = rng.uniform(0, 10, n), rng.uniform(0, 5, n).round(1)
    x = pd.DataFrame({"income": income, "debt": debt, "town": rng.choice(list("abc"), n)})
    jump = 3.0 * (x["income"] > 5) + 2.0 * (x["town"] == "b")
    return x, jump - x["debt"] ** 2 / 5 + 0.3 * rng.normal(size=n)


def thirds(y):
    return np.array(["c0", "c1", "c2"])[np.digitize(y, [-1.0, 2.0])]


def branches(model, kind=Trees):
    return [b for b in model.net_.encoder.branches if isinstance(b.layers[0], kind)]


@pytest.fixture(scope="module")
def classes():
    x, y = table()
    rule = Monotone(**RULE, output="c2")
    return SmileClassifier(properties=rule, config=QUICK, network=TWO, random_state=0).fit(x, thirds(y))


@pytest.fixture(scope="module")
def levels():
    x, y = table()
    return SmileRegressor(properties=Monotone(**RULE), quantiles=LEVELS, config=QUICK, network=TWO, random_state=0).fit(
        x, y
    )


def saved(model, place):
    """The model as it is loaded from a folder that both checkers accept."""
    model.save(place)
    assert check.check_folder(place).status == reference.check_folder(place).status == "certified"
    return smilenn.load(place)


def test_classes_have_trees_of_their_own_and_both_checkers_accept(classes, tmp_path):
    assert classes.verdict_.certificate and len(branches(classes)) == 2 * 3
    assert saved(classes, tmp_path / "m").verdict_.certificate
    x, y = table(seed=1)
    assert classes.score(x, thirds(y)) > 0.8


def test_quantiles_have_trees_and_both_checkers_accept(levels, tmp_path):
    assert levels.verdict_.certificate and len(branches(levels)) == 2 * 3
    assert saved(levels, tmp_path / "m").verdict_.certificate
    x, y = table(600, seed=1)
    found = levels.predict(x)
    assert (np.diff(found, axis=1) >= 0).all() and levels.score(x, y) > 0.5
    assert (y.to_numpy()[:, None] < found).mean(axis=0) == pytest.approx(LEVELS, abs=0.12)


def test_quantiles_with_bounds_are_certified_too():
    """No coordinate moves all of them alike any more, so there are no trees."""
    x, y = table(200)
    rules = [Monotone(**RULE), Bounded(-20.0, 20.0)]
    model = SmileRegressor(properties=rules, quantiles=(0.2, 0.8), config=QUICK, network=TWO, random_state=0).fit(x, y)
    found = model.predict(x)
    assert model.verdict_.certificate and (np.diff(found, axis=1) >= 0).all() and np.abs(found).max() <= 20


# ---- order, bit for bit ---------------------------------------------------------------------------------------------


def thresholds(model, name):
    """What the trees compare a feature with, in raw units, and the floats around."""
    place = model.domain_.slices[name].start
    shift, mult = (float(v[place]) for v in (model.domain_.shift, model.domain_.mult))
    found = [
        layer.number[layer.split == branch.columns.index(place)].numpy() / mult + shift
        for branch in branches(model)
        for layer in branch.layers
        if place in branch.columns
    ]
    own = np.unique(np.concatenate(found))
    low, high = float(model.domain_.lo[place]), float(model.domain_.hi[place])
    steps = [own, *(np.nextafter(own, end) for end in (-np.inf, np.inf))]
    steps += [np.nextafter(steps[1], -np.inf), np.nextafter(steps[2], np.inf), [low, high]]
    return np.unique(np.clip(np.concatenate(steps), low, high))


def assert_ordered(model, margins):
    """Along a line through every threshold: what `margins` makes of the outputs rises with income, falls with debt."""
    x, _ = table(8, seed=5)
    for name, sign in (("income", 1), ("debt", -1)):
        values = thresholds(model, name)
        assert len(values) > 20
        for i in range(len(x)):
            line = pd.concat([x.iloc[[i]]] * len(values)).assign(**{name: values})
            steps = np.diff(margins(np.asarray(model.outputs(line))), axis=0)
            assert (sign * steps >= 0).all(), name


def test_margins_of_the_class_keep_order_at_every_threshold(classes, tmp_path):
    assert_ordered(saved(classes, tmp_path / "m"), lambda f: f[:, 2:] - f[:, :2])


def test_quantiles_keep_order_at_every_threshold(levels, tmp_path):
    assert_ordered(saved(levels, tmp_path / "m"), lambda f: f)


# ---- what breaks a sign is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["classes", "levels"])
def test_a_leaf_that_breaks_the_sign_is_refused_by_both_checkers(of, request, tmp_path, monkeypatch):
    """Also where the prover is made to write that the order holds."""
    model = request.getfixturevalue(of)
    net = model.net_
    outputs = Outputs(("c0", "c1", "c2"), ("c0", "c1", "c2")) if of == "classes" else Outputs(net.outputs)
    claims = Monotone(**RULE, output="c2" if of == "classes" else None).lower(net.domain, outputs)
    (layer,) = branches(model)[-1].layers  # the class of the rule, or the coordinate that moves all quantiles
    income = branches(model)[-1].columns.index(net.domain.slices["income"].start)
    first = int((layer.split == income).nonzero()[0])
    leaf = first + int((layer.split[first:] == -1).nonzero()[0])
    before = float(layer.number[leaf])
    monkeypatch.setattr(order, "ordered", lambda *given: True)
    try:
        for number, wanted in ((before, {"certified"}), (before + 9.0, {"refused", "unknown"})):
            layer.number[leaf] = number
            found = certify(net, claims, time_limit=20)
            save_net(tmp_path / "m", net, extra=found.files, overwrite=True)
            said = {one.check_folder(tmp_path / "m").status for one in (check, reference)}
            assert said <= wanted, (number, said)
    finally:
        layer.number[leaf] = before


# ---- what is fitted -------------------------------------------------------------------------------------------------


def mixed(monkeypatch, estimator, x, y, **given):
    """The network, the task and the members just before they are mixed."""
    asked = []
    monkeypatch.setattr(run, "mix", lambda net, task, fitted, *more: asked.append((net, task, fitted)) or (1.0, ""))
    estimator.set_params(config=QUICK, network=TWO, random_state=0).fit(x, y, **given)
    return asked[0]


def test_every_class_has_the_signs_of_its_coordinate(monkeypatch):
    x, y = table()
    net, _, (trees, lines) = mixed(monkeypatch, SmileClassifier(properties=Monotone(**RULE, output="c2")), x, thirds(y))
    grid = torch.zeros(50, net.domain.size, dtype=torch.float64)
    place = net.domain.slices["income"].start
    grid[:, place] = torch.linspace(-2, 2, 50)
    for kind in (trees, lines):
        for g in range(2):
            steps = np.sign(kind.outputs(g, grid).diff(dim=0).numpy())
            assert (steps[:, :2] <= 0).all() and (steps[:, 2] >= 0).all() and (steps != 0).any()


def test_a_feature_that_must_rise_for_two_classes_is_read_by_the_third_alone():
    """The margin of each of the two over the other rises, so neither may read it."""
    x, y = table()
    rules = [Monotone("income", output=name) for name in ("c1", "c2")]
    model = SmileClassifier(properties=rules, config=QUICK, network=TWO, random_state=0).fit(x, thirds(y))
    place = model.domain_.slices["income"].start
    assert model.verdict_.certificate and branches(model)
    for branch in branches(model):
        assert (place in branch.columns) == branch.name.endswith("_0")
    for branch in (b for b in branches(model, Linear) if b.name.startswith(linear.NAME)):
        weight = branch.layers[0].weight[:, branch.columns.index(place)]
        assert float(weight[0]) <= 0 and not weight[1:].any()


def test_weights_of_rows_reach_classes_and_quantiles(monkeypatch):
    """Rows of hardly any weight say the opposite, and are not learned."""
    x, y = table(400)
    honest = np.arange(400) % 2 == 0
    turned = np.where(honest, y, -y)
    weight = np.where(honest, 1.0, 1e-6)
    for estimator, target in (
        (SmileClassifier(properties=Monotone("income", output="c2")), thirds(turned)),
        (SmileRegressor(properties=Monotone("income"), quantiles=LEVELS), turned),
    ):
        net, task, fitted = mixed(monkeypatch, estimator, x, target, sample_weight=weight)
        counts = (task.weight > 0.5 * task.weight.max()).to(torch.float64)
        for kind in fitted:
            f = net.head(kind.outputs(0, net.scale(task.x)))
            right, wrong = (float(task.loss(f, task.y, own)) for own in (counts, 1.0 - counts))
            assert right < 0.8 and wrong > 1.0, (kind.name, right, wrong)


def test_a_class_that_a_group_never_sees_leaves_no_trees(monkeypatch):
    x, y = table()
    rare = thirds(y)
    rare[rare == "c1"] = "c0"
    rare[7] = "c1"
    model = SmileClassifier(properties=Monotone("income", output="c2"))
    _, task, (trees, _) = mixed(monkeypatch, model, x, rare)
    seen = bool((~task.folds[7]).all())  # a row that is kept from no group is seen by all
    assert bool(trees.groups) == seen
    monkeypatch.undo()
    again = SmileClassifier(properties=Monotone("income", output="c2"), config=QUICK, network=TWO, random_state=0).fit(
        x, rare
    )
    assert again.verdict_.certificate


@pytest.mark.parametrize("of", ["classes", "levels"])
def test_a_time_limit_stops_boosting(of, request, monkeypatch):
    """Every look at the clock takes a second: the first pieces use up the time."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(boosted, "perf_counter", lambda: float(next(ticks)))
    x, y = table(200)
    own = request.getfixturevalue(of)
    begun = time.perf_counter()
    model = clone(own).set_params(time_limit=30).fit(x, thirds(y) if of == "classes" else y)
    assert model.verdict_.certificate and time.perf_counter() - begun < 120
    assert all(max(layer.trees) <= 4 * FIRST for branch in branches(model) for layer in branch.layers)


# ---- the parts ------------------------------------------------------------------------------------------------------


def small_boosters(signs, seed=0):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return [
        HistGradientBoostingRegressor(loss="poisson", monotonic_cst=own, max_leaf_nodes=8, random_state=seed)
        for own in signs
    ]


def test_classes_that_learn_together_predict_better_than_each_alone():
    """The class in the middle neither rises nor falls: as a Poisson regression under a sign it learns nothing."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (600, 1))
    y = np.digitize(x[:, 0] + 0.02 * rng.normal(size=600), [1 / 3, 2 / 3])
    held = np.arange(600) % 5 == 0
    together = Together(small_boosters([[-1], [-1], [1]]), [x] * 3, y, None, held, 10)
    together.grow(200)
    alone = small_boosters([[-1], [-1], [1]])
    logits = np.stack([np.log(b.fit(x[~held], y[~held] == t).predict(x[held])) for t, b in enumerate(alone)], axis=1)
    assert min(together.losses) < 0.8 * together._loss(logits)


def test_a_group_stops_where_its_kept_rows_are_predicted_best():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 1, (200, 1)), rng.integers(0, 3, 200)  # nothing to learn
    held = np.arange(200) % 4 == 0
    together = Together(small_boosters([[0]] * 3), [x] * 3, y, None, held, 10)
    assert together.grow(1000) < 100 and len(together.losses) >= together.best + 10
    together.cut()
    assert {len(b._predictors) for b in together.boosters} == {together.best}
    logits = np.stack([np.log(b.predict(x[held])) for b in together.boosters], axis=1)
    assert together._loss(logits) == pytest.approx(min(together.losses), rel=1e-12)


def test_columns_of_many_values_get_few():
    column = np.random.default_rng(2).normal(size=5000)
    few = _coarse(column)
    assert len(np.unique(few)) <= 255 and (np.diff(few[np.argsort(column)]) >= 0).all()
    assert np.abs(few - column)[np.abs(column) < 1].max() < 0.1 and _coarse(column[:200]) is not few
    assert np.array_equal(_coarse(column[:200]), column[:200])


def test_coordinates_of_constant_quantiles(levels):
    """G·z + b are the constants, and the shift moves all of them alike."""
    net, c = levels.net_, np.array([-1.0, 0.2, 3.0])
    z = placed(net, c)
    head, start = net.head_weight.detach().numpy(), net.head_bias.detach().numpy()
    assert head @ z + start == pytest.approx(c)
    z[shift_of(net)] += 0.5
    assert head @ z + start == pytest.approx(c + 0.5)


def test_quantiles_by_weights():
    values = np.arange(1000.0)[::-1].copy()
    assert quantiles(values, np.ones(1000), LEVELS) == pytest.approx(np.quantile(values, LEVELS), abs=1.0)
    upper = (values >= 500).astype(float)
    assert quantiles(values, upper, LEVELS) == pytest.approx(np.quantile(values[values >= 500], LEVELS), abs=1.0)
    assert np.isfinite(quantiles(values, np.zeros(1000), LEVELS)).all()


def test_linear_quantiles_are_those_of_linear_programming():
    from sklearn.linear_model import QuantileRegressor

    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = x @ [1.0, -0.5] + rng.normal(size=300)
    kind = Quantiles(LEVELS)
    start = np.zeros((3, 3))
    found = linear._minimised(x, np.repeat(y[:, None], 3, 1), np.ones(300), np.zeros(2), kind, 0.0, start)
    for k, level in enumerate(LEVELS):
        theirs = QuantileRegressor(quantile=level, alpha=0.0).fit(x, y)
        assert found[:, k] == pytest.approx([*theirs.coef_, theirs.intercept_], abs=0.12)


def test_slopes_of_pinball_losses_and_signs_of_their_coordinates():
    rng = np.random.default_rng(4)
    f, y, weight = rng.normal(size=(6, 3)) / 10, rng.normal(size=(6, 3)) / 10, rng.uniform(1, 2, 6)
    _, slopes = linear._loss(f, y, weight, Quantiles(LEVELS))
    for i, j in np.ndindex(6, 3):
        moved = f.copy()
        moved[i, j] += 1e-7
        change = linear._loss(moved, y, weight, Quantiles(LEVELS))[0] - linear._loss(f, y, weight, Quantiles(LEVELS))[0]
        assert change / 1e-7 == pytest.approx(slopes[i, j], abs=1e-4)
    x, head = rng.normal(size=(200, 1)), np.array([[0.0, 1.0], [-1.0, 1.0]])
    y = np.repeat(x * (2.0 + rng.uniform(-1, 1, (200, 1))), 2, 1)
    signs = np.array([[-1, 1]])
    found = linear._minimised(x, y, np.ones(200), signs, Quantiles((0.2, 0.8)), 0.01, np.zeros((2, 2)), head)
    assert found[0, 0] <= 0 <= found[0, 1]
