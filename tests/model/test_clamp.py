"""Somebody else's model, clamped: fair by construction, certified, and unchanged where it is fair already."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from smilenn.certify.certify import certify
from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.clamp import clamp_fair
from smilenn.properties import Fair


def people(rows=80, seed=0):
    domain = Domain(
        (
            Feature("income", "continuous", 0.0, 9.0, shift=4.0, mult=0.3),
            Feature("owner", "binary"),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )
    rng = np.random.default_rng(seed)
    frame = domain.decode(domain.sample(rows, rng))
    return domain, frame, frame["income"].to_numpy(float) + 2.0 * (frame["race"] == "a") + rng.normal(size=rows) * 0.1


@pytest.fixture(scope="module")
def model():
    _, frame, y = people()
    coded = frame.assign(race=frame["race"].astype("category").cat.codes)
    trees = HistGradientBoostingRegressor(max_iter=30).fit(coded.to_numpy(float), y)

    def predict(frame):
        coded = frame.assign(race=frame["race"].map({"a": 0, "b": 1, "c": 2}))
        return trees.predict(coded.to_numpy(float))

    return predict


def test_the_clamp_is_certified_and_holds(model):
    domain, frame, _ = people()
    net = clamp_fair(model, domain, ["race"], 0.5, frame)
    claims = Fair(["race"], 0.5).lower(net.domain)
    assert certify(net, claims, time_limit=10).report.status == "certified"
    x = net.domain.sample(500, np.random.default_rng(1))
    every = []
    for k in range(3):
        x[:, 2:] = np.eye(3)[k]
        every.append(net.predict(x, batch=100 + k)[:, 0])
    assert np.ptp(every, axis=0).max() <= 0.5
    assert np.ptp([model(net.domain.decode(_race(x, k))) for k in range(3)], axis=0).max() > 1.0


def _race(x, k):
    x = x.copy()
    x[:, 2:] = np.eye(3)[k]
    return x


def test_where_the_model_is_fair_nothing_changes(model):
    domain, frame, _ = people()
    net = clamp_fair(model, domain, ["race"], 100.0, frame)
    x = net.domain.encode(frame)
    assert (net.predict(x)[:, 0] == model(frame)).all()


def test_a_smaller_claim_than_the_width_is_not_certified(model):
    domain, frame, _ = people()
    net = clamp_fair(model, domain, ["race"], 0.5, frame)
    assert certify(net, Fair(["race"], 0.4).lower(net.domain), time_limit=5).report.status == "unknown"
    assert certify(net, Fair(["owner"], 0.5).lower(net.domain), time_limit=5).report.status == "unknown"


@pytest.mark.parametrize(
    ("protected", "eps", "says"),
    [
        (["nobody"], 0.5, "not in the domain"),
        ([], 0.5, "not in the domain"),
        (["race"], 0.0, "positive"),
        (["income"], 0.5, "takes any number"),
        (["income", "owner", "race"], 0.5, "Every feature"),
    ],
)
def test_bad_clamps_say_what_to_do(model, protected, eps, says):
    domain, frame, _ = people()
    with pytest.raises(SmileError, match=says):
        clamp_fair(model, domain, protected, eps, frame)


def test_a_model_of_another_shape_is_refused():
    domain, frame, _ = people()
    with pytest.raises(SmileError, match="one number a row"):
        clamp_fair(lambda frame: np.zeros((len(frame), 2)), domain, ["race"], 1.0, pd.DataFrame(frame))
