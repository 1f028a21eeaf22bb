"""Queries in VNN-LIB 2.0, and two networks against each other."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import smilenn
from smilenn import Domain, Fair, SmileError
from smilenn.auditing.audit import audit_vnnlib
from smilenn.auditing.importing import read_network
from smilenn.auditing.lowering import rows_of
from smilenn.auditing.vnnlib import read_vnnlib
from smilenn.auditing.vnnlib_out import write_vnnlib
from smilenn.certify import check_deep
from smilenn.certify.reference import deep
from smilenn.cli import app

HEAD = """
; two copies of one network
(vnnlib-version <2.0>)
(declare-network f (declare-input X_f real [2]) (declare-output Y_f real [1, 2]))
(declare-network g (equal-to f) (declare-input X_g real [2]) (declare-output Y_g real [1, 2]))
"""
BOX = """
(assert (and (<= X_f[0] 1.5) (>= X_f[0] -0.5)))
(assert (== X_f[1] 0.25))
(assert (and (>= X_f[0] X_g[0]) (>= X_g[0] -0.5)))
(assert (== X_f[1] X_g[1]))
"""


@pytest.fixture(scope="module")
def model():
    """y0 = relu(x0) + x1 − 1 (rising in x0), y1 = −relu(x0)."""
    first, last = nn.Linear(2, 3), nn.Linear(3, 2)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
        first.bias.zero_()
        last.weight.copy_(torch.tensor([[1.0, 1.0, -1.0], [-1.0, 0.0, 0.0]]))
        last.bias.copy_(torch.tensor([-1.0, 0.0]))
    return nn.Sequential(first, nn.ReLU(), last)


def query(tmp_path, text):
    (tmp_path / "q.vnnlib").write_text(text)
    return tmp_path / "q.vnnlib"


def test_the_premise_is_read(model, tmp_path):
    read = read_vnnlib(query(tmp_path, HEAD + BOX + "(assert (Y_f[0,0] < Y_g[0,0]))"), read_network(model))
    (row,) = read.rows
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    assert row.lo == ((-half, quarter), (-half, quarter)) and row.hi == ((3 * half, quarter), (3 * half, quarter))
    assert row.low == (0, 0) and row.high == (2, 0)
    assert row.weights == ((-1, 0), (1, 0)) and row.rhs == 0


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("((+ Y_f[0,0] 0.001) < Y_g[0,0])", "proved"),  # y0 rises
        ("(< (+ Y_f[0,0] 0.001) Y_g[0,0])", "proved"),
        ("(not (>= (+ Y_f[0,0] 0.001) Y_g[0,0]))", "proved"),
        ("(< Y_f[0,1] Y_g[0,1])", "violated"),  # y1 falls
        ("(> (+ Y_f[0,0] Y_f[0,1]) -0.7)", "proved"),  # y0 + y1 = −0.75
        ("(> (- (* 2 Y_f[0,0]) (* 2 Y_g[0,0])) 3.1)", "proved"),  # 2·(1.5 − 0) at most
        ("(>= (- (* 2 Y_f[0,0]) (* 2 Y_g[0,0])) 2.9)", "violated"),
        ("(or (< Y_f[0,0] Y_g[0,0]) (< Y_f[0,1] Y_g[0,1]))", "violated"),
        ("(or (< (+ Y_f[0,0] 0.001) Y_g[0,0]) (> Y_f[0,1] 0.1))", "proved"),
    ],
)
def test_queries_are_decided(model, tmp_path, condition, status):
    path = query(tmp_path, f"{HEAD}{BOX}(assert {condition})")
    found = audit_vnnlib(model, path, time_limit=5, decide=True, out=tmp_path / "audit")
    assert found.status == status
    assert check_deep.check_folder(tmp_path / "audit").status == deep.check_folder(tmp_path / "audit").status


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(assert (and (> Y_g[0,0] (+ Y_f[0,0] 0.05)) (< Y_g[0,0] (- Y_f[0,0] 0.05))))", "vacuous"),
        (
            "(assert (and (> Y_g[0,0] 0) (> Y_f[0,0] 0)))",
            "2 conditions on outputs at once; audits cover one, or several joined by 'or'",
        ),
        ("", "no condition on outputs"),
        ("(assert (> Y_f[0,0] X_f[0]))", "relates outputs to inputs"),
        (
            "(assert (<= X_f[0] -1)) (assert (> Y_f[0,0] 0))",
            "leaves input 0 no value, so that every network would pass",
        ),
        (
            "(assert (> X_f[1] 0.25)) (assert (> Y_f[0,0] 0))",
            "leaves input 1 no value, so that every network would pass",
        ),
        ("(assert (<= (+ X_f[0] X_f[1]) 1)) (assert (> Y_f[0,0] 0))", "bounds and differences are read"),
        ("(assert (> Z[0] 0))", "does not declare"),
        ("(assert (> Y_f[0,2] 0))", "has 2 elements"),
        ("(assert (> (* Y_f[0,0] Y_f[0,1]) 0))", "sums and multiples"),
        ("(assert (maybe Y_f[0,0] 0))", "no comparison"),
        ("(assert (> Y_f[0,0] 0)", "does not close"),
        (")", "has not opened"),
        ("(declare-network h (declare-input A real [2]) (declare-output B real [2]))", "more than two"),
        ("(check-sat)", "networks and assertions are read"),
        ("(" * 80 + ")" * 80, "deeper than"),
    ],
)
def test_bad_queries_are_one_sentence(model, tmp_path, text, words):
    with pytest.raises(SmileError, match=words):
        read_vnnlib(query(tmp_path, HEAD + BOX + text), read_network(model))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(vnnlib-version <1.0>)", "2.0 is read"),
        ("(assert (> 1 0))", "declares no network"),
        ("(declare-network f (declare-input X real [3]) (declare-output Y real [2]))", "the network has 2"),
        ("(declare-network f (declare-input X real [2]))", "declare-output"),
        (
            "(declare-network f (declare-input X real [2]) (declare-output Y real [2])) (assert (> Y[0] 0))",
            "no finite bounds",
        ),
        (
            "(declare-network f (declare-input X real [2]) (declare-output Y real [2]))"
            "(declare-network g (isomorphic-to f) (declare-input A real [2]) (declare-output B real [2]))"
            "(assert (> Y[0] B[0]))",
            "is about two networks",
        ),
    ],
)
def test_bad_declarations_are_one_sentence(model, tmp_path, text, words):
    with pytest.raises(SmileError, match=words):
        read_vnnlib(query(tmp_path, text), read_network(model))
    with pytest.raises(SmileError, match="cannot be read"):
        read_vnnlib(tmp_path / "none", read_network(model))


def test_rows_survive_being_written_and_read(model, tmp_path):
    net = read_network(model)
    domain = Domain.box([0, -1], [2, 1])
    rows = rows_of([Fair(["x0"], Fraction(3, 2))], domain, net, ["a", "b"])
    read = read_vnnlib(query(tmp_path, write_vnnlib(rows, net.sizes, "net.onnx")), net)
    for one, two in zip(rows, read.rows, strict=True):
        for key in ("lo", "hi", "low", "high", "weights", "rhs"):
            assert getattr(one, key) == getattr(two, key)
    whole = [smilenn.Feature("x0", "integer", 0, 2), smilenn.Feature("x1", lo=-1, hi=1)]
    for claims, inputs, words in (
        ([smilenn.Bracket(Fair(["x0"], 0))], domain, "needs a limit"),
        ([Fair(["x0"], 1)], Domain(tuple(whole)), "no whole numbers"),
        ([Fair(["x0"], Fraction(1, 3))], domain, "no end as a decimal"),
    ):
        with pytest.raises(SmileError, match=words):
            write_vnnlib(rows_of(claims, inputs, net, ["a", "b"]), net.sizes, "net.onnx")


def perturbed(seed, noise, outputs=1):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, outputs))
    other = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, outputs))
    other.load_state_dict(net.state_dict())
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(noise * torch.randn_like(parameter))
    return net, other


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 30))])
def test_two_networks_stay_within_what_is_proved(seed, tmp_path):
    """Brute force on a grid; both checkers agree."""
    f, g = perturbed(seed, 0.05, outputs=1 + seed % 2)
    domain = Domain.box([-1, -1], [1, 1])
    found = smilenn.compare(f, g, domain, 0.01, time_limit=0.4, out=tmp_path / "audit")
    at = torch.cartesian_prod(torch.linspace(-1, 1, 41), torch.linspace(-1, 1, 41))
    with torch.no_grad():
        apart = (f(at) - g(at)).numpy()
    reached = np.stack([apart.max(axis=0), -apart.min(axis=0)], axis=1).reshape(-1)
    for row, value in zip(found.rows, reached, strict=True):
        assert value <= float(row.proved) + 1e-9 and float(row.found) <= float(row.proved)
        assert float(row.proved) <= value + 0.5  # and is not far off
    fast, slow = check_deep.check_folder(tmp_path / "audit"), deep.check_folder(tmp_path / "audit")
    assert fast.status == slow.status and [r.computed for r in fast.rows] == [r.computed for r in slow.rows]


def test_a_network_against_itself_is_proved_equal():
    f, _ = perturbed(9, 0.0)
    found = smilenn.compare(f, f, Domain.box([-1, -1], [1, 1]), 0.05, time_limit=5, decide=True)
    assert found.status == "proved" and all(row.found == 0 for row in found.rows)


def test_networks_that_do_not_match_are_one_sentence():
    f, _ = perturbed(0, 0.0)
    domain = Domain.box([-1, -1], [1, 1])
    deeper = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    wider = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
    for other, eps, words in (
        (deeper, 1, "their layers are 3 and 2"),
        (wider, 1, "their inputs are 2 and 3"),
        (perturbed(0, 0.0, outputs=2)[0], 1, "their outputs are 1 and 2"),
        (perturbed(0, 0.0)[0].double(), 1, "their type are float32 and float64"),
        (f, -1, "0 or more"),
    ):
        with pytest.raises(SmileError, match=words):
            smilenn.compare(f, other, domain, eps)


def test_the_command_refuses_what_does_not_fit(tmp_path):
    (tmp_path / "net.onnx").write_text("x")
    (tmp_path / "d.toml").write_text('[[feature]]\nname = "a"\nlo = 0\nhi = 1\n')
    start = ["audit", str(tmp_path / "net.onnx")]
    both = [*start, "--domain", str(tmp_path / "d.toml")]
    for arguments, words in (
        ([*start, "--vnnlib", "none"], "There is no file 'none'"),
        ([*start, "--vnnlib", "none", "--fair", "a"], "--vnnlib says everything"),
        ([*both, "--against", str(tmp_path / "net.onnx")], "--against NETWORK and --equal EPS"),
        ([*both, "--against", "none", "--equal", "1"], "There is no file 'none'"),
        ([*both, "--against", "none", "--equal", "much"], "'much' is not a number"),
        ([*both, "--against", "none", "--equal", "1", "--fair", "a"], "leave out other rules"),
        ([*both, "--to-vnnlib", str(tmp_path / "q"), "--fair", "a", "--labels"], "--to-vnnlib writes rules and audits"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 2 and words in done.output, done.output
