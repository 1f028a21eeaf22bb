"""The estimate along a path is close to the network; the network has the last word, whatever the estimate says."""

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Fair, Monotone, Network, SmileClassifier, SmileRegressor
from smilenn.model.encoders.trees import Trees
from smilenn.recourse import recourse as recourse_module
from smilenn.recourse.guide import Guide, likely
from smilenn.recourse.path import Path
from smilenn.recourse.stairs import Forest

pytestmark = pytest.mark.usefixtures("quick_module")

RULES = [Monotone(increasing=["income", "years"]), Monotone(decreasing=["debt"]), Fair(["race"], eps=0.5)]
CHANGES = [
    {"income": "up"},
    {"years": "up"},
    {"debt": "down"},
    {"income": "up", "debt": "down"},
    {"income": "up", "debt": "down", "years": "up"},
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10, 100, 400),
            "debt": rng.uniform(0, 50, 400),
            "years": rng.integers(0, 30, 400),
            "race": rng.choice(["a", "b", "c"], 400),
            "region": rng.choice(list("klmn"), 400),
        }
    )
    bonus = frame["region"].map({"k": 0.0, "l": 1.0, "m": -0.5, "n": 0.3})
    score = 0.05 * frame["income"] - 0.06 * frame["debt"] + 0.05 * frame["years"] + bonus
    return frame, score + rng.normal(0, 0.2, 400)


@pytest.fixture(scope="module")
def regressor(table):
    return SmileRegressor(properties=RULES, config=Config(epochs=20), random_state=0).fit(*table)


@pytest.fixture(scope="module")
def classifier(table):
    frame, score = table
    names = pd.cut(score, [-np.inf, *score.quantile([0.33, 0.66]), np.inf], labels=["low", "mid", "high"]).astype(str)
    rule = Monotone(increasing=["income"], decreasing=["debt"], output="high")
    return SmileClassifier(properties=[rule], config=Config(epochs=10), random_state=0).fit(frame, names)


def path_of(model, row, change):
    x = recourse_module.inputs_of(model, row)
    return recourse_module._path(model.domain_, x, recourse_module._ends(model.domain_, x, change)[1])


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
def test_the_estimate_differs_in_the_last_bits(regressor, classifier, table, change):
    rng = np.random.default_rng(0)
    for model in (regressor, classifier):
        guide = Guide.of(model.net_)
        assert guide is not None
        for k in range(5):
            path = path_of(model, table[0].iloc[[k]], change)
            along = guide.along(model.net_, path)
            assert along is not None
            steps = sorted({0, path.steps, *(int(share * path.steps) for share in rng.random(40))})
            wanted = model.outputs_at(path.at(steps)).reshape(len(steps), -1)
            assert np.abs(along.outputs(steps) - wanted).max() < 1e-10


def test_trees_are_walked_once_for_all_places():
    """Two trees over three inputs, one of which stays, and a set of two that stay."""
    #                     z0 ≤ 0.5: (z2 ≤ 0: 1 | 2) | (z0 ≤ 2: 3 | (set ≤ 1: 4 | 5));   z1 ≤ −1: 10 | 20
    layer = Trees.of(
        3,
        [[([0, 2, -1, -1, 0, -1, 3, -1, -1], [0.5, 0, 1, 2, 2, 3, 1, 4, 5]), ([1, -1, -1], [-1, 10, 20])]],
        [0.25],
        [[2]],
    )
    forest = Forest.of([(layer, [0, 1, 2])], 3)
    u = np.array([0.0, 1.0, 0.7])
    moving = {0: (True, lambda z: z / 4), 1: (False, lambda z: (1 - z) / 4)}  # z0 = 4t, z1 = 1 − 4t
    stairs = forest.along(u, moving)
    shares = np.array([0.0, 0.1, 0.2, 0.4, 0.49, 0.51, 0.7, 1.0])
    import torch

    y = np.stack([4 * shares, 1 - 4 * shares, np.full(8, 0.7)], axis=1)
    assert stairs.at(shares)[:, 0].tolist() == layer.ordered(torch.from_numpy(y))[:, 0].tolist()
    assert len(stairs.breaks) == 3
    assert forest.along(u, {2: (True, lambda z: z)}) is None  # a member of the set moves


def test_the_network_is_asked_once_where_several_features_move(regressor, table, monkeypatch):
    goal, asked = float(np.median(regressor.predict(table[0]))), []
    own = type(regressor).outputs_at

    def counted(self, x):
        asked.append(len(x))
        return own(self, x)

    monkeypatch.setattr(type(regressor), "outputs_at", counted)
    for k in range(40):
        found = regressor.recourse(table[0].iloc[[k]], at_least=goal, change={"income": "up", "debt": "down"})
        assert found.reached
    assert sum(asked) <= 5 * 40 and len(asked) <= 42


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: "-".join(c))
def test_an_estimate_that_misleads_changes_no_answer(regressor, table, change, monkeypatch):
    goal = float(np.median(regressor.predict(table[0])))
    rng, moved = np.random.default_rng(1), 0

    def nonsense(net, path, missing):
        return sorted({int(share * path.steps) for share in rng.random(7)} - {0, path.steps})

    for k in range(12):
        row = table[0].iloc[[k]]
        with monkeypatch.context() as patched:
            patched.setattr(recourse_module, "likely", nonsense)
            misled = regressor.recourse(row, at_least=goal, change=change)
            patched.setattr(recourse_module, "likely", lambda *_: [])
            alone = regressor.recourse(row, at_least=goal, change=change)
        found = regressor.recourse(row, at_least=goal, change=change)
        assert found.change == misled.change == alone.change and str(found) == str(misled)
        moved += bool(found.change)
    assert moved >= 2


def test_networks_with_other_layers_have_no_estimate(table):
    frame, score = table
    model = SmileRegressor(
        properties=[Fair(["race"], eps=0.5)], network=Network(encoder="none"), config=Config(epochs=2), random_state=0
    )
    net = model.fit(frame, score).net_
    assert Guide.of(net) is None
    path = Path(model.domain_.lo, (0,), (float(model.domain_.hi[0]),), (False,))
    assert likely(net, path, lambda outputs: -outputs[:, 0]) == []


def test_a_forest_of_a_single_leaf():
    """One node in all, which asks for nothing."""
    layer = Trees(2, [1], 1)
    layer.split.fill_(-1.0)
    layer.number.fill_(2.5)
    found = Forest.of([(layer, [0, 1])], 2).along(np.zeros(2), {0: (True, lambda values: values)})
    assert found is not None and found.at(np.array([-1.0, 3.0])).tolist() == [[2.5], [2.5]]
