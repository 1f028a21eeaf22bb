"""Bad input from the command line, kind by kind: one sentence and exit code 2, nothing written; no time: code 3."""

from itertools import pairwise

import numpy as np
import pytest
from typer.testing import CliRunner

from smilenn.cli import app

onnx = pytest.importorskip("onnx")
helper, kinds, numpy_helper = onnx.helper, onnx.TensorProto, onnx.numpy_helper

FEATURE = '[[feature]]\nname = "{}"\nlo = {}\nhi = {}\n'
GOOD = "".join(FEATURE.format(name, 0, 1) for name in ("age", "income", "debt"))
CONTRADICTION = """
[[property]]
kind = "claim"
copies = 2
when = ["a.debt >= 5", "a.debt <= 0.5"]
then = ["a.out >= b.out"]
"""
BEYOND = """
[[property]]
kind = "claim"
copies = 2
when = ["a.debt >= 5"]
then = ["a.out >= b.out"]
"""
QUERY = """(vnnlib-version <2.0>)
(declare-network f (declare-input X real [3]) (declare-output Y real [1]))
(assert (>= X[0] 0)) (assert (<= X[0] 1)) (assert (>= X[1] 0)) (assert (<= X[1] 1)) (assert (>= X[2] 0))
"""
REST = "(assert (<= X[2] 1))"


def network(path, *, widths=(3, 8, 6, 1), shape=("n", 3), change=None, last=None):
    """A random ReLU network as ONNX; `change` edits its tensors, `last` is a further node's kind."""
    rng, tensors, nodes, at = np.random.default_rng(1), {}, [], "x"
    for k, (a, b) in enumerate(pairwise(widths)):
        tensors[f"w{k}"], tensors[f"b{k}"] = rng.normal(size=(b, a)), rng.normal(size=b)
        nodes.append(helper.make_node("Gemm", [at, f"w{k}", f"b{k}"], [f"s{k}"], f"linear{k}", transB=1))
        at = f"s{k}"
        if k < len(widths) - 2:
            nodes.append(helper.make_node("Relu", [at], [f"a{k}"], f"relu{k}"))
            at = f"a{k}"
    if last:
        nodes.append(helper.make_node(last, [at], ["last"], "the_last_node"))
    nodes[-1].output[0] = "y"
    if change:
        change(tensors)
    stored = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in tensors.items()]
    info = [helper.make_tensor_value_info(n, kinds.FLOAT, s) for n, s in (("x", list(shape)), ("y", ["n", widths[-1]]))]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return str(path)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network(tmp_path / "net.onnx")
    (tmp_path / "domain.toml").write_text(GOOD)
    return tmp_path


def refused(arguments, words):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert all(word in done.output for word in words), done.output
    said = [line for line in done.output.splitlines() if not line.startswith("    ")]  # beside what points at a rule
    assert len(said) == 1 and "Traceback" not in done.output


def nan(tensors):
    tensors["w1"][2, 3] = np.nan


def infinite(tensors):
    tensors["b0"][1] = -np.inf


NETWORKS = {
    "an operator that is not supported": ({"last": "Sigmoid"}, ["Sigmoid", "the_last_node"]),
    "another one": ({"last": "Softmax"}, ["Softmax", "the_last_node"]),
    "a dynamic shape": ({"shape": ("n", "m")}, ["no fixed number of columns"]),
    "a shape that is not there": ({"shape": ("n", None)}, ["no fixed number of columns"]),
    "a NaN among the weights": ({"change": nan}, ["NaN"]),
    "an infinite bias": ({"change": infinite}, ["infinite"]),
}
COMMANDS = {
    "audit": ["--fair", "age"],
    "labels": ["--fair", "age", "--labels"],
    "guard": ["--fair", "age:0.5"],
    "against": ["--against", "net.onnx", "--equal", "0.1"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_that_cannot_be_audited(place, kind, command):
    options, words = NETWORKS[kind]
    path = network(place / "bad.onnx", **options)
    verb = "guard" if command == "guard" else "audit"
    refused([verb, path, "--domain", "domain.toml", *COMMANDS[command], "--out", "out"], words)
    assert not (place / "out").exists()


@pytest.mark.parametrize("content", [b"", b"no network at all", b"\x08\x08\x12\x00", bytes(range(256)) * 40])
def test_files_that_are_no_onnx(place, content):
    (place / "bad.onnx").write_bytes(content)
    refused(["audit", "bad.onnx", "--domain", "domain.toml", "--fair", "age"], ["bad.onnx"])
    refused(["audit", "net.onnx", "--against", "bad.onnx", "--equal", "1", "--domain", "domain.toml"], ["bad.onnx"])


def test_files_that_are_not_there(place):
    refused(["audit", "nowhere.onnx", "--domain", "domain.toml", "--fair", "age"], ["nowhere.onnx"])
    refused(["audit", "net.onnx", "--domain", "nowhere.toml", "--fair", "age"], ["nowhere.toml"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lo = 0", ["debt", "hi"]),
        ("hi = 0", ["debt", "lo"]),
        ("lo = 0\nhi = inf", ["debt", "finite"]),
        ("lo = -inf\nhi = 1", ["debt", "finite"]),
        ("lo = nan\nhi = 1", ["debt", "finite"]),
        ("lo = 2\nhi = 1", ["debt"]),
        ('lo = "low"\nhi = 1', ["debt"]),
    ],
)
def test_bounds_that_are_missing_or_infinite(place, line, words):
    two = "".join(FEATURE.format(name, 0, 1) for name in ("age", "income"))
    (place / "domain.toml").write_text(two + f'[[feature]]\nname = "debt"\n{line}\n')
    for verb in (["audit", "net.onnx", "--fair", "age"], ["guard", "net.onnx", "--fair", "age:1", "--out", "out"]):
        refused([*verb, "--domain", "domain.toml"], words)


@pytest.mark.parametrize("rule", [["--fair", "sex"], ["--fair", "sex:0.5"], ["--increasing", "sex"]])
def test_a_column_that_is_not_there(place, rule):
    refused(["audit", "net.onnx", "--domain", "domain.toml", *rule], ["sex"])


@pytest.mark.parametrize("spec", [CONTRADICTION, BEYOND])
def test_claims_that_contradict_themselves_or_the_domain(place, spec):
    (place / "rules.toml").write_text(spec)
    refused(["audit", "net.onnx", "--domain", "domain.toml", "--spec", "rules.toml"], ["o inputs satisfy"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (f"{REST}(assert (and (> Y[0] 1) (< Y[0] -1)))", ["vacuous"]),
        (f"{REST}(assert (<= X[1] -1)) (assert (> Y[0] 0))", ["no value"]),
        ("(assert (> Y[0] 0))", ["input 2"]),
        (REST, ["no condition on outputs"]),
    ],
)
def test_queries_that_every_network_passes_or_without_bounds(place, query, words):
    (place / "claim.vnnlib").write_text(QUERY + query)
    refused(["audit", "net.onnx", "--vnnlib", "claim.vnnlib"], words)


@pytest.mark.parametrize(
    ("widths", "words"),
    [((2, 8, 6, 1), "inputs"), ((3, 8, 1), "layers"), ((3, 8, 6, 2), "outputs")],
)
def test_two_networks_that_do_not_match(place, widths, words):
    network(place / "other.onnx", widths=widths, shape=("n", widths[0]))
    for order in (("net.onnx", "other.onnx"), ("other.onnx", "net.onnx")):
        if order[0] == "other.onnx" and widths[0] == 2:
            continue  # then it is the domain that does not fit
        arguments = ["audit", order[0], "--against", order[1], "--equal", "1", "--domain", "domain.toml"]
        refused(arguments, ["do not match", words])


def test_a_limit_that_runs_out_leaves_the_bracket(place):
    network(place / "net.onnx", widths=(3, 20, 20, 20, 1))
    done = CliRunner().invoke(
        app, ["audit", "net.onnx", "--domain", "domain.toml", "--fair", "age", "--time-limit", "0", "--out", "out"]
    )
    assert done.exit_code == 3, done.output
    assert "found" in done.output and "proved at most" in done.output
    assert CliRunner().invoke(app, ["check", "out"]).exit_code == 0  # the bracket that was printed is certified
