"""Encoders: what `propagate` says of two inputs is true of the floats in any batch, and claims survive the transfer."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.encoders import Branch, Distance, Encoder, Kinks, Linear, Pinned, Pool, Ramps
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.problem import build
from smilenn.problem.transfer import transfer
from smilenn.properties import Fair, Lipschitz, Monotone, Robust
from smilenn.provers.model import prove
from smilenn.search.oracle import Oracle
from smilenn.verdict import Proved


def space():
    return Domain(
        (
            Feature("income", "continuous", 0.0, 9.0, shift=4.0, mult=0.5),
            Feature("age", "integer", 18.0, 60.0, shift=40.0, mult=0.1),
            Feature("owner", "binary"),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )


def mixed(domain, seed):
    """A branch of every kind."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    ramps = Ramps([0, 0, 1, 2], rng.normal(size=4), rng.uniform(0.5, 3.0, size=4))
    signs = np.array([1.0, 1.0, -1.0, 0.0])
    return Encoder(
        domain,
        [
            Branch("", range(2)),
            Branch("shape", [0, 1, 2], [ramps, Linear(4, 5, signs=signs), Kinks(5, 3), Linear(5, 2, base=4)]),
            Branch("far", range(6), [Distance(6, 4), Distance(4, 2)]),
            Branch("rest", [2, 3, 4, 5], [Pinned(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), 2)]),
            Branch("free", range(6), [Linear(6, 3), Kinks(3, 0)]),
        ],
    )


CLAIMS = {
    "monotone": Monotone(increasing=["income"], decreasing=["age"]),
    "fair": Fair(["race"], 0.5),
    "robust": Robust(0.1, 0.3),
}


def pairs(claim, domain, count, rng):
    """Pairs of raw inputs [count, 2, m] that satisfy the premise, neighbours in floats among them."""
    from smilenn.problem.region import Region
    from smilenn.properties.premise import ground

    premise = ground(claim, domain)
    region = Region.of(premise)
    u = Oracle(region).sample(count, rng)
    near = (u[:, :1] + u[:, 1:]) / 2 + 1e-7 * (u - u.mean(axis=1, keepdims=True))
    x = domain.unscale(region.snap(np.concatenate([u, near])))
    return np.where(premise.pinned, x[:, :1], x), premise


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("seed", range(3))
def test_spreads_hold_for_the_floats_in_any_batch(name, seed):
    domain, rng = space(), np.random.default_rng(seed)
    encoder = mixed(domain, seed).eval()
    (claim,) = CLAIMS[name].lower(domain)[:1]
    x, premise = pairs(claim, domain, 200, rng)
    net = SmileNet(domain, MLP(6, (2,), 1), 1, encoder=encoder, auxiliaries="affine")
    from smilenn.problem.transfer import start

    spread = encoder.propagate(start(premise))
    with torch.no_grad():
        one, two = (net.encode(net.scale(torch.tensor(x[:, c]))).numpy() for c in (0, 1))
        alone = np.concatenate([net.encode(net.scale(torch.tensor(row[None]))).numpy() for row in x[:40, 1]])
    assert (alone == two[:40]).all()  # the same bits alone and among others
    d = one - two
    assert ((spread.lo <= one) & (one <= spread.hi)).all() and ((spread.lo <= two) & (two <= spread.hi)).all()
    assert ((spread.low - 1e-15 <= d) & (d <= spread.high + 1e-15)).all()
    assert (d[:, spread.rises] >= 0).all() and (d[:, spread.falls] <= 0).all()
    assert spread.same[1] == (name != "monotone") and spread.rises.any() and not spread.rises.all()


def test_distance_layers_are_what_they_say_and_their_gradients_too():
    torch.manual_seed(0)
    layer, y = Distance(7, 3), torch.randn(5, 7, dtype=torch.float64)
    layer.eval()
    want = (y[:, None, :] - layer.weight).abs().amax(dim=2) + layer.bias
    assert torch.equal(layer(y), want)
    layer.train()
    for p in (4.0, 8.0, 98.0, math.inf):  # powers that squarings reach
        layer.p = p
        norm = layer(y)
        exact = torch.linalg.vector_norm((y[:, None, :] - layer.weight).double(), ord=p, dim=2)
        assert torch.allclose(norm, exact - exact.mean(dim=0) + layer.bias)
    layer.p = 8.0
    x = y.clone().requires_grad_(True)

    def centred(x, weight):
        norm = torch.linalg.vector_norm(x[:, None, :] - weight, ord=8.0, dim=2)
        return ((norm - norm.mean(dim=0)) ** 3).sum()

    (layer(x) ** 3).sum().backward()
    z, weight = y.clone().requires_grad_(True), layer.weight.detach().clone().requires_grad_(True)
    centred(z, weight).backward()
    assert torch.allclose(x.grad, z.grad) and torch.allclose(layer.weight.grad, weight.grad)


def test_a_settled_layer_keeps_its_values():
    torch.manual_seed(1)
    layer, y = Distance(4, 3), torch.randn(50, 4, dtype=torch.float64)
    for _ in range(30):
        layer(y)
    layer.eval()
    before = layer(y)
    layer.settle_()
    assert torch.allclose(layer(y), before) and layer.mean is None
    assert abs(before.mean().item()) < 0.3


def test_blocks_of_memory_change_nothing(monkeypatch):
    from smilenn.model.encoders import distance

    torch.manual_seed(2)
    layer, y = Distance(6, 9), torch.randn(8, 6, dtype=torch.float64)
    layer.p = 4.0
    whole = layer(y)
    (grad,) = torch.autograd.grad(whole.pow(2).sum(), layer.weight)
    monkeypatch.setattr(distance, "BUDGET", 100)
    parts = layer(y)
    (again,) = torch.autograd.grad(parts.pow(2).sum(), layer.weight)
    assert torch.equal(parts, whole) and torch.allclose(grad, again)


def test_pooling_means_blocks():
    y = torch.arange(16, dtype=torch.float64)[None]
    assert Pool(4, 2)(y).tolist() == [[2.5, 4.5, 10.5, 12.5]]
    with pytest.raises(SmileError, match="do not divide"):
        Pool(5, 2)


@pytest.mark.parametrize("module", [nn.BatchNorm1d(3), nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.1))])
def test_modules_that_depend_on_the_batch_or_on_chance_are_refused(module):
    with pytest.raises(SmileError, match="depends on the batch or on chance"):
        Pinned(module, 3)


def test_an_encoder_that_reads_what_the_claim_moves_gives_nothing_for_free():
    """A pinned module over `income` under a claim in which income moves: any two values, so nothing is proved."""
    domain = space()
    encoder = Encoder(domain, [Branch("rest", range(6), [Pinned(nn.Linear(6, 1), 1)])])
    (claim,) = CLAIMS["monotone"].lower(domain)
    net = SmileNet(domain, MLP(6, (2,), 1), 1, encoder=encoder, auxiliaries="affine")
    problem = build(claim, net.snapshot())
    assert not problem.region.pinned.any() and not problem.region.strips.any()


def test_conclusions_about_inputs_need_them_passed_on():
    domain = space()
    (claim, *_) = Lipschitz(["income"], 2.0).lower(domain)
    encoder = Encoder(domain, [Branch("core", range(6), [Linear(6, 1)])])
    net = SmileNet(domain, MLP(6, (2,), 1), 1, encoder=encoder, auxiliaries="affine")
    with pytest.raises(SmileError, match="compares an output with the column .* itself, which the encoder replaces"):
        build(claim, net.snapshot())


def test_rows_over_passed_features_stay():
    domain = space()
    encoder = mixed(domain, 0)
    (claim,) = CLAIMS["robust"].lower(domain)[:1]
    from smilenn.properties.premise import ground

    found = transfer(claim, ground(claim, domain), encoder.freeze(), encoder.space)
    names = {term.name for row in found.when for term in row.terms}
    assert {"income", "age", "far.0", "far.1"} <= names and "owner" not in names


def fitted(encoder, domain, slopes):
    net = SmileNet(domain, MLP(domain.size, (4,), 1), 1, encoder=encoder, auxiliaries="affine", output_scale=4.0)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.copy_(torch.tensor([slopes]))
        net.head_weight.fill_(1.0)
    return net.eval()


@pytest.mark.parametrize("members", [1, 3])
def test_a_monotone_encoder_is_proved_by_its_signs(members):
    domain, rng = space(), np.random.default_rng(0)
    u = domain.scale(domain.sample(300, rng))
    torch.manual_seed(0)
    encoder = monotone_encoder(domain, u, increasing=["income"], decreasing=["age"], units=(6, 4), members=members)
    net = fitted(encoder, domain, [1.0 / members] * members)
    encoder.fit_box_(torch.tensor(u))
    claims = CLAIMS["monotone"].lower(domain)
    assert isinstance(prove(net, claims), Proved)
    x, _ = pairs(claims[0], domain, 2000, rng)
    low, high = net.predict(x[:, 0]), net.predict(x[:, 1], batch=7)
    assert ((high >= low) | (x[:, 0] == x[:, 1]).all(axis=1, keepdims=True)).all() or (high <= low).all()
    turned = fitted(encoder, domain, [-1.0 / members] * members)
    assert not isinstance(prove(turned, claims), Proved)


def test_a_protected_column_that_the_encoder_leaves_out_is_worth_the_whole_gap():
    domain = space()
    encoder = monotone_encoder(domain, np.zeros((0, 6)), without=["race"], units=(4,))
    net = fitted(encoder, domain, [1.0])
    assert isinstance(prove(net, Fair(["race"], 0.0).lower(domain)), Proved)
    with torch.no_grad():
        net.gap.const.fill_(0.1)
    width = 0.1 * 4.0
    assert isinstance(prove(net, Fair(["race"], width * 1.0001).lower(domain)), Proved)
    assert not isinstance(prove(net, Fair(["race"], width * 0.999).lower(domain)), Proved)


def test_a_distance_net_is_proved_robust_whatever_its_weights():
    domain = Domain.box([0.0] * 9, [1.0] * 9)
    for seed in range(3):
        torch.manual_seed(seed)
        encoder = Encoder(domain, [Branch("far", range(9), [Distance(9, 8), Distance(8, 2)])])
        net = fitted(encoder, domain, [1.0, -1.0])
        scale = 4.0
        assert isinstance(prove(net, Robust(0.05, 2 * 0.05 * scale * 1.0001).lower(domain)), Proved)
        assert not isinstance(prove(net, Robust(0.05, 0.05 * scale).lower(domain)), Proved)


def test_encoders_travel(tmp_path):
    domain = space()
    net = SmileNet(
        domain,
        MLP(6, (2,), 1),
        1,
        encoder=monotone_encoder(
            domain, domain.scale(domain.sample(50, np.random.default_rng(0))), increasing=["age"], units=(3,)
        ),
        auxiliaries="affine",
    )
    net.encoder.fit_box_(torch.tensor(domain.scale(domain.sample(50, np.random.default_rng(1)))))
    save_net(tmp_path / "model", net)
    loaded, _ = load_net(tmp_path / "model")
    x = domain.sample(40, np.random.default_rng(2))
    assert (loaded.predict(x) == net.predict(x)).all()
    assert loaded.space == net.space and loaded.snapshot().digest == net.snapshot().digest


def test_boxes_hold_the_data_and_cut_the_rest():
    domain = space()
    encoder = mixed(domain, 1)
    u = torch.tensor(domain.scale(domain.sample(100, np.random.default_rng(0))))
    free = encoder.eval()(u)
    encoder.fit_box_(u, room=0.0)
    assert (encoder(u) == free).all()
    wild = torch.tensor(domain.scale(domain.sample(500, np.random.default_rng(1)))) * 3
    e = encoder(wild)[:, 2:]
    assert (e >= encoder.lo[2:]).all() and (e <= encoder.hi[2:]).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"increasing": ["race"]}, "not a number"),
        ({"increasing": ["nobody"]}, "not a number"),
        ({"increasing": ["age"], "decreasing": ["age"]}, "cannot be two"),
        ({"without": ["income", "age", "owner", "race"]}, "No feature is left"),
    ],
)
def test_bad_monotone_encoders_say_what_to_do(options, says):
    with pytest.raises(SmileError, match=says):
        monotone_encoder(space(), np.zeros((0, 6)), **options)


def test_bad_branches_say_what_to_do():
    domain = space()
    for branches, says in (
        ([], "at least one branch"),
        ([Branch("age", [0], [Linear(1, 1)])], "names of their own"),
        ([Branch("core", [9], [Linear(1, 1)])], "does not have"),
        ([Branch("", [3])], "whole features"),
    ):
        with pytest.raises(SmileError, match=says):
            Encoder(domain, branches)
    with pytest.raises(SmileError, match="needs a name"):
        Branch("", [0], [Linear(1, 1)])


def test_minus_zero_is_zero_to_a_pinned_module():
    class Inverse(nn.Module):
        def forward(self, y):
            return 1.0 / y

    domain = Domain.box([-1.0], [1.0])
    encoder = Encoder(domain, [Branch("core", [0], [Pinned(Inverse(), 1)])]).eval()
    e = encoder(torch.tensor([[0.0], [-0.0]], dtype=torch.float64))
    assert e[0].item() == e[1].item()


@pytest.mark.parametrize("who", ["caller", "module", "backbone"])
def test_no_pinned_module_where_subnormal_numbers_are_zero(who):
    """u = 2^-1060 is a number, or zero where they are flushed: 1/u tells them apart, and so would the two copies."""

    class Switches(nn.Module):
        def __init__(self, on: bool) -> None:
            super().__init__()
            self.on = on

        def forward(self, y):
            if self.on:
                torch.set_flush_denormal(True)
            return (y != 0).to(y.dtype)

    domain = Domain.box([-(2.0**-1040)], [2.0**-1040])
    encoder = Encoder(domain, [Branch("core", [0], [Pinned(Switches(who == "module"), 1)])])
    net = fitted(encoder, domain, [1.0])
    net.backbone = Switches(who == "backbone")
    x = np.array([[2.0**-1060]])
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers to zero")
    torch.set_flush_denormal(who == "caller")
    try:
        with pytest.raises(SmileError, match="set_flush_denormal"):
            for _ in range(2):  # what a backbone switches on is there in the next call
                net.predict(x)
    finally:
        torch.set_flush_denormal(False)


def test_a_loaded_network_is_ready_to_predict(tmp_path):
    """A forward pass in training mode would move the running mean of a distance layer."""
    domain = Domain.box([0.0] * 3, [1.0] * 3)
    encoder = Encoder(domain, [Branch("far", range(3), [Distance(3, 2)])])
    save_net(tmp_path / "model", fitted(encoder, domain, [1.0, -1.0]))
    loaded, _ = load_net(tmp_path / "model")
    x = domain.sample(5, np.random.default_rng(0))
    before = loaded.predict(x)
    with torch.no_grad():
        loaded(torch.tensor(x))
    assert not loaded.training and (loaded.predict(x) == before).all()


def test_a_long_tail_does_not_take_the_knots_of_the_bulk_away():
    """Nine rows of ten lie below 10 of 6,000 days: they have ramps of their own."""
    rng = np.random.default_rng(0)
    days = np.concatenate([rng.uniform(0, 10, 900), rng.uniform(10, 6000, 100)])
    domain = Domain.box([0.0], [6000.0], names=["days"])
    (branch,) = monotone_encoder(domain, domain.scale(days[:, None]), increasing=["days"], ramps=10).branches
    starts = domain.unscale(branch.layers[0].start.numpy()[:, None])
    assert (starts < 10).sum() >= 8
