"""Coordinates of outputs: the box implies the rows, loses nothing else, and networks in it are certified."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from smilenn import Bounded, Domain, Exclusive, Feature, Ordered, Safe, SumAtMost
from smilenn.certify.certify import certify
from smilenn.properties import lower_all
from smilenn.properties.claim import Claim, row
from smilenn.train.averaged import boxed
from smilenn.train.config import Config
from smilenn.train.coordinates import coordinates, unconditional
from smilenn.train.fit import fit
from smilenn.train.losses import Quantiles

DOMAIN = Domain((Feature("income", lo=1, hi=9), Feature("age", lo=20, hi=70), Feature("owner", "binary")))
NAMES = ("p", "q", "r")


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = DOMAIN.sample(n, rng)
    return x, np.column_stack([0.2 * x[:, 0], 0.3 * x[:, 0] + 0.01 * x[:, 1], 0.1 * x[:, 0]]) + rng.normal(
        0, 0.2, (n, 3)
    )


def made(properties, names=NAMES, scale=(0.5, 1.0, 0.25), start=(1.0, 2.0, 0.5)):
    x, y = rows()
    claims = lower_all(properties, DOMAIN, names)
    return claims, coordinates(claims, DOMAIN, names, np.array(scale), np.array(start), x, y)


def left(claim_row, names, x, f):
    """Left side less right side of a row at inputs x [n, m] with outputs f [n, o]."""
    total = np.full(len(x), -float(claim_row.rhs))
    for t in claim_row.terms:
        total += float(t.coef) * (f[:, names.index(t.name)] if t.kind == "out" else x[:, DOMAIN.indices(t.name)[0]])
    return total


def outputs(box, u, z, scale=(0.5, 1.0, 0.25), start=(1.0, 2.0, 0.5)):
    return (z @ box.head.T) * np.array(scale) + np.array(start)


KEPT = {
    "ordered": [Ordered()],
    "ordered pair": [Ordered(["r", "q"])],
    "exclusive pair": [Exclusive("p", "q")],
    "exclusive three": [Exclusive(*NAMES)],
    "bounded": [Bounded(-1, 4)],
    "one bound": [Bounded(lo=0, output="p"), Bounded(hi=3, output="r")],
    "sum": [SumAtMost(None, "income")],
    "sum and share": [SumAtMost(None, "income"), SumAtMost(["r"], "0.2 * income + 1")],
    "ordered from zero": [Ordered(), Bounded(lo=0)],
    "two sides of a line": [Safe(then=["0.1 * income <= out.p <= 2 * income + 1"])],
}


@pytest.mark.parametrize("properties", KEPT.values(), ids=KEPT)
def test_every_point_of_the_box_satisfies_the_rows_and_every_other_function_has_its_place_in_it(properties):
    claims, box = made(properties)
    assert box is not None
    rng = np.random.default_rng(1)
    x = np.concatenate([DOMAIN.sample(500, rng), [DOMAIN.lo, DOMAIN.hi]])
    u = DOMAIN.scale(x)
    low, high = box.low + u @ box.low_slope.T, box.high + u @ box.high_slope.T
    for share in (0.0, 1.0, rng.uniform(size=low.shape), rng.integers(0, 2, low.shape)):
        f = outputs(box, u, low + (high - low) * share)
        assert all((left(r, NAMES, x, f) < 0).all() for claim in claims for r in claim.rows)
    # lossless: outputs that satisfy the rows, with the little room that rounding needs, lie in the box
    f = rng.normal([1.0, 2.0, 0.5], 1.5, (len(x), 3))
    room = 1e-3
    good = np.all([left(r, NAMES, x, f) < -room for claim in claims for r in claim.rows], axis=0)
    z = np.linalg.solve(box.head, ((f - [1.0, 2.0, 0.5]) / [0.5, 1.0, 0.25]).T).T
    assert good.any() and ((low <= z) & (z <= high))[good].all()


@pytest.mark.parametrize(
    "properties",
    [
        [Ordered(), Bounded(0, 5)],  # a simplex is not a box
        [SumAtMost(None, "income"), Bounded(lo=0)],
        [Bounded(2, 3, output="p"), Safe(then=["out.p <= 0.1 * income"])],  # two upper ends that cross
        [Exclusive("p", "q"), Bounded(lo=0.5)],  # no outputs at all
    ],
)
def test_rows_that_no_box_implies_have_none(properties):
    assert made(properties)[1] is None


def test_random_rows_against_brute_force():
    """Whatever rows are asked for: where there is a box, no corner of it at any corner of the domain breaks one."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(60):
        o = int(rng.integers(1, 4))
        names = NAMES[:o]
        then = []
        for _ in range(int(rng.integers(1, 5))):
            terms = [(int(c), 0, "out", name) for c, name in zip(rng.integers(-2, 3, o), names, strict=True)]
            terms += [(int(rng.integers(-1, 2)), 0, "in", "income")]
            built = row(terms, int(rng.integers(-1, 6)))
            then += [built] if any(t.kind == "out" for t in built.terms) else []
        if not then:
            continue
        claim = Claim(1, (), tuple(then))
        assert unconditional(claim)
        x, y = rows()
        scale, start = 2.0 ** rng.integers(-2, 3, o), rng.normal(size=o)
        box = coordinates([claim], DOMAIN, names, scale, start, x, y[:, :o])
        if box is None:
            continue
        found += 1
        corners = np.array(np.meshgrid(*[[a, b] for a, b in zip(DOMAIN.lo, DOMAIN.hi, strict=True)])).reshape(3, -1).T
        u = DOMAIN.scale(corners)
        for corner in np.array(np.meshgrid(*[[0, 1]] * o)).reshape(o, -1).T:
            low, high = box.low + u @ box.low_slope.T, box.high + u @ box.high_slope.T
            assert (high > low).all()
            f = (low + (high - low) * corner) @ box.head.T * scale + start
            assert all((left(r, names, corners, f) < 0).all() for r in claim.rows)
    assert found > 20


@pytest.mark.parametrize("name", ["ordered", "exclusive three", "bounded", "sum and share", "two sides of a line"])
def test_a_network_in_the_box_is_certified_whatever_its_backbone_is(name):
    claims, box = made(KEPT[name])
    scale, start = np.array([0.5, 1.0, 0.25]), np.array([1.0, 2.0, 0.5])
    torch.manual_seed(0)
    net = boxed(DOMAIN, box, scale, start, outputs=NAMES, sizes=(8,))
    report = certify(net, claims, time_limit=5).report
    assert report.status == "certified" and all(r.bound + r.margin <= r.rhs for c in report.claims for r in c.rows)
    with torch.no_grad():
        for parameter in net.backbone.parameters():
            parameter.mul_(1e3)
    x = DOMAIN.sample(2000, np.random.default_rng(3))
    f = net.predict(x)
    assert all((left(r, NAMES, x, f) <= 0).all() for claim in claims for r in claim.rows)
    free = replace(box, low=np.full(3, -1e9), high=np.full(3, 1e9))  # the same backbone without ends breaks them
    wild = boxed(DOMAIN, free, scale, start, outputs=NAMES, sizes=(8,))
    wild.backbone.load_state_dict(net.backbone.state_dict())
    f = wild.predict(x)
    assert any((left(r, NAMES, x, f) > 0).any() for claim in claims for r in claim.rows)


def test_training_in_a_box_learns_and_ends_proved():
    rng = np.random.default_rng(0)
    x = DOMAIN.sample(400, rng)
    y = x[:, 0] * (1 + 0.3 * rng.normal(size=400))
    names, levels = ("q0.2", "q0.8"), (0.2, 0.8)
    claims = lower_all([Ordered()], DOMAIN, names)
    target, start = np.repeat(y[:, None], 2, axis=1), np.quantile(y, levels)
    box = coordinates(claims, DOMAIN, names, np.full(2, 2.0), start, x, target)
    net = boxed(DOMAIN, box, np.full(2, 2.0), start, outputs=names, sizes=(16,))
    config = Config(epochs=40, batch_size=64, learning_rate=1e-2, train_learning_rate=1e-2)
    done = fit(net, x, target, claims, loss=Quantiles(levels), config=config)
    assert done.verdict is not None and done.verdict.status == "proved" and done.held_out < 0.7
    share = (target <= net.predict(x)).mean(axis=0)
    assert np.abs(share - levels).max() < 0.08
    assert not any(record["phase"] == "repair" for record in done.history)
