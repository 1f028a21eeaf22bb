"""Numeric profiles: one order is one order, dyadic sums do not round, and the profile is asserted where it counts."""

import json
from fractions import Fraction

import numpy as np
import pytest
import torch

from smilenn.domain import Domain, Feature
from smilenn.errors import SmileError
from smilenn.model.backbones import MLP
from smilenn.model.bundle import load_net, save_net
from smilenn.model.net import SmileNet
from smilenn.model.profile import in_order

pytestmark = pytest.mark.usefixtures("long_selftests")


def small_net(seed=0, *, auxiliaries="relu", boxes="gap", scaled=True, inputs=3):
    torch.manual_seed(seed)
    features = [
        Feature(f"x{i}", "continuous", -1.0 - i, 2.0 + i, shift=0.3 * scaled, mult=1.7 if scaled else 1.0)
        for i in range(inputs)
    ]
    return SmileNet(
        Domain(features), MLP(inputs, (4,), 2), 2, auxiliaries=auxiliaries, hidden=5, boxes=boxes, output_scale=3.0
    )


@pytest.mark.parametrize("auxiliaries", ["constant", "affine", "relu"])
@pytest.mark.parametrize("boxes", ["gap", "paper"])
def test_fixed_order_is_the_same_function(auxiliaries, boxes):
    net = small_net(auxiliaries=auxiliaries, boxes=boxes)
    x = net.domain.sample(50, np.random.default_rng(0))
    plain = net.predict(x)
    net.set_profile("fixed-order")
    assert np.abs(net.predict(x) - plain).max() < 1e-12


def test_fixed_order_gives_a_row_the_same_bits_in_every_batch():
    net = small_net(inputs=17)
    net.set_profile("fixed-order")
    net.gap.scale_(0.0)
    x = net.domain.sample(300, np.random.default_rng(1))
    whole = net.predict(x)
    for batch in (1, 7, 64):
        assert (net.predict(x, batch=batch) == whole).all()


def test_in_order_is_the_stated_sum():
    """Against the same sum in Python floats, whose operations are IEEE too."""
    rng = np.random.default_rng(2)
    y, w, b = rng.normal(size=(4, 9)), rng.normal(size=(3, 9)), rng.normal(size=3)
    got = in_order(torch.tensor(b), [(torch.tensor(y), torch.tensor(w))]).numpy()
    for r in range(4):
        for j in range(3):
            total = float(b[j])
            for i in range(9):
                total = total + float(y[r, i]) * float(w[j, i])
            assert got[r, j] == total


@pytest.mark.parametrize(
    ("rows", "inputs", "outputs"), [(1, 150, 32), (40, 150, 32), (700, 20, 32), (3, 9, 1), (0, 4, 2)]
)
def test_in_order_adds_one_column_after_the_other(rows, inputs, outputs):
    """Whatever the number of columns whose products are computed at once; the start and gradients survive."""
    rng = np.random.default_rng(3)
    y, z = (torch.tensor(rng.normal(size=(rows, inputs))) for _ in range(2))
    w, v = (torch.tensor(rng.normal(size=(outputs, inputs)), requires_grad=True) for _ in range(2))
    start = torch.tensor(rng.normal(size=outputs), requires_grad=True)
    total = start.detach()
    for a, b in ((y, w.detach()), (z, v.detach())):
        for i in range(inputs):
            total = total + a[:, i, None] * b[:, i]
    before, got = start.detach().clone(), in_order(start, [(y, w), (z, v)])
    assert torch.equal(got, total) and torch.equal(start, before)
    got.sum().backward()
    assert torch.allclose(v.grad, z.sum(dim=0).expand(outputs, -1)) and torch.equal(
        start.grad, torch.full_like(start, rows)
    )
    assert in_order(start, []) is start


def dyadic_net():
    net = small_net(3)
    net.gap.scale_(0.0)
    with torch.no_grad():
        for tensor, places in (
            (net.lower.weight, 12),
            (net.lower.bias, 20),
            (net.lower.out, 12),
            (net.lower.const, 30),
            (net.head_weight, 4),
            (net.head_bias, 4),
        ):
            tensor.copy_(torch.round(tensor * 2**places) / 2**places)
    net.set_profile("dyadic", 12)
    return net


def test_a_dyadic_network_does_not_round():
    """Outputs equal the real function at the grid point, in rationals."""
    net = dyadic_net()
    x = net.domain.sample(20, np.random.default_rng(4))
    got = net.predict(x)
    s = net.snapshot()
    for row, y in zip(x, got[:, 0], strict=True):
        u = [Fraction(round(Fraction((v - 0.3) * 1.7) * 2**12), 2**12) for v in row]
        hidden = [
            max(Fraction(0), sum(Fraction(float(w)) * v for w, v in zip(line, u, strict=True)) + Fraction(float(b)))
            for line, b in zip(s.hidden_weight, s.hidden_bias, strict=True)
        ]
        z = [
            sum(Fraction(float(v)) * h for v, h in zip(line, hidden, strict=True)) + Fraction(float(c))
            for line, c in zip(s.lower_out, s.lower_const, strict=True)
        ]
        exact = sum(Fraction(float(g)) * v for g, v in zip(s.head_weight[0], z, strict=True))
        assert Fraction(float(y)) == exact + Fraction(float(s.head_bias[0]))


def test_the_grid_keeps_order_and_equality():
    net = dyadic_net()
    x = np.sort(np.random.default_rng(5).uniform(-3, 4, size=(4000, 1)), axis=0).repeat(3, axis=1)
    x = np.vstack([x, np.nextafter(x[:1000], 9.0)])
    x = x[np.argsort(x[:, 0], kind="stable")]
    u = net.scale(torch.tensor(x)).numpy()
    assert (np.diff(u, axis=0) >= 0).all()
    assert (u * 2**12 == np.rint(u * 2**12)).all()


def test_profiles_and_grids_go_together():
    net = small_net()
    for profile, grid in (("dyadic", 0), ("dyadic", 53), ("f64-aux", 3), ("fixed-order", 1), ("float32", 0)):
        with pytest.raises(SmileError, match=r"[Pp]rofile"):
            net.set_profile(profile, grid)
    assert net.profile == "f64-aux"


def test_a_cast_of_the_certified_part_is_an_error_and_one_of_the_backbone_is_not():
    net = small_net()
    x = torch.zeros(2, 3)
    net.backbone.half().float().double()
    net(x)
    net.lower.float()
    with pytest.raises(SmileError, match="cast the backbone alone"):
        net(x)


def test_autocast_does_not_reach_the_certified_part():
    net = small_net()
    x = net.domain.sample(64, np.random.default_rng(6))
    net.gap.scale_(0.0)
    plain = net.predict(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (net.predict(x) == plain).all()


def test_the_self_test_travels_and_is_replayed(tmp_path):
    for profile, grid in (("f64-aux", 0), ("fixed-order", 0), ("dyadic", 12)):
        net = dyadic_net()
        net.set_profile(profile, grid)
        save_net(tmp_path / profile, net)
        loaded, documents = load_net(tmp_path / profile)
        assert (loaded.profile, loaded.grid) == (profile, grid)
        assert len(documents["selftest.json"]["inputs"]) == 16


@pytest.mark.parametrize("profile", ["f64-aux", "fixed-order"])
def test_a_machine_that_computes_otherwise_is_refused(tmp_path, monkeypatch, profile):
    net = small_net()
    net.set_profile(profile)
    save_net(tmp_path / "model", net)
    load_net(tmp_path / "model")
    off = 1e-6 if profile == "f64-aux" else 1e-16
    head = SmileNet.head
    monkeypatch.setattr(SmileNet, "head", lambda self, z: head(self, z) * (1 + off) + off)
    with pytest.raises(SmileError, match="computes other outputs"):
        load_net(tmp_path / "model")


def test_an_order_that_depends_on_the_batch_is_noticed(tmp_path, monkeypatch):
    net = small_net()
    net.set_profile("fixed-order")
    save_net(tmp_path / "model", net)
    head = SmileNet.head
    monkeypatch.setattr(SmileNet, "head", lambda self, z: head(self, z) * (1 + 2**-52 * (len(z) == 1)))
    with pytest.raises(SmileError, match="computes other outputs"):
        load_net(tmp_path / "model")


def test_a_foreign_self_test_is_refused(tmp_path):
    from smilenn.model.folder import read_folder, write_folder

    save_net(tmp_path / "model", small_net())
    files = dict(read_folder(tmp_path / "model"))
    content = json.loads(files["selftest.json"])
    for change in ({"inputs": []}, {"profile": "dyadic"}, {"lower": [[0.0]]}, {"upper": "x"}):
        files["selftest.json"] = json.dumps({**content, **change}).encode()
        write_folder(tmp_path / "model", files, overwrite=True)
        with pytest.raises(SmileError, match="self-test"):
            load_net(tmp_path / "model")


def test_an_edited_scaler_is_noticed():
    """It is not a weight, but a network with another scaler is another function."""
    net = small_net()
    net.snapshot()
    net.mult[0] = -1.0
    with pytest.raises(SmileError, match="scaler was edited"):
        net.snapshot()
