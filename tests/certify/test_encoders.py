"""Encoded networks: certified by the checker from layers and weights, and attacked through the saved model."""

import numpy as np
import pytest
import torch
from torch import nn

from smilenn.certify.certify import certify
from smilenn.certify.check import check_folder
from smilenn.domain import Domain, Feature
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.encoders import Branch, Distance, Encoder, Pinned, Pool
from smilenn.model.encoders.monotone import monotone_encoder
from smilenn.model.net import SmileNet
from smilenn.properties import Fair, Monotone, Robust
from smilenn.train.deploy import deploy


def table():
    return Domain(
        (
            Feature("income", "continuous", 0.0, 9.0, shift=4.1, mult=0.47),
            Feature("age", "integer", 18.0, 60.0, shift=40.3, mult=0.11),
            Feature("owner", "binary"),
            Feature("race", "category", categories=("a", "b", "c")),
        )
    )


def built(encoder, domain, slopes, *, gap=0.0, auxiliaries="affine"):
    net = SmileNet(domain, MLP(domain.size, (4,), 1), 1, encoder=encoder, auxiliaries=auxiliaries, output_scale=4.0)
    net.gap.scale_(0.0)
    with torch.no_grad():
        net.lower.slope.copy_(torch.tensor([slopes]))
        net.gap.const.fill_(gap)
        net.head_weight.fill_(1.0)
    return net.eval()


def certified(net, claims, folder):
    found = certify(net, claims, time_limit=20)
    save_net(folder, net, extra=found.files, overwrite=True)
    again = check_folder(folder)
    assert again.status == found.report.status
    return again


def test_a_monotone_ensemble_is_certified_at_zero_bit_for_bit(tmp_path):
    domain, rng = table(), np.random.default_rng(0)
    u = domain.scale(domain.sample(300, rng))
    torch.manual_seed(0)
    encoder = monotone_encoder(domain, u, increasing=["income"], decreasing=["age"], units=(6, 4), members=2, ramps=4)
    encoder.fit_box_(torch.tensor(u))
    net = built(encoder, domain, [0.5, 0.5])
    claims = Monotone(increasing=["income"], decreasing=["age"]).lower(domain)
    assert "fixed order" in deploy(net, claims)
    report = certified(net, claims, tmp_path / "model")
    (row,) = report.claims[0].rows
    assert report.status == "certified" and (row.rule, row.bound, row.margin) == ("order", 0, 0)
    loaded, _ = load_net(tmp_path / "model")
    low = domain.sample(3000, rng)
    high = low.copy()
    high[:, 0] = np.where(rng.random(3000) < 0.5, np.nextafter(low[:, 0], 9.0), rng.uniform(low[:, 0], 9.0))
    high[:, 1] = np.maximum(18.0, low[:, 1] - rng.integers(0, 4, size=3000))
    for batch, rows in ((4096, 3000), (7, 1000), (1, 200)):
        assert (loaded.predict(high[:rows], batch=batch) >= loaded.predict(low[:rows], batch=batch)).all()


def test_the_same_weights_turned_round_are_not(tmp_path):
    domain = table()
    torch.manual_seed(0)
    encoder = monotone_encoder(domain, np.zeros((0, 6)), increasing=["income"], units=(4,), ramps=3)
    net = built(encoder, domain, [1.0])
    claims = Monotone(increasing=["income"]).lower(domain)
    deploy(net, claims)
    assert certified(net, claims, tmp_path / "good").status == "certified"
    with torch.no_grad():
        encoder.branches[0].layers[1].weight[0, 0] = -0.5
    assert certified(net, claims, tmp_path / "bad").status != "certified"


@pytest.mark.parametrize("pool", [False, True])
def test_a_distance_net_is_certified_for_any_weights(tmp_path, pool):
    domain = Domain.box([0.0] * 16, [1.0] * 16)
    torch.manual_seed(1)
    layers = [Pool(4, 2), Distance(4, 6), Distance(6, 2)] if pool else [Distance(16, 6), Distance(6, 2)]
    encoder = Encoder(domain, [Branch("far", range(16), layers)])
    net = built(encoder, domain, [1.0, -1.0])
    delta, scale = 0.05, 4.0
    report = certified(net, Robust(delta, 2 * delta * scale * 1.001).lower(domain), tmp_path / "model")
    assert report.status == "certified"
    assert certified(net, Robust(delta, 2 * delta * scale * 0.98).lower(domain), tmp_path / "less").status == "unknown"
    loaded, _ = load_net(tmp_path / "model")
    rng = np.random.default_rng(2)
    x = domain.sample(5000, rng)
    y = np.clip(x + delta * np.sign(rng.normal(size=x.shape)), np.maximum(0, x - delta), np.minimum(1, x + delta))
    y = np.where(np.abs(y - x) <= delta, y, x)
    assert np.abs(loaded.predict(x) - loaded.predict(y, batch=7)).max() <= 2 * delta * scale * 1.001


def test_a_pinned_module_leaves_the_whole_width_to_the_backbone(tmp_path):
    domain = table()
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 1))
    encoder = Encoder(domain, [Branch("core", [0, 1, 2], [Pinned(module, 1)])])
    encoder.fit_box_(torch.tensor(domain.scale(domain.sample(200, np.random.default_rng(0)))))
    net = built(encoder, domain, [1.0], gap=0.1)
    width = 0.1 * 4.0
    report = certified(net, Fair(["race"], width * 1.001).lower(domain), tmp_path / "model")
    assert report.status == "certified"
    assert certified(net, Fair(["owner"], width * 1.001).lower(domain), tmp_path / "other").status == "unknown"
    assert certified(net, Fair(["race"], width * 0.99).lower(domain), tmp_path / "less").status == "unknown"


def test_features_that_pass_stay_what_they_are(tmp_path):
    """income passes with a slope of its own; the encoded rest is pinned, so a Lipschitz bound in income holds."""
    from smilenn.properties import Lipschitz

    domain = table()
    encoder = monotone_encoder(domain, np.zeros((0, 6)), without=["income"], units=(4,), ramps=3)
    both = Encoder(domain, [Branch("", [0]), *encoder.branches])
    both.fit_box_(torch.tensor(domain.scale(domain.sample(200, np.random.default_rng(0)))))
    net = built(both, domain, [0.3, 1.0])
    slope = 0.3 * 0.47 * 4.0
    assert certified(net, Lipschitz(["income"], slope * 1.001).lower(domain), tmp_path / "model").status == "certified"
    assert certified(net, Lipschitz(["income"], slope * 0.99).lower(domain), tmp_path / "less").status == "unknown"
    relu = SmileNet(domain, MLP(6, (2,), 1), 1, encoder=both, hidden=5, output_scale=4.0)
    relu.gap.scale_(0.0)
    found = certified(relu.eval(), Lipschitz(["income"], 50.0).lower(domain), tmp_path / "relu")
    assert found.status == "certified"


def test_both_checkers_refuse_ranges_of_too_many_bits(tmp_path):
    from smilenn.certify.reference.check import check_folder as check_reference
    from smilenn.model.encoders import Linear

    domain = Domain.box([0.0], [1.0])
    layers = [Linear(1, 1) for _ in range(12)]
    with torch.no_grad():
        for layer in layers:
            layer.weight.fill_(1e-300)
            layer.bias.fill_(1e-300)
    net = built(Encoder(domain, [Branch("deep", [0], layers)]), domain, [1.0])
    found = certify(net, Monotone(increasing=["x0"]).lower(domain), time_limit=5)
    save_net(tmp_path / "model", net, extra=found.files)
    for check in (check_folder, check_reference):
        report = check(tmp_path / "model")
        assert report.status == "refused" and "bits" in report.reason
