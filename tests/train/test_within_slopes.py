"""Fair beside rules that bound slopes: trees that read protected columns and none that such a rule moves."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import load, save
from tests.conftest import patched

import smilenn
from smilenn import (
    Concave,
    Config,
    Dominates,
    Fair,
    Lipschitz,
    Monotone,
    Network,
    Robust,
    SmileClassifier,
    SmileRegressor,
)
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.model.encoders import Trees
from smilenn.model.folder import read_folder, write_folder
from smilenn.train import within
from smilenn.verdict import Proved

QUICK = {"config": Config(pretrain_epochs=4, epochs=6), "network": Network(members=2), "random_state": 0}
RISING, SLOPE = Monotone(increasing=["income", "age"]), Lipschitz("income", 0.5)


@pytest.fixture(scope="module", autouse=True)
def impatient():
    with patched((within, "PATIENCE", 5)):
        yield


def rows(n=400, gap=10.0, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(0, 100, n).round(1),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(["north", "south", "west"], n),
            "group": rng.choice(["a", "b"], n),
        }
    )
    score = 0.4 * frame["income"] + 0.2 * frame["age"] + 3 * (frame["region"] == "west") + gap * (frame["group"] == "b")
    return frame, (score + rng.normal(0, 1, n)).rename("score")


def trees_of(model):
    """The branches that move the model within ε."""
    return [b for b in model.net_.encoder.learned if b.name.startswith(within.NAME) and isinstance(b.layers[0], Trees)]


def read_by(model):
    """The features that they read."""
    slices = model.domain_.slices.items()
    columns = {column for branch in trees_of(model) for column in branch.columns}
    return {name for name, span in slices if columns & set(range(span.start, span.stop))}


def by_group(model):
    """The largest change of each output by the group alone."""
    frame, _ = rows(1000, seed=7)
    a, b = (model.outputs(frame.assign(group=group)) for group in ("a", "b"))
    return np.abs(a - b).max(axis=0)


@pytest.fixture(scope="module")
def trap(tmp_path_factory):
    """The trap with all three rules, its folder, and the same without the fairness rule."""
    X, y = rows()
    model = SmileRegressor(properties=[RISING, Fair(["group"], 20), SLOPE], **QUICK).fit(X, y)
    folder = tmp_path_factory.mktemp("trap") / "m"
    model.save(folder)
    return model, folder, SmileRegressor(properties=[RISING, SLOPE], **QUICK).fit(X, y)


def test_the_trap_is_certified_by_both_checkers_and_as_good_as_without_fairness(trap):
    model, folder, alone = trap
    assert isinstance(model.verdict_, Proved) and trees_of(model)
    assert check_folder(folder).status == check_reference(folder).status == "certified"
    assert 5.0 < by_group(model) <= 20.0 and "income" not in read_by(model) and "group" in read_by(model)
    X, y = rows(1000, seed=8)
    assert model.score(X, y) > alone.score(X, y) - 0.01
    assert "The ensemble itself ignores 'group'." in model.reasons_ and "ignores 'group' entirely" not in model.reasons_
    assert "trees that read 'group' move the output within ε" in model.reasons_
    assert "They do not read 'income', which other rules move." in model.reasons_


def test_no_pair_of_the_saved_model_breaks_a_rule(trap):
    """Two hundred thousand pairs, half of them close together, in batches of three sizes."""
    loaded = smilenn.load(trap[1])
    assert isinstance(loaded.verdict_, Proved)
    domain, net, rng, room = loaded.domain_, loaded.net_, np.random.default_rng(3), loaded.verdict_.tolerance
    assert room < 1e-10
    a = domain.encode(rows(66_000, seed=9)[0])
    income, age, group = (domain.indices(name)[0] for name in ("income", "age", "group"))
    near = rng.random(len(a)) < 0.5
    for size, part in zip((37, 1000, 70_000), np.split(np.arange(len(a)), 3), strict=True):
        x, close = a[part], near[part]

        def moved(column, x=x, close=close):
            other = x.copy()
            step = np.where(close, rng.uniform(0, 0.2, len(x)), rng.uniform(0, 100, len(x)))
            other[:, column] += step if column == income else np.ceil(step)
            return np.clip(other, domain.lo, domain.hi)

        before = net.predict(x, batch=size).ravel()
        for column in (income, age):
            after = moved(column)
            rise = net.predict(after, batch=size).ravel() - before
            assert rise.min() >= -room
            if column == income:
                assert (np.abs(rise) - 0.5 * (after[:, income] - x[:, income])).max() <= room
        turned = x.copy()
        turned[:, group] = 1 - turned[:, group]
        assert np.abs(net.predict(turned, batch=size).ravel() - before).max() <= 20.0


FORGERIES = {
    "a clip of four times the width": lambda net, tensors, at: widened(tensors, at),
    "trees that read the income": lambda net, tensors, at: moved_to(net["encoder"][at], 0),
    "trees that read the age downwards": lambda net, tensors, at: moved_to(net["encoder"][at], 1, tensors, at),
}


def widened(tensors, at):
    """The clip of a branch four times as wide, and the box of the encoder wide open."""
    for name in (f"encoder.branches.{at}.layers.2.weight", "encoder.lo", "encoder.hi"):
        tensors[name] *= 4


def moved_to(branch, column, tensors=None, at=0):
    """The branch reads one other column; where tensors are given it falls with it."""
    branch["columns"] = [column] * len(branch["columns"])
    for part in ("weight", "bias") if tensors is not None else ():
        tensors[f"encoder.branches.{at}.layers.2.{part}"] *= -1


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_folder_is_not_certified(trap, tmp_path, name):
    """With every digest right, so that the checkers have to find the fault itself."""
    forge = import_module("trust.forge2")
    files = read_folder(trap[1])
    model, tensors = json.loads(files["model.json"]), load(files["weights.safetensors"])
    at = next(i for i, branch in enumerate(model["net"]["encoder"]) if branch["name"].startswith(within.NAME))
    FORGERIES[name](model["net"], tensors, at)
    changed = files | {"model.json": json.dumps(model).encode(), "weights.safetensors": save(tensors)}
    write_folder(tmp_path / "m", forge.rehashed(changed))
    fast, exact = check_folder(tmp_path / "m"), check_reference(tmp_path / "m")
    assert fast.status == exact.status != "certified"


def test_a_changed_weight_is_noticed(trap, tmp_path):
    files = read_folder(trap[1])
    tensors = load(files["weights.safetensors"])
    widened(tensors, next(i for i, b in enumerate(trap[0].net_.encoder.branches) if b.name.startswith(within.NAME)))
    write_folder(tmp_path / "m", files | {"weights.safetensors": save(tensors)})
    assert check_folder(tmp_path / "m").status == check_reference(tmp_path / "m").status == "refused"


# ---- other rules and kinds of outputs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "barred"),
    [
        ([SLOPE], {"income"}),
        ([RISING, SLOPE, Lipschitz("age", 0.5), Robust(delta={"age": 1}, eps=1)], {"income", "age"}),
        ([RISING, Concave(["income"])], {"income"}),
        ([Dominates("income", "age")], {"income", "age"}),
    ],
    ids=["Lipschitz", "Robust", "Concave", "Dominates"],
)
def test_trees_read_what_no_other_rule_moves(rules, barred):
    X, y = rows()
    model = SmileRegressor(properties=[Fair(["group"], 4), *rules], **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and 3.9 < by_group(model) <= 4.0
    assert "group" in read_by(model) and not barred & read_by(model)


def test_trees_of_the_protected_column_alone():
    """Every other column has a bounded slope."""
    X, y = rows()
    X = X[["income", "age", "group"]]
    model = SmileRegressor(properties=[RISING, Fair(["group"], 20), SLOPE, Lipschitz("age", 0.5)], **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and read_by(model) == {"group"}
    assert 5.0 < by_group(model) <= 20.0


def test_a_protected_column_with_a_bounded_slope_is_ignored():
    X, y = rows()
    model = SmileRegressor(properties=[RISING, Fair(["income"], 20), SLOPE], **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and not trees_of(model)
    assert model.outputs(X.assign(income=1.0)) == pytest.approx(model.outputs(X.assign(income=90.0)), abs=0.0)


def test_trees_rise_with_a_protected_column_that_must_rise():
    X, y = rows()
    y = y - 0.6 * X["age"] * (X["age"] < 50)  # falls where it must rise
    model = SmileRegressor(properties=[RISING, Fair(["age"], 20)], **QUICK).fit(X, y)
    assert isinstance(model.verdict_, Proved) and trees_of(model) and model.score(X, y) > 0.5
    values = np.stack([model.outputs(X.assign(age=age)) for age in range(18, 80, 3)])
    assert (np.diff(values, axis=0) >= 0).all() and 5.0 < np.ptp(values, axis=0).max() <= 20.0


def test_several_outputs_classes_and_quantiles():
    X, y = rows(gap=20.0)
    rules = [RISING, Fair(["group"], 5), Lipschitz("income", 3)]
    both = SmileRegressor(properties=rules, **QUICK).fit(X, pd.DataFrame({"one": y, "two": 3 * y}))
    quantiles = SmileRegressor(properties=rules, quantiles=(0.1, 0.9), **QUICK).fit(X, y)
    for model in (both, quantiles):
        assert isinstance(model.verdict_, Proved) and trees_of(model) and "income" not in read_by(model)
        assert ((by_group(model) > 3.0) & (by_group(model) <= 5.0)).all()
    assert (np.diff(quantiles.outputs(X), axis=1) >= 0).all()
    label = pd.cut(y, [-np.inf, 30, 50, np.inf], labels=["low", "mid", "top"]).astype(str)
    rules = [Monotone(increasing=["age"], output="top"), Fair(["group"], 2), Lipschitz("income", 0.5)]
    classes = SmileClassifier(properties=rules, **QUICK).fit(X, label)
    two = SmileClassifier(properties=[RISING, Fair(["group"], 2), SLOPE], **QUICK).fit(X, label == "top")
    for model in (classes, two):
        assert isinstance(model.verdict_, Proved) and trees_of(model) and by_group(model).max() <= 2.0


def test_a_warm_start_fits_the_trees_anew():
    X, y = rows(700)
    rules = [RISING, Fair(["group"], 20), SLOPE]
    model = SmileRegressor(properties=rules, **QUICK).fit(X, y)
    more = SmileRegressor(properties=rules, **QUICK).fit(X, y, start=model)
    assert isinstance(more.verdict_, Proved) and len(trees_of(more)) == len(trees_of(model)) == 2
    assert more.score(X, y) > model.score(X, y) - 0.01
