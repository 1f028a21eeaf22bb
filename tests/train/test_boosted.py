"""Boosted trees beside networks: they keep the signs, are the booster's own numbers, and are certified to the bit."""

import numpy as np
import pandas as pd
import pytest
import torch
from tests.conftest import patched

import smilenn
from smilenn import Bounded, Config, Fair, Monotone, SmileClassifier, SmileRegressor
from smilenn.domain import Domain
from smilenn.model.encoders import Trees
from smilenn.train import boosted, run, within
from smilenn.train.boosted import GROUPS, boosters
from smilenn.train.growing import FIRST
from smilenn.train.losses import Quantiles
from smilenn.train.mixing import mix
from smilenn.train.recipes import ensemble

QUICK = Config(epochs=2, batch_size=256)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    """Boosting that gives up soon: enough trees for what is shown here."""
    with patched((boosted, "PATIENCE", 5), (within, "PATIENCE", 5)):
        yield


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(
        {
            "income": rng.uniform(0, 10, n).round(2),
            "debt": rng.uniform(0, 5, n).round(1),
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("abcde"), n),
            "sex": rng.choice(["m", "f"], n),
        }
    )
    jump = 3.0 * (x["income"] > 5) + 2.0 * x["town"].isin(["b", "d"])
    return x, jump - x["debt"] ** 2 / 5 + 0.1 * rng.normal(size=n)


def branches(model):
    return [b for b in model.net_.encoder.branches if any(isinstance(layer, Trees) for layer in b.layers)]


@pytest.fixture(scope="module")
def model():
    x, y = table()
    rules = [Monotone(increasing=["income"], decreasing=["debt"]), Fair(["sex"], 0.0)]
    return SmileRegressor(properties=rules, config=QUICK, random_state=0).fit(x, y)


def test_trees_join_and_are_certified(model):
    assert branches(model) and model.verdict_.certificate and "trees" in model.explain()
    x, y = table(seed=1)
    assert model.score(x, y) > 0.9


def test_no_tree_reads_a_protected_column(model):
    domain = model.domain_
    hidden = set(range(domain.slices["sex"].start, domain.slices["sex"].stop))
    assert all(not hidden & set(branch.columns) for branch in branches(model))


def test_order_holds_bit_for_bit(model):
    """Neighbouring floats, thresholds and grids: raising income never lowers, raising debt never raises."""
    x, _ = table(300, seed=2)
    rng = np.random.default_rng(3)
    for name, sign in (("income", 1), ("debt", -1)):
        lo, hi = x[name].min(), x[name].max()
        values = np.sort(np.concatenate([rng.uniform(lo, hi, 60), np.nextafter(rng.uniform(lo, hi, 60), hi), [lo, hi]]))
        for _, row in x.sample(20, random_state=0).iterrows():
            grid = pd.DataFrame([row] * len(values)).astype(x.dtypes.to_dict())
            grid[name] = values
            assert (sign * np.diff(model.predict(grid)) >= 0).all()


def test_a_model_with_trees_is_saved_loaded_and_checked(model, tmp_path):
    model.save(tmp_path / "m")
    again = smilenn.load(tmp_path / "m")
    x, _ = table(seed=1)
    assert (again.predict(x) == model.predict(x)).all() and again.verdict_.certificate
    assert smilenn.check(tmp_path / "m").status == "proved"


def test_the_same_seed_gives_the_same_trees(model):
    x, y = table()
    again = SmileRegressor(properties=model.properties, config=QUICK, random_state=0).fit(x, y)
    assert (again.predict(x) == model.predict(x)).all()


def test_a_box_with_a_width_and_fixed_ends():
    """Fair up to ε beside bounds: trees are cut to the same ends as the networks."""
    x, y = table()
    rules = [Fair(["sex"], 1.0), Bounded(-10.0, 8.0), Monotone(increasing=["income"])]
    model = SmileRegressor(properties=rules, config=QUICK, random_state=0).fit(x, y)
    found = model.predict(x)
    assert model.verdict_.certificate and found.min() >= -10 and found.max() <= 8


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes):
    x, y = table()
    label = pd.cut(y, classes, labels=[f"c{i}" for i in range(classes)]).astype(str)
    rules = [Fair(["sex"], 0.0)] + ([Monotone(increasing=["income"])] if classes == 2 else [])
    model = SmileClassifier(properties=rules, config=QUICK, random_state=0).fit(x, label)
    assert model.verdict_.certificate and branches(model) and model.score(x, label) > 0.85


def test_several_outputs_and_quantiles():
    x, y = table()
    both = pd.DataFrame({"one": y, "two": -2 * y + x["age"] / 10})
    model = SmileRegressor(properties=[Monotone(increasing=["income"], output="one")], config=QUICK, random_state=0)
    model.fit(x, both)
    assert model.verdict_.certificate and branches(model) and model.score(x, both) > 0.8
    model = SmileRegressor(properties=[Monotone(increasing=["income"])], quantiles=(0.2, 0.8), config=QUICK)
    model.set_params(random_state=0).fit(x, y)
    inside = model.predict(x)
    below = (y.to_numpy()[:, None] < inside).mean(axis=0)
    assert model.verdict_.certificate and below[0] < 0.4 and below[1] > 0.6


def test_weights_of_rows_reach_the_trees():
    x, y = table()
    other = y + 5 * (x["age"] > 50)
    rules = [Monotone(increasing=["income"])]
    young = (x["age"] <= 50).astype(float)
    model = SmileRegressor(properties=rules, config=QUICK, random_state=0).fit(x, other, sample_weight=young)
    part = x[x["age"] > 50]
    assert (
        np.abs(model.predict(part) - y[part.index]).mean() < 1.5
    )  # those of no weight, shifted by 5, were not learned


def test_fewer_boosters_for_more_rows(monkeypatch, model):
    """One booster where the table is large; kept rows are those of its group."""
    monkeypatch.setattr("smilenn.train.boosted.GROUPS", ((10, 4), (100, 2)))
    x, y = table()
    one = SmileRegressor(properties=model.properties, config=QUICK, random_state=0).fit(x, y)
    assert len(branches(one)) == 1 and len(branches(model)) == GROUPS[0][1] and one.verdict_.certificate


def test_many_rows_have_half_as_many_networks_as_boosters(monkeypatch):
    """Each network is kept from the rows of two boosters, so that the same rows judge both."""
    x, y = table(300)
    monkeypatch.setattr(ensemble, "SMALL", 200)
    tasks = []
    monkeypatch.setattr(run, "mix", lambda net, task, *more: tasks.append(task) or mix(net, task, *more))
    model = SmileRegressor(properties=[Monotone("income")], config=QUICK, random_state=0).fit(x, y)
    held, folds = tasks[0].held, tasks[0].folds
    assert held.shape == (300, 2) and folds.shape == (300, 4) and int(folds.sum()) == 120
    assert torch.equal(held[:, 0], folds[:, 0] | folds[:, 2]) and torch.equal(held[:, 1], folds[:, 1] | folds[:, 3])
    assert model.verdict_.certificate and len(branches(model)) == 4
    networks = [b for b in model.net_.encoder.branches if b not in branches(model)]
    assert len(networks) in (0, 2)  # kept rows may give them no share


def test_a_time_limit_stops_boosting(monkeypatch):
    """Every look at the clock takes a second: the first pieces use up the time."""
    ticks = iter(range(10**9))
    monkeypatch.setattr("smilenn.train.boosted.perf_counter", lambda: float(next(ticks)))
    x, y = table()
    model = SmileRegressor(properties=[Monotone(increasing=["income"])], config=QUICK, time_limit=60, random_state=0)
    model.fit(x, y)
    assert model.verdict_.certificate
    assert all(layer.trees[0] <= 2 * FIRST for branch in branches(model) for layer in branch.layers)


def _sizes_tried(monkeypatch, estimator, x, y):
    """The sizes of all boosters that a fit tries, and the most leaves of a tree that it keeps."""
    made, tried = boosted._booster, []
    monkeypatch.setattr(boosted, "_booster", lambda *given: tried.append(given[-1]) or made(*given))
    model = estimator(properties=Monotone(increasing=["income"]), config=QUICK, random_state=0).fit(x, y)
    monkeypatch.setattr(boosted, "_booster", made)
    return tried, model


def test_plain_trees_are_tried_on_small_tables_of_yes_and_no(monkeypatch):
    x, y = table()
    noisy = np.random.default_rng(5).random(len(y)) < 1 / (1 + np.exp(-(y - y.mean()) / 4))
    tried, model = _sizes_tried(monkeypatch, SmileClassifier, x, noisy)
    assert set(tried) == {*boosted.RICH, *boosted.PLAIN} and model.verdict_.certificate
    monkeypatch.setattr(boosted, "TRIED", len(x) - 1)
    assert set(_sizes_tried(monkeypatch, SmileClassifier, x, noisy)[0]) == set(boosted.RICH)
    monkeypatch.setattr(boosted, "TRIED", len(x))
    assert set(_sizes_tried(monkeypatch, SmileRegressor, x, y)[0]) == set(boosted.RICH)


@pytest.mark.parametrize(("columns", "share"), [(boosted.FEW, 1.0), (boosted.FEW + 1, boosted.FEATURES)])
def test_nodes_of_plain_trees_choose_from_all_of_few_columns(columns, share):
    names = [f"x{i}" for i in range(columns)]
    own = boosted.Table.of(
        Domain.box([0.0] * columns, [1.0] * columns, names), np.eye(columns), dict.fromkeys(names, 0)
    )
    for size in boosted.PLAIN:
        assert boosted._booster("bce", 0, own, boosted._Place(0, 0), size).max_features == share
    for size in (*boosted.RICH, *boosted.FINE):
        assert boosted._booster("mse", 0, own, boosted._Place(0, 0), size).max_features == boosted.FEATURES


@pytest.mark.parametrize(
    ("rows", "classify", "kinds"),
    [
        (ensemble.SMALL, False, ["wide", "deep", "smooth"]),
        (ensemble.SMALL, True, ["wide", "deep", "smooth"]),
        (ensemble.SMALL + 1, False, ["wide"]),
        (ensemble.SMALL + 1, True, ["wide", "smooth"]),
    ],
)
def test_kinds_of_networks_by_rows_and_task(rows, classify, kinds):
    made = ensemble.tabular_kinds(16, rows, classify)
    assert [kind.name for kind in made] == kinds and all((kind.ramps == 1) == (kind.name == "smooth") for kind in made)


@pytest.mark.parametrize(("fewest", "most", "fine"), [(400, 400, True), (401, 500, False), (300, 399, False)])
def test_numbers_of_some_thousand_rows_have_fine_trees(monkeypatch, fewest, most, fine):
    monkeypatch.setattr(boosted, "FINER", (fewest, most))
    tried, _ = _sizes_tried(monkeypatch, SmileRegressor, *table(400))
    assert set(tried) == set(boosted.FINE if fine else boosted.RICH)


def test_the_benchmark_of_sizes_has_the_same_boosters():
    from benchmarks.tree_sizes import booster

    from smilenn.experiments.peers.task import Rows

    x, y = table(50)
    rows = Rows(x[["income", "debt"]], y.to_numpy(), binary=False, signs={"income": 1, "debt": -1}, seed=0)
    own = boosted.Table.of(Domain.box([0.0] * 2, [10.0] * 2, ["income", "debt"]), rows.frame.to_numpy(), rows.signs)
    theirs = booster(rows, boosted.FINE[0], 0).get_params()
    for name, value in boosted._booster("mse", 0, own, boosted._Place(0, 0), boosted.FINE[0]).get_params().items():
        assert name in ("random_state", "max_iter", "categorical_features") or theirs[name] == value


@pytest.mark.parametrize(("woven", "leaves"), [(False, 2), (True, 31)])
def test_kept_rows_choose_the_size_of_trees(monkeypatch, woven, leaves):
    """Stumps are enough for one noisy jump, and say nothing of two jumps that undo each other."""
    monkeypatch.setattr(boosted, "RICH", ((31, 1, 0.0),))
    monkeypatch.setattr(boosted, "PLAIN", ((2, 20, 0.0),))
    x, _ = table(600)
    jump = x["income"] > 5
    target = jump ^ (x["debt"] > 2.5) if woven else jump ^ (np.random.default_rng(1).random(len(x)) < 0.3)
    kept, convert = [], boosted.convert
    monkeypatch.setattr(boosted, "convert", lambda one, *more: kept.append(one.max_leaf_nodes) or convert(one, *more))
    SmileClassifier(properties=Monotone(increasing=["age"]), config=QUICK, random_state=0).fit(x, target)
    assert len(kept) == 4 and kept.count(leaves) >= 3


def test_rows_of_one_class_get_no_trees():
    """A class that a group never sees cannot be learned from it."""
    x, _ = table(60)
    y = np.array(["no"] * 60)
    y[7] = "yes"
    model = SmileClassifier(properties=[Monotone(increasing=["income"])], config=QUICK, random_state=0).fit(x, y)
    assert model.verdict_.status == "proved"


def test_a_head_that_is_no_identity_gets_no_trees(model):
    """Coordinates that are not outputs are not what a booster would learn."""
    net, x = model.net_, torch.zeros(4, model.domain_.size, dtype=torch.float64)
    from smilenn.train.losses import task_loss
    from smilenn.train.phases import Training

    held = torch.tensor([[True], [False], [False], [False]])
    y = torch.tensor([[0.0], [1.0], [2.0], [3.0]], dtype=torch.float64)
    task = Training(x, y, None, task_loss("mse", y), None, (), QUICK, 0, held)
    before = net.head_weight.clone()
    with torch.no_grad():
        net.head_weight.mul_(2)
    try:
        assert not boosters(net, task, "mse", [{"income": 1}]).groups
    finally:
        with torch.no_grad():
            net.head_weight.copy_(before)
    assert not boosters(net, task, Quantiles((0.5,)), []).groups


@pytest.mark.parametrize(("rows", "some"), [(500, 500), (19_999, 19_999), (20_000, 10_000), (29_999, 15_000)])
def test_boosters_of_long_tables_are_compared_on_some_rows(rows, some):
    found = boosted.compared(np.arange(rows))
    assert len(found) == some and len(set(np.diff(found))) == 1
