"""Monotone, fair and bounded at once: trees move the ensemble within ε, and their sum keeps the ends of the outputs."""

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
    Bounded,
    Config,
    Domain,
    Fair,
    Lipschitz,
    Monotone,
    Network,
    Ordered,
    Safe,
    SmileClassifier,
    SmileRegressor,
    SumAtMost,
)
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.model.folder import read_folder, write_folder
from smilenn.properties import lower_all
from smilenn.properties.forms import Outputs
from smilenn.train import boosted, within
from smilenn.train.recipes import Task, recipe_for
from smilenn.train.within import Clip, Spare
from smilenn.verdict import Proved

QUICK = {"config": Config(pretrain_epochs=4, epochs=6), "network": Network(members=2), "random_state": 0}
RISING, FAIR = Monotone(increasing=["income", "age"]), Fair(["group"], 20)
LOW, HIGH = 10.0, 45.0


@pytest.fixture(scope="module", autouse=True)
def impatient():
    with patched((boosted, "PATIENCE", 5), (within, "PATIENCE", 5)):
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
    score = 0.4 * frame["income"] + 0.2 * frame["age"] + gap * (frame["group"] == "b")
    return frame, (score + rng.normal(0, 1, n)).rename("score")


def clips(model):
    """The clips of the trees, as [least, most] of what they return."""
    branches = [b for b in model.net_.encoder.learned if b.name.startswith(within.NAME)]
    shifts = [branch.layers[2] for branch in branches]
    return [(one.bias.item(), one.bias.item() + one.weight.item()) for one in shifts]


def by_group(model):
    """The largest change of each output by the group alone."""
    frame, _ = rows(1000, seed=7)
    a, b = (model.outputs(frame.assign(group=group)) for group in ("a", "b"))
    return np.abs(a - b).reshape(len(frame), -1).max(axis=0)


def anywhere(domain, n, rng):
    """Inputs of which many lie at the ends of the domain, some far beyond them."""
    x = domain.encode(rows(n, seed=9)[0])
    x[: n // 2] = domain.sample(n // 2, rng)
    for name in ("income", "age"):
        column = domain.indices(name)[0]
        far = rng.random(n) < 0.3
        x[far, column] = rng.choice([-1e9, -1.0, 0.0, 1e3, 1e300], far.sum())
    return x


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    """A target that is cut to the bounds at both ends, under all three rules, and its folder."""
    X, y = rows()
    rules = [RISING, FAIR, Bounded(LOW, HIGH)]
    model = SmileRegressor(properties=rules, **QUICK).fit(X, y.clip(LOW, HIGH))
    folder = tmp_path_factory.mktemp("tight") / "m"
    model.save(folder)
    return model, folder


def test_all_three_rules_are_certified_by_both_checkers_and_use_the_limit(tight):
    model, folder = tight
    X, y = rows()
    alone = SmileRegressor(properties=[RISING, Bounded(LOW, HIGH)], **QUICK).fit(X, y.clip(LOW, HIGH))
    assert isinstance(model.verdict_, Proved) and len(clips(model)) == 2
    assert check_folder(folder).status == check_reference(folder).status == "certified"
    assert 5.0 < by_group(model) <= 20.0
    X, y = rows(1000, seed=8)
    assert model.score(X, y.clip(LOW, HIGH)) > alone.score(X, y.clip(LOW, HIGH)) - 0.03
    assert "trees that read 'group' move the output within ε" in model.reasons_
    assert "Repair" not in model.explain()
    assert "stays as far inside the bounds as they can move it" in model.reasons_


def test_no_input_of_the_saved_model_breaks_a_rule(tight):
    loaded = smilenn.load(tight[1])
    assert isinstance(loaded.verdict_, Proved)
    domain, net, rng = loaded.domain_, loaded.net_, np.random.default_rng(3)
    x = anywhere(domain, 30_000, rng)
    income, age, group = (domain.indices(name)[0] for name in ("income", "age", "group"))
    for size, part in zip((37, 1000, 70_000), np.split(x, [500, 5_000]), strict=True):
        before = net.predict(part, batch=size).ravel()
        assert before.min() >= LOW and before.max() <= HIGH
        for column in (income, age):
            more = part.copy()
            more[:, column] += np.ceil(rng.uniform(0, 50, len(part)))
            assert (net.predict(more, batch=size).ravel() - before).min() >= 0.0
        turned = part.copy()
        turned[:, group] = 1 - turned[:, group]
        assert np.abs(net.predict(turned, batch=size).ravel() - before).max() <= 20.0


def test_the_ensemble_leaves_the_ends_what_trees_may_add(tight):
    model, _ = tight
    net, scale = model.net_, model.net_.output_scale.item()
    sign, start = net.head_weight.item(), net.head_bias.item()
    own = np.array([not b.name.startswith(within.NAME) for b in net.encoder.learned for _ in range(b.outputs)])
    (low, high), *others = clips(model)
    assert all(other == (low, high) for other in others) and (high - low) * scale <= 20.0
    least, most = (sign * (end / scale - start) for end in ((LOW, HIGH) if sign > 0 else (HIGH, LOW)))
    slope = net.lower.slope.detach()[0].numpy()
    assert slope[own].sum() == pytest.approx(1.0) and slope[~own].sum() == pytest.approx(1.0)
    assert (net.encoder.lo.numpy()[own] + low >= least).all() and (net.encoder.hi.numpy()[own] + high <= most).all()


FORGERIES = {
    "a wider clip": lambda tensors, at: tensors[f"encoder.branches.{at}.layers.2.weight"].mul_(1.5),
    "a shifted clip": lambda tensors, at: tensors[f"encoder.branches.{at}.layers.2.bias"].add_(0.5),
    "a member that may go further": lambda tensors, at: tensors["encoder.hi"][0].add_(2.0),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_folder_is_not_certified(tight, tmp_path, name):
    """With every digest right, so that the checkers have to find the fault itself."""
    forge = import_module("trust.forge2")
    files = read_folder(tight[1])
    model, tensors = json.loads(files["model.json"]), load(files["weights.safetensors"])
    at = next(i for i, branch in enumerate(model["net"]["encoder"]) if branch["name"].startswith(within.NAME))
    tensors["encoder.lo"][-2:] -= 10.0  # the clip alone holds the trees
    tensors["encoder.hi"][-2:] += 10.0
    write_folder(tmp_path / "same", forge.rehashed(files | {"weights.safetensors": save(tensors)}))
    assert check_folder(tmp_path / "same").status == check_reference(tmp_path / "same").status == "certified"
    FORGERIES[name](tensors, at)
    write_folder(tmp_path / "m", forge.rehashed(files | {"weights.safetensors": save(tensors)}))
    assert check_folder(tmp_path / "m").status == check_reference(tmp_path / "m").status != "certified"


# ---- what trees are cut to ------------------------------------------------------------------------------------------


def test_far_ends_cost_nothing():
    """Bounds beyond what is predicted: all of the width, and the same model as without them."""
    X, y = rows(200)
    far = SmileRegressor(properties=[RISING, FAIR, Bounded(-500, 500)], **QUICK).fit(X, y)
    assert isinstance(far.verdict_, Proved)
    scale = far.net_.output_scale.item()
    assert np.array(clips(far)) * scale == pytest.approx(np.array([(-9.99, 9.99)] * 2))


def test_a_clip_has_room_between_the_ends():
    spare = Spare({}, 4.0, frozenset(), ends=(-1.0, 3.0))
    assert spare.clip == Clip(-1.0, 1.0) and Clip(-1.0, 0.5).leaves((-1.0, 3.0)) == (0.0, 2.5)
    assert Spare({}, 4.0, frozenset()).clip == Clip(-2.0, 2.0)


# ---- other rules and kinds of outputs -------------------------------------------------------------------------------


def test_a_rule_by_hand_gets_the_same_network(tight):
    X, y = rows()
    by_hand = SmileRegressor(properties=[RISING, FAIR, Safe(then=[f"{LOW} <= out <= {HIGH}"])], **QUICK)
    by_hand.fit(X, y.clip(LOW, HIGH))
    assert isinstance(by_hand.verdict_, Proved) and np.array_equal(tight[0].outputs(X), by_hand.outputs(X))


def test_a_warm_start_fits_the_trees_anew(tight):
    X, y = rows()
    more = SmileRegressor(properties=[RISING, FAIR, Bounded(LOW, HIGH)], **QUICK)
    more.fit(X, y.clip(LOW, HIGH), start=tight[0])
    assert isinstance(more.verdict_, Proved) and len(clips(more)) == 2
    assert more.score(X, y.clip(LOW, HIGH)) > tight[0].score(X, y.clip(LOW, HIGH)) - 0.03


def test_one_of_several_outputs():
    """Coordinates are in the order of the outputs, whichever of them has bounds, so trees and lines join the mean."""
    X, y = rows(gap=20.0)
    rules = [RISING, Fair(["group"], 5), Bounded(0, 150, output="two")]
    both = SmileRegressor(properties=rules, **QUICK).fit(X, pd.DataFrame({"one": y, "two": 3 * y}))
    assert isinstance(both.verdict_, Proved) and len(clips(both)) == 4
    assert ((by_group(both) > 3.0) & (by_group(both) <= 5.0)).all()
    values = both.net_.predict(anywhere(both.domain_, 2000, np.random.default_rng(0)))
    assert values[:, 1].min() >= 0 and values[:, 1].max() <= 150 and both.score(X, np.stack([y, 3 * y], axis=1)) > 0.5


LABELS = {
    "two classes": (lambda y: np.where(y > y.median(), "yes", "no"), None),
    "labels": (lambda y: pd.DataFrame({"poor": y < y.quantile(0.3), "rich": y > y.median()}).astype(int), "rich"),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow if kind == "labels" else ()) for kind in LABELS]
)
def test_log_odds(kind):
    X, y = rows(300, gap=20.0)
    made, name = LABELS[kind]
    rules = [Monotone(increasing=["income"], output=name), Fair(["group"], 2), Bounded(-3, 3, output=name)]
    model = SmileClassifier(properties=rules, **QUICK).fit(X, made(y))
    assert isinstance(model.verdict_, Proved) and clips(model)
    assert by_group(model).max() <= 2.0 and by_group(model)[-1] > 1.0
    values = model.net_.predict(anywhere(model.domain_, 2000, np.random.default_rng(0)))[:, -1]
    assert values.min() >= -3 and values.max() <= 3


def recipe_of(rules, names=("",)):
    """The network for these rules, before it learns."""
    X, y = rows(100)
    domain, outputs = Domain.from_data(X), Outputs(names)
    claims = lower_all(rules, domain, outputs)
    target = np.stack([y.to_numpy()] * len(names), axis=1)
    size, start = target.std(axis=0), target.mean(axis=0)
    return recipe_for(Task.of(domain, domain.encode(X), claims, size=size, start=start, outputs=outputs, y=target))


def test_what_is_spare_beside_ends():
    recipe = recipe_of([RISING, FAIR, Bounded(0, 100)])
    (own,) = recipe.spare
    assert own.ends is not None and own.width == pytest.approx(0.999 * 20 / recipe.net.output_scale.item())
    scale, start = recipe.net.output_scale.item(), recipe.net.head_bias.item()
    sign = recipe.net.head_weight.item()
    ends = sorted((sign * end + start) * scale for end in own.ends)
    assert 0 < ends[0] < 0.001 and 99.97 < ends[1] < 99.98  # of the upper bound a little is left to repair


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        ([Safe(then=["out <= income + 60"]), Bounded(lo=-50)], ("",)),
        ([Safe(when=["income <= 10"], then=["out <= 40"]), Bounded(-50, 100)], ("",)),
        ([Lipschitz("income", 0.5), Bounded(-50, 100)], ("",)),
        ([Ordered(["one", "two"]), Safe(then=["out.one >= income - 50"])], ("one", "two")),
        ([SumAtMost(["one", "two"], 300)], ("one", "two")),
    ],
    ids=["ends that depend on inputs", "a premise", "beside units", "ordered ends that depend on inputs", "a sum"],
)
def test_other_rules_on_single_inputs_leave_the_group_out(rules, names):
    recipe = recipe_of([RISING, FAIR, *rules], names)
    assert not recipe.spare
    assert "It ignores 'group' entirely, so the fairness limit is not used." in recipe.reasons
