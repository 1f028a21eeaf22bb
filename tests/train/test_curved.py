"""Curved units: allowed directions; what they must keep holds whatever is learned; and they do learn."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

import smilenn
from smilenn import (
    Concave,
    Convex,
    Domain,
    Dominates,
    Fair,
    Feature,
    Lipschitz,
    Monotone,
    Robust,
    SmileClassifier,
    SmileRegressor,
    Symmetric,
)
from smilenn.certify.certify import certify
from smilenn.estimators.trend import TrendWarning
from smilenn.problem import build_all
from smilenn.properties import Outputs, lower_all
from smilenn.provers.rules.signs import Signs
from smilenn.train.config import Config
from smilenn.train.curved import Units, merge_
from smilenn.train.recipes import Design, Task, recipe_for
from smilenn.train.recipes.shapes import Shape, directions, shapes
from smilenn.train.recipes.stated import read
from smilenn.train.spline import bounded

DOMAIN = Domain(
    (
        Feature("a", lo=0, hi=3, shift=1.0, mult=0.3),
        Feature("b", lo=0, hi=1, shift=0.25, mult=0.7),
        Feature("c", lo=-2, hi=2),
        Feature("n", "integer", 0, 9, mult=0.1),
    )
)
QUICK = Config(epochs=15, learning_rate=3e-3, batch_size=512)


def wanted(*properties):
    stated = read(lower_all(properties, DOMAIN), Outputs(), DOMAIN)
    (one,) = shapes(DOMAIN, stated, Outputs(), np.ones((1, 1)))
    return one


def test_what_properties_ask_of_a_unit():
    up, down = np.array([1.0, 0, 0, 0]), np.array([-1.0, 0, 0, 0])
    mult = DOMAIN.mult
    assert [wanted(Convex("a")).allows(s, up, mult) for s in (1, -1)] == [True, False]
    assert [wanted(Concave("a")).allows(s, up, mult) for s in (1, -1)] == [False, True]
    assert [wanted(Monotone(increasing="a")).allows(s, d, mult) for s in (1, -1) for d in (up, down)] == [
        True,
        False,
        False,
        True,
    ]
    trade = wanted(Dominates("a", "b", Fraction(1, 2)))
    raw = np.array([1.0, 2.0, 0, 0]) / mult  # raising a by t and lowering b by t/2 changes nothing, but for rounding
    assert trade.allows(1, raw + 1e-9 * up, mult) and not trade.allows(1, raw - 1e-9 * up, mult)
    assert trade.allows(-1, raw - 1e-9 * up, mult) and not trade.allows(-1, raw + 1e-9 * up, mult)
    swap = wanted(Symmetric(["a", "b"]))
    assert swap.allows(1, np.array([mult[1], mult[0], 5.0, 0]), mult)  # without rounding, though no mult is dyadic
    assert not swap.allows(1, np.array([mult[1], np.nextafter(mult[0], 1), 5.0, 0]), mult)


@pytest.mark.parametrize(
    "properties",
    [
        [Convex(["a", "b"])],
        [Concave("c"), Monotone(increasing="c")],
        [Symmetric(["a", "b"])],
        [Dominates("a", "b", 3)],
        [Dominates("a", "b"), Dominates("b", "c", 2)],
        [Symmetric(["a", "b"]), Dominates("a", "b")],
        [Symmetric(["a", "b", "c"])],
    ],
    ids=str,
)
def test_directions_are_allowed_and_so_are_their_combinations(properties):
    one, rng = wanted(*properties), np.random.default_rng(0)
    for side in (1, -1):
        ways = directions(one, side, [0, 1, 2], DOMAIN)
        assert all(one.allows(side, d, DOMAIN.mult) for d in ways)
        if len(ways) and not one.equal:
            mixed = rng.uniform(0, 1, (20, len(ways))) @ np.array(ways)
            assert all(one.allows(side, d, DOMAIN.mult) for d in mixed)
    if Symmetric(["a", "b", "c"]) in properties:  # three scales that no float makes equal
        assert not any(d[0] for side in (1, -1) for d in directions(one, side, [0, 1, 2], DOMAIN))


def test_chains_of_trades_are_read():
    one = wanted(Dominates("a", "b"), Dominates("b", "c", 2))
    assert any(np.count_nonzero(d) == 3 for d in directions(one, 1, [0, 1, 2], DOMAIN))


COMBINATIONS = [
    [Convex(["a", "b"])],
    [Convex("a"), Concave("b"), Monotone(increasing=["a", "c"])],
    [Symmetric(["a", "b"]), Convex("c")],
    [Dominates("a", "b", 2), Fair("n", 0.3)],
    [Dominates("a", "b"), Convex("b"), Monotone(decreasing="c")],
    [Lipschitz(["a", "b"], 0.7), Monotone(increasing="a")],
    [Lipschitz("a", 0.7), Convex("a"), Symmetric(["b", "c"], 0.1)],
    [Robust("5%", 0.1), Concave("a"), Monotone(decreasing="b")],
    [Lipschitz("a", 0.5), Dominates("a", "b")],
]


@pytest.mark.parametrize("properties", COMBINATIONS, ids=str)
def test_random_weights_are_certified_once_they_are_kept(properties):
    """Nothing depends on training: units with any outputs, knots and context, put back in their place."""
    torch.manual_seed(1)
    x = DOMAIN.sample(200, np.random.default_rng(0))
    found = recipe_for(Task.of(DOMAIN, x, lower_all(properties, DOMAIN), design=Design(members=2)))
    assert found.family == "curved"
    lower, units = found.net.lower, found.net.lower.keep
    assert isinstance(units, Units)
    fixed = lower.weight[:, units.encoded :].detach().clone()
    with torch.no_grad():
        lower.out.copy_(torch.randn_like(lower.out))
        lower.weight[units.reads] = torch.randn(len(units.reads[0]), dtype=torch.float64)
        lower.bias.copy_(torch.randn_like(lower.bias))
        knots = torch.sort(torch.randn(20, dtype=torch.float64)).values
        for one in units.slopes:  # knots in order; always on
            for k in range(units.members):
                for group in (one.rise, one.fall):
                    for j, unit in enumerate(group):
                        if unit >= 0:
                            lower.bias[k * units.size + unit] = -knots[j]
                for unit in (one.up, one.down):
                    lower.bias[k * units.size + unit] = 10.0
    found.net.project_()
    assert torch.equal(lower.weight[:, units.encoded :], fixed)
    before = found.net.predict(x)
    merge_(found.net)
    assert np.allclose(found.net.predict(x), before, atol=1e-9) and found.net.hidden <= units.members * units.size
    found.net.encoder.fit_box_(found.net.scale(torch.tensor(x)))
    claims = [claim for p in properties for claim in p.lower(DOMAIN)]
    for problem in build_all(claims, found.net.snapshot()):
        if problem.copies > 2 or problem.region.has_rows:
            assert all(Signs().refuses(problem, row) is None for row in problem.rows)
    assert certify(found.net.eval(), claims, time_limit=20).report.status == "certified"


def test_bounded_least_squares_is_the_best_within_its_signs():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(40, 6))
    gram, pull = a.T @ a / 40 + 0.01 * np.eye(6), rng.normal(size=6)
    least, most = np.array([0, 0, -np.inf, -np.inf, 0, -np.inf]), np.array([np.inf] * 4 + [np.inf, 0])
    beta = bounded(gram, pull, least, most)
    slope = gram @ beta - pull
    assert ((beta >= least) & (beta <= most)).all()
    free = (beta > least) & (beta < most)
    assert np.abs(slope[free]).max() < 1e-6
    assert (slope[beta == least] >= -1e-9).all() and (slope[beta == most] <= 1e-9).all()


def table(rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"dose": rng.uniform(0, 10, rows), "age": rng.uniform(20, 80, rows)})
    y = (frame["dose"] - 4) ** 2 / 8 + np.sin(frame["age"] / 10)
    return frame, y + rng.normal(0, 0.1, rows)


@pytest.mark.parametrize(
    ("properties", "least"),
    [([Convex("dose")], 0.9), ([Convex("dose"), Lipschitz("dose", 0.8)], 0.85), ([Robust({"dose": 0.5}, 0.7)], 0.85)],
    ids=str,
)
def test_a_curved_target_is_learned_certified_and_explained(properties, least):
    model = SmileRegressor(properties=properties, config=QUICK, random_state=0).fit(*table(300, 0))
    frame, y = table(300, 1)
    frame = frame.clip(lower=model.domain_.lo, upper=model.domain_.hi, axis=1)
    assert model.verdict_.status == "proved" and model.score(frame, y) > least
    assert "'dose' is read by piecewise linear units" in model.explain()


def test_a_decision_is_learned_within_its_shape():
    frame, y = table(300, 0)
    model = SmileClassifier(properties=[Convex("dose"), Robust("2%", 0.5)], config=QUICK, random_state=0)
    model.fit(frame, y > np.median(y))
    assert model.verdict_.status == "proved" and model.score(frame, y > np.median(y)) > 0.85


def test_a_target_that_bends_the_other_way_gets_a_line_or_a_constant():
    frame, y = table(200, 0)
    model = SmileRegressor(properties=[Concave("dose"), Monotone(increasing="dose")], config=QUICK, random_state=0)
    with pytest.warns(TrendWarning, match="The data fall with 'dose'"):
        model.fit(frame, -frame["dose"] + 0 * y)
    assert model.verdict_.status == "proved" and np.ptp(model.predict(frame)) < 0.5


def test_a_run_that_was_cut_off_continues_bit_for_bit_and_is_saved(tmp_path):
    class Cut(Exception):
        pass

    def stop(progress):
        if progress.step == 3:
            raise Cut

    properties, (frame, y) = [Convex("dose"), Lipschitz("age", 0.2)], table(120, 0)

    def fit(**options):
        model = SmileRegressor(properties=properties, config=QUICK.replace(epochs=6), random_state=0)
        return model.fit(frame, y, **options)

    whole = fit()
    with pytest.raises(Cut):
        fit(checkpoint=tmp_path / "run", callback=stop)
    again = fit(checkpoint=tmp_path / "run")
    assert (again.predict(frame) == whole.predict(frame)).all()
    whole.save(tmp_path / "model")
    loaded = smilenn.load(tmp_path / "model")
    assert (loaded.predict(frame) == whole.predict(frame)).all() and loaded.verdict_.status == "proved"


def test_asked_of_nothing_allows_everything():
    assert Shape().allows(-1, np.array([1.0, -2.0, 0.0, 3.0]), DOMAIN.mult)


def test_training_goes_on_from_the_spline():
    """The first epoch changes little: members do not go back to the random weights from before the spline."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.uniform(0, 10, 400), "b": rng.uniform(0, 10, 400)})
    model = SmileRegressor(properties=[Lipschitz("a", 5)], config=Config(epochs=2), random_state=0)
    model.fit(x, x["a"] ** 2 / 4 + 3 * x["b"])
    first = next(record for record in model.history_ if record["phase"] == "train")
    assert first["held_out"] < 0.2  # of the constant's
