"""Two networks of equal widths, bounded unit by unit: no bound is false, and folders that break a rule are refused."""

import json
from fractions import Fraction
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest
import torch
from torch import nn

import smilenn
from smilenn import Domain
from smilenn.auditing.halving import Box, halve, halved_proof
from smilenn.auditing.network import DeepNet
from smilenn.auditing.paired import Twins
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep

MANY, MANY_SLOW = 60, 5_000


def both(folder):
    """The fast checker's report, after the reference has said the same."""
    fast, slow = check_deep.check_folder(folder), deep.check_folder(folder)
    assert fast.status == slow.status, (fast.reason, slow.reason)
    for a, b in zip(fast.rows, slow.rows, strict=True):
        assert (a.found, a.real, a.computed, a.leaves) == (b.found, b.real, b.computed, b.leaves)
    return fast


def one_random_pair(cases, folder, seed):
    rng = np.random.default_rng(seed)
    spread = float(rng.choice([0.5, 1.0, 30.0]))
    net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)], spread=spread)
    entries = cases.shared_rows(rng, net, 1 + seed % 3)
    report = both(cases.write(folder, net, entries, second))
    assert len(report.rows) == len(entries), report.reason
    for (row, x, _), checked in zip(entries, report.rows, strict=True):
        if net.sizes[0] == 1:
            reached = cases.largest(net, row, second)
        else:
            reached = max(cases.value(net, row, point, second) for point in cases.some_points(rng, row, x))
        assert checked.found <= reached <= checked.computed == checked.real, seed


def test_random_proofs_bound_what_two_networks_reach(cases, tmp_path):
    for seed in range(MANY):
        one_random_pair(cases, tmp_path, seed)


@pytest.mark.slow
def test_five_thousand_random_pairs(cases, tmp_path):
    for seed in range(MANY, MANY + MANY_SLOW):
        one_random_pair(cases, tmp_path, seed)


def test_bounds_cover_sums_in_any_order(cases, tmp_path):
    beyond = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        spread = float(rng.choice([1.0, 1e3]))
        net, second = cases.random_twins(rng, cases.SIZES[seed % len(cases.SIZES)], spread=spread)
        row, x = cases.random_row(rng, net)
        point = tuple(tuple(Fraction(float(v)) for v in copy) for copy in x)
        gap = tuple(a - b for a, b in zip(*point, strict=True))
        row = type(row)(row.text, row.names, point, point, gap, gap, row.whole, row.weights)
        (checked,) = both(cases.write(tmp_path, net, [(row, x, bytes([4, 0]))], second)).rows
        for _ in range(12):
            outputs = [cases.computed(one, copy, rng.permutation) for one, copy in zip((net, second), x, strict=True)]
            reached = row.left(outputs)
            beyond += reached > checked.found
            assert reached <= checked.computed, seed
    assert beyond > 50  # otherwise this would show nothing


def test_one_network_twice_has_the_bounds_of_version_1(cases, tmp_path):
    """With stored slopes the two versions say the same; lemmas and own slopes are other ones."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        net = cases.random_net(rng, (1, 2, 1))
        row, x = cases.random_row(rng, net)
        proof = bytes([2, 0, 0, 0]) + (bytes([1]) + stored(cases, rng, net)) * 2
        (one,) = both(cases.write(tmp_path / "one", net, [(row, x, proof)])).rows
        (two,) = both(cases.write(tmp_path / "two", net, [(row, x, proof)], net)).rows
        assert (one.found, one.computed) == (two.found, two.computed)


def stored(cases, rng, net):
    """Slopes for every unit: none are the checker's own."""
    while True:
        slopes = cases.random_slopes(rng, net)
        halves = [half for byte in slopes[1:2] for half in (byte & 15, byte >> 4)]
        if len(net.sizes) == 3 and all(halves[: net.sizes[1]]):
            return slopes


def change(folder, edit):
    content = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    edit(content)
    (folder / "audit.json").write_text(json.dumps(content), encoding="utf-8")


def test_folders_that_break_a_rule_are_refused(cases, tmp_path):
    rng = np.random.default_rng(3)
    net, second = cases.random_twins(rng, (1, 3, 2, 1))

    def folder(name):
        row, x = cases.random_row(np.random.default_rng(1), net)
        return cases.write(tmp_path / name, net, [(row, x, b"\4\0"), (row, x, b"")], second)

    assert both(folder("good")).status == "certified"

    def wider(content):
        content["rows"][1]["hi"] = [["1000"], ["1000"]]

    def unproved(content):
        content["rows"][0]["proof"], content["rows"][1]["proof"] = 0, 2

    edits = {
        "one network": lambda c: c.update(version=1),
        "version 3": lambda c: c.update(version=3),
        "another premise": wider,
        "a first row without a proof": unproved,
        "a longer proof": lambda c: c["rows"][1].update(proof=1),
        "a proof of less than nothing": lambda c: c["rows"][1].update(proof=-1),
    }
    for name, edit in edits.items():
        place = folder(name)
        change(place, edit)
        report = both(place)
        assert report.status == "refused" and report.reason, name
    row, x = cases.random_row(np.random.default_rng(1), net)
    alone = cases.write(tmp_path / "alone", net, [(row, x, b"\4\0"), (row, x, b"")])
    assert both(alone).status == "refused"  # version 1 knows no shared proofs


def perturbed(seed, noise, sizes=(2, 6, 5, 2)):
    torch.manual_seed(seed)
    nets = []
    for _ in range(2):
        layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
        nets.append(nn.Sequential(*layers[:-1]))
    nets[1].load_state_dict(nets[0].state_dict())
    with torch.no_grad():
        for parameter in nets[1].parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    return nets


@pytest.mark.parametrize("seed", range(4))
def test_networks_that_are_close_are_proved_equal(seed, tmp_path):
    f, g = perturbed(seed, 0.003)
    domain = Domain.box([-1, -1], [1, 1])
    at = torch.cartesian_prod(torch.linspace(-1, 1, 41), torch.linspace(-1, 1, 41))
    with torch.no_grad():
        apart = float((f(at) - g(at)).abs().max())
    for eps, status in ((2.5 * apart, "proved"), (0.9 * apart, "violated")):
        folder = tmp_path / status
        found = smilenn.compare(f, g, domain, eps, time_limit=600, decide=True, out=folder)
        assert found.status == status
        report = both(folder)
        assert report.exit_code == found.exit_code
        assert max(float(row.computed) for row in report.rows) >= apart


def test_without_time_the_bounds_hold_all_the_same(tmp_path):
    f, g = perturbed(5, 0.01)
    found = smilenn.compare(f, g, Domain.box([-1, -1], [1, 1]), 0.04, time_limit=0, decide=True, out=tmp_path / "audit")
    assert found.status in ("proved", "unknown")
    at = torch.cartesian_prod(torch.linspace(-1, 1, 41), torch.linspace(-1, 1, 41))
    with torch.no_grad():
        apart = (f(at) - g(at)).numpy()
    most = max(float(row.proved) for row in found.rows)
    assert most >= np.abs(apart).max()


def test_paired_bounds_hold_on_boxes(cases):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        net, second = cases.random_twins(rng, (2, 5, 4, 3, 2), noise=0.05)
        twins = Twins(net, second, np.array([[1.0, 0.0], [-1.0, 2.0]]))
        lo = rng.uniform(-1, 1, (6, 2))
        hi = lo + rng.uniform(0, 1, (6, 2))
        bounds = twins.bounded(lo, hi, None, joint=bool(seed % 2)).bounds
        for _ in range(200):
            u = lo + (hi - lo) * rng.random((6, 2))
            x = net.unscaled(u)
            apart = net(x) - second(x)
            assert (apart[:, 0] <= bounds[:, 0] + 1e-9).all()
            assert (2 * apart[:, 1] - apart[:, 0] <= bounds[:, 1] + 1e-9).all()


def test_halves_cover_the_box(cases):
    rng = np.random.default_rng(0)
    net, second = cases.random_twins(rng, (2, 5, 4, 1), noise=0.3)
    box = Box(np.array([-1.0, 0.0]), np.array([1.0, 3.0]))
    x = rng.uniform(box.lo, box.hi, (4000, 2))
    apart = float((net(x) - second(x)).max())
    found = halve(net, second, np.array([[1.0]]), np.array([apart + 0.3 * abs(apart)]), box, perf_counter() + 60)
    area, ahead, leaves = 0.0, [found.root], 0
    while ahead:
        one = ahead.pop()
        ahead += one.halves
        if not one.halves:
            area, leaves = area + float(np.prod(one.hi - one.lo)), leaves + 1
    assert found.boxes == 2 * leaves - 1 > 1
    assert area == pytest.approx(6.0)
    assert halved_proof(found.root).count(5) >= leaves


def test_boxes_that_are_too_narrow_to_split_are_not_shown(cases):
    net, second = cases.random_twins(np.random.default_rng(0), (2, 5, 4, 1), noise=0.3)
    at = np.array([0.5, 0.25])
    apart = (net(at) - second(at))[None]
    tree = halve(net, second, np.array([[1.0]]), apart[0] - 1e-3, Box(at, at + 2.0**-35), perf_counter() + 60)
    assert not tree.done and tree.boxes == 1


def leaves_of(box):
    ahead = [box]
    while ahead:
        one = ahead.pop()
        ahead += one.halves
        if not one.halves:
            yield one


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_the_checker_finds_the_bounds_of_the_search(cases, tmp_path, seed):
    """To the last digits but few, the networks' own rounding included, which is large here: inputs are in thousands."""
    rng = np.random.default_rng(seed)
    pair = cases.random_twins(rng, (2, 8, 7, 6, 2), noise=0.02)
    parts = [[[part.astype(np.float32) for part in some] for some in (one.weights, one.biases)] for one in pair]
    net, second = (DeepNet(tuple(w), tuple(b), "float32", (("mul", np.full(2, 1024.0)),)) for w, b in parts)
    lo, hi = (Fraction(-1),) * 2, (Fraction(1),) * 2
    none, rows, weights = (Fraction(0),) * 2, [], np.array([[1.0, 0.0], [-1.0, 0.5]])
    for a in weights:
        signed = tuple(tuple(Fraction(s * v) for v in a) for s in (1, -1))
        rows.append(Row("", ("a", "b"), (lo, lo), (hi, hi), none, none, (False,) * 2, signed, None))
    x = rng.uniform(-1, 1, (4000, 2))
    apart = ((net(x) - second(x)) @ weights.T).max(axis=0)
    box = Box(-np.ones(2), np.ones(2))
    tree = halve(net, second, weights, apart + 0.25 * np.abs(apart).max(), box, perf_counter() + 600)
    assert tree.done and tree.boxes > 15
    proof, at = halved_proof(tree.root), np.zeros((2, 2))
    report = both(cases.write(tmp_path, net, [(rows[0], at, proof), (rows[1], at, b"")], second))
    believed = np.max([leaf.bounds for leaf in leaves_of(tree.root)], axis=0)
    assert [float(row.computed) for row in report.rows] == pytest.approx(believed, rel=1e-8)
    assert proof.count(5) > sum(not one.halves for one in leaves_of(tree.root))  # some boxes pass their lemmas on
