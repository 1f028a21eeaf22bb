"""Labels: a changed one is found and replayed, and no point is called settled that is not."""

import hashlib
import json
import sys
import types
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import smilenn
from smilenn import Domain, Feature, SmileError
from smilenn.auditing.emit import number, signed
from smilenn.auditing.folder import described
from smilenn.auditing.network import DeepNet
from smilenn.certify import check_deep
from smilenn.certify.check_deep import OPEN, OTHER, POSITIVE, SPLIT
from smilenn.certify.reference.share import check_share as reference
from smilenn.cli import app

SIZES = ((2, 3, 1), (2, 3, 2, 1), (3, 4, 1), (3, 3, 3, 1), (2, 2, 2, 2, 1))


def both(folder):
    """The fast checker's report, after the reference has said the same."""
    fast, slow = check_deep.check_share(folder), reference(folder)
    assert (fast.status, fast.points, fast.settled, fast.leaves) == (
        slow.status,
        slow.points,
        slow.settled,
        slow.leaves,
    ), (fast.reason, slow.reason)
    assert fast.exit_code == slow.exit_code
    return fast


def write(folder, net, lo, hi, protected, parts, proof, pair=None):
    content = {
        "format": "smilenn-share",
        "version": 1,
        "source": "random",
        "network": described(net),
        "inputs": [f"x{i}" for i in range(len(lo))],
        "lo": lo,
        "hi": hi,
        "protected": protected,
        "parts": parts,
        "pair": pair,
        "proofs_sha256": hashlib.sha256(proof).hexdigest(),
    }
    (folder / "network.bin").write_bytes(net.data())
    (folder / "proofs.bin").write_bytes(proof)
    (folder / "share.json").write_text(json.dumps(content))
    return folder


def random_tree(rng, lo, hi, protected, depth=4):
    """The bytes of a random tree, and its leaves with their claims."""
    wide = [i for i in range(len(lo)) if i != protected and hi[i] > lo[i]]
    if not depth or not wide or rng.random() < 0.2:
        claim = int(rng.choice([OPEN, POSITIVE, OTHER], p=[0.1, 0.45, 0.45]))
        return bytes([claim]), [(lo, hi, claim)]
    i = int(rng.choice(wide))
    at = int(rng.integers(lo[i], hi[i]))
    left, some = random_tree(rng, lo, [*hi[:i], at, *hi[i + 1 :]], protected, depth - 1)
    right, more = random_tree(rng, [*lo[:i], at + 1, *lo[i + 1 :]], hi, protected, depth - 1)
    return bytes([SPLIT]) + number(i) + signed(at) + left + right, some + more


def holds(net, lo, hi, parts, protected, claim):
    """Whether a leaf's claim is true at every point, exactly and in the network's own type; and its points."""
    spans = [list(range(a, b + 1)) for a, b in zip(lo, hi, strict=True)]
    spans[protected] = sorted({v for a, b in parts for v in range(a, b + 1)})
    want, count = claim == POSITIVE, 0
    for x in product(*spans):
        exact = net.exactly([Fraction(v) for v in x])[0] > 0
        rounded = net.in_order(np.array(x, dtype=float))[0] > 0
        count += x[protected] == spans[protected][0]
        if exact != want or rounded != want:
            return False, 0
    return True, count


def one_case(cases, folder, seed):
    rng = np.random.default_rng(seed)
    net = cases.random_net(rng, SIZES[seed % len(SIZES)], spread=float(rng.choice([0.5, 1.0, 4.0])))
    m = net.sizes[0]
    lo = [int(v) for v in rng.integers(-4, 3, m)]
    hi = [a + int(v) for a, v in zip(lo, rng.integers(0, 4, m), strict=True)]
    protected = int(rng.integers(m))
    parts = [[v, v] for v in range(lo[protected], hi[protected] + 1)]
    parts = parts if rng.random() < 0.5 else [[lo[protected], hi[protected]]]
    proof, leaves = random_tree(rng, lo, hi, protected, depth=int(rng.integers(5)))
    report = both(write(folder, net, lo, hi, protected, parts, proof))
    assert report.status in ("certified", "unknown"), report.reason
    true = [holds(net, a, b, parts, protected, claim) for a, b, claim in leaves if claim != OPEN]
    if len(leaves) == 1:
        assert report.leaves <= sum(good for good, _ in true), seed  # one leaf: it counts only if it is true
    assert report.settled <= sum(count for _, count in true) <= report.points, seed
    return report.settled, sum(count for _, count in true)


def test_no_point_is_settled_that_is_not(cases, tmp_path):
    """Brute force over every point; most true claims are confirmed as well."""
    found = [one_case(cases, tmp_path, seed) for seed in range(120)]
    counted, true = (sum(side) for side in zip(*found, strict=True))
    assert true > 100 and counted > 0.8 * true


SOURCE = Path(check_deep.__file__).read_text(encoding="utf-8")
FAULTS = [
    ("for part in self.parts):\n                total", "for part in self.parts[:1]):\n                total"),
    ("return bound < 0 if positive else bound <= 0", "return bound <= 1 << 78 if positive else bound <= 0"),
    ("return bound < 0 if positive else bound <= 0", "return bound < 0 if positive else bound <= 1 << 78"),
    ("[0], -1 if positive else 1", "[0], 1 if positive else -1"),
    ("const + (e << K), last - 1", "const - (e << K), last - 1"),
    ("a = below if layer == 1 else [(max(low, 0), max(high, 0)) for low, high in below]", "a = below"),
    ("(p - q >> (net.E + 1)) - eps, ceil_shift(p + q", "(p - q >> (net.E + 1)) - eps, ceil_shift(p - q"),
    ("[ceil_shift(sign * v, shift) for v in w], ceil_shift(sign * b << G", "[-v for v in w], ceil_shift(b << G"),
    ("return max(r[0], -most[0]), min(r[1], most[1])", "return max(r[0], most[0]), min(r[1], most[1])"),
    ("return max(r[0], -most[0]), min(r[1], most[1])", "return max(r[0], -most[0]), min(r[1], -most[1])"),
    ("max(-t * low, (k - t) * high, 0)", "min(-t * low, (k - t) * high, 0)"),
    ("total = sum(max(q * low, q * high)", "total = sum(min(q * low, q * high)"),
    ("const += ceil_shift(sum(map(mul, slopes, net.b", "const -= ceil_shift(sum(map(mul, slopes, net.b"),
    ("if i != self.protected)", "if True)"),
    ("[*lo[:i], at + 1, *lo[i + 1 :]]", "[*lo[:i], at, *lo[i + 1 :]]"),
    ("total, leaves = total + self.count(lo, hi)", "total, leaves = total + self.points"),
]


@pytest.mark.slow
def test_planted_faults_are_noticed(cases, tmp_path):
    """By another answer than the reference's, on random folders."""
    folders = []
    for seed in range(300):
        (tmp_path / str(seed)).mkdir()
        one_case(cases, tmp_path / str(seed), 500 + seed)
        folders.append((tmp_path / str(seed), reference(tmp_path / str(seed))))
    modules = {fault: planted(*fault) for fault in FAULTS}
    assert [f for f, module in modules.items() if not any(noticed(module, *folder) for folder in folders)] == []


def planted(old, new):
    assert old in SOURCE, old
    module = types.ModuleType("planted")
    sys.modules["planted"] = module
    exec(compile(SOURCE.replace(old, new), "planted", "exec"), module.__dict__)
    return module


def noticed(module, folder, want):
    try:
        found = module.check_share(folder)
    except Exception:
        return True
    return (found.status, found.settled, found.leaves) != (want.status, want.settled, want.leaves)


def fuzzed(cases, folder, seed):
    """A folder with a few bytes or numbers changed, digests put right: whether it was accepted, and what it counted.

    Both checkers say the same. A folder that is accepted counts no more points than keep their label.
    """
    rng = np.random.default_rng(seed)
    one_case(cases, folder, seed)
    content, proof = json.loads((folder / "share.json").read_text()), bytearray((folder / "proofs.bin").read_bytes())
    if rng.random() < 0.6:
        for _ in range(int(rng.integers(1, 3))):
            proof[int(rng.integers(len(proof)))] = int(rng.integers(8 if rng.random() < 0.8 else 256))
    else:
        key = str(rng.choice(["lo", "hi", "parts"]))
        place = content[key] if key != "parts" else content[key][int(rng.integers(len(content[key])))]
        place[int(rng.integers(len(place)))] += int(rng.integers(-2, 3))
    (folder / "proofs.bin").write_bytes(proof)
    edited(folder, **content | {"proofs_sha256": hashlib.sha256(bytes(proof)).hexdigest()})
    report = both(folder)
    if not report.points:
        return False
    kept = cases_that_keep(net_of(content, folder), content)
    assert report.settled <= kept, seed
    return True


def net_of(content, folder):
    """The network of a folder, read from its bytes."""
    kind, sizes, at = content["network"]["dtype"], content["network"]["sizes"], 0
    numbers = np.frombuffer((folder / "network.bin").read_bytes(), dtype=np.dtype(kind).newbyteorder("<"))
    weights, biases = [], []
    for a, b in pairwise(sizes):
        weights.append(numbers[at : at + a * b].reshape(b, a))
        biases.append(numbers[at + a * b : at + a * b + b])
        at += a * b + b
    scaling = tuple((step, np.array([float(Fraction(v)) for v in k])) for step, k in content["network"]["scaling"])
    return DeepNet(tuple(weights), tuple(biases), kind, scaling)


def cases_that_keep(net, content):
    """How many points keep their label in exact arithmetic, counted one by one."""
    protected, spans = content["protected"], []
    for i, (a, b) in enumerate(zip(content["lo"], content["hi"], strict=True)):
        spans.append([0] if i == protected else range(a, b + 1))
    values = sorted({v for a, b in content["parts"] for v in range(a, b + 1)})
    kept = 0
    for x in product(*spans):
        points = [[Fraction(v if i == protected else w) for i, w in enumerate(x)] for v in values]
        kept += len({net.exactly(point)[0] > 0 for point in points}) == 1
    return kept


def test_altered_folders_never_count_a_point_that_changes(cases, tmp_path):
    accepted = sum(fuzzed(cases, tmp_path, seed) for seed in range(150))
    assert 40 < accepted < 140  # some are refused, and some are not


@pytest.mark.slow
def test_three_thousand_altered_folders(cases, tmp_path):
    for seed in range(150, 3150):
        fuzzed(cases, tmp_path, seed)


@pytest.mark.slow
def test_ten_thousand_random_trees(cases, tmp_path):
    for seed in range(120, 10_120):
        one_case(cases, tmp_path, seed)


@pytest.fixture
def folder(tmp_path):
    """x0 − 2·x1 + ½ > 0 on 0 ≤ x ≤ 3, x1 protected: settled for no x0, but with x1 in {0, 0} for all."""
    net = DeepNet(
        (np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[1.0, -1.0]])), (np.array([0.5, -0.5]), np.zeros(1)), "float32"
    )
    proof = bytes([SPLIT]) + number(0) + signed(1) + bytes([POSITIVE, POSITIVE])
    return write(tmp_path, net, [0, 0], [3, 3], 1, [[0, 0]], proof)


def test_the_example_is_certified(folder):
    report = both(folder)
    assert (report.status, report.points, report.settled, report.leaves) == ("certified", 4, 4, 2)
    assert "settled: 4 of 4 points, 100.0000 %" in report.lines()[-1]


def test_a_label_that_rounding_may_change_is_not_settled(tmp_path):
    """The output is exactly 0 in exact arithmetic; in floats it may be more."""
    weights = (np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, -1.0]]))
    net = DeepNet(weights, (np.zeros(2), np.zeros(1)), "float32")
    for claim in (POSITIVE, OTHER):
        report = both(write(tmp_path, net, [3, 0], [3, 1], 1, [[0, 1]], bytes([claim])))
        assert (report.status, report.settled) == ("unknown", 0)


def edited(folder, **changes):
    content = json.loads((folder / "share.json").read_text())
    (folder / "share.json").write_text(json.dumps(content | changes))
    return both(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": [[0, 3]]},
        {"parts": [[0, 0], [1, 1]]},
        {"parts": [[0, 0]], "lo": [-2, 0]},
    ],
)
def test_a_larger_statement_is_not_certified(folder, changes):
    assert edited(folder, **changes).status == "unknown"


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "smilenn-audit"},
        {"version": 2},
        {"version": True},
        {"more": 1},
        {"source": 3},
        {"inputs": ["a"]},
        {"inputs": ["a", "a"]},
        {"lo": [0]},
        {"lo": [4, 0]},
        {"lo": ["0", 0]},
        {"hi": [3, 2**24 + 1]},
        {"hi": [True, 3]},
        {"hi": [1, 3]},
        {"protected": 2},
        {"protected": 0},
        {"protected": True},
        {"parts": []},
        {"parts": [[1, 0]]},
        {"parts": [[0, 4]]},
        {"parts": [[0]]},
        {"parts": 3},
        {"pair": [[0, 0], [0, 0]]},
        {"pair": [[0, 0], [1, 0]]},
        {"pair": [[0, 0], [0, 1]]},
        {"pair": [[0, 0]]},
        {"pair": [[9, 0], [9, 0]]},
        {"proofs_sha256": "0" * 64},
    ],
)
def test_a_malformed_statement_is_refused(folder, changes):
    report = edited(folder, **changes)
    assert report.status == "refused" and report.reason and not report.settled


def test_a_pair_counts_if_its_labels_differ(folder):
    assert edited(folder, parts=[[0, 3]], pair=[[0, 0], [0, 1]]).status == "violated"
    report = edited(folder, parts=[[0, 3]], pair=[[0, 1], [0, 2]])
    assert report.status == "refused" and "same" in report.reason


@pytest.mark.parametrize(
    "proof",
    [
        b"",
        b"\x04",
        b"\x01\x01",
        b"\x03\x00\x02\x01",
        b"\x03\x00\x06\x01\x01",  # 3 | nothing
        b"\x03\x00\x01\x01\x01",  # −1 | all
        b"\x03\x01\x00\x01\x01",  # the protected input
        b"\x03\x02\x00\x01\x01",
    ],
)
def test_a_malformed_proof_is_refused(folder, proof):
    (folder / "proofs.bin").write_bytes(proof)
    assert edited(folder, proofs_sha256=hashlib.sha256(proof).hexdigest()).status == "refused"


def test_a_missing_file_is_unreadable(folder):
    (folder / "network.bin").unlink()
    assert both(folder).status == "unreadable"
    (folder / "share.json").write_text('{"a": 1.5}')
    assert both(folder).status == "unreadable"


WHOLE = Domain((Feature("age", "integer", 0, 9), Feature("sex", "binary"), Feature("pay", "integer", 0, 40)))


def network(seed=2):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 1))


def shifted(net):
    """The network with its median output near 0."""
    x = torch.tensor(WHOLE.sample(500, np.random.default_rng(0)), dtype=torch.float32)
    with torch.no_grad():
        net[-1].bias -= net(x).median() + 0.003
    return net


def test_settled_points_and_changed_labels_add_up(tmp_path):
    """All 410 points: each is settled, or its label can change; the search closes the whole domain."""
    net = shifted(network())
    found = smilenn.audit_labels(net, "sex", WHOLE, time_limit=20, out=tmp_path / "labels")
    changing = 0
    for age, pay in product(range(10), range(41)):
        with torch.no_grad():
            two = net(torch.tensor([[age, 0.0, pay], [age, 1.0, pay]]))[:, 0] > 0
        changing += bool(two[0] != two[1])
    assert changing > 0 and found.points == 410 and found.settled == 410 - changing
    assert found.status == "violated" and found.changed is not None
    a, b = found.changed.to_numpy().tolist()
    assert a[::2] == b[::2] and a[1] != b[1]
    assert {(one > 0) != (two > 0) for one, two in found.outputs.values()} == {True}
    report = both(tmp_path / "labels")
    assert report.settled == found.settled and report.status == "violated"


def test_a_network_without_the_column_is_proved():
    net = network()
    with torch.no_grad():
        next(net.parameters())[:, 1] = 0
    found = smilenn.audit_labels(shifted(net), "sex", WHOLE, time_limit=8)
    assert found.status == "proved" and found.changed is None and found.share == 1.0 and found.exit_code == 0


def test_continuous_inputs_have_a_changed_label_and_no_count():
    domain = Domain.box([0, 0, 0], [9, 1, 40], names=["age", "sex", "pay"])
    found = smilenn.audit_labels(shifted(network()), "sex", domain, values={"sex": (0, 1)}, time_limit=2)
    assert found.status == "violated" and found.share is None and found.points == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"protected": "race"}, "There is no feature 'race'"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"model": nn.Sequential(nn.Linear(3, 1))}, "a hidden layer and one output"),
        ({"model": nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))}, "a hidden layer and one output"),
        ({"domain": Domain.box([0, 0, 0], [1, 1, 1], names=["a", "sex", "b"]), "out": "nowhere"}, "whole numbers"),
        ({"values": {"sex": (0, 3)}}, "not two or more numbers"),
    ],
)
def test_bad_input_is_one_sentence(change, words):
    given = {"model": network(), "protected": "sex", "domain": WHOLE} | change
    with pytest.raises(SmileError, match=words):
        smilenn.audit_labels(given.pop("model"), given.pop("protected"), given.pop("domain"), **given)


def test_the_command_checks_labels(folder, tmp_path):
    done = CliRunner().invoke(app, ["check", str(folder), "--reference"])
    assert done.exit_code == 0 and "The reference checker agrees." in done.stdout
    (folder / "manifest.json").write_text("{}")
    done = CliRunner().invoke(app, ["check", str(folder)])
    assert done.exit_code == 1 and "a model and an audit of labels" in done.output
