"""Trees before both checkers: what they say is true of every pair that was tried, and they say the same."""

from collections import Counter
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from smilenn.certify import check
from smilenn.certify.certify import certify
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import reader
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.encoders import Branch, Encoder, Trees
from smilenn.model.net import SmileNet
from smilenn.properties import Fair, Monotone
from smilenn.train.deploy import deploy

LOADED = SimpleNamespace(check=check, check_reference=check_reference, reader=reader)


def test_no_pair_contradicts_the_checkers(grown, no_pair_contradicts):
    seen = no_pair_contradicts(LOADED, map(grown.Grown, range(20_000, 20_120)), grown.points)
    assert seen["certified", False] > 24 and seen["unknown", True] > 8 and seen["refused", False] > 1
    assert seen["certified", True] < 5  # by no more than a room for rounding


@pytest.mark.slow
def test_no_pair_contradicts_the_checkers_of_many(grown, no_pair_contradicts):
    seen = no_pair_contradicts(LOADED, map(grown.Grown, range(30_000, 40_000)), grown.points, 30)
    assert sum(seen.values()) == 10_000 and seen["certified", False] > 3000 and seen["unknown", True] > 500


def test_malformed_trees_are_refused_alike(grown, small):
    given = grown.malformed()
    fast, slow = (small.answers(LOADED, given, which) for which in (True, False))
    assert [said[0] for said in fast] == [said[0] for said in slow]
    assert Counter(said[0] for said in fast)["refused"] > 45
    own = [(a[1], b[1]) for a, b in zip(fast, slow, strict=True) if "tree" in a[1] and "tree" in b[1]]
    assert len({a for a, _ in own}) == 4
    assert all(a.casefold() == b.casefold().rstrip(".") for a, b in own)


def test_rows_of_an_order_are_proved_with_margin_zero(grown, small):
    made = (grown.Grown(seed) for seed in range(200))
    said = small.answers(LOADED, [g.files for g in made], True)
    rows = [row for status, _, rows in said if status == "certified" for row in rows if row[0] == "order"]
    assert len(rows) > 20 and all(row[1] == row[2] == 0 for row in rows)


# ---- changed files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [("split", 0, -0.0), ("number", 0, 0.25), ("number", 2, 9.0), ("bias", 0, 1.0), ("number", 1, -0.0)],
)
def test_a_changed_number_is_noticed_by_its_hash(grown, small, drawn, name, at, value):
    files = drawn.tampered(grown.handmade([grown.STEP]), name, at, value)
    for fast in (True, False):
        ((status, reason, _),) = small.answers(LOADED, [files], fast)
        assert status == "refused" and ("differ" in reason or "hash" in reason or "digest" in reason), reason


@pytest.mark.parametrize(("name", "at", "value"), [("number", 1, 2.0), ("number", 2, -1.0)])
def test_a_changed_leaf_with_every_hash_made_to_fit_is_not_certified(grown, small, drawn, forge2, name, at, value):
    """The step rises; with one leaf moved past the other it falls."""
    made = grown.handmade([grown.STEP])
    content = forge2.edited(made, "certificate.json", lambda c: c["claims"][0].update(rows=[{"rule": "order"}]))
    good = forge2.rehashed(content | {"certificate.bin": b""})
    bad = forge2.rehashed(drawn.tampered(good, name, at, value))
    for fast in (True, False):
        (one, two) = small.answers(LOADED, [good, bad], fast)
        assert one[0] == "certified" and two[0] == "refused"


# ---- whole models ---------------------------------------------------------------------------------------------------


def table():
    return Domain(
        (
            Feature("income", "continuous", 0.0, 9.0, shift=4.1, mult=0.47),
            Feature("age", "integer", 18.0, 60.0, shift=40.3, mult=0.11),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )


def rising(rng, depth, low=-1.0, high=1.0):
    """Rises with place 0, falls with place 1, asks for a set of categories too."""
    if depth == 0:
        return [-1], [float(rng.uniform(low, high))]
    asks, cut = int(rng.integers(6)), float(rng.uniform(low, high))
    parts = {0: ((low, cut), (cut, high)), 1: ((cut, high), (low, cut))}.get(asks, ((low, high),) * 2)
    left, right = (rising(rng, depth - 1, *part) for part in parts)
    theta = 0.5 if asks > 1 else float(rng.normal())
    return [asks, *left[0], *right[0]], [theta, *left[1], *right[1]]


def model(seed=0, trees=60, depth=4):
    rng, domain = np.random.default_rng(seed), table()
    layer = Trees.of(5, [[rising(rng, depth) for _ in range(trees)]], bias=[0.1], sets=[[2, 3]])
    encoder = Encoder(domain, [Branch("sum", range(5), [layer])])
    encoder.fit_box_(torch.tensor(domain.scale(domain.sample(200, rng))))
    net = SmileNet(domain, MLP(5, (2,), 1), 1, encoder=encoder, auxiliaries="affine", output_scale=4.0)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.fill_(1.0)
        net.head_weight.fill_(1.0)
    return net.eval()


CLAIM = Monotone(increasing=["income"], decreasing=["age"])


def certified(net, claims, place):
    found = certify(net, claims, time_limit=20)
    save_net(place, net, extra=found.files, overwrite=True)
    fast, slow = check.check_folder(place), check_reference.check_folder(place)
    assert fast.status == slow.status == found.report.status
    return fast


def test_a_sum_of_trees_is_certified_at_zero(tmp_path):
    net = model()
    claims = CLAIM.lower(net.domain)
    assert "fixed order" in deploy(net, claims)
    report = certified(net, claims, tmp_path / "m")
    (row,) = report.claims[0].rows
    assert report.status == "certified" and (row.rule, row.bound, row.margin) == ("order", 0, 0)
    attack(load_net(tmp_path / "m")[0], np.random.default_rng(1), 2000)


def attack(net, rng, pairs):
    """Pairs of the premise, neighbours and thresholds among them, at other places of other batches."""
    domain, layer = net.domain, net.encoder.branches[0].layers[0]
    low = domain.sample(pairs, rng)
    inner = layer.number[layer.split == 0].numpy() / 0.47 + 4.1
    at = np.clip(rng.choice(inner, size=pairs) + rng.integers(-2, 3, size=pairs) * 2.0**-51, 0.0, 9.0)
    low[:, 0] = np.where(rng.random(pairs) < 0.5, at, low[:, 0])
    high = low.copy()
    near = np.nextafter(low[:, 0], 9.0)
    high[:, 0] = np.where(rng.random(pairs) < 0.7, near, rng.uniform(low[:, 0], 9.0))
    high[:, 1] = np.maximum(18.0, low[:, 1] - rng.integers(0, 3, size=pairs))
    order = rng.permutation(pairs)
    up, down = np.empty(pairs), net.predict(low, batch=4096).ravel()
    up[order] = net.predict(high[order], batch=1000).ravel()
    assert (up >= down).all()


@pytest.mark.slow
def test_a_million_pairs_to_the_bit(tmp_path):
    net = model(3, trees=200, depth=5)
    deploy(net, CLAIM.lower(net.domain))
    assert certified(net, CLAIM.lower(net.domain), tmp_path / "m").status == "certified"
    loaded, rng = load_net(tmp_path / "m")[0], np.random.default_rng(7)
    for _ in range(10):
        attack(loaded, rng, 100_000)


def test_one_leaf_moved_is_not_certified(tmp_path):
    net = model(trees=3)
    claims = CLAIM.lower(net.domain)
    deploy(net, claims)
    layer = net.encoder.branches[0].layers[0]
    first = int((layer.split == 0).nonzero()[0])  # a node that asks for income: its leftmost leaf above all others
    leaf = first + int((layer.split[first:] == -1).nonzero()[0])
    layer.number[leaf] += 99.0
    assert certified(net, claims, tmp_path / "bad").status != "certified"


def test_fair_trees_that_read_the_protected_column_are_bounded(tmp_path):
    """v ∈ {0, 1} by race, once: the outputs differ by at most 4 = output_scale, and by no less."""
    net = model(trees=1)
    layer = Trees.of(5, [[([5, -1, -1], [0.5, 0.0, 1.0]), ([0, -1, -1], [0.3, 0.7, 0.9])]], sets=[[2, 3]])
    net.encoder.branches[0].layers[0] = layer
    net.encoder.lo.fill_(-9.0)
    net.encoder.hi.fill_(9.0)
    assert certified(net, Fair(["race"], 4.0001).lower(net.domain), tmp_path / "m").status == "certified"
    assert certified(net, Fair(["race"], 3.9999).lower(net.domain), tmp_path / "less").status == "unknown"


def test_equal_trees_in_sums_of_other_sizes_round_otherwise():
    """Only the first tree differs, by 0.1; the sums differ by more, which 2E covers."""
    layer = Trees.of(1, [[([0, -1, -1], [0.0, 0.0, 0.1]), ([-1], [0.7]), ([-1], [0.7])]])
    low, high = layer(torch.tensor([[-1.0], [1.0]], dtype=torch.float64)).ravel().tolist()
    assert F(high) - F(low) > F(0.1)
    moving = [check.Spread(F(-1), F(1), F(0), F(2), True, False)]
    forest = check.grown([int(v) for v in layer.split.tolist()], [int(v * 2**56) for v in layer.number.tolist()])
    described = {"e": 56, "forest": forest, "trees": [3], "sets": [], "bias": [F(0)]}
    (said,) = check.Encoder.trees(None, described, moving)
    assert said.high >= F(high) - F(low) and said.high - F(0.1) < F(2) ** -48
