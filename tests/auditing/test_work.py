"""The work of a check: both checkers count what docs/audit-certificate.md says, and refuse beyond the limit."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from smilenn.auditing.emit import number, signed
from smilenn.auditing.folder import described
from smilenn.auditing.network import DeepNet
from smilenn.auditing.rows import Row
from smilenn.certify import check_deep
from smilenn.certify.reference import deep, deep_work, share

LEAF, STORED, PHASE, INPUT, LEMMAS, SINGLES = range(6)


@pytest.fixture
def counted(monkeypatch):
    """Both checkers on a folder: what they counted, and how many leaves they bounded."""

    def run(folder):
        seen = []

        class Work(check_deep.Work):
            def __init__(self):
                super().__init__()
                seen.append(self)

        class Budget(deep_work.Budget):
            def __init__(self):
                super().__init__()
                seen.append(self)

        about_labels = (folder / "share.json").exists()
        with monkeypatch.context() as patch:
            patch.setattr(check_deep, "Work", Work)
            patch.setattr(share if about_labels else deep, "Budget", Budget)
            fast = (check_deep.check_share if about_labels else check_deep.check_folder)(folder)
            slow = (share.check_share if about_labels else deep.check_folder)(folder)
        assert fast.status == slow.status, (fast.reason, slow.reason)
        return seen[0].done, seen[1].spent, fast

    return run


def layer(n, below, long=1):
    """§6: ranges of a layer."""
    return 1024 + n * (1024 + 8 * long * below)


def back(n, below, chosen=0, long=1):
    """§6: a layer of *back*."""
    return 1024 + n * (64 + 2 * long * below) + 2048 * chosen


def at_the_limit(monkeypatch, folder, work):
    """Both checkers accept a folder with so much work and refuse it with one unit less."""
    for most, good in ((work, True), (work - 1, False)):
        monkeypatch.setattr(check_deep, "WORK", most)
        monkeypatch.setattr(deep_work, "MOST_WORK", most)
        for report in (check_deep.check_folder(folder), deep.check_folder(folder)):
            assert (report.status == "certified") is good, report.reason
            assert good or "too much work" in report.reason


def net_of(*weights, dtype="float32"):
    """Without biases."""
    parts = [np.array(w, dtype=dtype) for w in weights]
    return DeepNet(tuple(parts), tuple(np.zeros(len(w), dtype=dtype) for w in parts), dtype)


def row_of(m, outputs=1):
    """x_1 and x_2 in [−1, 1], free; f(x_1) − f(x_2)."""
    one, none = (Fraction(1),) * m, np.zeros((2, m))
    minus, ones = tuple(-v for v in one), (Fraction(1),) * outputs
    names, wide = tuple(f"x{i}" for i in range(m)), (Fraction(9),) * m
    weights = (ones, tuple(-v for v in ones))
    return Row("", names, (minus, minus), (one, one), tuple(-v for v in wide), wide, (False,) * m, weights), none


def witness(sizes):
    """Work of the two inputs that are stored, and of the weights of outputs."""
    at = sum(n * (1024 + 16 * below) for below, n in pairwise(sizes))
    return 2 * (at + 128 * sizes[-1] * sizes[-2])


def test_one_network(cases, tmp_path, monkeypatch, counted):
    # units: one that is on, one open, one off; lemmas of the second layer for units that may be on
    net = net_of([[1, 0], [1, 1], [1, 0]], [[1, 1, 1], [1, -1, 0]], [[1, 1]])
    net = replace(net, biases=(np.float32([9, 0, -9]), *net.biases[1:]))
    row, x = row_of(2)
    proof = bytes([LEMMAS, STORED]) + number(0) + bytes([0x51]) + signed(1) * 2 + bytes([0x11, 0x00])
    folder = cases.write(tmp_path / "a", net, [(row, x, proof)])
    layers = layer(3, 2) + layer(2, 3) + layer(1, 2)
    lemmas = 2 * 6 * (back(3, 2, chosen=1) + 256 * 2)
    # stored slopes: both units of the second layer, the first two of the first; an open one counts once
    leaf = back(2, 3, chosen=2) + back(3, 2, chosen=2) + 256 * 2
    work = witness((2, 3, 2, 1)) + 2 * (4096 * 2 + 2 * layers + lemmas + leaf)
    fast, slow, _ = counted(folder)
    assert fast == slow == work
    at_the_limit(monkeypatch, folder, work)


def test_two_networks_count_units_that_are_not_off(cases, tmp_path, monkeypatch, counted):
    net = net_of([[1], [1], [1]], [[1, 1, 0], [1, -1, 0]], [[1, 1]])
    net = replace(net, biases=(np.float32([9, 0, -9]), *net.biases[1:]))
    other = replace(net, biases=(np.float32([9, 9, -9]), *net.biases[1:]))
    row, x = row_of(1)
    folder = cases.write(tmp_path / "a", net, [(row, x, bytes([SINGLES, LEAF])), (row, x, b"")], other)
    layers = layer(3, 1) + layer(2, 3) + layer(1, 2)
    ends = 256
    # of the units of the second layer the second alone is not settled: its sign is open in either network
    singles = 4 * (back(2, 1) + ends)
    leaf = back(2, 3, chosen=1) + back(3, 1, chosen=1) + ends
    work = 2 * witness((1, 3, 2, 1)) + 4096 + 2 * layers + singles + 2 * leaf
    fast, slow, report = counted(folder)
    assert report.rows[0].leaves == 1
    assert fast == slow == work
    at_the_limit(monkeypatch, folder, work)


@pytest.mark.parametrize(("smallest", "long"), [(2.0**-255, 1), (2.0**-256, 2), (2.0**-1074, 5)])
def test_long_weights_count_as_more(cases, tmp_path, monkeypatch, counted, smallest, long):
    net = net_of([[1.0, smallest]], [[1.0]], dtype="float64")
    row, x = row_of(2)
    folder = cases.write(tmp_path / "a", net, [(row, x, bytes([LEAF]))])
    once = 4096 * 2 + layer(1, 2, long) + layer(1, 1, long) + back(1, 2, 1, long) + 256 * 2
    fast, slow, _ = counted(folder)
    assert fast == slow == witness((2, 1, 1)) + 2 * once
    at_the_limit(monkeypatch, folder, fast)


def test_labels(tmp_path, counted):
    net, proof = net_of([[1.0, 1.0], [1.0, -1.0]], [[1.0, 1.0]], [[1.0]]), b"\1"
    content = {
        "format": "smilenn-share",
        "version": 1,
        "source": "",
        "network": described(net),
        "inputs": ["a", "p"],
        "lo": [-1, 0],
        "hi": [2, 1],
        "protected": 1,
        "parts": [[0, 0], [1, 1]],
        "pair": None,
        "proofs_sha256": hashlib.sha256(proof).hexdigest(),
    }
    (tmp_path / "network.bin").write_bytes(net.data())
    (tmp_path / "proofs.bin").write_bytes(proof)
    (tmp_path / "share.json").write_text(json.dumps(content))
    intervals = layer(2, 2) + layer(1, 2) + layer(1, 1)
    output = back(1, 2) + back(2, 2) + 256 * 2
    tighter = 2 * (back(2, 2) + 256 * 2)
    fast, slow, report = counted(tmp_path)
    assert report.status == "unknown"  # the first part is not settled, the second is not looked at
    assert fast == slow == 4096 * 2 + 2 * (intervals + output) + tighter


@pytest.mark.parametrize("pair", [False, True], ids=["one network", "two networks"])
def test_checkers_count_alike(cases, tmp_path, counted, pair):
    """Of cells that turn out closed the integer checker may count more, and nothing else."""
    same = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sizes = cases.SIZES[seed % len(cases.SIZES)]
        if pair:
            net, second = cases.random_twins(rng, sizes)
            entries = cases.shared_rows(rng, net, 1 + seed % 3)
        else:
            net, second = cases.random_net(rng, sizes), None
            row, x = cases.random_row(rng, net)
            entries = [(row, x, cases.random_proof(rng, net))]
        fast, slow, _ = counted(cases.write(tmp_path / str(seed), net, entries, second))
        assert fast >= slow > 0
        same += fast == slow
    assert same > 30


def test_the_limit_is_the_same():
    assert check_deep.WORK == deep_work.MOST_WORK == 1 << 37
