"""Robustness around given points: what it claims, how it is written, and that a fit ends certified."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from smilenn import Config, Domain, Feature, LocalRobust, Network, SmileClassifier, SmileError, SmileRegressor
from smilenn.properties import Outputs, ground, holds_exactly, property_from_json, read_toml

pytestmark = pytest.mark.usefixtures("quick_module")

DOMAIN = Domain(
    (
        Feature("x", lo=0, hi=10),
        Feature("n", "integer", 0, 5),
        Feature("flag", "binary"),
        Feature("g", "category", categories=("u", "v", "w")),
    )
)
POINT = {"x": 0.1, "n": 2, "flag": 1, "g": "v"}
CLASSES = Outputs(("bad", "fair", "good"), ("bad", "fair", "good"))


def test_one_claim_a_point_about_inputs_near_it():
    (claim,) = LocalRobust([POINT], {"x": 0.5, "n": 1}, 0.3).lower(DOMAIN)
    assert claim.copies == 2 and len(claim.rows) == 2
    at = DOMAIN.encode(pd.DataFrame([POINT]))[0]

    def holds(**moved: float) -> bool:
        other = at.copy()
        for name, value in moved.items():
            other[list(DOMAIN.coordinates).index(name)] = value
        return holds_exactly(claim, DOMAIN, np.stack([other, at]))

    assert holds() and holds(x=0.0) and holds(x=0.6) and holds(n=3, x=0.6) and holds(n=1)
    assert not holds(x=0.7) and not holds(n=4) and not holds(flag=0)
    elsewhere = at + np.array([0.01, 0, 0, 0, 0, 0])
    assert not holds_exactly(claim, DOMAIN, np.stack([at, elsewhere]))  # the second copy is the point itself
    grounded = ground(claim, DOMAIN)
    assert (grounded.lo[1, :3] == at[:3]).all() and (grounded.hi[1, :3] == at[:3]).all()
    assert grounded.lo[1, 4] == 1  # the category, of which the others then are 0


def test_labels_are_margins_of_one_copy():
    rule = LocalRobust([POINT, POINT | {"x": 9.0}], 1, labels=["good", "bad"])
    first, second = rule.lower(DOMAIN, CLASSES)
    assert [row.text() for row in first.rows] == [
        '-a.out["good"] + a.out["bad"] <= 0',
        '-a.out["good"] + a.out["fair"] <= 0',
    ]
    assert second.copies == 1 and second.sentence == (
        "Whenever 'x' lies between 8 and 10, 'n' lies between 1 and 3, 'flag' is 1 and 'g' is 'v', "
        "no other class is ahead of 'bad'."
    )
    grounded = ground(second, DOMAIN)
    assert grounded.lo[0, 0] == 8.0 and grounded.hi[0, 0] == 10.0 and grounded.lo[0, 1] == 1.0
    (binary,) = LocalRobust([POINT], 1, labels=["no"]).lower(DOMAIN, Outputs(("",), ("no", "yes")))
    assert [row.text() for row in binary.rows] == ["a.out <= 0"]


def test_the_float_of_a_table_is_meant():
    (claim,) = LocalRobust([POINT], 0.5, 0.3).lower(DOMAIN)
    (row,) = [row for row in claim.when if row.op == "==" and row.terms[0].name == "x"]
    assert row.rhs == Fraction(0.1) != Fraction(1, 10)


@pytest.mark.parametrize(
    "rule",
    [
        LocalRobust([POINT], {"x": 0.5}, 0.3),
        LocalRobust(pd.DataFrame([POINT, POINT]), "5%", 1),
        LocalRobust(POINT, 1, labels=["good"]),
    ],
)
def test_json_and_back(rule: LocalRobust):
    again = property_from_json(json.loads(json.dumps(rule.to_json())))
    assert again == rule and again.sentence() == rule.sentence() and again.formula() == rule.formula()


def test_toml():
    (rule,) = read_toml("""
[[property]]
kind = "local_robust"
points = [{ x = 0.1, n = 2, flag = 1, g = "v" }]
delta = { x = 0.5 }
eps = 0.3
""")
    assert rule == LocalRobust([POINT], {"x": 0.5}, 0.3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([POINT], 1), "needs eps, the largest change, or labels"),
        (([], 1, 0.1), "points are rows"),
        (("here", 1, 0.1), "points are rows"),
        (([3], 1, 0.1), "point 1 is 3"),
        (([POINT | {"x": float("nan")}], 1, 0.1), "finite number"),
        (([POINT], -1, 0.1), "0 or more"),
    ],
)
def test_bad_points_are_refused(arguments, sentence):
    with pytest.raises(SmileError, match=sentence):
        LocalRobust(*arguments)


@pytest.mark.parametrize(
    ("point", "sentence"),
    [
        ({"x": 1.0}, "needs one value for every feature; 'n', 'flag', 'g' is missing"),
        (POINT | {"x": 11.0}, "outside of the domain's"),
        (POINT | {"g": "z"}, "'z' for 'g', whose values are 'u', 'v', 'w'"),
        (POINT | {"x": "far"}, "'far' for 'x', which is a number"),
        (POINT | {"colour": 1}, "names 'colour'"),
    ],
)
def test_points_outside_the_domain_are_refused(point, sentence):
    with pytest.raises(SmileError, match=sentence):
        LocalRobust([point], 1, 0.1).lower(DOMAIN)
    with pytest.raises(SmileError, match="one class for each of the 1 points"):
        LocalRobust([POINT], 1, labels=["a", "b"])


def table(n: int = 240):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(0, 10, n), "w": rng.uniform(0, 1, n), "g": rng.choice(["u", "v"], n)})
    return X, 2 * np.sin(X["x"].to_numpy()) + 3 * X["w"].to_numpy()


def test_a_regression_is_certified_around_its_points():
    X, y = table()
    rule = LocalRobust(X.head(1), {"x": 0.4, "w": 0.1}, eps=0.5)
    quick = Config(
        pretrain_epochs=8,
        epochs=3,
        learning_rate=1e-2,
        batch_size=64,
        posttrain_rounds=2,
        posttrain_seconds=2,
        least_quality=0.0,
    )
    model = SmileRegressor(
        properties=[rule], config=quick, network=Network(hidden=3, embedding=1, backbone_sizes=(8,)), random_state=0
    )
    model.fit(X, y)
    assert model.verdict_.status == "proved"
    near = X.head(1).loc[np.zeros(400, dtype=int)].reset_index(drop=True)
    moved = near.assign(x=near["x"] + np.linspace(-0.399, 0.399, 400), w=np.clip(near["w"] + 0.09, 0, 1))
    moved["x"] = moved["x"].clip(*X["x"].agg(["min", "max"]))
    assert np.abs(model.predict(moved) - model.predict(near)).max() <= 0.5


def test_decisions_are_kept_by_construction():
    X, y = table()
    label = np.where(y > 1.5, "high", "low")
    rule = LocalRobust(X.head(1), {"x": 0.3, "w": 0.1}, labels=label[:1])
    model = SmileClassifier(properties=[rule], config=Config(epochs=3, batch_size=64), random_state=0).fit(X, label)
    assert model.verdict_.status == "proved" and model.violation_bound_ == 0.0
    near = X.head(1).loc[np.zeros(100, dtype=int)].assign(x=X["x"][0] + np.linspace(-0.29, 0.29, 100))
    assert (model.predict(near) == label[0]).all()
