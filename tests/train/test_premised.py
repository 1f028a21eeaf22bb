"""The box for claims with premises: what it implies, what it is certified for, and points on the edge of a premise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from smilenn import Bounded, Config, Domain, Feature, Monotone, Network, Safe, SmileRegressor
from smilenn.problem import build_all
from smilenn.properties.premise import holds_exactly
from smilenn.properties.spec import lower_all
from smilenn.train.averaged import boxed
from smilenn.train.premised import premised

DOMAIN = Domain((Feature("x", lo=-1, hi=1, shift=-1, mult=0.5), Feature("y", lo=-1, hi=1, shift=-1, mult=0.5)))
WHEN = ("0.7 * x + 0.3 * y <= 0.1", "-0.4 * x + 0.9 * y <= 0.2", "-0.8 * x - 0.6 * y <= 0.5")
THEN = ("0.6 * out.p - 0.8 * out.q <= 0.1", "out.p + 0.3 * out.q <= 0.3", "-0.7 * out.p + 0.2 * out.q <= 0.35")


def wanted(x: np.ndarray) -> np.ndarray:
    """Two targets [n, 2] that break `THEN` wherever they can."""
    s = x.sum(axis=1)
    return np.stack([s, s**2], axis=1)


def rule() -> Safe:
    return Safe(WHEN, THEN)


def made(properties, names=("p", "q"), rows: int = 200):
    x = np.random.default_rng(0).uniform(-1, 1, (rows, 2))
    y = wanted(x)[:, : len(names)]
    scale, start = np.ones(len(names)), y.mean(axis=0)
    claims = lower_all(properties, DOMAIN, names)
    box = premised(claims, DOMAIN, names, scale, start, x, y - start)
    return claims, None if box is None else boxed(DOMAIN, box, scale, start, outputs=names, sizes=(8,))


def backwards(net, seed: int) -> None:
    """A backbone that means the worst: large random weights."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in net.backbone.parameters():
            parameter.normal_(0, 30)


def edge(points: int, seed: int = 0) -> np.ndarray:
    """Points [n, 2] of the domain on the edges of the polytope as floats have it, and their neighbours."""
    rng = np.random.default_rng(seed)
    coef = np.array([[0.7, 0.3], [-0.4, 0.9], [-0.8, -0.6]])
    rhs = np.array([0.1, 0.2, 0.5])
    found: list[np.ndarray] = []
    while sum(map(len, found)) < points:
        at = rng.uniform(-1, 1, (points, 2))
        row = rng.integers(0, 3, points)
        a, b = coef[row], rhs[row]
        axis = rng.integers(0, 2, points)[:, None]  # solved for one coordinate, the other is any float
        other = np.take_along_axis(at, 1 - axis, 1)
        solved = (b[:, None] - np.take_along_axis(a, 1 - axis, 1) * other) / np.take_along_axis(a, axis, 1)
        np.put_along_axis(at, axis, solved, 1)
        near = np.nextafter(at, rng.choice([-2.0, 2.0], at.shape))  # one step, in each coordinate or in one
        steps = rng.integers(0, 3, points)[:, None]
        at = np.where(steps == 0, at, np.where((steps == 1) & (np.arange(2) == axis), near, at))
        at = np.where(steps == 2, near, at)
        inside = (np.abs(at) <= 1).all(axis=1) & (at @ coef.T <= rhs + 1e-12).all(axis=1)
        found.append(at[inside])
    return np.concatenate(found)[:points]


def left(net, x: np.ndarray) -> np.ndarray:
    """Left side less right side of every row of `THEN`, [n, 3]."""
    out = net.predict(x)
    a = np.array([[0.6, -0.8], [1.0, 0.3], [-0.7, 0.2]])
    return out @ a.T - np.array([0.1, 0.3, 0.35])


def test_whatever_the_backbone_the_rows_hold_on_the_premise_and_not_beside_it():
    _, net = made([rule()])
    assert net is not None
    x = np.random.default_rng(1).uniform(-1, 1, (20_000, 2))
    inside = (x @ np.array([[0.7, -0.4, -0.8], [0.3, 0.9, -0.6]]) <= [0.1, 0.2, 0.5]).all(axis=1)
    free = np.zeros(3, dtype=bool)
    for seed in range(3):
        backwards(net, seed)
        assert left(net, x[inside]).max() < 0
        free |= left(net, x[~inside]).max(axis=0) > 0.1
    assert free.all()  # the box opens outside
    assert 0.1 < inside.mean() < 0.5


def test_every_row_is_proved_in_few_leaves():
    from smilenn.provers.tree.branch import BranchAndBound
    from smilenn.provers.tree.tree import leaves

    claims, net = made([rule()])
    assert net is not None
    (problem,) = build_all(claims, net.snapshot())
    for row in problem.rows:
        found = BranchAndBound().search(problem, row, time_limit=20.0, target=-1e-8)
        assert found.complete and found.bound < 0 and len(leaves(found.root)) <= 8


def test_claims_that_compare_inputs_are_left_to_others():
    assert made([rule(), Monotone(["x"], output="p")])[1] is None


def test_no_box_where_the_rows_leave_none():
    """Not a contradiction, but no width either: p between 0 and 0."""
    assert made([Safe(["x <= 0"], ["out.p <= 0", "out.p >= 0"])])[1] is None


def test_several_premises_and_bounds_on_one_output():
    _, net = made([Safe(["x <= 0"], ["out <= 0.2"]), Safe(["x >= 0.5"], ["out >= 0.4"]), Bounded(-1, 1)], ("",))
    assert net is not None
    x = np.random.default_rng(1).uniform(-1, 1, (5000, 2))
    for seed in range(3):
        backwards(net, seed)
        out = net.predict(x)[:, 0]
        assert np.abs(out).max() < 1
        assert out[x[:, 0] <= 0].max() < 0.2 and out[x[:, 0] >= 0.5].min() > 0.4


def test_certified_with_decimal_rows_and_no_point_of_the_edge_escapes():
    """Decimal rows are not floats: their multipliers in the certificate are those of the rows as written."""
    model = fitted()
    assert model.verdict_.status == "proved" and model.violation_bound_ == 0.0
    x = edge(4000)
    (claim,) = model.claims_
    members = [holds_exactly(claim, model.domain_, point[None]) for point in x[:1000]]
    assert 200 < sum(members) < 900  # both sides of the edge, an ulp apart
    assert left(model.net_, x).max() < 0


@pytest.mark.slow
def test_a_million_points_of_the_edge():
    model = fitted()
    assert left(model.net_, edge(1_000_000)).max() < 0


def fitted() -> SmileRegressor:
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    y = pd.DataFrame(wanted(x), columns=["p", "q"])
    model = SmileRegressor(properties=[rule()], domain=DOMAIN, config=Config(epochs=5, batch_size=64), random_state=0)
    return model.fit(pd.DataFrame(x, columns=["x", "y"]), y)


class Recurrent(nn.Module):
    """An LSTM over the columns, one a step."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, 4, batch_first=True)
        self.out = nn.Linear(4, outputs)

    def forward(self, u: torch.Tensor) -> torch.Tensor:
        """[B, m] → [B, o]."""
        return self.out(self.lstm(u[:, :, None])[0][:, -1])


def test_a_backbone_of_ones_own_is_free_inside_the_box():
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    model = SmileRegressor(
        properties=[Safe(["x <= 0"], ["out <= 0.1"])],
        domain=DOMAIN,
        random_state=0,
        config=Config(epochs=3, batch_size=64),
        network=Network(backbone=lambda inputs, size: Recurrent(size).double()),
    ).fit(pd.DataFrame(x, columns=["x", "y"]), x.sum(axis=1))
    assert isinstance(model.net_.backbone, Recurrent) and model.verdict_.status == "proved"
    assert model.violation_bound_ == 0.0


def test_an_equality_with_decimal_numbers_is_certified():
    """In floats the row is a multiple of itself; steep multipliers are cut before they are written, not after."""
    x = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    rules = [Safe(["0.1 * x + 0.3 * y == 0.1"], ["out <= 0.5 + 0.7 * x", "out >= -2"])]
    model = SmileRegressor(properties=rules, domain=DOMAIN, random_state=0, config=Config(epochs=3, batch_size=64))
    model.fit(pd.DataFrame(x, columns=["x", "y"]), x.sum(axis=1))
    assert model.verdict_.status == "proved"
