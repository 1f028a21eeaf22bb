"""Contractions, balls and the ball rule before both checkers: they say the same, and no pair contradicts them."""

import math
import random
from collections import Counter
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from smilenn.certify import check
from smilenn.certify.network import certify_net, open_net
from smilenn.certify.reference import check as check_reference
from smilenn.certify.reference import contract as exact_contract
from smilenn.certify.reference import reader
from smilenn.certify.reference.strict import Refused
from smilenn.domain import Domain, Feature
from smilenn.errors import AlteredError
from smilenn.model.encoders import Branch, Contract, Encoder, Ramps
from smilenn.properties import Robust
from smilenn.train.averaged import averaged
from smilenn.verdict import Proved, Unknown

LOADED = SimpleNamespace(check=check, check_reference=check_reference, reader=reader, exact_contract=exact_contract)


def test_no_pair_contradicts_the_checkers(balled, no_pair_contradicts):
    seen = no_pair_contradicts(LOADED, map(balled.Balled, range(10_000, 10_150)), balled.points)
    assert seen["certified", False] > 20 and seen["unknown", True] > 20 and seen["refused", False] > 6
    assert not seen["certified", True]


@pytest.mark.slow
def test_no_pair_contradicts_the_checkers_of_many(balled, no_pair_contradicts):
    seen = no_pair_contradicts(LOADED, map(balled.Balled, range(20_000, 30_000)), balled.points, 30)
    assert sum(seen.values()) == 10_000 and seen["certified", False] > 1500 and not seen["certified", True]


def test_the_bound_is_reached_along_the_right_direction(balled, small):
    """A contraction that is inactive is the identity: 5·1/2 is what a pair in the direction (3, 4) changes."""
    made = balled.handmade(bias=([1], [-9.0]))
    for fast in (True, False):
        ((_, _, rows),) = small.answers(LOADED, [made], fast)
        assert F(5, 2) <= rows[0][1] <= F(5, 2) + F(1, 10**12)


def test_malformed_folders_are_refused_alike(balled, small):
    given = balled.malformed()
    fast, slow = (small.answers(LOADED, given, which) for which in (True, False))
    assert [(said[0], said[2]) for said in fast] == [(said[0], said[2]) for said in slow]
    seen = Counter(said[0] for said in fast)
    assert seen["refused"] > 45 and seen["certified"] >= 10 and seen["unknown"] >= 2


def test_limits_and_roots_are_alike(balled):
    fast, slow = (balled.numbers(LOADED, fast=which) for which in (True, False))
    assert fast == slow
    fast, slow = (balled.limits(LOADED, fast=which) for which in (True, False))
    assert [said if isinstance(said, int) else said[0] for said in fast] == [
        said if isinstance(said, int) else said[0] for said in slow
    ]


@pytest.mark.parametrize("units", [1, 5, exact_contract.AT_ONCE, 2 * exact_contract.AT_ONCE + 3])
def test_the_reference_multiplies_columns_exactly(units):
    """Products of whole numbers as large as weights may be, for more units than are taken at once."""
    rng = random.Random(units)
    rows = [[rng.choice((-1, 1)) * rng.getrandbits(rng.choice((1, 59))) for _ in range(units)] for _ in range(3)]
    want = [[sum(row[j] * row[k] for row in rows) for k in range(units)] for j in range(units)]
    assert exact_contract._products(rows) == want


def test_the_grid_and_its_ends():
    finest, most = F(1, 2**40), 2**20
    rows, unit = exact_contract._whole([[finest, F(0)], [most - finest, F(-3, 2)]], most)
    assert (rows, unit) == ([[1, 0], [2**60 - 1, -3 * 2**39]], 2**40)
    assert exact_contract._whole([[F(3), F(-1, 2)]], most) == ([[6, -1]], 2)
    for wrong in (finest / 2, F(most), F(-most), F(1, 2**1074)):
        with pytest.raises(Refused, match="not on the grid"):
            exact_contract._whole([[F(1), wrong]], most)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [("weight", 0, 0.25), ("gain", 0, 3.5), ("balance", 0, 2.0), ("bias", 0, 9.0), ("bias", 0, -0.25)],
)
def test_a_changed_number_is_noticed_by_its_hash(balled, small, drawn, name, at, value):
    files = drawn.tampered(balled.handmade(), name, at, value)
    for fast in (True, False):
        ((status, reason, _),) = small.answers(LOADED, [files], fast)
        assert status == "refused" and ("differ" in reason or "digest" in reason), reason


@pytest.mark.parametrize(("name", "value"), [("weight", 0.50390625), ("gain", 4.0000000001)])
def test_a_layer_that_moves_inputs_apart_is_refused_with_every_hash_right(balled, small, drawn, forge2, name, value):
    bad = forge2.rehashed(drawn.tampered(balled.handmade(), name, 0, value))
    for fast in (True, False):
        ((status, reason, _),) = small.answers(LOADED, [bad], fast)
        assert status == "refused" and ("contraction" in reason or "apart" in reason)


# ---- whole models ---------------------------------------------------------------------------------------------------


def network(seed=0, m=5, units=7, blocks=3, outputs=3):
    """A random network of contractions over columns of different scales, each measured in units of its own δ."""
    torch.manual_seed(seed)
    widths = [1.0, 10.0, 0.5, 3.0, 2.0][:m]
    domain = Domain(tuple(Feature(f"x{i}", "continuous", -1.0, w, shift=0.3, mult=1 / w) for i, w in enumerate(widths)))
    reach = np.array(widths) / 4
    rate = 0.5 / (reach * domain.mult)
    layers = [Ramps(list(range(m)), domain.scale(domain.lo), rate / rate.max() / 2)]
    for _ in range(blocks):
        layer = Contract(m, units)
        with torch.no_grad():
            layer.weight.mul_(2)
            layer.bias.uniform_(-0.5, 0.5)
            layer.balance.uniform_(0.5, 2.0)
        layer.settle_()
        layers.append(layer)
    slopes = np.random.default_rng(seed).normal(size=(outputs, m))
    encoder = Encoder(domain, [Branch("near", range(m), layers)])
    names = tuple("abc"[:outputs])
    net = averaged(domain, encoder, 1.0, 0.0, outputs=names, slopes=slopes, sizes=(), width=0.0, backbone=None)
    return net.eval(), {f"x{i}": str(F(w) / 4) for i, w in enumerate(widths)}


def test_a_network_is_certified_and_no_attacked_pair_exceeds_what_was_checked(tmp_path):
    net, delta = network()
    saved = certify_net(net, [Robust(delta, 9, norm=2)], tmp_path / "m")
    assert isinstance(saved.verdict, Proved)
    assert check_reference.check_folder(tmp_path / "m").status == "certified"
    rows = saved.certificate.report.claims[0].rows
    bound = {row.text[:8]: row.bound + row.margin for row in rows}
    loaded = open_net(tmp_path / "m").net
    rng, size = np.random.default_rng(1), np.array([float(F(v)) for v in delta.values()])
    lo, hi = net.domain.lo, net.domain.hi
    most = 0.0
    for count in (1, 3, 64, 1000):
        for _ in range(4):
            a = rng.uniform(lo, hi, (count, len(size)))
            step = rng.normal(size=a.shape)
            step *= (1 - 1e-12) * size / np.linalg.norm(step, axis=1, keepdims=True)
            b = np.clip(a + step, lo, hi)
            with torch.no_grad():
                fa, fb = (loaded(torch.as_tensor(x)).numpy() for x in (a, b))
            for o, name in enumerate("abc"):
                worst = np.abs(fa - fb)[:, o].max()
                assert worst <= float(bound[f'a.out["{name}"]'[:8]]) * (1 + 1e-12)
                most = max(most, worst / float(bound[f'a.out["{name}"]'[:8]]))
    assert most > 0.3  # the bound is not idle


def test_rounding_of_a_contraction_stays_within_its_margin():
    """Float64 against rationals at the same weights: the norm of the difference is at most E."""
    torch.manual_seed(3)
    layer = Contract(4, 6)
    with torch.no_grad():
        layer.bias.uniform_(-0.5, 0.5)
    weight, bias, gain = (
        [list(map(F, row)) for row in v.tolist()] if v.dim() > 1 else list(map(F, v.tolist()))
        for v in (layer.weight.detach(), layer.bias.detach(), layer.gain)
    )
    norms = [check.root(sum((row[j] ** 2 for row in weight), F(0))) for j in range(6)]
    size = check.root(F(4))
    error = check.contraction_error({"norms": norms, "bias": bias, "gain": gain}, 4, size)
    rng = np.random.default_rng(0)
    for y in rng.uniform(-1, 1, (50, 4)):
        got = [F(v) for v in layer.ordered(torch.as_tensor(y)[None]).detach()[0].tolist()]
        exact = list(map(F, y.tolist()))
        z = [max(b + sum(weight[k][j] * exact[k] for k in range(4)), F(0)) * gain[j] for j, b in enumerate(bias)]
        want = [exact[k] - sum(weight[k][j] * z[j] for j in range(6)) for k in range(4)]
        assert sum((a - b) ** 2 for a, b in zip(got, want, strict=True)) <= error**2
    assert 0 < error < F(1, 10**12)


def test_rows_get_the_same_bits_in_every_batch():
    net, _ = network(2)
    x = torch.as_tensor(np.random.default_rng(0).uniform(net.domain.lo, net.domain.hi, (300, 5)))
    with torch.no_grad():
        whole = net(x)
        assert all(torch.equal(net(x[at : at + 7]), whole[at : at + 7]) for at in range(0, 300, 7))


def test_an_edited_weight_ends_the_verdict(tmp_path):
    net, delta = network(4)
    saved = certify_net(net, [Robust(delta, 9, norm=2)], tmp_path / "m")
    assert isinstance(saved.verdict, Proved)
    with torch.no_grad():
        net.encoder.branches[0].layers[1].gain[0] *= 1.5
    assert isinstance(saved.verdict, Unknown)
    data = bytearray((tmp_path / "m" / "weights.safetensors").read_bytes())
    data[-3] ^= 1
    (tmp_path / "m" / "weights.safetensors").write_bytes(data)
    with pytest.raises(AlteredError):
        open_net(tmp_path / "m")


def test_a_layer_still_loose_is_not_certified(tmp_path):
    """Training leaves the balance loose; such a layer is not what its file says."""
    net, delta = network(5)
    net.encoder.branches[0].layers[1].loosen_()
    try:
        saved = certify_net(net, [Robust(delta, 9, norm=2)], tmp_path / "m")
    except Exception as error:  # whatever refuses it first
        assert "Smile" in type(error).__name__ or "Altered" in type(error).__name__
    else:
        assert not isinstance(saved.verdict, Proved)


def test_the_error_grows_with_the_inputs():
    norms, zero = [F(1)], [F(0)]
    layer = {"norms": norms, "bias": zero, "gain": [F(2)]}
    errors = [check.contraction_error(layer, 1, F(size)) for size in (1, 2, 4)]
    assert errors[0] < errors[1] < errors[2] < 5 * errors[0]
    assert math.log2(errors[0]) > -53
