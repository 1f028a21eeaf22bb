"""ε = 0 bit for bit: profiles chosen by `deploy`, certified by both checkers, attacked through the saved model."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.certify.reference.check import check_folder as check_reference
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.net import SmileNet
from smilenn.properties import Fair, Lipschitz, Monotone, Robust
from smilenn.train.config import Config
from smilenn.train.deploy import deploy
from smilenn.train.fit import fit
from smilenn.train.repair import repair

RISING, FALLING = 0, 1


def domain(inputs):
    """Scaled floats, a whole number with a scale, a binary and a category."""
    rng = np.random.default_rng(inputs)
    features = [
        Feature(f"x{i}", "continuous", float(lo), float(lo + 3), shift=float(lo + 1), mult=float(mult))
        for i, (lo, mult) in enumerate(zip(rng.normal(size=inputs), rng.uniform(0.3, 3, size=inputs), strict=True))
    ]
    age = Feature("age", "integer", 18.0, 90.0, shift=41.3, mult=0.07)
    return Domain(
        [
            *features,
            age,
            Feature("owner", "binary", 0.0, 1.0),
            Feature("place", "category", 0.0, 1.0, categories=("a", "b", "c")),
        ]
    )


def random_net(inputs=3, hidden=8, seed=0, scale=5.0, outputs=("",)):
    torch.manual_seed(seed)
    space = domain(inputs)
    net = SmileNet(space, MLP(space.size, (4,), 2), 2, hidden=hidden, output_scale=scale, outputs=outputs)
    net.centre_(torch.tensor(space.sample(64, np.random.default_rng(seed))))
    net.gap.scale_(0.0)
    return net


def signed_net(inputs, hidden, seed=0):
    """Rising in x0, x1, … and age, falling in nothing, free in the rest."""
    net = random_net(inputs, hidden, seed)
    with torch.no_grad():
        sign = torch.sign(net.head_weight[0] @ net.lower.out)
        net.lower.out.copy_(net.lower.out.abs() * sign * torch.sign(net.head_weight[0])[:, None])
        net.lower.weight[:, : inputs + 1] = net.lower.weight[:, : inputs + 1].abs() * sign[:, None]
    return net


def rising(net, inputs):
    return Monotone(increasing=[f"x{i}" for i in range(inputs)] + ["age"]).lower(net.domain)


def pairs(net, count, rng, moving):
    """Ordered pairs of raw inputs [count, m] each: far, near, adjacent floats, and one coordinate at a time."""
    low = net.domain.sample(count, rng)
    high = low.copy()
    kind = rng.integers(0, 4, size=count)
    for i in moving:
        whole = net.domain.integral[i]
        far = rng.uniform(low[:, i], net.domain.hi[i])
        near = low[:, i] + 1e-9 * (far - low[:, i])
        value = np.choose(kind, [far, near, np.nextafter(low[:, i], np.inf), far])
        value = np.where((kind == 3) & (rng.integers(0, len(moving), size=count) != 0), low[:, i], value)
        high[:, i] = np.clip(np.rint(value) if whole else value, low[:, i], net.domain.hi[i])
    return low, high


def attack(folder, inputs, count, batches):
    """Bit for bit: the saved and reloaded model never falls on an ordered pair, whatever the batch size."""
    net, _ = load_net(folder)
    rng, moving = np.random.default_rng(7), [*range(inputs), inputs]
    for batch, share in batches:
        low, high = pairs(net, int(count * share), rng, moving)
        one, two = net.predict(low, batch=batch), net.predict(high, batch=batch)
        assert (two >= one).all()
        both, order = np.vstack([low, high]), rng.permutation(2 * len(low))
        moved = net.predict(both[order], batch=batch)  # at other places of other batches: the same bits
        assert (moved == np.vstack([one, two])[order]).all()


def certified(net, claims, folder):
    found = certify(net, claims, time_limit=30)
    save_net(folder, net, extra=found.files)
    fast, slow = check_folder(folder), check_reference(folder)
    assert fast.status == slow.status == found.report.status
    for one, two in zip(fast.claims, slow.claims, strict=True):
        assert [(r.bound, r.margin) for r in one.rows] == [(r.bound, r.margin) for r in two.rows]
    return found


@pytest.mark.parametrize(("inputs", "hidden"), [(4, 8), (20, 64)])
def test_signs_right_by_construction_are_certified_at_zero_in_a_fixed_order(tmp_path, inputs, hidden):
    net = signed_net(inputs, hidden)
    claims = rising(net, inputs)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    assert "fixed order" in deploy(net, claims)
    assert net.profile == "fixed-order"
    assert all((before[name] == tensor).all() for name, tensor in net.state_dict().items())
    found = certified(net, claims, tmp_path / "model")
    (row,) = found.report.claims[0].rows
    assert found.report.status == "certified" and (row.rule, row.bound, row.margin, row.rhs) == ("order", 0, 0, 0)
    attack(tmp_path / "model", inputs, 4096, [(4096, 1.0), (7, 0.2), (1, 0.1)])


def test_without_a_profile_the_same_network_is_certified_by_one_leaf_up_to_its_margin(tmp_path):
    net = signed_net(20, 64)
    found = certified(net, rising(net, 20), tmp_path / "model")
    (row,) = found.report.claims[0].rows
    assert row.rule == "slope" and row.bound == row.rhs == 0 < row.margin <= row.room <= Fraction(1, 10**9)
    assert len(found.files["certificate.bin"]) == 1  # a single leaf


@pytest.mark.parametrize("seed", range(4))
def test_free_signs_are_certified_at_zero_by_dyadic_weights(tmp_path, seed):
    net = random_net(3, 8, seed)
    claims = rising(net, 3)
    x = torch.tensor(net.domain.sample(256, np.random.default_rng(0)))
    assert repair(net, claims, x, Config(generator_limit=10)) is not None
    before = net.predict(x.numpy())
    deploy(net, claims)
    assert net.profile in ("dyadic", "fixed-order")
    assert np.abs(net.predict(x.numpy()) - before).max() < 2e-3 * 5.0
    found = certified(net, claims, tmp_path / "model")
    (row,) = found.report.claims[0].rows
    assert found.report.status == "certified" and row.bound + row.margin == 0 == row.rhs
    attack(tmp_path / "model", 3, 4096, [(4096, 1.0), (7, 0.2), (1, 0.1)])


def test_a_network_that_is_not_monotone_keeps_its_weights_and_its_profile():
    net = random_net(3, 8, 1)
    claims = rising(net, 3)
    before, skip = {name: t.clone() for name, t in net.state_dict().items()}, net.skip
    assert "could not be proved again" in deploy(net, claims)
    after = net.state_dict()
    assert (net.profile, net.grid, net.skip) == ("f64-aux", 0, skip)
    assert set(before) == set(after) and all((before[name] == after[name]).all() for name in before)
    assert certify(net, claims, time_limit=5).report.status != "certified"


def test_a_protected_feature_that_is_forgotten_gives_equal_outputs_bit_for_bit(tmp_path):
    net = random_net(3, 8, 2)
    claims = [*Fair(["owner", "place"], 0.0).lower(net.domain), *rising(net, 3)]
    x = torch.tensor(net.domain.sample(256, np.random.default_rng(0)))
    assert repair(net, claims, x, Config(generator_limit=10)) is not None
    deploy(net, claims)
    found = certified(net, claims, tmp_path / "model")
    assert found.report.status == "certified" and net.profile == "dyadic"
    loaded, _ = load_net(tmp_path / "model")
    one = loaded.domain.sample(2000, np.random.default_rng(3))
    two = one.copy()
    two[:, 4:] = loaded.domain.sample(2000, np.random.default_rng(4))[:, 4:]
    assert (loaded.predict(one, batch=1) == loaded.predict(two, batch=512)).all()


def test_a_constant_network_can_be_made_dyadic_and_saved(tmp_path):
    space = Domain.box([0.0, 0.0], [1.0, 1.0], ["a", "b"])
    net = SmileNet(space, MLP(2, (4,), 2), 2, auxiliaries="constant")
    net.gap.scale_(0.0)
    claims = Fair(["a", "b"], 0.0).lower(space)
    said = deploy(net.eval(), claims)
    assert net.profile == "dyadic", said
    assert certified(net, claims, tmp_path / "model").report.status == "certified"
    loaded, _ = load_net(tmp_path / "model")
    assert (loaded.predict(np.array([[0.1, 0.9]])) == net.predict(np.array([[0.7, 0.2]]))).all()


def test_claims_with_room_go_along_with_a_dyadic_network(tmp_path):
    net = random_net(3, 8, 3)
    claims = [*rising(net, 3), *Robust(0.05, 2.0).lower(net.domain)]
    x = torch.tensor(net.domain.sample(256, np.random.default_rng(0)))
    assert repair(net, claims, x, Config(generator_limit=10)) is not None
    deploy(net, claims)
    found = certified(net, claims, tmp_path / "model")
    assert found.report.status == "certified" and net.profile == "dyadic"
    assert all(row.margin == 0 for claim in found.report.claims for row in claim.rows)


def test_slopes_with_a_bound_stay_with_float64_where_the_margin_is_smaller():
    net = random_net(3, 8, 0)
    claims = Lipschitz(["x0"], 100.0).lower(net.domain)
    deploy(net, claims)
    assert net.profile == "f64-aux"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["signs", "free"])
def test_a_million_pairs(tmp_path, kind):
    """8 inputs × 16 units of free signs, 20 × 64 signed: a million pairs, and ten thousand in batches of 7 and of 1."""
    inputs, hidden = (20, 64) if kind == "signs" else (8, 16)
    net = signed_net(inputs, hidden) if kind == "signs" else random_net(inputs, hidden, 5)
    claims = rising(net, inputs)
    if kind == "free":  # trained on a target that falls in places
        rng = np.random.default_rng(0)
        x = net.domain.sample(800, rng)
        y = 5 * np.tanh(net.domain.scale(x)[:, : inputs + 1]).sum(axis=1) + 3 * np.sin(4 * x[:, 0])
        fit(net, x, y, claims, config=Config(pretrain_epochs=30, epochs=30, posttrain_seconds=5.0))
        assert net.profile == "dyadic"
    else:
        deploy(net, claims)
    found = certified(net, claims, tmp_path / "model")
    (row,) = found.report.claims[0].rows
    assert found.report.status == "certified" and row.rule == ("order" if kind == "signs" else "slope")
    attack(tmp_path / "model", inputs, 1_000_000, [(4096, 1.0), (7, 0.01), (1, 0.01)])


def test_rounded_inputs_of_a_premise_lie_in_the_region_that_is_proved():
    """Equality rows too: x̂ satisfies them only nearly, so a proof may not use them as they are."""
    from smilenn.problem import build
    from smilenn.properties import Custom

    space = Domain(
        (
            Feature("x", "continuous", -1.0, 1.0, shift=0.1, mult=0.7),
            Feature("y", "continuous", -1.0, 1.0, shift=0.3, mult=1.9),
            Feature("n", "integer", 0.0, 9.0, shift=4.1, mult=0.3),
        )
    )
    net = SmileNet(space, MLP(3, (2,), 1), 1, hidden=3)
    net.gap.scale_(0.0)
    net.set_profile("dyadic", 4)
    when = ["a.x == b.y", "a.y == b.x", "a.x + a.y <= 0.5", "a.n >= b.n"]
    (claim,) = Custom(copies=2, when=when, then=["a.out - b.out <= 1"]).lower(space)
    region = build(claim, net.snapshot()).region
    assert not region.equality.any()
    rng = np.random.default_rng(0)
    pairs = np.zeros((2000, 2, 3))
    pairs[:, 0, :2] = rng.uniform(-1, 1, size=(2000, 2))
    pairs[:, 1, :2] = pairs[:, 0, 1::-1]
    pairs[:, :, 2] = np.sort(rng.integers(0, 10, size=(2000, 2)), axis=1)[:, ::-1]
    pairs = pairs[pairs[:, 0, :2].sum(axis=1) <= 0.5]
    u = net.scale(torch.tensor(pairs.reshape(-1, 3))).numpy().reshape(-1, 2, 3)
    assert region.contains(u, 1e-12).all()
    exact = np.abs(u[:, 0, 0] / 0.7 + 0.1 - u[:, 1, 1] / 1.9 - 0.3)
    assert exact.max() > 1e-3  # as an equality the row would exclude them
